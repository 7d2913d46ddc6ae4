"""Which later answers are deleted with what is dropped: those that repeat it, and those that cannot be judged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pit_fetch.archive.store import microseconds
from pit_fetch.archive.store.errors import Damaged
from pit_fetch.archive_admin import maintenance
from pit_fetch.engine.registry import load
from pit_fetch.errors import ConfigError, UpstreamError
from pit_fetch.gaps import Code
from pit_fetch.provider import Provider, Query, Record
from pit_fetch.testing.server import App
from tests.demo_source import change_operations
from tests.providers.alphavantage import server as alphavantage
from tests.providers.bz_news_api import server as benzinga
from tests.unit.archive.scene import Archive, articles, at, estimates

BEFORE = at("2026-06-01 16:00")
NEWS = "bz-news-api --lookback-minutes 10000"
ESTIMATES = "alphavantage EARNINGS_ESTIMATES symbol=IBM"
BARS = "alphavantage TIME_SERIES_DAILY_ADJUSTED symbol=IBM"


def news(*titles: str) -> App:
    return articles(*(benzinga.article(n, at(f"2026-06-01 14:{n}0"), title=title) for n, title in enumerate(titles)))


def bars(split: str) -> App:
    more = {"adjusted_close": "9.1", "dividend_amount": "0.0000"}
    days = [("2026-05-29", "49.0", split), ("2026-05-28", "98.0", "1.0")]
    rows = [alphavantage.bar(day, close, split_coefficient=ratio, **more) for day, close, ratio in days]
    return alphavantage.app(alphavantage.Store({"TIME_SERIES_DAILY_ADJUSTED": rows}))


# what the source said before and after, what is asked then, as of when, of whom; and whether that answer stays
ANSWERS: dict[str, tuple[App, App, str, str | None, bool, bool]] = {
    "words that were changed since": (news("a"), news("b"), NEWS, "15:30", True, False),
    "the same, of the network as well": (news("a"), news("b"), NEWS, "15:30", False, False),
    "the words that they were changed to": (news("a"), news("b"), NEWS, "18:30", True, True),
    "words that were not changed": (news("a"), news("a"), NEWS, "15:30", True, True),
    "one of two was changed": (news("a", "c"), news("b", "c"), NEWS, "15:30", True, False),
    "only the other one was asked for": (news("a", "c"), news("b", "c"), f"{NEWS} --limit 1", "15:30", True, True),
    "nothing of it is shown": (news("a"), news("b"), f"{NEWS} --fields channels", "15:30", True, True),
    "now, of the network": (news("a"), news("b"), NEWS, None, False, True),
    "now, in another form": (news("a"), news("b"), f"{NEWS} --format csv", None, False, True),
    "another form, that cannot be told": (news("a"), news("a"), f"{NEWS} --format csv", "15:30", True, False),
    "a snapshot of then": (
        estimates(("2026-06-30", "1.5")),
        estimates(("2026-06-30", "1.6")),
        ESTIMATES,
        "15:30",
        True,
        False,
    ),
    "a snapshot of later": (
        estimates(("2026-06-30", "1.5")),
        estimates(("2026-06-30", "1.6")),
        ESTIMATES,
        "18:30",
        True,
        True,
    ),
    "another question": (estimates(("2026-06-30", "1.5")), bars("1.0"), BARS, "18:30", True, True),
    "computed by itself": (bars("1.0"), bars("1.0"), f"{BARS} adjust=splits", "18:30", False, True),
    "computed from what was held": (bars("2.0"), bars("1.0"), f"{BARS} adjust=splits", "15:30", True, False),
    "computed alike, from what was held": (bars("1.0"), bars("1.0"), f"{BARS} adjust=splits", "15:30", True, False),
}


def asked(folder: Path, answer: str) -> tuple[Archive, str, str]:
    """An archive with this answer, which source that is of, and what was printed."""
    before, after, words, pit, is_offline, _ = ANSWERS[answer]
    source = words.split()[0]
    made = Archive(folder)
    for hour, app in ((15, before), (17, after)):
        made.app = app
        if answer != "another question" or hour == 15:
            made.fetch(ESTIMATES if answer == "another question" else words.split(" --")[0], f"2026-06-01 {hour}:00")
        else:
            made.fetch(BARS, "2026-06-01 17:00")
    ask = made.remembered if is_offline else made.fetch
    text = ask(words, "2026-06-01 19:00", None if pit is None else f"2026-06-01 {pit}").text
    return made, source, text


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answer_stays_if_it_repeats_nothing_that_is_deleted(tmp_path: Path, answer: str) -> None:
    archive, source, text = asked(tmp_path, answer)
    assert text != ""
    left = archive.command(f"archive drop --source {source} --before {BEFORE.isoformat()} --json")
    stays = ANSWERS[answer][-1]
    assert json.loads(left.out)["fetches"] == 1
    replayed = archive.command("archive replay last --no-compare")
    assert (replayed.out if stays else replayed.code) == (text if stays else 2)
    assert archive.command("archive verify").code == 0


def test_where_the_source_is_not_installed_no_answer_stays_that_may_repeat_it(tmp_path: Path) -> None:
    archive, source, _ = asked(tmp_path, "words that were not changed")

    def find(name: str) -> Provider:
        raise ConfigError(Code.USAGE, text="not installed")

    assert [
        maintenance.to_drop(archive.open(), source, microseconds.to_micros(BEFORE), finder).answers
        for finder in (load, find)
    ] == [0, 1]


@pytest.mark.parametrize("body", ["answer FROM answers WHERE seq = 8", "body FROM exchanges WHERE seq = 2"])
def test_nothing_is_judged_by_what_is_damaged(tmp_path: Path, body: str) -> None:
    """An answer would be deleted because it cannot be read, or because of a reply that cannot."""
    archive, source, _ = asked(tmp_path, "words that were not changed")
    archive.open().execute(f"UPDATE bodies SET packed = x'00' WHERE digest = (SELECT {body})")
    with closing(archive.open()) as connection, pytest.raises(Damaged, match="archive repair"):
        maintenance.drop(connection, source, microseconds.to_micros(BEFORE), 0)
    assert archive.open().execute("SELECT count(*) FROM fetches").fetchone() == (3,)


def test_where_the_deleted_cannot_be_read_any_more_everything_has_to_be_said_again(tmp_path: Path) -> None:
    """A provider that refuses the old replies does not know what they contain."""
    archive, source, _ = asked(tmp_path, "words that were changed since")

    def find(name: str) -> Provider:
        return change_operations(load(name), parse_reply=refuse)

    def refuse(body: bytes, query: Query) -> Iterator[Record]:
        raise UpstreamError(Code.MALFORMED, problem="it is of another time")

    assert maintenance.to_drop(archive.open(), source, microseconds.to_micros(BEFORE), find).answers == 1
