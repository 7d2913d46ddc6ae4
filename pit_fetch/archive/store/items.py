"""The items of a stream by number, what was seen of them, and the forms of their versions.

An item is found by the checksum of its name, which several names may share. The rows of its versions and sights refer
to it by its number, and their checksums include its name: a number that was damaged leads to another item, whose name
does not fit the checksum.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Mapping

from pit_fetch.archive.store.checksums import DAMAGED_INDEX, check, checksum
from pit_fetch.archive.store.errors import Damaged
from pit_fetch.archive.store.rows import Run
from pit_fetch.archive.store.versions import Form

_BY_MARK = "SELECT i.pool, i.name, i.mark, i.id FROM json_each(?) j CROSS JOIN items i ON i.mark = j.value"
_BY_NUMBER = "SELECT i.pool, i.name, i.mark, j.value FROM json_each(?) j LEFT JOIN items i ON i.id = j.value"

_RUNS = (
    "SELECT t.item, t.mark, t.first, t.last, t.before, t.free, t.said, t.position, t.latest FROM json_each(?) j "
    "CROSS JOIN sights t ON t.pool = ? AND t.item = j.value"
)
_LATEST_RUNS = f"{_RUNS} WHERE t.latest != 0"


def item_mark(start: int, stream: int, name: str) -> int:
    """Return the checksum of an item's row, by which it is found. ``start`` is the seed of its stream."""
    return checksum(start, stream, name)


def numbers(connection: sqlite3.Connection, stream: int, start: int, names: Collection[str]) -> dict[str, int]:
    """Return the number of each of these items that the stream has. ``start`` is its seed. Raise Damaged."""
    marks = json.dumps([item_mark(start, stream, name) for name in names])
    rows = connection.execute(_BY_MARK, (marks,)).fetchall()
    known = {name: number for pool, name, mark, number in rows if _is_of(stream, start, pool, name, mark)}
    # Other names of the stream may have the checksum of one that is asked for.
    return {name: known[name] for name in names if name in known}


def names(connection: sqlite3.Connection, stream: int, start: int, numbers: Collection[int]) -> dict[int, str]:
    """Return the names of these items of the stream. Raise Damaged if one of them is not there."""
    found = {}
    for pool, name, mark, number in connection.execute(_BY_NUMBER, (json.dumps([*numbers]),)):
        if not _is_of(stream, start, pool, name, mark):
            raise Damaged(DAMAGED_INDEX)
        found[number] = name
    return found


def runs(
    connection: sqlite3.Connection, stream: int, start: int, named: Mapping[int, str], *, latest: bool = False
) -> dict[str, list[Run]]:
    """Return the runs of these items of the stream, ``named`` by number; with ``latest`` the last ones alone.

    An item of which all are lost is left out. Raise Damaged for one that has changed.
    """
    found: dict[str, list[Run]] = {}
    values = json.dumps([*named]), stream
    for number, mark, *columns in connection.execute(_LATEST_RUNS if latest else _RUNS, values):
        check(mark, start, named[number], *columns)
        found.setdefault(named[number], []).append(Run.stored(*columns))
    return found


def forms(connection: sqlite3.Connection, stream: int) -> dict[int, Form]:
    """Return the forms of the versions of a stream. The checksums of the versions are over them."""
    rows = connection.execute("SELECT id, stamp, names FROM forms WHERE pool = ?", (stream,))
    return {number: Form(stamp, fields) for number, stamp, fields in rows}


def _is_of(stream: int, start: int, pool: int, name: str, mark: int) -> bool:
    """Return whether a row is that of an item of the stream. Raise Damaged if only one half of it says so."""
    is_marked = mark == item_mark(start, stream, name)
    if is_marked != (pool == stream):
        raise Damaged(DAMAGED_INDEX)
    return is_marked
