"""The cells of a panel, each answered as a fetch at its own instant, and their rows in its table. Pure.

>>> from datetime import UTC
>>> answer = Answer.written(PlainEnvelope([{"id": "a"}]))
>>> rows_of([Cell(datetime(2024, 2, 15, 21, tzinfo=UTC), {"symbol": "IBM"}, "ok", answer)])
[{'pit': '2024-02-15T16:00:00-05:00', 'symbol': 'IBM', 'status': 'ok', 'reason': None, 'id': 'a'}]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from datetime import datetime
from functools import cached_property
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


class Answer:
    """What a question was answered: the items, which answers may share, and the envelope, written when it is needed.

    provenance  the kinds of the items' fields, and the grade of evidence; the rest as of some instant of the panel
    is_plain    it has items, and nothing that was asked for may be missing
    """

    def __init__(
        self,
        items: Sequence[dict[str, Any]],
        provenance: Provenance,
        write: Callable[[], PlainEnvelope],
        *,
        is_plain: bool = False,
    ) -> None:
        self.items, self.provenance, self.is_plain, self._write = items, provenance, is_plain, write

    @classmethod
    def written(cls, envelope: PlainEnvelope) -> Answer:
        """Return an answer that is written already."""
        return cls(envelope.data, envelope.provenance, lambda: envelope)

    def __repr__(self) -> str:
        return f"<Answer of {len(self.items)} items>"

    @cached_property
    def envelope(self) -> PlainEnvelope:
        """The answer as a fetch gives it."""
        return self._write()


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
    sweep: Callable[[Subject], Iterable[Answer]] | None = None

    def answers(self, subject: Subject) -> Iterable[Answer]:
        """Return the answers about a subject, as of its instants."""
        if self.sweep is not None:
            return self.sweep(subject)
        return (Answer.written(self.ask(subject.over, pit)) for pit in subject.pits)


class Grid(NamedTuple):
    """What a panel asks.

    subjects  who is asked about, and as of which instants
    session   returns a context in which questions are asked: of the archive as it is when the context is entered
    now       returns the time, which decides whether an instant has come
    fetch     answers a question by itself, as if there were no panel
    columns   the columns that every item has, by the declaration of the operation, with their kinds
    caution   what the answers may be mistaken for; "" if nothing is known
    title     the source and the operation
    period    the field with the date that an item is about; "" without one
    series    the fields whose values tell one series from another
    """

    subjects: Sequence[Subject]
    session: Callable[[], AbstractContextManager[AskSession]]
    now: Callable[[], datetime]
    fetch: Ask
    columns: Columns = MappingProxyType({})
    caution: str = ""
    title: str = ""
    period: str = ""
    series: Sequence[str] = ()

    def __repr__(self) -> str:
        # What it asks with holds the environment.
        return f"<Grid of {len(self.subjects)} subjects>"


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
    answer  its items, and its envelope
    reason  why it is not "ok", in a sentence; "" if it is
    is_provisional  the instant had not come when the cell was asked: what is published until then is missing
    """

    pit: datetime
    over: Mapping[str, Any]
    status: Status
    answer: Answer
    is_provisional: bool = False
    reason: str = ""

    @property
    def envelope(self) -> PlainEnvelope:
        """The answer as a fetch gives it."""
        return self.answer.envelope


def cells_of(
    subject: Subject, answers_of: Callable[[Subject], Iterable[Answer]], now: Callable[[], datetime]
) -> Iterator[Cell]:
    """Yield the cells of a subject. Each is asked when it is needed."""
    answers = iter(answers_of(subject))
    for pit in subject.pits:
        asked_at = now()
        answer = next(answers)
        status: Status = "ok" if answer.is_plain else status_of(answer.envelope)
        reason = "" if status == "ok" else _reason_of(answer.envelope)
        yield Cell(pit, subject.over, status, answer, not has_come(pit, asked_at), reason)


def has_come(pit: datetime, now: datetime) -> bool:
    """Return whether an instant is over, so that nothing more can be published by it."""
    return pit < now


class Table(NamedTuple):
    """The table of cells: a row for each item of a cell, and one for a cell without.

    asked  what each cell asked, and what came of it
    items  the items, each once, and an empty one
    rows   of each row, which cell and which item it is made of
    """

    asked: PlainEnvelope
    items: PlainEnvelope
    rows: Sequence[tuple[int, int]]

    @property
    def halves(self) -> tuple[PlainEnvelope, PlainEnvelope]:
        return self.asked, self.items


def table_of(cells: Sequence[Cell], columns: Columns = MappingProxyType({})) -> Table:
    """Return the table of ``cells``. Every row has the ``columns``, that of a cell without items as well."""
    provenances = {id(cell.answer.provenance): cell.answer.provenance for cell in cells}.values()
    found = {name: kind for provenance in provenances for name, kind in provenance.kinds.items()}
    over = cells[0].over if cells else {}
    kinds = {_own_column(name): kind for name, kind in {**columns, **found}.items() if name not in over}
    blank = {_own_column(name): None for name in columns if name not in over}
    items: list[dict[str, Any]] = []
    places: dict[tuple[int, str], int] = {}
    rows: list[tuple[int, int]] = []
    for place, cell in enumerate(cells):
        grade = cell.answer.provenance.grade
        for item in cell.answer.items or [_NOTHING]:
            key = id(item), grade
            if key not in places:
                places[key] = len(items)
                (graded,) = add_grades(PlainEnvelope([item], (), cell.answer.provenance)) if item else [item]
                items.append(blank | {_own_column(name): value for name, value in graded.items() if name not in over})
            rows.append((place, places[key]))
    asked = [
        {PIT: in_new_york(cell.pit), **cell.over, STATUS: cell.status, REASON: cell.reason or None} for cell in cells
    ]
    asked_kinds: Any = {PIT: "instant", **dict.fromkeys(over, "any"), STATUS: "text", REASON: "text"}
    return Table(
        PlainEnvelope(asked, (), Provenance(kinds=asked_kinds)), PlainEnvelope(items, (), Provenance(kinds=kinds)), rows
    )


_NOTHING: dict[str, Any] = {}


def rows_of(cells: Sequence[Cell], columns: Columns = MappingProxyType({})) -> list[dict[str, Any]]:
    """Return the rows of the table of ``cells``, as JSON values."""
    asked, items, rows = table_of(cells, columns)
    return [{**asked.data[cell], **items.data[item]} for cell, item in rows]


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
