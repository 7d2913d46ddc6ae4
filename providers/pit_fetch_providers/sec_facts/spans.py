"""Find the periods of a company's statements by what it reported on: years, quarters, twelve months. Pure.

A period is the company's own if a profit of its days is beside it. Notes tell of other days, too: pro forma, or of a
business until its sale. Such a period takes no place of one of the company's own, and makes none by a sum.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from itertools import permutations
from typing import Any, Literal, NamedTuple

from pit_fetch.provider import Record
from pit_fetch_providers.sec_facts.book import Book, Parts
from pit_fetch_providers.sec_facts.ends import Same
from pit_fetch_providers.sec_facts.lines import ANCHORS
from pit_fetch_providers.sec_facts.periods import DAY, WEEK, Kind, Span, is_long_quarter, is_of_twelve_weeks, kind_of
from pit_fetch_providers.sec_facts.versions import age

Cadence = Literal["annual", "quarter", "ttm"]
CADENCES: tuple[Cadence, ...] = ("annual", "quarter", "ttm")

_ANNUAL_REPORTS = frozenset({"10-K", "10-KT", "20-F", "40-F"})
# By how much two fiscal years, or the same quarters of two years, can differ: a 53rd week.
_LEEWAY = timedelta(days=8)
# Less than the difference between a quarter of 12 weeks and one of three months.
_TYPED_OFF = timedelta(days=4)


class _Typed(NamedTuple):
    """The days of a period as some filing types them, the period, and the version that shows that they are its own.

    ``own`` is the version since which the period is the company's own; None if it is not.
    """

    days: Span
    period: Span
    shown: Record
    own: Record | None


class Other(NamedTuple):
    """The period that the days of one were proved to be, with the ways to derive it, and the version that proved it."""

    span: Span
    ways: tuple[Parts, ...]
    shown: Record


class _Derived(NamedTuple):
    """A period, the periods whose sum it is, the one that is subtracted from them, and what else shows that it is."""

    rest: Span
    plus: tuple[_Typed, ...]
    minus: _Typed
    proof: tuple[Record, ...] = ()


class _Way(NamedTuple):
    """A way to derive a period, the version since which all parts are the company's own, and what shows ``minus``."""

    parts: Parts
    own: Record | None
    minus: Record


class Period(NamedTuple):
    """A period, the ways to derive it, and the versions that first showed it, and since which it is the company's own.

    ``own`` is None if it is not. ``chosen`` shows why an item is of it, of the others with its end, and has the
    currency, or the day of its balance sheet, that it has. ``other`` has its figures since its days were proved to be
    those of another one.
    """

    span: Span
    ways: tuple[Parts, ...]
    shown: Record
    own: Record | None
    rank: tuple[Any, ...]  # what orders the periods of one end
    chosen: tuple[Record, ...] = ()
    other: Other | None = None


def of_cadence(book: Book, cadence: Cadence) -> Sequence[Sequence[Period]]:
    """Return the periods of ``cadence``, those of one end together, in the order of :func:`in_order`."""
    own, annual = book.own, book.spans(ANCHORS, _ANNUAL_REPORTS)
    years = _by_end(_periods(annual, own, {}), "annual")
    if cadence == "annual":
        return years
    # A year is one since an annual report tells of it, or since it takes the place of one of a note.
    known = {year.span: shown for of_end in years for year, shown in _taken(of_end)}
    every = book.spans(ANCHORS)
    typed = _typed(book, {**every, **known}, own)
    if cadence == "quarter":
        # Two tell of a calendar. One can be a stub.
        of_twelve = sorted((since for span, since in own.items() if is_of_twelve_weeks(span)), key=age)
        short = of_twelve[1] if len(of_twelve) > 1 else None
        every = dict(_in_calendar(every, short))
        derived = list(_quarters(known, typed, short))
        retyped = list(_retyped(book, derived, every))
        ways = _ways(book, [*derived, *(made for made, _ in retyped)], every)
        same = {**_same_days(retyped), **book.same}
        return _by_end(_with_others(_periods(every, own, ways), ways, same), "quarter")
    ways = _ways(book, _twelve_months(known, typed), known)
    return _by_end(_with_others(_periods(known, own, ways), ways, book.same), "annual")


def _in_calendar(every: Mapping[Span, Record], short: Record | None) -> Iterator[tuple[Span, Record]]:
    """Yield the periods without long quarters, unless ``short`` shows that others have 12 weeks: stubs are none."""
    for span, shown in every.items():
        calendar = _calendar_of(span, short)
        if calendar is not None:
            yield span, max([shown, *calendar], key=age)


def _calendar_of(span: Span, short: Record | None) -> tuple[Record, ...] | None:
    """Return what shows that the company has quarters as long as a period; None if nothing does."""
    if not is_long_quarter(span):
        return ()
    return None if short is None else (short,)


def _taken(of_end: Sequence[Period]) -> Iterator[tuple[Period, Record]]:
    """Yield the years that a year's end had by and by, each with the version since which it had it."""
    before = min(of_end, key=lambda year: (age(year.shown), year.rank[-1]))  # of those of one filing, as they come
    yield before, before.shown
    if of_end[0] is not before and of_end[0].own is not None:
        yield of_end[0], of_end[0].own


def _periods(
    reported: Mapping[Span, Record], own: Mapping[Span, Record], ways: Mapping[Span, Sequence[_Way]]
) -> Iterator[Period]:
    """Yield the periods that are reported or derived, each with its rank among those of its end.

    The company's own come first, and of them what was its own first. Of those that one filing brought, what it reports
    comes before what it lets us derive. Of these, the one comes first whose parts are the same part of two years: three
    months are not that of 12 weeks. Then the one comes whose part was reported first.
    """
    for place, span in enumerate({**reported, **ways}):
        of_span, first = ways.get(span, ()), reported.get(span)
        by_report = max(own[span], first, key=age) if first is not None and span in own else None
        since = _oldest(by_report, *(way.own for way in of_span))
        shown = _oldest(first, *(way.parts.shown for way in of_span))
        if shown is None:
            continue
        tie: tuple[Any, ...] = (0, place)
        if since is not None and since is not by_report:
            by_sum = [way for way in of_span if way.own and age(way.own) == age(since)]
            is_another_part = all(_is_of_another_length(way.parts.plus[0], span) for way in by_sum)
            tie = 1, is_another_part, min(age(way.minus) for way in by_sum), span.start
        yield Period(span, tuple(way.parts for way in of_span), shown, since, (since is None, age(since or shown), tie))


def _is_of_another_length(year: Span, months: Span) -> bool:
    """Return whether twelve months are other weeks than the year that they are computed from."""
    return _difference(year, months) > _TYPED_OFF


def _with_others(
    periods: Iterable[Period], ways: Mapping[Span, Sequence[_Way]], same: Mapping[Span, Same]
) -> Iterator[Period]:
    """Yield the periods, each with the one that its days were proved to be."""
    for period in periods:
        proof = same.get(period.span)
        if proof is None:
            yield period
        else:
            of_other = tuple(way.parts for way in ways.get(proof.period, ()))
            yield period._replace(other=Other(proof.period, of_other, proof.shown))


def _retyped(book: Book, derived: Iterable[_Derived], every: Mapping[Span, Record]) -> Iterator[tuple[_Derived, Span]]:
    """Yield what is derived from days that are typed off, as the company's own period that is reported of right ones.

    With it comes the period that it was derived as.
    """
    for made in derived:
        (longer,), shorter = made.plus, made.minus
        for period, proof in _places(book, Span(shorter.days.end + DAY, longer.days.end)):
            if period.end != made.rest.end and period in every and period in book.own:
                retyped = made._replace(rest=period, proof=(book.own[period], every[period], *proof))
                if made.rest not in every or age(_shown_by(retyped)) < age(every[made.rest]):
                    yield retyped, made.rest


def _same_days(retyped: Iterable[tuple[_Derived, Span]]) -> Mapping[Span, Same]:
    """Return the period that each of these was proved to be, by the versions that show its parts and that period."""
    same = dict[Span, Same]()
    for made, rest in retyped:
        shown = _shown_by(made)
        if rest not in same or age(shown) < age(same[rest].shown):
            same[rest] = Same(made.rest, shown)
    return same


def _shown_by(made: _Derived) -> Record:
    """Return the version since which a period is derived."""
    return max(made.minus.shown, *(part.shown for part in made.plus), *made.proof, key=age)


def _oldest(*versions: Record | None) -> Record | None:
    there = [version for version in versions if version is not None]
    return min(there, key=age) if len(there) > 1 else next(iter(there), None)


def _by_end(periods: Iterable[Period], kind: Kind) -> list[list[Period]]:
    """Return the periods of a kind, those of one end together, in their order."""
    by_end: dict[date, list[Period]] = {}
    for period in periods:
        if period.span.start is not None and kind_of(*period.span) == kind:
            by_end.setdefault(period.span.end, []).append(period)
    return [in_order(of_end) if len(of_end) > 1 else of_end for of_end in by_end.values()]


def with_figures(period: Period, began: Record) -> Period:
    """Return a period as one that there is since it has figures, too."""
    shown = max(period.shown, began, key=age)
    own = None if period.own is None else max(period.own, began, key=age)
    return period._replace(shown=shown, own=own, rank=(own is None, age(own or shown), period.rank))


def in_order(of_end: Iterable[Period]) -> list[Period]:
    """Return the periods of an end, that first which it has.

    One that another was shown before has the place since it is the company's own.
    """
    ranked = sorted(of_end, key=lambda period: period.rank)
    for place, period in enumerate(ranked):
        is_later = any(age(other.shown) <= age(period.shown) for other in ranked[place + 1 :])
        if is_later and period.own is not None:
            ranked[place] = period._replace(chosen=(period.own,))
    return ranked


def _typed(book: Book, first: Mapping[Span, Record], own: Mapping[Span, Record]) -> list[_Typed]:
    """Return the days under which the periods of ``first`` are reported, in the order of dates."""
    since = {span: max(own[span], shown, key=age) for span, shown in first.items() if span in own}
    every = [_Typed(span, span, shown, since.get(span)) for span, shown in first.items()]
    for days, (period, proof) in book.same.items():
        if period in first:
            itself = since.get(period)
            is_own = None if itself is None else max(proof, itself, key=age)
            every.append(_Typed(days, period, max(proof, first[period], key=age), is_own))
    return sorted((typed for typed in every if typed.days.start is not None), key=lambda typed: typed.days)


def _ways(book: Book, every: Iterable[_Derived], reported: Mapping[Span, Record]) -> Mapping[Span, Sequence[_Way]]:
    """Return the ways to derive each period, each with what first showed it.

    Of parts that are not all the company's own, only a period that is reported is a sum.
    """
    ways = dict[Span, dict[tuple[tuple[Span, ...], Span], _Way]]()
    for rest, plus, minus, shown in every:
        parts, spans = (*plus, minus), (tuple(part.period for part in plus), minus.period)
        since = [part.own for part in parts if part.own is not None]
        for period, same in _places(book, rest):
            if period.end != rest.end:  # no item gets another end
                continue
            proof = (*same, *shown)
            own = max([*since, *proof], key=age) if len(since) == len(parts) else None
            first = own
            if period in reported:
                first = _oldest(own, max([reported[period], *(part.shown for part in parts), *proof], key=age))
            if first is not None:
                way, of_period = _Way(Parts(*spans, first), own, minus.shown), ways.setdefault(period, {})
                of_period[spans] = _first(of_period[spans], way) if spans in of_period else way
    return {span: _by_age([*of_period.values()]) for span, of_period in ways.items()}


def _by_age(ways: list[_Way]) -> list[_Way]:
    """Return the ways to derive a period, of which one of days that are proved later comes behind the others."""
    return sorted(ways, key=lambda way: age(way.parts.shown)) if len(ways) > 1 else ways


def _places(book: Book, rest: Span) -> Iterator[tuple[Span, tuple[Record, ...]]]:
    """Yield the period of days that are derived, and the one that they were proved to be, with the proof."""
    yield rest, ()
    same = book.same.get(rest)
    if same is not None:
        yield same.period, (same.shown,)


def _first(one: _Way, other: _Way) -> _Way:
    """Return a way by what shows first that it is one, of the days under which its parts are typed."""
    parts = min(one.parts, other.parts, key=lambda parts: age(parts.shown))
    return _Way(parts, _oldest(one.own, other.own), min(one.minus, other.minus, key=age))


def _by_start(every: Iterable[_Typed]) -> Mapping[date | None, Sequence[_Typed]]:
    by_start: dict[date | None, list[_Typed]] = {}
    for typed in every:
        by_start.setdefault(typed.days.start, []).append(typed)
    return by_start


def _quarters(years: Container[Span], every: Iterable[_Typed], short: Record | None) -> Iterator[_Derived]:
    """Yield the quarters that two periods of one beginning differ by, long ones if ``short`` shows some of 12 weeks."""
    parts = (one for one in every if one.period in years or kind_of(*one.period) in ("quarter", "ytd"))
    for together in _by_start(parts).values():
        for longer, shorter in permutations(together, 2):
            rest = Span(shorter.period.end + DAY, longer.period.end)
            if shorter.period.end < longer.period.end and kind_of(*rest) == "quarter":
                calendar = _calendar_of(rest, short)
                if calendar is not None:
                    yield _Derived(rest, (longer,), shorter, calendar)


def _twelve_months(years: Container[Span], every: Sequence[_Typed]) -> Iterator[_Derived]:
    """Yield the twelve months to each quarter's end: the year, and since its end, less the same part of the year."""
    by_start, stubs = _by_start(every), [one for one in every if _length(one.days) < WEEK and one.own is not None]
    for year in every:
        if year.period not in years:
            continue
        for since in by_start.get(year.days.end + DAY, ()):
            if kind_of(*since.period) not in ("quarter", "ytd"):
                continue
            for before in by_start[year.days.start]:
                made = _Derived(Span(before.period.end + DAY, since.period.end), (year, since), before)
                if _difference(before.days, since.days) <= _LEEWAY and not _has_stub(made, year.days.end, stubs):
                    yield made


def _has_stub(made: _Derived, end: date, stubs: Iterable[_Typed]) -> bool:
    """Return whether the year really ended before the typed ``end``.

    So it did if by then, when the last part of the sum was shown, some days to that end were a period of their own.
    """
    public = max(age(part.shown)[0] for part in (*made.plus, made.minus))
    return any(
        stub.days.start is not None and end - WEEK < stub.days.start and stub.days.end <= end
        for stub in stubs
        if stub.own is not None and age(stub.own)[0] <= public
    )


def _difference(one: Span, other: Span) -> timedelta:
    """Return by how much one of two periods is longer."""
    return abs(_length(one) - _length(other))


def _length(span: Span) -> timedelta:
    return timedelta() if span.start is None else span.end - span.start
