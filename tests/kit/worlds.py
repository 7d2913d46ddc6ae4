"""Pairs of worlds that serve the same public rows, as whoever knows the source makes them.

Nothing here asks a provider: what is public is told by :attr:`tests.kit.honest.Made.public_from`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from pit_fetch.testing.timestamps import floor
from tests.kit.honest import Made, Row

FAR = datetime(2029, 1, 1, tzinfo=UTC)
_TICK = timedelta(microseconds=1)
_MANY = 150


class Pair(NamedTuple):
    """Two replies, and a PIT at which both serve the same public rows."""

    what: str
    pit: datetime
    one: bytes
    other: bytes


def pairs(made: Made) -> Iterator[Pair]:
    every = sorted({_public(made, row) for row in made.rows})
    middle = every[len(every) // 2 :] + every[: len(every) // 2]
    for moment in middle:
        yield from _at(made, moment - _TICK)
    yield from _particular(made)


def _at(made: Made, pit: datetime) -> Iterator[Pair]:
    late = [row for row in made.rows if _public(made, row) > pit]
    public = [row for row in made.rows if _public(made, row) <= pit]
    one = made.body(made.rows)
    for what, rows in {
        "left out": _settled(public),
        "at the end": [*public, *late],
        "other texts and figures": [_other(row) if row in late else row for row in made.rows],
        "without values": [_spoilt(row) if row in late else row for row in made.rows],
        "with a further field": [{**row, "extra": "x"} if row in late else row for row in made.rows],
        "many before": [*_many(late), *made.rows],
        "many after": [*made.rows, *_many(late)],
        "a later twin after": [*made.rows, *_twins(public, late)],
        "a later twin before": [*_twins(public, late), *made.rows],
        "an undated row": [*made.rows, *({**_undated(row), **_renamed(row, "u")} for row in late[:1])],
        "a later comment": [_commented(row, pit) for row in made.rows],
    }.items():
        if made.rows and (rows or len(made.rows) > 1):
            yield Pair(f"{what}, {pit}", pit, one, made.body(rows))


def _particular(made: Made) -> Iterator[Pair]:
    row = made.rows[0]
    for field, value in row.items():
        if floor(value) is None or not isinstance(value, str):
            continue
        if len(value) == 19:  # between the two readings of an hour that the clock repeats
            rows = [{**row, field: "2024-11-03 01:30:00"}, *made.rows]
            yield Pair(
                "the repeated hour", datetime(2024, 11, 3, 6, 0, tzinfo=UTC), made.body(rows), made.body(made.rows)
            )
        if len(value) == 20 and value.endswith("Z"):  # the source can say more: another offset, a part of the second
            said = datetime.fromisoformat(value)
            for what, other, wait in (
                ("another offset", f"{value[:-1]}-10:00", timedelta(minutes=1)),
                ("a part of its second", f"{value[:-1]}.999999Z", timedelta(milliseconds=1)),
            ):
                rows = [{**row, field: other, "id": 999}, *made.rows]
                yield Pair(what, said + wait, made.body(rows), made.body(made.rows))
        if value.endswith("-05:00"):
            ahead = {**{k: v.replace("2024", "2030") if _is_date(v) else v for k, v in row.items()}, "id": 999}
            yield Pair("a row of the future", FAR, made.body([ahead, *made.rows]), made.body(made.rows))


def _public(made: Made, row: Row) -> datetime:
    return datetime.fromisoformat(made.public_from(row)).astimezone(UTC)


def _is_date(value: Any) -> bool:
    return isinstance(value, str) and floor(value) is not None


def _dates(row: Row) -> Row:
    return {key: value for key, value in row.items() if not isinstance(value, list) and floor(value) is not None}


def _other(row: Row) -> Row:
    def other(key: str, value: Any) -> Any:
        if isinstance(value, str):
            return value if key in ("kind", "form", "symbol") else f"{value}zz"
        return value * 7 + 0.5 if isinstance(value, (int, float)) else value

    return {**{key: other(key, value) for key, value in row.items()}, **_dates(row)}


def _spoilt(row: Row) -> Row:
    return {**dict.fromkeys(row), **_dates(row), **{key: row[key] for key in ("id", "key") if key in row}}


def _undated(row: Row) -> Row:
    return {**row, **dict.fromkeys(_dates(row))}


def _renamed(row: Row, mark: str) -> Row:
    return {key: f"{row[key]}{mark}" for key in ("id", "key", "guid", "symbol") if key in row}


def _many(rows: list[Row]) -> list[Row]:
    return [{**rows[n % len(rows)], **_renamed(rows[n % len(rows)], f"m{n}")} for n in range(_MANY if rows else 0)]


def _twins(public: list[Row], late: list[Row]) -> list[Row]:
    return [{**row, **_dates(late[0]), **_renamed(row, "t")} for row in public if late]


def _commented(row: Row, pit: datetime) -> Row:
    if "comments" not in row:
        return row
    return {**row, "comments": [*row["comments"], {"at": (pit + timedelta(days=1)).isoformat(), "text": "Later"}]}


def _settled(rows: list[Row]) -> list[Row]:
    """What the source says of the remaining rows: the last version of each still holds."""
    last: dict[Any, Row] = {}
    for row in sorted(rows, key=lambda row: str(row.get("known"))):
        last[row.get("date")] = row
    return [
        {**row, "valid_to": "9999-12-31"} if "valid_to" in row and last[row["date"]] is row else row for row in rows
    ]
