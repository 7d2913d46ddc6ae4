"""Find the periods of a company's statements by what it reported on: years, quarters, twelve months. Pure."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from functools import partial
from itertools import product, takewhile
from typing import Literal, NamedTuple

from pit_fetch.provider import Record
from pit_fetch_providers.sec_facts.book import Book, Parts, Span
from pit_fetch_providers.sec_facts.lines import ANCHORS
from pit_fetch_providers.sec_facts.periods import DAY, WEEK, Kind, is_near, kind_of
from pit_fetch_providers.sec_facts.versions import age

Cadence = Literal["annual", "quarter", "ttm"]
CADENCES: tuple[Cadence, ...] = ("annual", "quarter", "ttm")

_ANNUAL_REPORTS = frozenset({"10-K", "10-KT", "20-F", "40-F"})
# By how much two fiscal years, or the same quarters of two years, can differ: a 53rd week.
_LEEWAY = timedelta(days=8)

# The days by which periods that begin together can be apart, the least first.
_APART = [days * DAY for days in sorted(range(1 - WEEK.days, WEEK.days), key=abs)]

# A period, the periods whose sum it is, and the one that is subtracted from them.
_Derived = tuple[Span, tuple[Span, ...], Span]


class Period(NamedTuple):
    """The ways to derive a period, the version that first showed it, and the day on which it begins by that one.

    ``chosen`` shows why it counts rather than another period of this end.
    """

    ways: tuple[Parts, ...]
    shown: Record
    start: date | None
    chosen: tuple[Record, ...]


def of_cadence(book: Book, cadence: Cadence) -> Mapping[Span, Period]:
    """Return the periods of ``cadence``."""
    annual, every = book.spans(ANCHORS, _ANNUAL_REPORTS), book.spans(ANCHORS)
    years = book.one_for_each_end(annual, "annual")
    if cadence == "annual":
        return {year: Period((), annual[year], year.start, chosen) for year, chosen in years.items()}
    spans = sorted(span for span in every if span.start is not None)  # in the order of dates, whatever the file's
    kind: Kind = "quarter" if cadence == "quarter" else "annual"
    reported = every if cadence == "quarter" else {year: annual[year] for year in years}
    # A year is one since an annual report tells of it.
    first, ways = {**every, **{year: annual[year] for year in years}}, dict[Span, tuple[Parts, ...]]()
    for span, plus, minus in (_quarters if cadence == "quarter" else _twelve_months)(years, spans):
        parts = Parts(plus, minus, max((first[part] for part in (*plus, minus)), key=age))
        same = _reported(span, reported, kind)
        ways[same] = (*ways.get(same, ()), parts)
    periods = {}
    for span, chosen in book.one_for_each_end({*reported, *ways}, kind).items():
        derived = ways.get(span, ())
        shown = [(reported[span], span.start)] if span in reported else []
        shown += [(parts.shown, parts.minus.end + DAY) for parts in derived]
        earliest, start = min(shown, key=lambda pair: age(pair[0]))
        periods[span] = Period(derived, earliest, start, chosen)
    return periods


def _reported(derived: Span, reported: Container[Span], kind: Kind) -> Span:
    """Return the reported period that is ``derived``, though it may begin a few days off; itself if there is none."""
    if derived in reported:  # in most cases
        return derived
    near = (Span(day, derived.end) for day in _near(derived.start))
    return next((span for span in near if span in reported and kind_of(*span) == kind), derived)


def _near(day: date | None) -> Iterator[date]:
    """Yield the days that are one with ``day`` as the start of a period, the closest first."""
    if day is not None:
        yield from (day + apart for apart in _APART)


def _by_start(spans: Iterable[Span]) -> Mapping[date, Sequence[Span]]:
    by_start: dict[date, list[Span]] = {}
    for span in spans:
        if span.start is not None:
            by_start.setdefault(span.start, []).append(span)
    return by_start


def _together(starts: Sequence[date]) -> Iterator[tuple[date, date]]:
    """Yield the pairs of days that are one as the start of a period: each with itself, then those a few days apart."""
    yield from zip(starts, starts, strict=True)
    for place, start in enumerate(starts):
        for later in takewhile(partial(is_near, start), starts[place + 1 :]):
            yield start, later
            yield later, start


def _quarters(years: Iterable[Span], spans: Iterable[Span]) -> Iterator[_Derived]:
    """Yield the quarters that two periods of one beginning differ by."""
    by_start = _by_start(sorted({*years, *(span for span in spans if kind_of(*span) in ("quarter", "ytd"))}))
    for one, other in _together(sorted(by_start)):
        for longer, shorter in product(by_start[one], by_start[other]):
            rest = Span(shorter.end + DAY, longer.end)
            if shorter.end < longer.end and kind_of(*rest) == "quarter":
                yield rest, (longer,), shorter


def _twelve_months(years: Iterable[Span], spans: Iterable[Span]) -> Iterator[_Derived]:
    """Yield the twelve months to each quarter's end: the year, and since its end, less the same part of the year."""
    by_start = _by_start(spans)
    for apart, year in product(_APART, years):
        for since in by_start.get(year.end + DAY + apart, ()):
            if year.start is None or kind_of(*since) not in ("quarter", "ytd"):
                continue
            # The same part of the year before: a filing can date it a day off, beside one that has it right.
            by_leeway = {
                abs(before.end - year.start + DAY - (since.end - year.end)): before
                for day in reversed([*_near(year.start)])
                for before in by_start.get(day, ())
            }
            if by_leeway and min(by_leeway) <= _LEEWAY:
                before = by_leeway[min(by_leeway)]
                yield Span(before.end + DAY, since.end), (year, since), before
