"""Hold the public facts of one company, and find or derive from them the figure of a line for a period. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import groupby, pairwise, product
from typing import NamedTuple

from pit_fetch.provider import Record
from pit_fetch_providers.sec_facts.additions import Contradiction, contradictions
from pit_fetch_providers.sec_facts.cells import NOTHING, Cell, Known, Omission, Public, known_of, total
from pit_fetch_providers.sec_facts.ends import one_for_each_period, same_periods
from pit_fetch_providers.sec_facts.lines import ANCHORS, PROFITS, REMAINDER, Line
from pit_fetch_providers.sec_facts.measures import is_contested, judged, of_one_measure
from pit_fetch_providers.sec_facts.periods import DAY, Span, kind_of
from pit_fetch_providers.sec_facts.remainders import parted
from pit_fetch_providers.sec_facts.rounding import ROUNDING, is_rounded, suspects
from pit_fetch_providers.sec_facts.versions import (
    RELEASED,
    History,
    Vintage,
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


class _Quarters(NamedTuple):
    """The amounts of a period's quarters, None if not all are known, and the versions that show it."""

    amounts: list[int | float] | None
    shown: list[Record]


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
        self._recasts: dict[tuple[Line, str], Mapping[str, Record]] = {}
        self._contradictions: dict[tuple[str, str, date | None], list[Contradiction]] = {}
        self._newest_moved: dict[tuple[str, ...], list[Record]] = {}

    def spans(self, names: Iterable[str], forms: frozenset[str] | None = None) -> dict[Span, Record]:
        """Return the periods of the concepts ``names``, each with what first shows it, of ``forms``.

        They come in the order in which they were reported. Those of one filing come with the one of most facts first:
        a note may tell of other days.
        """
        shown: dict[Span, list[Record]] = {}
        for name in names:
            for (unit, span), history in self._histories.get(name, {}).items():
                versions = [version for version in history.versions if forms is None or _form(version) in forms]
                if versions and _is_currency(unit):
                    shown.setdefault(span, []).extend(versions)
        in_order = sorted(shown, key=lambda span: (*first_shown(shown[span]), span.end, span.start))
        return {span: min(shown[span], key=age) for span in in_order}

    def _own(self, names: Collection[str]) -> Mapping[Span, Record]:
        """Return the periods of the concepts ``names`` that are the company's own, each with the version since which.

        They have a profit. So all do of a filing that has no profit of any period.
        """
        of_names = [(name, self._histories.get(name, {})) for name in names]
        profits = (history for name, of_name in of_names if name in PROFITS for history in of_name.values())
        with_profit = {_accession(version) for history in profits for version in history.versions}
        own: dict[Span, Record] = {}
        for name, of_name in of_names:
            for (_, span), history in of_name.items():
                first: Record | None = history.by_age[0]
                if name not in PROFITS:
                    first = next((made for made in history.by_age if _accession(made) not in with_profit), None)
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
            self._of_filings.update((_accession(version), version.payload["unit"]) for version in own)
        return self._of_filings[_accession(version), version.payload["unit"]]

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
        known = of_one_measure(line, self._found(line, span, currency))
        if REMAINDER in line.concepts and known == NOTHING and (currency, span) in self._doubtful:
            return Omission("unproved", (self._doubtful[currency, span],))
        return known

    def _unread(self, line: Line, span: Span, currency: str) -> list[Record]:
        """Return the versions of the line for a period that cannot be read, the first of each concept."""
        if not self._unreadable:  # in all cases that were seen
            return []
        facts = ((concept, _unit(line, currency), span) for concept in line.concepts)
        return [self._unreadable[fact] for fact in facts if fact in self._unreadable]

    def _found(self, line: Line, span: Span, currency: str) -> Known:
        """Return the histories of the line's concepts for a period, of whatever measure."""
        unit, found = _unit(line, currency), dict[int, History]()
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
        first = [*self._found(line, span, currency).by_age[:1], *self._unread(line, span, currency)]
        if REMAINDER in line.concepts and (currency, span) in self._doubtful:
            first.append(self._doubtful[currency, span])
        return first

    def _spans_of(self, line: Line) -> set[Span]:
        """Return the periods for which any of the line's concepts is reported."""
        return {span for concept in line.concepts for _, span in self._histories.get(concept, ())}

    def _from(self, line: Line, start: date | None) -> Sequence[Span]:
        """Return the periods for which the line is reported and that begin on ``start``."""
        if line.concepts not in self._starting:
            by_start: dict[date | None, list[Span]] = {}
            for span in self._spans_of(line):
                by_start.setdefault(span.start, []).append(span)
            self._starting[line.concepts] = by_start
        return self._starting[line.concepts].get(start, ())

    def _contradicting(self, line: Line, parts: Parts, ranks: Iterable[int], currency: str) -> tuple[Record, ...]:
        """Return what shows, under one of the concepts, that a part and what follows it do not make up the whole."""
        start, unit = parts.minus.start, _unit(line, currency)
        for rank in ranks:
            key = line.concepts[rank], unit, start
            if key not in self._contradictions:
                self._contradictions[key] = contradictions(self._histories[key[0]], unit, self._from(line, start))
            for one in self._contradictions[key]:  # mostly none
                if parts.minus.end <= one.part.end and one.whole.end <= parts.plus[0].end:
                    return one.shown
        return ()

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

    def combined(self, line: Line, parts: Parts, currency: str) -> Cell | Omission | None:
        """Return the sum of ``parts``, under a concept that has them all, if they are of one basis and not rounded."""
        by_span, omitted, spans = list[Known](), list[Omission](), (*parts.plus, parts.minus)
        for span in spans:
            known = self.known(line, span, currency)
            if isinstance(known, Omission):
                omitted.append(known)
            elif known.histories:
                by_span.append(known)
            else:
                return None
        if omitted:
            return Omission(omitted[0].reason, _parts_shown([*by_span, *omitted], parts))
        if line.measure != "amount":
            return Omission("not_additive", self._shown(by_span, parts))
        complete = [rank for rank in by_span[0].histories if all(rank in known.histories for known in by_span)]
        if not complete:
            return Omission("renamed", self._shown(by_span, parts))
        restating = [known.restating for known in by_span if known.restating is not None]
        if restating or (restating := _other_bases(by_span, self._recasting(line, currency))):
            return Omission("restated", (*self._shown(by_span, parts), min(restating, key=age)))
        if contradicting := self._contradicting(line, parts, complete, currency):
            return Omission("contradicted", (*self._shown(by_span, parts), *contradicting))
        amounts = {span: known.versions[0].payload["value"] for span, known in zip(spans, by_span, strict=True)}
        least, suspected = suspects(amounts)
        in_quarters = {span: self._in_quarters(line, span, currency) for span in suspected}
        shown = [version for known in by_span if known.shown for version in known.shown]
        shown += [version for quarters in in_quarters.values() for version in quarters.shown]
        if any(is_rounded(amounts[span], least, known.amounts) for span, known in in_quarters.items()):
            return Omission("rounded", (*self._shown(by_span, parts), *shown))
        # Of the names, the one that is complete first, or whose newest version is the newest.
        choose = min if self.place == 0 else max
        cells = [self._sum([known.histories[rank] for known in by_span]) for rank in complete]
        cell = cells[0] if len(cells) == 1 else choose(cells, key=lambda cell: max(map(release, cell.inputs)))
        return cell._replace(shown=(parts.shown, *shown, *self._moved(line)))

    def _sum(self, parts: list[History]) -> Cell:
        """Return the sum of ``parts``, of which the last is subtracted."""
        versions = tuple(history.versions[self.place] for history in parts)
        *plus_values, minus_value = (version.payload["value"] for version in versions)
        return Cell(total([*plus_values, -minus_value]), versions, is_derived=True)

    def _in_quarters(self, line: Line, whole: Span, currency: str) -> _Quarters:
        """Return the line's amounts of the quarters of ``whole``, if all are known and none was ever restated."""
        amounts, shown, start = list[int | float](), list[Record](), whole.start
        while start is not None and start <= whole.end and kind_of(*whole) != "quarter":
            quarters = (
                span for span in self._from(line, start) if kind_of(*span) == "quarter" and span.end <= whole.end
            )
            every = [span for span in quarters if span in self.own]  # and no other days, as of a note
            known = {span: self.known(line, span, currency) for span in every}
            found = {span: one for span, one in known.items() if isinstance(one, Known) and one.histories}
            shown += [version for one in known.values() for version in one.shown]
            if not found:
                return _Quarters(None, shown)
            # Of several, the one that was there first.
            since = {span: max(one.by_age[0], self.own[span], key=age) for span, one in found.items()}
            span = min(since, key=lambda span: age(since[span]))
            first, restating = found[span].by_age[0], found[span].restating
            shown += [since[span], *([] if restating is None else [restating])]
            if restating is not None:
                return _Quarters(None, shown)
            amounts.append(first.payload["value"])
            start = span.end + DAY
        return _Quarters(amounts or None, shown)

    def _shown(self, by_span: Iterable[Known], parts: Parts) -> tuple[Record, ...]:
        """Return the versions that show why figures make no sum: those that would make it, and what restated them."""
        shown = [parts.shown]
        for known in by_span:
            for history in known.histories.values():
                shown += (history.versions[0], history.versions[self.place])
            shown += known.shown if known.restating is None else (*known.shown, known.restating)
        return tuple(shown)

    def _moved(self, line: Line) -> list[Record]:
        """Return the version of the line that came last to a period other than its own, where it can undo a recast."""
        if not self.same:
            return []
        if line.concepts not in self._newest_moved:
            histories = (history for concept in line.concepts for history in self._histories.get(concept, {}).values())
            moved = (version for history in histories for version in history.versions if RELEASED in version.payload)
            newest = max(moved, key=age, default=None)
            self._newest_moved[line.concepts] = [] if newest is None else [newest]
        return self._newest_moved[line.concepts]

    def _recasting(self, line: Line, currency: str) -> Mapping[str, Record]:
        """Return the filings that report another value of the line than before for some period, under any of its names.

        They change its basis. Each comes with the version since which that is so.
        """
        if (line, currency) not in self._recasts:
            found = (self._found(line, span, currency) for span in self._spans_of(line))
            every = [recast for known in found for recast in _recasts(line, known)]
            self._recasts[line, currency] = dict(sorted(every, key=lambda recast: age(recast[1]), reverse=True))
        return self._recasts[line, currency]


def _parts_shown(of_spans: Iterable[Known | Omission], parts: Parts) -> tuple[Record, ...]:
    """Return the versions that show that there are figures of all parts of a sum, and which ones are no figures."""
    known = list(of_spans)
    first = (one.by_age[0] for one in known if isinstance(one, Known))
    return (parts.shown, *first, *(version for one in known for version in one.shown))


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


def _other_bases(by_span: Sequence[Known], recasting: Mapping[str, Record]) -> list[Record]:
    """Return what shows that filings that first brought the line for one of the periods restated it, unless for all."""
    first = {_accession(known.versions[0]) for known in by_span}
    recasts = (accession for accession in first if accession in recasting)
    return [recasting[accession] for accession in recasts if not _are_all_in(by_span, accession)]


def _are_all_in(by_span: Iterable[Known], accession: str) -> bool:
    return all(any(_accession(version) == accession for version in known.versions) for known in by_span)


def _recasts(line: Line, found: Known) -> Iterator[tuple[str, Record]]:
    """Yield the accession numbers of the filings that change a value of the line by more than its rounding.

    Be it that of one concept or, as far as they are one measure by what was public at some instant, of one after
    another. With each comes the version since which that is so.
    """
    if found.restating is None:
        return
    for history in found.histories.values():
        yield from _changing(history.versions)
    if not is_contested(found):
        yield from _changing(found.versions)
        return
    for then in judged(line, found):
        of_line = sorted((version for _, version in then.of_line), key=release)
        yield from ((accession, then.newest) for accession, _ in _changing(of_line))


def _changing(versions: Iterable[Record]) -> Iterator[tuple[str, Record]]:
    """Yield the filings that change a value by more than its rounding, each with the version since which that is so."""
    for before, version in pairwise(versions):
        value, previous = version.payload["value"], before.payload["value"]
        if abs(value - previous) > ROUNDING * abs(previous):
            yield _accession(version), max(before, version, key=age)


def _unit(line: Line, currency: str) -> str:
    match line.measure:
        case "amount":
            return currency
        case "per_share":
            return f"{currency}/shares"
    return "shares"


def _is_currency(unit: str) -> bool:
    return len(unit) == 3 and unit.isupper()


def _accession(version: Record) -> str:
    return str(version.payload["accession"])


def _form(version: Record) -> str:
    return str(version.payload["form"]).removesuffix("/A")
