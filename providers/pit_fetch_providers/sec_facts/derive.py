"""Take the figure of a line from what is reported of a period, or derive it from longer periods. Pure.

A figure is derived only where that is safe: an amount of money, whose parts are reported under one concept, were never
restated, add up with what is reported beside them, and are not rounded. Else it is left out, with the reason.

>>> zeros(5_000_000_000), zeros(2_490_000_000), zeros(12.5)
(9, 7, -1)
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations, product
from typing import Any, Literal, NamedTuple

from pit_fetch.provider import Record
from pit_fetch_providers.sec_facts.facts import History, Ledger, View, accession_of, age, concept_of
from pit_fetch_providers.sec_facts.lines import Line
from pit_fetch_providers.sec_facts.periods import DAY, Derivation, Period, by_start

# Why a cell is null although there are figures of it.
# restated: the parts of a sum are of two bases, contradicted: they do not add up with what is reported beside them,
# renamed: they are under different concepts, rounded: one of them is, as notes round,
# not_additive: it is per share, or a number of shares, not_fiscal: a part has no net income of its dates,
# incomplete: something is reported beside the parts of the sum,
# two_values: one filing has several values of the line, unproved: what is reported may be another measure,
# other_dates: the period is reported under dates a few days apart, unreadable: a filing has a value that is no number.
Reason = Literal[
    "restated",
    "contradicted",
    "renamed",
    "two_values",
    "not_additive",
    "not_fiscal",
    "rounded",
    "incomplete",
    "unproved",
    "other_dates",
    "unreadable",
]
# A value in millions that was in thousands before differs by less than this share of it.
_ROUNDING = 0.001
# A note says "$5.0 billion" where the statement has millions. One amount in a thousand ends on three more zeros than
# another by chance.
_ZEROS_OF_A_NOTE = 3


class Cell(NamedTuple):
    """A figure of a statement, and the versions that it was taken or computed from."""

    value: int | float
    inputs: tuple[Record, ...]
    is_derived: bool = False
    is_restated: bool = False


class Omission(NamedTuple):
    """The reason why a cell is null although there are figures of it."""

    reason: Reason


class Figures(NamedTuple):
    """What is public of a line for one period: the versions under each concept, oldest first.

    reason  why they do not tell which value is the line's; "" if they do
    """

    by_concept: Mapping[str, Sequence[Record]]
    is_restated: bool = False
    reason: Reason | Literal[""] = ""

    @property
    def oldest(self) -> Record:
        return min((versions[0] for versions in self.by_concept.values()), key=age)


def figures(view: View, line: Line, period: Period, unit: str) -> Figures | None:
    """Return what is public of a line for a period; None if nothing.

    Where another value is reported under dates a few days apart, they do not tell which is the period's.
    """
    known = _figures_of_dates(view, line, period, unit)
    for other, release in view.ledger.near.get(period, {}).items():
        there = _figures_of_dates(view, line, other, unit) if view.sees(release) else None
        if there is not None and (known is None or _values(known) != _values(there)):
            return Figures({}, reason=(known and known.reason) or "other_dates")
    return known


def _values(known: Figures) -> tuple[bool, Collection[Any]]:
    values = {version.payload["value"] for versions in known.by_concept.values() for version in versions}
    return known.is_restated, values


def _figures_of_dates(view: View, line: Line, period: Period, unit: str) -> Figures | None:
    """Return what is public of a line for exactly the dates, without concepts that are other measures of it."""
    ledger = view.ledger
    if ledger.unreadable and any(view.sees(ledger.unreadable.get((name, unit, period))) for name in line.concepts):
        return Figures({}, reason="unreadable")
    found = dict[str, History]()
    for name in line.concepts:
        of_concept = ledger.histories.get(name)  # companies use one or two of the names
        if of_concept is not None and (history := of_concept.get((unit, period))) and view.sees(history.releases[0]):
            found[name] = history
    if found.keys() <= set(line.narrow):  # all there is, or nothing
        others = (ledger.histories.get(name, {}).get((unit, period)) for name in line.beside if found)
        wider = (ledger.histories.get(name, {}).get((unit, period)) for name in line.wider if not found)
        if any(made is not None and view.sees(made.releases[0]) for made in (*others, *wider)):
            return Figures({}, reason="unproved")
    if not found:
        return None
    is_restated = any(view.sees(history.restated) for history in found.values())
    if len(found) == 1 and ledger.is_first:  # of the later versions, nothing else matters
        ((name, history),) = found.items()
        return Figures({name: history.versions[:1]}, is_restated)
    known = {name: view.public(history) for name, history in found.items()}
    values = {versions[0].payload["value"] for versions in known.values()}
    made = Figures(known, is_restated or len(values) > 1)
    return _one_measure(line, made) if len(known) > 1 and made.is_restated and _has_two_values(known) else made


def reported(view: View, known: Figures) -> Cell:
    """Return the cell that filings report; of several concepts, the newest filing decides, or the first."""
    if view.ledger.is_first:
        version = known.oldest
    else:
        version = max((versions[-1] for versions in known.by_concept.values()), key=age)
    return Cell(version.payload["value"], (version,), is_restated=known.is_restated)


def derived(view: View, line: Line, ways: Iterable[Derivation], currency: str) -> Cell | Omission | None:
    """Return the figure that the first possible way derives, or else why none does; None if a part is not reported."""
    omission: Omission | None = None
    for way in ways:
        if not view.sees(way.release):
            continue
        made = _derived(view, line, way, currency)
        if isinstance(made, Cell):
            return made
        omission = omission or made
    return omission


def total(values: Collection[int | float]) -> int | float:
    """Return the sum of amounts as they are written: a small company's have cents, which floats do not add exactly."""
    if all(isinstance(value, int) for value in values):
        return sum(values)
    from decimal import Decimal

    return float(sum(Decimal(str(value)) for value in values))


def zeros(amount: int | float) -> int:
    """Return the number of zeros at the end of an amount; less than none are digits behind the point."""
    whole = int(amount)
    if whole != amount:
        return -len(str(amount).partition(".")[2])
    digits = str(whole)
    return len(digits) - len(digits.rstrip("0"))


def _derived(view: View, line: Line, way: Derivation, currency: str) -> Cell | Omission | None:
    parts, unit = list[Figures](), line.unit(currency)
    for period in (*way.plus, way.minus):
        known = view.remember((unit, line.name, period), partial(figures, line=line, period=period, unit=unit))
        if known is None:
            return None
        parts.append(known)
    if reasons := [part.reason for part in parts if part.reason]:
        return Omission(reasons[0])
    if line.measure != "amount":
        return Omission("not_additive")
    if not way.is_fiscal:
        return Omission("not_fiscal")
    shared = [name for name in parts[0].by_concept if all(name in part.by_concept for part in parts)]
    if not shared:
        return Omission("renamed")
    if any(part.is_restated for part in parts) or _is_recast(view, line, unit, parts):
        return Omission("restated")
    if any(_is_contradicted(view, line, name, unit, way) for name in shared):
        return Omission("contradicted")
    counts = [zeros(amount) for part in parts if (amount := part.oldest.payload["value"])]
    if counts and max(counts) - min(counts) >= _ZEROS_OF_A_NOTE:
        return Omission("rounded")
    place, choose = (0, min) if view.ledger.is_first else (-1, max)
    inputs = [tuple(part.by_concept[name][place] for part in parts) for name in shared]
    chosen = choose(inputs, key=lambda versions: max(map(age, versions)))
    *plus, minus = (version.payload["value"] for version in chosen)
    return Cell(total([*plus, -minus]), chosen, is_derived=True)


def _has_two_values(by_concept: Mapping[str, Sequence[Record]]) -> bool:
    """Return whether one filing has several values of the line."""
    values: dict[str, Any] = {}
    every = (version for versions in by_concept.values() for version in versions)
    return any(values.setdefault(accession_of(made), made.payload["value"]) != made.payload["value"] for made in every)


def _one_measure(line: Line, known: Figures) -> Figures:
    """Return the figures under the defining concept of a line of which a filing has several values.

    If there is none, or if a filing without it has a value that no filing had with it, the facts do not tell which of
    them the statement shows.
    """
    defining = known.by_concept.get(line.defining, ())
    with_it = set(map(accession_of, defining))
    every = [version for versions in known.by_concept.values() for version in versions]
    told = {version.payload["value"] for version in every if accession_of(version) in with_it}
    whole = {accession_of(version): version.payload["value"] for version in defining}
    is_a_part = any(
        abs(made.payload["value"]) > abs(whole.get(accession_of(made), made.payload["value"])) for made in every
    )
    if is_a_part or any(version.payload["value"] not in told for version in every):
        return known._replace(reason="two_values")
    return Figures({line.defining: defining}, len({version.payload["value"] for version in defining}) > 1)


def _is_recast(view: View, line: Line, unit: str, parts: Iterable[Figures]) -> bool:
    """Return whether a filing that first brought a part restated the line for another period.

    A company that sold a business restates the year before, but not the nine months before the year's report.
    """
    recasts = view.remember(("recasts", line.name, unit), lambda view: _recasts(view.ledger, line, unit))
    return any(view.sees(recasts.get(accession_of(part.oldest))) for part in parts)


def _recasts(ledger: Ledger, line: Line, unit: str) -> Mapping[str, int]:
    """Return the filings that report another value of a line than before for some period, and since which release.

    That of the filing itself is not told apart from 0. Under dates a few days apart, a value is of the same period.
    """
    by_period: dict[Period, list[History]] = {}
    for name in line.concepts:
        for period, history in _histories(ledger, name, unit).items():
            by_period.setdefault(period, []).append(history)
    found: dict[str, int] = {}
    for period, histories in by_period.items():
        near = ledger.near.get(period, {}).items()
        together = [(0, histories), *((since, histories + by_period.get(other, [])) for other, since in near)]
        for since, every in together:
            found |= {filing: min(since, found.get(filing, since)) for filing in _restating(every)}
    return found


def _histories(ledger: Ledger, concept: str, unit: str) -> Mapping[Period, History]:
    return {period: made for (of, period), made in ledger.histories.get(concept, {}).items() if of == unit}


def _restating(histories: Sequence[History]) -> Iterator[str]:
    """Yield the filings that change the value of a concept for a period, or have one that no concept had before."""
    if len(histories) == 1 and histories[0].restated is None:  # mostly
        return
    by_filing: dict[str, dict[str, Any]] = {}
    for version in sorted((version for history in histories for version in history.versions), key=age):
        by_filing.setdefault(accession_of(version), {})[concept_of(version)] = version.payload["value"]
    last, before = dict[str, Any](), dict[str, Any]()
    for filing, values in by_filing.items():
        is_changed = any(_differ(last.get(name, value), value) for name, value in values.items())
        if is_changed or (before and all(_differ(*two) for two in product(before.values(), values.values()))):
            yield filing
        last, before = {**last, **values}, values


def _differ(previous: float, value: float) -> bool:
    """Return whether a value was restated, by more than the unit in which it is told."""
    return abs(value - previous) > _ROUNDING * abs(previous)


def _is_contradicted(view: View, line: Line, concept: str, unit: str, way: Derivation) -> bool:
    """Return whether a period that the sum is about is not what its two parts are together, by their first values.

    MRVL's expenses of the first quarter of 2022 were 235.7 million and those of the second 211.7, but 432.4 those of
    the half year: one of them is of another basis, although no filing reports it anew.
    """
    contradicted = view.remember(
        ("contradicted", concept, unit), lambda view: contradictions(view.ledger, line, concept, unit)
    )
    year, *added = way.plus
    return any(
        view.sees(found.by_concept) if view.sees(found.complete) else view.sees(found.by_line)
        for found in contradicted
        if found.whole in added or (found.whole.start == year.start and way.minus.end < found.whole.end <= year.end)
    )


class Contradiction(NamedTuple):
    """A period that is not what two parts are together.

    by_line     the release since which the line's first figures show that; None if they do not
    complete    the release since which the concept has all three
    by_concept  the release since which its own first figures show it, which count as soon as they are complete
    """

    whole: Period
    by_line: int | None
    complete: int | None
    by_concept: int | None


def contradictions(ledger: Ledger, line: Line, concept: str, unit: str) -> Sequence[Contradiction]:
    """Return the contradictions among the first figures of a line, and among those of one of its concepts."""
    own, first = _histories(ledger, concept, unit), dict[Period, History]()
    for name in line.concepts:
        for period, history in _histories(ledger, name, unit).items():
            if period not in first or age(history.versions[0]) < age(first[period].versions[0]):
                first[period] = history
    found = list[Contradiction]()
    for together in by_start(period for period in first if period.start is not None).values():
        for part, whole in combinations(sorted(together), 2):
            three = (part, Period(part.end + DAY, whole.end), whole)
            if three[1] in first:
                by_line = _contradicting([first[period] for period in three])
                of_own = [own[period] for period in three if period in own]
                complete = max(made.releases[0] for made in of_own) if len(of_own) == len(three) else None
                by_concept = None if complete is None else _contradicting(of_own)
                if (by_line, by_concept) != (None, None):
                    found.append(Contradiction(whole, by_line, complete, by_concept))
    return found


def _contradicting(three: Sequence[History]) -> int | None:
    """Return the release since which two first amounts are not a third one; None if they are, but for rounding."""
    part, rest, whole = amounts = [history.versions[0].payload["value"] for history in three]
    finest = min((zeros(amount) for amount in amounts if amount), default=0)
    is_alike = abs(total([part, rest, -whole])) <= max(2 * 10.0**finest, _ROUNDING * abs(whole))
    return None if is_alike else max(history.releases[0] for history in three)
