"""Find the periods of a company's statements by what it reported on: years, quarters, twelve months. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date, timedelta
from itertools import permutations
from typing import Literal, NamedTuple

from pit_fetch.provider import Record
from pit_fetch_providers.sec_facts.book import Book, Parts, Span
from pit_fetch_providers.sec_facts.lines import ANCHORS
from pit_fetch_providers.sec_facts.periods import DAY, Kind, kind_of
from pit_fetch_providers.sec_facts.versions import age

Cadence = Literal["annual", "quarter", "ttm"]
CADENCES: tuple[Cadence, ...] = ("annual", "quarter", "ttm")

_ANNUAL_REPORTS = frozenset({"10-K", "10-KT", "20-F", "40-F"})
# By how much two fiscal years, or the same quarters of two years, can differ: a 53rd week.
_LEEWAY = timedelta(days=8)


# A period, the periods whose sum it is, and the one that is subtracted from them.
_Derived = tuple[Span, tuple[Span, ...], Span]


class Period(NamedTuple):
    """The ways to derive a period, and the version that first showed it."""

    ways: tuple[Parts, ...]
    shown: Record


def of_cadence(book: Book, cadence: Cadence) -> Mapping[Span, Period]:
    """Return the periods of ``cadence``."""
    annual, every = book.spans(ANCHORS, _ANNUAL_REPORTS), book.spans(ANCHORS)
    years = book.one_for_each_end(annual, "annual")
    if cadence == "annual":
        return {year: Period((), annual[year]) for year in years}
    spans = sorted(span for span in every if span.start is not None)  # in the order of dates, whatever the file's
    first, ways = {**every, **annual}, dict[Span, tuple[Parts, ...]]()
    for span, plus, minus in (_quarters if cadence == "quarter" else _twelve_months)(years, spans):
        parts = Parts(plus, minus, max((first[part] for part in (*plus, minus)), key=age))
        ways[span] = (*ways.get(span, ()), parts)
    kind: Kind = "quarter" if cadence == "quarter" else "annual"
    reported = every if cadence == "quarter" else {year: annual[year] for year in years}
    periods = {}
    for span in book.one_for_each_end({*reported, *ways}, kind):
        derived = ways.get(span, ())
        shown = [parts.shown for parts in derived]
        if span in reported:
            shown.append(reported[span])
        periods[span] = Period(derived, min(shown, key=age))
    return periods


def _quarters(years: Iterable[Span], spans: Iterable[Span]) -> Iterator[_Derived]:
    """Yield the quarters that two periods of one beginning differ by."""
    by_start: dict[date | None, list[Span]] = {}
    for span in sorted({*years, *(span for span in spans if kind_of(*span) in ("quarter", "ytd"))}):
        by_start.setdefault(span.start, []).append(span)
    for group in by_start.values():
        for longer, shorter in permutations(group, 2):
            rest = Span(shorter.end + DAY, longer.end)
            if shorter.end < longer.end and kind_of(*rest) == "quarter":
                yield rest, (longer,), shorter


def _twelve_months(years: Iterable[Span], spans: Iterable[Span]) -> Iterator[_Derived]:
    """Yield the twelve months to each quarter's end: the year, and since its end, less the same part of the year."""
    for year in years:
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
                yield Span(before.end + DAY, since.end), (year, since), before
