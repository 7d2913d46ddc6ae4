"""The cells of a panel, each answered as a fetch at its own instant, and their rows in its table. Pure.

>>> from datetime import UTC
>>> cell = Cell(datetime(2024, 2, 15, 21, tzinfo=UTC), {"symbol": "IBM"}, "ok", PlainEnvelope([{"id": "a"}]))
>>> rows_of([cell])
[{'pit': '2024-02-15T16:00:00-05:00', 'symbol': 'IBM', 'status': 'ok', 'reason': None, 'id': 'a'}]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from datetime import datetime
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeVar

from pit_fetch.archive.store.errors import Changed
from pit_fetch.archive.store.schema import checking
from pit_fetch.formats.columns import add_grades
from pit_fetch.gaps import FAILURES, GapType
from pit_fetch.panels.universe import Subject
from pit_fetch.pipeline.envelope import PlainEnvelope, Provenance, is_lack
from pit_fetch.provider import FieldKind
from pit_fetch.times import in_new_york

# Why a cell is as it is. What an operator reads of it, such as a file, knows what was captured after its instant only
# where the answer itself does.
Status = Literal["ok", "incomplete", "nothing_public", "not_captured", "failed", "refused"]
# What an operator may mend, the first of them before the others.
LACKING: tuple[Status, ...] = ("failed", "refused", "incomplete")
# The columns before an item's own; those of the question stand behind the first.
PIT, STATUS, REASON = "pit", "status", "reason"
Columns = Mapping[str, FieldKind]

T = TypeVar("T")
# How often a panel is asked before it is left with refused cells.
_ATTEMPTS = 5
# Returns the answer about a subject, by its options, as of an instant.
Ask = Callable[[Mapping[str, Any], datetime], PlainEnvelope]


class AskSession(NamedTuple):
    """A session of questions. All are answered from one state of the archive, if that alone answers.

    ask    answers a question as a fetch does
    key    identifies all that the cells of a subject depend on, that state included, except for what a source answers
    check  raises Changed once the state can no longer be read: every further question is refused
    sweep  answers all questions about a subject, as fetches would; None: each is asked by itself
    """

    ask: Ask
    key: Callable[[Subject], str] = repr
    check: Callable[[], None] = lambda: None
    sweep: Callable[[Subject], Iterable[PlainEnvelope]] | None = None

    def answers(self, subject: Subject) -> Iterable[PlainEnvelope]:
        """Return the answers about a subject, as of its instants."""
        return (self.ask(subject.over, pit) for pit in subject.pits) if self.sweep is None else self.sweep(subject)


class Grid(NamedTuple):
    """What a panel asks.

    subjects  who is asked about, and as of which instants
    session   returns a context in which questions are asked: of the archive as it is when the context is entered
    now       returns the time, which decides whether an instant has come
    fetch     answers a question by itself, as if there were no panel
    columns   the columns that every item has, by the declaration of the operation, with their kinds
    caution   what the answers may be mistaken for; "" if nothing is known
    """

    subjects: Sequence[Subject]
    session: Callable[[], AbstractContextManager[AskSession]]
    now: Callable[[], datetime]
    fetch: Ask
    columns: Columns = MappingProxyType({})
    caution: str = ""


def ask_consistently(grid: Grid, work: Callable[[AskSession], T]) -> T:
    """Return what ``work`` makes of answers of one state of the archive: it works anew if that can be read no longer.

    This happens to a user who may not write to the archive, if no other process had it open at first. While its owner
    has it open, the next reading is not disturbed.
    """
    for _ in range(_ATTEMPTS - 1):
        with suppress(Changed), grid.session() as session, checking(session.check):
            return work(session)
    with grid.session() as session:
        return work(session._replace(check=lambda: None))


class Cell(NamedTuple):
    """The answer about a subject as of an instant.

    pit     the instant in UTC
    over    the options that name the subject
    status  "ok" if it has all items that were asked for, which are no more than a limit of the caller's; "incomplete"
            if it may lack some or all, since something was cut, failed or was never captured. Of a cell without items
            "nothing_public", "not_captured" (of an archive), "failed", or "refused" for what cannot be asked
    reason  why it is not "ok", in a sentence; "" if it is
    is_provisional  the instant had not come when the cell was asked: what is published until then is missing
    """

    pit: datetime
    over: Mapping[str, Any]
    status: Status
    envelope: PlainEnvelope
    is_provisional: bool = False
    reason: str = ""


def cells_of(
    subject: Subject, answers_of: Callable[[Subject], Iterable[PlainEnvelope]], now: Callable[[], datetime]
) -> Iterator[Cell]:
    """Yield the cells of a subject. Each is asked when it is needed."""
    answers = iter(answers_of(subject))
    for pit in subject.pits:
        asked_at = now()
        envelope = next(answers)
        status, is_provisional = status_of(envelope), not has_come(pit, asked_at)
        reason = "" if status == "ok" else _reason_of(envelope)
        yield Cell(pit, subject.over, status, envelope, is_provisional, reason)


def has_come(pit: datetime, now: datetime) -> bool:
    """Return whether an instant is over, so that nothing more can be published by it."""
    return pit < now


def table_halves(cells: Sequence[Cell], columns: Columns = MappingProxyType({})) -> tuple[PlainEnvelope, PlainEnvelope]:
    """Return the rows of the table of ``cells`` in two parts: what was asked and what came of it, and the items.

    Every row has the ``columns``, that of a cell without items as well.
    """
    found = {name: kind for cell in cells for name, kind in cell.envelope.provenance.kinds.items()}
    over = cells[0].over if cells else {}
    kinds = {_own_column(name): kind for name, kind in {**columns, **found}.items() if name not in over}
    blank = {_own_column(name): None for name in columns if name not in over}
    rows = [(cell, item) for cell in cells for item in add_grades(cell.envelope) or [{}]]
    asked = [
        {PIT: in_new_york(cell.pit), **cell.over, STATUS: cell.status, REASON: cell.reason or None} for cell, _ in rows
    ]
    items = [blank | {_own_column(name): value for name, value in item.items() if name not in over} for _, item in rows]
    asked_kinds: Any = {PIT: "instant", **dict.fromkeys(over, "any"), STATUS: "text", REASON: "text"}
    return (
        PlainEnvelope(asked, (), Provenance(kinds=asked_kinds)),
        PlainEnvelope(items, (), Provenance(kinds=kinds)),
    )


def rows_of(cells: Sequence[Cell], columns: Columns = MappingProxyType({})) -> list[dict[str, Any]]:
    """Return the rows of the table of ``cells``, as JSON values."""
    asked, own = table_halves(cells, columns)
    return [{**question, **item} for question, item in zip(asked.data, own.data, strict=True)]


def _reason_of(envelope: PlainEnvelope) -> str:
    """Return what an answer says of what it lacks, a failure before a cut, or else of nothing that was public."""
    lacking = sorted(lacking_gaps(envelope), key=lambda gap: gap.get("type") == GapType.TRUNCATED)
    nothing = (gap for gap in envelope.gaps if gap.get("type") == GapType.NO_DATA)
    return next((str(gap.get("reason", "")) for gap in (*lacking, *nothing)), "")


def status_of(envelope: PlainEnvelope) -> Status:
    """Return why an answer is as it is."""
    if envelope.data:
        return "incomplete" if lacking_gaps(envelope) else "ok"
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


def lacking_gaps(envelope: PlainEnvelope) -> list[dict[str, Any]]:
    """Return the gaps that say that something is missing. What a limit leaves out beside items was not asked for."""
    limited = envelope.limited if envelope.data else ""
    return [gap for gap in envelope.gaps if is_lack(gap) and gap.get("reason") != limited]


def has_failed(envelope: PlainEnvelope) -> bool:
    """Return whether the fetch of an answer failed, wholly or in part, so that the next one may answer otherwise."""
    return any(gap.get("type") in FAILURES for gap in envelope.gaps)


def _own_column(name: str) -> str:
    """Return the column of an item's own field; no two fields share one."""
    return f"item_{name}" if re.fullmatch(f"(item_)*({PIT}|{STATUS}|{REASON})", name) else name
