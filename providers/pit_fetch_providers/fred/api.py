"""FRED's API: its host and key, the pages of a reply, the days of vintages, and its errors."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from pit_fetch.gaps import Code
from pit_fetch.provider import Context, Credential, Host, HttpReply, Query, QueryKey, Rate, UpstreamError
from pit_fetch.times import parse_date
from pit_fetch.wire import lenient_json
from pit_fetch_providers.fred import vintages
from pit_fetch_providers.fred.vintages import BEGINNING, RealTimePeriod
from pit_fetch_providers.shared import error_document, key_refused, new_york_day, status_error

HOST = Host(
    "FRED",
    "https://api.stlouisfed.org",
    "PIT_FETCH_FRED_URL",
    Rate(calls=120, seconds=60),
    QueryKey("key", "api_key"),
)

# The most rows of one reply (documentation), and far more pages of them than any series has.
ROWS, DAYS, MOST_PAGES = 100_000, 10_000, 100
_ROWS_AT = {"observations": "observations", "vintagedates": "vintage_dates"}


def _check(key: str) -> str | None:
    return None if re.fullmatch("[a-z0-9]{32}", key) else "it is not 32 lower-case letters and digits."


KEY = Credential(
    name="key",
    variables=("FRED_API_KEY",),
    hint="A free key comes from https://fredaccount.stlouisfed.org/apikeys.",
    check=_check,
)


class NoVintages(UpstreamError):
    """The series is unknown, or has no vintages in this period: FRED reports both alike."""


class TooManyVintages(UpstreamError):
    """The period has more vintages than one request may have."""


def observations(context: Context, query: Query, period: RealTimePeriod | None) -> Iterator[Mapping[str, Any]]:
    """Yield the replies with the observations of ``period``; without a period, those with today's values.

    Raise UpstreamError: NoVintages and TooManyVintages, if that is the reason.
    """
    parameters = {"series_id": query.options["series_id"], "output_type": "1"}
    # Only a coarse cut: the framework compares the same days once more.
    if query.since is not None:
        parameters["observation_start"] = max(new_york_day(query.since), BEGINNING).isoformat()
    if query.until is not None:
        parameters["observation_end"] = max(new_york_day(query.until), BEGINNING).isoformat()
    for reply in _pages(context, "observations", {**parameters, **_period_parameters(period)}, ROWS):
        yield vintages.document(reply)


def vintage_days(context: Context, query: Query, period: RealTimePeriod) -> list[date]:
    """Return the days in ``period`` on which the series was published or revised. Raise UpstreamError."""
    parameters = {"series_id": query.options["series_id"], **_period_parameters(period)}
    replies = _pages(context, "vintagedates", parameters, DAYS)
    days = [parse_date(text) for reply in replies for text in reply["vintage_dates"]]
    return [day for day in days if day is not None]


def _pages(context: Context, endpoint: str, parameters: Mapping[str, str], size: int) -> Iterator[Mapping[str, Any]]:
    """Yield replies by offset; one with fewer than ``size`` rows is the last."""
    for page in range(MOST_PAGES):
        limits = {"file_type": "json", "limit": str(size), "offset": str(page * size)}
        reply = context.http.get(HOST.name, f"/fred/series/{endpoint}", {**parameters, **limits})
        if reply.status != 200:
            raise upstream_error(reply)
        document = lenient_json(reply.body, 2)
        rows = document.get(_ROWS_AT[endpoint]) if isinstance(document, dict) else None
        if not isinstance(rows, list):
            raise UpstreamError(Code.MALFORMED, problem=f"it has no {_ROWS_AT[endpoint]}")
        yield document
        if len(rows) < size:
            return
    raise UpstreamError(Code.PAGING)


def _period_parameters(period: RealTimePeriod | None) -> dict[str, str]:
    if period is None:
        return {}
    return {"realtime_start": period.first.isoformat(), "realtime_end": period.last.isoformat()}


def upstream_error(reply: HttpReply) -> UpstreamError:
    """Return the error of a reply. A wrong key and an unknown series are both a 400: only the text tells them apart."""
    text = str(error_document(reply).get("error_message", "")) if reply.status == 400 else ""
    if "api_key" in text:
        return key_refused(HOST, KEY)
    if "series does not exist" in text:
        return NoVintages(Code.BAD_CALL, host=HOST.name)
    if "exceeds the maximum number of vintage dates" in text:
        return TooManyVintages(Code.HTTP_STATUS, host=HOST.name, status=reply.status)
    return status_error(reply, HOST)
