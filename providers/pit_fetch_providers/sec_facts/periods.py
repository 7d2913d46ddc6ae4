"""Tell a fact's kind of period by its dates, and find the fiscal periods of a company. Pure.

A period is fiscal if net income is reported for exactly its dates. Notes have other dates, too: pro forma, or of a
business until its sale. No figure is derived from such a period, and it never replaces a fiscal one.

``fp`` and ``fy`` are those of the filing, not of the fact, and are rewritten. Companies with 52 or 53 weeks have years
of 364 or 371 days, and quarters of 13 or 14 weeks, or three of 12 and one of 16 or 17 (COST, PEP).

>>> [period_kind(start, date(2024, 9, 28)) for start in (date(2024, 6, 30), date(2023, 10, 1), None)]
['quarter', 'annual', 'instant']
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from itertools import combinations, permutations
from typing import Literal, NamedTuple

PeriodKind = Literal["quarter", "annual", "ytd", "instant", ""]
PERIOD_KINDS: tuple[PeriodKind, ...] = ("annual", "quarter", "ytd", "instant")
Cadence = Literal["annual", "quarter", "ttm"]
CADENCES: tuple[Cadence, ...] = ("annual", "quarter", "ttm")

DAY, _WEEK = timedelta(days=1), timedelta(days=7)
_DAYS: tuple[tuple[PeriodKind, range], ...] = (
    ("quarter", range(80, 120)),  # 12 to 17 weeks; four months have at least 120 days
    ("ytd", range(165, 301)),  # two or three quarters of a fiscal year
    ("annual", range(350, 381)),
)
# By how many days the same quarters of two years can differ: a 53rd week.
_LEEWAY = 8


class FactPeriod(NamedTuple):
    """The dates of a figure, both included; without a start, an instant."""

    start: date | None
    end: date


class Derivation(NamedTuple):
    """Periods whose sum, less ``minus``, is another one, and the release since which all are reported, or fiscal."""

    plus: tuple[FactPeriod, ...]
    minus: FactPeriod
    release: int
    is_fiscal: bool = True


class Reported(NamedTuple):
    """The releases since which a period is reported, by an annual report, and with net income; None where never."""

    release: int
    annual: int | None
    fiscal: int | None

    def join(self, other: Reported) -> Reported:
        """Return since when a period is reported by two concepts."""
        annual, fiscal = _oldest(self.annual, other.annual), _oldest(self.fiscal, other.fiscal)
        return Reported(min(self.release, other.release), annual, fiscal)


class Candidate(NamedTuple):
    """A period that an item can be of: reported or derived."""

    period: FactPeriod
    reported: Reported | None
    derivations: tuple[Derivation, ...] = ()


def period_kind(start: date | None, end: date) -> PeriodKind:
    """Return the kind of the period from ``start`` to ``end``, both included; "" for one of another length."""
    if start is None:
        return "instant"
    days = (end - start).days + 1
    return next((kind for kind, lengths in _DAYS if days in lengths), "")


def _length(period: FactPeriod) -> int:
    return 0 if period.start is None else (period.end - period.start).days + 1


def candidates(every: Mapping[FactPeriod, Reported], cadence: Cadence) -> Mapping[date, Sequence[Candidate]]:
    """Return the periods that items of ``cadence`` can be of, by their ends."""
    kinds = {period: period_kind(*period) for period in every}
    # A year is one that an annual report has: notes to quarterly ones have twelve months, too.
    years = {
        period: of._replace(release=of.annual, fiscal=None if of.fiscal is None else max(of.annual, of.fiscal))
        for period, of in every.items()
        if kinds[period] == "annual" and of.annual is not None
    }
    parts = {period: of for period, of in every.items() if kinds[period] in ("quarter", "ytd")}
    fiscal = {period: of.fiscal for period, of in {**parts, **years}.items() if of.fiscal is not None}
    quarters = {period: of for period, of in parts.items() if kinds[period] == "quarter"}
    reported = quarters if cadence == "quarter" else years
    ways: dict[FactPeriod, list[Derivation]] = {}
    if cadence != "annual":
        derive = _quarters if cadence == "quarter" else _twelve_months
        for period, way in derive(fiscal):
            ways.setdefault(period, []).append(way)
        # Nothing is derived from others, but a cell of a reported period says so.
        for period, way in derive({period: of.release for period, of in {**parts, **years}.items()}):
            if period in reported and way not in ways.get(period, ()):
                ways.setdefault(period, []).append(way._replace(is_fiscal=False))
    for of_period in ways.values():
        of_period.sort(key=lambda way: (not way.is_fiscal, way.release))
    by_end: dict[date, list[Candidate]] = {}
    for period in {**reported, **ways}:
        candidate = Candidate(period, reported.get(period), tuple(ways.get(period, ())))
        by_end.setdefault(period.end, []).append(candidate)
    return by_end


def near_periods(every: Mapping[FactPeriod, Reported]) -> Mapping[FactPeriod, Mapping[FactPeriod, int]]:
    """Return the fiscal periods, and their ends, whose dates are a few days apart, and since which release they are.

    One of the two has a typing error, or the company made a fresh start.
    """
    near: dict[FactPeriod, dict[FactPeriod, int]] = {}
    fiscal = [(period, of.fiscal) for period, of in every.items() if of.fiscal is not None and period_kind(*period)]
    fiscal.sort(key=lambda made: made[0].end)
    for place, (period, since) in enumerate(fiscal):
        for other, of_other in fiscal[place + 1 :]:
            if other.end - period.end >= _WEEK:
                break
            if abs(_length(period) - _length(other)) < _WEEK.days:
                release = max(since, of_other)
                ends = [FactPeriod(None, made.end) for made in (period, other)] if period.end != other.end else []
                for one, another in (*permutations((period, other), 2), *permutations(ends, 2)):
                    of_one = near.setdefault(one, {})
                    of_one[another] = min(release, of_one.get(another, release))
    return near


def order_periods(of_end: Iterable[Candidate], sees: Callable[[int | None], bool]) -> list[Candidate]:
    """Return the periods of one end that a release ``sees``, that first which the item is of.

    Fiscal periods come first, and of them the one that was fiscal first. Of those that one filing brought, what it
    reports comes before what can be derived.
    """
    ranked = list[tuple[bool, int, bool, FactPeriod, Candidate]]()
    for candidate in of_end:
        reported, ways = candidate.reported, [way for way in candidate.derivations if way.is_fiscal]
        of_report = reported.fiscal if reported is not None and sees(reported.fiscal) else None
        since = _oldest(of_report, ways[0].release if ways and sees(ways[0].release) else None)
        if since is not None:
            ranked.append((False, since, since != of_report, candidate.period, candidate))
        elif reported is not None and sees(reported.release):
            ranked.append((True, reported.release, False, candidate.period, candidate))
    return [candidate for *_, candidate in sorted(ranked, key=lambda made: made[:-1])]


def _oldest(*releases: int | None) -> int | None:
    return min((release for release in releases if release is not None), default=None)


def _quarters(fiscal: Mapping[FactPeriod, int]) -> Iterator[tuple[FactPeriod, Derivation]]:
    """Yield the quarters that two fiscal periods of one beginning differ by."""
    for together in group_by_start(fiscal).values():
        for shorter, longer in combinations(sorted(together), 2):
            rest = FactPeriod(shorter.end + DAY, longer.end)
            if period_kind(*rest) == "quarter":
                yield rest, Derivation((longer,), shorter, max(fiscal[longer], fiscal[shorter]))


def _twelve_months(fiscal: Mapping[FactPeriod, int]) -> Iterator[tuple[FactPeriod, Derivation]]:
    """Yield the twelve months to each quarter's end: a year, and what came since, less the same part of the year."""
    starting = group_by_start(fiscal)
    for year in fiscal:
        if period_kind(*year) != "annual":
            continue
        for since in starting.get(year.end + DAY, ()):
            for before in starting[year.start]:
                if period_kind(*since) != "annual" and abs(_length(before) - _length(since)) <= _LEEWAY:
                    release = max(fiscal[year], fiscal[since], fiscal[before])
                    yield FactPeriod(before.end + DAY, since.end), Derivation((year, since), before, release)


def group_by_start(periods: Iterable[FactPeriod]) -> Mapping[date | None, Sequence[FactPeriod]]:
    """Return the periods by the days on which they begin."""
    starting: dict[date | None, list[FactPeriod]] = {}
    for period in periods:
        starting.setdefault(period.start, []).append(period)
    return starting
