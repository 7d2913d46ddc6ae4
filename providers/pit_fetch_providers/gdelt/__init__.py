"""GDELT's DOC 2.0 API (``GET /api/v2/doc/doc``): links by the batch that filed them, titles on a claim.

``seendate`` names the batch of 15 minutes in which GDELT first filed a page; its files are written up to five minutes
after that instant. It is no date of publication: an old page that is found today has today's batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from itertools import chain
from typing import Any
from urllib.parse import urlsplit

from pit_fetch.gaps import Code
from pit_fetch.paging import by_time
from pit_fetch.provider import (
    Archiving,
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
)
from pit_fetch.times import delayed, in_new_york, parse_compact
from pit_fetch.wire import body_of, lenient_json, text
from pit_fetch_providers import search_terms
from pit_fetch_providers.shared import claimed_text, fields, texts_in, utc_seconds, with_a_pit

HOST = Host("GDELT", "https://api.gdeltproject.org", "PIT_FETCH_GDELT_URL", Rate(calls=1, seconds=5))
# The most that a reply has: there is no cursor.
ROWS = 250
BATCH = timedelta(minutes=15)
LOOKBACK = timedelta(days=90)


def fetch(query: Query, context: Context) -> Iterator[Page | Gap]:
    """Yield the links of the window, the last seen first."""
    end = min(query.now, query.until or query.now)
    try:
        start = (query.since or end - LOOKBACK) - BATCH
    except OverflowError:
        return

    def read(until: datetime) -> list[Record]:
        # A batch counts from its end. Whether the end of a window is inclusive is not documented: a second before the
        # next batch is, for either reading, this one.
        last = until.replace(minute=until.minute // 15 * 15, second=0, microsecond=0) - timedelta(seconds=1)
        return read_window(context, query, {"startdatetime": _compact(start), "enddatetime": _compact(last)})

    if query.horizon - start > BATCH:
        yield from by_time(read, query.horizon, size=2 * ROWS)


def _compact(moment: datetime) -> str:
    return utc_seconds(moment).translate({ord(mark): None for mark in "-:TZ"})


def read_window(context: Context, query: Query, window: Mapping[str, str]) -> list[Record]:
    """Return the newest records of a window, two of each row. GDELT refuses in a sentence with status 200."""
    asked = {"query": _query(query), "mode": "artlist", "format": "json", "maxrecords": str(ROWS), "sort": "datedesc"}
    body = body_of(context.http.get(HOST.name, "/api/v2/doc/doc", {**asked, **window}), HOST.name, ()) or b""
    if not body.lstrip().startswith(b"{"):
        if b"limit requests" in body:
            raise UpstreamError(Code.THROTTLED, host=HOST.name, limit="one every 5 seconds")
        if 0 < len(body) < 200 and b"<" not in body:
            raise UpstreamError(Code.BAD_CALL, host=HOST.name)
        raise UpstreamError(Code.MALFORMED, problem="it is not a JSON document")
    return list(parse_reply(body, query))


def _query(query: Query) -> str:
    narrowed = (
        f"{name.replace('_', '')}:{query.options[name]}"
        for name in ("domain", "source_country", "source_lang")
        if query.options[name]
    )
    return " ".join((query.options["query"], *narrowed))


def parse_reply(body: bytes, query: Query) -> Iterator[Record]:
    """Yield the records of one raw reply. Without a match it has no articles."""
    document = lenient_json(body, rows=2)
    rows = [] if document == {} else document.get("articles") if isinstance(document, dict) else None
    if not isinstance(rows, list):
        raise UpstreamError(Code.MALFORMED, problem="it has no array articles")
    return chain.from_iterable(records(row if isinstance(row, dict) else {}) for row in rows)


def records(row: Mapping[str, Any]) -> tuple[Record, Record]:
    """Return the link, and its title on a claim."""
    seen, url = parse_compact(row.get("seendate")), text(row.get("url"))
    name = f"{utc_seconds(seen)}/{_address(url)}" if seen and url else ""
    shown = {"seendate": in_new_york(seen) if seen else None}
    link = Record(name, delayed(seen, BATCH), {**texts_in(row, "url", "domain", "language", "sourcecountry"), **shown})
    return claimed_text(link, texts_in(row, "title"))


def _address(url: str) -> str:
    """Return an address with its host in small letters and without the port that every host has."""
    try:
        host = urlsplit(url).netloc
    except ValueError:
        return url
    return url.replace(host, host.lower().removesuffix(":443"), 1) if host else url


PROVIDER = Provider(
    name="gdelt",
    summary="GDELT: links to the world's online news by what they say, by the time at which GDELT first saw them",
    hosts=(HOST,),
    options=(
        Option(
            "query",
            'words, "a phrase", (one OR another), -word, theme:, near20:"a b"',
            positional="all",
            search_terms=search_terms.QUERY,
        ),
        Option("domain", "of this domain", metavar="reuters.com"),
        Option("source_country", "of publishers of this country", metavar="us"),
        Option("source_lang", "in this language", metavar="english", search_terms="language lang"),
    ),
    operations=(
        Operation(
            fetch=fetch,
            parse_reply=parse_reply,
            dating=Dating(
                rule="15 minutes after seendate, the batch in which GDELT filed the link",
                why="a batch's files are written up to 5 minutes after the instant that names it (seen)",
                claims="the same instant, for the title (ID:text): GDELT may have read it again since, without a mark",
            ),
            needs=("query",),
            takes=("domain", "source_country", "source_lang"),
            fields=fields("url domain language sourcecountry title", instant="seendate", required="url"),
            caveats=with_a_pit(
                "The words are looked up in GDELT's index of the day of the fetch, so pages that it dropped lack. "
                "seendate is when GDELT saw a page, and not its publication."
            ),
            archiving=Archiving(reach="newest"),
        ),
    ),
    page_size=2 * ROWS,
    listing=Listing(search_terms="gdelt news"),
    help="""\
An item is a link. Its title is an item of its own, ID:text, which is served on a claim alone (--evidence
claimed). available_at is 15 minutes after seendate. Without --date-from 90 days are searched.
One request in five seconds is allowed.
""",
)
