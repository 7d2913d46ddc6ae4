"""Who may only read an archive gets its newest state or a clear refusal, and leaves its folder as it was."""

from __future__ import annotations

import os
import pickle
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from pit_fetch.archive.archived import OpenArchives
from pit_fetch.archive.store import reading, schema
from pit_fetch.archive.store.errors import ArchiveError
from pit_fetch.archive.store.journal import FetchEntry, Writer
from pit_fetch.archive.store.reading import FileState, SideFiles
from pit_fetch.engine.real_runtime import real_runtime
from pit_fetch.engine.registry import load
from pit_fetch.panels.grid import grid_of
from pit_fetch.panels.panel import Panel
from pit_fetch.testing.inprocess import TestClock
from tests.unit.archive.scene import Archive, at, estimates

IBM = "alphavantage EARNINGS_ESTIMATES symbol=IBM"
BEFORE, AFTER = "2.00", "9.99"
NOBODY, OWNER, GROUP = 65_534, 1_001, 2_000
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be two users")


def nobody_may_write(path: str) -> bool:
    return False


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    """One capture. The folder is the archive's alone."""
    made = Archive(tmp_path)
    (tmp_path / "list.toml").write_text(
        '[[request]]\nsource = "alphavantage"\nop = "EARNINGS_ESTIMATES"\nsymbol = "IBM"\n'
    )
    made.app = estimates(("2026-06-30", BEFORE))
    made.command("capture list.toml", "2026-06-05 13:00")
    return made


def capture_again(archive: Archive, average: str = AFTER) -> None:
    archive.app = estimates(("2026-06-30", average))
    assert archive.command("capture list.toml --again", "2026-06-08 13:00").code == 0


def ask(archive: Archive, **settings: str) -> str:
    """Return what was expected, or why it is not known."""
    left = archive.fetch(f"{IBM} --offline", "2026-06-10 12:00", pit="2026-06-09 12:00", env=settings)
    return left.data[0]["eps_estimate_average"] if left.data else left.reasons


def beside(archive: Archive) -> dict[str, tuple[int, int]]:
    """Return what every write would change of each file of the archive."""
    return {path.name: (path.stat().st_size, path.stat().st_mtime_ns) for path in archive.folder.glob("*.db*")}


@contextmanager
def under_way(archive: Archive) -> Iterator[sqlite3.Connection]:
    """Keep a writer open, so that what it commits stays in the write-ahead log."""
    with closing(archive.open()) as writer:
        writer.execute("SELECT count(*) FROM fetches").fetchone()
        yield writer


def copied(archive: Archive, *ends: str) -> Archive:
    """Return a copy that takes some of the files along."""
    copy = Archive(archive.folder / "copy")
    copy.folder.mkdir()
    for end in ("", *ends):
        shutil.copy(f"{archive.path}{end}", f"{copy.path}{end}")
    return copy


def settle(archive: Archive) -> None:
    """Let the last write be old enough for the next one to be told from it."""
    while not reading.file_state(str(archive.path)).is_settled(time.time_ns()):
        pass


# Which way.


SECOND = 1_000_000_000


@pytest.mark.parametrize(
    ("written", "changed", "now", "expected"),
    [
        (10 * SECOND + 5, 10 * SECOND + 5, 10 * SECOND + 10_000_000, False),
        (10 * SECOND + 5, 10 * SECOND + 5, 10 * SECOND + 30_000_000, True),
        (10 * SECOND, 10 * SECOND, 11 * SECOND, False),  # a file system that knows whole seconds, or two
        (10 * SECOND, 10 * SECOND, 12 * SECOND, True),
        (5 * SECOND + 5, 10 * SECOND + 5, 10 * SECOND + 10_000_000, False),  # the first can be set, the second not
        (10 * SECOND + 5, 10 * SECOND + 5, 10 * SECOND - 10_000_000, False),  # a clock that was set back
    ],
)
def test_a_file_is_settled_once_another_write_would_have_another_time(
    written: int, changed: int, now: int, expected: bool
) -> None:
    assert FileState(1, 2, 3, written, changed).is_settled(now) is expected


# Who may write.


READING = [
    f"--source {IBM} --offline --pit 2026-06-09T12:00:00Z",
    "panel --source alphavantage EARNINGS_ESTIMATES --over symbol=IBM --offline --pits 2026-06-09T12:00:00Z",
    "archive info",
    "archive log",
    "archive verify",
    "archive export lake",
    "archive drop --source alphavantage --before 2026-06-09 --dry-run",
    "capture list.toml --dry-run",
]


@pytest.mark.parametrize("command", READING)
@pytest.mark.parametrize("is_settled", [True, False])
def test_what_only_reads_leaves_the_folder_as_it_was(archive: Archive, command: str, is_settled: bool) -> None:
    if is_settled:
        settle(archive)
    before = beside(archive)
    assert archive.command(command).code == 0
    assert beside(archive) == before


def test_a_loop_of_questions_is_of_one_moment(archive: Archive) -> None:
    with closing(OpenArchives(load)) as archives:
        connection = archives.open_archive(str(archive.path)).connection
        before = connection.execute("SELECT count(*) FROM fetches").fetchone()
        capture_again(archive)
        assert connection.execute("SELECT count(*) FROM fetches").fetchone() == before
        schema.check_unchanged(connection)
    assert ask(archive) == AFTER
    assert beside(archive).keys() == {"a.db"}


@pytest.mark.parametrize("may_write", [True, False])
def test_what_a_capture_leaves_that_ends_while_somebody_reads_is_seen_and_removed(
    archive: Archive, may_write: bool
) -> None:
    with under_way(archive):
        reader = schema.open_to_read(str(archive.path), allowed=lambda path: may_write)
        reader.execute("BEGIN").execute("SELECT count(*) FROM fetches").fetchone()
        capture_again(archive)
    reader.close()
    assert beside(archive)["a.db-wal"] > (0, 0)
    assert (held(archive), held(archive, reading.may_write), ask(archive)) == (2, 2, AFTER)
    assert beside(archive).keys() == {"a.db", "a.db-shm", "a.db-wal"}
    capture_again(archive)
    assert ({*beside(archive)}, held(archive)) == ({"a.db"}, 3)


# Who may not.


def held(archive: Archive, allowed: Callable[[str], bool] = nobody_may_write) -> int:
    """Return how many fetches a reader sees."""
    with closing(schema.open_to_read(str(archive.path), allowed=allowed)) as reader, schema.snapshot(reader):
        (count,) = reader.execute("SELECT count(*) FROM fetches").fetchone()
    return int(count)


def test_they_are_seen_through_a_link_to_the_archive(archive: Archive) -> None:
    linked = Archive(archive.folder / "links")
    linked.folder.mkdir()
    linked.path.symlink_to(archive.path)
    with under_way(archive):
        capture_again(archive)
        assert (held(linked), held(linked, nobody_may_write), ask(linked)) == (2, 2, AFTER)
    assert [path.name for path in linked.folder.glob("a.db*")] == [linked.path.name]


def test_entries_that_cannot_be_seen_are_no_old_answer(archive: Archive) -> None:
    with under_way(archive):
        capture_again(archive)
        copy = copied(archive, "-wal")
    with pytest.raises(ArchiveError, match="copy both files to a folder that this user may write to"):
        held(copy)
    assert beside(copy).keys() == {"a.db", "a.db-wal"}
    assert ask(copy) == AFTER


def test_a_file_that_its_owner_is_just_removing_is_not_taken_for_one_that_cannot_be_used(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite removes -shm before -wal."""
    real, looks = reading.side_files, iter([SideFiles(4_152, has_shm=False)])
    monkeypatch.setattr(reading, "side_files", lambda path: next(looks, None) or real(path))
    assert held(archive) == 1


@pytest.mark.parametrize("command", [*READING, "archive merge copy/a.db", "archive repair copy/a.db --into new.db"])
def test_what_is_written_to_while_it_is_read_is_no_half_answer(
    archive: Archive, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is refused, or begun anew. Every command that reads an archive is here."""
    (archive.folder / "copy").mkdir()
    shutil.copy(archive.path, archive.folder / "copy" / "a.db")
    real, calls = schema.open_to_read, list[str]()

    def disturbed(path: str, **given: Any) -> reading.Reader:
        reader = real(path, **{**given, "allowed": nobody_may_write})
        calls.append(path)
        if len(calls) == 1:
            with closing(schema.open_to_write(path)) as connection, schema.transaction(connection):
                Writer(connection).append_fetch(FetchEntry(0, "live", "sample", "", "", {}, "", None))
        return reader

    monkeypatch.setattr(schema, "open_to_read", disturbed)
    answer = archive.command(command)
    if "another process wrote to it" in answer.out + answer.err:
        assert (answer.code != 0, (archive.folder / "lake").exists()) == (True, False)
        answer = archive.command(command)
    else:
        assert len(calls) > 1
    assert (answer.code, "another process" in answer.out + answer.err) == (0, False)


def disturbed_panel(archive: Archive, monkeypatch: pytest.MonkeyPatch, before: range = range(0)) -> Panel:
    """Return a panel for a user who may not write, while the owner records ``before`` some of its readings."""
    settle(archive)
    numbers, real = count(1), OpenArchives.open_archive

    def read(archives: OpenArchives, path: str) -> Any:
        if (number := next(numbers)) in before:
            capture_again(archive, f"{3 + number}.00")
        return real(archives, path)

    monkeypatch.setattr(schema, "open_to_read", partial(schema.open_to_read, allowed=nobody_may_write))
    monkeypatch.setattr(OpenArchives, "open_archive", read)
    clock, environ = TestClock(at("2026-06-20 12:00")).value(), {"PIT_FETCH_ARCHIVE": str(archive.path)}
    runtime = real_runtime()._replace(environ=environ, clock=clock, folder=str(archive.folder))
    options = {"op": "EARNINGS_ESTIMATES", "symbol": "IBM", "offline": True}
    pits = [at(f"2026-06-{day} 12:00") for day in (10, 11, 12)]
    return Panel(grid_of("alphavantage", pits, {}, options, runtime))


@pytest.mark.parametrize("number", [3, 4, 5])  # the first two readings are to refuse a panel that cannot be asked
def test_a_frame_that_a_writer_disturbs_is_asked_anew_as_a_whole(
    archive: Archive, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """The law "panel: disturbed" is the same of a file."""
    averages = {*disturbed_panel(archive, monkeypatch, range(number, number + 1)).to_df()["eps_estimate_average"]}
    assert averages in ({float(BEFORE)}, {3.0 + number})


def test_a_panel_that_is_disturbed_each_time_has_refused_cells(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = disturbed_panel(archive, monkeypatch, range(3, 1_000))
    assert panel.write(archive.folder / "panel.csv").keys() >= {"refused"}


def test_who_has_some_cells_already_gets_none_of_another_moment(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = iter(disturbed_panel(archive, monkeypatch))
    first = next(cells)
    capture_again(archive)
    others = [*cells]
    assert [first.status, *(cell.status for cell in others)] == ["ok", "refused", "refused"]
    assert first.envelope.data[0]["eps_estimate_average"] == BEFORE
    assert all("another process wrote to it" in cell.envelope.gaps[0]["reason"] for cell in others)


# Two users.


def as_user(user: int, action: Callable[[], Any], group: int) -> Any:
    """Return what an action returns in a process of another user, or raise what it raises."""
    readable, writable = os.pipe()
    process = os.fork()
    if not process:
        try:
            os.setgroups([])
            os.setgid(group)
            os.setuid(user)
            outcome: Any = (True, action())
        except BaseException as error:  # noqa: BLE001 - it is raised again in the test
            outcome = (False, error)
        with os.fdopen(writable, "wb") as stream:
            stream.write(pickle.dumps(outcome))
        os._exit(0)
    os.close(writable)
    with os.fdopen(readable, "rb") as stream:
        is_result, value = pickle.loads(stream.read())
    os.waitpid(process, 0)
    if not is_result:
        raise value
    return value


@pytest.fixture
def folder(archive: Archive) -> Archive:
    """An archive of the owner's in a folder that its group may write to, in which everybody can look."""
    for parent in archive.folder.parents:
        if parent.stat().st_uid == os.geteuid() and parent.stat().st_mode & 0o001 == 0:
            parent.chmod(parent.stat().st_mode | 0o001)
    for path, mode in ((archive.folder, 0o2775), (archive.path, 0o644)):
        os.chown(path, OWNER, GROUP)
        path.chmod(mode)
    return archive


def seen_by(user: int, archive: Archive, group: int = GROUP) -> Any:
    return as_user(user, lambda: held(archive, reading.may_write), group)


@needs_root
@pytest.mark.thorough
@pytest.mark.parametrize("group", [GROUP, NOBODY])
def test_another_user_sees_what_the_owner_has_committed_and_creates_nothing(folder: Archive, group: int) -> None:
    before = beside(folder)
    assert seen_by(NOBODY, folder, group) == 1
    assert beside(folder) == before
    with under_way(folder):
        capture_again(folder)
        assert seen_by(NOBODY, folder, group) == 2
        killed = copied(folder, "-wal", "-shm")
    for path in (killed.folder, *killed.folder.iterdir()):
        path.chmod(0o755)
    before = beside(killed)
    assert seen_by(NOBODY, killed, group) == 2
    os.remove(f"{killed.path}-shm")
    with pytest.raises(ArchiveError, match="copy both files"):
        seen_by(NOBODY, killed, group)
    assert before.items() > beside(killed).items()


@needs_root
@pytest.mark.thorough
def test_a_colleague_who_may_only_read_does_not_lock_the_owner_out(folder: Archive) -> None:
    assert seen_by(NOBODY, folder) == 1

    def write() -> None:
        with closing(folder.open()) as connection, schema.transaction(connection):
            Writer(connection).append_fetch(FetchEntry(0, "live", "sample", "", "", {}, "", None))

    as_user(OWNER, write, GROUP)
    assert seen_by(NOBODY, folder) == seen_by(OWNER, folder) == 2
    assert beside(folder).keys() == {"a.db"}
