"""FRED's ``series/observations`` and ``series/vintagedates``: real-time periods that cut rows, limits, errors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple

from pit_fetch.testing.server import App, Response, as_json
from pit_fetch.transport import HttpRequest
from tests.loopback.broken import body_of

KEY = "0123456789abcdef0123456789abcdef"
VARIABLES = {"FRED_API_KEY": KEY}
BEGINNING, FOREVER = "1776-07-04", "9999-12-31"
MOST_VINTAGES, ROWS = 2_000, 100_000

# What it says in place of rows, as recorded.
UNKNOWN = "Bad Request.  The series does not exist."
NOT_IN_ALFRED = (
    "Bad Request.  The series does not exist in ALFRED but may exist in FRED.  Try setting realtime_start and "
    "realtime_end to today's date or removing the parameters."
)
BAD_KEY = "Bad Request.  The value for variable api_key is not registered.  Read https://fred.stlouisfed.org/docs/api"
TOO_MANY = (
    "Bad Request.  There are {} vintage dates in the specified real-time period: {} to {}.  This exceeds the maximum "
    "number of vintage dates allowed ({}).  Use a smaller real-time period."
)
AHEAD = (
    "Bad Request.  Variable realtime_end can not be after today's date ({}) unless it's equal to the real-time max "
    "date 9999-12-31."
)
THROTTLED = "Too Many Requests.  Exceeded Rate Limit"


class Vintage(NamedTuple):
    """The value of an observation (``date``) from the day ``start`` on."""

    date: str
    start: str
    value: str


def error(message: str, status: int = 400) -> Response:
    return as_json({"error_code": status, "error_message": message}, status)


def document(rows: Sequence[Any], first: str = BEGINNING, last: str = FOREVER, **more: Any) -> dict[str, Any]:
    """Return a reply that holds ``rows``."""
    head: dict[str, Any] = {"realtime_start": first, "realtime_end": last, "observation_start": "1600-01-01"}
    head |= {"observation_end": FOREVER, "units": "lin", "output_type": 1, "file_type": "json"}
    head |= {"order_by": "observation_date", "sort_order": "asc"}
    return {**head, "count": len(rows), "offset": 0, "limit": ROWS, **more, "observations": list(rows)}


def row(vintage: Vintage, end: str = FOREVER) -> dict[str, str]:
    return {"realtime_start": vintage.start, "realtime_end": end, "date": vintage.date, "value": vintage.value}


def app(
    vintages: Sequence[Vintage],
    raw: Sequence[Any] = (),
    *,
    series: str = "GDP",
    key: str = KEY,
    today: str = "",
    current: Mapping[str, str] | None = None,
    careless: bool = False,
) -> App:
    """Return the server of one series. ``raw`` rows are served as they are, if they may begin in the requested
    period.

    ``current`` is the answer to requests without a real-time period; ``careless``: the period is ignored.
    """

    def answer(request: HttpRequest) -> Response:
        query = request.query
        if query.get("api_key") != key:
            return error(f"{BAD_KEY} {query.get('api_key')}")
        if query.get("file_type") != "json":
            return Response(b'<error code="400" message="XML"/>', 400)
        is_dated = "realtime_start" in query or "realtime_end" in query
        first, last = query.get("realtime_start", BEGINNING), query.get("realtime_end", FOREVER)
        if today and today < last < FOREVER:
            return error(AHEAD.format(today))
        if query.get("series_id") != series:
            return error(NOT_IN_ALFRED if is_dated else UNKNOWN)
        if not is_dated and request.path.endswith("observations"):
            values = current or {day: rows[-1].value for day, rows in _by_date(vintages)}
            return _page([row(Vintage(day, "2026-11-01", value), "2026-11-01") for day, value in values.items()], query)
        days = sorted({vintage.start for vintage in vintages if first <= vintage.start <= last})
        if not any(vintage.start <= last for vintage in vintages):
            return error(NOT_IN_ALFRED)
        if request.path == "/fred/series/vintagedates":
            return as_json({"order_by": "vintage_date", "count": len(days), "offset": 0, "vintage_dates": days})
        if request.path != "/fred/series/observations":
            return error("Not Found.", 404)
        if len(days) > MOST_VINTAGES:
            return error(TOO_MANY.format(len(days), first, last, MOST_VINTAGES))
        first, last = (BEGINNING, FOREVER) if careless else (first, last)
        starts = query.get("observation_start", ""), query.get("observation_end", FOREVER)
        served = [line for line in rows(vintages, first, last) if starts[0] <= line["date"] <= starts[1]]
        return _page([*served, *(line for line in raw if _may_begin(line, last))], query)

    return answer


def _page(rows: Sequence[Any], query: Mapping[str, str]) -> Response:
    limit, offset = int(query.get("limit", ROWS)), int(query.get("offset", 0))
    reply = document(rows[offset : offset + limit], count=len(rows), offset=offset, limit=limit)
    return Response(body_of(reply))


def _may_begin(line: Any, last: str) -> bool:
    start = line.get("realtime_start") if isinstance(line, dict) else None
    return not (isinstance(start, str) and start[:4].isdigit() and start > last)


def _by_date(vintages: Sequence[Vintage]) -> Iterator[tuple[str, list[Vintage]]]:
    versions = defaultdict(list)
    for vintage in sorted(vintages, key=lambda vintage: (vintage.date, vintage.start)):
        versions[vintage.date].append(vintage)
    yield from versions.items()


def rows(vintages: Sequence[Vintage], first: str, last: str) -> Iterator[dict[str, str]]:
    """Yield the values that were current at some time from ``first`` to ``last``, with both ends cut to these."""
    for _, versions in _by_date(vintages):
        changes = [vintage for n, vintage in enumerate(versions) if not n or vintage.value != versions[n - 1].value]
        ends = [*(_day_before(change.start) for change in changes[1:]), FOREVER]
        for change, end in zip(changes, ends, strict=True):
            if change.start <= last and end >= first:
                yield row(change._replace(start=max(change.start, first)), min(end, last))


def _day_before(day: str) -> str:
    return (date.fromisoformat(day) - timedelta(days=1)).isoformat()
