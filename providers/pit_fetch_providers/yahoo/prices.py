"""Turn Yahoo's chart into records: bars, dividends and splits. Pure.

All prices of a chart are divided by the splits that came later, and ``adjclose`` by later dividends as well (recorded
in 2025: Nvidia's close of 2021-02-01 as 13.237, which was 529.48 before two splits). So a chart is evidence of the
day on which it is read, and of no other: it is a snapshot. A bar that is still running then is not public yet: its
stamp is the end of its interval.

The closes of a share in dollars can be had as they were traded (``traded``): that is a claim, of the evening of the
bar's last day. Its other prices, volumes and dividends cannot: the division leaves too few of their digits.

>>> is_intraday("1h"), INTERVALS["1wk"].length.days
(True, 7)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from pit_fetch.gaps import Code
from pit_fetch.provider import Query, Record, UpstreamError
from pit_fetch.times import NEW_YORK, end_of_day, wall_clock
from pit_fetch.wire import lenient_json
from pit_fetch_providers.shared import UNREADABLE
from pit_fetch_providers.yahoo import traded
from pit_fetch_providers.yahoo.api import object_in, only_object

# Daily data begin with the S&P 500's on this day.
BEGINNING = datetime(1927, 12, 30, tzinfo=UTC)
_EPOCH, _YEAR_2100 = datetime(1970, 1, 1, tzinfo=UTC), 4_102_444_800
_COLUMNS = ("open", "high", "low", "close", "volume")
_EVENTS = {"dividend": ("amount",), "split": ("numerator", "denominator")}
# Whose closes can be had as they were traded, in Yahoo's terms: shares in dollars.
_SHARES = ("EQUITY", "ETF")


class Interval(NamedTuple):
    """An interval of bars."""

    length: timedelta  # the longest that it can be
    # How far back Yahoo keeps such bars, by its own error texts. None: to the beginning.
    reach: timedelta | None = None


_DAY, _MINUTE = timedelta(days=1), timedelta(minutes=1)
INTERVALS: Mapping[str, Interval] = {
    "1m": Interval(_MINUTE, 7 * _DAY),
    **{f"{n}m": Interval(n * _MINUTE, 60 * _DAY) for n in (2, 5, 15, 30, 90)},
    "1h": Interval(60 * _MINUTE, 730 * _DAY),
    "1d": Interval(_DAY),
    "5d": Interval(16 * _DAY),  # five sessions around a week of holidays
    "1wk": Interval(7 * _DAY),
    "1mo": Interval(31 * _DAY),
    "3mo": Interval(92 * _DAY),
}
# The official volume follows the close by hours.
_EVENING = timedelta(hours=20)
# Yahoo's other name for an interval, which its replies may use.
SYNONYMS = {"60m": "1h"}


def is_intraday(interval: str) -> bool:
    return INTERVALS[interval].length < _DAY


def parameters(query: Query) -> Mapping[str, str]:
    """Return the parameters of the chart: all that Yahoo has of these bars, whatever the window.

    A capture then answers every window, and none is mistaken for a shorter history.
    """
    interval = query.options["interval"]
    reach = INTERVALS[interval].reach
    # Yahoo refuses a period that begins a second too early.
    first = BEGINNING if reach is None else query.started - reach + timedelta(minutes=5)
    return {
        "interval": interval,
        "period1": str(int(first.timestamp())),
        "period2": str(int(query.started.timestamp())),
        "events": "div,splits",
        "includePrePost": "false",
    }


def read(body: bytes, query: Query, received: datetime) -> Iterator[Record]:
    """Yield every bar, dividend and split of a chart. Raise UpstreamError if it is not the one that was asked for."""
    result = _result(body)
    meta, symbol, interval = object_in(result.get("meta"), "meta"), query.options["symbol"], query.options["interval"]
    if symbol is not None and str(meta.get("symbol")).upper() != symbol:
        raise UpstreamError(Code.OFF_SUBJECT, problem="the chart is of another symbol")
    granularity = meta.get("dataGranularity")
    if SYNONYMS.get(str(granularity), granularity) != interval:
        raise UpstreamError(Code.MALFORMED, problem=f"its bars are not of the interval {interval}")
    subject = _subject(meta, _splits(result, _zone(meta)), interval, received)
    # Claims serve rows of the past. A later row that cannot be read must not suppress them.
    read_row = _tolerant if query.accepts_claims else _strict
    bars = (read_row(subject.bar, at, row) for at, row in _bars(result))
    # Of a running day's two rows the later one replaces the earlier.
    yield from {record.id: record for record in bars if record is not None}.values()
    for kind, names in _EVENTS.items():
        events = (read_row(subject.event, kind, row, names) for row in _events(result, kind))
        yield from (record for record in events if record is not None)


class _Subject(NamedTuple):
    symbol: str
    currency: Any
    zone: tzinfo
    interval: str
    received: datetime
    day: timedelta  # from midnight until a day is over by the clock of the exchange
    is_share: bool  # in dollars, in New York
    splits: Sequence[traded.Split]

    def bar(self, at: Any, row: Mapping[str, Any]) -> Record | None:
        """Return the bar that begins at ``at`` (Unix seconds); None if it has no values. Raise UpstreamError."""
        values = {name: _number(value, name) for name, value in row.items()}
        return None if all(value is None for value in values.values()) else self._record("bar", at, values)

    def event(self, kind: str, row: Any, names: Sequence[str]) -> Record:
        """Return a dividend or a split. Raise UpstreamError."""
        row = object_in(row, f"{kind}s")
        return self._record(kind, row.get("date"), {name: _number(row.get(name), name) for name in names})

    def _record(self, kind: str, at: Any, values: Mapping[str, Any]) -> Record:
        begins = _instant(at)
        local = begins.astimezone(self.zone)
        name = f"{begins:%Y-%m-%dT%H:%MZ}" if is_intraday(self.interval) else local.date().isoformat()
        common = {
            "record_type": kind,
            "symbol": self.symbol,
            "currency": self.currency if isinstance(self.currency, str) else None,
            "date": local.date().isoformat(),
            "start": local.isoformat(),
        }
        claimed_at, claimed = self._claim(kind, local.date(), values)
        return Record(
            id=f"{self.symbol}@{name}" + ("" if kind == "bar" else f"#{kind}"),
            available_at=self._over(begins) if kind == "bar" else self.received,
            payload={**common, **values},
            at_receipt=True,
            claimed_at=claimed_at,
            claimed_payload={**common, **claimed} if claimed_at else None,
        )

    def _claim(self, kind: str, first: date, values: Mapping[str, Any]) -> tuple[datetime | None, Mapping[str, Any]]:
        """Return since when the row that begins on ``first`` is claimed to have been public, and the claimed fields."""
        if not self.is_share or is_intraday(self.interval):
            return None, {}
        if kind == "split":
            return end_of_day(first, NEW_YORK), values
        last = self._last(first)
        factor = traded.factor(self.splits, first, last) if kind == "bar" else None
        close = None if factor is None else traded.close(values["close"], factor)
        # By the end of the last day of several, every split within them was public.
        evening = wall_clock(datetime.combine(last, time()) + _EVENING, NEW_YORK)
        over = evening if first == last else end_of_day(last, NEW_YORK)
        return (None, {}) if close is None else (over, {"close": close})

    def _last(self, first: date) -> date:
        """Return the last day that a bar from ``first`` on can have."""
        return first + INTERVALS[self.interval].length - _DAY

    def _over(self, begins: datetime) -> datetime | None:
        """Return when the bar that begins at ``begins`` was over, at the latest, and received."""
        length = INTERVALS[self.interval].length
        if is_intraday(self.interval):
            return max(begins + length, self.received)
        last = self._last(begins.astimezone(self.zone).date())
        ends = wall_clock(datetime.combine(last, time()) + self.day, self.zone)
        return None if ends is None else max(ends, self.received)


def _subject(meta: Mapping[str, Any], splits: Sequence[traded.Split], interval: str, received: datetime) -> _Subject:
    zone, currency = _zone(meta), meta.get("currency")
    is_share = meta.get("instrumentType") in _SHARES and currency == "USD" and zone == NEW_YORK
    return _Subject(str(meta.get("symbol")), currency, zone, interval, received, _day(meta, zone), is_share, splits)


def _day(meta: Mapping[str, Any], zone: tzinfo) -> timedelta:
    """Return how long a day lasts: until its evening, or to its end where trade goes on around the clock.

    Yahoo names the session of the day on which the chart was read.
    """
    periods = meta.get("currentTradingPeriod")
    regular = periods.get("regular") if isinstance(periods, dict) else None
    seconds = [regular.get(name) for name in ("start", "end")] if isinstance(regular, dict) else [None]
    if not all(type(value) is int for value in seconds):
        return _DAY
    opens, closes = (_instant(value).astimezone(zone).replace(tzinfo=None) for value in seconds)
    return _EVENING if closes <= datetime.combine(opens.date(), time()) + _EVENING else _DAY


def _instant(seconds: Any) -> datetime:
    if type(seconds) is not int or abs(seconds) > _YEAR_2100:
        raise UpstreamError(Code.MALFORMED, problem="the time of a row is not in Unix seconds")
    return _EPOCH + timedelta(seconds=seconds)


def _bars(result: Mapping[str, Any]) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    """Yield the bars, which stand in columns. Columns of another length could belong to any row: an error."""
    times = result.get("timestamp") or []
    if not isinstance(times, list):
        raise UpstreamError(Code.MALFORMED, problem="its times are not a list")
    if not times:
        return
    indicators = object_in(result.get("indicators"), "indicators")
    quote = only_object(indicators.get("quote"), "quote")
    columns: dict[str, Any] = {name: quote.get(name) for name in _COLUMNS}
    if indicators.get("adjclose"):
        columns["adjclose"] = only_object(indicators["adjclose"], "adjclose").get("adjclose")
    for name, values in columns.items():
        if not isinstance(values, list) or len(values) != len(times):
            raise UpstreamError(Code.MALFORMED, problem=f"its column {name} is not as long as that of the times")
    for at, *row in zip(times, *columns.values(), strict=True):
        yield at, dict(zip(columns, row, strict=True))


def _events(result: Mapping[str, Any], kind: str) -> Iterable[Any]:
    events = result.get("events")
    rows = events.get(f"{kind}s") if isinstance(events, dict) else None
    return rows.values() if isinstance(rows, dict) else ()


def _splits(result: Mapping[str, Any], zone: tzinfo) -> Sequence[traded.Split]:
    """Return the splits of a chart. One whose day cannot be read may have divided every price."""

    def split(row: Any) -> traded.Split:
        try:
            day = _instant(row["date"]).astimezone(zone).date()
        except (TypeError, KeyError, UpstreamError):
            return traded.Split(date.max, None)
        return traded.Split(day, traded.ratio(row))

    return [split(row) for row in _events(result, "split")]


def _strict(make: Callable[..., Record | None], *row: Any) -> Record | None:
    return make(*row)


def _tolerant(make: Callable[..., Record | None], *row: Any) -> Record | None:
    try:
        return make(*row)
    except UpstreamError:
        return UNREADABLE


def _result(body: bytes) -> Mapping[str, Any]:
    reply = lenient_json(body, 8)
    chart = object_in(reply.get("chart") if isinstance(reply, dict) else None, "chart")
    if chart.get("error") is not None:
        raise UpstreamError(Code.MALFORMED, problem="it is an error message")
    return only_object(chart.get("result"), "result")


def _number(value: Any, name: str) -> Any:
    """Return a number or None. Raise UpstreamError for anything else: the page has changed."""
    if value is None or type(value) in (int, float):
        return value
    raise UpstreamError(Code.MALFORMED, problem=f"{name} is not a number")


def _zone(meta: Mapping[str, Any]) -> tzinfo:
    try:
        return ZoneInfo(str(meta.get("exchangeTimezoneName")))
    except (ValueError, OSError, KeyError):  # of a name that is not there
        raise UpstreamError(Code.MALFORMED, problem="it does not name the zone of its exchange") from None
