"""Leaks of fred: the day of a vintage, the real-time period, joined periods, its errors."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from pit_fetch_providers.fred.vintages import CENTRAL, FOREVER

from pit_fetch.errors import UpstreamError
from pit_fetch.gaps import Code
from pit_fetch.times import end_of_day, parse_date, start_of_day
from tests.laws.mutants.leak import Mutant, fails
from tests.laws.plant import Make

_HERE = "pit_fetch_providers.fred"
_FRED = ("fred: non-interference",)
_FAILURES, _SIZES = ("fred: failures",), ("fred: sizes",)


def _stamped(by: Any) -> Make:
    """Return the leak of another stamp, made from a row."""

    def make(real: Any) -> Any:
        def record(row: Any, query: Any) -> Any:
            made = real(row, query)
            return made._replace(available_at=by(row)) if made.available_at else made

        return record

    return make


def _start(row: Any) -> date:
    return date.fromisoformat(row["realtime_start"])


def _shown(real: Any) -> Any:
    def record(row: Any, query: Any) -> Any:
        made = real(row, query)
        return made._replace(payload={**made.payload, "realtime_end": row.get("realtime_end")}) if made.id else made

    return record


def _dated_anyhow(real: Any) -> Any:
    def record(row: Any, query: Any) -> Any:
        made = real(row, query)
        day = parse_date(made.payload.get("date"))
        return made if made.available_at or day is None else made._replace(available_at=end_of_day(day, CENTRAL))

    return record


def _whole_rows_alone(real: Any) -> Any:
    return lambda row, query: real(row, query) if isinstance(row.get("value"), str) else fails()


def _echoed(real: Any) -> Any:
    def instead(reply: Any) -> Any:
        error = real(reply)
        if error.gap.code != "http_status":
            return error
        return UpstreamError(Code.HTTP_STATUS, **{**error.gap.params, "host": reply.body.decode("utf-8", "replace")})

    return instead


def _unknown_is_an_error(real: Any) -> Any:
    def instead(reply: Any) -> Any:
        error = real(reply)
        return UpstreamError(Code.BAD_CALL, host="FRED") if error.gap.code == "bad_call" else error

    return instead


def _until_the_end_of_time(real: Any) -> Any:
    def period(query: Any) -> Any:
        made = real(query)
        return None if made is None else made._replace(last=FOREVER)

    return period


MUTANTS = (
    Mutant(
        "fred: later vintages are asked for",
        f"{_HERE}.vintages:real_time_period",
        _until_the_end_of_time,
        ("fred: partial failure", "fred: quota"),
    ),
    Mutant(
        "fred: a vintage is public from the start of its day",
        f"{_HERE}.vintages:_record",
        _stamped(lambda row: start_of_day(_start(row), CENTRAL)),
        _FRED,
    ),
    Mutant(
        "fred: the day of a vintage ends in Tokyo",
        f"{_HERE}.vintages:_record",
        _stamped(lambda row: start_of_day(_start(row) + timedelta(days=1), ZoneInfo("Asia/Tokyo"))),
        _FRED,
    ),
    Mutant(
        "fred: an observation is public at the end of its date",
        f"{_HERE}.vintages:_record",
        _stamped(lambda row: end_of_day(date.fromisoformat(row["date"]), CENTRAL)),
        _FRED,
    ),
    Mutant("fred: without a vintage the date counts", f"{_HERE}.vintages:_record", _dated_anyhow, _FRED),
    Mutant("fred: the end of a vintage is shown", f"{_HERE}.vintages:_record", _shown, _FRED),
    Mutant("fred: a spoilt row fails the fetch", f"{_HERE}.vintages:_record", _whole_rows_alone, _FRED),
    Mutant(
        "fred: a period's first day is a vintage",
        f"{_HERE}.vintages:joined",
        lambda real: lambda before, part, first: [*before, *part],
        _SIZES,
    ),
    Mutant(
        "fred: a file has no end", f"{_HERE}.vintages:last_day", lambda real: lambda reply: FOREVER, ("fred: saved",)
    ),
    Mutant("fred: an unknown series is an error", f"{_HERE}.api:upstream_error", _unknown_is_an_error, _FAILURES),
    Mutant("fred: the error's text is echoed", f"{_HERE}.api:upstream_error", _echoed, _FAILURES),
)
