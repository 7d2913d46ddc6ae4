"""Build statements from the public versions of facts: years, quarters, and twelve months to a quarter's end. Pure.

A cell is reported or derived. A fourth quarter, a quarter of a cash flow and twelve months are differences and sums of
longer periods: only of amounts, of one concept, and only where no input was ever restated, since a difference of two
bases means nothing. A cell that cannot be had is null. If there are figures of it that are left out, the item says why.

An item is as new as all that it rests on: the versions of its figures, what shows why one is left out, and what first
showed the period.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import date, timedelta
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from pit_fetch.provider import Record
from pit_fetch_providers.sec_facts.cells import Cell, Known, Omission, by_age
from pit_fetch_providers.sec_facts.facts import Fact
from pit_fetch_providers.sec_facts.lines import ANCHORS, BESIDE, LINES, SUMS, Line, Statement
from pit_fetch_providers.sec_facts.measures import of_one_measure
from pit_fetch_providers.sec_facts.periods import DAY, Kind, kind_of
from pit_fetch_providers.sec_facts.remainders import proved
from pit_fetch_providers.sec_facts.versions import History, Vintage, age, histories, in_order, restating

Cadence = Literal["annual", "quarter", "ttm"]
CADENCES: tuple[Cadence, ...] = ("annual", "quarter", "ttm")

_ANNUAL_REPORTS = frozenset({"10-K", "10-KT", "20-F", "40-F"})
# By how much two fiscal years, or the same quarters of two years, can differ: a 53rd week.
_LEEWAY = timedelta(days=8)
# A value in millions that was in thousands before differs by less than this share of it.
_ROUNDING = 0.001


class Span(NamedTuple):
    """A period of a statement, both days included; without a start, an instant."""

    start: date | None
    end: date


class _Parts(NamedTuple):
    """Periods whose sum, less ``minus``, is another one."""

    plus: tuple[Span, ...]
    minus: Span


class _Period(NamedTuple):
    """The ways to derive a period, and the version that first showed it."""

    ways: tuple[_Parts, ...]
    shown: Record


class _Beside(NamedTuple):
    """What is reported beside the parts of a sum, and the name of the part that includes all of it."""

    whole: str
    cells: tuple[Cell, ...]

    def left_out(self, parts: Mapping[str, Cell]) -> tuple[Record, ...]:
        """Return the versions of what is neither zero nor a part of the sum, or some of its parts together."""
        counted: set[int | float] = {0}
        for cell in parts.values():
            counted |= {_total([value, cell.value]) for value in counted}
        others = () if self.whole in parts else (cell for cell in self.cells if cell.value not in counted)
        return tuple(version for cell in others for version in cell.inputs)


class Book:
    """The public histories of one company's facts, by what they are about."""

    def __init__(self, records: Iterable[Record], vintage: Vintage) -> None:
        self.place = 0 if vintage == "first" else -1
        self._histories: dict[Fact, History] = {history.fact: history for history in histories(proved(records))}
        self._figures = Counter(Span(fact.start, fact.end) for fact in self._histories)
        self._units: dict[date, Counter[str]] = {}
        for fact in self._histories:
            if len(fact.unit) == 3 and fact.unit.isupper():
                self._units.setdefault(fact.end, Counter())[fact.unit] += 1
        # The filings that report another value than before for some period, by concept: they change its basis.
        self._recasts = {
            (history.fact[:3], accession) for history in self._histories.values() for accession in _recasting(history)
        }

    def spans(self, names: Iterable[str], forms: frozenset[str] | None = None) -> dict[Span, Record]:
        """Return the periods of the concepts ``names``, each with what first shows it, of ``forms``."""
        shown: dict[Span, list[Record]] = {}
        for fact, history in self._histories.items():
            if f"{fact.taxonomy}:{fact.concept}" in names:
                versions = (version for version in history.versions if forms is None or _form(version) in forms)
                shown.setdefault(Span(fact.start, fact.end), []).extend(versions)
        return {span: min(versions, key=age) for span, versions in shown.items() if versions}

    def one_for_each_end(self, spans: Iterable[Span], kind: Kind) -> list[Span]:
        """Return the spans of a kind; of several with one end, the one of most facts: others are a day off, say."""
        of_kind = [span for span in spans if span.start is not None and kind_of(*span) == kind]
        return list({span.end: span for span in sorted(of_kind, key=lambda span: (self._figures[span], span))}.values())

    def currency(self, end: date) -> str | None:
        """Return the currency in which most facts of periods that end on ``end`` are reported."""
        units: Mapping[str, int] = self._units.get(end, {})
        return min(units, key=lambda unit: (-units[unit], unit)) if units else None

    def known(self, line: Line, span: Span, currency: str) -> Known | Omission:
        """Return the histories of the line's concepts for a period, without those that are another measure."""
        unit = {"amount": currency, "per_share": f"{currency}/shares", "average": "shares"}[line.measure]
        names = (concept.split(":", 1) for concept in line.concepts)
        found = (self._histories.get(Fact(taxonomy, name, unit, *span)) for taxonomy, name in names)
        return of_one_measure(line, {rank: history for rank, history in enumerate(found) if history is not None})

    def reported(self, known: Known) -> Cell | None:
        """Return the cell that filings report under one of the line's concepts; the newest filing decides which."""
        if not known:
            return None
        choose = min if self.place == 0 else max
        versions = [(history.versions[self.place], -rank) for rank, history in known.items()]
        version, _ = choose(versions, key=lambda pair: (age(pair[0]), pair[1]))
        return Cell(version.payload["value"], (version,), restating=restating(by_age(known)))

    def combined(self, line: Line, parts: _Parts, currency: str) -> Cell | Omission | None:
        """Return the sum of ``parts``, under a concept that has them all, never restated."""
        by_span: list[Known] = []
        for span in (*parts.plus, parts.minus):
            known = self.known(line, span, currency)
            if isinstance(known, Omission):
                return known
            by_span.append(known)
        if not all(by_span):
            return None
        if line.measure != "amount":
            return Omission("not_additive", self._shown(by_span))
        complete = [rank for rank in by_span[0] if all(rank in known for known in by_span)]
        sums = (self._total([known[rank] for known in by_span]) for rank in complete)
        cells = [cell for cell in sums if cell is not None]
        if cells:  # of the names, the one that is complete first, or whose newest version is the newest
            choose = min if self.place == 0 else max
            return choose(cells, key=lambda cell: max(map(age, cell.inputs)))
        return Omission("restated" if complete else "renamed", self._shown(by_span))

    def _total(self, parts: list[History]) -> Cell | None:
        """Return the sum of ``parts``, of which the last is subtracted, if they are of one basis."""
        if any(history.restating is not None for history in parts) or not self._is_one_basis(parts):
            return None
        versions = tuple(history.versions[self.place] for history in parts)
        *plus_values, minus_value = (version.payload["value"] for version in versions)
        return Cell(_total([*plus_values, -minus_value]), versions, is_derived=True)

    def _shown(self, by_span: Iterable[Known]) -> tuple[Record, ...]:
        """Return the versions that show why figures make no sum: those that would make it, and what restated them."""
        every = [history for known in by_span for history in known.values()]
        chosen = (version for history in every for version in (history.versions[0], history.versions[self.place]))
        return (*chosen, *(history.restating for history in every if history.restating is not None))

    def _is_one_basis(self, parts: list[History]) -> bool:
        """Return whether no filing that brought one of ``parts`` restated the concept, unless it brought them all."""
        filings = [{version.payload["accession"] for version in history.versions} for history in parts]
        first = {history.versions[0].payload["accession"] for history in parts}
        return not any(
            (parts[0].fact[:3], accession) in self._recasts and not all(accession in filing for filing in filings)
            for accession in first
        )


def statements(
    records: Iterable[Record], statement: Statement, cadence: Cadence, vintage: Vintage, company: str
) -> list[Record]:
    """Return the items of ``statement``, one for each period, in the order of an answer.

    ``records`` are the public versions of :func:`~pit_fetch_providers.sec_facts.lines.concepts`.
    """
    book = Book(records, vintage)
    items = (_item(book, statement, cadence, span, period, company) for span, period in _periods(book, cadence).items())
    return in_order((item for item in items if item is not None), "period_end")


def _periods(book: Book, cadence: Cadence) -> Mapping[Span, _Period]:
    """Return the periods of ``cadence``."""
    annual, every = book.spans(ANCHORS, _ANNUAL_REPORTS), book.spans(ANCHORS)
    shown = {**every, **annual}

    def of_parts(parts: _Parts) -> Record:
        return max((shown[span] for span in (*parts.plus, parts.minus)), key=age)

    years = book.one_for_each_end(annual, "annual")
    spans = sorted(span for span in every if span.start is not None)  # in the order of dates, whatever the file's
    if cadence == "annual":
        return {year: _Period((), annual[year]) for year in years}
    if cadence == "ttm":
        twelve_months = dict(_twelve_months(years, spans))
        return {
            span: _Period(twelve_months[span], of_parts(*twelve_months[span]) if twelve_months[span] else annual[span])
            for span in book.one_for_each_end(twelve_months, "annual")
        }
    to_date = sorted({*years, *(span for span in spans if kind_of(*span) in ("quarter", "ytd"))})
    derived: dict[Span, tuple[_Parts, ...]] = {}
    for longer, shorter in _of_one_start(to_date):
        rest = Span(shorter.end + DAY, longer.end)
        if kind_of(*rest) == "quarter":
            derived[rest] = (*derived.get(rest, ()), _Parts((longer,), shorter))
    quarters = book.one_for_each_end({*spans, *derived}, "quarter")
    ways = {quarter: derived.get(quarter, ()) for quarter in quarters}
    return {
        quarter: _Period(parts, min([*map(of_parts, parts), *([every[quarter]] if quarter in every else [])], key=age))
        for quarter, parts in ways.items()
    }


def _of_one_start(spans: Iterable[Span]) -> Iterator[tuple[Span, Span]]:
    """Yield each pair of spans that begin on one day, the longer one first."""
    by_start: dict[date | None, list[Span]] = {}
    for span in spans:
        by_start.setdefault(span.start, []).append(span)
    for group in by_start.values():
        yield from ((longer, shorter) for longer in group for shorter in group if shorter.end < longer.end)


def _twelve_months(years: Iterable[Span], spans: Iterable[Span]) -> Iterator[tuple[Span, tuple[_Parts, ...]]]:
    """Yield the twelve months to each quarter's end: the year, and since its end, less the same part of the year."""
    for year in years:
        yield year, ()
        for since in spans:
            if year.start is None or since.start != year.end + DAY or kind_of(*since) not in ("quarter", "ytd"):
                continue
            # The same part of the year before: a filing can date it a day off, beside one that has it right.
            by_leeway = {
                abs(before.end - year.start + DAY - (since.end - year.end)): before
                for before in spans
                if before.start == year.start
            }
            if by_leeway and min(by_leeway) <= _LEEWAY:
                before = by_leeway[min(by_leeway)]
                yield Span(before.end + DAY, since.end), (_Parts((year, since), before),)


def _item(
    book: Book, statement: Statement, cadence: Cadence, span: Span, period: _Period, company: str
) -> Record | None:
    currency = book.currency(span.end)
    if currency is None:
        return None
    at = Span(None, span.end) if statement == "balance" else span
    cells = {line.name: _cell(book, line, at, period.ways, currency) for line in LINES[statement]}
    for name, ways in SUMS[statement].items():
        if not isinstance(cells.get(name), Cell):
            cells[name] = _sum(cells, ways, _beside(book, name, at, currency)) or cells.get(name)
    known = {name: cell for name, cell in cells.items() if isinstance(cell, Cell)}
    omitted = {name: cell for name, cell in cells.items() if isinstance(cell, Omission)}
    inputs = [version for cell in cells.values() if cell is not None for version in cell.inputs]
    if not inputs:
        return None
    newest = max((period.shown, *inputs), key=age)
    payload: dict[str, Any] = {
        "period_end": span.end.isoformat(),
        "period_start": None if span.start is None else span.start.isoformat(),
        "period": cadence,
        "currency": currency,
        **{name: cell.value if isinstance(cell, Cell) else None for name, cell in cells.items()},
        "sources": {name: [_source(version) for version in cell.inputs] for name, cell in known.items()},
        "derived": [name for name, cell in known.items() if cell.is_derived],
        "omitted": {name: omission.reason for name, omission in omitted.items()},
    }
    return newest._replace(id=f"{company}:{statement}:{cadence}:{span.end}", payload=payload)


def _cell(book: Book, line: Line, span: Span, ways: tuple[_Parts, ...], currency: str) -> Cell | Omission | None:
    known = book.known(line, span, currency)
    if isinstance(known, Omission):
        return known
    reported = book.reported(known)
    if reported is not None or span.start is None:
        return reported
    derived = [cell for parts in ways if (cell := book.combined(line, parts, currency)) is not None]
    return next((cell for cell in derived if isinstance(cell, Cell)), derived[0] if derived else None)


def _beside(book: Book, name: str, span: Span, currency: str) -> _Beside:
    """Return what is reported beside the parts of a sum."""
    whole, concepts = BESIDE.get(name, ("", ()))
    known = (book.known(Line(name, (concept,)), span, currency) for concept in concepts)
    reported = (None if isinstance(histories, Omission) else book.reported(histories) for histories in known)
    return _Beside(whole, tuple(cell for cell in reported if cell is not None))


def _sum(
    cells: Mapping[str, Cell | Omission | None], ways: Iterable[tuple[str, ...]], beside: _Beside
) -> Cell | Omission | None:
    """Return the sum of the first of ``ways`` whose cells are all there; a name behind a minus is subtracted.

    It is left out where one of them is, where they are of several bases, or where something is reported ``beside``
    them. The next way would leave a part out.
    """
    for names in ways:
        signs = {name.removeprefix("-"): -1 if name.startswith("-") else 1 for name in names}
        found = {name: cells[name] for name in signs}
        if None in found.values():
            continue
        for cell in found.values():
            if isinstance(cell, Omission):
                return cell
        parts = {name: cell for name, cell in found.items() if isinstance(cell, Cell)}
        inputs = tuple(version for cell in parts.values() for version in cell.inputs)
        changed = [cell.restating for cell in parts.values() if cell.restating is not None]
        if changed and len({version.payload["accession"] for version in inputs}) > 1:
            return Omission("restated", (*inputs, *changed))
        if others := beside.left_out(parts):
            return Omission("incomplete", (*inputs, *others))
        return Cell(_total([signs[name] * cell.value for name, cell in parts.items()]), inputs, is_derived=True)
    return None


def _total(values: Collection[int | float]) -> int | float:
    """Return the sum of amounts as they are written: a small company's have cents, which floats do not add exactly."""
    if all(isinstance(value, int) for value in values):
        return sum(values)
    from decimal import Decimal

    return float(sum(Decimal(str(value)) for value in values))


def _recasting(history: History) -> Iterator[str]:
    """Yield the accession numbers of the filings whose value differs from the one before by more than its rounding."""
    for before, version in pairwise(history.versions):
        value, previous = version.payload["value"], before.payload["value"]
        if abs(value - previous) > _ROUNDING * abs(previous):
            yield version.payload["accession"]


def _form(version: Record) -> str:
    return str(version.payload["form"]).removesuffix("/A")


def _source(version: Record) -> dict[str, str]:
    payload = version.payload
    return {"concept": f"{payload['taxonomy']}:{payload['concept']}", "accession": payload["accession"]}
