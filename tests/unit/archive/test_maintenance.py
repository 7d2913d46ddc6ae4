"""Merge and rebuild: an archive answers alike, whichever way its fetches came into it."""

from __future__ import annotations

import itertools
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from pit_fetch.archive.archived import Archived
from pit_fetch.archive.recorder import ArchiveRecorder
from pit_fetch.archive_admin import maintenance, verification
from pit_fetch.engine.registry import load
from pit_fetch.transport import HttpRequest
from tests.providers.bz_news_api import server as benzinga
from tests.unit.archive.scene import Archive, articles, at

NEWS = "bz-news-api --tickers AAPL"


def archive_in(folder: Path) -> Archive:
    folder.mkdir()
    return Archive(folder)


@pytest.fixture
def three(tmp_path: Path) -> list[Archive]:
    """Three machines that looked at the same source at different times."""
    made = [archive_in(tmp_path / name) for name in "abc"]
    words = ("first", "second", "third", "first", "fourth", "fifth")
    for hour, title, archive in zip(range(15, 21), words, itertools.cycle(made), strict=False):
        archive.app = articles(benzinga.article(1, at("2026-06-01 14:30"), title=title))
        archive.fetch(NEWS, f"2026-06-01 {hour}:00")
    return made


def history(archive: Archive) -> list[list[str]]:
    """Return the titles that each hour is answered with."""
    hours = [f"2026-06-01 {hour}:00" for hour in range(14, 22)]
    return [[item["title"] for item in archive.offline(NEWS, "2026-06-02 12:00", pit=hour).data] for hour in hours]


def test_the_order_of_merging_does_not_matter(three: list[Archive], tmp_path: Path) -> None:
    histories = []
    for number, order in enumerate(itertools.permutations(three)):
        merged = archive_in(tmp_path / f"merged{number}")
        for archive in order:
            maintenance.merge(merged.open(), archive.open())
        assert verification.verify(merged.open()).damage == ()
        histories.append(history(merged))
    assert all(titles == histories[0] for titles in histories)
    assert histories[0][2:5] == [["second"], ["third"], ["first"]]


def test_a_copy_goes_on_under_a_name_of_its_own(three: list[Archive], tmp_path: Path) -> None:
    first = three[0]
    first.open().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    copy = archive_in(tmp_path / "copy")
    shutil.copy(first.path, copy.path)
    for archive, title in ((first, "here"), (copy, "there")):
        archive.app = articles(benzinga.article(1, at("2026-06-01 14:30"), title=title))
        archive.fetch(NEWS, "2026-06-01 22:00")
    assert maintenance.merge(first.open(), copy.open()) > 0
    assert verification.verify(first.open()).damage == ()


def index_of(archive: Archive) -> list[set[tuple[object, ...]]]:
    """Return the rows of the index, once all pending fetches are ingested."""
    with closing(archive.open()) as connection:
        for (stream,) in connection.execute("SELECT name FROM streams").fetchall():
            Archived(connection, load).ingest_all(stream)
        reads = connection.execute("SELECT origin, fetch, seen, complete FROM reads")
        runs = connection.execute(
            "SELECT i.name, first, last, before, counts_from, versions = '', latest FROM stretches "
            "JOIN items i ON i.id = item"
        )
        validities = connection.execute("SELECT start, stop, first_seen, checksum FROM validities")
        return [set(reads), set(runs), set(validities)]


def test_a_fetch_that_comes_late_is_added_in_its_place(three: list[Archive]) -> None:
    """Its stream was asked about while it was under the wrong one, say: the later fetches are in the index."""
    archive = three[0]
    with closing(archive.open()) as connection:
        (first, *_) = connection.execute("SELECT * FROM pending ORDER BY fetch").fetchall()
        connection.execute("DELETE FROM pending WHERE fetch = (SELECT min(fetch) FROM pending)")
        (stream,) = connection.execute("SELECT name FROM streams").fetchone()
        Archived(connection, load).ingest_all(stream)
        assert verification.verify(connection).damage
        connection.execute("INSERT INTO pending VALUES (?, ?, ?, ?)", first)
    found = index_of(archive)
    with closing(archive.open()) as connection:
        assert verification.verify(connection).damage == ()
        maintenance.rebuild(connection, load)
    assert found == index_of(archive)


@pytest.mark.parametrize("pit", [None, "2026-06-01 17:00"])
def test_an_index_that_is_made_again_during_a_fetch_is_that_of_all_fetches(tmp_path: Path, pit: str | None) -> None:
    archive = Archive(tmp_path)
    rows = [benzinga.article(n, at("2026-06-01 14:00")) for n in range(120)]
    archive.app = articles(*rows[:110])
    archive.fetch(NEWS, "2026-06-01 15:00")
    server = articles(*rows)

    def meanwhile(request: HttpRequest) -> object:
        if str(request.query["page"]) == "1":
            with closing(archive.open()) as connection:
                maintenance.rebuild(connection, load)
        return server(request)

    archive.app = meanwhile  # type: ignore[assignment]
    archive.fetch(f"{NEWS} --limit 1000", "2026-06-01 17:00", pit=pit)
    found = index_of(archive)
    with closing(archive.open()) as connection:
        maintenance.rebuild(connection, load)
    assert found == index_of(archive)
    assert len(found[0]) == 2


def test_a_fetch_that_is_killed_before_it_answers_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = Archive(tmp_path)
    first, second = (benzinga.article(n, at(f"2026-06-01 14:{n}0")) for n in (1, 2))
    archive.app = articles(first, second)
    archive.fetch(NEWS, "2026-06-01 15:00")
    before = index_of(archive)
    archive.app = articles(first)

    with monkeypatch.context() as patched:
        # As a process that is killed does, it lets go of the file, and writes nothing more.
        patched.setattr(ArchiveRecorder, "finish", lambda recorder, *_: recorder.close())
        archive.fetch(NEWS, "2026-06-01 16:00", pit="2026-06-01 16:00")
    assert index_of(archive) == before
    with closing(archive.open()) as connection:
        assert connection.execute("SELECT count(*) FROM exchanges").fetchone() == (2,)
