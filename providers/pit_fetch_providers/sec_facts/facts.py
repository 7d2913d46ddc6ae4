"""Read a company's XBRL facts: one row for each filing that reports a fact. Pure.

A fact is a taxonomy, a concept, a unit and a period. Each filing that reports it is a version of it. Only what a
filing itself fixed is read. ``frame``, ``fy``, ``fp``, ``entityName``, labels and the length of a list are written, or
rewritten, by later filings: ``frame`` stands on the last version of a fact, so it tells that none follows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date
from typing import Any, NamedTuple, TypeVar

from pit_fetch.gaps import Code
from pit_fetch.provider import UpstreamError
from pit_fetch.times import parse_date
from pit_fetch.wire import lenient_json
from pit_fetch_providers.edgar.numbers import ACCESSION, CIK

# Containers around a value of a row: {"facts": {taxonomy: {concept: {"units": {unit: [{"val": …}, …]}}}}}. One that
# cannot be read must not take its row with it: the row tells of a version, in whose place no older one may stand.
_VALUES = 7
# Reports, and the current reports that recast them. A proxy statement tags single figures again, for its tables of
# pay, and sometimes a thousand times too small. A prospectus repeats figures of reports.
REPORTS = frozenset({"10-K", "10-KT", "10-Q", "10-QT", "20-F", "40-F", "6-K", "8-K"})
# No amount is larger, and no sum of such is too large for a float.
_LARGEST = 10**100
_Container = TypeVar("_Container", dict[str, Any], list[Any])
_CIK = re.compile(CIK)
_ACCESSION = re.compile(ACCESSION)


class Fact(NamedTuple):
    """What is reported: a figure of one company for one period."""

    taxonomy: str
    concept: str
    unit: str
    start: date | None  # None for an instant
    end: date


class Version(NamedTuple):
    """A fact as one filing reports it."""

    fact: Fact
    value: int | float | None  # None if it cannot be read
    accession: str
    form: str  # as filed, "10-K/A"
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
        for concept, described in _held(concepts, dict).items():
            if not wanted(taxonomy, concept):
                continue
            for unit, rows in _held(_held(described, dict).get("units"), dict).items():
                for row in _held(rows, list):
                    version = _version(row, taxonomy, concept, unit)
                    if version is None or version.form.removesuffix("/A") in REPORTS:
                        yield version


def _held(value: Any, kind: type[_Container]) -> _Container:
    if not isinstance(value, kind):
        raise UpstreamError(Code.MALFORMED, problem="it is not a company's facts")
    return value


def _version(row: Any, taxonomy: str, concept: str, unit: str) -> Version | None:
    if not isinstance(row, dict):
        return None
    value, accession, form = row.get("val"), row.get("accn"), row.get("form")
    if not isinstance(value, (int, float)) or isinstance(value, bool) or abs(value) > _LARGEST:
        value = None
    start, end, filed = (parse_date(row.get(name)) for name in ("start", "end", "filed"))
    is_instant = row.get("start") is None
    if end in (None, date.max) or filed is None or (start is None and not is_instant):  # 9999-12-31 is no end
        return None
    if not isinstance(form, str) or not isinstance(accession, str) or not _ACCESSION.fullmatch(accession):
        return None
    return Version(Fact(taxonomy, concept, unit, start, end), value, accession, form, filed)
