"""A panel: the cells of a grid, each answered as a fetch at its own instant, and the table of all of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pit_fetch.formats.columns import graded
from pit_fetch.gaps import FAILURES, GapType
from pit_fetch.panels.universe import Subject
from pit_fetch.pipeline.envelope import PlainEnvelope, Provenance
from pit_fetch.times import in_new_york

if TYPE_CHECKING:
    import pandas

# Why a cell is as it is. What an operator reads of it, such as a file, knows what was captured after its instant only
# where the answer itself does.
Status = Literal["ok", "incomplete", "nothing_public", "not_captured", "failed", "refused"]
# The columns before an item's own; those of the question stand between them.
PIT, STATUS = "pit", "status"


# Returns the answer about a subject, by its options, as of an instant.
Ask = Callable[[Mapping[str, Any], datetime], PlainEnvelope]


class Cell(NamedTuple):
    """The answer about a subject as of an instant.

    pit     the instant in UTC
    over    the options that name the subject
    status  "ok"; "incomplete" if items were cut, or something failed beside them. Of a cell without items
            "nothing_public", "not_captured" (of an archive), "failed", or "refused" for what cannot be asked
    """

    pit: datetime
    over: Mapping[str, Any]
    status: Status
    envelope: PlainEnvelope


class Panel:
    """The cells of a grid, subject by subject, each from the earliest instant on.

    A cell is asked when it is needed, and each time anew. Within one iteration, and from one archive alone, all cells
    are of what the archive held when the first was asked.

    subjects  about whom is asked, and when
    asking    returns a context in which questions are asked
    """

    def __init__(self, subjects: Sequence[Subject], asking: Callable[[], AbstractContextManager[Ask]]) -> None:
        self.subjects = subjects
        self._asking = asking

    def __len__(self) -> int:
        return sum(len(subject.pits) for subject in self.subjects)

    def __iter__(self) -> Iterator[Cell]:
        return (cell for cells in self.by_subject() for cell in cells)

    def by_subject(self) -> Iterator[Iterator[Cell]]:
        """Yield the cells of each subject. They are asked as they are read."""
        with self._asking() as ask:
            for subject in self.subjects:
                yield (answered(subject.over, pit, ask) for pit in subject.pits)

    def __repr__(self) -> str:
        return f"<Panel of {len(self)} cells>"

    def to_df(self) -> pandas.DataFrame:
        """Ask every cell, and return a row for each item, typed by the declared fields; for an empty cell one as well.

        The first columns are ``pit``, those of the question, and ``status``. An item's own field of such a name is in
        ``item_pit`` or ``item_status``, or replaced by the question's. ``attrs["status"]`` counts the cells by their
        status. Raises ConfigError if pandas is not installed.
        """
        from pit_fetch.formats.frames import to_pandas

        cells = [*self]
        asked, own = map(to_pandas, self.halves(cells))
        import pandas

        whole = pandas.concat([asked, own], axis=1)
        whole.attrs = {STATUS: counted(cells)}
        return whole

    def halves(self, cells: Sequence[Cell]) -> tuple[PlainEnvelope, PlainEnvelope]:
        """Return the rows of the table of ``cells``, by their columns: what was asked and the status, and the items."""
        kinds = {name: kind for cell in cells for name, kind in cell.envelope.provenance.kinds.items()}
        names = dict.fromkeys(name for subject in self.subjects for name in subject.over)
        rows = [(cell, item) for cell in cells for item in graded(cell.envelope) or [{}]]
        asked = [
            {PIT: in_new_york(cell.pit), **{name: cell.over.get(name) for name in names}, STATUS: cell.status}
            for cell, _ in rows
        ]
        items = [{_own(name): value for name, value in item.items() if name not in names} for _, item in rows]
        own = Provenance(kinds={_own(name): kind for name, kind in kinds.items() if name not in names})
        return PlainEnvelope(asked, (), Provenance(kinds={PIT: "instant"})), PlainEnvelope(items, (), own)


def answered(over: Mapping[str, Any], pit: datetime, ask: Ask) -> Cell:
    """Return the answer to a question."""
    envelope = ask(over, pit)
    return Cell(pit, over, status_of(envelope), envelope)


def counted(cells: Sequence[Cell]) -> dict[str, int]:
    """Return how many cells have each status."""
    return dict(Counter(cell.status for cell in cells))


def status_of(envelope: PlainEnvelope) -> Status:
    """Return why an answer is as it is."""
    if envelope.data:
        return "ok" if envelope.is_complete else "incomplete"
    types = {gap.get("type") for gap in envelope.gaps}
    if types & {GapType.CONFIG, GapType.INVALID_PIT, GapType.INPUT_ERROR}:
        return "refused"
    if types & {GapType.TRUNCATED, *FAILURES}:
        return "failed"
    return "nothing_public" if envelope.is_complete else "not_captured"


def _own(name: str) -> str:
    """Return the column of an item's own field; no two fields share one."""
    return f"item_{name}" if re.fullmatch(f"(item_)*({PIT}|{STATUS})", name) else name
