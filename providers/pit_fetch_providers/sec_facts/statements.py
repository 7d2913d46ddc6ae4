"""Build statements from the public versions of facts: years, quarters, and twelve months to a quarter's end. Pure.

A cell is reported or derived. A fourth quarter, a quarter of a cash flow and twelve months are differences and sums of
longer periods: only of amounts, of one concept, and only where no input was ever restated, since a difference of two
bases means nothing. A cell that cannot be had is null. If there are figures of it that are left out, the item says why.

An item is as new as all that it rests on: the versions of its figures, what shows why one is left out, and what first
showed the period.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pit_fetch.provider import Record
from pit_fetch_providers.sec_facts import spans
from pit_fetch_providers.sec_facts.book import Book, Parts
from pit_fetch_providers.sec_facts.cells import Cell, Omission, evidence, total
from pit_fetch_providers.sec_facts.lines import BESIDE, LINES, SUMS, Line, Statement
from pit_fetch_providers.sec_facts.periods import Span
from pit_fetch_providers.sec_facts.spans import Cadence, Period
from pit_fetch_providers.sec_facts.sums import Sums
from pit_fetch_providers.sec_facts.versions import Vintage, age, concept_of, in_order

_Cells = Mapping[str, Cell | Omission | None]
# Why a cell is left out, and none is computed from others in its place.
_FINAL = frozenset({"unreadable", "other_item"})


class _Asked(NamedTuple):
    """The statement that is asked for, and the facts that it is built from."""

    book: Book
    sums: Sums
    statement: Statement
    cadence: Cadence
    company: str


class _Beside(NamedTuple):
    """What is reported beside the parts of a sum, and the name of the part that includes all of it."""

    whole: str
    cells: tuple[Cell | Omission, ...]

    def left_out(self, parts: Mapping[str, Cell]) -> tuple[Record, ...]:
        """Return what shows that something is neither zero nor a part of the sum, or some of them, or is unknown."""
        counted: set[int | float] = {0}
        for cell in parts.values():
            counted |= {total([value, cell.value]) for value in counted}
        every = () if self.whole in parts else self.cells
        others = (cell for cell in every if isinstance(cell, Omission) or cell.value not in counted)
        return tuple(version for cell in others for version in evidence(cell))

    def changed(self) -> Iterator[Record]:
        """Yield the versions that gave what is beside another value: the one before may have been no part of it."""
        for cell in self.cells:
            if isinstance(cell, Cell) and cell.restating is not None:
                yield from (version for version in cell.inputs if age(version) >= age(cell.restating))


def statements(
    records: Iterable[Record], statement: Statement, cadence: Cadence, vintage: Vintage, company: str
) -> list[Record]:
    """Return the items of ``statement``, one for each period, in the order of an answer.

    ``records`` are the public versions of :func:`~pit_fetch_providers.sec_facts.lines.concepts`.
    """
    book = Book(records, vintage)
    asked = _Asked(book, Sums(book), statement, cadence, company)
    items = (_item_of_end(asked, periods) for periods in spans.of_cadence(book, cadence))
    return in_order((item for item in items if item is not None), "period_end")


def _item_of_end(asked: _Asked, periods: Sequence[Period]) -> Record | None:
    """Return the item of the periods of one end, of that which it has by the statement's figures."""
    if len(periods) > 1:
        began = [(period, _began(asked, period)) for period in periods]
        periods = spans.in_order(spans.with_figures(period, first) for period, first in began if first is not None)
    return _item(asked, periods[0]) if periods else None


def _began(asked: _Asked, period: Period) -> Record | None:
    return asked.book.began(LINES[asked.statement], period.span.end, _at(asked, period.span)[0], period.ways)


def _at(asked: _Asked, span: Span) -> tuple[Span, tuple[Record, ...]]:
    """Return of which days the figures of a period are, and what shows it."""
    if asked.statement != "balance":
        return span, ()
    day, proof = asked.book.sheet_day(span.end)
    return Span(None, day), proof


def _item(asked: _Asked, period: Period) -> Record | None:
    """Return the item of a period, in the first currency in which it has figures."""
    at, proof = _at(asked, period.span)
    for currency, since in asked.book.currencies(period.span.end):
        item = _in_currency(asked, currency, at, period._replace(chosen=(*period.chosen, *since, *proof)))
        if item is not None:
            return item
    return None


def _in_currency(asked: _Asked, currency: str, at: Span, period: Period) -> Record | None:
    """Return the item of a period with its figures of the days ``at``; None if it has none in that currency."""
    cells = _cells(asked, currency, at, period)
    known = {name: cell for name, cell in cells.items() if isinstance(cell, Cell)}
    omitted = {name: cell for name, cell in cells.items() if isinstance(cell, Omission)}
    if not known and not omitted:
        return None
    span = period.span
    payload: dict[str, Any] = {
        "period_end": span.end.isoformat(),
        "period_start": None if span.start is None else span.start.isoformat(),
        "period": asked.cadence,
        "currency": currency,
        **{name: cell.value if isinstance(cell, Cell) else None for name, cell in cells.items()},
        "sources": {name: [_source(version) for version in cell.inputs] for name, cell in known.items()},
        "derived": [name for name, cell in known.items() if cell.is_derived],
        "omitted": {name: omission.reason for name, omission in omitted.items()},
    }
    newest = max(_shown_by(cells, period), key=age)
    item = f"{asked.company}:{asked.statement}:{asked.cadence}:{span.end}"
    return newest._replace(id=item, payload=payload)


def _cells(asked: _Asked, currency: str, at: Span, period: Period) -> _Cells:
    """Return the statement's cells: of its lines, and computed from others where no concept gives them."""
    book, statement = asked.book, asked.statement
    cells: dict[str, Cell | Omission | None] = {
        line.name: _of_other(asked, line, currency, period) or _cell(asked, line, at, period.ways, currency)
        for line in LINES[statement]
    }
    for name, ways in SUMS[statement].items():
        cell = cells.get(name)
        if cell is None or (isinstance(cell, Omission) and cell.reason not in _FINAL):
            cells[name] = _instead(cell, _sum(cells, ways, _beside(book, name, at, currency)))
    return cells


def _shown_by(cells: _Cells, period: Period) -> list[Record]:
    """Return the versions that show an item's figures, why others are left out, and its period."""
    return [
        period.shown,
        *period.chosen,
        *(version for cell in cells.values() if cell is not None for version in evidence(cell)),
    ]


def _cell(asked: _Asked, line: Line, span: Span, ways: tuple[Parts, ...], currency: str) -> Cell | Omission | None:
    known = asked.book.known(line, span, currency)
    if isinstance(known, Omission):
        return known
    reported = asked.book.reported(known)
    return reported if reported is not None or span.start is None else _combined(asked.sums, line, ways, currency)


def _combined(sums: Sums, line: Line, ways: tuple[Parts, ...], currency: str) -> Cell | Omission | None:
    """Return the figure that the first possible way makes of parts of the period, or else why none does."""
    omissions: list[Omission] = []
    for parts in ways:
        made = sums.combined(line, parts, currency)
        if isinstance(made, Cell):
            return made._replace(shown=(*made.shown, *_tried(omissions))) if omissions else made
        if made is not None:
            omissions.append(made)
    if len(omissions) > 1:
        return omissions[0]._replace(shown=_tried(omissions))
    return omissions[0] if omissions else None


def _of_other(asked: _Asked, line: Line, currency: str, period: Period) -> Cell | Omission | None:
    """Return a period's figure since its days were proved to be those of another one; None if that has none.

    If the other one has another end, it is an item of its own, and this one says so.
    """
    other = period.other
    if other is None:
        return None
    at, proof = _at(asked, other.span)
    if other.span.end != period.span.end:
        first = asked.book.began((line,), other.span.end, at, other.ways)
        return None if first is None else Omission("other_item", (other.shown, first, *proof))
    if asked.statement == "balance":  # it has the same day
        return None
    there = _cell(asked, line, at, other.ways, currency)
    return None if there is None else there._replace(shown=(*there.shown, other.shown))


def _tried(omissions: Iterable[Omission]) -> tuple[Record, ...]:
    """Return what shows that the ways make no figure: another one may have been the cell before."""
    return tuple(version for omission in omissions for version in omission.shown)


def _instead(omission: Cell | Omission | None, made: Cell | Omission | None) -> Cell | Omission | None:
    """Return what cells of the period make in place of what is left out, which may have been the cell before."""
    if made is None or omission is None:
        return made or omission
    return made._replace(shown=(*made.shown, *omission.shown))


def _beside(book: Book, name: str, span: Span, currency: str) -> _Beside:
    """Return what is reported beside the parts of a sum."""
    whole, concepts = BESIDE.get(name, ("", ()))
    known = (book.known(Line(name, (concept,)), span, currency) for concept in concepts)
    reported = (one if isinstance(one, Omission) else book.reported(one) for one in known)
    return _Beside(whole, tuple(cell for cell in reported if cell is not None))


def _sum(cells: _Cells, ways: Iterable[tuple[str, ...]], beside: _Beside) -> Cell | Omission | None:
    """Return the sum of the first of ``ways`` whose cells are all there; a name behind a minus is subtracted.

    It is left out where one of them is, where they are of several bases, or where something is reported ``beside``
    them. The next way would leave a part out.
    """
    for names in ways:
        signs = {name.removeprefix("-"): -1 if name.startswith("-") else 1 for name in names}
        found = {name: cell for name in signs if (cell := cells[name]) is not None}
        if len(found) < len(signs):
            continue
        parts = {name: cell for name, cell in found.items() if isinstance(cell, Cell)}
        judged = (version for cell in parts.values() for version in cell.judged)
        shown = (*(version for cell in found.values() for version in evidence(cell)), *judged)
        if omitted := [cell.reason for cell in found.values() if isinstance(cell, Omission)]:
            return Omission(omitted[0], shown)
        inputs = tuple(version for cell in parts.values() for version in cell.inputs)
        changed = [cell.restating for cell in parts.values() if cell.restating is not None]
        if changed and len({version.payload["accession"] for version in inputs}) > 1:
            return Omission("restated", (*shown, *changed))
        if others := beside.left_out(parts):
            return Omission("incomplete", (*shown, *others))
        value = total([signs[name] * cell.value for name, cell in parts.items()])
        return Cell(value, inputs, is_derived=True, shown=(*shown, *beside.changed()))
    return None


def _source(version: Record) -> dict[str, str]:
    return {"concept": concept_of(version), "accession": version.payload["accession"]}
