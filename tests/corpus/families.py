"""Write the leak corpus: ``python -m tests.corpus.families``. Tables of reasoned cases, and no code of pit_fetch."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha1
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

FOLDER = Path(__file__).parent
FORMAT, VERSION, LICENSE = "pit-leak-corpus", 1, "CC0-1.0"
SECOND = timedelta(seconds=1)

Case = dict[str, Any]


def item(name: str, stamp: Any, public: bool, *, revised: Any = None, hidden: Sequence[str] = ()) -> dict[str, Any]:
    """Return one record of a case: its id, the stamp as the source wrote it, and whether it was public at the PIT."""
    made: dict[str, Any] = {"id": name, "stamp": stamp, "public": public}
    return made | ({"revised": revised} if revised is not None else {}) | ({"hidden": list(hidden)} if hidden else {})


def case(
    kind: str, pit: str, request: Sequence[str], items: Sequence[Mapping[str, Any]], exchanges: Sequence[Any], why: str
) -> Case:
    return {
        "class": kind,
        "why": why,
        "pit": pit,
        "request": list(request),
        "exchanges": list(exchanges),
        "items": list(items),
    }


def reply(body: Any, path: str = "", status: int = 200, **query: str) -> dict[str, Any]:
    """An exchange: for a path that ends like this, and these parameters, the source answers so."""
    return {"path": path, "query": query, "status": status, "body": body}


def around(public: str, wrong: Mapping[str, str] | None = None) -> Iterator[tuple[str, bool, str]]:
    """Instants at which to ask for what became public at ``public`` (UTC): (PIT, was it public, which instant)."""
    moment = datetime.fromisoformat(public)
    yield (moment - SECOND).isoformat(), False, "a second before"
    yield moment.isoformat(), True, "at the instant"
    for text, name in (wrong or {}).items():
        yield text, datetime.fromisoformat(text) >= moment, name


# Benzinga --------------------------------------------------------------------------------------------


def article(number: int, created: Any, updated: Any = ..., **more: Any) -> dict[str, Any]:
    return {
        "id": number, "created": created, "updated": created if updated is ... else updated, "title": f"Title {number}",
        "teaser": "", "body": "", "url": f"https://www.benzinga.com/news/{number}", "channels": [], "stocks": [],
        "tags": [], **more,
    }  # fmt: skip


NEWS = ("--lookback-minutes", "2000000")


def news(kind: str, pit: str, rows: Sequence[Any], items: Sequence[Any], why: str, *request: str) -> Case:
    return case(kind, pit, [*NEWS, *request], items, [reply(list(rows), "/api/v2/news")], why)


# The stamp as served, the instant it means, and the two instants at which its digits alone would put it.
OFFSETS = (
    ("Fri, 24 Jan 2025 16:21:28 -0400", "2025-01-24T20:21:28+00:00", "article 43201565: 20:21:28Z on the WebSocket"),
    ("Wed, 24 Jan 2024 20:50:04 -0400", "2024-01-25T00:50:04+00:00", "a trading halt of 19:50:00 ET"),
    ("Tue, 23 Jan 2024 09:00:00 -0400", "2024-01-23T13:00:00+00:00", "the offset is constant, in winter too"),
    ("Wed, 03 Jul 2024 09:30:00 -0400", "2024-07-03T13:30:00+00:00", "in summer it is New York's"),
    ("Sun, 10 Mar 2024 02:30:00 -0400", "2024-03-10T06:30:00+00:00", "an hour that New York skips"),
    ("Sun, 05 Nov 2023 01:30:00 -0400", "2023-11-05T05:30:00+00:00", "an hour that New York repeats"),
    ("Sun, 31 Dec 2023 22:00:00 -0400", "2024-01-01T02:00:00+00:00", "the year ends in between"),
    ("Thu, 29 Feb 2024 23:59:59 -0400", "2024-03-01T03:59:59+00:00", "a leap day"),
    ("Thu, 15 Feb 2024 15:30:00 +0000", "2024-02-15T15:30:00+00:00", "another offset is that offset"),
    ("Thu, 15 Feb 2024 15:30:00 -0500", "2024-02-15T20:30:00+00:00", "another offset is that offset"),
    ("Thu, 15 Feb 2024 15:30:00 +0530", "2024-02-15T10:00:00+00:00", "another offset is that offset"),
    ("Fri, 16 Feb 2024 05:30:00 +1400", "2024-02-15T15:30:00+00:00", "tomorrow's date, today's instant"),
    ("Wed, 14 Feb 2024 23:30:00 -1100", "2024-02-15T10:30:00+00:00", "yesterday's date, today's instant"),
)
UNDATED = (
    ("Thu, 15 Feb 2024 10:00:00", "no offset"),
    ("Thu, 15 Feb 2024 10:00:00 -0000", "RFC 2822: -0000 says that the zone is not known"),
    ("Thu, 15 Feb 2024 10:00:00 EST", "a zone's name: every parser reads it differently"),
    ("Thu, 15 Feb 2024 10:00:00 ET", "a zone's name that some parsers drop"),
    ("Thu, 15 Feb 2024 10:00:00 IST", "a zone's name of three countries"),
    ("Mon, 15 Feb 2024 10:00:00 -0400", "the weekday contradicts the date: one of them is wrong"),
    ("Fri, 30 Feb 2024 10:00:00 -0400", "no such day"),
    ("Thu, 15 Feb 2024 25:00:00 -0400", "no such hour"),
    ("Thu, 15 Feb 2024 10:00:00 -2500", "no such offset"),
    ("2024-02-15", "a date alone, in a feed of instants"),
    ("2024-02-15T10:00:00", "no offset, in another form"),
    ("10", "a free-form parser reads a day of this month"),
    ("yesterday", "a word"),
    ("", "empty"),
    (None, "null"),
    (1708000000, "a bare number: seconds, or milliseconds, of what"),
)
REVISIONS = (
    ("Thu, 15 Feb 2024 12:00:01 -0400", "a second later"),
    ("Thu, 15 Feb 2024 12:00:59 -0400", "within its first minute, as 62 of 113 recorded ones were"),
    ("Thu, 15 Feb 2024 13:00:00 -0400", "an hour later"),
    ("Fri, 16 Feb 2024 12:00:00 -0400", "a day later"),
    ("Sat, 18 Jan 2025 12:00:00 -0500", "339 days later, as article 36743035 was"),
)


def benzinga() -> Iterator[Case]:
    for family in (_offsets, _undated, _revisions, _precision, _benzinga_oracles, _rfc3339, _unreadable, _repeated):
        yield from family()


def _offsets() -> Iterator[Case]:
    """Stamps with an offset mean that offset, whatever New York's is."""
    for stamp, public, why in OFFSETS:
        digits = datetime.strptime(stamp[:25], "%a, %d %b %Y %H:%M:%S").isoformat()  # noqa: DTZ007 - digits alone
        wrong = {digits + "+00:00": "its digits as UTC", digits + "-05:00": "its digits as New York winter time"}
        for pit, was, name in around(public, wrong):
            yield news("zone", pit, [article(1, stamp)], [item("1", stamp, was)], f"{why} ({name})")


def _undated() -> Iterator[Case]:
    """Stamps from which no instant follows."""
    for stamp, why in UNDATED:
        for field in ("created", "updated"):
            good = "Thu, 15 Feb 2024 10:00:00 -0400"
            row = article(1, good) | {field: stamp}
            both = [item("1", row["created"], False, revised=row["updated"]), item("2", good, True)]
            rows = [row, article(2, good)]
            yield news("undated", "2024-03-01T00:00:00Z", rows, both, f"{why} ({field}): nothing proves the instant")


def _revisions() -> Iterator[Case]:
    """Articles that were edited after the PIT, or right at it."""
    for stamp, why in REVISIONS:
        moment = datetime.strptime(stamp, "%a, %d %b %Y %H:%M:%S %z")
        created = "Thu, 15 Feb 2024 12:00:00 -0400"
        for pit, was in ((moment - SECOND, False), (moment, True)):
            row = article(1, created, stamp, title="EDITED since")
            hidden: tuple[str, ...] = () if was else ("EDITED",)
            records = [item("1", created, was, revised=stamp, hidden=hidden)]
            reason = f"revised {why}: only the last revision is served, and at the PIT it was not the text"
            yield news("revision", pit.isoformat(), [row], records, reason)


def _precision() -> Iterator[Case]:
    """Stamps without seconds, PITs finer than a microsecond."""
    for pit, was in (("2024-01-24T19:50:30Z", False), ("2024-01-24T19:50:59Z", False), ("2024-01-24T19:51:00Z", True)):
        stamp = "Wed, 24 Jan 2024 15:50 -0400"
        why = "without seconds it may be the last instant of the minute"
        yield news("precision", pit, [article(1, stamp)], [item("1", stamp, was)], why)
    for fraction in ("9999999", "999999999", "99999999999999"):
        stamp = "Thu, 15 Feb 2024 12:00:00 -0400"
        pit = f"2024-02-15T15:59:59.{fraction}Z"
        why = "a PIT finer than a microsecond is before the next second, whatever a library rounds it to"
        yield news("precision", pit, [article(1, stamp)], [item("1", stamp, False)], why)


def _benzinga_oracles() -> Iterator[Case]:
    """Yield what an answer could reveal of later items: by counts, order, limits, filters, addresses and errors."""
    pit, early, late = "2024-02-15T16:00:00Z", "Thu, 15 Feb 2024 11:59:00 -0400", "Thu, 15 Feb 2024 12:01:00 -0400"
    merger = article(9, late, title="Merger SECRET agreed", url="https://www.benzinga.com/ma/24/02/9/secret-merger")
    old = [article(n, early, title="Oil") for n in (1, 2, 3)]
    late_item = item("9", late, False, hidden=("SECRET", "secret-merger"))
    all_old = [item(str(n), early, True) for n in (1, 2, 3)]
    yield news("limit", pit, [merger, *old], [late_item, all_old[0]], "a later item must not use up the limit",
               "--limit", "1")  # fmt: skip
    yield news("order", pit, [merger, old[2], old[0], old[1]], [late_item, *all_old], "ties stand in any order")
    yield news("oracle", pit, [merger], [late_item], "a search for the event must not tell whether it will come",
               "--keywords", "merger")  # fmt: skip
    yield news("oracle", pit, [merger, *old], [late_item], "a filter that only later items pass", "--tags", "M&A")
    yield news("oracle", pit, [merger, *old], [late_item, *all_old], "more items than the limit, but for the later",
               "--limit", "3")  # fmt: skip
    yield news("slug", pit, [{**merger, "created": early}], [item("9", early, False, revised=late, hidden=("secret",))],
               "the address of a revised item tells what it says now")  # fmt: skip
    for number in (3, 40, 99):
        rows = [*(article(100 + n, late, title="SECRET") for n in range(number)), *old[:1]]
        records = [item(str(100 + n), late, False, hidden=("SECRET",)) for n in range(number)]
        yield news(
            "count", pit, rows, [*records, all_old[0]], f"{number} later items stand before the first public one"
        )
    for status, body in (
        (400, {"message": "SECRET"}), (400, ["Access denied for SECRET"]), (401, {"errors": [{"value": "SECRET"}]}),
        (404, {"errors": [{"code": "no_data_found", "value": "SECRET"}]}), (500, "SECRET"), (200, ["SECRET"]),
        (200, "SECRET"), (200, {"SECRET": 1}), (404, "<h1>SECRET</h1>"), (503, {"message": "SECRET"}),
    ):  # fmt: skip
        exchange = reply(body, "/api/v2/news", status)
        yield case("error", pit, NEWS, [item("", None, False, hidden=("SECRET",))], [exchange],
                   "what a source says in an error is of today")  # fmt: skip
    for spoilt in ({"id": None}, {"id": 9, "created": {}}, {"id": 9, "stocks": 5, "created": late}, "SECRET", None, 7):
        row = article(9, late, title="SECRET") | spoilt if isinstance(spoilt, dict) else spoilt
        yield news("shape", pit, [row, *old], [item("9", None, False, hidden=("SECRET",)), *all_old],
                   "one spoilt row is no reason to fail: the failure would tell of it")  # fmt: skip


# RFC 3339, as exports and dumps of articles write it, and the instant it means.
RFC3339 = (
    ("2024-02-15T15:30:00Z", "2024-02-15T15:30:00+00:00", "Z is UTC"),
    ("2024-02-15T15:30:00.000Z", "2024-02-15T15:30:00+00:00", "with the fraction that JavaScript writes"),
    ("2024-02-15T10:30:00-05:00", "2024-02-15T15:30:00+00:00", "the offset of New York's winter"),
    ("2024-02-15T11:30:00-04:00", "2024-02-15T15:30:00+00:00", "the offset that Benzinga writes, in winter too"),
    ("2024-02-16T05:30:00+14:00", "2024-02-15T15:30:00+00:00", "tomorrow's date, today's instant"),
    ("2024-02-15T15:29:59.0000001Z", "2024-02-15T15:29:59.000001+00:00", "a finer fraction is later, never earlier"),
)


def _rfc3339() -> Iterator[Case]:
    """Stamps of exports: exact with an offset, and nothing without."""
    for stamp, public, why in RFC3339:
        digits = stamp[:19] + "+00:00"
        for pit, was, name in around(public, {digits: "its digits as UTC"}):
            yield news("zone", pit, [article(1, stamp)], [item("1", stamp, was)], f"{why} ({name})")
    good = "2024-02-15T10:00:00Z"
    for stamp, why in (
        ("2024-02-15T10:00:00-00:00", "RFC 3339: -00:00 says that the zone is not known"),
        ("2024-02-15T10:00:00.000", "no offset"),
        ("2024-02-15T10:00Z", "no seconds, which RFC 3339 demands"),
        ("2024-02-30T10:00:00Z", "no such day"),
    ):
        rows, records = [article(1, stamp), article(2, good)], [item("1", stamp, False), item("2", good, True)]
        yield news("undated", "2024-03-01T00:00:00Z", rows, records, why)


# What stands where a text is expected, as the source sent it.
UNREADABLE = (
    ("NaN", "a number that JSON does not have"),
    ("-Infinity", "another one"),
    ("1e999", "a number beyond every float"),
    ("7" * 4_500, "more digits than Python reads"),
    ("[" * 1_200 + "]" * 1_200, "deeper than Python follows"),
    ('"a\x00\nb"', "control characters in a text"),
    ('{"a": 1, "a": 2}', "a key twice"),
    (r'"\ud800"', "half a surrogate pair"),
)


def _unreadable() -> Iterator[Case]:
    """A withheld article that no parser reads must not cost the others: the failure would tell of it."""
    pit, early, late = "2024-02-15T16:00:00Z", "Thu, 15 Feb 2024 11:59:00 -0400", "Thu, 15 Feb 2024 12:01:00 -0400"
    for raw, why in UNREADABLE:
        for created in (early, late):
            rows = [article(9, created, late, title="SECRET", body="@"), article(1, early)]
            body = json.dumps(rows).replace('"@"', raw)
            records = [item("9", created, False, revised=late, hidden=("SECRET",)), item("1", early, True)]
            yield case("shape", pit, NEWS, records, [reply(body, "/api/v2/news")], f"one article holds {why}")


def _repeated() -> Iterator[Case]:
    """Page after page of the same withheld article is no reason to stop: what is public may stand behind it."""
    pit, early, late = "2024-02-15T16:00:00Z", "Thu, 15 Feb 2024 11:59:00 -0400", "Thu, 15 Feb 2024 12:01:00 -0400"
    late_item, early_item = item("9", late, False, hidden=("SECRET",)), item("1", early, True)
    last = reply([article(1, early)], "/api/v2/news", page="2")
    for row, why in (
        (article(9, late, title="SECRET"), "200 times one later article before the first public one"),
        (article(9, late, title="SECRET") | {"id": None}, "200 unusable articles before a public one"),
    ):
        yield case("count", pit, NEWS, [late_item, early_item], [last, reply([row] * 100, "/api/v2/news")], why)


# Alpha Vantage ---------------------------------------------------------------------------------------


SERIES = {
    "TIME_SERIES_INTRADAY": "Time Series ({})", "TIME_SERIES_DAILY": "Time Series (Daily)",
    "TIME_SERIES_DAILY_ADJUSTED": "Time Series (Daily)", "TIME_SERIES_WEEKLY": "Weekly Time Series",
    "TIME_SERIES_WEEKLY_ADJUSTED": "Weekly Adjusted Time Series", "TIME_SERIES_MONTHLY": "Monthly Time Series",
    "TIME_SERIES_MONTHLY_ADJUSTED": "Monthly Adjusted Time Series", "CRYPTO_INTRADAY": "Time Series Crypto ({})",
    "DIGITAL_CURRENCY_DAILY": "Time Series (Digital Currency Daily)", "FX_INTRADAY": "Time Series FX ({})",
}  # fmt: skip


def series(function: str, labels: Sequence[str], zone: str | None, interval: str = "", **more: str) -> Any:
    is_coin = function.startswith(("CRYPTO_", "DIGITAL_"))
    about = {"2. Digital Currency Code": "BTC"} if is_coin else {"2. Symbol": "IBM"}
    meta = {"1. Information": function, **about, "4. Interval": interval, "6. Time Zone": zone}
    row = {"1. open": "1", "2. high": "2", "3. low": "1", "4. close": "2", "5. volume": "9"}
    rows = {label: {**row, **{name.replace("_", " "): text for name, text in more.items()}} for label in labels}
    return {"Meta Data": {name: text for name, text in meta.items() if text}, SERIES[function].format(interval): rows}


def bars(
    kind: str, pit: str, words: Sequence[str], name: str, label: str, was: bool, zone: str | None, why: str, **more: str
) -> Case:
    interval = next((word.partition("=")[2] for word in words if word.startswith("interval=")), "")
    body = series(words[0], [label], zone, interval, **more)
    return case(kind, pit, words, [item(f"{words[0]}:{name}", label, was, hidden=tuple(more.values()))],
                [reply(body, "/query")], why)  # fmt: skip


INTRADAY = (
    ("1min", "2024-02-15 10:00:00", "2024-02-15T15:01:00+00:00"),
    ("5min", "2024-02-15 10:00:00", "2024-02-15T15:05:00+00:00"),
    ("15min", "2024-02-15 10:00:00", "2024-02-15T15:15:00+00:00"),
    ("30min", "2024-07-03 10:00:00", "2024-07-03T14:30:00+00:00"),
    ("60min", "2024-07-03 10:00:00", "2024-07-03T15:00:00+00:00"),
    ("5min", "2024-02-15 19:55:00", "2024-02-16T01:00:00+00:00"),
    ("15min", "2024-02-29 19:45:00", "2024-03-01T01:00:00+00:00"),
)
# The function with its words, the label, the id's end, and when the bar was over.
DAYS = (
    ("TIME_SERIES_DAILY", "2024-02-15", "2024-02-16T01:00:00+00:00", "2024-02-15T16:00:00-05:00", "the close"),
    ("TIME_SERIES_DAILY", "2024-07-03", "2024-07-04T00:00:00+00:00", "2024-07-03T13:00:00-04:00", "a short session"),
    ("TIME_SERIES_DAILY", "2024-03-11", "2024-03-12T00:00:00+00:00", "2024-03-11T00:00:00-04:00", "its midnight"),
    ("TIME_SERIES_WEEKLY", "2024-02-16", "2024-02-17T01:00:00+00:00", "2024-02-16T16:00:00-05:00", "Friday's close"),
    ("TIME_SERIES_WEEKLY", "2024-02-13", "2024-02-17T01:00:00+00:00", "2024-02-14T12:00:00-05:00", "a running week"),
    ("TIME_SERIES_MONTHLY", "2024-02-29", "2024-03-01T01:00:00+00:00", "2024-02-29T16:00:00-05:00", "its last close"),
    ("TIME_SERIES_MONTHLY", "2024-05-15", "2024-06-01T00:00:00+00:00", "2024-05-20T12:00:00-04:00", "a running month"),
)
REPORTS = (
    ("2024-02-15", "2024-02-16T05:00:00+00:00", "pre-market"),
    ("2024-02-15", "2024-02-16T05:00:00+00:00", "post-market"),
    ("2024-07-03", "2024-07-04T04:00:00+00:00", "pre-market"),
    ("2024-03-11", "2024-03-12T04:00:00+00:00", "post-market"),
    ("2024-11-04", "2024-11-05T05:00:00+00:00", "post-market"),
)
SNAPSHOTS: Sequence[tuple[str, Mapping[str, Any]]] = (
    ("OVERVIEW", {"Symbol": "IBM", "LatestQuarter": "2023-12-31", "EPS": "SECRET"}),
    ("EARNINGS_ESTIMATES", {"estimates": [{"date": "2023-12-31", "horizon": "fiscal quarter", "eps": "SECRET"}]}),
    ("INCOME_STATEMENT", {"annualReports": [{"fiscalDateEnding": "2023-12-31", "netIncome": "SECRET"}]}),
    ("BALANCE_SHEET", {"quarterlyReports": [{"fiscalDateEnding": "2023-12-31", "cash": "SECRET"}]}),
    ("CASH_FLOW", {"annualReports": [{"fiscalDateEnding": "2023-12-31", "cash": "SECRET"}]}),
    (
        "GLOBAL_QUOTE",
        {"Global Quote": {"01. symbol": "IBM", "07. latest trading day": "2024-01-02", "05. price": "SECRET"}},
    ),
    ("SHARES_OUTSTANDING", {"data": [{"date": "2023-12-31", "shares": "SECRET"}]}),
    ("INSIDER_TRANSACTIONS", {"data": [{"transaction_date": "2024-01-02", "executive": "SECRET"}]}),
)
VINTAGES = ("REAL_GDP", "CPI", "UNEMPLOYMENT", "NONFARM_PAYROLL", "RETAIL_SALES", "DURABLES", "WTI", "ALL_COMMODITIES")
NOON = "2024-02-15T12:00:00-05:00"


def alphavantage() -> Iterator[Case]:
    for family in (_intraday, _days, _coins, _adjusted, _reports, _earnings, _corporate_actions, _sentiment, _snapshots,
                   _messages, _operations, _columns, _subjects, _markets, _spoilt, _oldest_years):  # fmt: skip
        yield from family()


def _intraday() -> Iterator[Case]:
    """Bars of minutes, by a label that is the start of the bar, in the zone that the reply names."""
    for interval, label, public in INTRADAY:
        words = ("TIME_SERIES_INTRADAY", "symbol=IBM", f"interval={interval}")
        wrong = {label.replace(" ", "T") + "+00:00": "its label as UTC"}
        for pit, was, name in around(public, wrong):
            yield bars("bar", pit, words, f"IBM/{interval}:{label.replace(' ', 'T')}", label, was, "US/Eastern",
                       f"a label is the start of its bar since 2025, so it ends an interval later ({name})")  # fmt: skip
    # The hour that the clocks repeat: the label does not say which pass it is of.
    for pit, was in (("2023-11-05T05:35:00Z", False), ("2023-11-05T06:34:59Z", False), ("2023-11-05T06:35:00Z", True)):
        words = ("TIME_SERIES_INTRADAY", "symbol=IBM", "interval=5min")
        yield bars("dst", pit, words, "IBM/5min:2023-11-05T01:30:00", "2023-11-05 01:30:00", was, "US/Eastern",
                   "the hour stands twice on the clock: it may be the second pass")  # fmt: skip
    for pit, was in (("2024-02-15T17:14:59Z", False), ("2024-02-15T17:15:00Z", True), ("2024-02-15T17:10:00Z", False)):
        coin = ("CRYPTO_INTRADAY", "symbol=BTC", "market=EUR", "interval=5min")
        yield bars("bar", pit, coin, "BTC/EUR/5min:2024-02-15T17:10:00", "2024-02-15 17:10:00", was, "UTC",
                   "coins are labelled in UTC; a bar of 17:10 was served at 17:12 (recorded)")  # fmt: skip


def _days() -> Iterator[Case]:
    """A day's, week's or month's bar, in the evening of its period's last day."""
    for function, label, public, wrong, name in DAYS:
        for pit, was, where in around(public, {wrong: name}):
            why = "the official volume follows the close; a running row is labelled with its latest day"
            if function == "TIME_SERIES_MONTHLY":
                was, why = False, "a month's volume was changed by 24 % within four years, without a mark"
            yield bars(
                "bar", pit, (function, "symbol=IBM"), f"IBM:{label}", label, was, "US/Eastern", f"{why} ({where})"
            )


def _coins() -> Iterator[Case]:
    """A coin's day."""
    for label, public, wrong in (
        ("2024-02-14", "2024-02-15T01:00:00+00:00", "2024-02-14T19:00:00-05:00"),
        ("2024-07-02", "2024-07-03T00:00:00+00:00", "2024-07-02T16:00:00-04:00"),
    ):
        for pit, was, where in around(public, {wrong: "too early"}):
            yield bars("bar", pit, ("DIGITAL_CURRENCY_DAILY", "symbol=BTC", "market=EUR"), f"BTC/EUR:{label}", label, was,
                       "UTC", f"a coin's day ends at midnight UTC, and no daily bar before 20:00 New York ({where})")  # fmt: skip


def _adjusted() -> Iterator[Case]:
    """Prices that later dividends change: the bar is kept, the adjusted close is not."""
    for function in ("TIME_SERIES_DAILY_ADJUSTED", "TIME_SERIES_WEEKLY_ADJUSTED", "TIME_SERIES_MONTHLY_ADJUSTED"):
        yield bars("adjustment", "2026-01-01T00:00:00Z", (function, "symbol=IBM"), "IBM:2025-10-31", "2025-10-31",
                   function != "TIME_SERIES_MONTHLY_ADJUSTED", "US/Eastern", "IBM's adjusted close was 307.41 in November 2025, 301.7782 in May 2026",
                   **{"5._adjusted_close": "301.7782"})  # fmt: skip


def _reports() -> Iterator[Case]:
    """Reports by their day."""
    for day, public, clock in REPORTS:
        row = {"fiscalDateEnding": "2023-12-31", "reportedDate": day, "reportedEPS": "3.87", "reportTime": clock}
        body = {"symbol": "IBM", "annualEarnings": [], "quarterlyEarnings": [row]}
        morning = f"{day}T09:30:00-05:00"
        for pit, _, where in around(public, {morning: "the opening", f"{day}T00:00:00Z": "the date as midnight UTC"}):
            yield case("date-only", pit, ("EARNINGS", "symbol=IBM"), [item("EARNINGS:IBM:quarterly:2023-12-31", day, False)],
                       [reply(body, "/query")], f"figures are today's, in today's shares, whatever the day of the report ({where})")  # fmt: skip


def _snapshots() -> Iterator[Case]:
    """Replies of which nothing can be shown to have been public."""
    for function, body in SNAPSHOTS:
        yield case("snapshot", NOON, (function, "symbol=IBM"), [item("", "2023-12-31", False, hidden=("SECRET",))],
                   [reply(body, "/query")], "the reply is today's state; its dates are of periods, not of publication")  # fmt: skip
    for function in VINTAGES:
        vintage = {"name": function, "data": [{"date": "2023-10-01", "value": "SECRET"}]}
        yield case("restatement", NOON, (function,), [item("", "2023-10-01", False, hidden=("SECRET",))],
                   [reply(vintage, "/query")], "labelled with the period's start, months before release; latest vintage")  # fmt: skip


def _messages() -> Iterator[Case]:
    """Errors inside HTTP 200."""
    for text in (
        {"Error Message": "Invalid API call SECRET"}, {"Information": "No articles found SECRET"},
        {"Note": "SECRET 5 calls per minute"}, {"Information": "SECRET 25 requests per day"}, {}, {"symbol": "IBM"},
        {"message": "ARTIFICIAL SECRET", "data": [{"ex_dividend_date": "2024-01-02", "amount": "SECRET"}]},
        {"Information": "premium endpoint SECRET"},
    ):  # fmt: skip
        yield case("error", NOON, ("DIVIDENDS", "symbol=IBM"), [item("", None, False, hidden=("SECRET",))],
                   [reply(text, "/query")], "an error comes with HTTP 200, and its words are of today")  # fmt: skip


def _earnings() -> Iterator[Case]:
    def quarter(ends: str, reported: Any, eps: Any) -> dict[str, Any]:
        return {"fiscalDateEnding": ends, "reportedDate": reported, "reportedEPS": eps}

    def earnings(
        annual: Sequence[Any], quarterly: Sequence[Any], items: Sequence[Any], why: str, pit: str = NOON
    ) -> Case:
        body = {"symbol": "IBM", "annualEarnings": list(annual), "quarterlyEarnings": list(quarterly)}
        return case("false row", pit, ("EARNINGS", "symbol=IBM"), items, [reply(body, "/query")], why)

    q = "EARNINGS:IBM:quarterly:"
    for reported in ("2024-04-24", None, "None", "", "2024-02-15", "0000-00-00"):
        yield earnings([], [quarter("2024-03-31", reported, "1.68")], [item(q + "2024-03-31", reported, False)],
                       "the report's day is not over, or not known")  # fmt: skip
    for sunday in ("2012-07-08", "2012-07-07"):
        yield earnings([], [quarter("2012-06-30", sunday, "3.51")], [item(q + "2012-06-30", sunday, False)],
                       "recorded in 2025: a Sunday, corrected to the 18th later; on a weekend nothing is reported")  # fmt: skip
    for eps in (None, "None", "-"):
        yield earnings([], [quarter("2023-12-31", "2024-01-24", eps)], [item(q + "2023-12-31", "2024-01-24", False)],
                       "a row without a figure waits for its report: its date is a forecast")  # fmt: skip
    old = [quarter("2023-12-31", "2024-01-24", "3.87"), quarter("2023-09-30", "2023-10-25", "2.20")]
    earlier = [item(q + "2023-12-31", "2024-01-24", False), item(q + "2023-09-30", "2023-10-25", False)]
    year = "EARNINGS:IBM:annual:"
    yield earnings([{"fiscalDateEnding": "2023-12-31", "reportedEPS": "9.61"}], old,
                   [*earlier, item(year + "2023-12-31", "2023-12-31", False)], "figures of a past report are today's, in today's shares")  # fmt: skip
    yield earnings([{"fiscalDateEnding": "2023-12-31", "reportedEPS": "9.61"}], old[1:],
                   [earlier[1], item(year + "2023-12-31", "2023-12-31", False)], "no report shows when the year was public")  # fmt: skip
    yield earnings([{"fiscalDateEnding": "2023-12-31", "reportedEPS": "9.61"}], old,
                   [item(q + "2023-12-31", "2024-01-24", False), earlier[1], item(year + "2023-12-31", "2023-12-31", False)],
                   "the fiscal year is over, its report is not out", "2024-01-10T00:00:00Z")  # fmt: skip


def _corporate_actions() -> Iterator[Case]:
    def rows(
        function: str, row: Mapping[str, Any], name: str, stamp: Any, pit: str, was: bool, why: str, *words: str
    ) -> Case:
        return case("date-only", pit, (function, "symbol=IBM", *words), [item(f"{function}:IBM:{name}", stamp, was)],
                    [reply({"data": [row]}, "/query")], why)  # fmt: skip

    for declared, ex, public in (
        ("2024-01-30", "2024-02-08", "2024-01-31T05:00:00+00:00"),
        ("None", "2024-02-08", "2024-02-09T05:00:00+00:00"),
        ("2024-07-30", "2024-08-09", "2024-07-31T04:00:00+00:00"),
    ):
        row = {"ex_dividend_date": ex, "declaration_date": declared, "amount": "1.66"}
        for pit, was, where in around(public, {"2024-01-30T12:00:00-05:00": "noon of 30 January"}):
            yield rows(
                "DIVIDENDS", row, f"{ex}:1.66", ex, pit, was, f"public once declared, at the end of the day ({where})"
            )
    for public, day in (("2024-06-11T04:00:00+00:00", "2024-06-10"), ("2021-11-05T04:00:00+00:00", "2021-11-04")):
        row = {"effective_date": day, "split_factor": "10.0"}
        for pit, was, where in around(public, {f"{day}T12:00:00Z": "on the day"}):
            yield rows("SPLITS", row, day, day, pit, was, f"the end of the day on which it takes effect ({where})")
    for day, public in (("2024-02-14", "2024-02-16T05:00:00+00:00"), ("2024-02-16", "2024-02-20T05:00:00+00:00")):
        row = {"contractID": "IBM240315C00180000", "date": day, "open_interest": "5"}
        for pit, was, where in around(public, {f"{day}T20:00:00-05:00": "the evening of its day"}):
            yield rows("HISTORICAL_OPTIONS", row, f"IBM240315C00180000:{day}", day, pit, was,
                       f"open interest is settled after the close ({where})", f"date={day}")  # fmt: skip


def _sentiment() -> Iterator[Case]:
    for stamp, public, wrong, name in (
        ("20251108T230500", "2025-11-08T23:06:00+00:00", "2025-11-08T23:05:00-05:00", "its digits as New York time"),
        (
            "20240215T160000",
            "2024-02-15T16:01:00+00:00",
            "2024-02-15T16:00:00Z",
            "a minute without seconds is not over",
        ),
        ("20240215T160001", "2024-02-15T16:00:01+00:00", "2024-02-15T16:00:00Z", "the minute, not the second"),
        ("20240215T000000", "2024-02-16T00:00:00+00:00", "2024-02-15T12:00:00Z", "midnight is no time, but a date"),
        ("20240229T000000", "2024-03-01T00:00:00+00:00", "2024-02-29T23:00:00Z", "midnight is no time, but a date"),
    ):
        row = {
            "title": "A title", "url": "https://news.example/1", "time_published": stamp, "summary": "SECRET of today",
            "overall_sentiment_score": "SECRET", "topics": [],
            "ticker_sentiment": [{"ticker": "IBM", "ticker_sentiment_score": "SECRET"}],
        }  # fmt: skip
        for pit, was, where in around(public, {wrong: name}):
            records = [item("NEWS_SENTIMENT:https://news.example/1", stamp, was, hidden=("SECRET",))]
            yield case("zone", pit, ("NEWS_SENTIMENT",), records, [reply({"items": "1", "feed": [row]}, "/query")],
                       f"stamps are UTC; scores and summaries are computed later ({where})")  # fmt: skip


def _operations() -> Iterator[Case]:
    """The reply of another operation: its dates mean something else."""
    payrolls = "timestamp,value\n2023-12-01,SECRET\n"
    for function in ("SPLITS", "DIVIDENDS", "HISTORICAL_OPTIONS", "EARNINGS", "TIME_SERIES_DAILY"):
        more = ("date=2023-12-01",) if function == "HISTORICAL_OPTIONS" else ()
        yield case("operation", NOON, (function, "symbol=IBM", *more), [item(f"{function}:IBM:2023-12-01", "2023-12-01", False,
                   hidden=("SECRET",))], [reply(payrolls, "/query")],
                   "an economic series labels a month with its first day; it is released the month after")  # fmt: skip
    # A running month, labelled with its latest day; as the bar of that day it would be served that evening.
    for requested, sent, label in (
        ("TIME_SERIES_DAILY", "TIME_SERIES_MONTHLY", "2024-02-14"), ("TIME_SERIES_DAILY", "TIME_SERIES_WEEKLY", "2024-02-14"),
        ("TIME_SERIES_WEEKLY", "TIME_SERIES_MONTHLY", "2024-02-09"),
        ("TIME_SERIES_DAILY", "TIME_SERIES_MONTHLY_ADJUSTED", "2024-02-14"),
    ):  # fmt: skip
        yield case("operation", NOON, (requested, "symbol=IBM"), [item(f"{requested}:IBM:{label}", label, False)],
                   [reply(series(sent, [label], "US/Eastern"), "/query")],
                   f"a running period of {sent} is not over when the day of its label is")  # fmt: skip
    minutes = "timestamp,open,high,low,close,volume\n2024-02-15 10:00:00,1,2,1,2,9\n"
    for words, about in (
        (("FX_INTRADAY", "from_symbol=EUR", "to_symbol=USD"), "EUR/USD"), (("CRYPTO_INTRADAY", "symbol=BTC", "market=USD"), "BTC/USD")
    ):  # fmt: skip
        name = f"{words[0]}:{about}/5min:2024-02-15T10:00:00"
        yield case("operation", "2024-02-15T10:10:00Z", (*words, "interval=5min"), [item(name, "2024-02-15 10:00:00", False)],
                   [reply(minutes, "/query")], "a CSV of an equity's minutes is in New York time, and names no zone")  # fmt: skip
    for other in (
        {"Technical Analysis: SMA": {"2024-02-14": {"SMA": "SECRET"}}}, {"Symbol": "IBM", "EPS": "SECRET"},
        {"name": "Payrolls", "interval": "monthly", "unit": "SECRET", "data": [{"date": "2024-02-14", "value": "1"}]},
    ):  # fmt: skip
        yield case("operation", NOON, ("TIME_SERIES_DAILY", "symbol=IBM"), [item("TIME_SERIES_DAILY:IBM:2024-02-14", "2024-02-14",
                   False, hidden=("SECRET",))], [reply(other, "/query")], "no bars, and nothing that stands for them")  # fmt: skip


def _columns() -> Iterator[Case]:
    """Columns that nobody has looked at, beside those that are known."""
    for column in (
        "split adjusted close", "Adj Close", "adjclose", "close (adjusted)", "next earnings date", "fwd_return_30d",
        "total return", "8. adjusted close", "record_type", "adjustment factor",
    ):  # fmt: skip
        for function in ("TIME_SERIES_DAILY", "TIME_SERIES_DAILY_ADJUSTED", "TIME_SERIES_WEEKLY_ADJUSTED"):
            yield bars("column", "2024-03-01T00:00:00Z", (function, "symbol=IBM"), "IBM:2024-02-14", "2024-02-14", True,
                       "US/Eastern", f"{column}: a name that is not on the list may carry what came later", **{column: "SECRET"})  # fmt: skip
    for function, key, row, name in (
        ("DIVIDENDS", "data", {"ex_dividend_date": "2024-02-08", "declaration_date": "2024-01-30", "amount": "1.66"},
         "DIVIDENDS:IBM:2024-02-08:1.66"),
        ("SPLITS", "data", {"effective_date": "2024-02-08", "split_factor": "2"}, "SPLITS:IBM:2024-02-08"),
        ("EARNINGS", "quarterlyEarnings", {"fiscalDateEnding": "2023-12-31", "reportedDate": "2024-01-24", "reportedEPS": "1"},
         "EARNINGS:IBM:quarterly:2023-12-31"),
    ):  # fmt: skip
        body = {"symbol": "IBM", key: [{**row, "adjusted": "SECRET", "next": {"date": "SECRET"}}]}
        yield case("column", NOON, (function, "symbol=IBM"), [item(name, "2024-02-08", function != "EARNINGS", hidden=("SECRET",))],
                   [reply(body, "/query")], "a field that is not on the list may carry what came later")  # fmt: skip


def _subjects() -> Iterator[Case]:
    """Rows and replies about something other than what was asked for."""

    def on(*tickers: str) -> dict[str, Any]:
        named = [{"ticker": ticker} for ticker in tickers]
        return {"title": "SECRET" if "AAPL" not in tickers else "T", "url": "https://news.example/" + "+".join(tickers),
                "time_published": "20240214T120000", "ticker_sentiment": named, "topics": []}  # fmt: skip

    def found(tickers: str, was: bool) -> Any:
        return item(f"NEWS_SENTIMENT:https://news.example/{tickers}", "20240214T120000", was, hidden=("SECRET",))

    feed = [reply({"feed": [on("AAPL"), on("MSFT"), on("AAPL", "MSFT"), on()]}, "/query")]
    yield case("subject", NOON, ("NEWS_SENTIMENT", "tickers=AAPL"), [found("AAPL", True), found("AAPL+MSFT", True),
               found("MSFT", False)], feed, "an article that does not name the ticker")  # fmt: skip
    yield case("subject", NOON, ("NEWS_SENTIMENT", "tickers=AAPL,MSFT"), [found("AAPL+MSFT", True), found("AAPL", False),
               found("MSFT", False)], feed, "an article that names one of the tickers")  # fmt: skip
    for requested, named, was in (
        ("IBM", "MSFT", False),
        ("BRK.B", "BRK-B", True),
        ("ibm", "IBM", True),
        ("TSCO.LON", "TSCO.LON", True),
    ):
        split = {"symbol": named, "data": [{"effective_date": "2024-02-08", "split_factor": "2" if was else "SECRET"}]}
        yield case("subject", NOON, ("SPLITS", f"symbol={requested}"), [item(f"SPLITS:{requested.upper()}:2024-02-08", "2024-02-08", was,
                   hidden=() if was else ("SECRET",))], [reply(split, "/query")], f"asked for {requested}, answered on {named}")  # fmt: skip
    chain = [{"contractID": f"{name}1", "symbol": name, "date": "2024-02-08", "last": "1"} for name in ("IBM", "MSFT")]
    yield case("subject", NOON, ("HISTORICAL_OPTIONS", "symbol=IBM", "date=2024-02-08"),
               [item("HISTORICAL_OPTIONS:IBM:IBM1:2024-02-08", "2024-02-08", True),
                item("HISTORICAL_OPTIONS:IBM:MSFT1:2024-02-08", "2024-02-08", False)],
               [reply({"data": chain}, "/query")], "a contract on another symbol")  # fmt: skip
    days = [{"contractID": "IBM1", "symbol": "IBM", "date": day, "last": "1"} for day in ("2024-02-08", "2024-02-09")]
    yield case("subject", NOON, ("HISTORICAL_OPTIONS", "symbol=IBM", "date=2024-02-08"),
               [item("HISTORICAL_OPTIONS:IBM:IBM1:2024-02-08", "2024-02-08", True),
                item("HISTORICAL_OPTIONS:IBM:IBM1:2024-02-09", "2024-02-09", False)],
               [reply({"data": days}, "/query")], "a contract on another day")  # fmt: skip


def _markets() -> Iterator[Case]:
    """Coins in a market currency: of most, the prices are dollars at the rate of the day of the fetch."""
    for market, was in (("USD", True), ("EUR", True), ("CNY", False), ("SEK", False), ("GBP", False)):
        words = ("DIGITAL_CURRENCY_DAILY", "symbol=BTC", f"market={market}")
        yield bars("restatement", "2024-03-01T00:00:00Z", words, f"BTC/{market}:2024-02-14", "2024-02-14", was, "UTC",
                   "in April 2021 CNY/USD was 6.4966 in every row, of three weeks and two months")  # fmt: skip
    old = {f"{n}{letter}. {name} ({code})": "SECRET" for n, name in enumerate(("open", "high", "low", "close"), 1)
           for letter, code in (("a", "EUR"), ("b", "USD"))}  # fmt: skip
    body = {"Meta Data": {"4. Market Code": "EUR"}, "Time Series (Digital Currency Daily)": {"2022-11-16": old}}
    yield case("restatement", NOON, ("DIGITAL_CURRENCY_DAILY", "symbol=BTC", "market=EUR"), [item(
               "DIGITAL_CURRENCY_DAILY:BTC/EUR:2022-11-16", "2022-11-16", False, hidden=("SECRET",))], [reply(body, "/query")],
               "until 2024 coins came in two currencies, one of them converted")  # fmt: skip


def _spoilt() -> Iterator[Case]:
    """A late row that no reader takes: it costs itself and nothing else."""
    good = '{"effective_date": "2024-02-08", "split_factor": "2"}'
    for name, wreck in (
        ("NaN", "NaN"), ("a number of 5,000 digits", "7" * 5_000), ("900 brackets", "[" * 900 + "]" * 900),
        ("an infinite number", "1e999"), ("half a surrogate pair", '"\\ud800"'),
    ):  # fmt: skip
        late = good.replace("2024-02-08", "2024-03-08").replace('"2"', wreck)
        yield case("shape", NOON, ("SPLITS", "symbol=IBM"), [item("SPLITS:IBM:2024-02-08", "2024-02-08", True)],
                   [reply('{"symbol": "IBM", "data": [' + late + ", " + good + "]}", "/query")], f"{name} in a later row")  # fmt: skip
    header, row = "ex_dividend_date,declaration_date,amount\n", "2024-02-08,2024-01-30,1.66\n"
    for late in ('2024-05-09,"2024-04-30,1.67\n', "2024-05-09\n", '2024-05-09,2024-04-30,1.67,"'):
        yield case("shape", NOON, ("DIVIDENDS", "symbol=IBM"), [item("DIVIDENDS:IBM:2024-02-08:1.66", "2024-02-08", True)],
                   [reply(header + late.rstrip() + "\n" + row, "/query")], "a later row of a CSV that is cut or quoted")  # fmt: skip


def _oldest_years() -> Iterator[Case]:
    """The oldest year of a list that begins within it."""

    def quarter(ends: str, reported: str) -> dict[str, str]:
        return {"fiscalDateEnding": ends, "reportedDate": reported, "reportedEPS": "-0.50"}

    listed = [
        quarter("2010-12-31", "2011-02-15"),
        quarter("2010-09-30", "2010-11-09"),
        quarter("2010-06-30", "2010-08-05"),
    ]
    for eps, why in (
        ("-1.50", "the sum of all quarters that are listed, as Tesla's 2010 and Salesforce's January 2005"),
        ("-2.53", "more than the listed quarters"),
        ("-1.00", "two quarters of three: a year to date"),
    ):
        body = {
            "symbol": "IBM",
            "annualEarnings": [{"fiscalDateEnding": "2010-12-31", "reportedEPS": eps}],
            "quarterlyEarnings": listed,
        }
        yield case("false row", NOON, ("EARNINGS", "symbol=IBM"), [item("EARNINGS:IBM:annual:2010-12-31", "2010-12-31", False)],
                   [reply(body, "/query")], why)  # fmt: skip


# SEC ---------------------------------------------------------------------------------------------------

NUMBER = "0000320193-24-000001"


def hit(form: str, filed: str, number: str = NUMBER) -> dict[str, Any]:
    source = {
        "ciks": ["0000320193"], "display_names": ["SECRET of today  (AAPL)  (CIK 0000320193)"], "form": form,
        "root_forms": [form.removesuffix("/A")], "file_date": filed, "adsh": number, "file_type": form, "sequence": 1,
        "sics": ["SECRET"], "items": [], "period_ending": None, "file_description": None,
    }  # fmt: skip
    return {"_id": f"{number}:a.htm", "_source": source}


def found_by_search(*hits: Any) -> dict[str, Any]:
    return reply({"hits": {"total": {"value": len(hits), "relation": "eq"}, "hits": list(hits)}}, "/search-index")


def index_of(day: str, *rows: str) -> dict[str, Any]:
    """Return the daily index of a day, in the layout of the master index."""
    moment = datetime.fromisoformat(day)
    text = (
        "Description:           Daily Index of EDGAR Dissemination Feed\n"
        f"Last Data Received:    {moment:%b} {moment.day:2}, {moment.year}\n\n"
        "CIK|Company Name|Form Type|Date Filed|File Name\n" + "-" * 80 + "\n" + "".join(f"{row}\n" for row in rows)
    )
    return reply(text, f"master.{day.replace('-', '')}.idx")


def row_of(form: str, filed: str, number: str = NUMBER) -> str:
    return f"320193|Apple Inc.|{form}|{filed.replace('-', '')}|edgar/data/320193/{number}.txt"


def header(form: str, accepted: str, filed: str, released: str, private: bool, number: str = NUMBER) -> str:
    return (
        f"<SEC-HEADER>{number}.hdr.sgml : {released}\n" + (f"<ACCEPTANCE-DATETIME>{accepted}\n" if accepted else "")
        + ("<PRIVATE-TO-PUBLIC>\n" if private else "")
        + f"ACCESSION NUMBER:\t\t{number}\nCONFORMED SUBMISSION TYPE:\t{form}\nFILED AS OF DATE:\t\t{filed}\n"
        "\t\tCOMPANY CONFORMED NAME:\t\t\tApple Inc.\n</SEC-HEADER>\n"
    )  # fmt: skip


# form, acceptance (New York), filing date, date of the header, private at first, public (UTC), why
FILINGS = (
    ("8-K", "20251212163000", "2025-12-12", "20251212", False, "2025-12-12T22:30:00+00:00",
     "on its way for up to 21 minutes (recorded): an hour after its acceptance"),
    ("8-K", "20251212174500", "2025-12-15", "20251215", False, "2025-12-15T14:00:00+00:00",
     "accepted on Friday after 17:30: invisible until Monday, 06:00, and on its way until 07:15 (recorded) then"),
    ("8-K", "20251211180000", "2025-12-12", "20251212", False, "2025-12-12T14:00:00+00:00",
     "accepted after 17:30: invisible until the next business day"),
    ("8-K", "20160216180000", "2016-02-17", "20160217", False, "2016-02-17T14:00:00+00:00",
     "accepted after 17:30: from 2013 to 2017 such filings were seen at 07:30"),
    ("10-K", "20171229180000", "2018-01-02", "20180102", False, "2018-01-02T14:00:00+00:00",
     "accepted after 17:30 on the last business day of 2017"),
    ("10-K", "20180216180000", "2018-02-20", "20180220", False, "2018-02-20T14:00:00+00:00",
     "accepted after 17:30 over a long weekend, in 2018"),
    ("8-K", "20251212220500", "2025-12-12", "20251212", False, "2025-12-15T14:00:00+00:00",
     "EDGAR closes at 22:00, and there is no daily index of a weekend"),
    ("4", "20170215220003", "2017-02-15", "20170215", False, "2017-02-16T14:00:00+00:00",
     "accepted after 22:00: sent out in the next morning"),
    ("EFFECT", "20150219001502", "2015-02-18", "20150218", False, "2015-02-19T14:00:00+00:00",
     "accepted in the night, back-dated, in 2015"),
    ("8-K", "20251212173500", "2025-12-11", "20251215", False, "2025-12-16T05:00:00+00:00",
     "accepted after 17:30, moved back: only the header's date tells of the next business day"),
    ("10-Q", "20020304000000", "2002-03-04", "20020304", False, "2002-03-05T05:00:00+00:00", "midnight is no time"),
    ("8-K", "20251212173103", "2025-12-12", "20251212", False, "2025-12-12T23:31:03+00:00",
     "begun before 17:30: that day's filing date, public that evening"),
    ("4", "20251211215200", "2025-12-11", "20251211", False, "2025-12-12T03:52:00+00:00", "insiders file until 22:00"),
    ("10-K", "20240704090000", "2024-07-05", "20240705", False, "2024-07-05T13:00:00+00:00", "a holiday"),
    ("EFFECT", "20251212001500", "2025-12-10", "20251210", False, "2025-12-12T14:00:00+00:00",
     "back-dated: the filing date is before the acceptance; nothing is sent out before 06:00"),
    ("SBSE-A/A", "20251212120000", "2025-09-17", "20250917", False, "2025-12-12T18:00:00+00:00", "back-dated by 86 days"),
    ("F-3", "20230609080152", "2023-06-08", "20230608", False, "2023-06-09T13:01:52+00:00", "0001104659-23-069410"),
    ("UPLOAD", "20240402120000", "2024-04-02", "20240614", True, "2024-06-15T04:00:00+00:00", "0000000000-24-003505"),
    ("CORRESP", "20050623120000", "2005-06-23", "20060501", True, "2006-05-02T04:00:00+00:00", "0000065873-05-000060"),
    ("CORRESP", "20240429120000", "2024-04-29", "20240614", False, "2024-06-15T04:00:00+00:00",
     "released later, and only the header's date says so"),
    ("485APOS", "20240418120000", "2024-04-18", "20241004", True, "2024-10-05T04:00:00+00:00", "0001193125-24-100942"),
    ("8-K", "20231105013000", "2023-11-03", "20231103", False, "2023-11-06T14:00:00+00:00",
     "nothing is sent out at night, nor on a Sunday"),
)  # fmt: skip

# Recorded filings whose own files tell when they were written: form, acceptance (New York), filing date, date of the
# header, private at first, Last-Modified of the full submission, public (UTC), why
WRITTEN = (
    ("8-K", "20230224162204", "2023-02-24", "20230224", False, "Fri, 24 Feb 2023 21:25:48 GMT",
     "2023-02-24T21:25:48+00:00", "0001193125-23-048785: written almost four minutes after its acceptance"),
    ("10-K", "20230526113432", "2023-05-26", "20230526", False, "Fri, 26 May 2023 15:41:34 GMT",
     "2023-05-26T15:41:34+00:00", "0001779026-23-000027: written seven minutes after its acceptance"),
    ("S-3", "20231114203500", "2023-11-15", "20231115", False, "Wed, 15 Nov 2023 12:15:10 GMT",
     "2023-11-15T12:15:10+00:00", "0001493152-23-041369: written at 07:15 of the next morning"),
    ("UPLOAD", "20240402123607", "2024-04-02", "20240614", True, "Fri, 14 Jun 2024 12:56:40 GMT",
     "2024-06-14T12:56:40+00:00", "0000000000-24-003505: written on the day of its release"),
    ("8-K", "20050427122550", "2005-04-27", "20050427", False, "Wed, 04 Oct 2017 09:06:01 GMT",
     "2005-04-27T17:25:50+00:00", "0000950137-05-004969: all such files were written anew in October 2017"),
    ("8-K", "20230315160636", "2023-03-15", "20230315", False, "Wed, 15 Mar 2023 20:06:36 GMT",
     "2023-03-15T21:06:36+00:00", "a time that repeats the acceptance, as that of an index page does, is no time of writing"),
    ("UPLOAD", "20240402123607", "2024-04-02", "20240614", True, "Tue, 02 Apr 2024 16:36:07 GMT",
     "2024-06-15T04:00:00+00:00", "a letter's acceptance is no time of release"),
    ("8-K", "20251212100000", "2025-12-12", "20251212", False, "Thu, 18 Dec 2025 15:00:00 GMT",
     "2025-12-18T15:00:00+00:00", "nothing shows that it was there before its files were written"),
)  # fmt: skip


def sec() -> Iterator[Case]:
    for form, accepted, filed, released, private, public, why in FILINGS:
        exchanges = [found_by_search(hit(form, filed))]
        exchanges.append(reply(header(form, accepted, filed.replace("-", ""), released, private), ".hdr.sgml"))
        digits = datetime.strptime(accepted, "%Y%m%d%H%M%S").isoformat()  # noqa: DTZ007 - digits alone
        wrong = {digits + "+00:00": "the acceptance as UTC", digits + "-05:00": "the acceptance",
                 filed + "T23:59:59-05:00": "the filing date"}  # fmt: skip
        for pit, was, name in around(public, wrong):
            yield case(
                "acceptance",
                pit,
                ("concern",),
                [item(NUMBER, filed, was, hidden=("SECRET",))],
                exchanges,
                f"{why} ({name})",
            )
    yield from _written()
    yield from _without_header()
    yield from _moved_back()
    yield from _moved_back_in_the_evening()
    yield from _by_index()
    yield from _spoilt_hits()
    for status, body in (
        (500, "SECRET"),
        (403, "<html>Undeclared SECRET"),
        (200, "SECRET"),
        (200, {"error": "SECRET"}),
    ):
        yield case("error", NOON, ("concern",), [item("", None, False, hidden=("SECRET",))],
                   [reply(body, "/search-index", status)], "what a source says in an error is of today")  # fmt: skip


def _list(form: str, accepted: str, filed: str, number: str = NUMBER) -> dict[str, Any]:
    """Return a company's list with one filing; ``accepted`` are the digits before its ``Z``."""
    columns = {"accessionNumber": number, "form": form, "filingDate": filed, "reportDate": "", "items": "",
               "acceptanceDateTime": f"{accepted}.000Z", "primaryDocument": "a.htm"}  # fmt: skip
    listed = {name: [value] for name, value in columns.items()}
    return reply({"name": "SECRET of today", "filings": {"recent": listed, "files": []}}, "/CIK0000320193.json")


def sec_filings() -> Iterator[Case]:
    """A company's list, whose ``Z`` means New York in some files and UTC in others, and the header of the filing."""
    for form, accepted, filed, released, private, public, why in FILINGS:
        moment = datetime.strptime(accepted, "%Y%m%d%H%M%S")  # noqa: DTZ007 - New York digits
        in_utc = moment.replace(tzinfo=ZoneInfo("America/New_York")).astimezone(UTC)
        proof = reply(header(form, accepted, filed.replace("-", ""), released, private), ".hdr.sgml")
        for digits, zone in ((moment, "New York"), (in_utc.replace(tzinfo=None), "UTC")):
            exchanges = [_list(form, digits.isoformat(), filed), proof]
            wrong = {f"{digits.isoformat()}+00:00": "the Z believed", f"{filed}T00:00:00-05:00": "the filing date"}
            for pit, was, name in around(public, wrong):
                yield case("acceptance", pit, ("cik=320193", f"forms={form}"), [item(NUMBER, filed, was, hidden=("SECRET",))],
                           exchanges, f"{why}; the Z means {zone} ({name})")  # fmt: skip
    for status, body in (
        (500, "SECRET"),
        (403, "<html>Undeclared SECRET"),
        (200, "SECRET"),
        (200, {"error": "SECRET"}),
    ):
        yield case("error", NOON, ("cik=320193",), [item("", None, False, hidden=("SECRET",))],
                   [reply(body, "/CIK0000320193.json", status)], "what a source says in an error is of today")  # fmt: skip


def _written() -> Iterator[Case]:
    """With --exact, when a filing's own files were written shows when it was public, if it can be that."""
    for form, accepted, filed, released, private, written, public, why in WRITTEN:
        text = header(form, accepted, filed.replace("-", ""), released, private)
        submission = {**reply(text, ".txt"), "headers": {"Last-Modified": written}}
        for pit, was, name in around(public):
            yield case("acceptance", pit, ("concern", "--exact"), [item(NUMBER, filed, was, hidden=("SECRET",))],
                       [found_by_search(hit(form, filed)), submission], f"{why} ({name})")  # fmt: skip


def _without_header() -> Iterator[Case]:
    """No header can be read: an ordinary form by its submissions file, read late; any other is withheld."""
    for stamp, was, pit, why in (
        ("2022-05-06T18:30:57.000Z", False, "2022-05-06T18:35:00Z", "the Z may be wrong: it may be 22:30:57 UTC"),
        # An evening under its own day's date: it may have been the next business day's first, after a closure of five days.
        ("2022-05-06T18:30:57.000Z", True, "2022-05-11T13:00:00Z", "by then it was public in either reading"),
        ("2026-01-29T01:55:03.000Z", False, "2026-01-29T01:58:03Z", "true UTC here, but not before 06:00 of its date"),
        ("2015-03-04T01:55:03.000Z", False, "2015-03-04T13:59:59Z", "true UTC, of an evening of 2015: seen at 07:30"),
        ("2015-03-04T01:55:03.000Z", True, "2015-03-04T14:00:00Z", "true UTC, of an evening of 2015: by 09:00"),
    ):
        filed = {"2022": "2022-05-06", "2026": "2026-01-29", "2015": "2015-03-04"}[stamp[:4]]
        columns = {"accessionNumber": [NUMBER], "filingDate": [filed], "acceptanceDateTime": [stamp]}
        exchanges = [
            found_by_search(hit("8-K", filed)),
            reply({"filings": {"recent": columns, "files": []}}, "CIK0000320193.json"),
        ]
        yield case("Z defect", pit, ("concern",), [item(NUMBER, stamp, was, hidden=("SECRET",))], exchanges, why)
    for form in ("UPLOAD", "CORRESP", "DRS", "EFFECT", "QUALIF", "TA-1", "MA-I", "1-A", "APP WD", "485APOS", "F-3"):
        exchanges = [found_by_search(hit(form, "2023-06-08"))]
        yield case("acceptance", NOON, ("concern",), [item(NUMBER, "2023-06-08", False, hidden=("SECRET",))], exchanges,
                   "without a header nothing shows when a form of this kind was public")  # fmt: skip
    for form in ("10-K", "8-K", "4", "10-Q/A"):
        yield case("filing date", NOON, ("concern",), [item(NUMBER, "2023-06-08", False, hidden=("SECRET",))],
                   [found_by_search(hit(form, "2023-06-08"))], "a filing date alone shows nothing, of no form")  # fmt: skip


# A filing's own file, which shows nothing: EDGAR wrote its files again in October 2017.
REWRITTEN = {**reply("", ".txt"), "headers": {"Last-Modified": "Sat, 14 Oct 2017 10:00:00 GMT"}}

# accession number, form, acceptance (New York), filing date, public (UTC), why
MOVED_BACK = (
    ("0000050863-03-000147", "4", "20030513193800", "2003-05-06", "2003-05-14T00:38:00+00:00", "moved back by 7 days"),
    ("0000950157-06-000686", "SC 13G/A", "20060707110000", "2001-02-06", "2006-07-07T16:00:00+00:00",
     "moved back by five years; the number tells its year"),
    ("0001193125-15-377186", "8-K", "20151116090100", "2015-11-13", "2015-11-16T15:01:00+00:00", "over a weekend"),
    ("0001104659-23-069410", "F-3", "20230609080152", "2023-06-08", "2023-06-09T13:01:52+00:00", "by a night"),
    ("9999999997-03-023321", "11-K", "20030630101500", "2003-03-20", "2003-07-01T04:00:00+00:00",
     "paper, entered 102 days later: the day of the entry, not its hour"),
)  # fmt: skip


def _moved_back() -> Iterator[Case]:
    """A filing date was moved back on request (Regulation S-T, 13(b)): the index of that day does not list it."""
    for number, form, accepted, filed, public, why in MOVED_BACK:
        late_header = reply(
            header(form, accepted, filed.replace("-", ""), filed.replace("-", ""), False, number), ".hdr.sgml"
        )
        for day, rows in ((filed, (row_of("8-K", filed, "0000000001-00-000001"),)), ("1999-01-04", ())):
            exchanges = [found_by_search(hit(form, filed, number)), late_header, index_of(day, *rows)]
            indexed = "its day's index does not list it" if rows else "its day has no index"
            root = form.removesuffix("/A")
            wrong = {f"{filed}T23:59:59-05:00": "the filing date", f"{filed}T12:00:00-05:00": "noon of the filing date"}
            for pit, was, name in around(public, wrong):
                for request in (("concern",), ("concern", "--exact"), ("concern", "--forms", root)):
                    if was and "--forms" in request:  # a search that ends early may leave it out
                        continue
                    yield case("filing date", pit, request, [item(number, filed, was, hidden=("SECRET",))],
                               [*exchanges, REWRITTEN], f"{why}; {indexed} ({name})")  # fmt: skip


def _moved_back_in_the_evening() -> Iterator[Case]:
    """Accepted after 17:30: its filing date was the next business day, before which it was not sent out."""
    for accepted, filed, pits in (
        (
            "20251212174500",
            "2025-12-11",
            ("2025-12-12T17:50:00-05:00", "2025-12-13T12:00:00Z", "2025-12-15T05:59:59-05:00"),
        ),
        (
            "20240216180000",
            "2024-02-15",
            ("2024-02-16T18:03:00-05:00", "2024-02-19T12:00:00Z", "2024-02-20T06:02:59-05:00"),
        ),
    ):
        late_header = reply(header("8-K", accepted, filed.replace("-", ""), filed.replace("-", ""), False), ".hdr.sgml")
        for pit in pits:
            for request in (("concern",), ("concern", "--exact")):
                yield case("filing date", pit, request, [item(NUMBER, filed, False, hidden=("SECRET",))],
                           [found_by_search(hit("8-K", filed)), late_header],
                           "a filing date that was moved back hides that it was the next business day")  # fmt: skip


def _by_index() -> Iterator[Case]:
    """No header can be read: the index of the filing date says by when a filing was sent out, or nothing does."""
    day, public = "2023-06-08", "2023-06-09T04:00:00+00:00"
    good = row_of("8-K", day)
    later = datetime.fromisoformat(public) + timedelta(days=30)
    for form in ("8-K", "10-K/A", "CORRESP", "EFFECT"):
        row = row_of(form, day)
        for pit, was, name in around(public, {later.isoformat(): "a month later"}):
            for words in (("concern",), ("concern", "--exact")):
                yield case("filing date", pit, words, [item(NUMBER, day, was, hidden=("SECRET",))],
                           [found_by_search(hit(form, day)), index_of(day, row), REWRITTEN],
                           f"listed in the index of its day: public by the end of it ({name})")  # fmt: skip
    damaged = (
        (index_of("2023-06-09", row_of("8-K", day)), "only the next day's index lists it: sent out on that day"),
        (index_of(day, row_of("8-K", day, "0000320193-24-000002")), "the index lists another filing"),
        (index_of(day, good.replace(".txt", "")), "its row is cut"),
        (index_of(day, good.replace(NUMBER, "0000320193-24-0001")), "its row is damaged"),
        (reply(index_of("2023-06-09", good)["body"], "master.20230608.idx"), "the index of another day in its place"),
        (reply(index_of(day, good)["body"].replace("Last Data", "Data"), "master.20230608.idx"), "of no day"),
        (reply(f"<html>{good}</html>", "master.20230608.idx"), "a page in its place"),
    )
    for index, why in damaged:
        for request in (("concern",), ("concern", "--forms", "8-K"), ("concern", "--exact")):
            yield case("filing date", public, request, [item(NUMBER, day, False, hidden=("SECRET",))],
                       [found_by_search(hit("8-K", day)), index], why)  # fmt: skip
    page = (
        '<div id="secNum">SEC Accession No. ' + NUMBER + "</div>"
        '<div class="infoHead">Filing Date</div><div class="info">2023-06-08</div>'
        '<div class="infoHead">Accepted</div><div class="info">2023-06-08 12:00:00</div>'
    )
    for index, was, why in (
        (index_of(day), False, "its page knows its acceptance, but the index of its day does not list it"),
        (index_of("2023-06-07"), True, "there is no index, and the page of an 8-K tells its acceptance"),
    ):
        yield case("filing date", later.isoformat(), ("concern",), [item(NUMBER, day, was, hidden=("SECRET",))],
                   [found_by_search(hit("8-K", day)), index, reply(page, "-index.htm")], why)  # fmt: skip
    several = header("NPORT-EX", "20230608120000", "20230608", "20230608", False).replace(
        "CONFORMED", "<MULTI-ACCESSION-NUMBERS>\nACCESSION NUMBER:\t\t0001193125-19-278753\nCONFORMED", 1
    )
    for pit, was, name in around("2023-06-08T17:00:00+00:00"):
        yield case("acceptance", pit, ("concern",), [item(NUMBER, day, was, hidden=("SECRET",))],
                   [found_by_search(hit("NPORT-EX", day)), reply(several, ".hdr.sgml")],
                   f"its header names what was submitted along with it, as that of 0001193125-19-278752 ({name})")  # fmt: skip


def _spoilt_hits() -> Iterator[Case]:
    """A later filing in whose hit something stands that cannot be read; the other one was public."""
    day, late = "2023-06-08", "0000320193-24-000002"
    public = index_of(day, row_of("8-K", day))
    for value in ("NaN", "1e999", "9" * 5_000, "[" * 80 + "]" * 80, '"\\ud800"'):
        body = json.dumps(found_by_search(hit("8-K", "2023-06-09", late) | {"_score": "X"}, hit("8-K", day))["body"])
        exchanges = [reply(body.replace('"X"', value), "/search-index"), public]
        for request in (("concern",), ("concern", "--forms", "8-K")):
            yield case("shape", "2023-06-09T12:00:00-04:00", request,
                       [item(NUMBER, day, True), item(late, "2023-06-09", False, hidden=("SECRET",))], exchanges,
                       "a later row that cannot be read costs nothing")  # fmt: skip


# FRED ------------------------------------------------------------------------------------------------


def vintage(day: Any, start: Any, value: Any = "1.0", end: str = "9999-12-31") -> dict[str, Any]:
    return {"realtime_start": start, "realtime_end": end, "date": day, "value": value}


def observations(kind: str, pit: str, rows: Sequence[Any], items: Sequence[Any], why: str) -> Case:
    """A server that does not cut its rows to the period that is asked for."""
    body = {
        "realtime_start": "1776-07-04",
        "realtime_end": "9999-12-31",
        "count": len(rows),
        "observations": list(rows),
    }
    return case(kind, pit, ("GDP",), items, [reply(body, "/series/observations")], why)


QUARTER = "2023-10-01"
# The day of a vintage, and the instant at which it is over in FRED's zone, US Central.
VINTAGE_DAYS = (
    ("2024-01-25", "2024-01-26T06:00:00+00:00", "GDP was released at 08:30 New York: the day is all that FRED keeps"),
    ("2024-07-25", "2024-07-26T05:00:00+00:00", "summer time"),
    ("2024-03-10", "2024-03-11T05:00:00+00:00", "a day of 23 hours"),
    ("2024-11-03", "2024-11-04T06:00:00+00:00", "a day of 25 hours"),
    ("2023-12-31", "2024-01-01T06:00:00+00:00", "the year ends"),
    ("2024-02-29", "2024-03-01T06:00:00+00:00", "a leap day"),
)
NO_VINTAGE: Sequence[Any] = (
    None,
    "",
    ".",
    "soon",
    "20240125",
    "2024-01-25T00:00:00",
    "01/25/2024",
    "2024-02-30",
    20240125,
)


def fred() -> Iterator[Case]:
    name = f"GDP@{QUARTER}"
    for day, public, why in VINTAGE_DAYS:
        wrong = {
            f"{day}T00:00:00-06:00": "the start of its day", f"{day}T08:31:00-05:00": "after its release, by the clock",
            f"{day}T23:59:59+00:00": "the end of its day in UTC", f"{day}T23:59:59-05:00": "that of another zone",
        }  # fmt: skip
        for pit, was, instant in around(public, wrong):
            yield observations("date-only", pit, [vintage(QUARTER, day, "SECRET")],
                               [item(name, day, was, hidden=() if was else ("SECRET",))], f"{why} ({instant})")  # fmt: skip
        for pit, was, instant in around(public):
            rows = [vintage(QUARTER, "2023-12-01", "FIRST", day), vintage(QUARTER, day, "SECOND")]
            yield observations("revision", pit, rows, [item(name, "2023-12-01", True, hidden=("FIRST" if was else "SECOND",))],
                               f"a revision is another version of the same observation: {why} ({instant})")  # fmt: skip
    yield observations("revision", "2024-02-15T16:00:00-05:00",
                       [vintage(QUARTER, "2024-01-25", "FIRST", "2024-02-01"), vintage(QUARTER, "2024-02-02", ".")],
                       [item(name, "2024-02-02", True, hidden=("FIRST",))],
                       "a value was withdrawn: missing is a vintage like any other")  # fmt: skip
    yield observations("oracle", "2024-02-15T16:00:00-05:00", [vintage(QUARTER, "2024-01-25", "1.0", "2031-07-30")],
                       [item(name, "2024-01-25", True, hidden=("2031-07-30",))],
                       "realtime_end tells when a value is going to be revised")  # fmt: skip
    for days in (1, 25, 80):
        pit = (datetime.fromisoformat(f"{QUARTER}T00:00:00-05:00") + timedelta(days=days)).isoformat()
        yield observations("date-only", pit, [vintage(QUARTER, "2024-01-25", "SECRET")],
                           [item(name, "2024-01-25", False, hidden=("SECRET",))],
                           "date is the start of the quarter, months before its first estimate")  # fmt: skip
    for start in NO_VINTAGE:
        yield observations("undated", "2024-02-15T16:00:00-05:00", [vintage(QUARTER, start, "SECRET")],
                           [item(name, start, False, hidden=("SECRET",))], "no day of a vintage")  # fmt: skip
    good = vintage("2023-07-01", "2023-10-26")
    unreadable: Sequence[Any] = (None, 5, [], {}, vintage(None, "2024-01-25"), vintage(QUARTER, "2024-03-01", 5), "x")
    for row in unreadable:
        yield observations("shape", "2024-02-15T16:00:00-05:00", [row, good], [item("GDP@2023-07-01", "2023-10-26", True)],
                           "a row that cannot be read costs no other")  # fmt: skip
    for status, text in (
        (400, "Bad Request.  The series does not exist in ALFRED but may exist in FRED.  SECRET"),
        (400, "Bad Request.  The value for variable api_key is not registered.  SECRET"),
        (423, "Locked SECRET"),
        (500, "SECRET"),
    ):
        body = {"error_code": status, "error_message": text}
        yield case("error", "2024-02-15T16:00:00-05:00", ("GDP",), [item("", None, False, hidden=("SECRET",))],
                   [reply(body, "/series/observations", status)], "what a source says in an error is of today")  # fmt: skip


# Perplexity ------------------------------------------------------------------------------------------


def page(created: Any, updated: Any = ..., url: str = "https://www.example.com/1", **more: Any) -> dict[str, Any]:
    days = {"date": created, "last_updated": created if updated is ... else updated}
    return {"title": "A page", "url": url, "snippet": "SECRET", **days, **more}


def search(kind: str, pit: str, results: Sequence[Any], items: Sequence[Any], why: str) -> Case:
    return case(
        kind, pit, ("search", "query=oil"), items, [reply({"id": "x", "results": list(results)}, "/search")], why
    )


def answered(kind: str, pit: str, results: Sequence[Any], cited: Sequence[str], items: Sequence[Any], why: str) -> Case:
    notes = [{"type": "url_citation", "url": url} for url in cited]
    part = {"type": "output_text", "text": "ANSWER", "annotations": notes}
    output = [{"type": "search_results", "results": list(results)}, {"type": "message", "content": [part]}]
    exchanges = [reply({"status": "completed", "output": output}, "/v1/agent")]
    return case(kind, pit, ("ask", "query=oil"), items, exchanges, why)


PAGE = "https://www.example.com/1"
# date, last_updated, when both days are over everywhere on Earth (the zone is not documented), why
PAGES = (
    ("2024-02-14", "2024-02-14", "2024-02-15T12:00:00+00:00", "never updated"),
    ("2001-10-17", "2026-06-02", "2026-06-03T12:00:00+00:00", "recorded: an encyclopedia's page, whose text says '31 years ago'"),
    ("2024-06-10", "2026-06-08", "2026-06-09T12:00:00+00:00", "recorded: a vendor's page"),
    ("2025-09-04", "2026-06-10", "2026-06-11T12:00:00+00:00", "recorded: a tutorial"),
    ("2024-02-14", "2024-02-10", "2024-02-15T12:00:00+00:00", "updated before it was created: the later day counts"),
    ("2023-12-31", "2023-12-31", "2024-01-01T12:00:00+00:00", "the year ends"),
)  # fmt: skip
NO_DAY: Sequence[Any] = (None, "", "soon", "20240201", "2024-02-30", "2024-02-01T10:00:00Z", 1706745600)


def perplexity() -> Iterator[Case]:
    for created, updated, public, why in PAGES:
        wrong = {
            f"{created}T23:59:59-05:00": "the end of date, New York", f"{updated}T00:00:00+00:00": "the start of last_updated",
            f"{updated}T23:59:59-05:00": "the end of last_updated, New York", f"{updated}T23:59:59+14:00": "where days end first",
        }  # fmt: skip
        for pit, was, name in around(public, wrong):
            entries = [item(PAGE, max(created, updated), was, hidden=() if was else ("SECRET",))]
            yield search(
                "revision" if updated > created else "date-only",
                pit,
                [page(created, updated)],
                entries,
                f"{why} ({name})",
            )
            entries = [item(PAGE, max(created, updated), was, hidden=("ANSWER",) if was else ("SECRET", "ANSWER"))]
            yield answered("revision", pit, [page(created, updated)], [PAGE], entries,
                           f"an answer is written now, and a page that it cites is dated as any other: {why} ({name})")  # fmt: skip
    for bad in NO_DAY:
        for row in (page(bad, "2024-02-01"), page("2024-02-01", bad)):
            yield search("undated", "2024-02-15T16:00:00-05:00", [row], [item(PAGE, bad, False, hidden=("SECRET",))],
                         "without both days nothing shows since when the text reads as it does")  # fmt: skip
    rest = {name: value for name, value in page("2024-02-01").items() if name != "last_updated"}
    yield search("undated", "2024-02-15T16:00:00-05:00", [rest], [item(PAGE, "2024-02-01", False, hidden=("SECRET",))],
                 "recorded: 5 of 108 results have no last_updated")  # fmt: skip
    yield answered("oracle", "2024-02-15T16:00:00-05:00", [page("2024-02-01", "2024-02-20")], [PAGE],
                   [item(PAGE, "2024-02-20", False, hidden=("SECRET", "ANSWER"))],
                   "an answer that rests on a later page")  # fmt: skip
    good = page("2024-02-01", url="https://www.example.com/2")
    for late in (page("2024-02-20"), page("2024-02-01", "2024-02-20")):
        for rows in ([late] * 19 + [good], [good] + [late] * 19, [[late], [late, good]]):
            yield search("limit", "2024-02-15T16:00:00-05:00", rows,
                         [item(PAGE, "2024-02-20", False), item("https://www.example.com/2", "2024-02-01", True)],
                         "what was not public takes no place")  # fmt: skip
    spoilt: Sequence[Any] = (None, 5, [], {}, page("2024-02-20", url=""), {**page("2024-02-20"), "url": None}, "x")
    for row in spoilt:
        yield search("shape", "2024-02-15T16:00:00-05:00", [row, good], [item("https://www.example.com/2", "2024-02-01", True)],
                     "a result that cannot be read costs no other")  # fmt: skip
    for status, body in (
        (401, {"error": {"message": "SECRET", "type": "invalid_api_key", "code": 401}}),
        (403, {"error": {"message": "SECRET", "type": "chat_completions_not_available", "code": 403}}),
        (422, {"detail": "SECRET"}),
        (500, "SECRET"),
        (200, {"error": "SECRET"}),
    ):
        yield case("error", "2024-02-15T16:00:00-05:00", ("query=oil",), [item("", None, False, hidden=("SECRET",))],
                   [reply(body, "/search", status)], "what a source says in an error is of today")  # fmt: skip


# EarningsCall ----------------------------------------------------------------------------------------


def http_date(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%a, %d %b %Y %H:%M:%S} GMT"


def listed(
    kind: str,
    pit: str,
    starts: Any,
    was: bool,
    why: str,
    own_date: Any = ...,
    stored: str | None = "",
    alone: bool = False,
) -> Iterator[Case]:
    """A call by its company's list, and its transcript, which names the time of the call as well.

    ``stored`` is the transcript's Last-Modified ("" an hour after the call); ``alone``: it is all that is asked for.
    """
    event = {"year": 2023, "quarter": 1, "conference_date": starts}
    transcript = {"event": {**event, "conference_date": starts if own_date is ... else own_date}, "text": "SECRET"}
    if stored == "":
        has_time = isinstance(starts, str) and "T" in starts and starts[19:]
        stored = http_date(datetime.fromisoformat(starts.replace("Z", "+00:00")) + 3600 * SECOND) if has_time else None
    headers = {"headers": {"Last-Modified": stored}} if stored is not None else {}
    exchanges = [
        reply({"company_name": "A Company", "events": [event]}, "/events"),
        reply(transcript, "/transcript") | headers,
    ]
    name, company = "NASDAQ:MSFT:2023Q1", ("symbol=MSFT", "exchange=NASDAQ")
    if own_date is ... and not alone:
        yield case(kind, pit, ("events", *company), [item(name, starts, was)], exchanges, why)
    stamp = starts if own_date is ... else own_date
    hidden = () if was else ("SECRET",)
    made = item(name, stamp, was, revised=stored if alone else None, hidden=hidden)
    yield case(kind, pit, ("transcript", *company), [made], exchanges, why)


# conference_date, noon of the day after in New York (UTC), why
STARTS = (
    ("2022-10-25T09:00:00.000-04:00", "2022-10-26T16:00:00+00:00", "recorded: dated 8.5 hours before the call of 17:30"),
    ("2024-01-30T17:30:00.000-05:00", "2024-01-31T17:00:00+00:00", "recorded: winter"),
    ("2023-07-25T14:30:00.000-07:00", "2023-07-26T16:00:00+00:00", "recorded: Pacific time"),
    ("2025-02-10T16:00:00-06:00", "2025-02-11T17:00:00+00:00", "recorded: Central time, no milliseconds"),
    ("2024-03-09T17:00:00-05:00", "2024-03-10T16:00:00+00:00", "the clocks change in between"),
    ("2024-07-31T01:30:00Z", "2024-07-31T16:00:00+00:00", "UTC's next day is New York's evening before"),
    ("2024-07-30T23:30:00-07:00", "2024-08-01T16:00:00+00:00", "Pacific's evening is New York's next day"),
)  # fmt: skip
NO_STARTS: Sequence[Any] = (
    None,
    "",
    "soon",
    "2024-01-30",
    "2024-01-30T17:30:00",
    "2024-01-30T17:30:00-00:00",
    1706653800,
)


def earningscall() -> Iterator[Case]:
    for starts, public, why in STARTS:
        moment = datetime.fromisoformat(starts.replace("Z", "+00:00"))
        wrong = {
            moment.isoformat(): "the beginning of the call",
            f"{starts[:10]}T23:59:59-04:00": "the end of its date",
        }
        for pit, was, name in around(public, wrong):
            yield from listed("date-only", pit, starts, was, f"{why} ({name})")
    for bad in NO_STARTS:
        yield from listed("undated", "2024-02-15T16:00:00-05:00", bad, False, "no instant of the call")
    yield from listed("date-only", "2024-02-15T16:00:00-05:00", "2024-02-01T17:00:00-05:00", False,
                      "the transcript names a later day than the list", "2024-02-20T17:00:00-05:00")  # fmt: skip
    misdated = "2022-01-19T14:00:00.000-08:00"  # of late 2022, as recorded
    for pit, was, name in around("2022-11-14T15:00:00+00:00", {"2022-01-20T17:00:00+00:00": "noon of the next day"}):
        yield from listed("revision", pit, misdated, was, f"its text was stored ten months after ({name})",
                          stored="Mon, 14 Nov 2022 15:00:00 GMT", alone=True)  # fmt: skip
    for none in (None, "soon", "Tue, 18 Jan 2022 00:00:00 GMT", "Mon, 14 Nov 2022 15:00:00"):
        yield from listed("undated", "2023-02-15T16:00:00-05:00", misdated, False, "no time at which its text was stored",
                          stored=none, alone=True)  # fmt: skip
    other = {"event": {"year": 2022, "quarter": 1, "conference_date": "2022-01-19T00:00:00-08:00"}, "text": "SECRET"}
    event = {"year": 2023, "quarter": 1, "conference_date": "2024-02-01T17:00:00-05:00"}
    yield case("subject", "2024-02-15T16:00:00-05:00", ("transcript", "symbol=MSFT", "exchange=NASDAQ"),
               [item("NASDAQ:MSFT:2023Q1", event["conference_date"], False, hidden=("SECRET",))],
               [reply({"events": [event]}, "/events"),
                reply(other, "/transcript") | {"headers": {"Last-Modified": "Fri, 02 Feb 2024 00:00:00 GMT"}}],
               "the transcript is of another call")  # fmt: skip
    named = [{**event, "quarter": n, "symbol": name} for n, name in enumerate(("MSFT", "AAPL"), 1)]
    yield case("subject", "2024-02-15T16:00:00-05:00", ("events", "symbol=MSFT", "exchange=NASDAQ"),
               [item(f"NASDAQ:MSFT:2023Q{n}", event["conference_date"], n == 1) for n in (1, 2)],
               [reply({"events": named}, "/events")], "a call of another company")  # fmt: skip
    around_it = ("2024-02-01T17:00:00-05:00", "2024-02-02T01:00:00+00:00", "2024-01-30T17:00:00-05:00")
    rows = [
        {"exchange": "NYSE", "symbol": "A", "year": 2023, "quarter": n, "conference_date": at}
        for n, at in enumerate(around_it, 1)
    ]
    yield case("subject", "2024-02-15T16:00:00-05:00", ("calendar", "date=2024-02-01"),
               [item(f"NYSE:A:2023Q{n}", at, n < 3) for n, at in enumerate(around_it, 1)],
               [reply(rows, "/calendar")], "a call of another day")  # fmt: skip
    row = {"exchange": "NYSE", "symbol": "A", **event, "company_name": "SECRET", "transcript_ready": "SECRET"}
    for pit, was, name in around("2024-02-02T17:00:00+00:00"):
        yield case("column", pit, ("calendar", "date=2024-02-01"),
                   [item("NYSE:A:2023Q1", event["conference_date"], was, hidden=("SECRET",))],
                   [reply([row], "/calendar")], f"whether there is a transcript is of today ({name})")  # fmt: skip
    spoilt: Sequence[Any] = (None, 5, [], {}, {**event, "year": "2023"}, {**event, "quarter": None}, "x")
    for bad in spoilt:
        exchanges = [reply({"events": [bad, event]}, "/events")]
        yield case("shape", "2024-02-15T16:00:00-05:00", ("events", "symbol=MSFT", "exchange=NASDAQ"),
                   [item("NASDAQ:MSFT:2023Q1", event["conference_date"], True)], exchanges,
                   "a row that cannot be read costs no other")  # fmt: skip
    for status in (400, 401, 403, 404, 500):
        yield case("error", "2024-02-15T16:00:00-05:00", ("events", "symbol=MSFT", "exchange=NASDAQ"),
                   [item("", None, False, hidden=("SECRET",))], [reply("SECRET", "/events", status)],
                   "what a source says in an error is of today")  # fmt: skip


# Yahoo -----------------------------------------------------------------------------------------------


YAHOO_CRUMB = reply("haT3oykhHqZ", "/v1/test/getcrumb")


def yahoo_news(kind: str, pit: str, published: Any, displayed: Any, was: bool, why: str) -> Case:
    content = {"id": "n1", "contentType": "STORY", "title": "SECRET", "pubDate": published, "displayTime": displayed}
    stream = {"data": {"tickerStream": {"stream": [{"id": "n1", "content": content}]}}}
    entry = item("n1", published, was, revised=displayed, hidden=() if was else ("SECRET",))
    return case(kind, pit, ("news", "symbol=ACME"), [entry], [reply(stream, "/xhr/ncp")], why)


def yahoo_report(kind: str, pit: str, hour: str, name: str, was: bool, why: str, reported: str = "1.2") -> Case:
    titles = ("Symbol", "Company", "Earnings Date", "EPS Estimate", "Reported EPS", "Surprise (%)")
    cells = ("ACME", "A Company" if was else "SECRET", hour, "1.1", reported, "9.1")
    heading, row = (
        "".join(f"<{tag}>{text}</{tag}>" for text in texts) for tag, texts in (("th", titles), ("td", cells))
    )
    page = f"<h1>Showing Earnings for: ACME</h1><table><tr>{heading}</tr><tr>{row}</tr></table>"
    entry = item(name, hour, was, hidden=() if was else ("SECRET",))
    return case(kind, pit, ("earnings", "symbol=ACME"), [entry], [reply(page, "/calendar/earnings")], why)


def yahoo_action(kind: str, pit: str, graded: Any, name: str, was: bool, why: str) -> Case:
    row = {"epochGradeDate": graded, "firm": "A Bank", "toGrade": "Buy", "fromGrade": "Hold", "action": "up"}
    target = {"currentPriceTarget": "SECRET", "priorPriceTarget": "SECRET"}
    summary = {"quoteSummary": {"result": [{"upgradeDowngradeHistory": {"history": [row | target]}}], "error": None}}
    entry = item(name, graded, was, hidden=("SECRET",))
    exchanges = [YAHOO_CRUMB, reply(summary, "/quoteSummary/ACME")]
    return case(kind, pit, ("upgrades", "symbol=ACME"), [entry], exchanges, why)


# pubDate, displayTime, when it was public (UTC), why
YAHOO_DISPLAYED = (
    ("2025-12-31T17:56:38Z", "2026-01-03T14:07:21Z", "2026-01-03T14:07:21+00:00", "recorded: shown again three days later"),
    ("2026-09-17T10:04:00Z", "2026-09-17T10:04:00Z", "2026-09-17T10:05:00+00:00", "recorded: one time for both, without seconds"),
    ("2024-02-15T20:00:07Z", "2024-02-15T15:00:00Z", "2024-02-15T20:00:07+00:00", "shown before it was published: the later counts"),
)  # fmt: skip
YAHOO_NOT_SHOWN: Sequence[tuple[Any, Any, str]] = (
    ("2024-02-01T10:00:00Z", None, "without a time of display the text may be a later one"),
    (None, "2024-02-01T10:00:00Z", "without a time of publication"),
    ("2024-02-01T10:00:00", "2024-02-01T10:00:00", "no offset"),
    ("2024-02-01", "2024-02-01", "a date alone, in a feed of instants"),
    ("2024-02-01T10:00:00-00:00", "2024-02-01T10:00:00-00:00", "RFC 3339: the zone is not known"),
    (1706781600, 1706781600, "a bare number"),
    ("soon", "soon", "a word"),
)
# the row's hour, its id, the end of the day of the report (UTC), the beginning of the hour, why
YAHOO_HOURS = (
    ("January 30, 2025 at 4 PM EST", "ACME@2025-01-30T16", "2025-01-31T05:00:00+00:00", "2025-01-30T16:00:00-05:00",
     "the hour of the call, not of the report"),
    ("October 29, 2024 at 8 PM EDT", "ACME@2024-10-29T20", "2024-10-31T04:00:00+00:00", "2024-10-29T20:00:00-04:00",
     "reported: midnight UTC of the 30th, when Microsoft reported at 16:05"),
    ("January 28, 2025 at 7 PM EST", "ACME@2025-01-28T19", "2025-01-30T05:00:00+00:00", "2025-01-28T19:00:00-05:00",
     "reported: midnight UTC in winter"),
    ("Jul 28, 2022, 12 PMEDT", "ACME@2022-07-28T12", "2022-07-29T04:00:00+00:00", "2022-07-28T12:00:00-04:00",
     "printed: four hours before Apple's report of 16:30"),
    ("March 7, 2024 at 11 PM EST", "ACME@2024-03-07T23", "2024-03-09T05:00:00+00:00", "2024-03-07T23:00:00-05:00",
     "late in the evening: the next day, too"),
    ("March 10, 2024 at 8 PM EDT", "ACME@2024-03-10T20", "2024-03-12T04:00:00+00:00", "2024-03-10T20:00:00-04:00",
     "midnight UTC of a Monday, on the evening of the day on which the clocks change"),
)  # fmt: skip
YAHOO_WEEKENDS = (
    ("March 8, 2024 at 8 PM EST", "ACME@2024-03-08T20"), ("March 9, 2024 at 11 PM EST", "ACME@2024-03-09T23"),
    ("March 10, 2024 at 6 PM EDT", "ACME@2024-03-10T18"),
)  # fmt: skip
YAHOO_NO_HOURS = ("January 30, 2024", "January 30, 2024 at 4 PM", "January 30, 2024 at 4 PM GMT", "2024-01-30", "-", "")
# epochGradeDate, the beginning of its id, why
YAHOO_GRADED = (
    (
        1611860954,
        "20210128T190914Z",
        "recorded in 2021; in 2025 none of 1,309 actions had its time of 2021, and 805 an earlier one",
    ),
    (1353912540, "20121126T064900Z", "recorded: a time without seconds"),
    (1708041600, "20240216T000000Z", "midnight of UTC: a day without a time"),
)


def yahoo() -> Iterator[Case]:
    for published, displayed, public, why in YAHOO_DISPLAYED:
        first = min(published, displayed).replace("Z", "+00:00")
        for pit, was, name in around(public, {first: "the earlier of both"} if published != displayed else {}):
            yield yahoo_news("revision", pit, published, displayed, was, f"{why} ({name})")
    for published, displayed, why in YAHOO_NOT_SHOWN:
        yield yahoo_news("undated", "2024-02-15T16:00:00-05:00", published, displayed, False, why)
    for text, name, public, hour, why in YAHOO_HOURS:
        evening = f"{hour[:10]}T23:59:59{hour[-6:]}"
        for pit, _, which in around(public, {hour: "its hour", evening: "the end of its day"}):
            yield yahoo_report("date-only", pit, text, name, False, f"figures are in today's shares; {why} ({which})")
    for hour in YAHOO_NO_HOURS:
        yield yahoo_report("undated", "2024-03-15T16:00:00-04:00", hour, "", False, "no hour of a known zone")
    for nothing in ("-", "", "--"):
        yield yahoo_report("false row", "2024-03-15T16:00:00-04:00", "January 30, 2024 at 4 PM EST",
                           "ACME@2024-01-30T16", False, "a date without a report", nothing)  # fmt: skip
    for text, name in YAHOO_WEEKENDS:
        yield yahoo_report(
            "undated", "2024-03-15T16:00:00-04:00", text, name, False, "on a weekend nothing is reported"
        )
    for graded, start, why in YAHOO_GRADED:
        yield yahoo_action("snapshot", "2024-03-15T16:00:00-04:00", graded, f"ACME:{start}:A Bank:up", False, why)
    instead: Sequence[Any] = (None, "1706781600", 1706781600000, 1706781600.5)
    for bad in instead:
        yield yahoo_action("undated", "2024-02-15T16:00:00-05:00", bad, "", False, "no Unix seconds")
    for kind, operation, why in (
        ("snapshot", "consensus", "the state of today"),
        ("adjustment", "prices", "prices are adjusted for later splits"),
    ):
        meta = {"symbol": "ACME", "dataGranularity": "1d", "exchangeTimezoneName": "America/New_York"}
        column = {name: [1.5] for name in ("open", "high", "low", "close", "volume")}
        chart = {"meta": meta, "timestamp": [1707921000], "indicators": {"quote": [column]}}
        trend = {"recommendationTrend": {"trend": [{"period": "0m", "strongBuy": "SECRET"}]}}
        exchanges = [YAHOO_CRUMB, reply({"chart": {"result": [chart], "error": None}}, "/chart/ACME"),
                 reply({"quoteSummary": {"result": [trend], "error": None}}, "/quoteSummary/ACME")]  # fmt: skip
        names = {"prices": "ACME@2024-02-14", "consensus": "ACME:recommendation:0m"}
        yield case(kind, "2024-02-15T16:00:00-05:00", (operation, "symbol=ACME"),
                   [item(names[operation], None, False, hidden=("SECRET",))], exchanges, why)  # fmt: skip
    for status in (400, 401, 403, 404, 429, 500, 999):
        for operation, path in (("news", "/xhr/ncp"), ("earnings", "/calendar/earnings"), ("upgrades", "/ACME")):
            yield case("error", "2024-02-15T16:00:00-05:00", (operation, "symbol=ACME"),
                       [item("", None, False, hidden=("SECRET",))], [YAHOO_CRUMB, reply("SECRET", path, status)],
                       "what a source says in an error is of today")  # fmt: skip


# Wayback Machine -------------------------------------------------------------------------------------


BIRDS, CLIMATE = "https://www.fws.gov/birds/", "https://www.epa.gov/climatechange"
SIGNPOST, AGENCY = "https://www.epa.gov/sites/production/files/signpost/cc.html", "http://www.nasa.gov/"


def memento(stamp: str, url: str, body: str, status: int = 200, **headers: Any) -> dict[str, Any]:
    """One capture, as the archive replays it."""
    moment = datetime.strptime(stamp, "%Y%m%d%H%M%S")  # noqa: DTZ007 - of UTC
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    named |= {"memento-datetime": f"{moment:%a, %d %b %Y %H:%M:%S} GMT", "content-type": "text/html"}
    return reply(body, f"/web/{stamp}id_/{url}", status) | {"headers": named}


def listed_captures(url: str, *rows: tuple[str, str]) -> dict[str, Any]:
    """The index, which answers with these captures (stamp, status) whatever window is asked for."""
    lines = "".join(f"{stamp} {url} text/html {status} AAAA 100\n" for stamp, status in rows)
    # Of the address that is asked for; what a redirect leads to may be spelled in several ways.
    made = reply(lines, "/cdx/search/cdx")
    return made | ({} if url == SIGNPOST else {"query": {"url": url.partition("://")[2]}})


def web_page(kind: str, pit: str, items: Sequence[Any], exchanges: Sequence[Any], why: str, url: str) -> Case:
    return case(kind, pit, ("page", f"url={url}"), items, exchanges, why)


# stamp, the origin's Date and Last-Modified, when it was public (UTC), why
CAPTURED: Sequence[tuple[str, str, str, str, str]] = (
    ("20171124151315", "Fri, 24 Nov 2017 15:13:14 GMT", "", "2017-11-24T15:18:16+00:00", "recorded: the origin's clock is a second behind"),
    ("20200201024405", "Sat, 01 Feb 2020 02:44:06 GMT", "Tue, 02 Apr 2019 11:12:12 GMT", "2020-02-01T02:49:07+00:00", "recorded: the stamp is that of the request's start"),
    ("20180808104500", "Wed, 08 Aug 2018 10:45:00 GMT", "", "2018-08-08T10:50:01+00:00", "recorded: one second for both"),
    ("19970711094601", "", "", "1997-07-11T09:51:02+00:00", "without a date of its origin"),
    ("20150129034904", "Thursday, 29-Jan-15 03:49:30 GMT", "", "2015-01-29T03:54:31+00:00", "a date as older servers write it"),
    ("20231231235957", "Mon, 01 Jan 2024 00:00:02 GMT", "", "2024-01-01T00:05:03+00:00", "the year ends in between"),
    ("20150129034904", "Thu, 29 Jan 2015 03:49:04 GMT", "Thu, 29 Jan 2015 15:00:00 GMT", "2015-01-29T15:05:01+00:00", "it says that it was changed hours later"),
)  # fmt: skip
MISCAPTURED: Sequence[tuple[str, str, str, str]] = (
    ("19961231235847", "Fri, 11 Jul 1997 06:39:57 GMT", "Tue, 08 Jul 1997 21:00:16 GMT", "recorded: a row of 1996 holds the page of July 1997"),
    ("20150129034904", "Sat, 31 Jan 2015 03:49:04 GMT", "", "its origin's clock is two days later"),
    ("20150129034904", "29.01.2015", "", "its origin's date cannot be read"),
    ("20150129034904", "Fri, 29 Jan 2015 03:49:04 GMT", "", "the weekday contradicts the date"),
    ("20150129034904", "", "Sat, 07 Feb 2015 00:00:00 GMT", "changed nine days after its capture"),
)  # fmt: skip


def wayback() -> Iterator[Case]:
    for stamp, date, modified, public, why in CAPTURED:
        origin: dict[str, Any] = {"x_archive_orig_date": date, "x_archive_orig_last_modified": modified}
        page = memento(
            stamp, BIRDS, "<title>Birds</title>SECRET", **{name: text for name, text in origin.items() if text}
        )
        at = datetime.strptime(stamp, "%Y%m%d%H%M%S").replace(tzinfo=UTC).isoformat()
        for pit, was, name in around(public, {at: "the stamp of the capture"}):
            entry = item(f"{stamp}/{BIRDS}", stamp, was, hidden=() if was else ("SECRET",))
            index = listed_captures(BIRDS, (stamp, "200"))
            yield web_page("precision", pit, [entry], [index, page], f"{why} ({name})", BIRDS)
    for stamp, date, modified, why in MISCAPTURED:
        origin = {"x_archive_orig_date": date, "x_archive_orig_last_modified": modified}
        page = memento(stamp, AGENCY, "SECRET", **{name: text for name, text in origin.items() if text})
        for pit in ("1997-06-01T00:00:00Z", "2015-02-01T00:00:00Z", "2026-01-01T00:00:00Z"):
            entry = item(f"{stamp}/{AGENCY}", stamp, False, hidden=("SECRET",))
            yield web_page("false row", pit, [entry], [listed_captures(AGENCY, (stamp, "200")), page], why, AGENCY)
    yield from _nearest_captures()
    yield from _captured_redirects()
    yield from _other_answers()


def _nearest_captures() -> Iterator[Case]:
    """The archive leads to the nearest capture, which may be a later one."""
    later = memento("20171124151315", BIRDS, "SECRET")
    leads = reply("", f"/web/20171101000000id_/{BIRDS}", 302)
    leads |= {"headers": {"location": f"https://web.archive.org/web/20171124151315id_/{BIRDS}"}}
    hidden = item(f"20171124151315/{BIRDS}", "20171124151315", False, hidden=("SECRET", "20171124"))
    for rows in ((("20171101000000", "200"),), (("20171101000000", "200"), ("20171124151315", "200"))):
        for pit in ("2017-11-02T00:00:00Z", "2017-11-24T15:13:15Z"):
            yield web_page("window", pit, [hidden], [listed_captures(BIRDS, *rows), leads, later],
                           "recorded: asked for 2017-11-01, led to a capture 23 days later", BIRDS)  # fmt: skip


def _captured_redirects() -> Iterator[Case]:
    """A captured redirect's target is looked up at the PIT, and not at its nearest capture."""
    moved = memento("20200201023757", CLIMATE, "", 301)
    moved["headers"]["location"] = f"https://web.archive.org/web/20200201023757id_/{SIGNPOST}"
    target = memento("20200201024405", SIGNPOST, "<title>Signpost</title>SECRET")
    exchanges = [
        listed_captures(CLIMATE, ("20200201023757", "301")),
        listed_captures(SIGNPOST, ("20200201024405", "200")),
        moved,
        target,
    ]
    for pit, was, name in around("2020-02-01T02:49:06+00:00", {"2020-02-01T02:45:00+00:00": "after the redirect"}):
        entry = item(f"20200201024405/{SIGNPOST}", "20200201024405", was, hidden=() if was else ("SECRET",))
        yield web_page(
            "window", pit, [entry], exchanges, f"recorded: the target was captured six minutes later ({name})", CLIMATE
        )


def _other_answers() -> Iterator[Case]:
    """What the archive answers in the place of a capture, and what an origin told its robot."""
    stamp, pit = "20150129034904", "2015-02-01T00:00:00Z"
    index = listed_captures(BIRDS, (stamp, "200"))
    entry = item(f"{stamp}/{BIRDS}", stamp, False, hidden=("SECRET",))
    for status in (200, 403, 404):
        yield web_page("error", pit, [entry], [index, reply("SECRET", f"/web/{stamp}id_/{BIRDS}", status)],
                       "without Memento-Datetime it is the archive's own page, of today", BIRDS)  # fmt: skip
    other = memento(stamp, BIRDS, "SECRET")
    other["headers"]["memento-datetime"] = "Fri, 24 Nov 2017 15:13:15 GMT"
    yield web_page(
        "window", pit, [entry], [index, other], "a capture of another time than the one that was asked for", BIRDS
    )
    for line in (
        "20000800241623 https://www.fws.gov/birds/ text/html 200 SECRET 1",
        "20150129034904 SECRET text/html 200 AAAA 1",
    ):
        yield case("unreadable", pit, ("captures", f"url={BIRDS}"), [item("", line, False, hidden=("SECRET",))],
                   [reply(line, "/cdx/search/cdx")], "recorded: a line of the index that is no capture")  # fmt: skip
    late = listed_captures(BIRDS, (stamp, "200"), ("20171124151315", "200"))
    for when, _, name in around("2017-11-24T15:18:16+00:00", {"2017-11-24T15:13:15+00:00": "its stamp"}):
        entries = [item(f"{listed}/{BIRDS}", listed, False) for listed in ("20171124151315", stamp)]
        why = f"the index alone dates no capture: a row of 1996 is of July 1997 ({name})"
        yield case("window", when, ("captures", f"url={BIRDS}"), entries, [late], why)


# Wikipedia -------------------------------------------------------------------------------------------


def wiki_row(revid: int, at: Any, text: str, comment: str = "", **more: Any) -> dict[str, Any]:
    slot = {"contentmodel": "wikitext", "contentformat": "text/x-wiki", "content": text}
    row = {"revid": revid, "parentid": 0, "timestamp": at, "size": len(text), "comment": comment}
    return row | {"sha1": sha1(text.encode()).hexdigest(), "slots": {"main": slot}} | more


def wiki(
    title: str, older: Sequence[Any], newer: Sequence[Any] = (), moves: Sequence[Any] = (), page: int = 7
) -> list[Any]:
    """What the API says of a title: its revisions up to the PIT and after it, and the moves away from it."""
    about = {"pageid": page, "ns": 0, "title": title}
    replies = []
    for direction, rows in (("older", older), ("newer", newer)):
        result = {"pages": [{**about, "revisions": list(rows)}]} | (
            {"logevents": list(moves)} if direction == "newer" else {}
        )
        replies.append(reply({"query": result}, "/w/api.php", titles=title, rvdir=direction))
    return replies


# the revision's time, when it was public (UTC), why
EDITED = (
    ("2019-10-09T18:54:57Z", "2019-10-09T18:55:57+00:00", "recorded: stamped before it is committed"),
    ("2020-12-31T23:59:30Z", "2021-01-01T00:00:30+00:00", "the year ends in between"),
    ("2024-02-29T23:59:59Z", "2024-03-01T00:00:59+00:00", "a leap day"),
)
UNREAD_EDITS: Sequence[Any] = (
    "2020-01-01T00:00:00",
    "2020-01-01",
    None,
    1577836800,
    "soon",
    "2020-01-01T00:00:00-00:00",
)


def wikipedia() -> Iterator[Case]:
    about = ("article", "title=Acme")
    for at, public, why in EDITED:
        stamp = at.replace("Z", "+00:00")
        for pit, was, name in around(public, {stamp: "its time"}):
            for operation in ("article", "revisions"):
                hidden = () if was else ("SECRET",)
                text = "SECRET" if operation == "article" else "x"
                yield case("precision", pit, (operation, "title=Acme"), [item("en:7@100", at, was, hidden=hidden)],
                           wiki("Acme", [wiki_row(100, at, text)]), f"{why} ({name})")  # fmt: skip
    for at in UNREAD_EDITS:
        yield case("undated", "2024-02-15T16:00:00-05:00", about, [item("en:7@100", at, False, hidden=("SECRET",))],
                   wiki("Acme", [wiki_row(100, at, "SECRET")]), "no instant of the revision")  # fmt: skip
    pit, entry = "2020-06-01T00:00:00Z", item("en:7@100", "2020-02-01T00:00:00Z", False, hidden=("SECRET",))
    draft = wiki_row(100, "2020-02-01T00:00:00Z", "SECRET")
    moved = wiki_row(900, "2020-12-02T02:21:15Z", "SECRET", "M moved page [[User:M/sandbox]] to [[Acme]]")
    yield case("subject", pit, about, [entry], wiki("Acme", [draft], [moved]), "recorded: a draft got its title later")
    yield case(
        "subject", pit, ("revisions", "title=Acme"), [entry], wiki("Acme", [draft], [moved]), "the same, as a list"
    )
    imported = wiki_row(5000, "2020-02-01T00:00:00Z", "SECRET")
    marker = wiki_row(900, "2020-12-02T02:21:15Z", "x")
    late = item("en:7@5000", "2020-02-01T00:00:00Z", False, hidden=("SECRET",))
    yield case("false row", pit, about, [late], wiki("Acme", [imported], [marker]), "imported later, with its old time")
    gone = wiki_row(100, "2020-02-01T00:00:00Z", "SECRET", sha1=None, suppressed=True)
    yield case("revision", pit, about, [entry], wiki("Acme", [gone]), "recorded: hidden since, its time stays")
    move = {"logid": 5, "ns": 0, "title": "Acme", "pageid": 7, "logpage": 7, "timestamp": "2021-01-01T00:00:00Z",
            "params": {"target_ns": 0, "target_title": "Acme Inc."}}  # fmt: skip
    rename = wiki_row(900, "2021-01-01T00:00:00Z", "Of then.", "X moved page [[Acme]] to [[Acme Inc.]]")
    stood = wiki("Acme Inc.", [wiki_row(100, "2020-02-01T00:00:00Z", "Of then.")], [rename])
    exchanges = [*wiki("Acme", [], moves=[move], page=9), *stood]
    yield case("subject", pit, about, [item("en:7@100", "2020-02-01T00:00:00Z", True, hidden=())], exchanges,
               "renamed later: it is found under its title of then")  # fmt: skip
    for status in (400, 403, 404, 429, 500):
        yield case("error", pit, about, [item("", None, False, hidden=("SECRET",))], [reply("SECRET", "/w/api.php", status)],
                   "what a source says in an error is of today")  # fmt: skip


# News and journals whose rows are dated one by one ----------------------------------------------------------


def dated(
    request: Sequence[str], path: str, wrap: Any, table: Iterable[tuple[str, Any, str, Any, str | None, str]]
) -> Iterator[Case]:
    """Cases of one row each: (class, row, id, stamp, when it was public (UTC) or None, why). Its text is SECRET."""
    for kind, row, name, stamp, public, why in table:
        for pit, was, instant in around(public) if public else [("2026-09-30T00:00:00Z", False, "later")]:
            items = [item(name, stamp, was, hidden=() if was else ("SECRET",))]
            yield case(kind, pit, request, items, [reply(wrap([row]), path)], f"{why} ({instant})")
    for status in (400, 403, 404, 429, 500):
        yield case("error", "2024-02-15T16:00:00-05:00", request, [item("", None, False, hidden=("SECRET",))],
                   [reply({"message": "SECRET"}, path, status)], "what a source says in an error is of today")  # fmt: skip


def alpaca_news() -> Iterator[Case]:
    def row(created: Any, updated: Any) -> dict[str, Any]:
        return {"id": 46186154, "author": "A", "content": "", "created_at": created, "headline": "SECRET", "images": [],
                "source": "benzinga", "summary": "", "symbols": ["AMD"], "updated_at": updated, "url": ""}  # fmt: skip

    first, saved = "2025-07-01T01:42:42Z", "2025-07-01T01:42:43Z"
    edits = (
        ("2025-07-01T02:22:22Z", "40 minutes later, as 24919570"),
        ("2025-07-02T06:42:42Z", "29 hours later, as 24803233"),
    )
    yield from dated((), "/v1beta1/news", lambda rows: {"news": rows, "next_page_token": None}, [
        ("revision", row(first, saved), "46186154", first, saved, "recorded: the first save is a second after it"),
        *(("revision", row(first, at), "46186154", first, at, f"edited {why}: only the last text is served")
          for at, why in edits),
        *(("undated", row(first, bad), "46186154", first, None, "nothing says when it was last edited")
          for bad in (None, "", "soon", 1751334163, "2025-07-01T01:42:43", "2025-07-01")),
        *(("undated", row(bad, saved), "46186154", bad, None, "nothing says when it appeared")
          for bad in (None, "", "soon", 1751334162, "2025-07-01T01:42:42", "2025-07-01")),
    ])  # fmt: skip


NO_INSTANT: Sequence[Any] = (None, "", "soon", "2024-02-15", "2024-02-15T10:00:00", "2024-02-30T10:00:00Z")


UNREAD_UNIX: Sequence[Any] = (None, "", "2025-12-10T18:19:51Z", 1765390791000000000, -5)


def tiingo_news() -> Iterator[Case]:
    def row(published: Any, crawled: Any) -> dict[str, Any]:
        return {"id": 66785758, "publishedDate": published, "title": "SECRET", "url": "https://example.com/SECRET",
                "description": None, "source": "example.com", "tags": [], "crawlDate": crawled, "tickers": []}  # fmt: skip

    noon = "2024-06-26T10:26:00Z"
    yield from dated((), "/tiingo/news", lambda rows: rows, [
        ("revision", row(noon, "2024-06-26T14:37:52.735007Z"), "66785758", noon, "2024-06-26T14:37:57.735007+00:00",
         "recorded: one release was crawled 4 h 12 min after its publisher's stamp"),
        ("revision", row("2024-06-26T10:30:02.826000Z", "2024-06-26T10:29:50.000001Z"), "66785758", noon,
         "2024-06-26T10:30:07.826000+00:00", "a publisher's clock ahead of the crawl: the later stamp counts"),
        ("revision", row("2024-07-26T10:30:02Z", noon), "66785758", noon, None, "a publisher's stamp weeks after the crawl"),
        *(("undated", row(noon, bad), "66785758", bad, None, "nothing says when it was crawled") for bad in NO_INSTANT),
        *(("undated", row(bad, noon), "66785758", bad, None, "nothing says when it was published") for bad in NO_INSTANT),
    ])  # fmt: skip
    yield case("revision", "2024-07-26T00:00:00Z", (), [item("66785758:text", noon, False, hidden=("HEADLINE",))],
               [reply([row(noon, noon) | {"title": "HEADLINE"}], "/tiingo/news")],
               "the crawl shows the link, and not that its title has not been read again since")  # fmt: skip


def gdelt() -> Iterator[Case]:
    def row(seen: Any) -> dict[str, Any]:
        return {"url": "https://www.Example.com:443/a", "url_mobile": "", "title": "HEADLINE , tokenised", "seendate": seen,
                "socialimage": "", "domain": "SECRET", "language": "English", "sourcecountry": "Greece"}  # fmt: skip

    def name(seen: str) -> str:
        return f"{seen}/https://www.example.com/a"

    yield from dated(("oil",), "/api/v2/doc/doc", lambda rows: {"articles": rows}, [
        ("precision", row("20260828T121500Z"), name("2026-08-28T12:15:00Z"), "20260828T121500Z", "2026-08-28T12:30:00+00:00",
         "recorded: a batch of 15 minutes, whose files were seen 3 to 5 minutes after the instant that names it"),
        ("zone", row("20240310T070000Z"), name("2024-03-10T07:00:00Z"), "20240310T070000Z", "2024-03-10T07:15:00+00:00",
         "UTC, where New York's clock changes"),
        *(("undated", row(bad), name("x"), bad, None, "nothing says in which batch it was seen")
          for bad in (*NO_INSTANT, "20240230T101500Z", "20240215T101500", 20240215101500)),
    ])  # fmt: skip
    seen = name("2026-08-28T12:15:00Z")
    yield case("revision", "2026-09-28T00:00:00Z", ("oil",), [item(f"{seen}:text", "20260828T121500Z", False, hidden=("HEADLINE",))],
               [reply({"articles": [row("20260828T121500Z")]}, "/api/v2/doc/doc")],
               "the batch shows the link, and not that its title has not been read again since")  # fmt: skip
    for sentence in (
        "SECRET must be surrounded by ().",
        "Please limit requests to one every 5 seconds SECRET",
        "<html>SECRET</html>",
    ):
        yield case("error", "2026-09-28T00:00:00Z", ("oil",), [item("", None, False, hidden=("SECRET",))],
                   [reply(sentence, "/api/v2/doc/doc")], "recorded: it refuses in a sentence with status 200")  # fmt: skip


def hackernews() -> Iterator[Case]:
    def hit(created: Any, written: Any) -> dict[str, Any]:
        return {"objectID": "46221528", "created_at": "2025-12-10T18:19:51Z", "created_at_i": created, "updated_at": written,
                "author": "x", "title": "SECRET", "url": "https://example.com", "points": 57, "num_comments": 3,
                "_tags": ["story"]}  # fmt: skip

    made = 1765390791  # 2025-12-10T18:19:51Z
    posts = ("search", "query=ai")
    yield from dated(posts, "/api/v1/search_by_date", lambda rows: {"hits": rows, "nbHits": 6}, [
        ("revision", hit(made, "2025-12-10T18:20:00Z"), "46221528", made, "2025-12-10T18:20:51+00:00",
         "a minute after its creation, when the index has it"),
        ("revision", hit(made, "2025-12-11T01:19:51Z"), "46221528", made, "2025-12-11T01:19:51+00:00",
         "recorded: written again 7 hours later, by a vote or by an edit of the title"),
        ("revision", hit(made, "2026-03-05T23:08:34Z"), "46221528", made, "2026-03-05T23:08:34+00:00",
         "recorded: a bulk write of the index, 85 days later"),
        *(("undated", hit(made, bad), "46221528", bad, None, "nothing says when it was last written") for bad in NO_INSTANT),
        *(("undated", hit(bad, "2025-12-11T01:19:51Z"), "46221528", bad, None, "nothing says when it was made")
          for bad in UNREAD_UNIX),
    ])  # fmt: skip
    for score in (
        {"points": "SECRET"},
        {"num_comments": "SECRET"},
        {"children": ["SECRET"]},
        {"story_title": "SECRET"},
    ):
        yield case("count", "2026-09-28T00:00:00Z", posts, [item("46221528", made, True, hidden=("SECRET",))],
                   [reply({"hits": [hit(made, "2025-12-11T01:19:51Z") | {"title": "T"} | score], "nbHits": 6}, "/search_by_date")],
                   "scores, counts and the title of a comment's story are as of the fetch")  # fmt: skip
    for row in ({"title": "SECRET"}, {"text": "SECRET"}, {"title": "SECRET", "deleted": True}):
        yield case("revision", "2026-09-28T00:00:00Z", ("item", "ids=8863"), [item("8863", made, False, hidden=("SECRET",))],
                   [reply({"id": 8863, "type": "story", "by": "x", "time": made, "score": 104, **row}, "/v0/item/8863.json")],
                   "all fields but id, type, by and time are subject to change, without a stamp")  # fmt: skip


def finnhub() -> Iterator[Case]:
    def row(at: Any) -> dict[str, Any]:
        return {"category": "company", "datetime": at, "headline": "SECRET", "id": 140399323, "image": "", "related": "AAPL",
                "source": "Yahoo", "summary": "", "url": ""}  # fmt: skip

    yield from dated(("news", "symbol=AAPL"), "/company-news", lambda rows: rows, [
        ("revision", row(1779554718), "140399323", 1779554718, None,
         "recorded: rows are added to the past, and texts change without a mark"),
        *(("undated", row(bad), "140399323", bad, None, "nothing says when it was published")
          for bad in UNREAD_UNIX),
    ])  # fmt: skip
    report = {
        "date": "2026-07-29",
        "epsActual": 2.01,
        "epsEstimate": 1.9316,
        "hour": "amc",
        "quarter": 3,
        "symbol": "AAPL",
        "year": 2026,
    }
    for pit in ("2026-07-29T12:00:00Z", "2026-07-30T04:00:00Z", "2026-09-30T04:00:00Z"):
        yield case("snapshot", pit, ("earnings", "symbol=AAPL"), [item("AAPL:2026:3", "2026-07-29", False, hidden=("2.01",))],
                   [reply({"earningsCalendar": [report]}, "/calendar/earnings")],
                   "dates, estimates and results are overwritten in place, and no row says when")  # fmt: skip


def arxiv() -> Iterator[Case]:
    def feed(rows: Sequence[Any]) -> str:
        entries = "".join(
            f"<entry><id>http://arxiv.org/abs/{name}</id><title>SECRET</title><updated>{updated}</updated><published>{first}"
            "</published><arxiv:primary_category term='math.CO'/></entry>" for name, updated, first in rows)  # fmt: skip
        return f"<feed xmlns='http://www.w3.org/2005/Atom' xmlns:arxiv='http://arxiv.org/schemas/atom'>{entries}</feed>"

    made, held = "2016-05-26T17:59:46Z", "2014-02-04T11:33:00Z"
    yield from dated(("ids=1605.08386",), "/api/query", feed, [
        ("date-only", ("1605.08386v1", made, made), "1605.08386", made, None, "recorded: a submission is no announcement"),
        ("date-only", ("1402.7033v1", held, held), "1402.7033", held, None, "submitted on 4 February, announced on the 28th"),
        ("revision", ("1605.08386v3", "2026-05-26T17:59:46Z", made), "1605.08386", made, None, "a third version, years later"),
        *(("undated", ("1605.08386v1", bad, made), "1605.08386", bad, None, "no instant") for bad in ("", "soon", "2016-05-26")),
    ])  # fmt: skip


def federal_register() -> Iterator[Case]:
    agencies = [{"raw_name": "EPA", "slug": "environmental-protection-agency"}]

    def printed(day: Any) -> dict[str, Any]:
        return {
            "title": "SECRET",
            "type": "Rule",
            "document_number": "2026-07755",
            "publication_date": day,
            "agencies": agencies,
        }

    def filed(at: Any, replaced: Any) -> dict[str, Any]:
        return {"title": "SECRET", "type": "Rule", "document_number": "2019-17425", "filing_type": "special", "filed_at": at,
                "pdf_updated_at": replaced, "pdf_url": "", "agencies": agencies}  # fmt: skip

    def results(rows: Sequence[Any]) -> dict[str, Any]:
        return {"count": 1, "results": list(rows)}

    days = (("2026-04-21", "2026-04-21T16:00:00+00:00", "summer time"), ("2024-02-15", "2024-02-15T17:00:00+00:00", "winter"),
            ("2024-11-04", "2024-11-04T17:00:00+00:00", "the day after the clock changed"))  # fmt: skip
    yield from dated(("documents",), "/documents.json", results, [
        *(("date-only", printed(day), f"2026-07755@{day}", day, public, f"late content of an issue is out before noon: {why}")
          for day, public, why in days),
        *(("undated", printed(bad), "2026-07755@None", bad, None, "no day of an issue")
          for bad in (None, "", "soon", "20260421", "2026-04-31", 20260421)),
    ])  # fmt: skip
    at, early = "2019-08-09T16:15:00.000-04:00", "2019-07-25T06:00:00.000-04:00"
    yield from dated(("public_inspection",), "/public-inspection-documents.json", results, [
        ("zone", filed(at, at), "2019-17425", at, "2019-08-09T20:20:00+00:00", "recorded: a special filing, after the close"),
        ("zone", filed("2019-08-09T20:15:00Z", at), "2019-17425", at, "2019-08-09T20:20:00+00:00", "the same, as the search has it"),
        ("precision", filed(early, early), "2019-17425", early, "2019-07-25T12:50:00+00:00", "nothing is on the site before 08:45"),
        ("revision", filed(at, "2019-08-12T11:15:13.000-04:00"), "2019-17425", at, "2019-08-12T15:15:13+00:00",
         "the text was replaced three days later"),
        *(("undated", filed(bad, at), "2019-17425", bad, None, "no instant of the filing") for bad in NO_INSTANT),
        *(("undated", filed(at, bad), "2019-17425", bad, None, "nothing says when the text was replaced") for bad in NO_INSTANT),
    ])  # fmt: skip


_COMPANIES = [f"{a}{b}{c}" for a in "ABCDEFGHIJ" for b in "ABCDEFG" for c in "ABCDEFG"]


def index_members() -> Iterator[Case]:
    def source(*symbols: str) -> str:
        named = [*symbols, *_COMPANIES[len(symbols) :]]
        return (
            "{| id='constituents'\n! Symbol !! Security\n" + "".join(f"|-\n|{name}||{name}\n" for name in named) + "|}"
        )

    def row(number: int, at: Any, text: str) -> dict[str, Any]:
        digest = sha1(text.encode(), usedforsecurity=False).hexdigest()
        return {"revid": number, "timestamp": at, "sha1": digest, "slots": {"main": {"content": text}}}

    def asked(kind: str, pit: str, rows: Sequence[Any], items: Sequence[Any], why: str) -> Case:
        body = {"query": {"pages": [{"pageid": 7, "title": "List of S&P 500 companies", "revisions": list(rows)}]}}
        return case(kind, pit, ("sp500", "--limit", "600"), items, [reply(body, "/w/api.php")], why)

    before, early, undone = "2023-06-02T12:00:00Z", "2023-06-04T09:00:00Z", "2023-06-05T09:00:00Z"
    stood, ahead = row(1, before, source()), row(2, early, source("PANW"))
    for pit, was, instant in around("2023-06-04T09:01:00+00:00"):
        yield asked("revision", pit, [ahead, stood], [item("sp500:PANW@2", early, was, hidden=() if was else ("PANW",))],
                    f"recorded: an announcement applied 16 days before its effective day ({instant})")  # fmt: skip
    for pit, gone, instant in around("2023-06-05T09:01:00+00:00"):
        rows = [row(3, undone, source()), ahead, stood]
        yield asked("revision", pit, rows, [item("sp500:PANW@2", early, not gone, hidden=("PANW",) if gone else ())],
                    f"recorded: it was undone a day later, which is not known before ({instant})")  # fmt: skip
    yield asked("snapshot", "2023-11-15T00:00:00Z", [row(9, "2023-12-18T12:00:00Z", source("UBER")), stood],
                [item("sp500:UBER@9", "2023-12-18T12:00:00Z", False, hidden=("UBER",))],
                "announced on 1 December: a data set of today has it since October")  # fmt: skip
    for bad in (None, "", "soon", "2023-06-04"):
        yield asked("undated", "2023-11-15T00:00:00Z", [row(2, bad, source("PANW")), stood],
                    [item("sp500:PANW@2", bad, False, hidden=("PANW",))], "no instant of the revision")  # fmt: skip
    for status in (400, 403, 404, 429, 500):
        yield case("error", "2023-11-15T00:00:00Z", ("sp500",), [item("", None, False, hidden=("SECRET",))],
                   [reply("SECRET", "/w/api.php", status)], "what a source says in an error is of today")  # fmt: skip


def official() -> Iterator[Case]:
    def report(day: Any) -> dict[str, Any]:
        return {"report_date_as_yyyy_mm_dd": day, "cftc_contract_market_code": "239747", "open_interest_all": "19404"}

    def shorts(day: str, flag: Any) -> dict[str, Any]:
        return {
            "symbolCode": "AAPL",
            "settlementDate": day,
            "currentShortPositionQuantity": 987654321,
            "revisionFlag": flag,
        }

    def asked(op: Sequence[str], path: str, row: Any, name: str, pit: str, why: str, kind: str = "date-only") -> Case:
        items = [item(name, pit, False, hidden=("19404", "987654321", "4.31"))]
        return case(kind, pit, op, items, [reply([row] if isinstance(row, dict) else row, path)], why)

    cot = ("cot", "market=239747")
    for pit, why in (("2024-08-20T23:00:00Z", "the day of the positions"), ("2024-08-23T19:00:00Z", "before the Friday's release"),
                     ("2025-01-01T00:00:00Z", "released: but nothing shows when, nor that it was not corrected since")):  # fmt: skip
        yield asked(cot, ".json", report("2024-08-20T00:00:00.000"),
                    "legacy:239747@2024-08-20", pit, why)  # fmt: skip
    for pit in ("2025-10-04T00:00:00Z", "2025-11-19T20:00:00Z"):
        yield asked(cot, ".json", report("2025-09-30T00:00:00.000"), "legacy:239747@2025-09-30", pit,
                    "recorded: a shutdown delayed this report to 19 November, by 47 days")  # fmt: skip
    short = ("short_interest", "symbols=AAPL")
    yield asked(short, "/consolidatedShortInterest", shorts("2026-08-31", None), "AAPL@2026-08-31", "2026-09-05T00:00:00Z",
                "settled on 31 August, published about ten days later")  # fmt: skip
    yield asked(short, "/consolidatedShortInterest", shorts("2026-08-31", "R"), "AAPL@2026-08-31", "2026-12-05T00:00:00Z",
                "it was corrected, and nothing says when", "revision")  # fmt: skip
    feed = ("<feed xmlns='http://www.w3.org/2005/Atom' xmlns:d='urn:d' xmlns:m='urn:m'><entry><content><m:properties>"
            "<d:NEW_DATE>2024-09-03T00:00:00</d:NEW_DATE><d:BC_10YEAR>4.31</d:BC_10YEAR></m:properties></content></entry></feed>")  # fmt: skip
    for pit in ("2024-09-03T15:30:00-04:00", "2024-09-03T20:30:00-04:00"):
        yield asked(
            ("treasury",),
            "/xmlview",
            feed,
            "treasury@2024-09-03",
            pit,
            "the feed's own stamps are those of the request",
        )


FILES = {
    "bz-news-api": benzinga,
    "alphavantage": alphavantage,
    "sec_full_text": lambda: _on_a_host_that_answers(sec()),
    "sec_filings": lambda: _on_a_host_that_answers(sec_filings()),
    "fred": fred,
    "perplexity": perplexity,
    "earningscall": earningscall,
    "yahoo": yahoo,
    "wayback": wayback,
    "wikipedia": wikipedia,
    "alpaca_news": alpaca_news,
    "tiingo_news": tiingo_news,
    "gdelt": gdelt,
    "hackernews": hackernews,
    "finnhub": finnhub,
    "arxiv": arxiv,
    "federal_register": federal_register,
    "index_members": index_members,
    "official": official,
}


def _on_a_host_that_answers(cases: Iterable[Case]) -> Iterator[Case]:
    """Yield cases in which www.sec.gov has what it always has. Without it, the host seems to refuse everything."""
    robots = reply("User-agent: *\nDisallow: /cgi-bin\n", "/robots.txt")
    yield from ({**case, "exchanges": [*case["exchanges"], robots]} for case in cases)


def document(source: str) -> str:
    cases = [{"id": f"{source}-{n:03d}", **case} for n, case in enumerate(FILES[source](), 1)]
    head = {"format": FORMAT, "version": VERSION, "license": LICENSE, "source": source}
    lines = ",\n  ".join(json.dumps(case) for case in cases)
    return json.dumps(head)[:-1] + f', "cases": [\n  {lines}\n]}}\n'


if __name__ == "__main__":
    for name in FILES:
        (FOLDER / f"{name}.json").write_text(document(name), encoding="utf-8")
