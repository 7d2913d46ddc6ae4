"""Make statements of the public versions of facts: years, quarters, and twelve months to a quarter's end. Pure.

A cell is reported or derived. One that cannot be had is null; if there are figures of it, the item says why.

An item's ``available_at`` is the release that last made another item of it. It is found by making the item again as of
the releases before, until it is another one. So an item that is older than the PIT is what was answered at its instant,
and at every instant since.

>>> income = {"taxonomy": "us-gaap", "concept": "NetIncomeLoss", "unit": "USD", "form": "10-K", "accession": "1"}
>>> year = {"start": "2023-01-01", "end": "2023-12-31", "value": 7}
>>> [item] = statements([Record("1:year:1", None, income | year)], "income", "annual", "latest", "1")
>>> item.id, item.payload["net_income"], item.payload["revenue"]
('1:income:annual:2023-12-31', 7, None)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from pit_fetch.provider import Record
from pit_fetch_providers.sec_facts.derive import Cell, Reason, derive_cell, line_figures, reported_cell, total
from pit_fetch_providers.sec_facts.facts import Ledger, View, Vintage, accession_of, concept_of, in_order
from pit_fetch_providers.sec_facts.lines import BESIDE, LINES, SUMS, Line, Statement
from pit_fetch_providers.sec_facts.periods import Cadence, Candidate, Derivation, FactPeriod, candidates, order_periods

_Cells = Mapping[str, Cell | Reason | None]


class _Asked(NamedTuple):
    """The statement that is asked for."""

    statement: Statement
    cadence: Cadence


class _Item(NamedTuple):
    """An item of a statement, and the newest release of the filings that it names."""

    payload: dict[str, Any]
    named: int


def statements(
    records: Iterable[Record], statement: Statement, cadence: Cadence, vintage: Vintage, company: str
) -> list[Record]:
    """Return the items of ``statement``, one for each period, in the order of an answer.

    ``records`` are the public versions of :func:`~pit_fetch_providers.sec_facts.lines.concepts`.
    """
    ledger, asked = Ledger(records, vintage, cadence), _Asked(statement, cadence)
    items = list[Record]()
    for end, of_end in candidates(ledger.periods, cadence).items():
        view = View(ledger, len(ledger.released) - 1)
        item = _item(view, asked, of_end)
        if item is not None:
            release = ledger.released[_find_release(view, item, asked, of_end)]
            items.append(release._replace(id=f"{company}:{statement}:{cadence}:{end}", payload=item.payload))
    return in_order(items, "period_end")


def _find_release(view: View, item: _Item, asked: _Asked, of_end: Sequence[Candidate]) -> int:
    """Return the release since which an item is what it is: no older one than those that it names."""
    while view.newest > item.named:
        # Since the newest release that it rests on, nothing has changed that was read.
        before = View(view.ledger, view.newest - 1)
        then = _item(before, asked, of_end)
        if then is None or then.payload != item.payload:
            return view.newest
        view = before
    return item.named


def _item(view: View, asked: _Asked, of_end: Sequence[Candidate]) -> _Item | None:
    """Return the item of one end: of the first period, in the first currency, of which there are figures."""
    for candidate in order_periods(of_end, view.sees):
        for currency in view.currencies(candidate.period.end):
            cells = _cells(view, asked, candidate, currency)
            if any(cell is not None for cell in cells.values()):
                return _render_item(view, asked, candidate.period, currency, cells)
    return None


def _render_item(view: View, asked: _Asked, period: FactPeriod, currency: str, cells: _Cells) -> _Item:
    known = {name: cell for name, cell in cells.items() if isinstance(cell, Cell)}
    payload = {
        "period_end": period.end.isoformat(),
        "period_start": None if period.start is None else period.start.isoformat(),
        "period": asked.cadence,
        "currency": currency,
        **{name: cell.value if isinstance(cell, Cell) else None for name, cell in cells.items()},
        "sources": {name: [_source(version) for version in cell.inputs] for name, cell in known.items()},
        "derived": [name for name, cell in known.items() if cell.is_derived],
        "omitted": {name: cell for name, cell in cells.items() if isinstance(cell, str)},
    }
    inputs = (view.ledger.release_of(version) for cell in known.values() for version in cell.inputs)
    return _Item(payload, max(inputs, default=0))


def _source(version: Record) -> dict[str, str]:
    return {"concept": concept_of(version), "accession": version.payload["accession"]}


def _cells(view: View, asked: _Asked, candidate: Candidate, currency: str) -> _Cells:
    """Return the statement's cells: of its lines, and computed from others where no concept gives them."""
    statement, period = asked.statement, candidate.period
    if statement == "balance":
        period = FactPeriod(None, period.end)
    cells: dict[str, Cell | Reason | None] = {
        line.name: view.remember(
            (line.name, period, currency), partial(_cell, line, period, candidate.derivations, currency)
        )
        for line in LINES[statement]
    }
    for name, ways in SUMS[statement].items():
        cell = cells.get(name)
        if cell is None or (isinstance(cell, str) and cell != "unreadable"):
            cells[name] = _sum(view, name, cells, ways, period, currency) or cell
    return cells


def _cell(
    line: Line, period: FactPeriod, ways: Sequence[Derivation], currency: str, view: View
) -> Cell | Reason | None:
    known = line_figures(view, line, period, line.unit(currency))
    cell: Cell | Reason | None = None
    if known is not None:
        cell = known.reason or reported_cell(view, known)
    elif period.start is not None:
        cell = derive_cell(view, line, ways, currency)
    if line.substitute is not None and (cell is None or cell == "unproved"):
        instead = _cell(line.substitute, period, ways, currency, view)
        return instead._replace(is_substitute=True) if isinstance(instead, Cell) else cell or instead
    return cell


def _sum(
    view: View, name: str, cells: _Cells, ways: Iterable[Sequence[str]], period: FactPeriod, currency: str
) -> Cell | Reason | None:
    """Return the sum of the first of ``ways`` whose cells are all there; a name behind a minus is subtracted.

    It is left out where one of them is, where they are of two bases, or where something is reported beside them. The
    next way would leave a part out.
    """
    for names in ways:
        signs = {name.removeprefix("-"): -1 if name.startswith("-") else 1 for name in names}
        found = {part: cell for part in signs if (cell := cells[part]) is not None}
        if len(found) < len(signs):
            continue
        parts = {part: cell for part, cell in found.items() if isinstance(cell, Cell)}
        if reasons := [cell for cell in found.values() if not isinstance(cell, Cell)]:
            return reasons[0]
        inputs = tuple(version for cell in parts.values() for version in cell.inputs)
        if any(cell.is_substitute for cell in parts.values()):
            return "unproved"
        if any(cell.is_restated for cell in parts.values()) and len(set(map(accession_of, inputs))) > 1:
            return "restated"
        if _is_incomplete(view, name, parts, period, currency):
            return "incomplete"
        value = total([signs[part] * cell.value for part, cell in parts.items()])
        return Cell(value, inputs, is_derived=True)
    return None


def _is_incomplete(view: View, name: str, parts: Mapping[str, Cell], period: FactPeriod, currency: str) -> bool:
    """Return whether something is reported beside the parts of a sum that is neither zero nor some of them."""
    whole, concepts = BESIDE.get(name, ("", ()))
    if whole in parts:  # which includes all of it
        return False
    counted: set[int | float] = {0}
    for cell in parts.values():
        counted |= {total([value, cell.value]) for value in counted}
    for concept in concepts:
        known = line_figures(view, Line(concept, (concept,)), period, currency)
        if known is not None and (known.reason or reported_cell(view, known).value not in counted):
            return True
    return False
