"""Leaks of fred: the day of a vintage, the real-time period, joined periods, its errors."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from pit_fetch_providers.fred.api import NoVintages
from pit_fetch_providers.fred.vintages import CENTRAL, FOREVER

from pit_fetch.errors import UpstreamError
from pit_fetch.gaps import Code
from pit_fetch.times import end_of_day, start_of_day
from tests.laws.mutants.leak import Mutant, echoing, readable_alone, redated
from tests.laws.plant import Make

_HERE = "pit_fetch_providers.fred"
_FRED = ("fred: non-interference",)
_FAILURES, _SIZES = ("fred: failures",), ("fred: sizes",)


def _vintages(change: Any) -> Make:
    return redated(lambda reply, query: reply["observations"], change)


def _stamped(by: Any) -> Make:
    """Return the leak of another stamp, made from a row."""
    return _vintages(lambda row, made: made._replace(available_at=by(row)) if made.available_at else made)


def _start(row: Any) -> date:
    return date.fromisoformat(row["realtime_start"])


def _shown(row: Any, made: Any) -> Any:
    return made._replace(payload={**made.payload, "realtime_end": row.get("realtime_end")})


def _dated_anyhow(row: Any, made: Any) -> Any:
    return made._replace(
        available_at=made.available_at or end_of_day(date.fromisoformat(made.payload["date"]), CENTRAL)
    )


def _unknown_is_an_error(real: Any) -> Any:
    def observations(*given: Any) -> Any:
        try:
            yield from real(*given)
        except NoVintages:
            raise UpstreamError(Code.BAD_CALL, host="FRED") from None

    return observations


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
        f"{_HERE}.vintages:records",
        _stamped(lambda row: start_of_day(_start(row), CENTRAL)),
        _FRED,
    ),
    Mutant(
        "fred: the day of a vintage ends in Tokyo",
        f"{_HERE}.vintages:records",
        _stamped(lambda row: start_of_day(_start(row) + timedelta(days=1), ZoneInfo("Asia/Tokyo"))),
        _FRED,
    ),
    Mutant(
        "fred: an observation is public at the end of its date",
        f"{_HERE}.vintages:records",
        _stamped(lambda row: end_of_day(date.fromisoformat(row["date"]), CENTRAL)),
        _FRED,
    ),
    Mutant("fred: without a vintage the date counts", f"{_HERE}.vintages:records", _vintages(_dated_anyhow), _FRED),
    Mutant("fred: the end of a vintage is shown", f"{_HERE}.vintages:records", _vintages(_shown), _FRED),
    Mutant("fred: a spoilt row fails the fetch", f"{_HERE}.vintages:records", readable_alone, _FRED),
    Mutant(
        "fred: a period's first day is a vintage",
        f"{_HERE}.vintages:joined",
        lambda real: lambda before, part, first: [*before, *part],
        _SIZES,
    ),
    Mutant(
        "fred: a file has no end", f"{_HERE}.vintages:last_day", lambda real: lambda reply: FOREVER, ("fred: saved",)
    ),
    Mutant("fred: an unknown series is an error", f"{_HERE}.api:observations", _unknown_is_an_error, _FAILURES),
    Mutant("fred: the error's text is echoed", f"{_HERE}.api:observations", echoing(), _FAILURES),
)
