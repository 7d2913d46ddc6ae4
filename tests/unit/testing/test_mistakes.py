"""One honest mistake at a time in what ``new-provider`` writes: its author is told what is wrong, and what to write."""

from __future__ import annotations

import itertools
import json
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
from tests.kit.source import PROVIDER
from tests.kit.wrong import FIRST, LEAKS, failure, suite

PAGE = files("my-source")["pit_fetch_my_source/__init__.py"]
REPLY = files("my-source")["tests/reply.json"].encode()
_NUMBERS = itertools.count()

# Parts of the module, to be replaced.
STAMP = 'None if revised is None else parse_rfc3339(row.get("published"))'
REVISED = "        revised_at=revised,\n"
ASK = '    reply = context.http.get(HOST, "/announcements", {"before": query.horizon.isoformat()})\n'
BODY = "    body = body_of(reply, HOST)\n"
READ = "        yield from read(body, query)\n"
ROWS = "rows_in(body)"
EACH = f"    yield from (_record(row) for row in {ROWS})\n"
TITLE = 'payload={"title": title if isinstance(title, str) else ""}'
PARSE = "from pit_fetch.times import parse_rfc3339"
CODE = (PARSE, f"from pit_fetch.gaps import Code\n{PARSE}")
DAYS = json.dumps([{"id": f"d{day}", "title": "T", "published": f"2024-02-{day}"} for day in (15, 14, 13)]).encode()
BARS = json.dumps(
    [
        {
            "id": f"{hour}:{minute}",
            "published": f"2024-02-15T{hour}:{minute:02}:00-05:00",
            "o": 5,
            "h": 7,
            "l": 4,
            "c": 6,
        }
        for hour in (15, 14)
        for minute in (45, 30, 15, 0)
    ]
).encode()
VERSIONS = json.dumps(
    [
        {"id": "gdp", "title": "3.2", "published": "2024-03-28T08:30:00-04:00"},
        {"id": "gdp", "title": "3.3", "published": "2024-02-28T08:30:00-05:00"},
        {"id": "cpi", "title": "3.1", "published": "2024-02-13T08:30:00-05:00"},
    ]
).encode()


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


NEW_YORK = {"zone": "America/New_York"}
DAY = "from pit_fetch.times import NEW_YORK, end_of_day, parse_date, start_of_day"

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
    "the server's own words": Mistake(
        "odd_bodies", "a text of the server gets out", "words of your own",
        ((EACH, f"    try:\n    {EACH}    except UpstreamError:\n"
          '        raise UpstreamError(Code.MALFORMED, problem=f"it says {body[:300]!r}") from None\n'),
         CODE, imported("UpstreamError")),
    ),
    "a refusal taken for nothing": Mistake(
        "http_errors", "HTTP 401 .*does not say so", "let UpstreamError pass",
        (("body_of(reply, HOST)", "body_of(reply, HOST, nothing=(401, 403, 404))"),),
    ),
    "a failure taken for nothing": Mistake(
        "http_errors", "HTTP 500 .*does not say so", "let UpstreamError pass",
        ((ASK, f"    try:\n    {ASK}    except UpstreamError:\n        return\n"), imported("UpstreamError")),
    ),
    "a reply that cannot be read taken for nothing": Mistake(
        "odd_bodies", "an HTML page, the answer does not say so", "let UpstreamError pass",
        ((EACH, f"    try:\n    {EACH}    except UpstreamError:\n        return\n"), imported("UpstreamError")),
    ),
    "a field under another name": Mistake(
        FIRST, "of its 3 records none has an available_at", "check the name of the field",
        (('row.get("published")', 'row.get("publishedAt")'),),
    ),
    "no id": Mistake(
        FIRST, "of its 3 records none has an id", r'str\(row\["id"\]\)',
        (('id=name if isinstance(name, str) else ""', 'id=""'),),
    ),
    "a number for an id": Mistake(
        FIRST, "its id is of type int", r'str\(row\["id"\]\)', (('id=name if isinstance(name, str) else ""', "id=7"),),
    ),
    "a naive stamp": Mistake(
        FIRST, "available_at is naive", "wall_clock",
        dated('datetime.strptime(row["published"][:19], "%Y-%m-%dT%H:%M:%S")', "from datetime import datetime"),
    ),
    "a text for a stamp": Mistake(
        FIRST, "available_at is of type str", "pit_fetch.times", ((STAMP, 'row.get("published")'),),
    ),
    "another zone": Mistake(
        "stamps_are_the_latest_the_source_can_mean", r"before published = '2024-02-15' is over", "times.end_of_day",
        dated('end_of_day(parse_date(row.get("published")), UTC)', f"from datetime import UTC\n{DAY}"), DAYS, NEW_YORK,
    ),
    "the start of its day": Mistake(
        "stamps_are_the_latest_the_source_can_mean", r"before published = '2024-02-15' is over", "times.end_of_day",
        dated('start_of_day(parse_date(row.get("published")), NEW_YORK)', DAY), DAYS, NEW_YORK,
    ),
    "no zone in the test": Mistake(
        "stamps_are_the_latest_the_source_can_mean", "names no zone, and neither does the test", 'zone = "America',
        dated('end_of_day(parse_date(row.get("published")), NEW_YORK)', DAY), DAYS,
    ),
    "a bar at its label": Mistake(
        "stamps_rest_on_publication", "the rows look like bars", "0:15:00 later",
        (*dated('parse_rfc3339(row.get("published"))', ""), (TITLE, 'payload={key: row.get(key) for key in "ohlc"}'),
         ('record.payload["title"].casefold()', '""'), ('fields=(Field("title"),)', 'rule="published"')), BARS,
    ),
    "a clock for a stamp": Mistake(
        FIRST, "which is after the reply was recorded", "never from a clock",
        ((STAMP, "datetime.now(UTC)"), (PARSE, f"from datetime import UTC, datetime\n{PARSE}")),
    ),
    "a revision that is not told": Mistake(
        "revisions_are_told", "updated = '2024-02-16T11:00:00-05:00' is later", "yield revised_at from updated",
        ((REVISED, ""),),
    ),
    "a choice among versions": Mistake(
        "versions_are_left_to_the_framework", "holds 2 versions, and 1 are yielded", "yield every version",
        (*dated('parse_rfc3339(row.get("published"))', ""),
         (ROWS, '{row["id"]: row for row in reversed([*rows_in(body)])}.values()')), VERSIONS,
    ),
    "versions that are not declared": Mistake(
        "versions_are_left_to_the_framework", "has several versions", r"Operation\(versions=True\)",
        dated('parse_rfc3339(row.get("published"))', ""), VERSIONS,
    ),
    "pages without end": Mistake(
        FIRST, "ask more than 100 times", "paging.numbered or paging.follow",
        ((READ, f"{READ}        yield from fetch(query, context)\n"),),
    ),
    "a field that is not declared": Mistake(
        "records_are_well_formed", "title in its payload is not among Operation.fields", r'Field\("title"\)',
        (('Field("title")', 'Field("headline")'),),
    ),
    "a datetime in the payload": Mistake(
        FIRST, "its payload is not JSON", "no datetime",
        ((TITLE, 'payload={"title": title or "", "edited": revised}'),),
    ),
    "rows that are no records": Mistake(
        FIRST, "yields a dict", "yield records", ((f"(_record(row) for row in {ROWS})", ROWS),),
    ),
    "a fetch that yields nothing": Mistake(
        FIRST, "fetch returns None: write it as a generator", "correct that",
        ((READ, "        list(read(body, query))\n"),),
    ),
    "a count in a gap": Mistake(
        LEAKS, "a gap truncated comes and goes", "let the framework decide",
        ((EACH, f"{EACH}    if len([*{ROWS}]) > 2:\n        yield gap(Code.RESULT_CAP)\n"),
         CODE, imported("gap")),
    ),
    "a claim without words": Mistake(
        FIRST, r"claims alone \(claimed_at\)", "Operation.claims",
        (("available_at=None if revised is None else", "available_at=None, claimed_at="), (REVISED, "")),
    ),
    "a claim that is too early": Mistake(
        "stamps_are_the_latest_the_source_can_mean", "is claimed_at .* before published", "times.end_of_day",
        (*dated('None, claimed_at=start_of_day(parse_date(row.get("published")), NEW_YORK)', DAY),
         ('fields=(Field("title"),)', 'fields=(Field("title"),), claims="the end of its day; titles are today\'s"')),
        DAYS, NEW_YORK,
    ),
    "adjusted figures under a caveat": Mistake(
        "stamps_rest_on_publication", "figures that are adjusted later carry no mark", "claimed_at",
        ((TITLE, 'payload={"title": title or "", "adj_close": 7}'),
         ('fields=(Field("title"),)', 'caveats=lambda query: ["adjusted"]')),
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


class TestServer(ProviderSuite):
    provider = early.PROVIDER
    reply = REPLY

    def serve(self, reply, request):
        return request.no_such_thing
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
    assert (
        "serve() fails: AttributeError: 'HttpRequest' object has no attribute 'no_such_thing'\n    test_it.py:" in out
    )
    assert "return request.no_such_thing" in out
    assert not [line for line in out.splitlines() if "pit_fetch/" in line or line.startswith(("E  ", ">", "self ="))]
    assert "def check_revisions" in run("-k", "TestEarly and revisions_are_told", "--full-trace")


def test_a_key_is_not_quoted_from_an_exception() -> None:
    def fetch(query: Query, context: Context) -> Iterator[Record]:
        raise ValueError(f"no answer to /items?key={context.credentials['key']}")
        yield

    message = failure(suite(PROVIDER._replace(fetch=fetch, parse_reply=lambda body, query: ())), FIRST)
    assert "ValueError: no answer to /items?key=[redacted]\n" in message
    assert "kit-secret" not in message
