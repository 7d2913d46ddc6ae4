"""The command: every ending has an envelope, its exit status, and at most one line on stderr."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from pit_fetch.provider import Credential, Host, Operation, Option, QueryKey
from pit_fetch.support.install import install_command
from pit_fetch.testing.server import Answering, App, Response
from tests.conftest import Run
from tests.demo_source import at_pit, demo
from tests.inprocess import NOW, Answer, fetch
from tests.providers.bz_news_api import server as benzinga
from tests.providers.bz_news_api.server import TOKEN, article
from tests.serving import serve

PIT_TEXT = "2024-02-15T16:00:00-05:00"
PIT = datetime.fromisoformat(PIT_TEXT)
AT_PIT = ("--source", "bz-news-api", "--pit", PIT_TEXT)
ARTICLES = [article(n, PIT - timedelta(minutes=n)) for n in range(1, 4)] + [article(9, PIT + timedelta(minutes=1))]
COMMAND = (sys.executable, "-m", "pit_fetch")
KEY = {"BENZINGA_API_KEY": TOKEN}

Here = Callable[..., Answer]


@pytest.fixture
def here(tmp_path: Path) -> Here:
    """Run the command in this process. ``app`` answers for every host; without one, a request fails the test."""

    def call(*words: str, app: App | None = None, env: dict[str, str] | None = None, body: bytes = b"") -> Answer:
        transport = Answering(app or (lambda request: pytest.fail("a request was sent")), lambda: NOW)
        return fetch(tmp_path, *words, env=env, body=body, transport=transport)

    return call


@pytest.fixture
def reply(tmp_path: Path) -> str:
    """A recorded reply: three public articles and a late one."""
    path = tmp_path / "reply.json"
    path.write_text(json.dumps(ARTICLES))
    return str(path)


@pytest.mark.parametrize(
    ("make", "gap", "code"),
    [
        (lambda path: None, "input_error", 4),
        (lambda path: path.mkdir(), "input_error", 4),
        (lambda path: path.write_text(""), "input_error", 4),
        (lambda path: path.write_text("<html>"), "input_error", 4),
        (lambda path: path.write_text("{}"), "input_error", 4),
        (lambda path: path.write_text('["Access denied for user 0"]'), "input_error", 4),
        (lambda path: path.write_text('[1, {"a": 2}]'), "input_error", 4),
        (lambda path: path.write_bytes(b"\xff\xfe"), "input_error", 4),
        (lambda path: path.write_text("[]"), "no_data", 0),
        (lambda path: path.write_text("[NaN, null]"), "no_data", 0),
        (lambda path: path.write_text('{"items": []}'), "no_data", 0),
    ],
)
def test_input_files(here: Here, tmp_path: Path, make: Callable[[Path], object], gap: str, code: int) -> None:
    path = tmp_path / "input"
    make(path)
    done = here(*AT_PIT, "--input-file", str(path))
    assert (done.code, done.data, done.gap_types[-1], bool(done.err)) == (code, [], gap, code != 0)


def test_a_refused_command_line_ends_the_process(run: Run) -> None:
    for words, kind in ((("--lmit", "3"), "config"), (("--pit", PIT_TEXT), "invalid_pit")):
        done = run(*AT_PIT, *words)
        assert (done.code, done.envelope["data"], done.gap_types, done.err.count(b"\n")) == (2, [], [kind], 1)


FAILED = {
    3: ("--limit", "1"),  # without a key
    4: ("--input-file", "nothing.json"),
    5: ("--limit", "2"),  # of a host that fails
}


@pytest.mark.parametrize("code", FAILED)
@pytest.mark.parametrize(
    ("words", "is_read"),
    {
        (): True,
        ("--format", "json"): True,
        ("--format", "table"): True,
        ("--format", "csv"): False,
        ("--format", "jsonl"): False,
        ("--format", "html"): False,
        ("--output", "out.json"): False,
        ("--output", "out.csv"): False,
        ("--output", "out.html"): False,
    }.items(),
)
def test_nothing_but_a_failure_is_one_where_nobody_reads_the_gaps(
    here: Here, tmp_path: Path, words: tuple[str, ...], is_read: bool, code: int
) -> None:
    """An agent reads an envelope and its gaps. A script goes on as long as the status is 0."""
    env = KEY if code == 5 else {}
    script = here(*AT_PIT, *FAILED[code], *words, env=env, app=lambda _: Response(b"", 500))
    assert (script.code, bool(script.err)) == (code, True)
    env = {**env, "CLAUDECODE": "1"}
    done = here(*AT_PIT, *FAILED[code], *words, env=env, app=lambda _: Response(b"", 500))
    assert done.code == (0 if is_read else code)
    assert bool(done.err) is not is_read
    assert not (tmp_path / "out.json").exists()
    for more in ("--fail",):
        assert here(*AT_PIT, *FAILED[code], *words, more, env=env, app=lambda _: Response(b"", 500)).code == code


@pytest.mark.parametrize("words", [("--format", "csv"), ("--output", "out.json")])
def test_an_answer_that_is_empty_or_in_part_is_no_failure(
    here: Here, reply: str, tmp_path: Path, words: tuple[str, ...]
) -> None:
    archive = {"PIT_FETCH_ARCHIVE": str(tmp_path / "no" / "folder.db"), **KEY}
    app = benzinga.app(ARTICLES)
    assert here(*AT_PIT, "--tickers", "NONE", "--input-file", reply, *words).code == 0
    # Nothing was recorded, which costs the answer nothing, even if that has no items.
    for tickers in ("AAPL", "NONE"):
        assert here(*AT_PIT, "--tickers", tickers, *words, env=archive, app=app).code == 0
    in_part = here(*AT_PIT, "--max-pages", "1", *words, app=app, env=KEY)
    assert (in_part.code, "--fail" in in_part.err) == (0, False)


@pytest.mark.parametrize(("command", "pits"), [("diff", 2), ("explain", 1)])
def test_a_comparison_that_failed_ends_like_a_fetch(here: Here, command: str, pits: int) -> None:
    words = [
        command,
        "--source",
        "bz-news-api",
        "--pit",
        PIT_TEXT,
        *("--pit", "2024-02-14T16:00:00-05:00")[: 2 * pits - 2],
    ]
    assert here(*words, "--input-file", "nothing").code == 4
    done = here(*words, "--input-file", "nothing", "--format", "csv")
    assert (done.code, done.out, "--input-file cannot be read" in done.err) == (4, "", True)


def test_a_pit_that_is_far_ahead_is_mentioned_and_one_a_little_ahead_is_not(here: Here, reply: str) -> None:
    pits = {"2026-06-02T11:59:59-04:00": 0, "2026-06-02T12:00:01-04:00": 1, "2033-02-15T16:00:00-05:00": 1}
    for pit, count in pits.items():
        done = here("--source", "bz-news-api", "--pit", pit, "--input-file", reply)
        assert (done.code, done.reasons.count("is yet to come: this is what is public by now")) == (0, count)


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("--pit", "1950-02-15T16:00:00-05:00"), "The PIT is in the year 1950: check it."),
        (("--pit", "0001-01-01T00:00:00Z"), "The PIT is in the year 1: check it."),
        (("--pit", PIT_TEXT, "--date-to", "0001-01-01"), "--date-to is in the year 1: check it."),
        (("--pit", PIT_TEXT, "--date-to", "1950-12-31"), "--date-to is in the year 1950: check it."),
        (("--pit", PIT_TEXT, "--date-to", "1950-01-01"), "--date-to is in the year 1950: check it."),
        (("--pit", PIT_TEXT, "--date-from", "2024-02-16"), "--date-from is after the PIT: nothing from then on was"),
        (("--date-from", "2033-01-01"), "--date-from is after now: nothing from then on is public."),
        (("--pit", PIT_TEXT, "--tickers", "apple"), "A ticker is written AAPL, a coin $BTC."),
    ],
)
def test_an_empty_answer_has_a_hint_at_what_may_be_mistyped(here: Here, words: tuple[str, ...], hint: str) -> None:
    done = here("--source", "bz-news-api", *words, app=benzinga.app([]), env=KEY)
    assert (done.code, done.data, done.gap_types[-1]) == (0, [], "no_data")
    assert hint in done.reasons


def test_a_missing_key_names_both_ways_out(here: Here) -> None:
    done = here(*AT_PIT)
    assert (done.code, done.gap_types, done.reasons in done.err) == (3, ["config"], True)
    assert "BENZINGANEWS_API_KEY or BENZINGA_API_KEY" in done.reasons
    assert ".env" in done.reasons


def test_a_fetch_over_a_socket_with_a_key_from_the_nearest_env_file(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    (tmp_path / "a" / ".env").write_text(f"OTHER=x\nBENZINGA_API_KEY='{TOKEN}'\nPIT_FETCH_CEILING=bad\n")
    with serve(benzinga.app(ARTICLES)) as server:
        done = run(*AT_PIT, cwd=folder, env={"PIT_FETCH_BENZINGA_URL": server.url})
    assert done.ids == ["1", "2", "3"]


def test_a_rate_that_leaves_no_turn_ends_a_fetch_like_a_deadline(here: Here, tmp_path: Path) -> None:
    env = {**KEY, "HOME": str(tmp_path), "PIT_FETCH_RATE_API_BENZINGA_COM": "1/50"}
    assert here(*AT_PIT, app=benzinga.app(ARTICLES), env=env).ids == ["1", "2", "3"]
    done = here(*AT_PIT, "--timeout", "5", "--fail", app=benzinga.app(ARTICLES), env=env)
    assert (done.code, done.gap_types) == (5, ["pit_excluded", "unverifiable", "truncated", "upstream_error"])
    assert "PIT_FETCH_RATE_API_BENZINGA_COM" in done.err


SECRET = "demo-0123456789abcdef"
KEYED = (Host("Demo", "https://demo.invalid", "DEMO_URL", auth=QueryKey("key", "token")),)


@pytest.mark.parametrize(
    ("words", "env", "reason"),
    [
        (("ONE",), {"DEMO_URL": "ftp://demo.invalid"}, "DEMO_URL must be"),
        (("ONE",), {"PIT_FETCH_RATE_DEMO_INVALID": "often"}, "PIT_FETCH_RATE_DEMO_INVALID must be"),
        (("TWO",), {}, "demo has no such operation"),
        ((SECRET,), {}, "demo has no such operation"),
        (("ONE", "symbol=x"), {"OTHER_KEY": ""}, "demo needs OTHER_KEY"),
        (("ONE", "--input-file", "absent"), {}, "--input-file cannot be read"),
        (("ONE", "crash=true"), {}, "The provider demo failed"),
    ],
)
def test_a_key_among_the_words_is_redacted_however_early_a_fetch_fails(
    tmp_path: Path, words: tuple[str, ...], env: dict[str, str], reason: str
) -> None:

    def source(query, context):
        if query.options["crash"]:
            raise RuntimeError(SECRET)
        return [context.http.get("Demo", "/")]

    provider = demo(
        source,
        hosts=KEYED,
        operations=(Operation("ONE", takes=("word", "symbol", "crash")), Operation("THREE")),
        options=(
            Option("word", "h"),
            Option("symbol", "h"),
            Option("crash", "h", kind="flag"),
        ),
        credentials=(Credential("key", ("DEMO_KEY",)), Credential("other", ("OTHER_KEY",))),
    )
    environ = {"DEMO_KEY": SECRET, "OTHER_KEY": "another-0123456789", **env}
    left = at_pit(tmp_path, provider, *words, f"word={SECRET}", env=environ, app=lambda _: Response(b"ok"))
    assert reason in left.reasons
    assert SECRET not in left.out + left.err + json.dumps(left.audit)
    assert left.status == 2 or "word [redacted]" in left.envelope["gaps"][-1]["query"]


@pytest.mark.parametrize("words", [(), ("--help",), ("--list-sources",)])
def test_a_closed_pipe_ends_quietly(reply: str, words: tuple[str, ...]) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [*COMMAND, *(words or (*AT_PIT, "--input-file", reply))], stdout=write, stderr=subprocess.PIPE, check=False
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")


def test_a_full_disk_is_reported() -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*COMMAND, "--version"], stdout=full, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr.count(b"\n")) == (70, 1)


def test_verbose_reports_requests_in_open_mode_only(here: Here) -> None:
    window = ("--date-from", "2024-02-15", "--date-to", "2024-02-15", "-v")
    opened = here("--source", "benzinga", *window, app=benzinga.app(ARTICLES), env=KEY)
    assert "GET https://api.benzinga.com/api/v2/news\n" in opened.err
    closed = here(*AT_PIT, *window, app=benzinga.app(ARTICLES), env=KEY)
    assert (opened.code, closed.code, closed.ids) == (0, 0, ["1", "2", "3"])
    assert "GET" not in closed.err
    assert "bz-news-api: 3 items, 2024-02-15T15:57:00-05:00 to 2024-02-15T15:59:00-05:00" in closed.err
    assert TOKEN not in opened.err + closed.err
    single = here(*AT_PIT, "--limit", "1", "-v", app=benzinga.app(ARTICLES), env=KEY)
    assert "bz-news-api: 1 item, 2024-02-15T15:59:00-05:00, as of" in single.err


def test_the_audit_file_holds_what_the_envelope_may_not(here: Here, tmp_path: Path) -> None:
    path = tmp_path / "another.jsonl"
    articles = [*ARTICLES, article(7, PIT) | {"updated": None}, article(8, PIT) | {"id": f"x{TOKEN}", "updated": None}]
    env = {**KEY, "PIT_FETCH_AUDIT": str(path)}
    here(*AT_PIT, "--keywords", TOKEN, app=benzinga.app(articles), env=env)
    here(*AT_PIT, "--limit", "2", app=benzinga.app(articles), env=env)
    first, second = (json.loads(line) for line in path.read_text().splitlines())
    assert TOKEN not in path.read_text()
    assert (first["kept"], first["argv"][-1]) == ([], "[redacted]")
    assert (second["kept"], second["withheld"], second["undated"]) == (["1", "2"], ["9"], ["7", "x[redacted]"])
    assert (second["requests"], second["exit"], second["pit"]) == (1, 0, "2024-02-15T21:00:00+00:00")
    assert path.stat().st_mode & 0o777 == 0o600


def test_under_an_agent_the_envelope_stays_below_what_its_client_cuts(here: Here, tmp_path: Path) -> None:
    path = tmp_path / "reply.json"
    path.write_text(json.dumps([article(n, PIT - timedelta(seconds=n), body="x" * 2_000) for n in range(1, 41)]))
    done = here(*AT_PIT, "--input-file", str(path), env={"CLAUDECODE": "1"})
    assert 26_000 < len(done.out) <= 28_000
    assert done.gap_types[-1] == "truncated"
    rest = here(*AT_PIT, "--input-file", str(path), "--after", done.envelope["gaps"][-1]["reason"].split("--after ")[1])
    assert done.ids + rest.ids == [str(n) for n in range(1, 41)]


def test_listings(here: Here) -> None:
    assert here("--version").out.startswith("pit_fetch ")
    assert "--pit ISO8601" in here("--help").out
    assert here("help", "benzinga").out == here("--source", "benzinga", "--help").out
    assert "--keywords" in here("--source", "benzinga", "--help", env={"PIT_FETCH_CEILING": PIT_TEXT}).out
    assert "BENZINGANEWS_API_KEY or BENZINGA_API_KEY is not set" in here("--list-sources").out
    listed = json.loads(here("--list-sources", "--json", env=KEY).out)
    assert listed[0]["name"] == "bz-news-api"
    assert listed[0]["credentials"] == [{"variables": ["BENZINGANEWS_API_KEY", "BENZINGA_API_KEY"], "set": True}]
    assert listed[0]["packages"] == []


def test_a_listing_says_whether_a_source_s_package_is_there(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("curl_cffi")
    assert "no key needed; curl_cffi is installed" in here("--list-sources").out
    monkeypatch.setitem(sys.modules, "curl_cffi", None)
    (yahoo,) = (row for row in json.loads(here("--list-sources", "--json").out) if row["name"] == "yahoo")
    assert yahoo["packages"] == [{"name": "curl_cffi", "installed": False}]
    assert (yahoo["usable"], yahoo["problem"].startswith("curl_cffi is missing: run ")) == (False, True)
    for words in (("--list-sources",), ("sources", "yahoo")):
        assert f"curl_cffi is missing: run {install_command('curl_cffi')}" in here(*words).out


def test_a_listing_or_an_offline_fetch_imports_no_http_library(run: Run, reply: str) -> None:
    for words in (("--help",), ("--source", "benzinga", "--help"), (*AT_PIT, "--input-file", reply)):
        done = run(*words, command=(sys.executable, "-X", "importtime", "-m", "pit_fetch"))
        imported = {line.rsplit("|")[-1].strip() for line in done.err.decode().splitlines()}
        assert "pit_fetch.cli.main" in imported
        # The help of no source lists the plugins, which are in the metadata of packages.
        metadata = () if words == ("--help",) else ("importlib.metadata", "email")
        assert not imported.intersection(("requests", "urllib3", "dotenv", "dateutil", "asyncio", *metadata))
        # What only a refused command line, a missing package or a file of another format needs.
        assert not [name for name in imported if name.startswith("pit_fetch.courtesy")]
        assert not imported.intersection(["pit_fetch.support.install"])
