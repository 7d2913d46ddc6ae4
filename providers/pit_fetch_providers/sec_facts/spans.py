"""Find the periods of a company's statements by what it reported on: years, quarters, twelve months. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date, timedelta
from typing import Literal, NamedTuple

from pit_fetch.provider import Record
from pit_fetch_providers.sec_facts.book import Book, Parts, Span
from pit_fetch_providers.sec_facts.lines import ANCHORS
from pit_fetch_providers.sec_facts.periods import DAY, kind_of
from pit_fetch_providers.sec_facts.versions import age

Cadence = Literal["annual", "quarter", "ttm"]
CADENCES: tuple[Cadence, ...] = ("annual", "quarter", "ttm")

_ANNUAL_REPORTS = frozenset({"10-K", "10-KT", "20-F", "40-F"})
# By how much two fiscal years, or the same quarters of two years, can differ: a 53rd week.
_LEEWAY = timedelta(days=8)


class Period(NamedTuple):
    """The ways to derive a period, and the version that first showed it."""

    ways: tuple[Parts, ...]
    shown: Record


def of_cadence(book: Book, cadence: Cadence) -> Mapping[Span, Period]:
    """Return the periods of ``cadence``."""
    annual, every = book.spans(ANCHORS, _ANNUAL_REPORTS), book.spans(ANCHORS)
    shown = {**every, **annual}

    def of_parts(parts: Parts) -> Record:
        return max((shown[span] for span in (*parts.plus, parts.minus)), key=age)

    years = book.one_for_each_end(annual, "annual")
    spans = sorted(span for span in every if span.start is not None)  # in the order of dates, whatever the file's
    if cadence == "annual":
        return {year: Period((), annual[year]) for year in years}
    if cadence == "ttm":
        twelve_months = dict(_twelve_months(years, spans))
        return {
            span: Period(twelve_months[span], of_parts(*twelve_months[span]) if twelve_months[span] else annual[span])
            for span in book.one_for_each_end(twelve_months, "annual")
        }
    to_date = sorted({*years, *(span for span in spans if kind_of(*span) in ("quarter", "ytd"))})
    derived: dict[Span, tuple[Parts, ...]] = {}
    for longer, shorter in _of_one_start(to_date):
        rest = Span(shorter.end + DAY, longer.end)
        if kind_of(*rest) == "quarter":
            derived[rest] = (*derived.get(rest, ()), Parts((longer,), shorter))
    quarters = book.one_for_each_end({*spans, *derived}, "quarter")
    ways = {quarter: derived.get(quarter, ()) for quarter in quarters}
    return {
        quarter: Period(parts, min([*map(of_parts, parts), *([every[quarter]] if quarter in every else [])], key=age))
        for quarter, parts in ways.items()
    }


def _of_one_start(spans: Iterable[Span]) -> Iterator[tuple[Span, Span]]:
    """Yield each pair of spans that begin on one day, the longer one first."""
    by_start: dict[date | None, list[Span]] = {}
    for span in spans:
        by_start.setdefault(span.start, []).append(span)
    for group in by_start.values():
        yield from ((longer, shorter) for longer in group for shorter in group if shorter.end < longer.end)


def _twelve_months(years: Iterable[Span], spans: Iterable[Span]) -> Iterator[tuple[Span, tuple[Parts, ...]]]:
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
                yield Span(before.end + DAY, since.end), (Parts((year, since), before),)
