"""Choose among the public versions of facts: the newest, the first, or all of them. Pure.

Every function receives the records of versions that were public, so that no choice can rest on a later one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from pit_fetch.gaps import Code, Gap, gap
from pit_fetch.provider import Record
from pit_fetch_providers.sec_facts.periods import Span

Vintage = Literal["latest", "first", "all"]
# The same days end one fact after another.
_day = lru_cache(maxsize=4096)(date.fromisoformat)
# The order in which a concept that is named without its taxonomy is looked up.
TAXONOMIES = ("us-gaap", "ifrs-full", "dei")
_LONG_AGO = datetime.min.replace(tzinfo=UTC)
# A field for the release of a version that is of its period only since that was proved.
RELEASED = "released"


class History(NamedTuple):
    """The public versions of one fact.

    concept   with its taxonomy
    versions  in the order of their releases, oldest first
    by_age    in the order of :func:`age`: mostly the same
    """

    concept: str
    unit: str
    span: Span
    versions: tuple[Record, ...]
    by_age: tuple[Record, ...]


def histories(records: Iterable[Record]) -> list[History]:
    """Return the history of each fact."""
    by_fact: dict[str, list[Record]] = {}
    is_any_moved = False
    for record in records:
        by_fact.setdefault(fact_id(record), []).append(record)
        is_any_moved = is_any_moved or RELEASED in record.payload
    return [_history(versions, is_any_moved) for versions in by_fact.values()]


def chosen(records: Iterable[Record], vintage: Vintage, concepts: Iterable[str]) -> Iterator[Record]:
    """Yield the versions of ``vintage``, one for each fact, in the order of an answer; with "all", every one."""
    wanted = histories(readable(_of_first_taxonomy(list(records), concepts)))
    if vintage == "all":
        yield from in_order((version for history in wanted for version in _marked(history)), "end")
    else:
        place = 0 if vintage == "first" else -1
        versions = (history.versions[place] for history in wanted)
        yield from in_order((version._replace(id=fact_id(version)) for version in versions), "end")


def readable(records: Iterable[Record]) -> list[Record]:
    """Return the versions of the facts whose versions all have a value: no older one may take the place of another."""
    every = list(records)
    lost = {fact_id(record) for record in every if is_unreadable(record)}
    return [record for record in every if fact_id(record) not in lost] if lost else every


def unreadable(records: Iterable[Record]) -> Iterator[Gap]:
    """Yield a gap for each filing whose value of a fact cannot be read."""
    lost = {record.payload["accession"]: record for record in records if is_unreadable(record)}
    for accession, record in lost.items():
        fact = f"{concept_of(record)} to {record.payload['end']}"
        yield gap(
            Code.MALFORMED, problem=f"filing {accession} has a value that is no number ({fact}, which is left out)"
        )


def in_order(records: Iterable[Record], period: str = "") -> list[Record]:
    """Return the records newest first and undated ones last; those of one instant the newest ``period`` first, by id.

    ``period`` is the field of :attr:`~pit_fetch.provider.Operation.period`.
    """

    def place(record: Record) -> tuple[datetime, str]:
        return record.available_at or _LONG_AGO, record.payload[period] if period else ""

    return sorted(sorted(records, key=lambda record: record.id), key=place, reverse=True)


def restating(versions: Sequence[Record]) -> Record | None:
    """Return the first of ``versions``, by their age, of another value than the one before; None if there is none."""
    value = versions[0].payload["value"]
    for version in versions:
        if version.payload["value"] != value:
            return version
    return None


def of_ended_periods(records: Iterable[Record]) -> tuple[list[Record], list[Record]]:
    """Return the versions, and apart from them those without a value that can be read, of periods that had ended.

    What a filing reports of a period that had not ended when it was released has a wrong year.
    """
    read, unread = list[Record](), list[Record]()
    for record in records:  # thousands
        if record.available_at is None or record.payload["end"] <= _iso_day(record.available_at):
            (unread if record.payload["value"] is None else read).append(record)
    return read, unread


@lru_cache(maxsize=1024)
def _iso_day(moment: datetime) -> str:
    return moment.date().isoformat()


def is_unreadable(version: Record) -> bool:
    """Return whether a filing's value of the fact is no number."""
    return version.payload["value"] is None


def fact_id(version: Record) -> str:
    """Return the id of the fact of a version, whose own id ends with its accession number."""
    return version.id.rpartition(":")[0]


def concept_of(version: Record) -> str:
    """Return the concept of a version with its taxonomy, as lines name it: us-gaap:NetIncomeLoss."""
    return f"{version.payload['taxonomy']}:{version.payload['concept']}"


def accession_of(version: Record) -> str:
    """Return the accession number of the filing that a version comes from."""
    return str(version.payload["accession"])


def age(version: Record) -> tuple[datetime, bool, str]:
    """Return what orders what shows something: since when it does, amendments last, then the accession number."""
    payload = version.payload
    return version.available_at or _LONG_AGO, payload["form"].endswith("/A"), payload["accession"]


def release(version: Record) -> tuple[datetime, bool, str]:
    """Return what orders the versions of a fact: the release, amendments last, then the accession number.

    It is the :func:`age` but for a version that is of its period since the days of two filings were proved to be one.
    """
    since, *rest = age(version)
    return version.payload.get(RELEASED, since), *rest


def first_shown(versions: Sequence[Record]) -> tuple[Any, int]:
    """Return what orders periods: when the first of their versions was public, and how many its filing has of them."""
    first = min(versions, key=age)
    return age(first), -sum(version.payload["accession"] == first.payload["accession"] for version in versions)


def _history(versions: list[Record], is_any_moved: bool) -> History:
    by_age = tuple(sorted(versions, key=age) if len(versions) > 1 else versions)
    in_order, first = tuple(sorted(versions, key=release)) if is_any_moved else by_age, by_age[0]
    start, end = first.payload["start"], first.payload["end"]
    span = Span(None if start is None else _day(start), _day(end))
    return History(concept_of(first), first.payload["unit"], span, in_order, by_age)


def _value(version: Record) -> Any:
    return version.payload["value"]


def _marked(history: History) -> Iterator[Record]:
    value = _value(history.versions[0])
    for version in history.versions:
        restated, value = _value(version) != value, _value(version)
        yield version._replace(payload={**version.payload, "restated": restated})


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
