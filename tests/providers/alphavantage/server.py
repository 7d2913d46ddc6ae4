"""Alpha Vantage's ``GET /query``: functions, windows, sizes, JSON and CSV, and its errors inside HTTP 200."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from pit_fetch.testing.server import Answering, App, Response, as_json
from pit_fetch.transport import HttpRequest
from tests.inprocess import NOW, Answer, fetch

KEY = "AV0123456789ABCD"
VARIABLES = {"ALPHAVANTAGE_API_KEY": KEY}
SIGN_UP = "(https://www.alphavantage.co/support/#api-key). It should take less than 20 seconds."
PREMIUM = "https://www.alphavantage.co/premium/"

# What the source says in place of rows, as recorded or quoted.
BAD_KEY = {"Error Message": f"the parameter apikey is invalid or missing. Please claim your free API key on {SIGN_UP}"}
DEMO_KEY = {
    "Information": f"The **demo** API key is for demo purposes only. Please claim your free API key at {SIGN_UP}"
}
DAILY_LIMIT = {
    "Information": f"We have detected your API key as {KEY} and our standard API rate limit is 25 requests per day. "
    f"Please subscribe to any of the premium plans at {PREMIUM} to instantly remove all daily rate limits."
}
PER_SECOND = {
    "Information": "Thank you for using Alpha Vantage! Please consider spreading out your free API requests more "
    f"sparingly (1 request per second). You may subscribe to any of the premium plans at {PREMIUM} to lift the free "
    "key rate limit (25 requests per day), raise the per-second burst limit, and instantly unlock all premium endpoints"
}
BURST = {"Information": f"Burst pattern detected. Please consider spreading out your API requests. {PREMIUM}"}
PER_MINUTE = {
    "Note": "Thank you for using Alpha Vantage! Our standard API call frequency is 5 calls per minute and 500 calls "
    f"per day. Please visit {PREMIUM} if you would like to target a higher API call frequency."
}
PREMIUM_ENDPOINT = {"Information": f"Thank you for using Alpha Vantage! This is a premium endpoint. {PREMIUM}"}
PREMIUM_SIZE = {
    "Information": "Thank you for using Alpha Vantage! The outputsize=full parameter value is a premium feature for "
    f"the TIME_SERIES_DAILY endpoint. You may subscribe to any of the premium plans at {PREMIUM}"
}
# In the words of the documentation, which names the plans that include a function by their limits.
PREMIUM_PLANS = {
    "Information": "Thank you for using Alpha Vantage! This is a premium API function. Subscribe to either the 600 "
    "requests per minute or the 1200 requests per minute premium membership plan to unlock realtime options data"
}
CALL_VOLUME = {
    "Information": f"Thank you for using Alpha Vantage! Please visit {PREMIUM} if you would like to have a higher API "
    "call volume."
}
ARTIFICIAL = {
    "endpoint": "Realtime Bulk Quotes",
    "message": "This is a premium endpoint. ***THE SAMPLE DATA SCHEMA BELOW IS ARTIFICIAL AND FOR ILLUSTRATION "
    f"PURPOSES ONLY***. To access the actual data, please subscribe at {PREMIUM}",
    "data": [{"symbol": "MSFT", "timestamp": "2024-10-18 19:59:55.291", "close": "418.16"}],
}
NO_ARTICLES = {
    "Information": "No articles found. Please adjust the time range or refer to the API documentation "
    "https://www.alphavantage.co/documentation#newsapi and try again."
}


def invalid_call(function: str) -> dict[str, str]:
    return {
        "Error Message": "Invalid API call. Please retry or visit the documentation "
        f"(https://www.alphavantage.co/documentation/) for {function}."
    }


Bar = tuple[str, Mapping[str, str]]


@dataclass
class Store:
    """The content of the server: bars newest first by function, documents by function, articles. One symbol each."""

    bars: dict[str, list[Bar]] = field(default_factory=dict)
    documents: dict[str, Any] = field(default_factory=dict)
    articles: list[dict[str, Any]] = field(default_factory=list)
    zone: str = "US/Eastern"
    csv: bool = False
    # label -> what stands before it in a series of JSON
    before: dict[str, bytes] = field(default_factory=dict)


def bar(label: str, close: str = "10.5", **more: str) -> Bar:
    fields = {"open": "10.0000", "high": "11.0000", "low": "9.0000", "close": close, "volume": "100"}
    return label, {**fields, **{name.replace("_", " "): text for name, text in more.items()}}


def quarter(ends: str, reported: str, eps: str | None = "1.00", **changes: Any) -> dict[str, Any]:
    row = {
        "fiscalDateEnding": ends,
        "reportedDate": reported,
        "reportedEPS": eps,
        "estimatedEPS": "0.90",
        "surprise": "0.1",
        "surprisePercentage": "11.1111",
        "reportTime": "post-market",
    }
    return {**row, **changes}


def year(ends: str, eps: str) -> dict[str, Any]:
    return {"fiscalDateEnding": ends, "reportedEPS": eps}


def earnings(annual: Sequence[dict[str, Any]], quarterly: Sequence[dict[str, Any]], symbol: str = "IBM") -> Any:
    return {"symbol": symbol, "annualEarnings": list(annual), "quarterlyEarnings": list(quarterly)}


def article(stamp: str, name: str = "", **changes: Any) -> dict[str, Any]:
    row = {
        "title": f"Title {name or stamp}",
        "url": f"https://news.example/{name or stamp}",
        "time_published": stamp,
        "authors": ["A. Writer"],
        "summary": "A summary that a model wrote",
        "banner_image": None,
        "source": "Example",
        "category_within_source": "n/a",
        "source_domain": "news.example",
        "topics": [{"topic": "earnings", "relevance_score": "0.9"}],
        "overall_sentiment_score": 0.22902,
        "overall_sentiment_label": "Somewhat-Bullish",
        "ticker_sentiment": [{"ticker": "AAPL", "relevance_score": "1.0", "ticker_sentiment_score": "0.06"}],
    }
    return {**row, **changes}


# The key of the bars in the JSON of each function.
SERIES = {
    "TIME_SERIES_INTRADAY": "Time Series ({})",
    "TIME_SERIES_DAILY": "Time Series (Daily)",
    "TIME_SERIES_DAILY_ADJUSTED": "Time Series (Daily)",
    "TIME_SERIES_WEEKLY": "Weekly Time Series",
    "TIME_SERIES_WEEKLY_ADJUSTED": "Weekly Adjusted Time Series",
    "TIME_SERIES_MONTHLY": "Monthly Time Series",
    "TIME_SERIES_MONTHLY_ADJUSTED": "Monthly Adjusted Time Series",
    "FX_INTRADAY": "Time Series FX ({})",
    "FX_DAILY": "Time Series FX (Daily)",
    "FX_WEEKLY": "Time Series FX (Weekly)",
    "FX_MONTHLY": "Time Series FX (Monthly)",
    "CRYPTO_INTRADAY": "Time Series Crypto ({})",
    "DIGITAL_CURRENCY_DAILY": "Time Series (Digital Currency Daily)",
    "DIGITAL_CURRENCY_WEEKLY": "Time Series (Digital Currency Weekly)",
    "DIGITAL_CURRENCY_MONTHLY": "Time Series (Digital Currency Monthly)",
}


def subject(function: str, query: Mapping[str, str]) -> dict[str, str]:
    """Return the part of the meta data that names the subject of the bars."""
    if function.startswith("FX_"):
        return {"2. From Symbol": query.get("from_symbol", "EUR"), "3. To Symbol": query.get("to_symbol", "USD")}
    if function.startswith(("DIGITAL_", "CRYPTO_")):
        return {"2. Digital Currency Code": query.get("symbol", "BTC"), "4. Market Code": query.get("market", "EUR")}
    return {"2. Symbol": query.get("symbol", "IBM")}


def series_document(
    function: str, bars: Sequence[Bar], zone: str | None, interval: str = "", request: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return bars as JSON, with the meta data that the function sends for ``request``."""
    meta = {"1. Information": f"{function} prices", **subject(function, request or {})}
    meta["3. Last Refreshed"] = bars[0][0] if bars else ""
    if interval:
        meta["4. Interval"] = interval
    if zone is not None:
        meta["6. Time Zone"] = zone
    rows = {
        label: {f"{number}. {name}": text for number, (name, text) in enumerate(fields.items(), 1)}
        for label, fields in bars
    }
    return {"Meta Data": meta, SERIES[function].format(interval or "60min"): rows}


def csv_bar(function: str, label: str, close: str = "10.5") -> Bar:
    """Return a bar with the columns of the function's CSV."""
    _, fields = bar(label, close)
    if function.startswith("FX_"):
        fields = {name: text for name, text in fields.items() if name != "volume"}
    if function.endswith("_ADJUSTED"):
        fields = {**fields, "adjusted close": "9.1", "dividend amount": "0.2400"}
    if function == "TIME_SERIES_DAILY_ADJUSTED":
        fields = {**fields, "split coefficient": "1.0"}
    return label, fields


def series_csv(bars: Sequence[Bar], function: str = "TIME_SERIES_DAILY") -> str:
    names = ["timestamp", *(bars[0][1] if bars else csv_bar(function, "")[1])]
    lines = [",".join(names), *(",".join([label, *fields.values()]) for label, fields in bars)]
    return "\r\n".join(lines) + "\r\n"


def app(store: Store, key: str = KEY) -> App:
    """Return the server of ``store``."""

    def answer(request: HttpRequest) -> Response:
        query = parameters(request)
        function = query.get("function", "")
        if request.path != "/query":
            return as_json({}, 404)
        if query.get("apikey") != key:
            return as_json(BAD_KEY)
        if function == "NEWS_SENTIMENT":
            return as_json(_news(store, query))
        if function in store.bars:
            return _bars(store, function, query)
        if function in store.documents:
            document = store.documents[function]
            return Response(document.encode()) if isinstance(document, str) else as_json(document)
        return as_json(invalid_call(function))

    return answer


def parameters(request: HttpRequest) -> dict[str, str]:
    """Return the parameters of a request, with the key; of several values the last."""
    return {name: value if isinstance(value, str) else value[-1] for name, value in request.query.items()}


def _bars(store: Store, function: str, query: Mapping[str, str]) -> Response:
    bars = store.bars[function]
    if "INTRADAY" in function and query.get("adjusted", "true") == "true" and function.startswith("TIME_SERIES"):
        bars = [(label, {**fields, "close": "0.0001"}) for label, fields in bars]
    if query.get("month"):
        bars = [bar for bar in bars if bar[0].startswith(query["month"])]
        if not bars:
            return as_json(invalid_call(function))
    if query.get("outputsize", "compact") == "compact" and not ("WEEKLY" in function or "MONTHLY" in function):
        bars = bars[:100]
    if store.csv or query.get("datatype") == "csv":
        return Response(series_csv(bars, function).encode())
    made = as_json(series_document(function, bars, store.zone, query.get("interval", ""), query))
    return replace(made, body=_add_columns(store.before, made.body))


def _add_columns(before: Mapping[str, bytes], body: bytes) -> bytes:
    for label, raw in before.items():
        body = body.replace(b'"%s": {' % label.encode(), raw + b'"%s": {' % label.encode())
    return body


def _news(store: Store, query: Mapping[str, str]) -> dict[str, Any]:
    first, last = query.get("time_from", ""), query.get("time_to", "99991231T2359")
    articles = [article for article in store.articles if first <= str(article["time_published"])[:13] <= last]
    articles.sort(key=lambda article: str(article["time_published"]), reverse=query.get("sort") != "EARLIEST")
    articles = articles[: int(query.get("limit", "50"))]
    return {"items": str(len(articles)), "feed": articles} if articles else NO_ARTICLES


def body(document: Any) -> bytes:
    """Return a document as a file holds it."""
    return document.encode() if isinstance(document, str) else json.dumps(document).encode()


def read(folder: Path, document: Any, *words: str, pit: str | datetime | None = None, now: datetime = NOW) -> Answer:
    """Run the command, in process, on a document as the reply of a function in a file."""
    source = ("--source", "alphavantage", "--input-file", "-", "--limit", "100000")
    return fetch(folder, *source, *_at(pit), *words, body=body(document), now=now)


@dataclass
class World:
    """Run the command, in process, against one server. ``queries`` are the requests that it received."""

    app: App
    folder: Path
    queries: list[Mapping[str, str]] = field(default_factory=list)

    def fetch(self, *words: str, pit: str | datetime | None = None, key: str = KEY, now: datetime = NOW) -> Answer:
        transport = Answering(self.app, lambda: now)
        env = {"ALPHAVANTAGE_API_KEY": key, "PIT_FETCH_RATE_WWW_ALPHAVANTAGE_CO": "10000/0.001"}
        done = fetch(self.folder, "--source", "alphavantage", *_at(pit), *words, env=env, now=now, transport=transport)
        if transport.error is not None:
            raise transport.error
        self.queries += [parameters(request) for request, _ in transport.exchanges]
        return done


def _at(pit: str | datetime | None) -> tuple[str, ...]:
    return ("--pit", pit.isoformat() if isinstance(pit, datetime) else pit) if pit else ()
