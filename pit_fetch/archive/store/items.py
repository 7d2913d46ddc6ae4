"""The items of a stream by number, what was seen of them, and the forms of their versions.

An item is found by the checksum of its name, which several names may share. The rows of its versions and stretches
refer to it by its number, and their checksums include its name: a number that was damaged leads to another item, whose
name does not fit the checksum.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Mapping

from pit_fetch.archive.store.checksums import DAMAGED_INDEX, check, row_checksum
from pit_fetch.archive.store.errors import Damaged
from pit_fetch.archive.store.rows import StretchRow
from pit_fetch.archive.store.versions import Form

_BY_MARK = "SELECT i.stream, i.name, i.checksum, i.id FROM json_each(?) j CROSS JOIN items i ON i.checksum = j.value"
_BY_NUMBER = "SELECT i.stream, i.name, i.checksum, j.value FROM json_each(?) j LEFT JOIN items i ON i.id = j.value"

_STRETCHES = (
    "SELECT t.item, t.checksum, t.first, t.last, t.before, t.counts_from, t.versions, t.cover_from, t.latest "
    "FROM json_each(?) j CROSS JOIN stretches t ON t.stream = ? AND t.item = j.value"
)
_LATEST_STRETCHES = f"{_STRETCHES} WHERE t.latest != 0"


def item_checksum(salt: int, stream_id: int, name: str) -> int:
    """Return the checksum of an item's row, by which it is found."""
    return row_checksum(salt, stream_id, name)


def numbers(connection: sqlite3.Connection, stream_id: int, salt: int, names: Collection[str]) -> dict[str, int]:
    """Return the number of each of these items that the stream has. Raise Damaged."""
    # One parameter, however many names: SQLite allows 32,766 of them.
    marks = json.dumps([item_checksum(salt, stream_id, name) for name in names])
    rows = connection.execute(_BY_MARK, (marks,)).fetchall()
    known = {name: number for owner, name, checksum, number in rows if _belongs(stream_id, salt, owner, name, checksum)}
    # Other names of the stream may have the checksum of one that is asked for.
    return {name: known[name] for name in names if name in known}


def names(connection: sqlite3.Connection, stream_id: int, salt: int, numbers: Collection[int]) -> dict[int, str]:
    """Return the names of these items of the stream. Raise Damaged if one of them is not there."""
    found = {}
    for owner, name, checksum, number in connection.execute(_BY_NUMBER, (json.dumps([*numbers]),)):
        if not _belongs(stream_id, salt, owner, name, checksum):
            raise Damaged(DAMAGED_INDEX)
        found[number] = name
    return found


def stretches(
    connection: sqlite3.Connection,
    stream_id: int,
    salt: int,
    named: Mapping[int, str],
    *,
    latest: bool = False,
) -> dict[str, list[StretchRow]]:
    """Return the stretches of these items of the stream, ``named`` by number; with ``latest`` the last ones alone.

    An item of which all are lost is left out. Raise Damaged for one that has changed.
    """
    found: dict[str, list[StretchRow]] = {}
    values = json.dumps([*named]), stream_id
    for number, checksum, *columns in connection.execute(_LATEST_STRETCHES if latest else _STRETCHES, values):
        check(checksum, salt, named[number], *columns)
        found.setdefault(named[number], []).append(StretchRow.stored(*columns))
    return found


def forms(connection: sqlite3.Connection, stream_id: int) -> dict[int, Form]:
    """Return the forms of the versions of a stream. The checksums of the versions are over them."""
    rows = connection.execute("SELECT id, stamp, names FROM forms WHERE stream = ?", (stream_id,))
    return {number: Form(stamp, fields) for number, stamp, fields in rows}


def _belongs(stream_id: int, salt: int, owner: int, name: str, checksum: int) -> bool:
    """Return whether a row, which is of the stream ``owner``, is that of an item of this stream.

    Raise Damaged if only one half of it says so.
    """
    is_marked = checksum == item_checksum(salt, stream_id, name)
    if is_marked != (owner == stream_id):
        raise Damaged(DAMAGED_INDEX)
    return is_marked
