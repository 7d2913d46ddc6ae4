"""Verify, merge, rebuild, drop and replay: an archive is the same whichever way it came to hold what it holds."""

from __future__ import annotations

import itertools
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from pit_fetch.archive import rederive
from pit_fetch.archive.recorder import Recorder
from pit_fetch.archive.store import index, microseconds, schema
from pit_fetch.archive.store.errors import ArchiveError
from pit_fetch.archive.store.journal import Key
from pit_fetch.archive_admin import maintenance, replay
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
    """What each hour is answered with."""
    hours = [f"2026-06-01 {hour}:00" for hour in range(14, 22)]
    return [[item["title"] for item in archive.offline(NEWS, "2026-06-02 12:00", pit=hour).data] for hour in hours]


def test_the_order_of_merging_is_nothing(three: list[Archive], tmp_path: Path) -> None:
    histories = []
    for number, order in enumerate(itertools.permutations(three)):
        merged = archive_in(tmp_path / f"merged{number}")
        for one in order:
            maintenance.merge(merged.open(), one.open())
        assert maintenance.verify(merged.open()).damage == ()
        histories.append(history(merged))
    assert all(one == histories[0] for one in histories)
    assert [one for n, one in enumerate(histories[0]) if n in (2, 3, 4)] == [["second"], ["third"], ["first"]]


def test_merging_again_changes_nothing(three: list[Archive]) -> None:
    first, second, _ = three
    assert maintenance.merge(first.open(), second.open()) > 0
    before = history(first)
    assert maintenance.merge(first.open(), second.open()) == 0
    assert history(first) == before


def test_a_copy_goes_on_under_a_name_of_its_own(three: list[Archive], tmp_path: Path) -> None:
    first = three[0]
    first.open().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    copy = archive_in(tmp_path / "copy")
    shutil.copy(first.path, copy.path)
    for one, title in ((first, "here"), (copy, "there")):
        one.app = articles(benzinga.article(1, at("2026-06-01 14:30"), title=title))
        one.fetch(NEWS, "2026-06-01 22:00")
    assert maintenance.merge(first.open(), copy.open()) > 0
    assert maintenance.verify(first.open()).damage == ()


def test_a_damaged_archive_is_not_merged(three: list[Archive]) -> None:
    first, second, _ = three
    second.open().execute("UPDATE exchanges SET status = 204")
    with pytest.raises(ArchiveError, match="damaged"):
        maintenance.merge(first.open(), second.open())


def test_a_rebuilt_index_gives_the_same_answers(three: list[Archive]) -> None:
    archive = three[0]
    archive.fetch(NEWS, "2026-06-01 23:00", pit="2026-06-01 22:00")
    before = history(archive)
    connection = archive.open()
    with schema.transaction(connection):
        index.clear(connection)
    assert history(archive) == [[] for _ in before]
    maintenance.rebuild(connection)
    assert history(archive) == before


def test_what_is_dropped_is_gone_and_stays_gone(three: list[Archive]) -> None:
    first, second, _ = three
    maintenance.merge(first.open(), second.open())
    held = first.open()
    done = maintenance.drop(held, str(first.path), "bz-news-api", microseconds.number(at("2026-06-01 16:30")), 0)
    assert done == maintenance.Dropped(fetches=2, answers=0)
    assert maintenance.verify(held).damage == ()
    assert not any(word in body for body in first.bodies() for word in (b'"second"', b'"title": "second"'))
    assert held.execute("SELECT count(*) FROM drops").fetchone() == (1,)
    # Merging with one that still holds them does not bring them back.
    assert maintenance.merge(held, second.open()) == 0
    assert ["second"] not in history(first)
    # And one that merges this one drops them, too.
    maintenance.merge(second.open(), held)
    assert ["second"] not in history(second)
    assert maintenance.verify(second.open()).damage == ()


def test_a_recorded_answer_is_the_same_for_ever(tmp_path: Path) -> None:
    archive = archive_in(tmp_path / "a")
    archive.app = articles(benzinga.article(1, at("2026-06-01 14:30"), title="first"))
    printed = archive.fetch(NEWS, "2026-06-01 15:00", pit="2026-06-01 14:50").text
    key = replay.last(archive.open())
    archive.app = articles(benzinga.article(1, at("2026-06-01 14:30"), title="changed"))
    archive.fetch(NEWS, "2026-06-01 18:00")
    assert key is not None
    found = replay.recorded(archive.open(), key)
    assert (found.text, found.status) == (printed, 0)
    with pytest.raises(ArchiveError, match="no such fetch"):
        replay.recorded(archive.open(), Key("none", 1))


def index_of(archive: Archive) -> list[set[tuple[object, ...]]]:
    """What the index holds, once all that is due is taken up."""
    with closing(archive.open()) as connection:
        for (pool,) in connection.execute("SELECT name FROM pools").fetchall():
            rederive.Archived(connection, load, {}).take_up(pool)
        reads = connection.execute("SELECT origin, fetch, seen, complete FROM reads")
        sights = connection.execute("SELECT item, first, last, before, free, said = '', latest FROM sights")
        reigns = connection.execute("SELECT item, start, stop, first_seen, mark FROM reigns")
        return [set(reads), set(sights), set(reigns)]


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
        patched.setattr(Recorder, "finish", lambda recorder, *_: recorder.close())
        archive.fetch(NEWS, "2026-06-01 16:00", pit="2026-06-01 16:00")
    assert index_of(archive) == before
    with closing(archive.open()) as connection:
        assert connection.execute("SELECT count(*) FROM exchanges").fetchone() == (2,)


def test_what_two_machines_saw_at_once_may_go_and_come_back(tmp_path: Path) -> None:
    first, second = archive_in(tmp_path / "a"), archive_in(tmp_path / "b")
    other = benzinga.article(2, at("2026-06-01 14:00"), title="other")

    def see(archive: Archive, now: str, *titles: str) -> None:
        rows = [benzinga.article(1, at("2026-06-01 14:30"), title=title) for title in titles]
        archive.app = articles(other, *rows)
        archive.fetch(NEWS, now)

    see(first, "2026-06-01 15:00", "here")
    see(second, "2026-06-01 15:00", "there")
    see(first, "2026-06-01 17:00")
    see(first, "2026-06-01 19:00", "here")
    see(first, "2026-06-01 20:00", "later")
    maintenance.merge(first.open(), second.open())
    one = [next((title for title in titles if title != "other"), "") for titles in history(first)]
    assert one[1] in {"here", "there"}
    assert one == ["", one[1], one[1], "", "", "here", "later", "later"]


def test_a_read_before_what_two_machines_saw_at_once_refutes_what_both_claim(tmp_path: Path) -> None:
    """The one dates it after that read, the other one before it."""
    first, second = archive_in(tmp_path / "a"), archive_in(tmp_path / "b")
    other = benzinga.article(2, at("2026-06-01 14:00"), title="other")
    for archive, rows, now in (
        (first, [], "2026-06-01 15:00"),
        (first, [benzinga.article(1, at("2026-06-01 15:30"), title="new")], "2026-06-01 16:00"),
        (second, [benzinga.article(1, at("2026-06-01 14:30"), title="back-dated")], "2026-06-01 16:00"),
    ):
        archive.app = articles(other, *rows)
        (archive.folder / "list.toml").write_text("[[request]]\nsource = 'benzinga'\nlookback_minutes = 10000\n")
        assert archive.command("capture list.toml --again", now).code == 0
    for number, order in enumerate(itertools.permutations((first, second))):
        merged = archive_in(tmp_path / f"merged{number}")
        for one in order:
            maintenance.merge(merged.open(), one.open())
        assert history(merged)[1] == ["other"]
