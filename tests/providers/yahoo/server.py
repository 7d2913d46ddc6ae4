"""Yahoo's chart, summary, news and earnings calendar, the cookie and the crumb that they want, and its errors."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, NamedTuple
from urllib.parse import unquote

from pit_fetch.testing.server import App, Response
from pit_fetch.transport import HttpRequest
from tests.loopback.broken import body_of

VARIABLES = dict[str, str]()
CRUMB = "haT3oykhHqZ"
COOKIE = "A3=d=AQABBKvcsWcC&S=AQAAAtFJa; A1S=d=AQABBKvcsWcC&S=AQAAAtFJa"
# As fc.yahoo.com sets them: with a comma in each date, and joined by one (RFC 9110, 5.3).
SET_COOKIE = (
    "A3=d=AQABBKvcsWcC&S=AQAAAtFJa; Expires=Mon, 22 Nov 2027 01:02:03 GMT; Domain=.yahoo.com; Path=/; Secure, "
    "A1S=d=AQABBKvcsWcC&S=AQAAAtFJa; Domain=.yahoo.com; Path=/; SameSite=Lax; Secure"
)
# Recorded.
INVALID_CRUMB = {"finance": {"result": None, "error": {"code": "Unauthorized", "description": "Invalid Crumb"}}}
DOWN = Response(
    b"<!doctype html><html><head><title>Yahoo</title></head><body><h1>Will be right back...</h1></body></html>"
)
CONSENT = Response(b"", 307, {"Location": "https://guce.yahoo.com/consent?brandType=nonEu&done=https%3A%2F%2Ffinance"})
_TITLES = ("Symbol", "Company", "Earnings Date", "EPS Estimate", "Reported EPS", "Surprise (%)")


class Company(NamedTuple):
    """Yahoo's data on one symbol. A value that is not of its kind stands in the reply as it is.

    bars      (Unix seconds, open, high, low, close, volume, adjclose)
    articles  (id, pubDate, displayTime, title)
    calendar  rows of cells, without symbol and company
    grades    (Unix seconds, firm, toGrade, fromGrade, action)
    summary   the other modules of the company's summary
    session   the regular hours of the exchange (start, end; Unix seconds)
    kind      of the instrument: EQUITY, ETF, CURRENCY and so on
    name      the company's, in the calendar
    """

    bars: Sequence[Sequence[Any]] = ()
    dividends: Sequence[Mapping[str, Any]] = ()
    splits: Sequence[Mapping[str, Any]] = ()
    articles: Sequence[Any] = ()
    calendar: Sequence[Any] = ()
    grades: Sequence[Any] = ()
    summary: Mapping[str, Any] = {}
    zone: str = "America/New_York"
    currency: str = "USD"
    session: Mapping[str, Any] = {}
    name: str = "A Company"
    kind: str = "EQUITY"


def app(companies: Mapping[str, Company], *, strict: bool = True) -> App:
    """Return the server. ``strict``: charts and pages need a cookie, and charts a crumb, too."""

    def answer(request: HttpRequest) -> Response:
        path, has_cookie = unquote(request.path), request.header("Cookie") == COOKIE
        if path == "/":
            return Response(b"", 404, {"Set-Cookie": SET_COOKIE})
        if path == "/v1/test/getcrumb":
            return Response(CRUMB.encode()) if has_cookie else _raw(INVALID_CRUMB, 401)
        is_known = has_cookie and request.query.get("crumb") == CRUMB
        if path.startswith("/v8/finance/chart/"):
            symbol = path.rpartition("/")[2]
            if strict and not is_known:
                return _raw(INVALID_CRUMB, 401)
            if symbol not in companies:
                return not_found("chart")
            return _raw(chart(symbol, companies[symbol], request.query["interval"]))
        if path.startswith("/v10/finance/quoteSummary/"):
            symbol = path.rpartition("/")[2]
            if not is_known:
                return _raw(INVALID_CRUMB, 401)
            if symbol not in companies:
                return not_found("quoteSummary")
            return _raw(summary(companies[symbol], request.query["modules"]))
        if strict and not has_cookie:
            return Response(b"Forbidden", 403)
        if path == "/xhr/ncp" and request.method == "POST":
            (symbol,) = json.loads(request.body or b"")["serviceConfig"]["s"]
            return _raw(news(companies.get(symbol, Company())))
        if path == "/calendar/earnings":
            symbol, first = request.query["symbol"], int(request.query["offset"])
            size = min(int(request.query["size"]), 100)
            company = companies.get(symbol, Company())
            return Response(page(symbol, company.calendar[first : first + size], company.name))
        return Response(b"", 404)

    return answer


def not_found(kind: str) -> Response:
    """Return the reply recorded for a symbol that Yahoo does not know (any more)."""
    error = {"code": "Not Found", "description": "No data found, symbol may be delisted"}
    return _raw({kind: {"result": None, "error": error}}, 404)


def chart(symbol: str, company: Company, interval: str = "1d") -> dict[str, Any]:
    columns = list(zip(*company.bars, strict=True)) or [()] * 7
    times, *quote, adjclose = (list(values) for values in columns)
    names = ("open", "high", "low", "close", "volume")
    result: dict[str, Any] = {
        "meta": {
            "currency": company.currency,
            "symbol": symbol,
            "exchangeName": "NMS",
            "instrumentType": company.kind,
            "gmtoffset": -18000,
            "timezone": "EST",
            "exchangeTimezoneName": company.zone,
            "currentTradingPeriod": {"regular": {"timezone": "EST", "gmtoffset": -18000, **company.session}},
            "dataGranularity": interval,
            "range": "",
        },
        "indicators": {"quote": [dict(zip(names, quote, strict=True))], "adjclose": [{"adjclose": adjclose}]},
    }
    if times:
        result["timestamp"] = times
    rows = {"dividends": company.dividends, "splits": company.splits}
    events = {kind: {str(event["date"]): dict(event) for event in listed} for kind, listed in rows.items() if listed}
    if events:
        result["events"] = events
    return {"chart": {"result": [result], "error": None}}


def summary(company: Company, modules: str) -> dict[str, Any]:
    names = ("epochGradeDate", "firm", "toGrade", "fromGrade", "action")
    history = [dict(zip(names, grade, strict=True)) if isinstance(grade, tuple) else grade for grade in company.grades]
    known = {"upgradeDowngradeHistory": {"history": history, "maxAge": 86400}, **company.summary}
    result = {name: known[name] for name in modules.split(",") if name in known}
    return {"quoteSummary": {"result": [result], "error": None}}


def news(company: Company) -> dict[str, Any]:
    return {"data": {"tickerStream": {"stream": [_article(article) for article in company.articles], "pagination": {}}}}


def page(symbol: str, rows: Sequence[Any], name: str = Company().name) -> bytes:
    """Return a page of the earnings calendar; well-formed, so that it can be read as XML as well."""
    heading = "".join(f"<th>{title}</th>" for title in _TITLES)
    body = "".join(row if isinstance(row, str) else _row((symbol, name, *row)) for row in rows)
    table = f"<table><thead><tr>{heading}</tr></thead><tbody>{body}</tbody></table>" if rows else ""
    return (
        "<html><head><title>Company Earnings Calendar - Yahoo Finance</title></head><body>"
        f"<h1>Showing Earnings for: {escape(symbol)}</h1>{table}</body></html>"
    ).encode()


def _row(cells: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<td>{escape(text)}</td>" for text in cells) + "</tr>"


def _article(article: Any) -> Any:
    if not isinstance(article, tuple):
        return article
    name, published, displayed, title = article
    content = {
        "id": name,
        "contentType": "STORY",
        "title": title,
        "description": "",
        "summary": "What it says.",
        "pubDate": published,
        "displayTime": displayed,
        "provider": {"displayName": "A Publisher", "url": "https://publisher.example/"},
        "canonicalUrl": {"url": f"https://publisher.example/{name}", "site": "finance"},
        "clickThroughUrl": None,
    }
    return {"id": name, "content": content}


def _raw(document: Any, status: int = 200) -> Response:
    return Response(body_of(document), status, {"Content-Type": "application/json;charset=utf-8"})
