"""How Alpha Vantage's replies look to a program as of an instant: the functions whose rows are dated, JSON and CSV.

A compact or a dateless request means the newest rows of then. So the whole history is asked for, or the months and days
that led up to the instant, and the page is cut from what was public.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from datetime import date, timedelta
from typing import Any

from pit_fetch.provider import Asked, HttpReply, Record, Row, View
from pit_fetch.times import NEW_YORK
from pit_fetch_providers.alphavantage import client, news, periods, rows, subject, table_dated
from pit_fetch_providers.alphavantage.function import MINUTES, Function, FunctionReply
from pit_fetch_providers.alphavantage.reply import Document, csv_rows, decode, message_in, meta_in, tidy

_COMPACT = 100  # bars of a compact reply (documentation)
_ARTICLES = 50  # of a reply without limit= (documentation)
_MONTHS = 2  # a reply without month= reaches back 30 days
# What a request may change of the rows; the rest is this program's to choose.
_BARS = ("open", "high", "low", "close", "volume", "adjusted close", "dividend amount", "split coefficient")
_NUMBERED = tuple(f"{number}. {name}" for number in range(1, 9) for name in _BARS)
_META = (
    "information", "symbol", "time_zone", "interval", "from_symbol", "to_symbol", "digital_currency_code",
    "digital_currency_name", "market_code", "market_name",
)  # fmt: skip
_NO_CALL = {"Error Message": "Invalid API call. Please retry or visit the documentation for this function."}
_NO_NUMBER = "NaN"  # clients that make numbers of texts can read it
_ARTICLE = (*(field.name for field in (*news.PLAIN, *news.COMPUTED)), "topics", "ticker_sentiment")
# Scores and summaries are computed later, and may be computed again.
_COMPUTED = {
    "summary": "", "overall_sentiment_score": None, "overall_sentiment_label": "", "topics/*/relevance_score": "",
    "ticker_sentiment/*/relevance_score": "", "ticker_sentiment/*/ticker_sentiment_score": "",
    "ticker_sentiment/*/ticker_sentiment_label": "",
}  # fmt: skip


def _requests(function: Function, asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield the parameters of the requests that hold the newest public rows, newest first."""
    takes, params = {*function.operation.takes}, dict(asked.params)
    if "outputsize" in takes:
        params["outputsize"] = "full"
    if function.operation.name != "TIME_SERIES_INTRADAY":
        yield params
        return
    params["adjusted"] = "false"
    if "month" in params:
        yield params
        return
    local = asked.query.horizon.astimezone(NEW_YORK)
    for back in range(_MONTHS):
        yield {**params, "month": f"{periods.months_before(date(local.year, local.month, 1), back):%Y-%m}"}


def _day_before(asked: Asked) -> str:
    """Return the newest day whose options were public."""
    day = asked.query.horizon.astimezone(NEW_YORK).date()
    while (public := rows.end_of_next_weekday({"date": str(day)}, None)) is None or public > asked.query.horizon:  # type: ignore[arg-type]
        day -= timedelta(days=1)
    return str(day)


def _asking(function: Function) -> Any:
    name = function.operation.name

    def get(asked: Asked, params: dict[str, Any]) -> HttpReply:
        reply = asked.context.http.get(
            client.HOST.name, "/query", params, retry_after=lambda reply: client.pause(reply, function)
        )
        if len(reply.body) <= client.MESSAGE_MAX_BYTES:
            client.check_message(decode(reply.body, function).message, function, asked.query)
        return reply

    def articles(asked: Asked) -> Generator[HttpReply, int, None]:
        """Yield the newest articles of then, and those before them, since late ones may fill a reply."""
        end = news.spelled(asked.query.horizon + news.MINUTE)
        end = min(asked.params.get("time_to", end), end)
        while True:
            reply = get(asked, {**asked.params, "time_to": end, "limit": str(news.LIMIT)})
            is_whole = (yield reply) < news.LIMIT or asked.params.get("sort", "LATEST") != "LATEST"
            oldest = None if is_whole else news.stamped(decode(reply.body, function).rows[-1][1] or {})
            following = end if oldest is None else news.spelled(oldest + news.MINUTE)
            if following >= end:
                return
            end = following

    def ask(asked: Asked) -> Generator[HttpReply, int, None]:
        days = {"date": asked.params.get("date") or _day_before(asked)} if name == "HISTORICAL_OPTIONS" else {}
        for params in _requests(function, asked):
            yield get(asked, {**params, **days})

    return articles if name == "NEWS_SENTIMENT" else ask


def _dating(function: Function) -> Any:
    kinds = dict(function.lists)

    def record(row: Row, asked: Asked) -> Record | None:
        if isinstance(row.value, str):
            found = list(csv_rows(f"{asked.rest}{row.text}", function)) if row.text.endswith("\n") else []
            kind, values = found[0] if found else ("", None)
            meta: Any = {}
        else:
            kind, label = kinds.get(str(row.keys[0]), "bar"), str(row.keys[-1])
            raw = row.value if isinstance(row.value, dict) else {}
            values = tidy({"timestamp": label, **raw} if function.series else raw)
            values = values if all(name in values for name in function.columns) else None
            meta = meta_in({**asked.rest, str(row.keys[0]): {}}, function)
            if message_in(asked.rest):  # the rows are samples
                return None
        on_subject = subject.rows(Document(((kind, values),), meta), asked.query)
        if not on_subject or asked.received_at is None:
            return None
        return next(function.records(FunctionReply(function, asked.query, on_subject, meta, asked.received_at)), None)

    return record


def _page(function: Function) -> Any:
    def page(asked: Asked) -> tuple[int, int | None]:
        if function.operation.name == "NEWS_SENTIMENT":
            limit = asked.params.get("limit", "")
            return 0, int(limit) if limit.isascii() and limit.isdigit() else _ARTICLES
        is_compact = "outputsize" in function.operation.takes and asked.params.get("outputsize") != "full"
        return 0, _COMPACT if is_compact and "month" not in asked.params else None

    return page


def _framing(function: Function) -> Any:
    def frame(asked: Asked, kept: Sequence[Row]) -> dict[str, Any]:
        if function.operation.name == "NEWS_SENTIMENT":
            definitions = {name: asked.rest[name] for name in asked.rest if str(name).endswith("_score_definition")}
            return {"items": str(len(kept)), **definitions, "feed": []}
        if function.lists:
            beside = {name: asked.rest[name] for name in ("endpoint", "symbol") if name in asked.rest}
            return {**beside, **{name: [] for name, _ in function.lists}}
        size = "Compact" if _page(function)(asked)[1] else "Full size"
        meta: dict[str, str] = {}
        for key, value in asked.rest.get("Meta Data", {}).items():
            (name,) = tidy({key: value})
            if name in _META:
                meta[key] = value
            elif name in ("last_refreshed", "output_size"):
                meta[key] = size if name == "output_size" else str(kept[0].keys[-1]) if kept else ""
        return {"Meta Data": meta}

    return frame


def _views(function: Function) -> Iterator[View]:
    name, own = function.operation.name, tuple(sorted(function.passes))
    intervals = MINUTES if "{}" in function.series else ("",)
    view = View(
        client.HOST.name, "/query", name, record=_dating(function), ask=_asking(function), page=_page(function),
        params={"function": (name,), "datatype": (None, "json")},
    )  # fmt: skip
    if function.series:
        as_json = view._replace(
            rows=tuple(f"{function.series.format(interval)}/*" for interval in intervals), fields=_NUMBERED,
            blank={key: _NO_NUMBER for key in _NUMBERED if not tidy({key: ""}).keys().isdisjoint(function.later)},
            frame=_framing(function), nothing=(200, _NO_CALL),
        )  # fmt: skip
    else:
        is_news = name == "NEWS_SENTIMENT"
        as_json = view._replace(
            rows=tuple(f"{key}/*" for key, _ in function.lists), fields=_ARTICLE if is_news else own,
            blank=_COMPUTED if is_news else {}, frame=_framing(function),
        )  # fmt: skip
    yield as_json
    if function.header is not None:
        columns = ("timestamp", *own, *function.later) if function.series else own
        yield view._replace(
            form="csv", fields=columns, blank=dict.fromkeys(function.later, ""), nothing=(200, "{}"),
            params={"function": (name,), "datatype": ("csv",)},
        )  # fmt: skip


VIEWS = tuple(
    view for function in table_dated.ROWS if function.operation.dating.by == "record" for view in _views(function)
)
