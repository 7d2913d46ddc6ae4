"""Find the periods of a company's statements by what it reported on: years, quarters, twelve months. Pure."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from itertools import permutations
from typing import Literal, NamedTuple

from pit_fetch.provider import Record
from pit_fetch_providers.sec_facts.book import Book, Parts
from pit_fetch_providers.sec_facts.lines import ANCHORS
from pit_fetch_providers.sec_facts.periods import DAY, Kind, Span, kind_of
from pit_fetch_providers.sec_facts.versions import age

Cadence = Literal["annual", "quarter", "ttm"]
CADENCES: tuple[Cadence, ...] = ("annual", "quarter", "ttm")

_ANNUAL_REPORTS = frozenset({"10-K", "10-KT", "20-F", "40-F"})
# By how much two fiscal years, or the same quarters of two years, can differ: a 53rd week.
_LEEWAY = timedelta(days=8)


class _Typed(NamedTuple):
    """The days of a period as some filing types them, the period, and the version that shows that they are its own."""

    days: Span
    period: Span
    shown: Record


# A period, the periods whose sum it is, and the one that is subtracted from them.
_Derived = tuple[Span, tuple[_Typed, ...], _Typed]


class Period(NamedTuple):
    """The ways to derive a period, and the version that first showed it.

    ``chosen`` shows why an item of it has the currency, or the day of its balance sheet, that it has.
    """

    ways: tuple[Parts, ...]
    shown: Record
    chosen: tuple[Record, ...] = ()


def of_cadence(book: Book, cadence: Cadence) -> Mapping[Span, Period]:
    """Return the periods of ``cadence``, one for each end: of several, the one that was shown first."""
    annual = book.spans(ANCHORS, _ANNUAL_REPORTS)
    years = _one_for_each_end({span: Period((), shown) for span, shown in annual.items()}, "annual")
    if cadence == "annual":
        return years
    every = book.spans(ANCHORS)
    kind: Kind = "quarter" if cadence == "quarter" else "annual"
    reported = every if cadence == "quarter" else {year: annual[year] for year in years}
    # A year is one since an annual report tells of it.
    typed = _typed(book, {**every, **{year: annual[year] for year in years}})
    ways = _ways(book, (_quarters if cadence == "quarter" else _twelve_months)(years, typed))
    periods = {}
    for span in {**reported, **ways}:
        shown = [*([reported[span]] if span in reported else []), *(parts.shown for parts in ways.get(span, ()))]
        periods[span] = Period(ways.get(span, ()), min(shown, key=age))
    # Of those that one filing showed first, what it reports comes before what it lets us derive.
    first = [span for span, shown in reported.items() if age(shown) == age(periods[span].shown)]
    in_order = [*first, *sorted(periods.keys() - first)]
    return _one_for_each_end({span: periods[span] for span in in_order}, kind)


def _ways(book: Book, every: Iterable[_Derived]) -> Mapping[Span, tuple[Parts, ...]]:
    """Return the ways to derive each period, each with what first showed it."""
    ways = dict[Span, dict[tuple[tuple[Span, ...], Span], Parts]]()
    for rest, plus, minus in every:
        shown, period = [part.shown for part in (*plus, minus)], rest
        same = book.same.get(rest)
        if same is not None and same.period.end == rest.end:  # no item gets another end
            shown, period = [*shown, same.shown], same.period
        parts = Parts(tuple(part.period for part in plus), minus.period, max(shown, key=age))
        of_rest = ways.setdefault(period, {})
        of_rest[parts[:2]] = min(parts, of_rest.get(parts[:2], parts), key=lambda parts: age(parts.shown))
    return {span: tuple(of_rest.values()) for span, of_rest in ways.items()}


def _one_for_each_end(periods: Mapping[Span, Period], kind: Kind) -> dict[Span, Period]:
    """Return the periods of a kind; of several with one end, the one that was shown first."""
    of_kind = [span for span in periods if span.start is not None and kind_of(*span) == kind]
    by_end: dict[date, Span] = {}
    for span in sorted(of_kind, key=lambda span: age(periods[span].shown)):
        by_end.setdefault(span.end, span)
    return {span: periods[span] for span in by_end.values()}


def _typed(book: Book, first: Mapping[Span, Record]) -> list[_Typed]:
    """Return the days under which the periods of ``first`` are reported, in the order of dates."""
    every = [_Typed(span, span, shown) for span, shown in first.items()]
    for days, (period, proof) in book.same.items():
        if period in first:
            every.append(_Typed(days, period, max(proof, first[period], key=age)))
    return sorted((typed for typed in every if typed.days.start is not None), key=lambda typed: typed.days)


def _by_start(every: Iterable[_Typed]) -> Mapping[date | None, Sequence[_Typed]]:
    by_start: dict[date | None, list[_Typed]] = {}
    for typed in every:
        by_start.setdefault(typed.days.start, []).append(typed)
    return by_start


def _quarters(years: Container[Span], every: Iterable[_Typed]) -> Iterator[_Derived]:
    """Yield the quarters that two periods of one beginning differ by."""
    parts = (one for one in every if one.period in years or kind_of(*one.period) in ("quarter", "ytd"))
    for together in _by_start(parts).values():
        for longer, shorter in permutations(together, 2):
            rest = Span(shorter.period.end + DAY, longer.period.end)
            if shorter.period.end < longer.period.end and kind_of(*rest) == "quarter":
                yield rest, (longer,), shorter


def _twelve_months(years: Container[Span], every: Iterable[_Typed]) -> Iterator[_Derived]:
    """Yield the twelve months to each quarter's end: the year, and since its end, less the same part of the year."""
    by_start = _by_start(every)
    for year in every:
        if year.period not in years:
            continue
        for since in by_start.get(year.days.end + DAY, ()):
            if kind_of(*since.period) not in ("quarter", "ytd"):
                continue
            # The same part of the year before: a filing can date it a day off, beside one that has it right.
            by_leeway = {abs(_length(before) - _length(since)): before for before in by_start[year.days.start]}
            if min(by_leeway) <= _LEEWAY:
                before = by_leeway[min(by_leeway)]
                yield Span(before.period.end + DAY, since.period.end), (year, since), before


def _length(typed: _Typed) -> timedelta:
    start, end = typed.days
    return timedelta() if start is None else end - start
