"""Finnhub: news of a company, on a claim, and its calendar of earnings, as it was received.

News has the publisher's time alone: rows are added to the past, and texts change without a mark (recorded: 128 of 246
rows have a higher id than one published over an hour later). A row of the calendar is overwritten in place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

from pit_fetch.provider import (
    Context,
    Credential,
    Dating,
    HeaderKey,
    Host,
    HttpReply,
    Operation,
    Option,
    Provider,
    Query,
    Rate,
    Record,
    Watermark,
)
from pit_fetch.times import delayed, in_new_york, parse_unix
from pit_fetch.wire import body_of, check_rows, rows_in, text
from pit_fetch_providers import search_terms, symbols
from pit_fetch_providers.shared import fields, key_refused, not_entitled, texts_in, with_a_pit

KEY = Credential("key", ("FINNHUB_API_KEY",), "A free key comes from https://finnhub.io/register.")
HOST = Host(
    "Finnhub",
    "https://finnhub.io",
    "PIT_FETCH_FINNHUB_URL",
    Rate(calls=60, seconds=60),
    HeaderKey(KEY.name, "X-Finnhub-Token"),
)
# An aggregator's delay behind the publisher's stamp, as far as can be claimed.
MARGIN = timedelta(minutes=15)
DAY = timedelta(days=1)
MAX_EMPTY = 30
SYMBOL = r"[A-Z0-9][A-Z0-9.:/_-]*"


def news(query: Query, context: Context) -> Iterator[Record | Watermark]:
    """Yield the news of one day after the other, newest first. A reply has at most about 250 rows, without a mark."""
    end = min(query.horizon, query.started)
    if end.year < 2000:
        return
    # The zone of a day is not documented: of UTC or New York, this one is the last and that one the first.
    day, first = (
        end.date(),
        max(query.since or datetime(2000, 1, 1, tzinfo=UTC), datetime(2000, 1, 1, tzinfo=UTC)).date() - DAY,
    )
    while day >= first:
        yield from read_day(context, query, day)
        yield Watermark(datetime(day.year, day.month, day.day, 6, tzinfo=UTC) + MARGIN, MAX_EMPTY)
        day -= DAY


def read_day(context: Context, query: Query, day: date) -> list[Record]:
    """Return the news of a day. What a server that ignores dates sends of others is left to them."""
    asked = {"symbol": query.options["symbol"], "from": day.isoformat(), "to": day.isoformat()}
    records = parse_news(_checked(context.http.get(HOST.name, "/api/v1/company-news", asked), "news"), query)
    end = datetime(day.year, day.month, day.day, 6, tzinfo=UTC) + DAY + MARGIN
    return [made for made in records if made.claimed_at is None or made.claimed_at <= end]


def _checked(reply: HttpReply, what: str) -> bytes:
    if reply.status == 401:
        raise key_refused(HOST, KEY)
    if reply.status == 403:
        raise not_entitled(HOST, what)
    return body_of(reply, HOST.name, ()) or b""


def parse_news(body: bytes, query: Query) -> Iterator[Record]:
    """Yield the news of one raw reply."""
    rows = list(rows_in(body))
    check_rows(rows, "datetime")
    return map(article, rows)


def article(row: Mapping[str, Any]) -> Record:
    """Return one article, on a claim. Addresses are those of a redirect, which leads to today's page."""
    published = parse_unix(row.get("datetime"))
    payload = {
        **texts_in(row, "headline", "summary", "source"),
        "datetime": in_new_york(published) if published else None,
    }
    return Record(text(row.get("id")), None, payload, claimed_at=delayed(published, MARGIN))


def earnings(query: Query, context: Context) -> Iterator[Record]:
    """Yield the calendar of the window, as it is now."""
    since, until = query.since or query.now - 365 * DAY, query.until or query.now + 365 * DAY
    asked = {"symbol": query.options["symbol"], "from": since.date().isoformat(), "to": until.date().isoformat()}
    reply = context.http.get(HOST.name, "/api/v1/calendar/earnings", asked)
    for row in rows_in(_checked(reply, "earnings"), "earningsCalendar"):
        yield event(row, reply.received_at)


def parse_earnings(body: bytes, query: Query) -> Iterator[Record]:
    """Yield the calendar of one raw reply, as received when the run began."""
    for row in rows_in(body, "earningsCalendar"):
        yield event(row, query.started)


def event(row: Mapping[str, Any], received: datetime) -> Record:
    """Return one report of the calendar, by its company, year and quarter."""
    names = [text(row.get(name)) for name in ("symbol", "year", "quarter")]
    figures = {name: row[name] for name in _FIGURES if name in row and isinstance(row[name], (int, float, type(None)))}
    return Record(
        ":".join(names) if all(names) else "",
        received,
        {**texts_in(row, "symbol", "date", "hour"), **figures},
        at_receipt=True,
    )


def _normalize(query: Query) -> Query:
    symbols.check("symbol", [query.options["symbol"]], SYMBOL, "AAPL or BRK.B")
    return query


_FIGURES = ("year", "quarter", "epsEstimate", "epsActual", "revenueEstimate", "revenueActual")
PROVIDER = Provider(
    name="finnhub",
    summary="Finnhub: news of a company, and its calendar of earnings",
    hosts=(HOST,),
    credentials=(KEY,),
    options=(
        Option(
            "symbol",
            "a company of North America",
            metavar="AAPL",
            uppercase=True,
            search_terms=search_terms.SYMBOL,
        ),
    ),
    operations=(
        Operation(
            "news",
            fetch=news,
            parse_reply=parse_news,
            dating=Dating(
                rule="nothing proves when an article was first served, nor its text",
                why="rows are added to the past, and texts change without a mark (recorded)",
                claims="15 minutes after datetime, the publisher's time; texts may have been edited since, and "
                "the row may have been added later",
            ),
            needs=("symbol",),
            fields=(*fields("headline summary source", required="headline"), *fields(instant="datetime")),
            caveats=with_a_pit(
                "A day has at most about 250 articles, and articles that were removed before the fetch are absent."
            ),
            normalize=_normalize,
        ),
        Operation(
            "earnings",
            fetch=earnings,
            parse_reply=parse_earnings,
            dating=Dating(
                "receipt",
                rule="when it is fetched",
                why="dates, estimates and results are overwritten in place, and no row says when",
            ),
            needs=("symbol",),
            fields=(
                *fields("symbol hour", date="date", number="epsEstimate epsActual revenueEstimate revenueActual"),
                *fields(integer="year quarter"),
            ),
            window="date",
            period="date",
            normalize=_normalize,
        ),
    ),
    help="""\
news is served on a claim alone (--evidence claimed), or as an archive saw it. earnings is as of the fetch:
with a PIT in the past only an archive answers. A figure as it was filed is proved by sec_facts.
""",
)
