"""Turn Yahoo's chart into records: bars, dividends and splits. Pure.

All prices of a chart are divided by the splits that came later, and ``adjclose`` by later dividends as well (recorded
in 2025: Nvidia's close of 2021-02-01 as 13.237, which was 529.48 before two splits). So a chart is evidence of the
day on which it is read, and of no other: it is a snapshot. A bar that is still running then is none yet: its stamp is
the end of its interval.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from pit_fetch.gaps import Code
from pit_fetch.provider import Query, Record, UpstreamError
from pit_fetch.times import wall_clock
from pit_fetch.wire import lenient_json

# Daily data begin with the S&P 500's on this day.
BEGINNING = datetime(1927, 12, 30, tzinfo=UTC)
_EPOCH, _YEAR_2100 = datetime(1970, 1, 1, tzinfo=UTC), 4_102_444_800
_COLUMNS = ("open", "high", "low", "close", "volume")


class Interval(NamedTuple):
    """An interval of bars."""

    length: timedelta  # the longest that it can be
    reach: timedelta | None = (
        None  # how far back Yahoo keeps such bars (None: to the beginning), by its own error texts
    )


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
    meta, symbol, interval = _dict(result.get("meta"), "meta"), query.options["symbol"], query.options["interval"]
    if symbol is not None and str(meta.get("symbol")).upper() != symbol:
        raise UpstreamError(Code.OFF_SUBJECT, problem="the chart is of another symbol")
    granularity = meta.get("dataGranularity")
    if SYNONYMS.get(str(granularity), granularity) != interval:
        raise UpstreamError(Code.MALFORMED, problem=f"its bars are not of the interval {interval}")
    zone = _zone(meta)
    subject = _Subject(str(meta.get("symbol")), meta.get("currency"), zone, interval, received, _day(meta, zone))
    yield from _bars(result, subject)
    events = result.get("events")
    for kind, values in (("dividends", ("amount",)), ("splits", ("numerator", "denominator"))):
        rows = events.get(kind) if isinstance(events, dict) else None
        for row in rows.values() if isinstance(rows, dict) else ():
            row = _dict(row, kind)
            payload = {name: _number(row.get(name), name) for name in values}
            yield subject.record(kind[:-1], row.get("date"), payload)


class _Subject(NamedTuple):
    symbol: str
    currency: Any
    zone: tzinfo
    interval: str
    received: datetime
    day: timedelta  # from midnight until a day is over by the clock of the exchange

    def record(self, kind: str, at: Any, payload: Mapping[str, Any]) -> Record:
        """Return a row of the day, and of the bar, that begins at ``at`` (Unix seconds)."""
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
        return Record(
            id=f"{self.symbol}@{name}" + ("" if kind == "bar" else f"#{kind}"),
            available_at=self._over(begins) if kind == "bar" else self.received,
            available_at_source="provider_metadata",
            payload={**common, **payload},
            at_receipt=True,
        )

    def _over(self, begins: datetime) -> datetime | None:
        """Return when the bar that begins at ``begins`` was over, at the latest, and received."""
        length = INTERVALS[self.interval].length
        if is_intraday(self.interval):
            return max(begins + length, self.received)
        last = begins.astimezone(self.zone).date() + length - _DAY
        ends = wall_clock(datetime.combine(last, time()) + self.day, self.zone)
        return None if ends is None else max(ends, self.received)


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


def _bars(result: Mapping[str, Any], subject: _Subject) -> Iterator[Record]:
    """Yield the bars, which stand in columns. Columns of another length could belong to any row: an error."""
    times = result.get("timestamp") or []
    if not isinstance(times, list):
        raise UpstreamError(Code.MALFORMED, problem="its times are not a list")
    if not times:
        return
    indicators = _dict(result.get("indicators"), "indicators")
    quote = _first(indicators.get("quote"), "quote")
    columns: dict[str, Any] = {name: quote.get(name) for name in _COLUMNS}
    if indicators.get("adjclose"):
        columns["adjclose"] = _first(indicators["adjclose"], "adjclose").get("adjclose")
    for name, values in columns.items():
        if not isinstance(values, list) or len(values) != len(times):
            raise UpstreamError(Code.MALFORMED, problem=f"its column {name} is not as long as that of the times")
    by_id: dict[str, Record] = {}
    for place, at in enumerate(times):
        row = {name: _number(values[place], name) for name, values in columns.items()}
        if any(value is not None for value in row.values()):
            record = subject.record("bar", at, row)
            by_id[record.id] = record  # of a running day's two rows the later one replaces the earlier
    yield from by_id.values()


def _result(body: bytes) -> Mapping[str, Any]:
    reply = lenient_json(body, 8)
    chart = _dict(reply.get("chart") if isinstance(reply, dict) else None, "chart")
    if chart.get("error") is not None:
        raise UpstreamError(Code.MALFORMED, problem="it is an error message")
    return _first(chart.get("result"), "result")


def _first(value: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(value, list) or len(value) != 1:
        raise UpstreamError(Code.MALFORMED, problem=f"it has no single {name}")
    return _dict(value[0], name)


def _dict(value: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise UpstreamError(Code.MALFORMED, problem=f"it has no {name}")
    return value


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
