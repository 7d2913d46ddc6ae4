"""A clock that was wrong: nothing is held that was not asked for, and an entry from the future blinds nobody."""

from __future__ import annotations

import json
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest

from pit_fetch.archive.store import journal
from pit_fetch.testing.server import Response
from pit_fetch.transport import HttpRequest
from tests.providers.bz_news_api import server as benzinga
from tests.unit.archive.scene import Archive, articles, at, estimates

SYMBOLS = ["AAA", "BBB", "CCC", "DDD"]
NOW = "2026-06-01 15:00"


def listed(archive: Archive, name: str, symbols: list[str]) -> None:
    tables = (f"[[request]]\nsource = 'alphavantage'\nop = 'EARNINGS_ESTIMATES'\nsymbol = '{s}'\n" for s in symbols)
    (archive.folder / name).write_text("".join(tables))


def exchanges(archive: Archive) -> set[tuple[str, int]]:
    with closing(archive.open()) as connection:
        return {*connection.execute("SELECT origin, seq FROM exchanges")}


@pytest.mark.parametrize("seed", range(6))
def test_whatever_the_clocks_say_what_is_held_was_asked_for_by_the_same_run(tmp_path: Path, seed: int) -> None:
    archive, rng, now = Archive(tmp_path), Random(seed), at(NOW)
    listed(archive, "one.toml", SYMBOLS)
    listed(archive, "two.toml", SYMBOLS[::-1])
    asked_in_run: dict[str, set[str]] = {"one": set(), "two": set()}
    for _ in range(14):
        # Up to the ten minutes by which clocks may differ, and after them.
        now += timedelta(minutes=rng.choice((-9, -4, 1, 30, 200, 800)))
        name, words = rng.choice(("one", "two")), rng.choice(("", "", "--missing", "--again"))
        asked, kill_at = list[str](), rng.choice((None, None, 1, 3))

        def answer(request: HttpRequest, asked: list[str] = asked, kill_at: int | None = kill_at) -> Response:
            if len(asked) == kill_at:
                raise KeyboardInterrupt
            asked.append(str(request.query["symbol"]))
            return estimates(("2026-06-30", str(rng.random())))(request)

        archive.app = answer
        before = exchanges(archive) if archive.path.exists() else set()
        left = archive.command(f"capture {name}.toml {words} --json", f"{now:%Y-%m-%d %H:%M}")
        if left.code == 2:
            assert "after this machine's clock" in left.err
            assert exchanges(archive) == before
            continue
        if left.code == 130:
            asked_in_run[name] |= {*asked}
            continue
        report = json.loads(left.out)
        states = {row["name"]: row["state"] for row in report["requests"]}
        assert len(asked) + report["held"] == len(SYMBOLS) == len(states)
        held = {row["request"].split()[-1] for row in report["requests"] if row["state"] == "held"}
        assert held <= asked_in_run[name], "held, and not asked for"
        asked_in_run[name] = held | {*asked}


@pytest.fixture
def ahead(tmp_path: Path) -> Archive:
    """An archive with an entry of today, and one by a clock that was far ahead."""
    archive = Archive(tmp_path)
    archive.app = articles(benzinga.article(1, at("2026-06-01 14:30"), title="in time"))
    archive.fetch("bz-news-api --lookback-minutes 100", NOW)
    archive.app = estimates(("2026-06-30", "9.99"))
    archive.fetch("alphavantage EARNINGS_ESTIMATES symbol=IBM", "2099-01-01 12:00")
    return archive


def test_an_entry_from_the_future_is_reported_and_can_be_deleted(ahead: Archive) -> None:
    now = "2026-06-02 15:00"
    listed(ahead, "list.toml", ["IBM"])
    for words, code in (("info", 0), ("verify", 1)):
        left = ahead.command(f"archive {words}", now)
        assert (left.code, "the future: 1 fetch after this machine's clock" in left.out) == (code, True)
    refused = ahead.command("capture list.toml", now)
    assert (refused.code, "drop --after" in refused.err) == (2, True)
    dry = json.loads(ahead.command("archive drop --after 2026-06-02T15:00:00Z --dry-run --json", now).out)
    assert (dry["fetches"], dry["source"]) == (1, "")
    assert ahead.command("archive drop --after 2026-06-02T15:00:00Z", now).out == (
        "1 fetch after 2026-06-02 15:00:00Z: deleted, for good\n"
    )
    assert ahead.command("archive verify", now).code == 0
    assert ahead.command("capture list.toml", now).code == 0
    assert any(b"9.99" in body for body in ahead.bodies()), "captured, in its time"
    with closing(ahead.open()) as connection:
        assert journal.Writer(connection).last_seen() < 1_800_000_000_000_000


def test_an_archive_from_the_future_is_not_merged(ahead: Archive) -> None:
    other = Archive(ahead.folder / "other")
    other.folder.mkdir()
    left = other.command(f"archive merge {ahead.path}", "2026-06-02 15:00")
    assert (left.code, "the future: 1 fetch" in left.err) == (2, True)


@pytest.mark.parametrize("words", ["drop", "drop --before 2026-06-01", "drop --before 2026-01-01 --after 2026-01-01"])
def test_what_is_deleted_has_to_be_said(ahead: Archive, words: str) -> None:
    assert ahead.command(f"archive {words}").code == 2
