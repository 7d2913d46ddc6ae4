"""The answered cells of a subject as a file, so that a panel that was broken off continues with the next subject.

A file is JSON lines: first whether it is whole and how many cells have each status, then one line a cell,
with what differs from the cell before it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from pit_fetch.archive.session import PLAN
from pit_fetch.net.hosts import base_url
from pit_fetch.panels.cells import Answer, Cell, has_come, has_failed
from pit_fetch.panels.universe import Subject
from pit_fetch.pipeline.envelope import PlainEnvelope, Provenance
from pit_fetch.provider import API_VERSION
from pit_fetch.request.fetch_request import FetchRequest
from pit_fetch.support.version import __version__
from pit_fetch.support.whole_file import replacing
from pit_fetch.support.whole_folder import locked


class Summary(NamedTuple):
    """What the answered cells of a subject hold.

    is_whole     no cell failed, wholly or in part
    statuses     the number of cells by their status
    provisional  how many cells are of an instant that had not come when they were asked
    next_pit     the earliest of these instants; "" if there is none
    reasons      the reason of the first cell of each status
    """

    is_whole: bool
    statuses: Mapping[str, int]
    provisional: int
    next_pit: str
    reasons: Mapping[str, str]

    def counts(self, now: datetime) -> bool:
        """Return whether nothing is to be asked again: no cell failed, and no instant has come since it was asked."""
        return self.is_whole and not (self.next_pit and has_come(datetime.fromisoformat(self.next_pit), now))


# The key of a subject, with that subject.
KeyedSubject = tuple[str, Subject]


def summarize(cells: Sequence[Cell]) -> Summary:
    """Return what the cells of a subject hold."""
    # What failed may succeed the next time, what was withheld will not.
    is_whole = not any(not cell.answer.is_plain and has_failed(cell.envelope) for cell in cells)
    statuses = Counter[str](cell.status for cell in cells)
    ahead = sorted(cell.pit for cell in cells if cell.is_provisional)
    return Summary(
        is_whole,
        statuses,
        provisional=len(ahead),
        next_pit=ahead[0].isoformat() if ahead else "",
        reasons={cell.status: cell.reason for cell in reversed(cells)},
    )


class AnsweredSubjects:
    """The files of a panel's answered subjects, in a folder of their own, which is made when it is needed."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Hold the folder for this block alone. Raise OSError if another process holds it."""
        with contextlib.suppress(FileExistsError):  # kept by an earlier run
            os.mkdir(self.folder)
        with locked(Path(self.folder)):
            try:
                yield
            finally:
                with contextlib.suppress(OSError):
                    os.rmdir(self.folder)  # unless something is kept

    def summary(self, key: str) -> Summary | None:
        """Return what the file of a subject holds; None if there is none, or none that can be read."""
        with contextlib.suppress(OSError, ValueError, TypeError), open(self._path(key), encoding="ascii") as file:
            return Summary(**json.loads(file.readline()))
        return None

    def keep(self, key: str, cells: Sequence[Cell]) -> Summary:
        """Keep the cells of a subject, and return what they hold. Raise OSError."""
        summary = summarize(cells)
        with replacing(self._path(key)) as file:
            for line in (summary._asdict(), *_lines(cells)):
                file.write(f"{json.dumps(line, default=str)}\n".encode())
        return summary

    def cells(self, key: str) -> list[Cell]:
        """Return the cells of a subject, with the items of their answers. Raise OSError."""
        with open(self._path(key), encoding="ascii") as file:
            next(file)
            return [*_read_cells(file)]

    def remove(self) -> None:
        """Remove all files, those of earlier questions included, and the folder."""
        with contextlib.suppress(OSError):
            for name in os.listdir(self.folder):
                if name.endswith((".part", ".tmp")):
                    os.unlink(os.path.join(self.folder, name))

    def _path(self, key: str) -> str:
        return os.path.join(self.folder, f"{key}.part")


def key_of(request: FetchRequest, subject: Subject, state: Sequence[object], environ: Mapping[str, str]) -> str:
    """Return the digest of all that the cells of a subject depend on, except for what a source answers.

    ``state`` identifies the archive or the saved reply that answers, and its state.
    """
    provider = request.provider
    hosts = [base_url(host, environ) for host in provider.hosts]
    instants = [pit.isoformat() for pit in subject.pits]
    # The values as they were written: the file has them in each row.
    values = {name: str(value) for name, value in subject.over.items()}
    known = [
        __version__,
        API_VERSION,
        hosts,
        environ.get(PLAN, ""),
        request.canonical,
        values,
        instants,
        repr(state),
    ]
    return hashlib.sha256(json.dumps(known).encode()).hexdigest()[:32]


def _lines(cells: Sequence[Cell]) -> Iterator[dict[str, Any]]:
    """Yield a line for each cell: what differs from the line before. An item is written once; then its number is."""
    numbers: dict[int, int] = {}
    before: dict[str, Any] = {}
    for cell in cells:
        answer, fresh = cell.answer, list[dict[str, Any]]()
        for item in answer.items:
            if id(item) not in numbers:
                numbers[id(item)] = len(numbers)
                fresh.append(item)
        line = {
            "pit": cell.pit.isoformat(),
            "over": cell.over,
            "status": cell.status,
            "reason": cell.reason,
            "grade": answer.provenance.grade,
            "kinds": answer.provenance.kinds,
            "items": [numbers[id(item)] for item in answer.items],
        }
        changed = {name: value for name, value in line.items() if name not in before or before[name] != value}
        yield {**changed, "fresh": fresh} if fresh else changed
        before = line


def _read_cells(lines: Iterable[str]) -> Iterator[Cell]:
    items: list[dict[str, Any]] = []
    whole: dict[str, Any] = {}
    answer: Answer | None = None
    for line in lines:
        changed = json.loads(line)
        items += changed.pop("fresh", ())
        whole |= changed
        if answer is None or not changed.keys().isdisjoint(("grade", "kinds", "items")):
            provenance = Provenance(kinds=whole["kinds"], grade=whole["grade"])
            envelope = PlainEnvelope([items[number] for number in whole["items"]], (), provenance)
            answer = Answer.written(envelope)
        yield Cell(datetime.fromisoformat(whole["pit"]), whole["over"], whole["status"], answer, reason=whole["reason"])
