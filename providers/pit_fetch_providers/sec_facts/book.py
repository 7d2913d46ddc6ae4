"""Hold the public facts of one company, and find or derive from them the figure of a line for a period. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import groupby, product
from typing import NamedTuple

from pit_fetch.provider import Record
from pit_fetch_providers.sec_facts.cells import NOTHING, Cell, Known, Omission, Public, known_of
from pit_fetch_providers.sec_facts.ends import one_for_each_period, same_periods
from pit_fetch_providers.sec_facts.lines import ANCHORS, PROFITS, REMAINDER, Line
from pit_fetch_providers.sec_facts.measures import of_one_measure
from pit_fetch_providers.sec_facts.periods import Span
from pit_fetch_providers.sec_facts.remainders import parted
from pit_fetch_providers.sec_facts.versions import (
    RELEASED,
    History,
    Vintage,
    accession_of,
    age,
    first_shown,
    histories,
    of_ended_periods,
    release,
)


class Parts(NamedTuple):
    """Periods whose sum, less ``minus``, is another one, and the version that first showed the last of them."""

    plus: tuple[Span, ...]
    minus: Span
    shown: Record


class Book:
    """The public histories of one company's facts, by what they are about."""

    def __init__(self, records: Iterable[Record], vintage: Vintage) -> None:
        self.place = 0 if vintage == "first" else -1
        self._histories: dict[str, dict[tuple[str, Span], History]] = {}  # by concept, then by unit and period
        self._units = defaultdict[date, Counter[str]](Counter)
        read, unread = of_ended_periods(records)
        self.same = same_periods(read)
        certain, doubtful = parted(one_for_each_period(read, self.same))
        # What cannot be read: the first version of a fact without a value, by concept, unit and period.
        placed = histories(one_for_each_period(unread, self.same))
        self._unreadable = {(made.concept, made.unit, made.span): made.by_age[0] for made in placed}
        # What may be of another measure: what first showed it, by unit and period.
        self._doubtful = {(history.unit, history.span): history.by_age[0] for history in histories(doubtful)}
        for history in histories(certain):
            self._histories.setdefault(history.concept, {})[history.unit, history.span] = history
            if _is_currency(history.unit):
                self._units[history.span.end][history.unit] += 1
        self._known: dict[tuple[tuple[str, ...], Span, str], Known | Omission] = {}
        self._of_filings = Counter[tuple[str, str]]()
        self.own = self._own(ANCHORS)
        self._starting: dict[tuple[str, ...], Mapping[date | None, Sequence[Span]]] = {}

    def spans(self, names: Iterable[str], forms: frozenset[str] | None = None) -> dict[Span, Record]:
        """Return the periods of the concepts ``names``, each with what first shows it, of ``forms``.

        They come in the order in which they were reported. Those of one filing come with the one of most facts first:
        a note may tell of other days.
        """
        shown: dict[Span, list[Record]] = {}
        for name in names:
            for (unit, span), history in self.of_concept(name).items():
                versions = [version for version in history.versions if forms is None or _form(version) in forms]
                if versions and _is_currency(unit):
                    shown.setdefault(span, []).extend(versions)
        in_order = sorted(shown, key=lambda span: (*first_shown(shown[span]), span.end, span.start))
        return {span: min(shown[span], key=age) for span in in_order}

    def _own(self, names: Collection[str]) -> Mapping[Span, Record]:
        """Return the periods of the concepts ``names`` that are the company's own, each with the version since which.

        They have a profit. So all do of a filing that has no profit of any period.
        """
        of_names = [(name, self.of_concept(name)) for name in names]
        profits = (history for name, of_name in of_names if name in PROFITS for history in of_name.values())
        with_profit = {accession_of(version) for history in profits for version in history.versions}
        own: dict[Span, Record] = {}
        for name, of_name in of_names:
            for (_, span), history in of_name.items():
                first: Record | None = history.by_age[0]
                if name not in PROFITS:
                    first = next((made for made in history.by_age if accession_of(made) not in with_profit), None)
                if first is not None and (span not in own or age(first) < age(own[span])):
                    own[span] = first
        return own

    def sheet_day(self, end: date) -> tuple[date, tuple[Record, ...]]:
        """Return the day of the balance sheet of a period that ends on ``end``, and the version that shows it.

        It is another day if that is proved to be the end of the same period, and had figures when ``end`` had none.
        """
        for typed, same in self.same.items():
            if same.period.end == end != typed.end:
                has_figures = [self._has_figures(day, same.shown) for day in (end, typed.end)]
                if has_figures == [False, True]:
                    return typed.end, (same.shown,)
        return end, ()

    def _has_figures(self, day: date, shown: Record) -> bool:
        """Return whether there were figures of a day when the version ``shown`` was public."""
        of_day = (history for history in self._every() if history.span == Span(None, day))
        return any(age(history.by_age[0])[0] <= age(shown)[0] for history in of_day)

    def currencies(self, end: date) -> Iterator[tuple[str, tuple[Record, ...]]]:
        """Yield in which currencies periods that end on ``end`` are reported, that of most facts before the others.

        With each comes the version since which it has its place behind those before it. Of as many facts, the currency
        that was reported later is before: a company that changes it shows the year before again. Of the first versions
        it is the one that was there first, of the most facts of its filing: in which currency most are depends on
        later ones, too. Of two that one filing brought with as many facts of that day, it is the one in which it has
        more of all days: a translation is mostly of the newest year alone.
        """
        units: Mapping[str, int] = self._units.get(end, {})
        if len(units) < 2:  # in most cases
            yield from ((unit, ()) for unit in units)
            return
        every = (history for history in self._every() if history.span.end == end and history.unit in units)
        first = sorted(((history.unit, history.by_age[0]) for history in every), key=lambda pair: age(pair[1]))
        began = dict(reversed(first))  # the oldest one of each comes last, and stays
        if self.place == 0:
            ages = Counter((age(version), unit) for unit, version in first)
            in_order = sorted(ages, key=lambda pair: (pair[0], -ages[pair], -self._count(began[pair[1]]), pair[1]))
            yield from ((unit, (began[unit],)) for unit in dict.fromkeys(unit for _, unit in in_order))
            return
        rank = sorted({age(version) for version in began.values()}).index

        def ordered(counts: Mapping[str, int]) -> list[str]:
            return sorted(
                counts, key=lambda unit: (-counts[unit], -rank(age(began[unit])), -self._count(began[unit]), unit)
            )

        by_instant = list(_by_instant(first, ordered))
        for place, unit in enumerate(by_instant[-1][0], 1):
            yield unit, (_since(by_instant, place),)

    def _count(self, version: Record) -> int:
        """Return how many facts the filing of a version has in its currency."""
        if not self._of_filings:
            every = (version for history in self._every() for version in history.versions)
            own = (version for version in every if RELEASED not in version.payload)
            self._of_filings.update((accession_of(version), version.payload["unit"]) for version in own)
        return self._of_filings[accession_of(version), version.payload["unit"]]

    def _every(self) -> Iterator[History]:
        for of_concept in self._histories.values():
            yield from of_concept.values()

    def known(self, line: Line, span: Span, currency: str) -> Known | Omission:
        """Return the histories of the line's concepts for a period, without those that are another measure."""
        key = line.concepts, span, currency  # a year is a part of several sums
        if key not in self._known:
            self._known[key] = self._judged(line, span, currency)
        return self._known[key]

    def _judged(self, line: Line, span: Span, currency: str) -> Known | Omission:
        if unread := self._unread(line, span, currency):
            return Omission("unreadable", (min(unread, key=age),))
        known = of_one_measure(line, self.found(line, span, currency))
        if REMAINDER in line.concepts and known == NOTHING and (currency, span) in self._doubtful:
            return Omission("unproved", (self._doubtful[currency, span],))
        return known

    def _unread(self, line: Line, span: Span, currency: str) -> list[Record]:
        """Return the versions of the line for a period that cannot be read, the first of each concept."""
        if not self._unreadable:  # in all cases that were seen
            return []
        facts = ((concept, unit_of(line, currency), span) for concept in line.concepts)
        return [self._unreadable[fact] for fact in facts if fact in self._unreadable]

    def found(self, line: Line, span: Span, currency: str) -> Known:
        """Return the histories of the line's concepts for a period, of whatever measure."""
        unit, found = unit_of(line, currency), dict[int, History]()
        for rank, concept in enumerate(line.concepts):
            of_concept = self._histories.get(concept)  # companies use one or two of the names
            if of_concept is not None and (history := of_concept.get((unit, span))) is not None:
                found[rank] = history
        return known_of(found)

    def began(self, lines: Iterable[Line], end: date, at: Span, ways: Sequence[Parts]) -> Record | None:
        """Return what first showed a figure of a period that ends on ``end``, or figures of all parts of it.

        Of a balance sheet, the figures are those ``at`` its day. None if there are none.
        """
        began = list[Record]()
        for line, currency in product(lines, self._units.get(end, ())):
            began += self._first(line, at, currency)
            for parts in ways:
                first = [self._first(line, span, currency) for span in (*parts.plus, parts.minus)]
                if all(first):
                    began.append(max([parts.shown, *(min(of_span, key=age) for of_span in first)], key=age))
        return min(began, key=age, default=None)

    def _first(self, line: Line, span: Span, currency: str) -> list[Record]:
        """Return the first versions of a line for a period, be they figures or what shows that there is one."""
        first = [*self.found(line, span, currency).by_age[:1], *self._unread(line, span, currency)]
        if REMAINDER in line.concepts and (currency, span) in self._doubtful:
            first.append(self._doubtful[currency, span])
        return first

    def of_concept(self, concept: str) -> Mapping[tuple[str, Span], History]:
        """Return the histories of a concept, by unit and period."""
        return self._histories.get(concept, {})

    def spans_of(self, line: Line) -> set[Span]:
        """Return the periods for which any of the line's concepts is reported."""
        return {span for concept in line.concepts for _, span in self.of_concept(concept)}

    def starting(self, line: Line, start: date | None) -> Sequence[Span]:
        """Return the periods for which the line is reported and that begin on ``start``."""
        if line.concepts not in self._starting:
            by_start: dict[date | None, list[Span]] = {}
            for span in self.spans_of(line):
                by_start.setdefault(span.start, []).append(span)
            self._starting[line.concepts] = by_start
        return self._starting[line.concepts].get(start, ())

    def reported(self, known: Known) -> Cell | None:
        """Return the cell that filings report under one of the line's concepts; the newest filing decides which."""
        if not known.histories:
            return None
        version = self._chosen([(rank, history.versions[self.place]) for rank, history in known.histories.items()])
        shown: tuple[Record, ...] = ()
        for then in reversed(known.told):
            if not then.of_line or self._chosen(then.of_line) is not version:
                break
            shown = (then.newest,)
        return Cell(version.payload["value"], (version,), restating=known.restating, shown=shown, judged=known.shown)

    def _chosen(self, made: Public) -> Record:
        """Return the version of the line that the newest filing has, or the first."""
        choose = min if self.place == 0 else max
        return choose(made, key=lambda pair: (release(pair[1]), -pair[0]))[1]


def _by_instant(
    first: Iterable[tuple[str, Record]], ordered: Callable[[Mapping[str, int]], list[str]]
) -> Iterator[tuple[list[str], Record]]:
    """Yield how currencies are ``ordered`` by the number of facts at each instant, with the newest of its versions."""
    counts = Counter[str]()
    for _, together in groupby(first, key=lambda pair: pair[1].available_at):
        for unit, version in together:
            counts[unit] += 1
            newest = version
        yield ordered(counts), newest


def _since(by_instant: Sequence[tuple[list[str], Record]], places: int) -> Record:
    """Return the version since which the first ``places`` of the currencies are those that they are."""
    now, since = by_instant[-1]
    for then, newest in reversed(by_instant):
        if then[:places] != now[:places]:
            break
        since = newest
    return since


def unit_of(line: Line, currency: str) -> str:
    """Return the unit of a line's figures in a currency."""
    match line.measure:
        case "amount":
            return currency
        case "per_share":
            return f"{currency}/shares"
    return "shares"


def _is_currency(unit: str) -> bool:
    return len(unit) == 3 and unit.isupper()


def _form(version: Record) -> str:
    return str(version.payload["form"]).removesuffix("/A")
