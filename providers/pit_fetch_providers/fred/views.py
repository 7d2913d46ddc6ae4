"""How FRED's replies look to a program as of an instant: FRED itself is asked for its state of then.

Its real-time period ends with the last day that was over. Where a request leaves the period open, so does the reply:
that a value was current on that day must not read as the day on which it was replaced.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from datetime import date
from html import escape
from typing import Any

from pit_fetch.provider import Asked, HttpReply, Record, Row, View
from pit_fetch.times import end_of_day, parse_date
from pit_fetch_providers.fred import api, vintages
from pit_fetch_providers.fred.vintages import BEGINNING, CENTRAL, FOREVER
from pit_fetch_providers.shared import refuse

# Of a series, what its vintage fixed. The rest of its description is today's.
_KEPT = (
    "id", "title", "observation_start", "frequency", "frequency_short", "units", "units_short",
    "seasonal_adjustment", "seasonal_adjustment_short",
)  # fmt: skip
_FIELDS = (*_KEPT, "realtime_start", "realtime_end", "observation_end", "last_updated", "popularity", "notes")
_TODAY = {"observation_end": "", "last_updated": "", "popularity": 0, "group_popularity": 0, "notes": ""}
_NONE = "Bad Request.  The series does not exist."


def _period(asked: Asked) -> tuple[date, date]:
    """Return the real-time period as the source would have read the request then."""
    known = vintages.real_time_period(asked.query)
    if known is None:
        refuse("FRED has no vintages of then.")
    is_all = asked.path.endswith("vintagedates")
    first, last = (parse_date(asked.params.get(name)) for name in ("realtime_start", "realtime_end"))
    if first is None and last is None and not is_all:
        return known.last, known.last
    first, last = first or BEGINNING, min(last or FOREVER, known.last)
    if first > last:
        refuse("realtime_start lies after the instant.")
    return first, last


def _ask(asked: Asked) -> Generator[HttpReply, int, None]:
    if asked.params.get("output_type", "1") != "1" or asked.params.get("units", "lin") != "lin":
        refuse("observations are served with output_type=1 and units=lin.")
    first, last = _period(asked)
    params = {name: value for name, value in asked.params.items() if name not in ("offset", "limit", "vintage_dates")}
    if "vintage_dates" in asked.params:
        days = [day for day in map(parse_date, asked.params["vintage_dates"].split(",")) if day and day <= last]
        params["vintage_dates"] = ",".join(map(str, days)) or refuse("vintage_dates lie after the instant.")
    else:
        params |= {"realtime_start": first.isoformat(), "realtime_end": last.isoformat()}
    for page in range(api.MOST_PAGES):
        rows = yield asked.get({**params, "limit": str(_most(asked)), "offset": str(page * _most(asked))})
        if rows < _most(asked):
            return


def _most(asked: Asked) -> int:
    return api.DAYS if asked.path.endswith("vintagedates") else api.ROWS


def _ask_series(asked: Asked) -> Generator[HttpReply, int, None]:
    first, last = _period(asked)
    yield asked.get({**asked.params, "realtime_start": first.isoformat(), "realtime_end": last.isoformat()})


def _page(asked: Asked) -> tuple[int, int]:
    most = _most(asked)
    texts = asked.params.get("offset", "0"), asked.params.get("limit", str(most))
    if not all(text.isascii() and text.isdigit() for text in texts):
        refuse("offset and limit are whole numbers.")
    return int(texts[0]), min(int(texts[1]), most)


def _observation(row: Row, asked: Asked) -> Record:
    return next(vintages.records({"observations": [row.value]}, asked.query))


def _day(row: Row, asked: Asked) -> Record:
    day = parse_date(row.value)
    return Record(str(row.value), None if day is None else end_of_day(day, CENTRAL), {})


def _series(row: Row, asked: Asked) -> Record:
    start = parse_date(row.value.get("realtime_start"))
    return Record(str(row.value.get("id")), None if start is None else end_of_day(start, CENTRAL), {})


def _end(asked: Asked) -> str:
    """Return the end of the real-time period as the reply states it: open, unless the request closes it."""
    first, last = _period(asked)
    given = parse_date(asked.params.get("realtime_end"))
    return str(first if first == last and given is None else FOREVER if given is None or given > last else given)


def _current(row: Row, asked: Asked) -> dict[str, str]:
    """Return the end of a value that was current, or nothing: FRED cuts it to the period that it is asked for."""
    is_current = str(row.value.get("realtime_end")) >= str(_period(asked)[1])
    return {"realtime_end": _end(asked)} if is_current else {}


def _head(asked: Asked, rows: Sequence[Row]) -> dict[str, Any]:
    """Return what FRED says around the rows, by the request and the public rows."""
    names = ("observation_start", "observation_end", "units", "output_type", "file_type", "order_by", "sort_order")
    rest: Mapping[str, Any] = asked.rest or {}
    head = {"realtime_start": str(_period(asked)[0]), "realtime_end": _end(asked)}
    head |= {name: rest[name] for name in names if name in rest}
    if asked.path.endswith("/series"):
        return head
    skipped, most = _page(asked)
    return {**head, "count": asked.total, "offset": skipped, "limit": most}


def _json(key: str) -> Any:
    return lambda asked, rows: {**_head(asked, rows), key: []}


def _xml(root: str) -> Any:
    def frame(asked: Asked, rows: Sequence[Row]) -> str:
        attributes = " ".join(f'{name}="{escape(str(value))}"' for name, value in _head(asked, rows).items())
        return f'<?xml version="1.0" encoding="utf-8" ?>\n\n<{root} {attributes}>\n</{root}>\n'

    return frame


def _in_both_forms(name: str, key: str, element: str, record: Any, ask: Any = _ask, **more: Any) -> tuple[View, View]:
    shared = View(api.HOST.name, f"/fred/series{name}", record=record, ask=ask, **more)
    json = {"error_code": 400, "error_message": _NONE}
    xml = f'<?xml version="1.0" encoding="utf-8" ?>\n<error code="400" message="{_NONE}" />\n'
    as_json = {"rows": (f"{key}/*",), "frame": _json(key), "nothing": (400, json), "params": {"file_type": ("json",)}}
    as_xml = {"rows": (element,), "frame": _xml(key.replace("_", "")), "nothing": (400, xml), "form": "xml"}
    return shared._replace(**as_json), shared._replace(params={"file_type": (None, "xml")}, **as_xml)


VIEWS = (
    *_in_both_forms("/observations", "observations", "observation", _observation, page=_page, blank=_current),
    *_in_both_forms("/vintagedates", "vintage_dates", "vintage_date", _day, page=_page),
    *_in_both_forms(
        "",
        "seriess",
        "series",
        _series,
        _ask_series,
        fields=(*_KEPT, "realtime_start", "realtime_end", *_TODAY),
        blank=_TODAY,
    ),
)
