"""Merge hits of the search index, one per document, into filings, one per accession number. Pure.

The index is today's: its names, tickers, SIC codes and places are the company's current ones, so with a PIT none of
them is shown. What the filing itself fixed (form, dates, items, CIKs, its texts, and so which documents match) does
not change after acceptance.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple
from urllib.parse import quote

from pit_fetch.provider import Field, Record
from pit_fetch.times import in_new_york, parse_date
from pit_fetch_providers.edgar import client
from pit_fetch_providers.edgar.acceptance import accepted_at
from pit_fetch_providers.edgar.forms import is_wanted
from pit_fetch_providers.edgar.numbers import ACCESSION, CIK
from pit_fetch_providers.edgar.release import Release
from pit_fetch_providers.shared import fields, text_or_none

FIELDS = (
    *fields("accession_number"),
    Field("form", role="kind"),
    *fields(date="filed"),
    Field("accepted_at", "instant", is_evidence=True),
    *fields(lists="ciks"),
    Field("company_names", "list", is_evidence=True),
    *fields(lists="items"),
    *fields(date="period"),
    Field("documents", "list", is_evidence=True),  # a page of the search has some of them, if it ends within a filing
    *fields(lists="tickers sic_codes"),
)

_ACCESSION = re.compile(ACCESSION)
_CIK = re.compile(CIK)
# "BrightSpring Health Services, Inc.  (BTSG, BTSGU)  (CIK 0001865782)": parted by two spaces.
_DISPLAY_NAME = re.compile(r"(.*?)(?:  \(([A-Z0-9.,\- ]+)\))?  \(CIK [0-9]{10}\)")


class Filing(NamedTuple):
    """One filing and those of its documents that match."""

    accession: str
    form: str  # as filed, "10-K/A"
    roots: frozenset[str]  # the form's group in the index
    filed: date
    ciks: tuple[int, ...]  # those it is listed under; the first one is in its address
    period: str | None
    items: tuple[str, ...]  # of an 8-K
    documents: tuple[tuple[int, str, str, str | None], ...]  # (sequence, file name, type, description) of each match
    today: Mapping[str, tuple[str, ...]]  # names, tickers and SIC codes as they are today: not shown with a PIT


class Filter(NamedTuple):
    """The filters of the request. The server is asked for the same; here they also apply to a recorded reply."""

    first: date
    last: date
    forms: tuple[str, ...] = ()
    ciks: frozenset[int] = frozenset()

    def keeps(self, filing: Filing) -> bool:
        is_of_company = not self.ciks or not self.ciks.isdisjoint(filing.ciks)
        return self.is_filed(filing.filed) and is_wanted(filing.form, self.forms, filing.roots) and is_of_company

    def is_filed(self, day: date) -> bool:
        return self.first <= day <= self.last


def filings(hits: Iterable[Any]) -> Iterator[Filing | None]:
    """Yield the filings of ``hits``, each once, in the order of their first hit; None for an unusable hit.

    The hits of one filing must be complete: every document carries its filing's date, so a search that covers whole
    days has them all. A hit with another date counts as a filing of its own: a later hit must not change what an
    earlier one shows.
    """
    by_filing: dict[tuple[str, date], list[Filing]] = {}
    for hit in hits:
        filing = filing_in(hit)
        if filing is None:
            yield None
        else:
            by_filing.setdefault((filing.accession, filing.filed), []).append(filing)
    yield from map(_merge, by_filing.values())


def record(filing: Filing, release: Release, open_mode: bool) -> Record:
    """Return the item for ``filing``. Names come from the evidence of then or, in open mode, from today's index."""
    acceptance = release.acceptance
    accepted = None if acceptance is None or acceptance.coarse else accepted_at(acceptance)
    payload: dict[str, Any] = {
        "accession_number": filing.accession,
        "form": filing.form,
        "filed": filing.filed.isoformat(),
        "accepted_at": None if accepted is None else in_new_york(accepted),
        "ciks": [f"{cik:010d}" for cik in filing.ciks],
        "company_names": list(release.names or (filing.today["company_names"] if open_mode else ())),
        "items": list(filing.items),
        "period": filing.period,
        "documents": [
            {"file_name": name, "type": kind, "description": description, "url": url(filing, name)}
            for _, name, kind, description in filing.documents
        ],
    }
    if open_mode:
        payload |= {key: list(filing.today[key]) for key in ("tickers", "sic_codes")}
    return Record(filing.accession, release.at, payload, available_at_source=release.source)


def url(filing: Filing, name: str) -> str:
    """Return the address of a document of ``filing``."""
    folder = client.folder(filing.accession, filing.ciks[0])
    return f"https://{client.WWW}{folder}/{quote(name, errors='surrogatepass')}"


def filing_in(hit: Any) -> Filing | None:
    source = hit.get("_source") if isinstance(hit, dict) else None
    if not isinstance(source, dict):
        return None
    _, _, name = str(hit.get("_id")).partition(":")
    accession, form, filed = source.get("adsh"), source.get("form"), parse_date(source.get("file_date"))
    ciks = tuple(int(cik) for cik in _texts(source.get("ciks")) if _CIK.fullmatch(cik))
    if not (isinstance(accession, str) and _ACCESSION.fullmatch(accession) and isinstance(form, str) and form):
        return None
    if filed is None or not ciks or not name:
        return None
    sequence = str(source.get("sequence"))
    document = (
        int(sequence) if re.fullmatch("[0-9]{1,6}", sequence) else 0,
        name,
        str(source.get("file_type") or ""),
        text_or_none(source.get("file_description")),
    )
    return Filing(
        accession=accession,
        form=form.upper(),
        roots=frozenset(_texts(source.get("root_forms"))),
        filed=filed,
        ciks=ciks,
        period=text_or_none(source.get("period_ending")),
        items=_texts(source.get("items")),
        documents=(document,),
        today=_today(source),
    )


def _today(source: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    parts = [(_DISPLAY_NAME.fullmatch(text), text) for text in _texts(source.get("display_names"))]
    lists = [match[2] for match, _ in parts if match and match[2]]
    return {
        "company_names": tuple(match[1].strip() if match else text for match, text in parts),
        "tickers": tuple(ticker.strip() for tickers in lists for ticker in tickers.split(",")),
        "sic_codes": _texts(source.get("sics")),
    }


def _merge(hits: Sequence[Filing]) -> Filing:
    hits = sorted(hits, key=lambda hit: (hit.documents[0][:3], hit.ciks))  # the server's order is arbitrary
    first = hits[0]
    return first._replace(
        roots=frozenset().union(*(hit.roots for hit in hits)),
        ciks=_union(hit.ciks for hit in hits),
        items=_union(hit.items for hit in hits),
        documents=_union(hit.documents for hit in hits),
        today={key: _union(hit.today[key] for hit in hits) for key in first.today},
    )


def _union(rows: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(value for row in rows for value in row))


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(text for text in value if isinstance(text, str) and text) if isinstance(value, list) else ()
