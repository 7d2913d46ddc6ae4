"""Make a line's figure of longer periods, as the sum of some less another one, or tell why there is none. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import pairwise
from typing import NamedTuple

from pit_fetch.provider import Record
from pit_fetch_providers.sec_facts.additions import Contradiction, contradictions
from pit_fetch_providers.sec_facts.book import Book, Parts, unit_of
from pit_fetch_providers.sec_facts.cells import Cell, Known, Omission, total
from pit_fetch_providers.sec_facts.lines import Line
from pit_fetch_providers.sec_facts.measures import is_contested, judged
from pit_fetch_providers.sec_facts.periods import DAY, Span, kind_of
from pit_fetch_providers.sec_facts.rounding import ROUNDING, is_rounded, suspects
from pit_fetch_providers.sec_facts.versions import RELEASED, History, accession_of, age, release


class _Quarters(NamedTuple):
    """The first amounts of a period's quarters, and the versions that show them; None if not all are known.

    ``undoing`` shows since when others are not known, or no longer count.
    """

    amounts: list[int | float] | None
    shown: Sequence[Record]
    undoing: Sequence[Record]


class Sums:
    """The sums that can be made of the figures in a book."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._recasts: dict[tuple[Line, str], Mapping[str, Record]] = {}
        self._firsts: dict[tuple[tuple[str, ...], str], Mapping[Span, Mapping[str, Record]]] = {}
        self._contradictions: dict[tuple[tuple[str, ...], str, str, date | None], list[Contradiction]] = {}
        self._newest_moved: dict[tuple[str, ...], list[Record]] = {}

    def combined(self, line: Line, parts: Parts, currency: str) -> Cell | Omission | None:
        """Return the sum of ``parts``, under a concept that has them all, if they are of one basis and not rounded.

        None if a part has no figure.
        """
        known = self._known(line, parts, currency)
        by_span = [one for one in known if isinstance(one, Known)]
        if not known or not all(one.histories for one in by_span):
            return None
        if omitted := [one for one in known if isinstance(one, Omission)]:
            return Omission(omitted[0].reason, _parts_shown(known, parts))
        if line.measure != "amount":
            return Omission("not_additive", _parts_shown(known, parts))
        complete = [rank for rank in by_span[0].histories if all(rank in one.histories for one in by_span)]
        if not complete:
            return Omission("renamed", _parts_shown(known, parts))
        of_two = self._of_two_bases(line, parts, by_span, complete, currency)
        made = of_two or self._unless_rounded(line, parts, by_span, complete, currency)
        if isinstance(made, Omission):
            there = _completing(by_span, complete)
            return made._replace(shown=(*_parts_shown(known, parts), there, *made.shown))
        return made

    def _known(self, line: Line, parts: Parts, currency: str) -> list[Known | Omission]:
        """Return what is known of each part; nothing if one of them has no figure."""
        every = list[Known | Omission]()
        for span in (*parts.plus, parts.minus):
            known = self._book.known(line, span, currency)
            if isinstance(known, Known) and not known.histories:
                return []
            every.append(known)
        return every

    def _of_two_bases(
        self, line: Line, parts: Parts, by_span: Sequence[Known], ranks: Sequence[int], currency: str
    ) -> Omission | None:
        restating = [known.restating for known in by_span if known.restating is not None]
        restating += _other_bases(by_span, self._recasting(line, currency))
        if restating:
            return Omission("restated", (min(restating, key=age),))
        contradicting = [
            (*shown, _completing(by_span, [rank]))
            for rank in ranks
            for shown in self._contradicting(line, line.concepts[rank], parts, currency)
        ]
        if not contradicting:
            return None
        return Omission("contradicted", min(contradicting, key=lambda shown: max(map(age, shown))))

    def _unless_rounded(
        self, line: Line, parts: Parts, by_span: Sequence[Known], ranks: Sequence[int], currency: str
    ) -> Cell | Omission:
        spans = (*parts.plus, parts.minus)
        amounts = {span: known.versions[0].payload["value"] for span, known in zip(spans, by_span, strict=True)}
        least, suspected = suspects(amounts)
        rounded, shown = False, [version for known in by_span if known.shown for version in known.shown]
        for span in suspected:
            quarters = self._in_quarters(line, span, currency)
            alone, beside = (is_rounded(amounts[span], least, known) for known in (None, quarters.amounts))
            rounded |= beside
            shown += (*quarters.undoing, *(quarters.shown if alone != beside else ()))
        if rounded:
            return Omission("rounded", tuple(shown))
        cell = self._newest_sum(by_span, ranks)
        return cell._replace(shown=(parts.shown, *shown, *self._moved(line)))

    def _newest_sum(self, by_span: Sequence[Known], ranks: Sequence[int]) -> Cell:
        """Return the sum under the name that is complete first, or whose newest version is the newest."""
        choose = min if self._book.place == 0 else max
        cells = [self._sum([known.histories[rank] for known in by_span]) for rank in ranks]
        return cells[0] if len(cells) == 1 else choose(cells, key=lambda cell: max(map(release, cell.inputs)))

    def _sum(self, parts: list[History]) -> Cell:
        """Return the sum of ``parts``, of which the last is subtracted."""
        versions = tuple(history.versions[self._book.place] for history in parts)
        *plus_values, minus_value = (version.payload["value"] for version in versions)
        return Cell(total([*plus_values, -minus_value]), versions, is_derived=True)

    def _in_quarters(self, line: Line, whole: Span, currency: str) -> _Quarters:
        """Return the line's amounts of the quarters of ``whole``, if all are known and none was ever restated."""
        amounts, shown, undoing, start = list[int | float](), list[Record](), list[Record](), whole.start
        while start is not None and start <= whole.end and kind_of(*whole) != "quarter":
            quarters = (
                span
                for span in self._book.starting(line, start)
                if kind_of(*span) == "quarter" and span.end <= whole.end
            )
            every = [span for span in quarters if span in self._book.own]  # and no other days, as of a note
            known = {span: self._book.known(line, span, currency) for span in every}
            found = {span: one for span, one in known.items() if isinstance(one, Known) and one.histories}
            undoing += [version for one in known.values() for version in one.shown]
            if not found:
                return _Quarters(None, (), undoing)
            # Of several, the one that was there first.
            since = {span: max(one.by_age[0], self._book.own[span], key=age) for span, one in found.items()}
            span = min(since, key=lambda span: age(since[span]))
            first, restating = found[span].by_age[0], found[span].restating
            if restating is not None:
                return _Quarters(None, (), [*undoing, restating])
            amounts.append(first.payload["value"])
            shown.append(since[span])
            start = span.end + DAY
        return _Quarters(amounts or None, shown, undoing)

    def _moved(self, line: Line) -> list[Record]:
        """Return the version of the line that came last to a period other than its own, where it can undo a recast."""
        if not self._book.same:
            return []
        if line.concepts not in self._newest_moved:
            histories = (history for concept in line.concepts for history in self._book.of_concept(concept).values())
            moved = (version for history in histories for version in history.versions if RELEASED in version.payload)
            newest = max(moved, key=age, default=None)
            self._newest_moved[line.concepts] = [] if newest is None else [newest]
        return self._newest_moved[line.concepts]

    def _recasting(self, line: Line, currency: str) -> Mapping[str, Record]:
        """Return the filings that report another value of the line than before for some period, under any of its names.

        They change its basis. Each comes with the version since which that is so.
        """
        if (line, currency) not in self._recasts:
            found = (self._book.found(line, span, currency) for span in self._book.spans_of(line))
            every = [recast for known in found for recast in _recasts(line, known)]
            self._recasts[line, currency] = dict(sorted(every, key=lambda recast: age(recast[1]), reverse=True))
        return self._recasts[line, currency]

    def _contradicting(self, line: Line, name: str, parts: Parts, currency: str) -> Iterator[tuple[Record, ...]]:
        """Yield what first shows that a part and what follows it do not make up a whole, of a sum under one name.

        From what is subtracted to what it is subtracted from, each must; of what is added, what makes it up.
        """
        year, *added = parts.plus
        for start in dict.fromkeys((year.start, parts.minus.start)):  # which are proved to be one
            for part, whole, shown in self._contradictions_from(line, name, start, currency):  # mostly none
                if parts.minus.end <= part.end and whole.end <= year.end:
                    yield shown
                    break  # the others came later
        for span in added:
            for _, whole, shown in self._contradictions_from(line, name, span.start, currency):
                if whole == span:
                    yield shown
                    break

    def _contradictions_from(self, line: Line, name: str, start: date | None, currency: str) -> Sequence[Contradiction]:
        """Return the contradictions among the periods of a line that begin on a day, for a sum under a name of it."""
        key = line.concepts, name, currency, start
        if key not in self._contradictions:
            first = self._first_versions(line, currency)
            together = [span for span in self._book.starting(line, start) if span in first]
            self._contradictions[key] = contradictions(first, together, name)
        return self._contradictions[key]

    def _first_versions(self, line: Line, currency: str) -> Mapping[Span, Mapping[str, Record]]:
        """Return what the first filing with a line reports of each period, under each name."""
        key = line.concepts, currency
        if key not in self._firsts:
            unit, first = unit_of(line, currency), dict[Span, dict[str, Record]]()
            for concept in line.concepts:
                for (of_unit, span), history in self._book.of_concept(concept).items():
                    if of_unit == unit:
                        of_span, version = first.setdefault(span, {}), history.by_age[0]
                        known = next(iter(of_span.values()), version)
                        if age(version) < age(known):
                            of_span.clear()
                        if age(version) <= age(known):
                            of_span[concept] = version
            self._firsts[key] = first
        return self._firsts[key]


def _parts_shown(of_spans: Iterable[Known | Omission], parts: Parts) -> tuple[Record, ...]:
    """Return the versions that show that there are figures of all parts of a sum, and which ones are no figures."""
    known = list(of_spans)
    first = (one.by_age[0] for one in known if isinstance(one, Known))
    return (parts.shown, *first, *(version for one in known for version in one.shown))


def _completing(by_span: Sequence[Known], ranks: Iterable[int]) -> Record:
    """Return the version since which one of the concepts has all parts of a sum, whatever was restated since."""
    return min((max((known.histories[rank].by_age[0] for known in by_span), key=age) for rank in ranks), key=age)


def _other_bases(by_span: Sequence[Known], recasting: Mapping[str, Record]) -> list[Record]:
    """Return what shows that filings that first brought the line for one of the periods restated it, unless for all."""
    first = {accession_of(known.versions[0]) for known in by_span}
    recasts = (accession for accession in first if accession in recasting)
    return [recasting[accession] for accession in recasts if not _are_all_in(by_span, accession)]


def _are_all_in(by_span: Iterable[Known], accession: str) -> bool:
    return all(any(accession_of(version) == accession for version in known.versions) for known in by_span)


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
            yield accession_of(version), max(before, version, key=age)
