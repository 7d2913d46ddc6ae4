"""Worlds of Alpha Vantage: running bars, later reports, undeclared dividends, adjusted values; beside them unreadable
rows, rows on other subjects, and unknown columns.
"""

from __future__ import annotations

import calendar
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from random import Random
from typing import Any, NamedTuple

from pit_fetch_providers.alphavantage import FUNCTIONS

from pit_fetch.testing.server import App, Response, as_json
from pit_fetch.transport import HttpRequest
from tests.laws.archived import held
from tests.laws.checks import non_interference, paging
from tests.laws.refusals import Requests
from tests.laws.worlds import CANARY, NEW_YORK, PITS, Case, always, common, near, noise_count, options
from tests.loopback.broken import with_wrecks, wreck
from tests.providers.alphavantage import server as loopback
from tests.providers.alphavantage import statement_worlds
from tests.providers.alphavantage.server import (
    BAD_KEY,
    DAILY_LIMIT,
    NO_ARTICLES,
    PER_SECOND,
    PREMIUM_ENDPOINT,
    Bar,
    Store,
    article,
    bar,
    csv_bar,
    invalid_call,
    quarter,
    year,
)

MODULE = "pit_fetch_providers.alphavantage"
MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
INTERVALS = {"1min": 1, "5min": 5, "15min": 15, "30min": 30, "60min": 60}
_BAD_DATES = ("", "None", "0000-00-00", "2024-13-01", "2024-02-30", "soon", "20240101", "2024-1-1")
BAD_DATES: Sequence[Any] = (*_BAD_DATES, None, 5, [], {})


class Question(NamedTuple):
    """A request and the stores that serve it: public rows alone, then with more."""

    words: tuple[str, ...]
    stores: tuple[Store, ...]
    extra: Mapping[str, Sequence[tuple[str, ...]]] = {}
    sizes: Mapping[str, Any] = {}
    resized: tuple[Mapping[str, Any], ...] = ()


def make(rng: Random, most: int = 4) -> Case:
    pit = rng.choice(PITS)
    moment = datetime.fromisoformat(pit)
    question = rng.choice(_KINDS)(rng, moment)
    choices = {**common(moment, [], rng), **question.extra}
    names = [field.name for field in FUNCTIONS[question.words[0]].operation.fields]
    if names:
        choices["fields"] = [("--fields", ",".join(rng.sample(names, 2)))]
    return Case(
        source="alphavantage",
        pit=pit,
        words=(*question.words, *options(rng, choices, most)),
        worlds=tuple(_app(store, number) for number, store in enumerate(question.stores)),
        sizes=question.sizes,
        resized=question.resized,
        page_size=rng.choice((1, 3, 5_000)),
        terminal=rng.random() < 0.2,
        is_of_now=question.words[:1] in {words[:1] for words in _WITHHELD},
    )


def claimed(rng: Random) -> Case:
    """Make statements, reports, or bars of months, that agree on what was public by the PIT."""
    if rng.random() < 0.7:
        return statement_worlds.claimed(rng)
    pit = rng.choice(PITS)
    moment = datetime.fromisoformat(pit)
    question = rng.choice((_earnings, _monthly))(rng, moment)
    apps = tuple(_app(store, number) for number, store in enumerate(question.stores))
    return Case("alphavantage", pit, (*question.words, *options(rng, common(moment, [], rng), 3)), apps)


def undisturbed(rng: Random) -> Case:
    case = make(rng, most=0)
    return case._replace(words=(*case.words, "--limit", "100000", "--max-pages", "100000"))


def news(rng: Random) -> Case:
    """Make articles around midnight UTC, more than a reply holds: later ones must not end the paging."""
    pit = rng.choice(("2024-02-15T00:00:00Z", "2024-02-15T19:00:30-05:00", "2024-07-03T00:03:00Z"))
    moment = datetime.fromisoformat(pit)
    question = _news(rng, moment)
    words = (*question.words, "--limit", rng.choice(("1", "2", "3", "5")))
    apps = tuple(_app(store, number) for number, store in enumerate(question.stores))
    return Case("alphavantage", pit, words, apps, {f"{MODULE}.news:LIMIT": 6})


def adjusted(rng: Random) -> Case:
    """Make daily bars with as-of adjustment: splits and dividends that were not public yet scale nothing."""
    pit = rng.choice(PITS)
    question = _adjusted(rng, datetime.fromisoformat(pit))
    words = (*question.words, *rng.choice(((), ("--limit", "2"), ("--date-to", pit[:10]))))
    return Case("alphavantage", pit, words, tuple(_app(store, n) for n, store in enumerate(question.stores)))


def foreign(rng: Random) -> Case:
    """Make articles on one ticker among as public ones on others, and a reply that names its subject."""
    pit = rng.choice(PITS)
    utc = datetime.fromisoformat(pit).astimezone(UTC)
    own = [article(_stamp_before(rng, utc), f"own{n}") for n in range(rng.choice((0, 1, 3)))]
    stores = []
    for number in range(4):
        rows = list(own)
        for n in range(noise_count(rng) if number else 0):
            named = rng.choice(([{"ticker": "MSFT"}], [{"ticker": "AAPLX"}, {"ticker": "MSFT"}], [], None, "AAPL", [5]))
            rows.append(article(_stamp_before(rng, utc), f"{CANARY}{n}", title=CANARY, ticker_sentiment=named))
        rng.shuffle(rows)
        stores.append(Store(articles=rows))
    words = ("NEWS_SENTIMENT", rng.choice(("tickers=AAPL", "tickers=aapl")), "--limit", rng.choice(("1", "2", "50")))
    return Case("alphavantage", pit, words, tuple(_app(store, n) for n, store in enumerate(stores)))


def reach(rng: Random) -> Case:
    """Make replies of a limited reach: with more later bars than the compact size holds, or for a limited time only."""
    pit = rng.choice(PITS)
    today = datetime.fromisoformat(pit).astimezone(NEW_YORK).date()
    function, ahead = rng.choice((("TIME_SERIES_DAILY", 130), ("DIGITAL_CURRENCY_DAILY", 9)))
    words, public_at = _DAILY[function]
    days = [today + timedelta(days=n) for n in range(-rng.choice((0, 2, 4, 9)), ahead)]
    late = [f"{day}" for day in days if public_at(day) > datetime.fromisoformat(pit)]
    question = _bars(rng, function, words, [f"{day}" for day in days if f"{day}" not in late], late)
    since = ("--date-from", f"{today - timedelta(days=rng.choice((1, 3, 6)))}")
    more = rng.choice(((), since, ("--limit", "2"), (*since, "--limit", "2")))
    apps = tuple(_app(store, number) for number, store in enumerate(question.stores))
    return Case("alphavantage", pit, (*question.words, *more), apps)


def snapshots(rng: Random) -> Case:
    """Make replies of today, of which a PIT a little ahead serves every row; some rows are equal, and one is spoilt."""
    rows = [f"S{n}" for n in rng.sample(range(100), rng.choice((0, 1, 4, 9)))]
    days = [f"20{name[1:]:>02}-0{rng.choice((3, 6))}-30" for name in rows]
    function, words, document = rng.choice(
        (
            ("LISTING_STATUS", (), _listing(rows)),
            ("EARNINGS_CALENDAR", (), _calendar(rows)),
            ("SYMBOL_SEARCH", ("keywords=x",), {"bestMatches": [{"1. symbol": name} for name in (*rows, *rows[:2])]}),
            (
                "EARNINGS_ESTIMATES",
                ("symbol=IBM",),
                {"symbol": "IBM", "estimates": [{"date": day, "horizon": "fiscal year"} for day in days]},
            ),
            (
                "INCOME_STATEMENT",
                ("symbol=IBM",),
                {"annualReports": [{"fiscalDateEnding": day} for day in days[:3]],
                 "quarterlyReports": [{"fiscalDateEnding": day} for day in [*days, None, "soon"]]},
            ),
            ("TOP_GAINERS_LOSERS", (), {"top_gainers": [{"ticker": name} for name in rows], "top_losers": [None]}),
        )
    )  # fmt: skip
    words = (function, *words, "--limit", "100000", "--max-pages", "100000")
    return Case("alphavantage", rng.choice(PITS), words, (_app(Store(documents={function: document}), 0),))


def _listing(names: Sequence[str]) -> str:
    rows = "".join(f"{name},{name} Inc,NYSE,Stock,2001-01-01,null,Active\r\n" for name in (*names, *names[:1]))
    return "symbol,name,exchange,assetType,ipoDate,delistingDate,status\r\n" + rows + 'broken,"\r\n'


def _calendar(names: Sequence[str]) -> str:
    rows = "".join(f"{name},{name} Inc,2026-07-22,2026-06-30,,USD\r\n" for name in names)
    return "symbol,name,reportDate,fiscalDateEnding,estimate,currency\r\n" + rows


def failures(rng: Random) -> Case:
    """Make worlds that fail alike with different texts, and those in which nothing, or nothing yet, is known."""
    case = make(rng)
    function = case.words[0]
    leak = f" {CANARY}: the March report is out. Your key is {loopback.KEY}"

    def said(reply: Mapping[str, str]) -> list[App]:
        return [always(as_json({key: text + more for key, text in reply.items()})) for more in ("", leak)]

    unknown: list[App] = [always(as_json(reply)) for reply in (invalid_call(function), {}, NO_ARTICLES)]
    apps: Sequence[App] = rng.choice(
        [
            unknown,
            said(BAD_KEY),
            said(DAILY_LIMIT),
            said(PREMIUM_ENDPOINT),
            [always(as_json({"Note": text})) for text in ("A word of its own", leak)],
            [always(as_json({"Error Message": text})) for text in ("A word of its own", leak)],
            [always(Response(text.encode(), 500)) for text in ("oops", leak)],
            [always(Response(text.encode(), 403)) for text in ("oops", leak)],
            [always(Response(b'{"x": ' + text.encode())) for text in ("oops", leak)],
        ]
    )
    accepted = ("--evidence", "claimed") if rng.random() < 0.2 else ()
    return case._replace(words=(*case.words, *accepted), worlds=tuple(apps), plain=None)


def _app(store: Store, number: int) -> App:
    """Return the server of a store: volumes of shares but for months are restated.

    A request for adjusted prices gets ones that later events have changed.
    """
    restated: dict[str, list[Bar]] = {
        name: [(label, {**row, "volume": f"{100 + number}"}) for label, row in bars]
        for name, bars in store.bars.items()
        if name.startswith("TIME_SERIES_") and name not in _MONTHS
    }
    store = replace(store, bars={**store.bars, **restated})
    adjusted = Store(
        bars={
            name: [(label, {**row, "close": f"{CANARY}{number}"}) for label, row in bars]
            for name, bars in store.bars.items()
        },
        zone=store.zone,
    )
    plain, changed = loopback.app(store), loopback.app(adjusted)

    def answer(request: HttpRequest) -> Response:
        is_intraday = request.query.get("function") == "TIME_SERIES_INTRADAY"
        if is_intraday and request.query.get("adjusted", "true") == "true":
            return changed(request._replace(params={**request.params, "adjusted": "false"}))
        served = plain(request)
        return replace(served, body=with_wrecks(served.body))

    return answer


def _stores(
    rng: Random, build: Callable[[list[Any], int], Store], public: list[Any], noise: Callable[[], Any]
) -> tuple[Store, ...]:
    """Return the store of the public rows, and three with more; each in an order of its own."""
    stores = []
    for number in range(4):
        rows = [*public, *(noise() for _ in range(noise_count(rng) if number else 0))]
        rng.shuffle(rows)
        stores.append(build(rows, number))
    return tuple(stores)


# Names that only look adjusted, that nobody has looked at, or that are those of our own fields.
_LOOKALIKES = (
    *("split adjusted close", "Adj Close", "next earnings date", "fwd_return_30d", "close adjusted"),
    *("record_type", "adjustment factor"),
)

# Bars ------------------------------------------------------------------------------------------------


def _evening(day: date) -> datetime:
    return datetime.combine(day, time(20), NEW_YORK)


def _week_ends(day: date) -> date:
    return max(day, day + timedelta(days=4 - day.weekday()))


def _month_ends(day: date) -> date:
    last = day.replace(day=calendar.monthrange(day.year, day.month)[1])
    return max(day, last - timedelta(days=max(0, last.weekday() - 4)))


def _coin_day_ends(day: date) -> datetime:
    return max(_evening(day), datetime.combine(day + DAY, time(0), UTC))


# function -> (the other options, when a bar labelled with a day is public)
_DAILY: Mapping[str, tuple[tuple[str, ...], Callable[[date], datetime]]] = {
    "TIME_SERIES_DAILY": (("symbol=IBM",), _evening),
    "TIME_SERIES_DAILY_ADJUSTED": (("symbol=IBM",), _evening),
    "TIME_SERIES_WEEKLY": (("symbol=IBM",), lambda day: _evening(_week_ends(day))),
    "TIME_SERIES_WEEKLY_ADJUSTED": (("symbol=IBM",), lambda day: _evening(_week_ends(day))),
    "DIGITAL_CURRENCY_DAILY": (("symbol=BTC", "market=USD"), _coin_day_ends),
    "FX_DAILY": (("from_symbol=EUR", "to_symbol=USD"), _coin_day_ends),
}
# Served on a claim.
_MONTHS: Mapping[str, tuple[tuple[str, ...], Callable[[date], datetime]]] = dict.fromkeys(
    ("TIME_SERIES_MONTHLY", "TIME_SERIES_MONTHLY_ADJUSTED"), (("symbol=IBM",), lambda day: _evening(_month_ends(day)))
)


def _daily(rng: Random, moment: datetime) -> Question:
    return _of_days(rng, moment, _DAILY)


def _monthly(rng: Random, moment: datetime) -> Question:
    return _of_days(rng, moment, _MONTHS)


def _of_days(
    rng: Random, moment: datetime, functions: Mapping[str, tuple[tuple[str, ...], Callable[[date], datetime]]]
) -> Question:
    function = rng.choice(sorted(functions))
    words, public_at = functions[function]
    today = moment.astimezone(NEW_YORK).date()
    days = [today + timedelta(days=n) for n in (*range(-9, 9), *rng.sample(range(-70, 70), 6))]
    before = [day for day in dict.fromkeys(days) if public_at(day) <= moment and rng.random() < 0.8]
    after = [day for day in dict.fromkeys(days) if public_at(day) > moment]
    if rng.random() < 0.2 and function in ("TIME_SERIES_DAILY", "FX_DAILY"):
        # More than the compact size holds.
        after = [today + timedelta(days=n) for n in range(1, 130) if public_at(today + timedelta(days=n)) > moment]
    return _bars(rng, function, words, [f"{day}" for day in before], [f"{day}" for day in after])


def _adjusted(rng: Random, moment: datetime) -> Question:
    function, today = "TIME_SERIES_DAILY_ADJUSTED", moment.astimezone(NEW_YORK).date()
    days = [today + timedelta(days=n) for n in range(-15, 15)]
    public: list[Bar] = []
    for day in [day for day in days if _evening(day) <= moment and rng.random() < 0.8]:
        split, paid = rng.choice(("1.0", "1.0", "2.0", "0.1", "None")), rng.choice(("0.0000", "0.2400", "-"))
        close = rng.choice(("10.5", "170.1000", "0.2"))
        public.append(bar(f"{day}", close, split_coefficient=split, dividend_amount=paid))
    late = [day for day in days if _evening(day) > moment]
    stores = []
    for number in range(4):
        rows = list(public)
        for day in rng.sample(late, min(noise_count(rng), len(late)) if number else 0):
            split, paid = rng.choice(("7.0", "None", CANARY, "0", wreck(rng))), rng.choice(("9.0", "-", CANARY))
            rows.append(bar(f"{day}", CANARY, split_coefficient=split, dividend_amount=paid))
        rng.shuffle(rows)
        stores.append(Store(bars={function: rows}))
    return Question((function, "symbol=IBM", f"adjust={rng.choice(('splits', 'total'))}"), tuple(stores))


def _intraday(rng: Random, moment: datetime) -> Question:
    function = rng.choice(("TIME_SERIES_INTRADAY", "TIME_SERIES_INTRADAY", "CRYPTO_INTRADAY"))
    interval = rng.choice(sorted(INTERVALS))
    span = INTERVALS[interval] * MINUTE
    zone = NEW_YORK if function == "TIME_SERIES_INTRADAY" else UTC
    subject = ("symbol=IBM",) if function == "TIME_SERIES_INTRADAY" else ("symbol=BTC", "market=USD")
    start = moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=rng.choice((1, 30)))
    begins = [start + n * span for n in range(rng.choice((5, 40)))]
    minute = moment.astimezone(UTC).replace(second=0, microsecond=0)
    begins += [minute.replace(minute=0) + n * DAY for n in rng.sample(range(-80, 40), 5)]
    begins += [minute + n * MINUTE for n in rng.sample(range(-130, 130), 9)]

    def label(begin: datetime) -> str:
        return f"{begin.astimezone(zone):%Y-%m-%d %H:%M:%S}"

    before = [label(begin) for begin in begins if begin + span <= moment]
    after = [label(begin) for begin in begins if begin + span > moment]
    words = (*subject, f"interval={interval}")
    question = _bars(rng, function, words, before, after, "US/Eastern" if zone is NEW_YORK else "UTC")
    if function == "TIME_SERIES_INTRADAY":
        month = f"{moment.astimezone(NEW_YORK):%Y-%m}"
        return question._replace(extra={"month": [(f"month={month}",)], "size": [("outputsize=compact",)]})
    return question


def _bars(
    rng: Random,
    function: str,
    words: tuple[str, ...],
    before: Sequence[str],
    after: Sequence[str],
    zone: str = "US/Eastern",
) -> Question:
    """Return bars by label. Of a label that the clock change repeats there is one row in a reply: the public one."""
    zone = "UTC" if function.startswith(("FX", "DIGITAL", "CRYPTO")) else zone
    public = [bar(label, f"{rng.randint(1, 999)}.5") for label in dict.fromkeys(before)]
    late = [label for label in dict.fromkeys(after) if label not in before]
    spoilt = ["2024-02-30", "soon", "", "2024-02-15T10:00:00"]
    if "INTRADAY" in function:  # of a day's label the clock is not looked at
        spoilt += ["2024-02-15", "2024-02-15 25:00:00"]
    stores = []
    is_csv = rng.random() < 0.25 and function != "CRYPTO_INTRADAY"  # whose CSV is read in the later zone
    if is_csv:
        public = [csv_bar(function, label, row["close"]) for label, row in public]
    for number in range(4):
        more: list[Bar] = []
        if number:
            many = len(late) if rng.random() < 0.3 else min(noise_count(rng), len(late))
            more = [bar(label, f"{CANARY}{number}") for label in rng.sample(late, many)]
            more += [bar(label, CANARY) for label in rng.sample(spoilt, rng.choice((0, 0, 2)))]
            if is_csv:
                more = [csv_bar(function, label, row["close"] + rng.choice(("", '"', ',"'))) for label, row in more]
            else:
                more = [
                    (label, {**row, "low": wreck(rng)}) if rng.random() < 0.3 else (label, row) for label, row in more
                ]
        rows = [*more, *public]
        if "ADJUSTED" in function:
            rows = [(label, {**row, "adjusted close": f"{CANARY}{number}"}) for label, row in rows]
        for column in rng.sample(_LOOKALIKES, rng.choice((0, 0, 2))):
            rows = [(label, {**row, column: f"{CANARY}{number}"}) for label, row in rows]
        rows.sort(key=lambda pair: pair[0], reverse=True)
        twice = [label for label, _ in more if label in late and rng.random() < 0.2]
        beside = {label: b'"%s": {}, ' % label.encode() for label in twice}
        stores.append(Store(bars={function: rows}, zone=zone, csv=is_csv, before=beside))
    return Question((function, *words), tuple(stores))


# Rows that are dated by themselves -----------------------------------------------------------------


def _last_public_day(moment: datetime) -> date:
    """Return the last day that is over in New York at ``moment``."""
    local = moment.astimezone(NEW_YORK)
    return local.date() - DAY


def _day_before(rng: Random, moment: datetime) -> str:
    return (_last_public_day(moment) - timedelta(days=rng.choice((0, 0, 1, 2, 3, 30, 90, 400)))).isoformat()


def _day_after(rng: Random, moment: datetime) -> str:
    return (_last_public_day(moment) + timedelta(days=rng.choice((1, 1, 2, 3, 30, 90)))).isoformat()


def _weekday(day: date) -> date:
    """Return ``day``, or the Friday before it."""
    return day - max(0, day.weekday() - 4) * DAY


def _weekday_before(rng: Random, moment: datetime) -> str:
    """Return a business day that is over in New York at ``moment``."""
    return _weekday(date.fromisoformat(_day_before(rng, moment))).isoformat()


def _weekend_before(rng: Random, moment: datetime) -> str:
    """Return a day of a weekend, on which nothing is published, that is over in New York at ``moment``."""
    day = _last_public_day(moment) - rng.choice((0, 7, 91)) * DAY
    return (day - (day.weekday() + rng.choice((1, 2))) * DAY).isoformat()


def _earnings(rng: Random, moment: datetime) -> Question:
    base = _last_public_day(moment)
    ends = [base - timedelta(days=91 * n + rng.choice((0, 20, 40))) for n in range(1, 9)]
    public = [
        quarter(end.isoformat(), _weekday(min(end + timedelta(days=30), base)).isoformat(), "1.00") for end in ends
    ]
    years = [year(end.isoformat(), rng.choice(("4.00", "2.00", "3.00"))) for end in rng.sample(ends, 2)]
    stores = []
    for number in range(4):
        rows, annual = [*public], [*years]
        for n in range(noise_count(rng) if number else 0):
            end = (base + timedelta(days=rng.choice((-300, -200, -40, -1, 0, 1, 30, 90)) + n)).isoformat()
            if any(row["fiscalDateEnding"] == end for row in public):
                continue
            reported = rng.choice((_day_after(rng, moment), _weekend_before(rng, moment), *BAD_DATES))
            surprise = rng.choice((CANARY, wreck(rng)))
            rows.append(quarter(end, reported, rng.choice((CANARY, "9.99", None)), surprise=surprise))
            annual += [year(end, CANARY)] if rng.random() < 0.5 else []
        if number and rng.random() < 0.3:  # the report of a public quarter stands there twice, the second time later
            twice = rng.choice(public)["fiscalDateEnding"]
            rows.append(quarter(twice, _day_after(rng, moment), "7.77", surprise=CANARY))
        if number and rng.random() < 0.3:
            rows += [None, 5, {"fiscalDateEnding": CANARY}]  # type: ignore[list-item]
        rng.shuffle(rows)
        rng.shuffle(annual)
        stores.append(Store(documents={"EARNINGS": loopback.earnings(annual, rows)}))
    return Question(("EARNINGS", "symbol=IBM"), tuple(stores))


def _dividends(rng: Random, moment: datetime) -> Question:
    def row(number: int, declared: Any, ex: Any, amount: str) -> dict[str, Any]:
        return {"ex_dividend_date": ex, "declaration_date": declared, "amount": f"{amount}{number}", "payment_date": ex}

    def build(rows: list[Any], number: int) -> Store:
        return Store(documents={"DIVIDENDS": {"symbol": "IBM", "data": rows}})

    declared = [_weekday_before(rng, moment) for _ in range(rng.choice((0, 2, 4)))]
    public = [row(n, day, _day_after(rng, moment), "1.") for n, day in enumerate(declared)]
    public += [row(n, "None", _weekday_before(rng, moment), "2.") for n in range(rng.choice((0, 2)))]
    counter = iter(range(10_000))

    def noise() -> Any:
        after, before = _day_after(rng, moment), _day_before(rng, moment)
        weekend = _weekend_before(rng, moment)
        business_day = _weekday(date.fromisoformat(after) + DAY * 2).isoformat()  # not before ``after``
        declared, ex = rng.choice(
            (
                (business_day, after),
                (business_day, before),
                ("None", after),
                (weekend, after),
                (rng.choice(("None", weekend)), weekend),
                (rng.choice(BAD_DATES[2:8]), before),
            )
        )
        wrecked = {**row(next(counter), declared, ex, CANARY), "amount": wreck(rng)}
        return rng.choice((row(next(counter), declared, ex, CANARY), wrecked, None, CANARY))

    return Question(("DIVIDENDS", "symbol=IBM"), _stores(rng, build, public, noise))


def _splits(rng: Random, moment: datetime) -> Question:
    def build(rows: list[Any], number: int) -> Store:
        return Store(documents={"SPLITS": {"symbol": "IBM", "data": rows}})

    days = dict.fromkeys(_weekday_before(rng, moment) for _ in range(3))
    public = [{"effective_date": day, "split_factor": "2.0"} for day in days]

    def noise() -> Any:
        factor = rng.choice((CANARY, CANARY, wreck(rng)))
        days = (_day_after(rng, moment), _weekend_before(rng, moment), *BAD_DATES)
        return {"effective_date": rng.choice(days), "split_factor": factor}

    return Question(("SPLITS", "symbol=IBM"), _stores(rng, build, public, noise))


def _option_chain(rng: Random, moment: datetime) -> Question:
    wanted = rng.choice((_day_before(rng, moment), _day_after(rng, moment)))
    day = date.fromisoformat(wanted)
    settled = day + timedelta(days={4: 3, 5: 2}.get(day.weekday(), 1))
    is_public = datetime.combine(settled + DAY, time(0), NEW_YORK) <= moment
    chain = [{"contractID": f"IBM{n}", "symbol": "IBM", "date": wanted, "last": "1.0"} for n in range(3 * is_public)]

    def build(rows: list[Any], number: int) -> Store:
        return Store(documents={"HISTORICAL_OPTIONS": {"message": "success", "data": rows}})

    def noise() -> Any:
        late = _last_public_day(moment) + timedelta(days=rng.choice((0, 1, 2, 3)))
        own = late.isoformat() if is_public else wanted
        name = f"IBM{CANARY}{rng.randint(1, 99)}"
        foreign = {"contractID": name, "symbol": "MSFT", "date": wanted, "last": CANARY}
        return rng.choice(({"contractID": name, "date": own, "last": CANARY}, foreign, {**foreign, "bid": wreck(rng)}))

    return Question(("HISTORICAL_OPTIONS", "symbol=IBM", f"date={wanted}"), _stores(rng, build, chain, noise))


def _news(rng: Random, moment: datetime) -> Question:
    """Return articles, few of them of one minute: the source never serves more than a reply holds."""
    utc, taken = moment.astimezone(UTC), dict[str, int]()

    def is_room(stamp: str) -> bool:
        # One without a readable time may stand in every reply.
        minute, room = (stamp[:13], 2) if stamp[:8].isdigit() else ("", 1)
        taken[minute] = taken.get(minute, 0) + 1
        return taken[minute] <= room

    def named(stamp: str, name: str, number: int, **changes: Any) -> dict[str, Any]:
        computed = {"summary": f"{CANARY}{number}", "overall_sentiment_score": number}
        return article(stamp, name, **{**computed, **changes})

    stamps = [_stamp_before(rng, utc) for _ in range(rng.choice((0, 2, 6, 12)))]
    dates = [f"{(utc - DAY).date() - timedelta(days=n):%Y%m%dT000000}" for n in range(rng.choice((0, 2)))]
    public = [stamp for stamp in stamps if not stamp.endswith("T000000") and is_room(stamp)] + dates
    stores, room = [], dict(taken)
    for number in range(4):
        rows = [named(stamp, f"p{n}", number) for n, stamp in enumerate(public)]
        taken.clear()
        taken.update(room)
        for n in range(noise_count(rng) if number else 0):
            late = f"{utc.replace(microsecond=0) + timedelta(seconds=1) + near(rng):%Y%m%dT%H%M%S}"
            # A minute that is not over at the PIT; one of its last second is, to a microsecond.
            running = f"{utc if utc.second < 59 else utc + MINUTE:%Y%m%dT%H%M}00"
            today, other = f"{utc:%Y%m%d}T000000", f"{utc - near(rng):%Y-%m-%dT%H:%M:%S}"
            stamp = rng.choice((late, late, running, today, other, "soon"))
            if is_room(stamp):
                rows.append(named(stamp, f"{CANARY}{n}", number, title=rng.choice((CANARY, wreck(rng)))))
        rng.shuffle(rows)
        stores.append(Store(articles=rows))
    # A reply of six holds the articles of two minutes, and one with a date only.
    limits = [{f"{MODULE}.news:LIMIT": limit} for limit in (6, 9, 1000)]
    return Question(
        ("NEWS_SENTIMENT",), tuple(stores), {"tickers": [("tickers=AAPL",)]}, rng.choice(limits), tuple(limits[:2])
    )


def _stamp_before(rng: Random, utc: datetime) -> str:
    """Return the stamp of an article that was public: of a whole minute only if that is over."""
    at = utc - near(rng, 1)
    if at.second == 0 and at.replace(microsecond=0) + MINUTE > utc:
        at -= timedelta(seconds=1)
    return f"{at:%Y%m%dT%H%M%S}"


_WITHHELD = (
    ("OVERVIEW", "symbol=IBM"), ("EARNINGS_ESTIMATES", "symbol=IBM"), ("EARNINGS_CALENDAR",),
    ("EARNINGS", "symbol=IBM"), ("INCOME_STATEMENT", "symbol=IBM"), ("GLOBAL_QUOTE", "symbol=IBM"), ("REAL_GDP",),
    ("SMA", "symbol=IBM", "interval=daily"), ("INSIDER_TRANSACTIONS", "symbol=IBM"), ("LISTING_STATUS",),
)  # fmt: skip


def _withheld(rng: Random, moment: datetime) -> Question:
    """Return functions of which nothing is served at a past PIT: any two worlds are one."""
    function, *words = rng.choice(_WITHHELD)
    day = _day_before(rng, moment)
    row = {"date": day, "fiscalDateEnding": day, "transaction_date": day, "horizon": "fiscal year", "value": CANARY}
    documents: list[Any] = [
        {},
        {"Symbol": CANARY, "LatestQuarter": day},
        {
            "estimates": [row],
            "data": [row],
            "annualReports": [row],
            "quarterlyReports": [row],
            "quarterlyEarnings": [row],
        },
        f"symbol,name,reportDate,fiscalDateEnding,estimate,currency\r\nIBM,{CANARY},{day},{day},1,USD\r\n",
    ]
    return Question((function, *words), tuple(Store(documents={function: document}) for document in documents))


_KINDS: Sequence[Callable[[Random, datetime], Question]] = (
    _daily, _daily, _adjusted, _intraday, _intraday, _dividends, _splits, _option_chain, _news, _news,
    _withheld,
)  # fmt: skip


def _continues(asked: Sequence[HttpRequest]) -> bool:
    """Return whether the last request is for a further window of articles, whose end follows from those before it."""
    return asked[-1].query.get("time_to") != asked[0].query.get("time_to")


REQUESTS = Requests(_continues, notices=(as_json(DAILY_LIMIT), as_json(PER_SECOND)))
LAWS: Mapping[str, Callable[[Random], int]] = {
    "failures": lambda rng: non_interference(failures(rng)),
    "adjusted": lambda rng: non_interference(adjusted(rng)),
    "reach": lambda rng: non_interference(reach(rng)),
    "news": lambda rng: non_interference(news(rng)),
    "foreign": lambda rng: non_interference(foreign(rng)),
    "snapshots": lambda rng: paging(snapshots(rng), rng, ahead=timedelta(hours=1)),
    "held": lambda rng: held(snapshots(rng), rng),
}
