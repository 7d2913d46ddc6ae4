"""A reader of an archive sees what it held when the reader came, or is told that it cannot, and leaves nothing behind.

Writers append, checkpoint, close and are killed at any moment. A reader is a user who may write to the archive or one
who may not, and asks one question or goes on asking.
"""

from __future__ import annotations

import shutil
import sqlite3
import time
from contextlib import ExitStack, closing
from pathlib import Path
from random import Random

from pit_fetch.archive.store import reading, schema
from pit_fetch.archive.store.errors import ArchiveError, Changed
from pit_fetch.archive.store.journal import FetchEntry, Writer
from tests.memory_folder import scratch

_FILES = ("", "-wal", "-shm")
_HELD = "SELECT (SELECT count(*) FROM fetches), (SELECT count(*) FROM entries), (SELECT sum(length(plan)) FROM fetches)"


class _Scene:
    """An archive, who writes to it, and how many fetches it holds."""

    def __init__(self, path: Path) -> None:
        self.path, self.held = path, 0
        self.writer: sqlite3.Connection | None = None
        self.write()
        self.close()

    def write(self) -> None:
        """Append a fetch, in the place of some of the last one's bytes or in pages of its own."""
        if self.writer is None:
            self.writer = schema.open_to_write(str(self.path))
        with schema.transaction(self.writer):
            plan = "p" * (5_000 * (self.held % 2))
            Writer(self.writer).append_fetch(FetchEntry(self.held, "live", "sample", "", plan, {}, "", None))
        self.held += 1

    def checkpoint(self) -> None:
        if self.writer is not None:
            self.writer.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()
            self.writer = None

    def killed(self, rng: Random) -> None:
        """Go on with the files as a killed writer, or a copy of them, leaves them, perhaps without the last one."""
        copied = self.path.with_name(f"{self.held}-{rng.randrange(10**9)}.db")
        for end in _FILES[: rng.choice((2, 3))]:
            if Path(f"{self.path}{end}").exists():
                shutil.copy(f"{self.path}{end}", f"{copied}{end}")
        self.close()
        self.path = copied

    def wait(self) -> None:
        """Let the last write be so old that the next one gets another time."""
        while not reading.file_state(str(self.path)).is_settled(time.time_ns()):
            time.sleep(0.001)

    def step(self, rng: Random) -> None:
        rng.choice((self.write, self.write, self.checkpoint, self.close))()

    @property
    def beside(self) -> set[str]:
        return {end for end in _FILES if Path(f"{self.path}{end}").exists()}


def law(rng: Random) -> int:
    with scratch("readers-") as folder, ExitStack() as stack:
        scene = _Scene(Path(folder, "a.db"))
        stack.callback(lambda: scene.close())
        for _ in range(rng.randrange(4)):
            scene.step(rng)
        if rng.random() < 0.3:
            scene.killed(rng)
        if rng.random() < 0.5:
            scene.wait()
        may_write, is_brief, steps = rng.random() < 0.4, rng.random() < 0.5, rng.randrange(4)
        beside = scene.beside
        if not may_write and scene.writer is None and "-shm" in beside:
            steps = 0  # SQLite takes all connections of a process for those of one user
        told = _asked(scene, rng, steps, may_write=may_write, is_brief=is_brief)
        assert told or steps or scene.beside == beside or (may_write and "-wal" in beside), "a reader leaves files"
        assert not told or not may_write or is_brief, f"the owner is refused: {told}"
        assert not told or steps or "-wal" in beside, f"nobody writes, and a reader is refused: {told}"
    return 0


def _asked(scene: _Scene, rng: Random, steps: int, *, may_write: bool, is_brief: bool) -> str:
    """Ask again and again while others write. Return why there is no answer, or "" if each was right."""
    held = scene.held
    try:
        reader = schema.open_to_read(str(scene.path), is_brief=is_brief, allowed=lambda path: may_write)
    except ArchiveError as error:
        return error.problem
    with closing(reader):
        reader.execute("PRAGMA cache_size = 1")
        try:
            with schema.snapshot(reader):
                found = [reader.execute(_HELD).fetchone()]
                for _ in range(steps):
                    scene.step(rng)
                    found.append(reader.execute(_HELD).fetchone())
        except Changed as error:
            return error.problem
    expected = (held, held, sum(5_000 * (number % 2) for number in range(held)))
    assert found == [expected] * len(found), f"an answer of another moment: {found}, and not {expected}"
    return ""
