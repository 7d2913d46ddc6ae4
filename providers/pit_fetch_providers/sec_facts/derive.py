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
from pit_fetch_providers.sec_facts.periods import DAY, Derivation, FactPeriod, group_by_start

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
_CENT = 0.0051  # half of one, by which earnings per share are rounded
# A note says "$5.0 billion" where the statement has millions. One amount in a thousand ends on three more zeros than
# another by chance.
_ZEROS_OF_A_NOTE = 3


class Cell(NamedTuple):
    """A figure of a statement, and the versions that it was taken or computed from."""

    value: int | float
    inputs: tuple[Record, ...]
    is_derived: bool = False
    is_restated: bool = False
    is_substitute: bool = False  # of the line's substitute: no part of a sum


class Figures(NamedTuple):
    """What is public of a line for one period: the versions under each concept, oldest first.

    reason  why they do not tell which value is the line's; "" if they do
    """

    by_concept: Mapping[str, Sequence[Record]]
    is_restated: bool = False
    reason: Reason | Literal[""] = ""

    @property
    def oldest(self) -> Record:
        first = [versions[0] for versions in self.by_concept.values()]
        return first[0] if len(first) == 1 else min(first, key=age)


def line_figures(view: View, line: Line, period: FactPeriod, unit: str) -> Figures | None:
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


def _figures_of_dates(view: View, line: Line, period: FactPeriod, unit: str) -> Figures | None:
    """Return what is public of a line for exactly the dates, without concepts that are other measures of it."""
    ledger = view.ledger
    if ledger.unreadable and any(view.sees(ledger.unreadable.get((name, unit, period))) for name in line.concepts):
        return Figures({}, reason="unreadable")
    found = _public_histories(view, line.concepts, unit, period)
    if found.keys() <= set(line.narrow):  # all there is, or nothing
        if _public_histories(view, line.beside if found else line.wider, unit, period):
            return Figures({}, reason="unproved")
        if not found:
            return None
    if line.minorities and (instead := _check_minorities(view, line, found, unit, period)):
        return instead
    is_restated = any(view.sees(history.restated) for history in found.values())
    if len(found) == 1 and ledger.is_first:  # of the later versions, nothing else matters
        ((name, history),) = found.items()
        return Figures({name: history.versions[:1]}, is_restated)
    known = {name: view.public(history) for name, history in found.items()}
    if len(known) == 1:
        return Figures(known, is_restated)
    values = {versions[0].payload["value"] for versions in known.values()}
    made = Figures(known, is_restated or len(values) > 1)
    return _keep_total(view, line, made) if made.is_restated else made


def _public_histories(view: View, concepts: Iterable[str], unit: str, period: FactPeriod) -> dict[str, History]:
    found = dict[str, History]()
    for name in concepts:
        of_concept = view.ledger.histories.get(name)  # companies use one or two of the names
        if of_concept is not None and (history := of_concept.get((unit, period))) and view.sees(history.releases[0]):
            found[name] = history
    return found


def _check_minorities(
    view: View, line: Line, found: Mapping[str, History], unit: str, period: FactPeriod
) -> Figures | None:
    """Return the figures in the place of ``found`` if a filing has the minorities' part with the wrong sign (NICE).

    The total is then the line, if it is what earnings per share are of.
    """
    minority_histories = _public_histories(view, (line.minorities,), unit, period)
    total_histories = _public_histories(view, line.wider, unit, period) if minority_histories else {}
    if not total_histories:
        return None
    ((name, history),) = list(total_histories.items())[:1]
    net, total, minorities = (
        {accession_of(made): made.payload["value"] for made in view.public(next(iter(histories.values())))}
        for histories in (found, total_histories, minority_histories)
    )
    if not any(minorities.get(filing) and total.get(filing) == net[filing] - minorities[filing] for filing in net):
        return None
    if all(_is_per_share(view, amount, unit, period) for amount in total.values()):
        return Figures({name: view.public(history)}, view.sees(history.restated))
    return Figures({}, reason="contradicted")


def _is_per_share(view: View, amount: int | float, unit: str, period: FactPeriod) -> bool:
    """Return whether all earnings per share of a period are those of an amount, but for their rounding."""
    earnings = _public_histories(view, ("us-gaap:EarningsPerShareBasic",), f"{unit}/shares", period)
    shares = _public_histories(view, ("us-gaap:WeightedAverageNumberOfSharesOutstandingBasic",), "shares", period)
    rates, counts = (
        [made.payload["value"] for history in histories.values() for made in view.public(history)]
        for histories in (earnings, shares)
    )
    pairs = list(product(rates, counts))
    return bool(pairs) and all(count and abs(amount / count - rate) <= _CENT for rate, count in pairs)


def reported_cell(view: View, known: Figures) -> Cell:
    """Return the cell that filings report; of several concepts, the newest filing decides, or the first."""
    if view.ledger.is_first:
        version = known.oldest
    else:
        version = max((versions[-1] for versions in known.by_concept.values()), key=age)
    return Cell(version.payload["value"], (version,), is_restated=known.is_restated)


def derive_cell(view: View, line: Line, ways: Iterable[Derivation], currency: str) -> Cell | Reason | None:
    """Return the figure that the first possible way derives, or else why none does; None if a part is not reported."""
    reason: Reason | None = None
    for way in ways:
        if view.sees(way.release):
            made = _derive_one_way(view, line, way, currency)
            if isinstance(made, Cell):
                return made
            reason = reason or made
    return reason


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


def _derive_one_way(view: View, line: Line, way: Derivation, currency: str) -> Cell | Reason | None:
    parts, unit = list[Figures](), line.unit(currency)
    for period in (*way.plus, way.minus):
        known = view.remember((unit, line.name, period), partial(line_figures, line=line, period=period, unit=unit))
        if known is None:
            return None
        parts.append(known)
    if reasons := [part.reason for part in parts if part.reason]:
        return reasons[0]
    if line.measure != "amount":
        return "not_additive"
    if not way.is_fiscal:
        return "not_fiscal"
    shared = [name for name in parts[0].by_concept if all(name in part.by_concept for part in parts)]
    if not shared and not _are_synonyms(view, line, unit, {name for part in parts for name in part.by_concept}):
        return "renamed"
    if any(part.is_restated for part in parts) or _is_recast(view, line, unit, parts):
        return "restated"
    if any(_is_contradicted(view, line, name, unit, way) for name in shared or line.concepts):
        return "contradicted"
    counts = [zeros(amount) for part in parts if (amount := part.oldest.payload["value"])]
    if counts and max(counts) - min(counts) >= _ZEROS_OF_A_NOTE:
        return "rounded"
    place, choose = (0, min) if view.ledger.is_first else (-1, max)
    by_name = [tuple(part.by_concept[name][place] for part in parts) for name in shared]
    any_name = tuple(choose((versions[place] for versions in part.by_concept.values()), key=age) for part in parts)
    chosen = choose(by_name or [any_name], key=lambda versions: max(map(age, versions)))
    *plus, minus = (version.payload["value"] for version in chosen)
    return Cell(total([*plus, -minus]), chosen, is_derived=True)


def _keep_total(view: View, line: Line, known: Figures) -> Figures:
    """Return the figures under one concept, if a filing has several values of the line: the largest is all of it.

    The facts do not tell which value the statement shows if the largest is under no concept that can be the total, or
    if a filing without that concept has a value that no filing had with it, and is the one that counts.
    """
    by_filing: dict[str, dict[str, Any]] = {}
    for version in sorted((made for versions in known.by_concept.values() for made in versions), key=age):
        by_filing.setdefault(accession_of(version), {})[concept_of(version)] = version.payload["value"]
    if all(len(set(values.values())) == 1 for values in by_filing.values()):
        return known
    for total in line.totals:
        with_total = [values for values in by_filing.values() if total in values]
        if with_total and all(_is_total(values[total], values.values()) for values in with_total):
            told = {value for values in with_total for value in values.values()}
            filings = list(by_filing.values()) if view.ledger.is_first else list(by_filing.values())[::-1]
            counting = filings[: filings.index(with_total[0 if view.ledger.is_first else -1])]
            if any(value not in told for values in counting for value in values.values()):
                break
            is_restated = any(value not in told for values in filings for value in values.values())
            totals = {values[total] for values in with_total}
            return Figures({total: known.by_concept[total]}, is_restated or len(totals) > 1)
    return known._replace(reason="two_values")


def _are_synonyms(view: View, line: Line, unit: str, names: Collection[str]) -> bool:
    """Return whether filings report one value under both of any two names, and none reports two."""
    alike, differing = view.remember(
        ("synonyms", line.name, unit), lambda view: _compare_names(view.ledger, line, unit)
    )
    pairs = list(map(frozenset, combinations(names, 2)))
    return all(view.sees(alike.get(pair)) for pair in pairs) and not any(
        view.sees(differing.get(pair)) for pair in pairs
    )


def _compare_names(ledger: Ledger, line: Line, unit: str) -> tuple[Mapping[frozenset[str], int], ...]:
    """Return the pairs of names with one value in a filing, and those with two, with the first release of such."""
    values: dict[tuple[int, str, FactPeriod], dict[str, Any]] = {}
    for name in line.concepts:
        for period, history in _histories(ledger, name, unit).items():
            for version, release in zip(history.versions, history.releases, strict=True):
                values.setdefault((release, accession_of(version), period), {})[name] = version.payload["value"]
    alike, differing = dict[frozenset[str], int](), dict[frozenset[str], int]()
    for (release, *_), by_name in values.items():
        for one, other in combinations(by_name, 2):
            known = alike if by_name[one] == by_name[other] else differing
            pair = frozenset((one, other))
            known[pair] = min(release, known.get(pair, release))
    return alike, differing


def _is_total(amount: int | float, amounts: Collection[int | float]) -> bool:
    """Return whether an amount is the largest, and not one that a note rounded."""
    others = [zeros(other) for other in amounts if other not in (0, amount)]
    return abs(amount) == max(map(abs, amounts)) and zeros(amount) < min(others, default=99) + _ZEROS_OF_A_NOTE


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
    by_period: dict[FactPeriod, list[History]] = {}
    for name in line.concepts:
        for period, history in _histories(ledger, name, unit).items():
            by_period.setdefault(period, []).append(history)
    found: dict[str, int] = {}
    for period, histories in by_period.items():
        near = ledger.near.get(period, {}).items()
        together = [(0, histories), *((since, histories + by_period.get(other, [])) for other, since in near)]
        for since, every in together:
            found |= {filing: min(since, found.get(filing, since)) for filing in _restating_filings(every)}
    return found


def _histories(ledger: Ledger, concept: str, unit: str) -> Mapping[FactPeriod, History]:
    return {period: made for (of, period), made in ledger.histories.get(concept, {}).items() if of == unit}


def _restating_filings(histories: Sequence[History]) -> Iterator[str]:
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
    found = view.remember(
        ("contradicted", concept, unit), lambda view: contradictions(view.ledger, line, concept, unit)
    )
    year, *added = way.plus
    return any(
        view.sees(by_concept) if view.sees(complete) else view.sees(by_line)
        for whole, by_line, complete, by_concept in found
        if whole in added or (whole.start == year.start and way.minus.end < whole.end <= year.end)
    )


def contradictions(
    ledger: Ledger, line: Line, concept: str, unit: str
) -> Sequence[tuple[FactPeriod, int | None, int | None, int | None]]:
    """Return the periods that are not what two parts of them are together.

    Behind each are the releases since which the line's first figures show that, since which the concept has all three,
    and since which its own first figures show it: they count as soon as they are complete.
    """
    own, first = _histories(ledger, concept, unit), dict[FactPeriod, History]()
    for name in line.concepts:
        for period, history in _histories(ledger, name, unit).items():
            if period not in first or age(history.versions[0]) < age(first[period].versions[0]):
                first[period] = history
    found = []
    for together in group_by_start(period for period in first if period.start is not None).values():
        for part, whole in combinations(sorted(together), 2):
            three = (part, FactPeriod(part.end + DAY, whole.end), whole)
            if three[1] in first:
                by_line = _find_contradiction([first[period] for period in three])
                of_own = [own[period] for period in three if period in own]
                complete = max(made.releases[0] for made in of_own) if len(of_own) == len(three) else None
                by_concept = None if complete is None else _find_contradiction(of_own)
                if (by_line, by_concept) != (None, None):
                    found.append((whole, by_line, complete, by_concept))
    return found


def _find_contradiction(three: Sequence[History]) -> int | None:
    """Return the release since which two first amounts are not a third one; None if they are, but for rounding."""
    part, rest, whole = amounts = [history.versions[0].payload["value"] for history in three]
    finest = min((zeros(amount) for amount in amounts if amount), default=0)
    is_alike = abs(total([part, rest, -whole])) <= max(2 * 10.0**finest, _ROUNDING * abs(whole))
    return None if is_alike else max(history.releases[0] for history in three)
