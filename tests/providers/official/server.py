"""The Treasury's feed of curves, the CFTC's positions and FINRA's short interest, in the shapes of their wires."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

from pit_fetch.testing.server import App, Response, as_json
from pit_fetch.transport import HttpRequest
from tests.loopback.broken import body_of

VARIABLES: dict[str, str] = {}
_FEED = (
    '<pre><?xml version="1.0" encoding="utf-8"?>\n<feed xmlns:d="urn:d" xmlns:m="urn:m" xmlns="http://www.w3.org/2005/Atom">'
    "<title>DailyTreasuryYieldCurveRateData</title><updated>2026-03-06T16:00:32Z</updated>"
)


def position(code: str, day: str, value: str, /, **changes: Any) -> dict[str, Any]:
    row = {
        "id": f"{day}{code}C",
        "market_and_exchange_names": "RUSSELL",
        "report_date_as_yyyy_mm_dd": f"{day}T00:00:00.000",
    }
    figures = {"open_interest_all": value, "noncomm_positions_long_all": "4773", "comm_positions_short_all": "290"}
    return {**row, "cftc_contract_market_code": code, **figures, **changes}


def interest(symbol: str, day: str, value: int, /, **changes: Any) -> dict[str, Any]:
    row = {
        "symbolCode": symbol,
        "settlementDate": day,
        "marketClassCode": "NNM",
        "revisionFlag": None,
        "stockSplitFlag": None,
    }
    return {
        **row,
        "currentShortPositionQuantity": value,
        "averageDailyVolumeQuantity": 39537335,
        "daysToCoverQuantity": 3.53,
        **changes,
    }


def feed(rows: Sequence[tuple[str, str]]) -> bytes:
    """Return the curves of some days."""
    entries = "".join(
        f'<entry><updated>2026-03-06T16:00:32Z</updated><content type="xml"><m:properties><d:NEW_DATE>{day}T00:00:00'
        f"</d:NEW_DATE><d:BC_1MONTH>5.30</d:BC_1MONTH><d:BC_10YEAR>{rate}</d:BC_10YEAR></m:properties></content></entry>"
        for day, rate in rows
    )
    return f"{_FEED}{entries}</feed></pre>".encode()


def app(rows: Sequence[Any], careless: bool = False) -> App:
    """Return the server of positions, and of short interest. ``careless``: it ignores dates."""

    def answer(request: HttpRequest) -> Response:
        if request.path.startswith("/resource/"):
            query = request.query
            last = query["$where"].split("'")[1]
            found = [row for row in sorted(rows, key=_day, reverse=True) if careless or _day(row) <= f"{last}~"]
            start = int(query["$offset"])
            return Response(body_of(found[start : start + int(query["$limit"])]))
        if request.path.endswith("consolidatedShortInterest") and request.method == "POST":
            asked = json.loads(request.body or b"{}")
            return Response(body_of(rows[asked["offset"] : asked["offset"] + asked["limit"]]))
        return as_json({}, 404)

    return answer


def _day(row: Any) -> str:
    return str(row.get("report_date_as_yyyy_mm_dd")) if isinstance(row, dict) else ""


def tuesday(day: date) -> date:
    """Return the last Tuesday that is not after ``day``."""
    return day - timedelta(days=(day.weekday() - 1) % 7)
