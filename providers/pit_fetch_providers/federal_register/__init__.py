"""The Federal Register: documents by the issue that printed them, and the desk of public inspection before that.

``publication_date`` is a day: its issue is out early in the morning, and late content at times before noon. A document
is filed for public inspection a day to two weeks earlier; ``filed_at`` is the instant, and the site takes it over in
minutes, from 08:45 New York on. Documents are not revised: a correction is one of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime, time, timedelta
from typing import Any

from pit_fetch.gaps import Code
from pit_fetch.paging import numbered
from pit_fetch.provider import (
    Basis,
    Context,
    Dating,
    Gap,
    Host,
    Listing,
    Operation,
    Option,
    Page,
    Provider,
    Query,
    Rate,
    Record,
    UpstreamError,
    Watermark,
    gap,
)
from pit_fetch.times import NEW_YORK, delayed, is_weekend, parse_date, parse_rfc3339, start_of_day, wall_clock
from pit_fetch.wire import body_of, lenient_json, text
from pit_fetch_providers import search_terms
from pit_fetch_providers.shared import fields, new_york_day, texts_in, with_a_pit

HOST = Host("Federal Register", "https://www.federalregister.gov", "PIT_FETCH_FEDERAL_REGISTER_URL", Rate(calls=2))
PAGE_SIZE = 200
# Beyond 10,000 documents a page silently becomes the first one again.
MAX_PAGES = 10_000 // PAGE_SIZE
ON_A_DESK = 2_000
TYPES = ("rule", "prorule", "notice", "presdocu")
NOON, OPENING = timedelta(hours=12), time(8, 45)
# From the filing to the site, which takes new ones every minute.
MARGIN = timedelta(minutes=5)
DAY = timedelta(days=1)
MAX_EMPTY = 15
_FIRST_DESK = date(2008, 1, 1)


def documents(query: Query, context: Context) -> Iterator[Page | Gap]:
    """Yield the documents of the window, newest first."""
    # The bounds are days of Washington; a day more is on the safe side.
    asked = {"order": "newest", "per_page": str(PAGE_SIZE)}
    asked["conditions[publication_date][lte]"] = _day(query.horizon, 1).isoformat()
    if query.since is not None:
        asked["conditions[publication_date][gte]"] = _day(query.since, -1).isoformat()
    wanted = {"term": query.options["term"], "agencies][": query.options["agency"], "type][": query.options["type"]}
    asked |= {
        f"conditions[{name}]": value.upper() if name == "type][" else value for name, value in wanted.items() if value
    }

    def page(number: int) -> list[Record]:
        return list(parse_documents(read(context, "/api/v1/documents.json", {**asked, "page": str(number)}), query))

    if (yield from numbered(page, size=PAGE_SIZE, first=1, most=MAX_PAGES, newest_first=True)):
        yield gap(Code.RESULT_CAP)


def _day(moment: datetime, shift: int) -> date:
    try:
        return new_york_day(moment) + timedelta(days=shift)
    except OverflowError:
        return moment.date()


def read(context: Context, path: str, asked: Mapping[str, str]) -> bytes:
    """Return the body of a reply."""
    return body_of(context.http.get(HOST.name, path, asked), HOST.name, ()) or b""


def _rows(body: bytes) -> Iterator[dict[str, Any]]:
    reply = lenient_json(body, rows=2)
    # A search without a hit has a count and no results.
    rows = reply.get("results", [] if reply.get("count") == 0 else None) if isinstance(reply, dict) else None
    if not isinstance(rows, list):
        raise UpstreamError(Code.MALFORMED, problem="it has no results")
    return (row if isinstance(row, dict) else {} for row in rows)


def parse_documents(body: bytes, query: Query) -> Iterator[Record]:
    """Yield the documents of one raw reply."""
    return map(document, _rows(body))


def document(row: Mapping[str, Any]) -> Record:
    """Return one document, by the issue that printed it. Numbers were used again before 2016."""
    number, day = text(row.get("document_number")), parse_date(row.get("publication_date"))
    payload = {**texts_in(row, "title", "type", "publication_date", "html_url", "pdf_url"), "agencies": _agencies(row)}
    noon = wall_clock(datetime.combine(day, time(12)), NEW_YORK) if day else None
    return Record(f"{number}@{day}" if number else "", noon, payload)


def _agencies(row: Mapping[str, Any]) -> list[str]:
    listed = row.get("agencies")
    named = (
        (agency.get("raw_name") for agency in listed if isinstance(agency, dict)) if isinstance(listed, list) else ()
    )
    return [name for name in named if isinstance(name, str)]


def inspections(query: Query, context: Context) -> Iterator[Record | Watermark]:
    """Yield what lay on the desk of one business day after the other, newest first.

    A document stays on it until it is printed, so it comes several times.
    """
    end = min(query.horizon, query.started)
    day, first = _day(end, 0), max(_FIRST_DESK, _day(query.since, 0) if query.since else _FIRST_DESK)
    while day >= first:
        if not is_weekend(day):
            asked = {"conditions[available_on]": day.isoformat(), "per_page": str(ON_A_DESK)}
            asked |= {"fields[]": _FIELDS}  # type: ignore[dict-item]
            yield from parse_inspections(read(context, "/api/v1/public-inspection-documents.json", asked), query)
            morning = delayed(start_of_day(day, NEW_YORK), 2 * MARGIN)
            if morning is not None:
                yield Watermark(morning, MAX_EMPTY)
        day -= DAY


def parse_inspections(body: bytes, query: Query) -> Iterator[Record]:
    """Yield the documents of one desk."""
    return map(inspection, _rows(body))


def inspection(row: Mapping[str, Any]) -> Record:
    """Return one document on public inspection. Undated unless it says when its text was last replaced."""
    filed, replaced = parse_rfc3339(row.get("filed_at")), parse_rfc3339(row.get("pdf_updated_at"))
    public = None if filed is None or replaced is None else _on_the_site(filed)
    revised = replaced if public is not None and replaced is not None and replaced > public else None
    payload = {**texts_in(row, "title", "type", "filing_type", "filed_at", "pdf_url"), "agencies": _agencies(row)}
    return Record(text(row.get("document_number")), public, payload, revised)


def _on_the_site(filed: datetime) -> datetime | None:
    """Return when what was filed is on the site: nothing is before 08:45 New York of its day."""
    opening = wall_clock(datetime.combine(new_york_day(filed), OPENING), NEW_YORK)
    return None if opening is None else delayed(max(filed, opening), MARGIN)


def _caveats(query: Query) -> Iterable[str]:
    if not query.open_mode:
        yield "What is served of a document is as of its last import. Its agency may have published it before."
    if query.options["term"] or query.options["agency"]:
        yield "Words and agencies are looked up as they stood on the day of the fetch."


_FIELDS = ["document_number", "title", "type", "filing_type", "filed_at", "pdf_updated_at", "pdf_url", "agencies"]
PROVIDER = Provider(
    name="federal_register",
    summary="the US Federal Register: rules, notices and presidential documents, as printed or on inspection",
    aliases=("fr",),
    hosts=(HOST,),
    options=(
        Option("term", "documents that hold these words", search_terms=search_terms.QUERY),
        Option("agency", "of this agency, as the site spells it", metavar="securities-and-exchange-commission"),
        Option("type", "of this type", choices=TYPES),
    ),
    operations=(
        Operation(
            "documents",
            fetch=documents,
            parse_reply=parse_documents,
            dating=Dating(
                rule="12:00 New York of publication_date",
                why="an issue is out early in the morning, and late content of it before noon (the site's own code)",
                basis=(Basis("publication_date", "day", after=NOON),),
            ),
            takes=("term", "agency", "type"),
            fields=fields("title type html_url pdf_url", date="publication_date", lists="agencies", required="title"),
            window="publication_date",
            caveats=_caveats,
        ),
        Operation(
            "public_inspection",
            fetch=inspections,
            parse_reply=parse_inspections,
            dating=Dating(
                rule="5 minutes after filed_at or 08:45 New York of its day, and by pdf_updated_at, if that is later",
                why="the site takes what was filed within two minutes, and nothing before 08:45 (its own code)",
            ),
            fields=fields("title type filing_type pdf_url", instant="filed_at", lists="agencies", required="title"),
            caveats=with_a_pit(
                "Documents that were withdrawn before the fetch are absent. Their agencies may have published them before."
            ),
            timeout=300,
        ),
    ),
    page_size=PAGE_SIZE,
    listing=Listing(search_terms="federal regulations rules"),
    help="""\
documents: a document counts from noon of the day of its issue. public_inspection: from 5 minutes after it was
filed, a day to two weeks earlier; each business day's desk is read, back from the PIT.
""",
)
