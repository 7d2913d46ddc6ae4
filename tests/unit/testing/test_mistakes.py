"""One honest mistake at a time in what ``new-provider`` writes: its author is told what is wrong, and what to write."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pit_fetch.cli.commands.new_provider import files
from pit_fetch.provider import Context, Query, Record
from pit_fetch.testing import ProviderSuite
from tests.demo_source import change_operations
from tests.kit.source import PROVIDER
from tests.kit.wrong import FIRST, failure, suite

PAGE = files("my-source")["pit_fetch_my_source/__init__.py"]
REPLY = files("my-source")["tests/reply.json"].encode()
_NUMBERS = itertools.count()

# Parts of the module, to be replaced.
STAMP = 'None if revised is None else parse_rfc3339(row.get("published"))'
REVISED = "        revised_at=revised,\n"
ASK = '    reply = context.http.get(HOST, "/announcements", {"before": query.horizon.isoformat()})\n'
BODY = "    body = body_of(reply, HOST)\n"
READ = "        yield from parse_reply(body, query)\n"
ROWS = "rows_in(body)"
TITLE = 'payload={"title": text(row.get("title"))}'
PARSE = "from pit_fetch.times import parse_rfc3339"
CODE = (PARSE, f"from pit_fetch.gaps import Code\n{PARSE}")


class Mistake(NamedTuple):
    """``edits`` of the module, and what the message of ``test`` has: in its problem, and in its advice."""

    test: str
    problem: str
    advice: str
    edits: tuple[tuple[str, str], ...]
    reply: bytes = REPLY
    attributes: dict[str, Any] = {}


def imported(*names: str) -> tuple[str, str]:
    """Return the edit that imports more names of the author's API."""
    return "provider import Context", f"provider import {', '.join(names)}, Context"


def refused(error: str) -> tuple[tuple[str, str], ...]:
    """Return the edits that answer a failure with an error of the author's own."""
    lines = f"    if reply.status not in (200, 404):\n        raise {error}\n"
    return (BODY, lines + BODY), CODE, imported("UpstreamError")


def dated(stamp: str, imported: str) -> tuple[tuple[str, str], ...]:
    """Return the edits that stamp a row otherwise, and without revisions."""
    return ((STAMP, stamp), (REVISED, ""), (PARSE, f"{imported}\n{PARSE}"))


MISTAKES: dict[str, Mistake] = {
    "a host that is not declared": Mistake(
        FIRST, "other.example is no declared host: Provider.hosts has My Source", "correct that line",
        (("context.http.get(HOST,", 'context.http.get("https://other.example/v1?key=abc",'),),
    ),
    "a credential that is not declared": Mistake(
        FIRST, "the host My Source has the credential 'token'", "declare it: the provider has no credential",
        (("Rate(calls=5))", 'Rate(calls=5), auth=Bearer("token"))'), imported("Bearer")),
    ),
    "a credential that is read": Mistake(
        FIRST, r'context\.credentials\["token"\]', "correct that line",
        ((ASK, f'{ASK}    context.credentials["token"]\n'),),
    ),
    "an option that is not declared": Mistake(
        FIRST, r'query\.options\["phrase"\]', r'declare Option\("phrase", "…"\) in Provider.options, which has word',
        (('query.options["word"]', 'query.options["phrase"]'),),
    ),
    "an option of the framework": Mistake(
        FIRST, "declares the option limit, which every source has", "a name that no other one has",
        (('Option("word",', 'Option("limit",'),),
    ),
    "a reason in the place of a code": Mistake(
        "http_errors", "a text stands where a code", "correct that line",
        refused('UpstreamError(f"status {reply.status}: the plan is over")'),
    ),
    "a status in the place of a code": Mistake(
        "http_errors", "write Code.HTTP_STATUS, host=HOST, status=400", "correct that line",
        refused("UpstreamError(reply.status)"),
    ),
    "an error without its host": Mistake(
        "http_errors", "Code.HTTP_STATUS needs host=…", "correct that line",
        refused("UpstreamError(Code.HTTP_STATUS, status=reply.status)"),
    ),
    "a reason that a code has no place for": Mistake(
        "http_errors", r"Code.PAGING, …\) with problem, which is lost", 'problem="…"',
        refused('UpstreamError(Code.PAGING, problem="the plan is over")'),
    ),
    "a field under another name": Mistake(
        FIRST, "of its 3 records none has an available_at", "check the name of the field",
        (('row.get("published")', 'row.get("publishedAt")'),),
    ),
    "no id": Mistake(
        FIRST, "of its 3 records none has an id", r'str\(row\["id"\]\)',
        (('id=text(row.get("id"))', 'id=""'),),
    ),
    "a number for an id": Mistake(
        FIRST, "its id is of type int", r'str\(row\["id"\]\)', (('id=text(row.get("id"))', "id=7"),),
    ),
    "a text for a stamp": Mistake(
        FIRST, "available_at is of type str", "pit_fetch.times", ((STAMP, 'row.get("published")'),),
    ),
    "a clock for a stamp": Mistake(
        FIRST, "which is after the reply was recorded", "never from a clock",
        ((STAMP, "datetime.now(UTC)"), (PARSE, f"from datetime import UTC, datetime\n{PARSE}")),
    ),
    "pages without end": Mistake(
        FIRST, "ask more than 100 times", "paging.numbered or paging.follow",
        ((READ, f"{READ}        yield from fetch(query, context)\n"),),
    ),
    "rows that are no records": Mistake(
        FIRST, "yields a dict", "yield records", ((f"(_record(row) for row in {ROWS})", ROWS),),
    ),
    "a fetch that yields nothing": Mistake(
        FIRST, "it returns None: write it as a generator", "correct that",
        ((READ, "        list(parse_reply(body, query))\n"),),
    ),
    "a claim without words": Mistake(
        FIRST, r"claims alone \(claimed_at\)", "Dating.claims",
        (("available_at=None if revised is None else", "available_at=None, claimed_at="), (REVISED, "")),
    ),
}  # fmt: skip


def suite_with(mistake: Mistake, folder: Path, monkeypatch: pytest.MonkeyPatch) -> ProviderSuite:
    text = PAGE
    for old, new in mistake.edits:
        assert old in text, old
        text = text.replace(old, new)
    name = f"my_mistake_{next(_NUMBERS)}"
    (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(folder)
    try:
        module = import_module(name)
    finally:
        sys.modules.pop(name, None)
    sys.modules[name] = module
    return suite(module.PROVIDER, mistake.reply, **mistake.attributes)


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_found_and_its_fix_is_named(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mistake = MISTAKES[name]
    message = failure(suite_with(mistake, tmp_path, monkeypatch), mistake.test)
    problem, _, advice = message.partition("What to do: ")
    assert re.search(mistake.problem, problem), message
    assert re.search(mistake.advice, advice), message
    assert "abc" not in message.partition("\n")[0]  # below it stands the author's own line


def test_what_is_written_has_none_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = suite_with(Mistake("", "", "", ()), tmp_path, monkeypatch)
    tests = {mistake.test for mistake in MISTAKES.values()}
    assert [message for test in tests if (message := failure(honest, test))] == []


_TESTS = """
from pathlib import Path

import crashing, early
from pit_fetch.testing import ProviderSuite

REPLY = Path(__file__).parent.joinpath("reply.json").read_bytes()


class TestCrashing(ProviderSuite):
    provider = crashing.PROVIDER
    reply = REPLY


class TestEarly(ProviderSuite):
    provider = early.PROVIDER
    reply = REPLY
"""


def test_pytest_shows_the_message_and_the_author_s_own_line(tmp_path: Path) -> None:
    (tmp_path / "reply.json").write_bytes(REPLY)
    (tmp_path / "crashing.py").write_text(PAGE.replace('row.get("title")', 'row["headline"]'))
    (tmp_path / "early.py").write_text(PAGE.replace(REVISED, ""))
    (tmp_path / "test_it.py").write_text(_TESTS)

    def run(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "pit_fetch.pytest_plugin", *words],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(tmp_path), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout

    out = run("-k", f"{FIRST} or revisions_are_told")
    assert "the provider fails on its own recorded reply: KeyError: 'headline'\n    crashing.py:" in out
    assert "yield revised_at from updated" in out
    assert not [line for line in out.splitlines() if "pit_fetch/" in line or line.startswith(("E  ", ">", "self ="))]
    assert "def check_revisions" in run("-k", "TestEarly and revisions_are_told", "--full-trace")


def test_a_key_is_not_quoted_from_an_exception() -> None:
    def fetch(query: Query, context: Context) -> Iterator[Record]:
        raise ValueError(f"no answer to /items?key={context.credentials['key']}")
        yield

    message = failure(suite(change_operations(PROVIDER, fetch=fetch, parse_reply=lambda body, query: ())), FIRST)
    assert "ValueError: no answer to /items?key=[redacted]\n" in message
    assert "kit-secret" not in message
