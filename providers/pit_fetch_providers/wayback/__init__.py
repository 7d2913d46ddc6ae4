"""The Wayback Machine of the Internet Archive: what a page said, as of an instant.

A capture proves that a page was public when the archive's robot saw it. Its stamp is that of the request's start, and
is sometimes wrong: ``available_at`` is five minutes after the latest of the stamp and the origin server's own dates.
The archive may answer with the nearest capture, which can be a later one. So a reply counts only if it is the capture
that was asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from pit_fetch.gaps import Code
from pit_fetch.provider import (
    Archiving,
    Basis,
    Context,
    Dating,
    Field,
    Listing,
    Operation,
    Option,
    Provider,
    Query,
    Record,
    Stage,
    UpstreamError,
    Watermark,
)
from pit_fetch_providers.page_text import require_parser
from pit_fetch_providers.shared import CONTACT, UNREADABLE, fields, views_of, with_a_pit
from pit_fetch_providers.wayback import address, api, capture, index, page

_HINDSIGHT = (
    "The Internet Archive shows the captures that it holds on the day of the fetch: some were taken down since, others "
    "added late. That it has none up to the PIT does not show that there was no page."
)
_STAMPS = " page checks each capture against its origin's own dates."


def fetch_page(query: Query, context: Context) -> Iterator[Record]:
    """Yield the captures that lead to the page. Raise UpstreamError."""
    require_parser()
    yield from page.fetch(query, context)


def fetch_captures(query: Query, context: Context) -> Iterator[Record | Watermark]:
    """Yield the captures of the index. Raise UpstreamError."""
    match = query.options["match"]
    for interval in index.intervals(query, match):
        for row in index.rows(context, query.options["url"], match, interval):
            yield capture.listed_record(row, query)
        yield Watermark(index.public_from(interval.first))


def parse_reply(body: bytes, query: Query) -> Iterator[Record]:
    """Yield the captures of a saved reply of the index. Raise UpstreamError."""
    if body.lstrip()[:1] in (b"<", b"{", b"["):
        raise UpstreamError(Code.MALFORMED, problem="it is no reply of the index in text")
    for row in index.parse_rows(body):
        yield UNREADABLE if row is None else capture.listed_record(row, query)


def derive(query: Query) -> Stage | None:
    return page.keep_up_to_page if query.operation.name == "page" else None


PROVIDER = Provider(
    views=views_of(__name__),
    name="wayback",
    summary="Wayback Machine (web.archive.org): pages of the web as they were captured, and lists of captures",
    aliases=("wayback-machine", "internet-archive"),
    derive=derive,
    hosts=(api.INDEX, api.CAPTURES),
    credentials=(CONTACT,),
    options=(
        Option(
            "url",
            "the address, as people write it",
            metavar="URL",
            parse=address.parse,
            search_terms="address link page site website domain uri",
        ),
        Option(
            "as",
            "page: the form of its text",
            choices=("text", "markdown", "html"),
            default="text",
            search_terms="form output style",
        ),
        Option(
            "match",
            "captures: of the address, of all below it, or of all of its host",
            default="exact",
            choices=("exact", "prefix", "host"),
            search_terms="matchtype scope",
        ),
    ),
    operations=(
        Operation(
            name="page",
            fetch=fetch_page,  # a saved page lacks its headers, which say when it was captured
            dating=Dating(
                rule="five minutes after the later of the capture and its origin's own dates; undated if these are "
                "more than a day later",
                why="a capture is stamped when its request begins, and one of 1996 holds a page of July 1997",
            ),
            needs=("url",),
            takes=("as",),
            fields=(
                *fields("url", instant="captured_at", integer="status"),
                *fields("shows redirects_to content_type title published modified digest"),
                Field("digest_matches", "flag"),
                *fields("links text"),
            ),
            window="",
            archiving=Archiving(chooses=True),
            caveats=with_a_pit(_HINDSIGHT),
            timeout=180.0,
            search_terms="snapshot memento read article text",
        ),
        Operation(
            name="captures",
            fetch=fetch_captures,
            parse_reply=parse_reply,
            dating=Dating(
                rule="undated: the index does not show its captures' own dates",
                why="a row of 1996 is of a page of July 1997 (recorded); page checks each capture against its origin",
                claims="five minutes after the stamp of the capture in the archive's index; one was found to be half a "
                "year early",
                basis=(Basis("timestamp", after=timedelta(minutes=5)),),
            ),
            needs=("url",),
            takes=("match",),
            fields=(
                *fields("url", instant="captured_at", integer="status size"),
                *fields("content_type digest"),
            ),
            caveats=with_a_pit(_HINDSIGHT + _STAMPS),
            timeout=180.0,
            search_terms="snapshots list history cdx timemap mementos",
        ),
    ),
    page_size=100,
    listing=Listing(("selectolax",), "archive webarchive internetarchive memento web page"),
    help="""\
page serves the newest capture at or before the PIT that shows the page, and before it any newer one that
shows something else (shows: redirect, error, missing, wall or script). A long text is continued with --after.
url needs no scheme; what is behind # and parameters that track clicks do not count.
""",
)
