"""The cells of a panel, each answered as a fetch at its own instant, and their rows in its table. Pure.

>>> from datetime import UTC
>>> cell = Cell(datetime(2024, 2, 15, 21, tzinfo=UTC), {"symbol": "IBM"}, "ok", PlainEnvelope([{"id": "a"}]))
>>> rows_of([cell])
[{'pit': '2024-02-15T16:00:00-05:00', 'symbol': 'IBM', 'status': 'ok', 'id': 'a'}]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeVar

from pit_fetch.archive.store.errors import Changed
from pit_fetch.archive.store.schema import checking
from pit_fetch.formats.columns import graded
from pit_fetch.gaps import FAILURES, GapType
from pit_fetch.panels.universe import Subject
from pit_fetch.pipeline.envelope import PlainEnvelope, Provenance, is_lack
from pit_fetch.times import in_new_york

# Why a cell is as it is. What an operator reads of it, such as a file, knows what was captured after its instant only
# where the answer itself does.
Status = Literal["ok", "incomplete", "nothing_public", "not_captured", "failed", "refused"]
# The columns before an item's own; those of the question stand between them.
PIT, STATUS = "pit", "status"

T = TypeVar("T")
# How often a panel is asked before it is left with refused cells.
_ATTEMPTS = 5
# Returns the answer about a subject, by its options, as of an instant.
Ask = Callable[[Mapping[str, Any], datetime], PlainEnvelope]


class Question(NamedTuple):
    """What the cells of a panel have in common, in values that another process understands.

    is_offline  an archive alone answers
    """

    source: str
    options: Mapping[str, Any]
    is_offline: bool


class Asking(NamedTuple):
    """How questions are asked. All are answered from one state of the archive, if that alone answers.

    key    identifies all that the cells of a subject depend on, that state included, except for what a source answers
    check  raises Changed once the state can no longer be read: every further question is refused
    """

    ask: Ask
    key: Callable[[Subject], str] = repr
    check: Callable[[], None] = lambda: None


class Grid(NamedTuple):
    """What a panel asks.

    subjects  who is asked about, and as of which instants
    asking    returns a context in which questions are asked: of the archive as it is when the context is entered
    now       returns the time, which decides whether an instant has come
    fetch     answers a question by itself, as if there were no panel
    question  what every cell asks
    caution   what the answers may be mistaken for; "" if nothing is known
    """

    subjects: Sequence[Subject]
    asking: Callable[[], AbstractContextManager[Asking]]
    now: Callable[[], datetime]
    fetch: Ask
    question: Question = Question("", {}, is_offline=False)
    caution: str = ""


def ask_consistently(grid: Grid, work: Callable[[Asking], T]) -> T:
    """Return what ``work`` makes of answers of one state of the archive: it works anew if that can be read no longer.

    This happens to a user who may not write to the archive, if no other process had it open at first. While its owner
    has it open, the next reading is not disturbed.
    """
    for _ in range(_ATTEMPTS - 1):
        with suppress(Changed), grid.asking() as asking, checking(asking.check):
            return work(asking)
    with grid.asking() as asking:
        return work(asking._replace(check=lambda: None))


class Cell(NamedTuple):
    """The answer about a subject as of an instant.

    pit     the instant in UTC
    over    the options that name the subject
    status  "ok" if it has all items that were asked for, which are no more than a limit of the caller's; "incomplete"
            if it may lack some or all, since something was cut, failed or was never captured. Of a cell without items
            "nothing_public", "not_captured" (of an archive), "failed", or "refused" for what cannot be asked
    is_provisional  the instant had not come when the cell was asked: what is published until then is missing
    """

    pit: datetime
    over: Mapping[str, Any]
    status: Status
    envelope: PlainEnvelope
    is_provisional: bool = False


def cells_of(subject: Subject, ask: Ask, now: Callable[[], datetime]) -> Iterator[Cell]:
    """Yield the cells of a subject. Each is asked when it is needed."""
    for pit in subject.pits:
        asked_at = now()
        envelope = ask(subject.over, pit)
        yield Cell(pit, subject.over, status_of(envelope), envelope, not has_come(pit, asked_at))


def has_come(pit: datetime, now: datetime) -> bool:
    """Return whether an instant is over, so that nothing more can be published by it."""
    return pit < now


def halves(cells: Sequence[Cell]) -> tuple[PlainEnvelope, PlainEnvelope]:
    """Return the rows of the table of ``cells`` in two parts: what was asked and the status, and the items."""
    kinds = {name: kind for cell in cells for name, kind in cell.envelope.provenance.kinds.items()}
    rows = [(cell, item) for cell in cells for item in graded(cell.envelope) or [{}]]  # an empty cell has a row, too
    asked = [{PIT: in_new_york(cell.pit), **cell.over, STATUS: cell.status} for cell, _ in rows]
    items = [{_own(name): value for name, value in item.items() if name not in cell.over} for cell, item in rows]
    names = cells[0].over if cells else {}
    own = Provenance(kinds={_own(name): kind for name, kind in kinds.items() if name not in names})
    return PlainEnvelope(asked, (), Provenance(kinds={PIT: "instant"})), PlainEnvelope(items, (), own)


def rows_of(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """Return the rows of the table of ``cells``, as JSON values."""
    asked, own = halves(cells)
    return [{**question, **item} for question, item in zip(asked.data, own.data, strict=True)]


def status_of(envelope: PlainEnvelope) -> Status:
    """Return why an answer is as it is."""
    if envelope.data:
        return "incomplete" if lacks(envelope) else "ok"
    types = {gap.get("type") for gap in envelope.gaps}
    if GapType.NO_DATA in types and types & FAILURES:  # the source was asked, and the archive has no room, say
        return "incomplete"
    if types & {GapType.CONFIG, GapType.INVALID_PIT, GapType.INPUT_ERROR}:
        return "refused"
    if types & FAILURES:
        return "failed"
    if GapType.TRUNCATED in types:
        return "incomplete"
    return "nothing_public" if envelope.is_complete else "not_captured"


def lacks(envelope: PlainEnvelope) -> list[dict[str, Any]]:
    """Return the gaps that say that something is missing. What a limit leaves out beside items was not asked for."""
    limited = envelope.limited if envelope.data else ""
    return [gap for gap in envelope.gaps if is_lack(gap) and gap.get("reason") != limited]


def has_failed(envelope: PlainEnvelope) -> bool:
    """Return whether the fetch of an answer failed, wholly or in part, so that the next one may answer otherwise."""
    return any(gap.get("type") in FAILURES for gap in envelope.gaps)


def _own(name: str) -> str:
    """Return the column of an item's own field; no two fields share one."""
    return f"item_{name}" if re.fullmatch(f"(item_)*({PIT}|{STATUS})", name) else name
