"""yahoo: the cookie and the crumb, what a row's time can mean, snapshots through the archive, and pages that change."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from pit_fetch.errors import ConfigError
from pit_fetch.provider import Record
from pit_fetch.testing.server import App, Response, as_json
from tests import inprocess
from tests.provider_harness import NOW, Fetched, instead, run_command
from tests.provider_harness import ask as ask_source
from tests.providers.yahoo import server as yahoo
from tests.providers.yahoo.server import Company

PIT = "2025-02-15T16:00:00-05:00"


def _command(folder: Path, app: App, *words: str, **more: Any) -> inprocess.Answer:
    archive = {"PIT_FETCH_ARCHIVE": str(folder / "archive.db")}
    return run_command("yahoo", folder, app, *words, env=archive, **more)


NEW_YORK = ZoneInfo("America/New_York")

# Three days of Apple around its split of 2020, as recorded in 2025.
BARS = (
    (1598621400, 126.01, 126.44, 124.58, 124.81, 187151200, 121.70),
    (1598880600, 127.58, 131.0, 126.0, 129.04, 225702700, 125.83),
    (1598967000, 132.76, 134.80, 130.53, 134.18, 151948100, 130.84),
)
APPLE = Company(
    bars=BARS,
    splits=({"date": 1598880600, "numerator": 4, "denominator": 1, "splitRatio": "4:1"},),
    dividends=({"date": 1596807000, "amount": 0.205},),
    articles=(
        # Recorded: shown again three days later.
        ("c3618287", "2024-12-31T17:56:38Z", "2025-01-03T14:07:21Z", "Several are stepping down"),
        ("06f8ab20", "2025-02-15T10:04:00Z", "2025-02-15T10:04:00Z", "Worth watching"),
        ("late", "2025-02-15T10:00:00Z", "2025-02-16T10:00:00Z", "Edited on the next day"),
        ("undated", "2025-02-15T10:00:00Z", None, "Of no known hour"),
    ),
    calendar=(
        ("May 1, 2025 at 4 PM EDT", "1.62", "-", "-"),
        ("January 30, 2025 at 4 PM EST", "2.35", "2.4", "2.15"),
        ("October 29, 2024 at 8 PM EDT", "3.1", "3.3", "+6.52"),
        ("Jul 28, 2022, 12 PMEDT", "1.16", "1.2", "+3.27"),
    ),
    grades=(
        (1739620800, "A Bank", "Buy", "Hold", "up"),  # a midnight of UTC
        (1739595600, "Another Bank", "Neutral", "", "init"),  # a midnight of New York
        (1611860954, "DA Davidson", "Buy", "", "main"),
        (1353912540, "Citigroup", "Buy", "", "init"),  # of a whole minute
    ),
    summary={
        "recommendationTrend": {
            "trend": [
                {"period": "0m", "strongBuy": 11, "buy": 21, "hold": 6, "sell": 0, "strongSell": 0},
                {"period": "-1m", "strongBuy": 11, "buy": 19, "hold": 8, "sell": 1, "strongSell": 1},
            ],
            "maxAge": 86400,
        },
        "financialData": {
            "maxAge": 86400,
            "currentPrice": 131.96,
            "targetMeanPrice": 149.9,
            "recommendationKey": "buy",
        },
        "earningsTrend": {
            "trend": [
                {
                    "maxAge": 1,
                    "period": "0q",
                    "endDate": "2021-03-31",
                    "growth": {"raw": 0.531, "fmt": "53.10%"},
                    "earningsEstimate": {
                        "avg": {"raw": 0.98, "fmt": "0.98"},
                        "numberOfAnalysts": {"raw": 27, "fmt": "27"},
                    },
                    "epsRevisions": {"upLast7days": {"raw": 0, "fmt": None}, "downLast90days": {}},
                }
            ],
            "maxAge": 1,
        },
    },
)
COMPANIES = {"AAPL": APPLE, "MSFT": Company()}


def ask(op: str, app: App | None = None, *, pit: str | None = PIT, **options: Any) -> Fetched:
    values = {"symbol": "AAPL", **options}
    return ask_source("yahoo", app or yahoo.app(COMPANIES), op=op, pit=pit, **values)


# What a row's time can mean.


def test_an_article_counts_from_the_later_of_its_times() -> None:
    fetched = ask("news")
    assert fetched.ids == ["06f8ab20", "c3618287"]
    assert fetched.records[1].available_at == datetime(2025, 1, 3, 14, 7, 21, tzinfo=UTC)
    assert ask("news", pit="2025-01-03T14:07:20Z").ids == []
    assert len(ask("news", pit=None).ids) == 4
    assert dict(fetched.records[0].payload) == {
        "title": "Worth watching",
        "summary": "What it says.",
        "url": "https://publisher.example/06f8ab20",
        "publisher": "A Publisher",
        "contentType": "STORY",
        "pubDate": "2025-02-15T10:04:00Z",
        "displayTime": "2025-02-15T10:04:00Z",
    }


@pytest.mark.parametrize(
    ("text", "public"),
    [
        ("January 30, 2025 at 4 PM EST", datetime(2025, 1, 31, tzinfo=NEW_YORK)),
        # Microsoft's report of 30 October, 16:05: a day without a time, shown as the evening before.
        ("October 29, 2024 at 8 PM EDT", datetime(2024, 10, 31, tzinfo=NEW_YORK)),
        ("January 28, 2025 at 7 PM EST", datetime(2025, 1, 30, tzinfo=NEW_YORK)),
        # Apple's report of 16:30, five hours early.
        ("Jul 28, 2022, 12 PMEDT", datetime(2022, 7, 29, tzinfo=NEW_YORK)),
        ("December 31, 2024 at 11 PM EST", datetime(2025, 1, 2, tzinfo=NEW_YORK)),
        ("January 30, 2025", None),
        ("January 30, 2025 at 4 PM GMT", None),
        ("January 30, 2025 at 0 PM EST", None),
        # On a weekend, and at midnight UTC of one, nothing is reported; of a Monday that is on a Sunday evening.
        ("February 1, 2025 at 9 AM EST", None),
        ("February 2, 2025 at 6 PM EST", None),
        ("January 31, 2025 at 7 PM EST", None),
        ("February 2, 2025 at 7 PM EST", datetime(2025, 2, 4, tzinfo=NEW_YORK)),
        ("December 31, 9999 at 11 PM EST", None),
        ("", None),
    ],
)
def test_a_report_counts_from_the_end_of_the_latest_day_it_can_mean(text: str, public: datetime | None) -> None:
    companies = {"AAPL": Company(calendar=((text, "1.1", "1.2", "1"),))}
    records = ask("earnings", yahoo.app(companies), pit="2025-06-01T00:00:00Z", evidence="claimed").records
    assert [record.available_at for record in records] == ([] if public is None else [public])


def test_a_report_is_served_on_a_claim_and_none_that_was_not_filled_in() -> None:
    later = "2025-06-01T00:00:00Z"
    accepted = ask("earnings", pit=later, evidence="claimed")
    assert accepted.ids == ["AAPL@2025-01-30T16", "AAPL@2024-10-29T20", "AAPL@2022-07-28T12"]
    withheld = ask("earnings", pit=later)
    assert withheld.ids == []
    assert any("sec_facts proves" in caveat for caveat in withheld.caveats)
    opened = ask("earnings", pit=None)
    assert set(opened.ids) == {*accepted.ids, "AAPL@2025-05-01T16"}
    report = {
        "symbol": "AAPL",
        "date": "2025-01-30T16:00",
        "epsEstimate": "2.35",
        "reportedEPS": "2.4",
        "surprisePercent": "2.15",
    }
    # The name of a company is today's, in all of its rows.
    assert {**report, "company": "A Company"} in [dict(record.payload) for record in opened.records]
    assert dict(accepted.records[0].payload) == report


def test_an_action_is_what_the_list_has_now() -> None:
    fetched = ask("upgrades", pit=None)
    assert fetched.ids == [
        "AAPL:20250215T120000Z:A Bank:up",
        "AAPL:20250215T050000Z:Another Bank:init",
        "AAPL:20210128T190914Z:DA Davidson:main",
        "AAPL:20121126T064900Z:Citigroup:init",
    ]
    assert {record.available_at for record in fetched.records} == {NOW}
    row = {"epochGradeDate": 1611860954, "firm": "A Bank", "action": "main", "currentPriceTarget": 350.0}
    (record,) = ask("upgrades", yahoo.app({"AAPL": Company(grades=(row,))}), pit=None).records
    assert record.payload["gradeDate"] == "2021-01-28T19:09:14Z"
    assert record.payload["currentPriceTarget"] == 350.0


def test_the_window_compares_the_rows_own_time() -> None:
    later = "2025-06-01T00:00:00Z"
    day: dict[str, Any] = {"evidence": "claimed", "date_from": "2024-10-29", "date_to": "2024-10-29"}
    assert ask("earnings", pit=later, **day).ids == ["AAPL@2024-10-29T20"]
    assert ask("upgrades", pit=None, date_to="2021-01-27").ids == ["AAPL:20121126T064900Z:Citigroup:init"]
    assert ask("prices", pit=None, date_from="2020-08-31", date_to="2020-08-31").ids == [
        "AAPL@2020-08-31",
        "AAPL@2020-08-31#split",
    ]


# Snapshots.


def test_a_chart_is_read_whole() -> None:
    fetched = ask("prices", pit=None, date_from="2020-01-01")
    assert fetched.ids == ["AAPL@2020-09-01", "AAPL@2020-08-31", "AAPL@2020-08-31#split", "AAPL@2020-08-28",
                         "AAPL@2020-08-07#dividend"]  # fmt: skip
    common = {"symbol": "AAPL", "currency": "USD"}
    bar, split = (dict(record.payload) for record in fetched.records[1:3])
    day = {"date": "2020-08-31", "start": "2020-08-31T09:30:00-04:00"}
    values = {"open": 127.58, "high": 131.0, "low": 126.0, "close": 129.04, "volume": 225702700, "adjclose": 125.83}
    assert bar == {"record_type": "bar", **common, **day, **values}
    assert split == {"record_type": "split", **common, **day, "numerator": 4, "denominator": 1}
    assert fetched.records[-1].payload["amount"] == 0.205
    assert {record.available_at for record in fetched.records} == {NOW}
    sent = next(request for request in fetched.requests if "/chart/" in request.path).query
    assert (sent["period1"], sent["period2"]) == ("-1325635200", str(int(NOW.timestamp())))
    assert (sent["interval"], sent["events"]) == ("1d", "div,splits")


@pytest.mark.parametrize("interval", ["1d", "5m"])
def test_the_latest_bars_come_first(interval: str) -> None:
    seconds = 86_400 if interval == "1d" else 300
    bars = tuple((int(NOW.timestamp()) - n * seconds, n, n, n, n, n, n) for n in (200, 71, 3, 69))
    fetched = ask("prices", yahoo.app({"AAPL": Company(bars=bars)}), pit=None, interval=interval, limit=3)
    assert [record.payload["close"] for record in fetched.records] == [3, 69, 71]


STOCKS, COINS = ("America/New_York", "09:30", "16:00"), ("UTC", "00:00", "23:59")


@pytest.mark.parametrize(
    ("interval", "market", "begins", "over"),
    [
        ("1m", STOCKS, "2026-10-30 14:30", "2026-10-30 14:31"),
        ("90m", STOCKS, "2026-10-30 14:30", "2026-10-30 16:00"),
        ("1h", STOCKS, "2026-10-30 14:30", "2026-10-30 15:30"),
        ("1d", STOCKS, "2026-10-30 09:30", "2026-10-30 20:00"),
        ("1d", ("Asia/Tokyo", "09:00", "15:30"), "2026-10-30 09:00", "2026-10-30 20:00"),
        # Around the clock, or of a market whose hours are not known.
        ("1d", COINS, "2026-10-30 00:00", "2026-10-31 00:00"),
        ("1d", ("America/New_York", "", ""), "2026-10-30 09:30", "2026-10-31 00:00"),
        ("5d", STOCKS, "2026-10-12 09:30", "2026-10-27 20:00"),
        ("1wk", STOCKS, "2026-10-26 00:00", "2026-11-01 20:00"),
        ("1mo", COINS, "2026-10-01 00:00", "2026-11-01 00:00"),
        ("3mo", COINS, "2026-07-01 00:00", "2026-10-01 00:00"),
    ],
)
def test_a_bar_is_one_once_its_interval_is_over(
    interval: str, market: tuple[str, str, str], begins: str, over: str
) -> None:
    zone, opens, closes = market
    start, end = (datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)) for text in (begins, over))
    day = begins[:10]
    session = {
        name: int(datetime.fromisoformat(f"{day}T{clock}").replace(tzinfo=ZoneInfo(zone)).timestamp())
        for name, clock in (("start", opens), ("end", closes))
        if clock
    }
    company = Company(bars=((int(start.timestamp()), 1, 1, 1, 1, 1, 1),), zone=zone, session=session)
    app, ahead = yahoo.app({"AAPL": company}), end + timedelta(days=1)
    for now, count in ((end - timedelta(microseconds=1), 0), (end, 1)):
        left = ask("prices", app, pit=ahead.isoformat(), interval=interval, now=now)
        assert len(left.ids) == count
    opened = ask("prices", app, pit=None, interval=interval, now=start + timedelta(seconds=1))
    assert [record.available_at for record in opened.records] == [end]


# Prices as they were traded.

NVIDIA = (
    {"date": 1626787800, "numerator": 4, "denominator": 1},
    {"date": 1718026200, "numerator": 10, "denominator": 1},
)


def _traded(*bars: tuple[str, float], splits: Any = NVIDIA, pit: str = PIT, **more: Any) -> list[Record]:
    """Return the items on claims of bars that begin at 09:30 New York and have one price each."""
    company = more.pop("company", Company())
    rows = [
        (int(datetime.fromisoformat(f"{day}T09:30").replace(tzinfo=NEW_YORK).timestamp()), *(4 * [price]), 1, price)
        for day, price in bars
    ]
    app = yahoo.app({"AAPL": company._replace(bars=rows, splits=splits)})
    return ask("prices", app, pit=pit, evidence="claimed", **more).records


def _bars(records: list[Record]) -> list[Record]:
    return [record for record in records if record.payload["record_type"] == "bar"]


@pytest.mark.parametrize(
    ("day", "shown", "traded"),
    [
        # Recorded before the splits and after them.
        ("2021-02-01", 13.237000465393066, 529.48),
        ("2023-03-01", 22.697999954223633, 226.98),
        ("2023-03-31", 27.777000427246094, 277.77),
        ("2024-06-10", 121.79000091552734, 121.79),
        # Half a cent, whatever the division left of it, and what is nearer to it than to a cent.
        ("2023-03-01", 22.6984997, 226.985),
        ("2023-03-01", 22.6985003, 226.985),
        ("2023-03-01", 22.69825, 226.98),
        ("2023-03-01", 22.69826, 226.985),
        # A dollar is left out, and where it begins is decided after rounding.
        ("2023-03-01", 0.1, None),
        ("2023-03-01", 0.1002, None),
        ("2023-03-01", 0.1004999, 1.005),
        ("2023-03-01", 1000.0001, 10_000.0),
        ("2023-03-01", 1000.0005, None),
        ("2023-03-01", 1e300, None),
        ("2023-03-01", 0, None),
        ("2006-01-31", 0.1, 4.0),
        ("2006-01-30", 0.1, None),
    ],
)
def test_a_close_is_the_one_that_was_traded(day: str, shown: float, traded: float | None) -> None:
    bars = _bars(_traded((day, shown)))
    evening = datetime.fromisoformat(f"{day}T20:00").replace(tzinfo=NEW_YORK)
    assert [(record.payload["close"], record.available_at) for record in bars] == [(traded, evening)][
        : traded is not None
    ]


def test_of_a_bar_as_traded_only_the_close_is_claimed() -> None:
    (bar,) = _traded(("2023-03-01", 22.697999954223633), pit="2023-06-01T00:00:00Z", date_from="2023-01-01")
    assert set(bar.payload) == {"record_type", "symbol", "currency", "date", "start", "close"}


def test_a_split_is_claimed_at_the_end_of_its_day_and_a_dividend_never() -> None:
    company = Company(dividends=({"date": 1700000000, "amount": 0.004},))
    (split,) = _traded(pit="2024-06-11T00:00:00-04:00", company=company, date_from="2022-01-01")
    assert (split.id, split.payload["numerator"]) == ("AAPL@2024-06-10#split", 10)
    assert _traded(pit="2024-06-10T23:59:59-04:00", company=company, date_from="2022-01-01") == []


@pytest.mark.parametrize(
    ("interval", "day", "public"),
    [
        ("1d", "2024-06-07", "2024-06-07 20:00"),
        ("1wk", "2024-05-27", "2024-06-03 00:00"),
        ("1wk", "2024-06-03", "2024-06-10 00:00"),  # the split is on the Monday after
        ("1wk", "2024-06-10", "2024-06-17 00:00"),
        ("1wk", "2024-06-07", ""),  # it is within
        ("1mo", "2024-06-01", ""),
        ("1mo", "2024-07-01", "2024-08-01 00:00"),
        ("1h", "2024-07-01", ""),  # closes of less than a day have four decimals
    ],
)
def test_a_bar_as_traded_is_claimed_once_it_is_over(interval: str, day: str, public: str) -> None:
    bars = _bars(_traded((day, 12.5), interval=interval))
    times = [record.available_at.astimezone(NEW_YORK) for record in bars if record.available_at]
    assert [f"{at:%Y-%m-%d %H:%M}" for at in times] == [public][: len(public)]


@pytest.mark.parametrize(
    "company", [Company(kind="INDEX"), Company(kind="CURRENCY"), Company(currency="GBp"), Company(zone="Europe/London")]
)
def test_prices_of_other_than_shares_in_dollars_are_not_claimed(company: Company) -> None:
    assert _traded(("2023-03-01", 22.69), company=company) == []


@pytest.mark.parametrize("spoilt", [{"numerator": 0}, {"denominator": None}, {"date": "soon"}, {"numerator": 10**309}])
def test_a_split_that_cannot_be_undone_leaves_no_price_of_before_it(spoilt: dict[str, Any]) -> None:
    splits = ({**NVIDIA[1], **spoilt},)
    assert _bars(_traded(("2023-03-01", 22.69), splits=splits)) == []


@pytest.mark.parametrize("op", ["prices", "upgrades", "consensus"])
def test_a_snapshot_is_not_asked_for_with_a_pit_in_the_past(op: str) -> None:
    fetched = ask(op)
    assert (fetched.ids, fetched.requests) == ([], [])
    assert "snapshot" in fetched.gaps
    ahead = ask(op, pit="2026-11-01T00:00:01Z")
    assert {record.available_at for record in ahead.records} <= {NOW}
    assert ahead.requests


def test_the_consensus_is_votes_targets_and_estimates() -> None:
    items = {name: payload for name, _, _, payload in ask("consensus", pit=None).items}
    assert set(items) == {
        "AAPL:recommendation:0m",
        "AAPL:recommendation:-1m",
        "AAPL:price_target",
        "AAPL:estimate:0q",
    }
    votes = {"strongBuy": 11, "buy": 21, "hold": 6, "sell": 0, "strongSell": 0}
    assert items["AAPL:recommendation:0m"] == {"record_type": "recommendation", "period": "0m", **votes}
    assert items["AAPL:price_target"]["targetMeanPrice"] == 149.9
    assert "currentPrice" not in items["AAPL:price_target"]
    estimate = items["AAPL:estimate:0q"]
    assert (estimate["endDate"], estimate["growth"]) == ("2021-03-31", 0.531)
    assert estimate["earningsEstimate"] == {"avg": 0.98, "numberOfAnalysts": 27}
    assert estimate["epsRevisions"] == {"upLast7days": 0, "downLast90days": None}


# The cookie and the crumb.


def test_a_summary_is_asked_for_with_the_cookie_and_the_crumb() -> None:
    fetched = ask("upgrades", pit=None)
    assert fetched.paths("/") == ["/", "/v1/test/getcrumb", "/v10/finance/quoteSummary/AAPL"]
    first, second, third = fetched.requests
    assert first.header("Cookie") == ""
    assert second.header("Cookie") == third.header("Cookie") == yahoo.COOKIE
    assert third.query["crumb"] == yahoo.CRUMB
    assert all(request.browser for request in fetched.requests)


# What Yahoo may say instead.


CHART, CALENDAR, CRUMB = "/v8/finance/chart/AAPL", "/calendar/earnings", "/v1/test/getcrumb"


def answering(path: str, response: Response) -> App:
    return instead(yahoo.app(COMPANIES), response, path)


OPS = ("prices", "news", "earnings", "upgrades", "consensus")


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize(
    ("response", "code"),
    [
        (yahoo.DOWN, "malformed"),
        (Response(b"SECRET"), "malformed"),
        (as_json({"message": "SECRET"}), "malformed"),
        (as_json([]), "malformed"),
        (as_json({"chart": {"result": None, "error": {"code": "X"}}, "quoteSummary": {"result": []}}), "malformed"),
        (Response(b"SECRET", 429), "throttled"),
        (Response(b"SECRET", 503), "http_status"),
        (Response(b"SECRET", 999), "http_status"),
        (Response(b"SECRET", 401), "http_status"),
        (Response(b"SECRET", 404), "moved"),
        (yahoo.CONSENT, "redirected"),
    ],
)
def test_what_is_not_a_known_reply_is_an_error(op: str, response: Response, code: str) -> None:
    keys = yahoo.app(COMPANIES)
    fetched = ask(op, lambda request: keys(request) if request.path in ("/", CRUMB) else response, pit=None)
    assert (fetched.error_code, fetched.ids) == (code, [])
    assert "SECRET" not in str(fetched.error)


@pytest.mark.parametrize("op", OPS)
def test_an_unknown_symbol_is_nothing(op: str) -> None:
    fetched = ask(op, symbol="NOPE", pit=None)
    assert (fetched.ids, fetched.error) == ([], None)


def _chart(change: Callable[[dict[str, Any]], None]) -> App:
    document = yahoo.chart("AAPL", APPLE)
    change(document["chart"]["result"][0])
    return answering(CHART, as_json(document))


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda result: result["meta"].update(symbol="META"), "off_subject"),
        (lambda result: result["meta"].update(dataGranularity="1mo"), "malformed"),
        (lambda result: result["meta"].update(exchangeTimezoneName="Nowhere/Land"), "malformed"),
        (lambda result: result["meta"].pop("exchangeTimezoneName"), "malformed"),
        (lambda result: result["timestamp"].pop(), "malformed"),
        (lambda result: result["indicators"]["quote"][0].pop("close"), "malformed"),
        (lambda result: result["indicators"]["quote"][0]["close"].append(1), "malformed"),
        (lambda result: result["indicators"]["quote"][0].update(close=["1", "2", "3"]), "malformed"),
        (lambda result: result["indicators"]["quote"].append({}), "malformed"),
        (lambda result: result["indicators"]["adjclose"][0].update(adjclose=[1]), "malformed"),
        (lambda result: result.update(timestamp=["2020-08-31"] * 3), "malformed"),
        (lambda result: result.update(timestamp=[1598880600000] * 3), "malformed"),
        (lambda result: result["events"]["splits"].update({"1": []}), "malformed"),
        (lambda result: result["events"]["splits"]["1598880600"].update(numerator="4"), "malformed"),
        (lambda result: result["events"]["splits"]["1598880600"].pop("date"), "malformed"),
    ],
)
def test_a_chart_that_has_changed_is_an_error_and_no_wrong_price(
    change: Callable[[dict[str, Any]], None], code: str
) -> None:
    assert ask("prices", _chart(change), pit=None, date_from="2020-01-01").error_code == code


@pytest.mark.parametrize(
    ("change", "ids"),
    [
        (lambda result: result.pop("events"), ["AAPL@2020-09-01", "AAPL@2020-08-31", "AAPL@2020-08-28"]),
        # A day without trade, and the running day, whose row comes twice.
        (
            lambda result: [column.__setitem__(0, None) for column in _columns(result)],
            ["AAPL@2020-09-01", "AAPL@2020-08-31", "AAPL@2020-08-31#split", "AAPL@2020-08-07#dividend"],
        ),
        (
            lambda result: result["timestamp"].__setitem__(2, 1598904001),
            ["AAPL@2020-08-31", "AAPL@2020-08-31#split", "AAPL@2020-08-28", "AAPL@2020-08-07#dividend"],
        ),
    ],
)
def test_a_chart_may_lack_what_it_need_not_have(change: Callable[[dict[str, Any]], None], ids: list[str]) -> None:
    assert ask("prices", _chart(change), pit=None, date_from="2020-01-01").ids == ids


def _columns(result: dict[str, Any]) -> list[list[Any]]:
    indicators = result["indicators"]
    return [*indicators["quote"][0].values(), indicators["adjclose"][0]["adjclose"]]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("<th>Reported EPS</th>", "<th>EPS</th>"),
        lambda text: text.replace("<th>Company</th>", "<th>Reported EPS</th>"),
        lambda text: text.replace("<th>Earnings Date</th>", "<th>Date</th>"),
        lambda text: text.replace("<table>", "<div>").replace("Showing Earnings for", "Earnings of"),
        lambda text: text[: text.index("</table>")],
        lambda text: "",
    ],
)
def test_a_calendar_that_has_changed_is_an_error(change: Callable[[str], str]) -> None:
    text = change(yahoo.page("AAPL", APPLE.calendar).decode())
    fetched = ask("earnings", answering(CALENDAR, Response(text.encode())), pit=None)
    assert (fetched.error_code, fetched.ids) == ("malformed", [])


# Through the archive.


# The call.


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"op": "news", "symbol": "APPLE INC"}, "write symbols as in AAPL, BRK-B"),
        ({"op": "news", "symbol": "../x"}, "write symbols as in AAPL, BRK-B"),
    ],
)
def test_a_call_that_makes_no_sense_asks_nothing(options: dict[str, Any], reason: str) -> None:
    values = {"symbol": "AAPL", **options}
    with pytest.raises(ConfigError, match=reason.replace("?", r"\?")):
        ask_source("yahoo", yahoo.app(COMPANIES), pit=PIT, **values)


def test_saved_replies() -> None:
    later: dict[str, Any] = {"pit": "2025-06-01T00:00:00Z"}
    assert len(ask("news", body=json.dumps(yahoo.news(APPLE)).encode(), **later).ids) == 3
    assert len(ask("earnings", body=yahoo.page("AAPL", APPLE.calendar), evidence="claimed", **later).ids) == 3
    summary = json.dumps(yahoo.summary(APPLE, "upgradeDowngradeHistory,recommendationTrend")).encode()
    assert len(ask("upgrades", body=summary, pit=None).ids) == 4
    assert ask("upgrades", body=summary, **later).ids == []
    assert len(ask("consensus", body=summary, pit=None).ids) == 2
    assert ask("consensus", body=summary).ids == []
    assert len(ask("prices", body=json.dumps(yahoo.chart("AAPL", APPLE)).encode(), pit=None).ids) == 5
    search = {"news": [
        # Recorded of an edited story: its one time is that of the last update.
        {"uuid": "s1", "title": "T", "publisher": "P", "link": "https://x.example", "providerPublishTime": 1739600000},
        {"uuid": "s2", "providerPublishTime": 1739660000},
        {"uuid": "s3", "providerPublishTime": "1739600000"},
        5,
    ]}  # fmt: skip
    (record,) = ask("news", body=json.dumps(search).encode()).records
    assert (record.id, record.available_at) == ("s1", datetime.fromtimestamp(1739600000, UTC))
    assert record.payload["displayTime"] == "2025-02-15T06:13:20Z"
