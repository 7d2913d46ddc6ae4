"""The answered cells of a subject as a file, so that a panel that was broken off continues with the next subject.

A part is JSON lines: first whether it is whole and how many cells have each status, then one line a cell.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from pit_fetch.archive.session import PLAN
from pit_fetch.gaps import GapType
from pit_fetch.net.hosts import base_url
from pit_fetch.panels.cells import Cell, has_come, has_failed, lacks
from pit_fetch.panels.universe import Subject
from pit_fetch.pipeline.envelope import PlainEnvelope, Provenance
from pit_fetch.provider import API_VERSION
from pit_fetch.request.fetch_request import FetchRequest
from pit_fetch.support.version import __version__
from pit_fetch.support.whole_file import replacing
from pit_fetch.support.whole_folder import locked


class Summary(NamedTuple):
    """What a part holds.

    is_whole     no cell failed, in part either
    statuses     the number of cells by their status
    provisional  how many cells are of an instant that had not come when they were asked
    next_pit     the earliest of these instants; "" if there is none
    reason       why the first cell that lacks something does, in a sentence; "" if none does, or only what was never
                 captured. That something was cut comes last
    empty        what the answer of the first cell without anything public says of that; "" if there is none
    """

    is_whole: bool
    statuses: Mapping[str, int]
    provisional: int
    next_pit: str
    reason: str = ""
    empty: str = ""

    def counts(self, now: datetime) -> bool:
        """Return whether nothing is to be asked again: no cell failed, and no instant has come since it was asked."""
        return self.is_whole and not (self.next_pit and has_come(datetime.fromisoformat(self.next_pit), now))


class SubjectPart(NamedTuple):
    """The answered cells of a subject, as the content of a file."""

    summary: Summary
    content: bytes


# The key of a subject, with the subject that is to be asked about, or with its answers.
Due = tuple[str, Subject]
Answered = tuple[str, SubjectPart]


def part_of(cells: Sequence[Cell]) -> SubjectPart:
    """Return the part that holds the cells of a subject."""
    gaps = [gap for cell in cells if cell.status != "not_captured" for gap in lacks(cell.envelope)]
    # What failed may succeed the next time, what was withheld will not.
    is_whole = not any(has_failed(cell.envelope) for cell in cells)
    empty = (gap["reason"] for cell in cells for gap in cell.envelope.gaps if gap["type"] == GapType.NO_DATA)
    statuses = Counter[str](cell.status for cell in cells)
    ahead = sorted(cell.pit for cell in cells if cell.is_provisional)
    summary = Summary(
        is_whole,
        statuses,
        provisional=len(ahead),
        next_pit=ahead[0].isoformat() if ahead else "",
        reason=next((gap["reason"] for gap in sorted(gaps, key=lambda gap: gap["type"] == GapType.TRUNCATED)), ""),
        empty=next(empty, ""),
    )
    lines = (json.dumps(line, default=str) for line in (summary._asdict(), *map(_line, cells)))
    return SubjectPart(summary, "".join(f"{line}\n" for line in lines).encode())


class PartFolder:
    """The parts of a panel, in a folder of their own, which is made when it is needed."""

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
        """Return what a part holds; None if there is no such part, or none that can be read."""
        with contextlib.suppress(OSError, ValueError, TypeError), open(self._path(key), encoding="ascii") as file:
            return Summary(**json.loads(file.readline()))
        return None

    def keep(self, key: str, part: SubjectPart) -> None:
        """Keep the cells of a subject. Raise OSError."""
        with replacing(self._path(key)) as file:
            file.write(part.content)

    def cells(self, key: str) -> list[Cell]:
        """Return the cells of a subject, with the items of their answers. Raise OSError."""
        with open(self._path(key), encoding="ascii") as file:
            next(file)
            return [_cell(**json.loads(line)) for line in file]

    def remove(self) -> None:
        """Remove all parts, those of earlier questions included, and the folder."""
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
    # The values as they were written: a part has them in each row.
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


def _line(cell: Cell) -> dict[str, Any]:
    provenance = cell.envelope.provenance
    return {
        "pit": cell.pit.isoformat(),
        "over": cell.over,
        "status": cell.status,
        "grade": provenance.grade,
        "kinds": provenance.kinds,
        "items": cell.envelope.data,
    }


def _cell(pit: str, over: Mapping[str, Any], status: Any, grade: str, kinds: Any, items: list[dict[str, Any]]) -> Cell:
    return Cell(
        datetime.fromisoformat(pit), over, status, PlainEnvelope(items, (), Provenance(kinds=kinds, grade=grade))
    )
