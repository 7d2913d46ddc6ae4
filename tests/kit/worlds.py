"""Pairs of worlds that serve the same public rows, made from knowledge of the source.

Nothing here asks a provider: what is public is known from :attr:`tests.kit.honest.KitSource.public_from`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from pit_fetch.testing import timestamps
from tests.kit.honest import KitSource, Row

FAR = datetime(2029, 1, 1, tzinfo=UTC)
_TICK = timedelta(microseconds=1)
_MANY, _VERY_MANY, _TEN_THOUSAND = 150, 2_100, 10_100


class Pair(NamedTuple):
    """Two replies, and a PIT at which both serve the same public rows."""

    what: str
    pit: datetime
    first: bytes
    second: bytes


# How the sources write their dates besides ISO 8601, RFC 2822 and Unix time.
_FORMS = ("", "%d/%m/%Y", "%d/%m/%Y %H:%M:%S", "%d-%b-%Y %H:%M:%S", "%a %b %d %H:%M:%S %Y", "%b. %d, %Y, %I:%M %p",
          "%b %d, %Y %I:%M %p", "%Y-%m-%d %H:%M:%S EST", "%y%m%d")  # fmt: skip


def form_of(value: object) -> str | None:
    """Return the form of a stamp, None for what is none."""
    return next((form for form in _FORMS if timestamps.floor(value, form=form) is not None), None)


def pairs(source: KitSource) -> Iterator[Pair]:
    every = sorted({_public(source, row) for row in source.rows})
    middle = every[len(every) // 2 :] + every[: len(every) // 2]
    for what, reply in source.also(middle[0] - _TICK):
        yield Pair(what, middle[0] - _TICK, source.body(source.rows), reply)
    for instant in middle:
        yield from _at(source, instant - _TICK)
    late = [row for row in source.rows if _public(source, row) >= middle[0]]
    crowd = [*_many(late, _VERY_MANY), *source.rows]
    yield Pair("thousands before", middle[0] - _TICK, source.body(source.rows), source.body(crowd))
    yield from _particular(source)
    crowd = [*_many(late, _TEN_THOUSAND), *source.rows]
    yield Pair("ten thousand before", middle[0] - _TICK, source.body(source.rows), source.body(crowd))


def _at(source: KitSource, pit: datetime) -> Iterator[Pair]:
    late = [row for row in source.rows if _public(source, row) > pit]
    public = [row for row in source.rows if _public(source, row) <= pit]
    recorded = source.body(source.rows)
    for world, rows in {
        "left out": _settled(public),
        "at the end": [*public, *late],
        "other texts and figures": [_other(row) if row in late else row for row in source.rows],
        "without values": [_spoilt(row) if row in late else row for row in source.rows],
        "with a further field": [{**row, "extra": "x"} if row in late else row for row in source.rows],
        "many before": [*_many(late), *source.rows],
        "many after": [*source.rows, *_many(late)],
        "many at nothing": [*source.rows, *(_other(row, factor=0) for row in _many(late))],
        "many at a high price": [*source.rows, *(_other(row, factor=1_000) for row in _many(late))],
        "a later twin after": [*source.rows, *_twins(public, late)],
        "a later twin before": [*_twins(public, late), *source.rows],
        "an undated row": [*source.rows, *({**_undated(row), **_renamed(row, "u")} for row in late[:1])],
        "many undated rows": [
            *source.rows,
            *({**_undated(row), **_renamed(row, f"u{n}")} for row in late[:1] for n in range(_MANY)),
        ],
        "bytes that are no UTF-8": [_other(row, "_latin_") if row in late else row for row in source.rows],
        "a later comment": [_commented(row, pit) for row in source.rows],
    }.items():
        if source.rows and (rows or len(source.rows) > 1):
            yield Pair(f"{world}, {pit}", pit, recorded, source.body(rows))


def _particular(source: KitSource) -> Iterator[Pair]:
    row = source.rows[0]
    for field, value in row.items():
        form = form_of(value)
        if form is None or not isinstance(value, str):
            continue
        with contextlib.suppress(ValueError):  # the second of November, read the wrong way round
            swapped = {**row, field: timestamps.format_like(value, datetime(2024, 11, 2, 12), form), **_another(row)}  # noqa: DTZ001
            pit = datetime(2024, 2, 12, 18, 0, tzinfo=UTC)
            yield Pair(
                "a day that could be a month", pit, source.body([swapped, *source.rows]), source.body(source.rows)
            )
        if len(value) == 20 and value.endswith("Z"):  # an hour of summer
            rows = [{**row, field: "2024-07-15T12:00:00Z", "id": 998}, *source.rows]
            pit = datetime(2024, 7, 15, 11, 30, tzinfo=UTC)
            yield Pair("an hour of summer", pit, source.body(rows), source.body(source.rows))
        if timestamps.is_naive(value, form) and not timestamps.is_date(
            value, form
        ):  # between the two readings of an hour that the clock repeats
            rows = [{**row, field: timestamps.format_like(value, datetime(2024, 11, 3, 1, 30), form)}, *source.rows]  # noqa: DTZ001
            pit = datetime(2024, 11, 3, 6, 0, tzinfo=UTC)
            yield Pair("the repeated hour", pit, source.body(rows), source.body(source.rows))
        if len(value) == 20 and value.endswith("Z"):  # the source can state more: another offset, a part of the second
            stated = datetime.fromisoformat(value)
            for what, other, wait in (
                ("another offset", f"{value[:-1]}-10:00", timedelta(minutes=1)),
                ("a part of its second", f"{value[:-1]}.999999Z", timedelta(milliseconds=1)),
            ):
                rows = [{**row, field: other, "id": 999}, *source.rows]
                yield Pair(what, stated + wait, source.body(rows), source.body(source.rows))
        if value.endswith("-05:00"):
            ahead = {**{k: v.replace("2024", "2030") if _is_date(v) else v for k, v in row.items()}, "id": 999}
            yield Pair("a row of the future", FAR, source.body([ahead, *source.rows]), source.body(source.rows))


def _public(source: KitSource, row: Row) -> datetime:
    return datetime.fromisoformat(source.public_from(row)).astimezone(UTC)


def _is_date(value: Any) -> bool:
    return isinstance(value, str) and form_of(value) is not None


def _dates(row: Row) -> Row:
    return {key: value for key, value in row.items() if not isinstance(value, list) and form_of(value) is not None}


def _other(row: Row, mark: str = "zz", factor: float = 7) -> Row:
    """Return the row with other texts and figures."""

    def other(key: str, value: Any) -> Any:
        if isinstance(value, str):
            return value if key in ("kind", "form", "symbol") else f"{value}{mark}"
        return value * factor + (0.5 if factor == 7 else 0) if isinstance(value, (int, float)) else value

    return {**{key: other(key, value) for key, value in row.items()}, **_dates(row)}


def _spoilt(row: Row) -> Row:
    return {**dict.fromkeys(row), **_dates(row), **{key: row[key] for key in ("id", "key") if key in row}}


def _undated(row: Row) -> Row:
    return {**row, **dict.fromkeys(_dates(row))}


def _renamed(row: Row, mark: str) -> Row:
    return {key: f"{row[key]}{mark}" for key in ("id", "key", "guid", "symbol") if key in row}


def _another(row: Row) -> Row:
    """Return another id of the row's own type."""
    return {"id": 997} if isinstance(row.get("id"), int) else _renamed(row, "s")


def _many(rows: list[Row], count: int = _MANY) -> list[Row]:
    return [{**rows[n % len(rows)], **_renamed(rows[n % len(rows)], f"m{n}")} for n in range(count if rows else 0)]


def _twins(public: list[Row], late: list[Row]) -> list[Row]:
    return [{**row, **_dates(late[0]), **_renamed(row, "t")} for row in public if late]


def _commented(row: Row, pit: datetime) -> Row:
    if "comments" not in row:
        return row
    return {**row, "comments": [*row["comments"], {"at": (pit + timedelta(days=1)).isoformat(), "text": "Later"}]}


def _settled(rows: list[Row]) -> list[Row]:
    """Return the remaining rows as the source states them: the last version of each still holds."""
    last: dict[Any, Row] = {}
    for row in sorted(rows, key=lambda row: str(row.get("known"))):
        last[row.get("date")] = row
    return [
        {**row, "valid_to": "9999-12-31"} if "valid_to" in row and last[row["date"]] is row else row for row in rows
    ]
