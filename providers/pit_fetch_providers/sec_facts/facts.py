"""Read a company's XBRL facts, and choose among their vintages: the newest, the first, or all of them. Pure.

A fact is a taxonomy, a concept, a unit and a period. Each filing that reports it is a version of it, public since the
release of that filing. Only what a filing itself fixed is read. ``frame``, ``fy``, ``fp``, ``entityName``, labels and
the length of a list are written, or rewritten, by later filings: ``frame`` stands on the last version of a fact, so it
tells that none follows.

What chooses among versions receives the records of those that were public, so that no choice can rest on a later one.

>>> row = {"end": "2024-09-28", "val": 5, "accn": "0000320193-24-000123", "form": "10-K", "filed": "2024-11-01"}
>>> [version] = versions({"us-gaap": {"Assets": {"units": {"USD": [row]}}}}, lambda taxonomy, concept: True)
>>> version.payload["concept"], version.payload["value"], version.payload["form"]
('Assets', 5, '10-K')
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeVar, cast

from pit_fetch.gaps import Code, Gap, gap
from pit_fetch.provider import Record, UpstreamError
from pit_fetch.times import parse_date
from pit_fetch.wire import lenient_json
from pit_fetch_providers.edgar.numbers import ACCESSION, CIK
from pit_fetch_providers.sec_facts.lines import ANCHORS, PROFITS
from pit_fetch_providers.sec_facts.periods import Cadence, FactPeriod, Reported, near_periods, period_kind

Vintage = Literal["latest", "first", "all"]
# The order in which a concept that is named without its taxonomy is looked up.
TAXONOMIES = ("us-gaap", "ifrs-full", "dei")
# Containers around a value of a row: {"facts": {taxonomy: {concept: {"units": {unit: [{"val": …}, …]}}}}}. One that
# cannot be read must not take its row with it: the row tells of a version, in whose place no older one may stand.
_VALUES = 7
# Reports, and the current reports that recast them. A proxy statement tags single figures again, for its tables of
# pay, and sometimes a thousand times too small. A prospectus repeats figures of reports.
REPORTS = frozenset({"10-K", "10-KT", "10-Q", "10-QT", "20-F", "40-F", "6-K", "8-K"})
# No amount is larger, and no sum of such is too large for a float.
_LARGEST = 10**100
_ANNUAL_REPORTS = frozenset({"10-K", "10-KT", "20-F", "40-F"})
# The same dates end one fact after another.
_day = lru_cache(maxsize=4096)(date.fromisoformat)
_LONG_AGO = datetime.min.replace(tzinfo=UTC)
_Computed = TypeVar("_Computed")
_Container = TypeVar("_Container", dict[str, Any], list[Any])
_CIK = re.compile(CIK)
_ACCESSION = re.compile(ACCESSION)


class Version(NamedTuple):
    """A fact as one filing reports it: the fields of its record, and the filing day."""

    payload: dict[str, Any]
    filed: date


class CompanyFacts(NamedTuple):
    """A companyfacts reply: the company's number, and its taxonomies as they were sent."""

    cik: int
    taxonomies: dict[str, Any]


def document(body: bytes) -> CompanyFacts:
    """Return a decoded companyfacts reply. Raise UpstreamError for any other document."""
    decoded = lenient_json(body, _VALUES)
    decoded = decoded if isinstance(decoded, dict) else {}
    cik, taxonomies = str(decoded.get("cik")), decoded.get("facts")  # a number, or a text of ten digits
    if not isinstance(taxonomies, dict) or not _CIK.fullmatch(cik):
        raise UpstreamError(Code.MALFORMED, problem="it is not a company's facts")
    return CompanyFacts(int(cik), taxonomies)


def versions(taxonomies: dict[str, Any], wanted: Callable[[str, str], bool]) -> Iterator[Version | None]:
    """Yield every version of the facts whose taxonomy and concept are ``wanted``; None for an unreadable row.

    Raise UpstreamError if what may hold such a version is of another type: a concept would seem never to be reported.
    """
    for taxonomy, concepts in taxonomies.items():
        for concept, described in _require_container(concepts, dict).items():
            if not wanted(taxonomy, concept):
                continue
            for unit, rows in _require_container(_require_container(described, dict).get("units"), dict).items():
                for row in _require_container(rows, list):
                    version = version_in(row, taxonomy, concept, unit)
                    if version is None or version.payload["form"].removesuffix("/A") in REPORTS:
                        yield version


def _require_container(value: Any, kind: type[_Container]) -> _Container:
    if not isinstance(value, kind):
        raise UpstreamError(Code.MALFORMED, problem="it is not a company's facts")
    return value


def version_in(row: Any, taxonomy: str, concept: str, unit: str) -> Version | None:
    if not isinstance(row, dict):
        return None
    value, accession, form = row.get("val"), row.get("accn"), row.get("form")
    if not isinstance(value, (int, float)) or isinstance(value, bool) or abs(value) > _LARGEST:
        value = None
    start, end, filed = (parse_date(row.get(name)) for name in ("start", "end", "filed"))
    is_instant = row.get("start") is None
    if end is None or end == date.max or filed is None or (start is None and not is_instant):  # 9999-12-31 is no end
        return None
    if not isinstance(form, str) or not isinstance(accession, str) or not _ACCESSION.fullmatch(accession):
        return None
    payload = {
        "taxonomy": taxonomy,
        "concept": concept,
        "unit": unit,
        "start": None if start is None else start.isoformat(),
        "end": end.isoformat(),
        "value": value,  # None if it cannot be read
        "form": form,  # as filed, "10-K/A"
        "accession": accession,
    }
    return Version(payload, filed)


def age(version: Record) -> tuple[datetime, bool, str]:
    """Return what orders versions: the release, amendments last, then the accession number."""
    payload = version.payload
    return version.available_at or _LONG_AGO, payload["form"].endswith("/A"), payload["accession"]


def concept_of(version: Record) -> str:
    """Return the concept of a version with its taxonomy, as lines name it: us-gaap:NetIncomeLoss."""
    return f"{version.payload['taxonomy']}:{version.payload['concept']}"


def fact_id(version: Record) -> str:
    """Return the id of the fact of a version, whose own id ends with its accession number."""
    return version.id.rpartition(":")[0]


def in_order(records: Iterable[Record], period: str = "") -> list[Record]:
    """Return the records newest first and undated ones last; those of one instant the newest ``period`` first, by id.

    ``period`` is the field of :attr:`~pit_fetch.provider.Operation.period`.
    """

    def place(record: Record) -> tuple[datetime, str]:
        return record.available_at or _LONG_AGO, record.payload[period] if period else ""

    return sorted(sorted(records, key=lambda record: record.id), key=place, reverse=True)


def choose_versions(records: Iterable[Record], vintage: Vintage, concepts: Iterable[str]) -> Iterator[Record]:
    """Yield the versions of ``vintage``, one for each fact, in the order of an answer; with "all", every one."""
    by_fact: dict[str, list[Record]] = {}
    for record in readable(_of_first_taxonomy(list(records), concepts)):
        by_fact.setdefault(fact_id(record), []).append(record)
    histories = [sorted(of_fact, key=age) for of_fact in by_fact.values()]
    if vintage == "all":
        yield from in_order((version for history in histories for version in _mark_restatements(history)), "end")
    else:
        place = 0 if vintage == "first" else -1
        kept = (history[place] for history in histories)
        yield from in_order((version._replace(id=fact_id(version)) for version in kept), "end")


def concepts(records: Iterable[Record], company: str) -> list[Record]:
    """Return one item for each taxonomy, concept and unit, public since the newest filing that reports it."""
    by_concept: dict[tuple[str, str, str], list[Record]] = {}
    for record in records:
        payload = record.payload
        by_concept.setdefault((payload["taxonomy"], payload["concept"], payload["unit"]), []).append(record)
    items = []
    for (taxonomy, concept, unit), reported in by_concept.items():
        ends = [record.payload["end"] for record in reported]
        payload = {"taxonomy": taxonomy, "concept": concept, "unit": unit}
        payload |= {"first_end": min(ends), "last_end": max(ends)}
        newest = max(reported, key=age)
        items.append(newest._replace(id=f"{company}:{taxonomy}:{concept}:{unit}", payload=payload))
    return in_order(items)


def unreadable(records: Iterable[Record]) -> Iterator[Gap]:
    """Yield a gap for each filing whose value of a fact cannot be read."""
    lost = {record.payload["accession"]: record for record in records if record.payload["value"] is None}
    for accession, record in lost.items():
        fact = f"{concept_of(record)} to {record.payload['end']}"
        yield gap(
            Code.MALFORMED, problem=f"filing {accession} has a value that is no number ({fact}, which is left out)"
        )


def readable(records: Iterable[Record]) -> list[Record]:
    """Return the versions of the facts whose versions all have a value: no older one may take the place of another."""
    every = list(records)
    lost = {fact_id(record) for record in every if record.payload["value"] is None}
    return [record for record in every if fact_id(record) not in lost] if lost else every


def _mark_restatements(history: Iterable[Record]) -> Iterator[Record]:
    """Yield the versions of a fact, each with whether it restates the one before."""
    before: Any = None
    for version in history:
        value = version.payload["value"]
        yield version._replace(payload={**version.payload, "restated": before not in (None, value)})
        before = value


def _of_first_taxonomy(records: list[Record], concepts: Iterable[str]) -> Iterator[Record]:
    """Yield the records, of a concept named without a taxonomy only those of the first that the company used."""
    bare = {concept.casefold() for concept in concepts if ":" not in concept}
    used: dict[str, set[str]] = {}
    for record in records:
        used.setdefault(record.payload["concept"].casefold(), set()).add(record.payload["taxonomy"])
    for record in records:
        name, taxonomy = record.payload["concept"].casefold(), record.payload["taxonomy"]
        earlier = TAXONOMIES[: TAXONOMIES.index(taxonomy)] if name in bare and taxonomy in TAXONOMIES else ()
        if used[name].isdisjoint(earlier):
            yield record


class History(NamedTuple):
    """The versions of a fact that have a value, oldest first, with the number of the release of each.

    ``restated`` is the first release with another value than the first one; None if there is none.
    """

    versions: tuple[Record, ...]
    releases: tuple[int, ...]
    restated: int | None


class Ledger:
    """The public facts of one company. Its releases are numbered in the order of their instants.

    histories   by concept, then by unit and period
    currencies  the first release of each fact that ends on a day, its currency, and its filing
    unreadable  the first release with a value that cannot be read, by concept, unit and period
    released    a version of each release
    periods     those for which net income or revenue is reported, with the releases since which they are
    near        of these, the fiscal ones whose dates are a few days apart, and since which release they are
    memo        what was computed, with the first and the last release as of which it is known to hold
    """

    def __init__(self, records: Iterable[Record], vintage: Vintage, cadence: Cadence) -> None:
        usable = list(filter(has_ended, records))
        self._is_annual = cadence == "annual"
        self.is_first = vintage == "first"
        self.histories: dict[str, dict[tuple[str, FactPeriod], History]] = {}
        self.currencies: dict[date, list[tuple[int, str, str]]] = {}
        self.unreadable: dict[tuple[str, str, FactPeriod], int] = {}
        self.memo: dict[Hashable, list[tuple[int, int, Any]]] = {}
        by_instant = {record.available_at: record for record in usable}
        self.released = [by_instant[instant] for instant in sorted(by_instant, key=lambda at: at or _LONG_AGO)]
        self._numbers = {record.available_at: number for number, record in enumerate(self.released)}
        by_fact: dict[str, list[Record]] = {}
        for record in usable:
            by_fact.setdefault(fact_id(record), []).append(record)
        for versions in by_fact.values():
            self._enter(versions)
        self.periods = self._periods()
        self.near = near_periods(self.periods)

    def _enter(self, versions: list[Record]) -> None:
        """Enter the versions of one fact."""
        of = versions[0].payload
        concept, unit = f"{of['taxonomy']}:{of['concept']}", of["unit"]
        period = FactPeriod(None if of["start"] is None else _day(of["start"]), _day(of["end"]))
        if self._is_annual and concept not in ANCHORS and period_kind(*period) in ("quarter", "ytd"):
            return  # no year is derived from them, and they are most of what companies report
        if len(versions) > 1:
            versions.sort(key=age)
        values = [version.payload["value"] for version in versions]
        if None in values:
            self.unreadable[concept, unit, period] = self.release_of(versions[values.index(None)])
            versions = [version for version in versions if version.payload["value"] is not None]
            values = [value for value in values if value is not None]
        if not versions:
            return
        releases = [self._numbers[version.available_at] for version in versions]
        restated = next((releases[place] for place, value in enumerate(values) if value != values[0]), None)
        self.histories.setdefault(concept, {})[unit, period] = History(tuple(versions), tuple(releases), restated)
        if is_currency(unit):
            self.currencies.setdefault(period.end, []).append((releases[0], unit, versions[0].payload["accession"]))

    def release_of(self, version: Record) -> int:
        """Return the number of the release of a version."""
        return self._numbers[version.available_at]

    def _periods(self) -> Mapping[FactPeriod, Reported]:
        """Return the periods for which net income or revenue is reported, with the releases since which they are.

        Of a filing that has no net income of any period, all periods count as fiscal.
        """
        of_profits = (history for name in PROFITS for history in self.histories.get(name, {}).values())
        with_profit = {accession_of(version) for history in of_profits for version in history.versions}
        found: dict[FactPeriod, Reported] = {}
        for name in ANCHORS:
            for (unit, period), history in self.histories.get(name, {}).items():
                if is_currency(unit) and period.start is not None:
                    made = list(zip(history.versions, history.releases, strict=True))
                    annual = (release for version, release in made if _form(version) in _ANNUAL_REPORTS)
                    without = (release for version, release in made if accession_of(version) not in with_profit)
                    fiscal = history.releases[0] if name in PROFITS else next(without, None)
                    reported = Reported(history.releases[0], next(annual, None), fiscal)
                    found[period] = reported.join(found[period]) if period in found else reported
        return found


class View:
    """A ledger as of one of its releases. ``newest`` is the newest release on which rests what was read."""

    def __init__(self, ledger: Ledger, release: int) -> None:
        self.ledger = ledger
        self.release = release
        self.newest = 0

    def sees(self, release: int | None) -> bool:
        """Return whether a release was public, if it ever is."""
        if release is None or release > self.release:
            return False
        self.newest = max(self.newest, release)
        return True

    def remember(self, key: Hashable, compute: Callable[[View], _Computed]) -> _Computed:
        """Return what ``compute`` makes of a view, once for all releases as of which it reads the same."""
        known = self.ledger.memo.setdefault(key, [])
        for first, last, computed in known:
            if first <= self.release <= last:
                self.sees(first)
                return cast("_Computed", computed)
        view = View(self.ledger, self.release)
        computed = compute(view)
        known.append((view.newest, self.release, computed))
        self.sees(view.newest)
        return computed

    def public(self, history: History) -> Sequence[Record]:
        """Return the versions of a history that were public, oldest first."""
        count = bisect_right(history.releases, self.release)
        self.sees(history.releases[count - 1])
        return history.versions[:count]

    def currencies(self, end: date) -> list[str]:
        """Return the currencies of the facts that end on a day, that of most of them first.

        Of as many, it is the one that was reported later: a company that changes it shows the year before again. With
        the first vintage it is that of the first filing. Of two that one filing brought, it is the one of most facts of
        the filing: a translation is mostly of the newest year alone.
        """
        every = self.ledger.currencies.get(end, [])
        if len({unit for _, unit, _ in every}) < 2:  # mostly
            return [unit for _, unit, _ in every[:1]]
        seen = [made for made in every if self.sees(made[0])]
        counts = Counter(unit for _, unit, _ in seen)
        of_filings = Counter((filing, unit) for made in self.ledger.currencies.values() for _, unit, filing in made)

        def place(unit: str) -> tuple[int, int, int, str]:
            since, _, filing = min(made for made in seen if made[1] == unit)
            weight = of_filings[filing, unit]
            return (since, -weight, 0, unit) if self.ledger.is_first else (-counts[unit], -since, -weight, unit)

        return sorted(counts, key=place)


def accession_of(version: Record) -> str:
    """Return the accession number of the filing that a version comes from."""
    return str(version.payload["accession"])


def is_currency(unit: str) -> bool:
    """Return whether a unit is a currency, by its ISO code."""
    return len(unit) == 3 and unit.isupper()


def has_ended(version: Record) -> bool:
    """Return whether a period had ended when its filing was released: if not, its year is a typing error."""
    return version.available_at is None or version.payload["end"] <= _iso(version.available_at)


@lru_cache(maxsize=1024)
def _iso(moment: datetime) -> str:
    return moment.date().isoformat()


def _form(version: Record) -> str:
    return str(version.payload["form"]).removesuffix("/A")
