"""How Yahoo Finance looks to a program as of an instant.

News are dated. The rest is today's, and withheld in Yahoo's own words, but for what the operator accepts on a claim:
closes as they were traded, splits, and the calendar of earnings. A session is made here: a cookie's dates are today's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from html import escape
from typing import Any
from zoneinfo import ZoneInfo

from pit_fetch.provider import Asked, HttpReply, Record, Row, View
from pit_fetch.times import NEW_YORK, parse_rfc3339
from pit_fetch_providers.shared import refuse
from pit_fetch_providers.yahoo import api, earnings, fetch_earnings, news, prices

_SESSION = "A3=d=viewed; Domain=.yahoo.com; Path=/; Max-Age=31536000; Secure"
_ABSENT = "No data found, symbol may be delisted: of then nothing is proved (--evidence claimed serves closes)"
_RANGES = ("1d", "5d", "1mo", "3mo", "6mo", "1y", "2y", "5y", "10y", "ytd", "max")
_DAYS = {"d": 1.0, "wk": 7.0, "mo": 30.4375, "y": 365.25}
_PRICES = ("open", "high", "low", "close", "volume")
_ARTICLE = ("uuid", "title", "publisher", "link", "providerPublishTime", "type", "thumbnail", "relatedTickers")
# What else an article of the stream comes with is of the moment: quotes, and links to other stories.
_MOMENTARY = {"content/finance": None, "content/storyline": None, "content/metadata": None}
_MOST = 100


def _json(asked: Asked, document: Any, status: int = 200, **headers: str) -> HttpReply:
    body = document.encode() if isinstance(document, str) else json.dumps(document, separators=(",", ":")).encode()
    kind = "application/json" if not isinstance(document, str) else "text/plain"
    return HttpReply(status, {"content-type": kind, **headers}, body, asked.query.started)


def _withheld(name: str, status: int = 404) -> Callable[[Asked], HttpReply]:
    error = {"code": "Not Found", "description": _ABSENT} if status == 404 else None
    document: dict[str, Any] = {name: {"result": None if error else [], "error": error}}
    return lambda asked: _json(asked, document, status)


def _claimed(asked: Asked, records: Iterator[Record]) -> Iterator[Record]:
    """Yield the records that are claimed to have been public, with what is claimed of them."""
    bound = min(asked.query.horizon, asked.query.started)
    for record in records:
        if asked.query.accepts_claims and record.claimed_at is not None and record.claimed_at <= bound:
            yield record._replace(payload=record.claimed_payload or record.payload)


def _chart(asked: Asked) -> HttpReply:
    interval = prices.SYNONYMS.get(asked.params.get("interval", "1d"), asked.params.get("interval", "1d"))
    query = asked.query._replace(options={**asked.query.options, "interval": interval})
    if not query.accepts_claims or interval not in prices.INTERVALS:
        return _withheld("chart")(asked)
    reply = api.chart(asked.context, asked.named["symbol"], prices.parameters(query))
    if reply is None:
        return _withheld("chart")(asked)
    rows = list(_claimed(asked, prices.read(reply.body, query, reply.received_at)))
    kept = sorted((begins, row) for row in rows if (begins := parse_rfc3339(row.payload["start"])) is not None)
    first, last, newest = _window(asked)
    bars = [(at, row) for at, row in kept if row.payload["record_type"] == "bar" and first <= at < last][-newest:]
    if not bars:
        return _withheld("chart")(asked)
    splits = [(at, row) for at, row in kept if row.payload["record_type"] == "split" and bars[0][0] <= at < last]
    meta = json.loads(reply.body)["chart"]["result"][0]["meta"]
    local = asked.query.now.astimezone(ZoneInfo(meta["exchangeTimezoneName"]))
    head = {name: meta.get(name) for name in ("currency", "symbol", "exchangeName", "instrumentType")}
    head |= {"gmtoffset": int((local.utcoffset() or timedelta()).total_seconds()), "timezone": local.tzname()}
    head |= {"exchangeTimezoneName": meta["exchangeTimezoneName"], "priceHint": 2, "dataGranularity": interval}
    head |= {"range": asked.params.get("range", ""), "validRanges": _RANGES}
    quote = {name: [row.payload.get(name) for _, row in bars] for name in _PRICES}
    events = {str(int(at.timestamp())): _split(at, row.payload) for at, row in splits}
    result = {"meta": head, "timestamp": [int(at.timestamp()) for at, _ in bars], "indicators": {"quote": [quote]}}
    result |= {"events": {"splits": events}} if events else {}
    return _json(asked, {"chart": {"result": [result], "error": None}})


def _split(at: datetime, row: Mapping[str, Any]) -> dict[str, Any]:
    numbers = {name: row[name] for name in ("numerator", "denominator")}
    return {"date": int(at.timestamp()), **numbers, "splitRatio": f"{row['numerator']:g}:{row['denominator']:g}"}


def _window(asked: Asked) -> tuple[datetime, datetime, int]:
    """Return the first instant, the one after the last, and the most bars. A range counts back from the instant."""
    now, params = asked.query.now, asked.params
    ends = [datetime.fromtimestamp(int(text), now.tzinfo) if text.lstrip("-").isdecimal() else None
            for text in (params.get("period1", ""), params.get("period2", ""))]  # fmt: skip
    last = min(ends[1] or now, now)
    match = re.fullmatch(r"([0-9]{1,3})(d|wk|mo|y)", params.get("range", ""))
    if ends[0] is not None:
        return ends[0], last, 0
    if match is not None and match[2] == "d":
        return prices.BEGINNING, last, int(match[1])
    if match is not None:
        return last - timedelta(days=int(match[1]) * _DAYS[match[2]]), last, 0
    is_ytd = params.get("range") == "ytd"
    return (last.replace(month=1, day=1, hour=0, minute=0) if is_ytd else prices.BEGINNING), last, 0


def _calendar(asked: Asked) -> HttpReply:
    """Return the calendar of earnings of a company, as a table with the rows that are claimed."""
    symbol = asked.params.get("symbol", "")
    records = (record for page in fetch_earnings(asked.query, asked.context) for record in page.records)
    rows = list(_claimed(asked, records)) if asked.query.accepts_claims else []
    numbers = [asked.params.get(name, default) for name, default in (("offset", "0"), ("size", "25"))]
    first, size = (int(text) if text.isdecimal() else 0 for text in numbers)
    lines = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in _cells(row))}</tr>" for row in rows[first : first + size]
    )
    heads = "".join(f"<th>{title}</th>" for title in earnings.TITLES)
    table = f"<table><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>" if lines else ""
    page = f"<html><body><h1>{earnings.HEADING}: {escape(symbol)}</h1>{table}</body></html>"
    return _json(asked, page)._replace(headers={"content-type": "text/html; charset=utf-8"})


def _cells(record: Record) -> Iterator[str]:
    row, hour = record.payload, datetime.fromisoformat(record.payload["date"])
    yield from (row["symbol"], "")
    yield f"{hour:%B} {hour.day}, {hour.year} at {hour:%I %p} {hour.replace(tzinfo=NEW_YORK):%Z}"
    yield from (row.get(name) or "-" for name in ("epsEstimate", "reportedEPS", "surprisePercent"))


def _service(asked: Asked) -> tuple[str, int]:
    service = asked.body.get("serviceConfig") if isinstance(asked.body, dict) else None
    symbols, count = (service.get("s"), service.get("snippetCount")) if isinstance(service, dict) else (None, None)
    if not isinstance(symbols, list) or len(symbols) != 1 or not isinstance(symbols[0], str):
        refuse("news are asked for one symbol.")
    return symbols[0], count if type(count) is int and count > 0 else 10


def _ask_news(asked: Asked) -> Generator[HttpReply, int, None]:
    tabs = {query: tab for tab, query in api.TABS.items()}
    if asked.params.get("queryRef") not in tabs:
        refuse(f"queryRef is one of {', '.join(tabs)}.")
    yield api.news(asked.context, _service(asked)[0], tabs[asked.params["queryRef"]])


def _article(row: Row, asked: Asked) -> Record | None:
    is_article = isinstance(row.value, dict) and not row.value.get("ad")
    return news.article(row.value) if is_article else None


def _search_article(row: Row, asked: Asked) -> Record | None:
    return news.search_article(row.value) if isinstance(row.value, dict) else None


def _news_frame(asked: Asked, rows: Sequence[Row]) -> dict[str, Any]:
    return {"data": {"tickerStream": {"stream": []}}, "status": "OK"}


def _search_frame(asked: Asked, rows: Sequence[Row]) -> dict[str, Any]:
    return {"explains": [], "count": len(rows), "quotes": [], "news": [], "nav": [], "lists": [], "researchReports": []}


def _ask_search(asked: Asked) -> Generator[HttpReply, int, None]:
    yield asked.get({**asked.params, "newsCount": str(_MOST), "quotesCount": "0"})


def _search_page(asked: Asked) -> tuple[int, int]:
    text = asked.params.get("newsCount", "")
    return 0, int(text) if text.isdecimal() else 8


_AT = r"query[12]\.finance\.yahoo\.com"
_QUERY = View(api.QUERY.name, "", "prices", at=_AT)
_SYMBOL = "(?P<symbol>[^/]+)"
VIEWS = (
    View(api.COOKIES.name, ".*", "prices", document=lambda asked: _json(asked, "", 404, **{"set-cookie": _SESSION})),
    _QUERY._replace(path="/v1/test/getcrumb", document=lambda asked: _json(asked, "viewed")),
    _QUERY._replace(path=f"/v8/finance/chart/{_SYMBOL}", document=_chart),
    _QUERY._replace(path="/v7/finance/quote", operation="consensus", document=_withheld("quoteResponse", 200)),
    _QUERY._replace(
        path=f"/v10/finance/quoteSummary/{_SYMBOL}", operation="consensus", document=_withheld("quoteSummary")
    ),
    _QUERY._replace(
        path=f"/ws/fundamentals-timeseries/v1/finance/timeseries/{_SYMBOL}", operation="consensus",
        document=_withheld("timeseries", 200),
    ),
    _QUERY._replace(
        path="/v1/finance/search", operation="news", rows=("news/*",), record=_search_article, ask=_ask_search,
        page=_search_page,
        fields=_ARTICLE, frame=_search_frame,
    ),
    View(
        api.WEB.name, "/xhr/ncp", "news", ("data/tickerStream/stream/*",), _article, _ask_news,
        lambda asked: (0, _service(asked)[1]), fields=("id", "content"), blank=_MOMENTARY, frame=_news_frame,
        method="POST",
    ),
    View(api.WEB.name, "/calendar/earnings", "earnings", document=_calendar),
)  # fmt: skip
