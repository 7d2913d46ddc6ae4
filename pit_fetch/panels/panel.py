"""A panel: the cells of a grid, each answered as a fetch at its own instant, and the table of all of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pit_fetch.formats.columns import graded
from pit_fetch.gaps import FAILURES, GapType
from pit_fetch.pipeline.envelope import PlainEnvelope, Provenance
from pit_fetch.times import in_new_york

if TYPE_CHECKING:
    import pandas

# Why a cell is as it is. What an operator reads of it, such as a file, knows what was captured after its instant only
# where the answer itself does.
Status = Literal["ok", "incomplete", "nothing_public", "not_captured", "failed", "refused"]
# The columns before an item's own; those of the question stand between them.
PIT, STATUS = "pit", "status"


class Question(NamedTuple):
    """What a cell asks: an instant in UTC, and the options that differ from cell to cell."""

    pit: datetime
    over: Mapping[str, Any]


class Cell(NamedTuple):
    """The answer to a question.

    status  "ok"; "incomplete" if items were cut, or something failed beside them. Of a cell without items
            "nothing_public", "not_captured" (of an archive), "failed", or "refused" for what cannot be asked
    """

    pit: datetime
    over: Mapping[str, Any]
    status: Status
    envelope: PlainEnvelope


class Panel:
    """The cells of a grid, the earliest instant first. A cell is asked when it is needed, and each time anew."""

    def __init__(self, questions: Sequence[Question], ask: Callable[[Question], PlainEnvelope]) -> None:
        self.questions = questions
        self._ask = ask

    def __len__(self) -> int:
        return len(self.questions)

    def __iter__(self) -> Iterator[Cell]:
        for question in self.questions:
            envelope = self._ask(question)
            yield Cell(question.pit, question.over, status_of(envelope), envelope)

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
        names = dict.fromkeys(name for question in self.questions for name in question.over)
        rows = [(cell, item) for cell in cells for item in graded(cell.envelope) or [{}]]
        asked = [
            {PIT: in_new_york(cell.pit), **{name: cell.over.get(name) for name in names}, STATUS: cell.status}
            for cell, _ in rows
        ]
        items = [{_own(name): value for name, value in item.items() if name not in names} for _, item in rows]
        own = Provenance(kinds={_own(name): kind for name, kind in kinds.items() if name not in names})
        return PlainEnvelope(asked, (), Provenance(kinds={PIT: "instant"})), PlainEnvelope(items, (), own)


def counted(cells: Sequence[Cell]) -> dict[str, int]:
    """Return how many cells have each status."""
    return dict(Counter(cell.status for cell in cells))


def status_of(envelope: PlainEnvelope) -> Status:
    """Return why an answer is as it is."""
    types = {gap.get("type") for gap in envelope.gaps}
    is_failed, is_uncaptured = bool(types & FAILURES), any(gap.get("captured") is False for gap in envelope.gaps)
    if envelope.data:
        return "incomplete" if is_failed or is_uncaptured or GapType.TRUNCATED in types else "ok"
    if types & {GapType.CONFIG, GapType.INVALID_PIT, GapType.INPUT_ERROR}:
        return "refused"
    if is_failed or GapType.TRUNCATED in types:
        return "failed"
    return "not_captured" if is_uncaptured else "nothing_public"


def _own(name: str) -> str:
    """Return the column of an item's own field; no two fields share one."""
    return f"item_{name}" if re.fullmatch(f"(item_)*({PIT}|{STATUS})", name) else name
