"""Which questions an archive answers with what was captured for others, and what it says of those that it cannot."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from pit_fetch.testing.server import App, as_json
from tests.inprocess import Answer
from tests.providers.bz_news_api import server as benzinga
from tests.providers.sec_full_text import server as sec
from tests.unit.archive.scene import Archive, articles, at

NOW, LATER = "2026-06-01 15:00", "2026-06-20 12:00"
APPLE, TESLA = (320193,), (1318605,)
FILINGS = [
    sec.Filing(sec.number(1), "10-K", "2026-05-20 16:30:00", ciks=APPLE),
    sec.Filing(sec.number(2), "8-K", "2026-05-21 10:30:00", ciks=APPLE),
    sec.Filing(sec.number(3), "10-K", "2026-05-22 10:30:00", ciks=TESLA, name="Tesla, Inc."),
]


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    variables = {"SEC_USER_AGENT": "Company contact@company.com", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    return Archive(tmp_path, env=variables)


def captured(archive: Archive, app: App, *requests: str, now: str = NOW) -> None:
    """Capture requests; of each, the lines are divided by semicolons."""
    text = "".join(f"[[request]]\n{request.replace('; ', chr(10))}\n" for request in requests)
    (archive.folder / "list.toml").write_text(text)
    archive.app = app
    archive.command("capture list.toml", now)


def uncaptured(left: Answer) -> list[str]:
    return [gap["reason"] for gap in left.envelope["gaps"] if gap.get("captured") is False]


@pytest.mark.parametrize(
    "words",
    [
        "--forms 8-K --exact",
        "--ciks 320193,1 --exact",
        "--ciks 1 --exact",
        "--tickers AAPL concern",
        "--tickers ZZZZ",  # the recorded list has no such ticker
        "--tickers AAPL,ZZZZ --exact",
        "--tickers ZZZZ --ciks 320193",
    ],
)
def test_what_was_not_asked_for_is_said_not_to_be_captured(archive: Archive, words: str) -> None:
    captured(archive, sec.app(FILINGS), "source = 'sec_full_text'; tickers = ['AAPL', 'TSLA']; exact = true")
    left = archive.offline(f"sec_full_text {words}", LATER, "2026-05-25 12:00")
    assert len(uncaptured(left)) == 1
    assert left.data or "Nothing that was captured matches." in left.reasons


def test_what_came_after_the_capture_is_said_to_be_missing(archive: Archive) -> None:
    captured(archive, articles(benzinga.article(1, at("2026-06-01 14:00"))), "source = 'benzinga'; tickers = ['AAPL']")
    ask = "benzinga --tickers AAPL --date-from 2026-06-01T08:00:00Z"
    before = archive.offline(ask, LATER, "2026-06-01 14:30")
    assert (before.ids, uncaptured(before)) == (["1"], [])
    after = archive.offline(ask, LATER, "2026-06-01 16:00")
    (reason,) = uncaptured(after)
    assert "after Monday 2026-06-01 11:00:00 in New York (-04:00) was never captured" in reason
    assert after.ids == ["1"]


def test_the_window_that_was_not_captured_is_named_also_where_the_source_chose_it(archive: Archive) -> None:
    captured(archive, articles(benzinga.article(1, at("2026-06-01 14:00"))), "source = 'benzinga'; tickers = ['AAPL']")
    chosen = archive.offline("benzinga --tickers AAPL", LATER, "2026-06-04 16:00")
    window = "Wednesday 2026-06-03 12:00:00 in New York (-04:00) to Thursday 2026-06-04 12:00:00 in New York (-04:00)"
    assert f"The window {window} was never captured" in uncaptured(chosen)[0]
    assert "Nothing that was captured matches. A ticker is written" in chosen.reasons
    assert "Only the 24 hours before the PIT were searched: use --date-from" in chosen.reasons
    given = archive.offline("benzinga --tickers AAPL --date-from 2026-06-03T16:00:00Z", LATER, "2026-06-04 16:00")
    assert f"The window {window} was never captured" in uncaptured(given)[0]
    assert "24 hours" not in given.reasons
    held = archive.offline("benzinga --tickers AAPL --date-from 2026-06-01T08:00:00Z", LATER, "2026-06-04 16:00")
    assert held.ids == ["1"], "as the hint says"


def test_a_question_without_a_window_is_said_to_be_captured_or_not_as_a_whole(archive: Archive) -> None:
    captured(archive, sec.app(FILINGS), "source = 'sec_full_text'; tickers = ['AAPL', 'TSLA']; exact = true")
    left = archive.offline("sec_full_text --ciks 1", LATER, "2026-05-25 12:00")
    assert uncaptured(left)[0].startswith("This was never captured")


# A question writes nothing.


def test_a_question_waits_for_no_writer(archive: Archive) -> None:
    archive.app = articles(benzinga.article(1, at("2026-06-01 14:00")))
    archive.fetch("benzinga --lookback-minutes 9999", NOW)
    with archive.open() as connection:
        connection.execute("BEGIN IMMEDIATE")
        assert archive.offline("benzinga --lookback-minutes 9999", LATER, "2026-06-02 12:00").ids == ["1"]
        connection.rollback()


def test_the_audit_file_says_what_was_answered(archive: Archive) -> None:
    archive.app = articles(benzinga.article(1, at("2026-06-01 14:00")))
    archive.fetch("benzinga --lookback-minutes 9999", NOW)
    left = archive.offline("benzinga --lookback-minutes 9999", LATER, "2026-06-02 12:00")
    assert (left.audit["kept"], left.audit["requests"]) == (["1"], 0)


def test_a_capture_goes_on_where_later_articles_break_the_promised_order(archive: Archive) -> None:
    """What came after a PIT could else take from it what the capture would have read next."""
    dated = [benzinga.article(n, at("2026-05-29 14:00") - timedelta(minutes=n)) for n in range(1, 101)]
    late, early = benzinga.article(101, at("2026-05-31 14:00")), benzinga.article(102, at("2026-05-02 14:00"))
    pages = {"0": dated, "1": [late, early]}
    captured(
        archive,
        lambda request: as_json(pages.get(str(request.query["page"]), [])),
        "source = 'benzinga'; date_from = 2026-05-01",
    )
    left = archive.offline("benzinga --date-from 2026-05-01", LATER, "2026-05-10 12:00")
    assert (left.ids, uncaptured(left)) == (["102"], [])
