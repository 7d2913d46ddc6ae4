"""The Federal Register (``GET /api/v1/documents.json``): documents by the date of their issue.

``publication_date`` is a date, so a document counts as public at the end of that day in Washington.
Documents are not revised: a correction is a document of its own. The API gives the first 2,000
documents of a request, in pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, datetime, timedelta
from typing import Any

from pit_fetch.gaps import Code
from pit_fetch.paging import numbered
from pit_fetch.provider import (
    Context,
    Dating,
    Field,
    Gap,
    Host,
    Operation,
    Option,
    Page,
    Provider,
    Query,
    Rate,
    Record,
    UpstreamError,
    gap,
)
from pit_fetch.times import NEW_YORK, end_of_day, parse_date
from pit_fetch.wire import lenient_json, text

HOST = "Federal Register"
PAGE_SIZE = 200
MAX_PAGES = 2_000 // PAGE_SIZE
TYPES = ("rule", "prorule", "notice", "presdocu")


def fetch(query: Query, context: Context) -> Iterator[Page | Gap]:
    """Pages of the window, newest first, until the framework has enough."""

    def page(number: int) -> list[Record]:
        reply = context.http.get(HOST, "/api/v1/documents.json", _parameters(query, number))
        if reply.status != 200:
            raise UpstreamError(Code.HTTP_STATUS, host=HOST, status=reply.status)
        return list(parse_reply(reply.body, query))

    cut = yield from numbered(page, size=PAGE_SIZE, first=1, most=MAX_PAGES, newest_first=True)
    if cut:
        yield gap(Code.RESULT_CAP)


def parse_reply(body: bytes, query: Query) -> Iterator[Record]:
    """The documents of one raw reply."""
    reply = lenient_json(body, rows=2)
    # A search without a hit has a count and no results.
    rows = reply.get("results", [] if reply.get("count") == 0 else None) if isinstance(reply, dict) else None
    if not isinstance(rows, list):
        raise UpstreamError(Code.MALFORMED, problem="it has no results")
    for row in rows:
        yield _record(row if isinstance(row, dict) else {})


def caveats(query: Query) -> Iterable[str]:
    if query.options["term"]:
        yield "Words are looked up in today's index."


def _parameters(query: Query, page: int) -> dict[str, str]:
    parameters = {"order": "newest", "per_page": str(PAGE_SIZE), "page": str(page)}
    # The zone of the bounds is Washington's; a day more is on the safe side.
    parameters["conditions[publication_date][lte]"] = _date(query.horizon, 1).isoformat()
    if query.since is not None:
        parameters["conditions[publication_date][gte]"] = _date(query.since, -1).isoformat()
    asked = {
        "conditions[term]": query.options["term"],
        "conditions[agencies][]": query.options["agency"],
        "conditions[type][]": (query.options["type"] or "").upper(),
    }
    parameters.update({name: value for name, value in asked.items() if value})
    return parameters


def _date(moment: datetime, shift: int) -> date:
    return moment.astimezone(NEW_YORK).date() + timedelta(days=shift)


def _record(row: dict[str, Any]) -> Record:
    number, day = row.get("document_number"), parse_date(row.get("publication_date"))
    known = isinstance(number, str) and number
    return Record(
        # Numbers were reused before 2016.
        id=f"{number}@{day}" if known else "",
        available_at=end_of_day(day, NEW_YORK) if day else None,
        payload={
            "title": text(row.get("title")),
            "type": text(row.get("type")),
            "agencies": _names(row.get("agencies")),
            "publication_date": day.isoformat() if day else "",
            "html_url": text(row.get("html_url")),
            "pdf_url": text(row.get("pdf_url")),
        },
    )


def _names(rows: Any) -> list[str]:
    if not isinstance(rows, list):
        return []
    return [row["raw_name"] for row in rows if isinstance(row, dict) and isinstance(row.get("raw_name"), str)]


PROVIDER = Provider(
    name="federal-register",
    summary="documents of the US Federal Register: rules, proposed rules, notices, presidential documents",
    hosts=(Host(HOST, "https://www.federalregister.gov", "PIT_FETCH_FEDERAL_REGISTER_URL", Rate(calls=2)),),
    options=(
        Option("term", "documents that hold these words"),
        Option("agency", "of this agency, as the site spells it", metavar="securities-and-exchange-commission"),
        Option("type", "of this type", choices=TYPES),
    ),
    operations=(
        Operation(
            fetch=fetch,
            parse_reply=parse_reply,
            dating=Dating(rule="the end of publication_date in Washington"),
            fields=(
                Field("title"),
                Field("type"),
                Field("agencies", "list"),
                Field("publication_date", "date"),
                Field("html_url"),
                Field("pdf_url"),
            ),
            window="publication_date",
            caveats=caveats,
        ),
    ),
    page_size=PAGE_SIZE,
    help="A document counts as public at the end of the Washington day of its issue.",
)
