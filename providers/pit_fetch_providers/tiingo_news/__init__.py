"""Tiingo's news (``GET /tiingo/news``): links by the time of the crawl, and their texts on a claim.

``crawlDate`` is when a third party read the page (recorded: served within two seconds). ``publishedDate`` is the
publisher's own, and up to hours earlier. There is no stamp of an edit, so titles and tags are claims.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from itertools import chain
from typing import Any

from pit_fetch.paging import numbered
from pit_fetch.provider import (
    Context,
    Credential,
    Dating,
    HeaderKey,
    Host,
    Listing,
    Operation,
    Option,
    Page,
    Provider,
    Query,
    Rate,
    Record,
)
from pit_fetch.times import delayed, parse_rfc3339
from pit_fetch.wire import body_of, check_rows, rows_in, text
from pit_fetch_providers import search_terms
from pit_fetch_providers.shared import (
    claimed_text,
    fields,
    key_refused,
    lists_in,
    not_entitled,
    texts_in,
    utc_seconds,
    with_a_pit,
)

KEY = Credential(
    "key", ("TIINGO_API_KEY",), "A key comes with an account of https://www.tiingo.com. News is not in every plan."
)
HOST = Host(
    "Tiingo",
    "https://api.tiingo.com",
    "PIT_FETCH_TIINGO_NEWS_URL",
    Rate(calls=50, seconds=3600),
    HeaderKey(KEY.name, "Authorization", "Token {value}"),
)
ROWS = 100
# From the crawl to the reply (recorded: 1.3 s), and by how much a publisher's clock may be ahead of the crawl.
MARGIN, AHEAD = timedelta(seconds=5), timedelta(days=1)
DAY = timedelta(days=1)


def fetch(query: Query, context: Context) -> Iterator[Page]:
    """Yield the links of the window, the last crawled first."""
    # Whether the dates are inclusive, and in which zone, is not documented: a day more on each side.
    asked = {"sortBy": "crawlDate", "limit": str(ROWS), "endDate": utc_seconds(query.horizon + DAY)[:10]}
    if query.since is not None:
        asked["startDate"] = utc_seconds(query.since - DAY)[:10]
    wanted = {"tickers": query.options["tickers"], "source": query.options["domains"]}
    asked |= {name: ",".join(names) for name, names in wanted.items() if names}

    def page(offset: int) -> list[Record]:
        return read_page(context, {**asked, "offset": str(offset)}, query)

    yield from numbered(page, size=2 * ROWS, step=ROWS, newest_first=True, slack=AHEAD)


def read_page(context: Context, asked: Mapping[str, str], query: Query) -> list[Record]:
    """Return the records of one page, two of each row."""
    reply = context.http.get(HOST.name, "/tiingo/news", asked)
    if reply.status == 401:
        raise key_refused(HOST, KEY)
    if reply.status == 403:
        raise not_entitled(HOST, "news")
    return list(parse_reply(body_of(reply, HOST.name, ()) or b"", query))


def parse_reply(body: bytes, query: Query) -> Iterator[Record]:
    """Yield the records of one raw reply."""
    rows = list(rows_in(body))
    check_rows(rows, "crawlDate")
    return chain.from_iterable(map(records, rows))


def records(row: Mapping[str, Any]) -> tuple[Record, Record]:
    """Return the link, and its texts on a claim. Undated if one stamp is missing, or the crawl is a day too early."""
    published, crawled = parse_rfc3339(row.get("publishedDate")), parse_rfc3339(row.get("crawlDate"))
    known = None if published is None or crawled is None or published - crawled > AHEAD else max(published, crawled)
    link = Record(
        text(row.get("id")), delayed(known, MARGIN), texts_in(row, "url", "source", "publishedDate", "crawlDate")
    )
    return claimed_text(link, {**texts_in(row, "title", "description"), **lists_in(row, "tags", "tickers")})


PROVIDER = Provider(
    name="tiingo_news",
    summary="Tiingo's news of many publishers, by ticker: links by the time of their crawl, texts on a claim",
    hosts=(HOST,),
    credentials=(KEY,),
    options=(
        Option(
            "tickers", "news about any of these", kind="list", metavar="AAPL,MSFT", search_terms=search_terms.TICKERS
        ),
        Option("domains", "of these publishers", kind="list", metavar="reuters.com", search_terms="domain publisher"),
    ),
    operations=(
        Operation(
            fetch=fetch,
            parse_reply=parse_reply,
            dating=Dating(
                rule="5 seconds after the later of publishedDate and crawlDate: that the link was there",
                why="crawlDate is a third party's, served within two seconds of it (recorded)",
                claims="the same instant, for title, description, tags and tickers (ID:text): they may have been "
                "read or assigned again since, without a mark",
            ),
            fields=(
                *fields("url source title description", lists="tags tickers", required="url"),
                *fields(instant="publishedDate crawlDate"),
            ),
            caveats=with_a_pit(
                "Tickers and tags are matched as they stand on the day of the fetch. How far back news goes depends on "
                "the key's plan. One story may have several links."
            ),
        ),
    ),
    page_size=2 * ROWS,
    listing=Listing(search_terms="tiingo"),
    help="""\
An item is a link (url, source, publishedDate, crawlDate). Its title, description, tags and tickers are an
item of their own, ID:text, which is served on a claim alone (--evidence claimed): nothing shows when they
were read again. available_at is 5 seconds after the later of the two stamps.
""",
)
