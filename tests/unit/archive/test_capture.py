"""pit_fetch capture: what it asks for, what it has in the end, and what it then answers."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from pit_fetch.archive_admin import verification
from pit_fetch.testing.inprocess import Left
from pit_fetch.testing.server import App, Response, as_json
from pit_fetch.transport import HttpRequest
from tests.loopback.silent import Silent
from tests.providers.alphavantage import server as alphavantage
from tests.providers.bz_news_api import server as benzinga
from tests.serving import serve
from tests.unit.archive.scene import KEYS, Archive, articles, at, estimates, fill_the_disk

LIST = """
[[request]]
name = "estimates of IBM"
source = "alphavantage"
op = "EARNINGS_ESTIMATES"
symbol = "IBM"

[[request]]
source = "benzinga"
tickers = ["AAPL"]
lookback_minutes = 10000
"""


def both(average: str, *rows: dict[str, Any]) -> App:
    """Two sources at one address, told apart by what they are asked."""
    by_function, by_token = estimates(("2026-06-30", average)), articles(*rows)
    return lambda request: (by_function if "function" in request.query else by_token)(request)


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    made = Archive(tmp_path)
    (tmp_path / "list.toml").write_text(LIST)
    made.app = both("2.50", benzinga.article(1, at("2026-06-01 14:30"), title="first words"))
    return made


def capture(archive: Archive, now: str, words: str = "", **given: Any) -> Left:
    return archive.command(f"capture list.toml {words}", now, **given)


def states(left: Left) -> list[str]:
    return [row["state"] for row in json.loads(left.out)["requests"]]


def test_it_records_everything_on_the_list_and_says_what_it_has(archive: Archive) -> None:
    left = capture(archive, "2026-06-01 15:00", "--json")
    report = json.loads(left.out)
    assert (left.code, left.err) == (0, "")
    assert {name: report[name] for name in ("captured", "held", "failed")} == {"captured": 2, "held": 0, "failed": 0}
    assert [(row["name"], row["source"], row["items"], row["exchanges"]) for row in report["requests"]] == [
        ("estimates of IBM", "alphavantage", 1, 1),
        ("request 2 (benzinga)", "bz-news-api", 1, 1),
    ]
    text = capture(archive, "2026-06-02 15:00").out
    assert "estimates of IBM      captured: 1 item, 1 exchange\n" in text
    assert "2 captured, 0 held, 0 failed" in text
    assert verification.verify(archive.open()).damage == ()
    assert not any(secret.encode() in archive.everything() for secret in KEYS.values())


def test_a_request_that_fails_does_not_stop_the_others(archive: Archive) -> None:
    plain = archive.app
    archive.app = lambda request: as_json(alphavantage.BAD_KEY) if "function" in request.query else plain(request)
    left = capture(archive, "2026-06-01 15:00")
    assert left.code == 1
    assert "estimates of IBM      FAILED: " in left.out
    assert "1 captured, 0 held, 1 failed" in left.out
    assert left.err == "pit_fetch: 1 of 2 requests failed: estimates of IBM\n"
    assert alphavantage.KEY not in left.out
    # Everything was tried, so the next run asks for all of it.
    archive.app = plain
    again = capture(archive, "2026-06-01 16:00", "--json")
    assert (again.code, states(again)) == (0, ["captured", "captured"])


def test_what_the_source_cut_is_said_and_no_failure(archive: Archive) -> None:
    request = '[[request]]\nname = "bars"\nsource = "alphavantage"\nop = "TIME_SERIES_DAILY"\nsymbol = "IBM"\nlimit = 2'
    (archive.folder / "list.toml").write_text(request)
    archive.app = alphavantage.app(
        alphavantage.Store(bars={"TIME_SERIES_DAILY": [alphavantage.bar("2026-05-29", "10.0")]})
    )
    left = capture(archive, "2026-06-01 15:00")
    assert left.code == 0
    assert "bars  captured: 1 item, 1 exchange. In part: Alpha Vantage keeps only a limited history" in left.out
    assert not json.loads(archive.command("archive log --json").out)[0]["complete"]


def test_it_waits_its_turn(archive: Archive) -> None:
    request = '[[request]]\nsource = "benzinga"\ntickers = ["{}"]\n'
    (archive.folder / "list.toml").write_text("".join(request.format(f"T{n}") for n in range(6)))
    archive.app = articles(benzinga.article(1, at("2026-06-01 14:30"), stocks=[{"name": f"T{n}"} for n in range(6)]))
    slow = {"PIT_FETCH_RATE_API_BENZINGA_COM": "2/60", "HOME": str(archive.folder)}
    left = capture(archive, "2026-06-01 15:00", "--json", env=slow)
    assert states(left) == ["captured"] * 6
    begun = [row[0] for row in archive.open().execute("SELECT began FROM fetches ORDER BY began")]
    assert (begun[-1] - begun[0]) / 1e6 >= 60, "six at two a minute take more than a minute"


def test_what_is_on_the_list_twice_is_asked_once(archive: Archive) -> None:
    (archive.folder / "list.toml").write_text("[[request]]\nsource = 'benzinga'\n" * 2)
    left = capture(archive, "2026-06-01 15:00")
    assert (left.code, len(archive.asked)) == (0, 1)
    assert "request 2 (benzinga)  held: captured earlier in this run\n" in left.out


def test_a_dry_run_asks_for_nothing(archive: Archive) -> None:
    left = capture(archive, "2026-06-01 15:00", "--dry-run")
    assert (left.code, archive.asked) == (0, [])
    assert "--source alphavantage --op EARNINGS_ESTIMATES --symbol IBM" in left.out
    assert not archive.path.exists()


def test_a_capture_has_no_answer_to_replay(archive: Archive) -> None:
    capture(archive, "2026-06-01 15:00")
    (row, *_) = json.loads(archive.command("archive log --json").out)
    assert (row["kind"], row["complete"], row["status"]) == ("capture", True, 0)
    left = archive.command(f"archive replay {row['id']}")
    assert left.code == 2
    assert "part of a capture" in left.err


# Broken off.


def broken_off(archive: Archive, now: str = "2026-06-01 15:00") -> None:
    """A run that is interrupted at its second request."""
    plain = archive.app

    def app(request: HttpRequest) -> Response:
        if "function" not in request.query:
            raise KeyboardInterrupt
        return plain(request)

    archive.app = app
    assert capture(archive, now).code == 130
    archive.app = plain


def test_a_run_that_was_broken_off_is_continued(archive: Archive) -> None:
    broken_off(archive)
    archive.asked.clear()
    left = capture(archive, "2026-06-01 16:00", "--json")
    assert (left.code, states(left)) == (0, ["held", "captured"])
    assert len(archive.asked) == 1
    assert states(capture(archive, "2026-06-01 17:00", "--json")) == ["captured", "captured"], "that run is over"


@pytest.mark.parametrize(("now", "words"), [("2026-06-02 03:01", ""), ("2026-06-01 15:10", "--again")])
def test_a_run_is_not_continued_after_half_a_day_or_if_that_is_not_wanted(
    archive: Archive, now: str, words: str
) -> None:
    broken_off(archive)
    assert states(capture(archive, now, f"{words} --json")) == ["captured", "captured"]


def test_nothing_is_captured_by_a_clock_before_the_last_entry(archive: Archive) -> None:
    capture(archive, "2026-06-03 15:00")
    left = capture(archive, "2026-06-01 15:00")
    assert (left.code, left.out) == (2, "")
    assert "last entry is more than ten minutes after this machine's clock" in left.err
    assert states(capture(archive, "2026-06-03 14:55", "--json")) == ["captured", "captured"]


def test_on_a_full_disk_nothing_more_is_asked(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    capture(archive, "2026-06-01 15:00")
    fill_the_disk(monkeypatch)
    archive.asked.clear()
    plain = archive.app
    archive.app = both(os.urandom(200_000).hex())
    left = capture(archive, "2026-06-02 15:00", "--parallel 1")
    monkeypatch.undo()
    assert (left.code, len(archive.asked)) == (1, 1)
    assert "estimates of IBM      FAILED: The archive cannot be used: the disk is full." in left.out
    assert "request 2 (benzinga)  NOT ASKED: " in left.out
    assert left.err == "pit_fetch: 2 of 2 requests failed: estimates of IBM, request 2 (benzinga)\n"
    archive.app = plain
    assert states(capture(archive, "2026-06-02 16:00", "--json")) == ["captured", "captured"]


def looking_far_back(archive: Archive) -> None:
    """What the sources have is months old, by the clock of a real process."""
    (archive.folder / "list.toml").write_text(LIST.replace("10000", "10000000"))


def test_a_capture_that_is_killed_is_continued(archive: Archive) -> None:
    looking_far_back(archive)
    plain, is_stuck, silent = archive.app, True, Silent()

    def app(request: HttpRequest) -> Response:
        return silent(request) if is_stuck and "function" not in request.query else plain(request)

    with serve(app) as server:
        running = archive.process(server.url, "capture", "list.toml")
        assert silent.asked()
        other = archive.process(server.url, "capture", "list.toml")
        out, err = other.communicate(timeout=60)
        assert (out, other.returncode) == (b"", 2)
        assert b"another capture of it is under way" in err
        running.send_signal(signal.SIGKILL)
        running.communicate(timeout=60)
        is_stuck = False
        out, _ = archive.process(server.url, "capture", "list.toml", "--json").communicate(timeout=60)
        assert [row["state"] for row in json.loads(out)["requests"]] == ["held", "captured"]
        assert sum("function" in request.query for request in server.requests) == 1
    assert verification.verify(archive.open()).damage == ()


# What is refused.


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "it has no requests: write [[request]]"),
        ("[[request]", "it is not TOML"),
        pytest.param(f"[[request]]\nlimit = {'9' * 5000}", "not TOML: a number in it is too long", id="long"),
        pytest.param(f"[[request]]\ntickers = {'[' * 5000}", "not TOML: it is nested too deeply", id="deep"),
        ("[[requests]]\nsource = 'benzinga'", "it has requests, which means nothing there: write [[request]]"),
        ("request = 5", "it has no requests"),
        ("request = [5]", "request 1 is not a table"),
        ("[[request]]\nop = 'EARNINGS'", "request 1 has no source"),
        ("[[request]]\nsource = 'benzingaa'", "request 1 (benzingaa): "),
        ("[[request]]\nsource = 'benzinga'\nname = 5", "request 1 has a name that is not a text"),
        ("[[request]]\nsource = 'benzinga'\nname = 'news'\ntikers = 'A'", "news: tikers is not an option"),
        ("[[request]]\nsource = 'benzinga'\npit = '2026-01-01T00:00:00Z'", "pit is not an option of a capture"),
        ("[[request]]\nsource = 'benzinga'\noffline = true", "offline is not an option of a capture"),
        ("[[request]]\nsource = 'benzinga'\nlimit = 0", "--limit is a whole number of at least 1"),
        ("[[request]]\nsource = 'alphavantage'\nop = 'EARNINGS'", "EARNINGS needs symbol"),
        ("[[request]]\nsource = 'benzinga'\nmay_be_empty = 1", "may_be_empty is true or false"),
        ("[[request]]\nsource = 'benzinga'\nmay_be_emty = true", "did you mean may_be_empty?"),
    ],
)
def test_an_unusable_list_is_refused_before_anything_is_asked(archive: Archive, text: str, problem: str) -> None:
    (archive.folder / "list.toml").write_text(text)
    left = capture(archive, "2026-06-01 15:00")
    assert (left.code, left.out, archive.asked) == (2, "", [])
    assert "list.toml: " in left.err
    assert problem in left.err
    assert left.err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("capture", "the following arguments are required: FILE"),
        ("capture none.toml", "none.toml: No such file"),
        ("capture --source fred GNP", "arguments: --source (what to ask for stands in FILE, a table [[request]]"),
        ("capture list.toml --missing --again", "not allowed with"),
        ("capture list.toml --archive none/a.db", "no such file"),
        ("capture list.toml --archive list.toml", "not an archive of pit_fetch"),
    ],
)
def test_what_cannot_be_done_is_refused(archive: Archive, words: str, problem: str) -> None:
    left = archive.command(words)
    assert (left.code, left.out, archive.asked) == (2, "", [])
    assert problem in left.err


def test_without_an_archive_nothing_is_asked(archive: Archive) -> None:
    left = capture(archive, "2026-06-01 15:00", env={"PIT_FETCH_ARCHIVE": ""})
    assert (left.code, archive.asked) == (2, [])
    assert "PIT_FETCH_ARCHIVE" in left.err
