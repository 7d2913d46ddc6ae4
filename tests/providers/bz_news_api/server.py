"""Benzinga's ``GET /api/v2/news``: token, paging, window, sort, the 10,000-item cap, and its errors."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from typing import Any

from pit_fetch.testing.server import App, Response, as_json
from pit_fetch.transport import HttpRequest
from tests.loopback.broken import body_of

TOKEN = "bz-0123456789abcdef"
VARIABLES = {"BENZINGA_API_KEY": TOKEN}
# Benzinga writes this offset all year round.
ZONE = timezone(timedelta(hours=-4))
_UNDATED = datetime.min.replace(tzinfo=UTC)


def stamp(moment: datetime) -> str:
    return moment.astimezone(ZONE).strftime("%a, %d %b %Y %H:%M:%S %z")


def article(number: int, public: datetime, revised: datetime | None = None, /, **changes: Any) -> dict[str, Any]:
    """Return an article in the shape of the wire, by default revised a second after its publication."""
    item = {
        "id": number,
        "author": "Newsdesk",
        "created": stamp(public),
        "updated": stamp(revised or public + timedelta(seconds=1)),
        "title": f"Title {number}",
        "teaser": " ",
        "body": f"<p>Body of {number}</p>",
        "url": f"https://www.benzinga.com/news/{number}",
        "image": [],
        "channels": [{"name": "News"}],
        "stocks": [{"name": "AAPL", "exchange": "NASDAQ"}],
        "tags": [],
    }
    return {**item, **changes}


def exported(row: dict[str, Any]) -> dict[str, Any]:
    """Return an article as exports and dumps write it: RFC 3339, symbols as objects, channels as words, no body."""
    made = {**row, "body": row["body"] or None}
    for key in ("created", "updated"):
        moment = _moment(row.get(key))
        if moment is not None and str(row[key]).endswith(stamp(moment)[-5:]):  # -0000 is no offset
            made[key] = moment.isoformat()
    stocks, channels = made.pop("stocks", None), row.get("channels")
    made["symbols"] = [{"symbol": row["name"]} for row in stocks] if isinstance(stocks, list) else stocks
    if isinstance(channels, list):
        made["channels"] = [row["name"] for row in channels]
    return made


def app(articles: Sequence[dict[str, Any]], token: str = TOKEN, cap: int = 10_000) -> App:
    """Return the server of ``articles``, which stand in any order."""
    by_time = sorted(
        ((_created(article), article) for article in articles), key=lambda pair: pair[0] or _UNDATED, reverse=True
    )
    dated = [(None if at is None else at.astimezone(ZONE).date().isoformat(), row) for at, row in by_time]

    @lru_cache(4)
    def found_in(first: str | None, last: str | None, tickers: str | None) -> list[dict[str, Any]]:
        in_window = [row for day, row in dated if _in_window(day, first, last)]
        return [row for row in in_window if set(tickers.split(",")) & _symbols(row)] if tickers else in_window

    def answer(request: HttpRequest) -> Response:
        query = request.query
        if request.path != "/api/v2/news":
            return as_json({"ok": False}, 404)
        if query.get("token") != token:
            error = {"code": "auth_failed", "id": "unauthorized", "value": f"Invalid token {query.get('token')}"}
            return as_json({"ok": False, "errors": [error]}, 401)
        page, size = int(query.get("page", "0")), int(query.get("pageSize", "15"))
        if size > 100 or page * size >= cap:
            return as_json({"message": "Invalid page size"}, 400)
        in_window = found_in(query.get("dateFrom"), query.get("dateTo"), query.get("tickers"))
        return Response(body_of(in_window[page * size : (page + 1) * size]), 200, {"Content-Type": "application/json"})

    return answer


def _symbols(row: dict[str, Any]) -> set[str]:
    stocks = row.get("stocks")
    return {stock["name"] for stock in stocks} if isinstance(stocks, list) else set()


def _created(row: dict[str, Any]) -> datetime | None:
    return _moment(row.get("created"))


def _moment(stamp: Any) -> datetime | None:
    try:
        return datetime.strptime(str(stamp), "%a, %d %b %Y %H:%M:%S %z")
    except (TypeError, ValueError):
        return None


def _in_window(day: str | None, first: str | None, last: str | None) -> bool:
    return day is None or ((not first or day >= first) and (not last or day <= last))
