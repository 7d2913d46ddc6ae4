"""Honest sources that write their stamps in many forms, and one of notices that name each other."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, NamedTuple

from pit_fetch import testing
from pit_fetch.provider import Context, Dating, Field, Operation, Provider, Query, Record
from pit_fetch.times import NEW_YORK, end_of_day, end_of_minute, parse_rfc3339, wall_clock
from pit_fetch.wire import body_of, lenient_json, rows_in
from tests.kit.honest import KitSource, MakeRecord, Row, as_json, get, host, make_provider, name_of, text


class Form(NamedTuple):
    """How a source writes an instant, by ``strptime``, in one field or in several, and how long what it names lasts."""

    fields: Mapping[str, str]
    lasts: str = "second"

    @property
    def declared(self) -> Mapping[str, testing.Form]:
        """What its author says of it in the recording."""
        return {" ".join(self.fields): testing.Form(" ".join(self.fields.values()))}

    def write(self, reading: datetime) -> Row:
        written = {name: f"{reading:{form}}" for name, form in self.fields.items()}
        return {name: int(value) if name in _NUMBERS else value for name, value in written.items()}

    def read(self, row: Mapping[str, Any]) -> datetime | None:
        try:
            said = " ".join(str(row[name]) for name in self.fields)
            reading = datetime.strptime(said, " ".join(self.fields.values()))  # noqa: DTZ007
        except (KeyError, ValueError):
            return None
        if self.lasts == "day":
            return end_of_day(reading.date(), NEW_YORK)
        return wall_clock(end_of_minute(reading) if self.lasts == "minute" else reading, NEW_YORK)


class Milliseconds(Form):
    @property
    def declared(self) -> Mapping[str, testing.Form]:
        return {}

    def write(self, reading: datetime) -> Row:
        instant = wall_clock(reading, NEW_YORK)
        return {name: str(int(instant.timestamp() * 1_000)) for name in self.fields if instant}

    def read(self, row: Mapping[str, Any]) -> datetime | None:
        value = row.get("released")
        usable = isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 15
        return datetime.fromtimestamp(int(value) / 1_000, UTC) if usable else None  # type: ignore[arg-type]


_NUMBERS = frozenset({"number", "year", "month", "day"})
FORMS: Mapping[str, Form] = {
    "day/month/year": Form({"released": "%d/%m/%Y"}, "day"),
    "day/month/year and a clock": Form({"released": "%d/%m/%Y %H:%M:%S"}),
    "a zone's name": Form({"released": "%Y-%m-%d %H:%M:%S EST"}),
    "ctime": Form({"released": "%a %b %d %H:%M:%S %Y"}),
    "a month with a point": Form({"released": "%b. %d, %Y, %I:%M %p"}, "minute"),
    "day-month-year": Form({"released": "%d-%b-%Y %H:%M:%S"}),
    "RFC 2822 without a zone": Form({"released": "%a, %d %b %Y %H:%M:%S"}),
    "a number": Form({"number": "%Y%m%d"}, "day"),
    "year, month and day apart": Form({"year": "%Y", "month": "%m", "day": "%d"}, "day"),
    "a day and a clock apart": Form({"on": "%Y-%m-%d", "at": "%H:%M"}, "minute"),
    "milliseconds in digits": Milliseconds({"released": ""}),
}
READINGS = [datetime(2024, 2, day, 9 + day % 5, 30, day) for day in (19, 16, 15, 13, 5)]  # noqa: DTZ001


def release(row: Row, query: Query, form: Form) -> Record:
    return Record(name_of(row), form.read(row), {"title": text(row.get("title"))})


def releases(form: str, record: Callable[[Row, Query], Record] | None = None) -> KitSource:
    known = FORMS[form]
    rows = [{"id": f"r{n}", **known.write(reading), "title": f"Release {n}"} for n, reading in enumerate(READINGS)]
    provider = make_provider(
        f"kit-form-{list(FORMS).index(form)}",
        "releases",
        get("Releases", "/releases"),
        lambda body: (list(rows_in(body, "releases")), {}),
        record or partial(release, form=known),
        lambda rows, query, document: rows,
        Operation(dating=Dating(rule="when it was released"), fields=(Field("title"),)),
        hosts=host("Releases"),
    )

    def public_from(row: Row) -> str:
        instant = known.read(row)
        return instant.isoformat() if instant else ""

    return KitSource(provider, rows, as_json("releases"), public_from, zone="America/New_York",
                     recording={"stamps": known.declared})  # fmt: skip


# --- notices that name each other, in a reply that tells of itself

NOTICES_HOST = "Notices"
NOTICES = [
    {"id": f"N-{n}", "at": f"2024-02-1{n}T12:00:00Z", "title": f"Notice {n}", "replaced_by": after, "serial": 700 + n,
     "lastserial": 700 + n + bool(after)}
    for n, after in ((5, None), (4, "N-5"), (3, None), (2, "N-3"), (1, None))
]  # fmt: skip


def notice(row: Row, query: Query) -> Record:
    return Record(name_of(row), parse_rfc3339(row.get("at")), {"title": text(row.get("title"))})


def notices(
    record: MakeRecord = notice,
    rows: Callable[..., Any] = lambda rows, query, document: rows,
    params: Callable[[Query], Mapping[str, str]] = lambda query: {},
    after: Callable[[Mapping[str, Any], list[Row]], Any] = lambda document, rows: (),
) -> KitSource:
    """Make the source with ``params`` in its request, and what ``after(document, rows)`` yields after its records."""

    def parts(body: bytes) -> tuple[Mapping[str, Any], list[Row]]:
        document = lenient_json(body, rows=2)
        return document if isinstance(document, dict) else {}, list(rows_in(body, "notices"))

    def fetch(query: Query, context: Context) -> Iterator[Any]:
        body = body_of(context.http.get(NOTICES_HOST, "/notices", params(query)), NOTICES_HOST)
        if body is not None:
            document, every = parts(body)
            yield from [record(row, query) for row in rows(every, query, document)]
            yield from after(document, every)

    def read(body: bytes, query: Query) -> Iterator[Record]:
        document, every = parts(body)
        yield from [record(row, query) for row in rows(every, query, document)]

    def body(rows: list[Row], **meta: Any) -> bytes:
        newest = max((str(row.get("id")) for row in rows), default="")
        about = {"latest_id": newest, "has_more": len(rows) > 4, "total": 40 + len(rows)}
        summary = f"{len(rows)} notices, the last is {newest}"
        return json.dumps({**about, "summary": summary, **meta, "notices": _named(rows)}).encode()

    provider = Provider(
        "kit-notices",
        "notices",
        hosts=host(NOTICES_HOST),
        operations=(
            Operation(
                fetch=fetch, parse_reply=read, dating=Dating(rule="when it was posted"), fields=(Field("title"),)
            ),
        ),
    )
    return KitSource(provider, NOTICES, body, lambda row: str(row["at"]))


def _named(rows: list[Row]) -> list[Row]:
    """Return the rows as the source states them: a notice is replaced by no other that is not there yet."""
    there = {row.get("id") for row in rows}
    serials = {row.get("serial") for row in rows}
    return [
        {**row, **({"replaced_by": None} if row.get("replaced_by") not in there else {}),
         **({"lastserial": row.get("serial")} if row.get("lastserial") not in serials else {})}
        for row in rows
    ]  # fmt: skip


LATER = timedelta(days=400)
