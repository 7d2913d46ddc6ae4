"""Worlds of official figures: reports that were released later; all of them are claims."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

from pit_fetch_providers.official.releases import cot_released

from tests.laws.refusals import Requests
from tests.providers.dated import Rows
from tests.providers.official import server as official

_WEEK = timedelta(days=7)


def _report(public: datetime) -> date:
    """Return the last Tuesday whose report was released by ``public``."""
    day = official.tuesday(public.astimezone(UTC).date())
    while (cot_released(day) or datetime.max.replace(tzinfo=UTC)) > public:
        day -= _WEEK
    return day


def _released(public: datetime) -> datetime:
    return cot_released(_report(public)) or public


def _later(moment: datetime) -> datetime:
    at = moment
    while _released(at) <= moment:
        at += _WEEK
    return _released(at)


def _row(number: int, public: datetime, revised: datetime | None, text: str) -> dict[str, Any]:
    return official.position(
        f"{number:06}"[-6:], _report(public).isoformat(), str(number), comm_positions_short_all=text
    )


REPORTS = Rows(
    source="official",
    words=("cot", "market=239747"),
    app=official.app,
    row=_row,
    ids=lambda row: [],
    stamps=("report_date_as_yyyy_mm_dd",),
    texts=("open_interest_all", "cftc_contract_market_code"),
    floor=_released,
    rounded=_later,
)
undisturbed, LAWS = REPORTS.undisturbed, dict(REPORTS.laws)
make, claimed = REPORTS.make, REPORTS.claimed
REQUESTS = Requests(lambda asked: len(asked) > 1)
