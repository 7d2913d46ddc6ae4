"""Alpaca's news (``GET /v1beta1/news``): Benzinga's articles, by the same stamps, in the latest revision alone.

``available_at`` is ``created_at``, ``revised_at`` is ``updated_at``; both are UTC to the second. Order and cursor run
by ``updated_at`` (recorded: a token is its nanoseconds and the id), so a slice of time is read whole, oldest first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from pit_fetch.gaps import Code
from pit_fetch.paging import follow, slices
from pit_fetch.provider import (
    Context,
    Credential,
    Dating,
    HeaderKey,
    Host,
    Listing,
    Operation,
    Option,
    Provider,
    Query,
    Rate,
    Record,
    UpstreamError,
    Watermark,
)
from pit_fetch.times import parse_rfc3339
from pit_fetch.wire import body_of, page_in, rows_in, text
from pit_fetch_providers import search_terms, symbols
from pit_fetch_providers.shared import fields, key_refused, lists_in, texts_in, utc_seconds, with_a_pit

KEY_ID = Credential("key-id", ("APCA_API_KEY_ID", "ALPACA_API_KEY"), "The id of a key of https://alpaca.markets.")
SECRET = Credential("secret", ("APCA_API_SECRET_KEY", "ALPACA_SECRET_KEY"), "The secret that belongs to the key's id.")
HOST = Host(
    "Alpaca",
    "https://data.alpaca.markets",
    "PIT_FETCH_ALPACA_NEWS_URL",
    Rate(calls=200, seconds=60),
    HeaderKey(KEY_ID.name, "APCA-API-KEY-ID", beside=HeaderKey(SECRET.name, "APCA-API-SECRET-KEY")),
)
PAGE_SIZE = 50
BEGINNING = datetime(2015, 1, 1, tzinfo=UTC)
# About 130 articles appear in a day, few of them about one symbol.
SLICE, SLICE_OF_SYMBOLS = timedelta(days=1), timedelta(days=7)
MAX_EMPTY = 30
SYMBOL = r"[A-Z0-9][A-Z0-9.]*(?:/[A-Z0-9]+)?"
_TEXTS = ("headline", "author", "summary", "content", "url", "source", "created_at", "updated_at")


def fetch(query: Query, context: Context) -> Iterator[Record | Watermark]:
    """Yield the articles of one slice of time after the other, newest first."""
    wanted = query.options["symbols"]

    def read(start: datetime, end: datetime) -> Iterator[Record]:
        asked = {"start": utc_seconds(start), "end": utc_seconds(end), "sort": "asc", "limit": str(PAGE_SIZE)}
        asked |= {"include_content": "true", **({"symbols": ",".join(wanted)} if wanted else {})}
        for page in follow(lambda token: read_page(context, asked, token), ""):
            yield from page.records

    length = SLICE_OF_SYMBOLS if wanted else SLICE
    # Down from the PIT, whatever --date-to is: what was published before it may have been edited since.
    end = min(query.now, query.started)
    yield from slices(read, max(query.since or BEGINNING, BEGINNING), end, length, max_empty=MAX_EMPTY)


def read_page(context: Context, asked: Mapping[str, str], token: str) -> tuple[list[Record], str | None]:
    """Return the articles of one page, and the token of the next; None at the end."""
    reply = context.http.get(HOST.name, "/v1beta1/news", {**asked, **({"page_token": token} if token else {})})
    if reply.status in (401, 403):
        raise key_refused(HOST, KEY_ID)
    if reply.status == 422:
        raise UpstreamError(Code.BAD_CALL, host=HOST.name)
    rows, following = page_in(body_of(reply, HOST.name, ()) or b"", "news", following="next_page_token")
    return [record(row) for row in rows], following


def parse_reply(body: bytes, query: Query) -> Iterator[Record]:
    """Yield the articles of one raw reply."""
    yield from map(record, rows_in(body, "news"))


def record(row: Mapping[str, Any]) -> Record:
    """Return one article. Without a last revision it is undated: there may be one from after the PIT."""
    created, updated = parse_rfc3339(row.get("created_at")), parse_rfc3339(row.get("updated_at"))
    payload = {**texts_in(row, *_TEXTS), **lists_in(row, "symbols")}
    return Record(text(row.get("id")), created if updated else None, payload, updated)


def select(query: Query, record: Record) -> bool:
    """Return whether an article is about one of the symbols."""
    wanted = query.options["symbols"]
    return not wanted or not {*wanted}.isdisjoint(record.payload.get("symbols", ()))


def when_empty(query: Query) -> str:
    """Return how symbols are written."""
    return "A share is written AAPL, a coin BTCUSD." if query.options["symbols"] else ""


def _normalize(query: Query) -> Query:
    symbols.check("--symbols", query.options["symbols"] or (), SYMBOL, "AAPL,MSFT, and coins as in BTCUSD")
    return query


PROVIDER = Provider(
    name="alpaca_news",
    summary="Alpaca's news: Benzinga's articles since 2015, by symbol",
    select=select,
    when_empty=when_empty,
    hosts=(HOST,),
    credentials=(KEY_ID, SECRET),
    options=(
        Option(
            "symbols",
            "articles about any of these symbols",
            kind="list",
            metavar="AAPL,BTCUSD",
            uppercase=True,
            affects_records=False,
            covered_by="superset",
            search_terms=search_terms.TICKERS,
        ),
    ),
    operations=(
        Operation(
            fetch=fetch,
            parse_reply=parse_reply,
            dating=Dating(
                rule="by created_at, the publication, and by updated_at, the last revision",
                why="the API serves the latest revision only; articles were edited up to 29 hours later (documented)",
            ),
            fields=(
                *fields("headline author summary content url source", lists="symbols", required="headline symbols"),
                *fields(instant="created_at updated_at"),
            ),
            caveats=with_a_pit("Articles that were edited or removed between the PIT and the fetch are absent."),
            normalize=_normalize,
            timeout=300,
        ),
    ),
    page_size=PAGE_SIZE,
    listing=Listing(search_terms="alpaca apca"),
    help="""\
available_at is the publication (created_at), revised_at the last revision (updated_at). With --pit, an
article that was revised after the PIT is withheld. The articles are those of bz-news-api, by the same ids.
A window is read down from the PIT: for an old one, give a PIT that is near its end.
""",
)
