"""What an archive notes about itself, as texts by name: its chain, where each chain ends, the runs of captures."""

from __future__ import annotations

import sqlite3

from pit_fetch.archive.store.checksums import row_checksum, stream_salt
from pit_fetch.archive.store.errors import damaged


def get(connection: sqlite3.Connection, name: str) -> str | None:
    """Return the text under ``name``, or None. Raise Damaged."""
    for found, value, *checksum in connection.execute("SELECT * FROM about WHERE name = ?", (name,)):
        if not is_sound(found, value, *checksum):
            raise damaged("a note about it has changed")
        return str(value)
    return None


def sound(connection: sqlite3.Connection) -> dict[str, str]:
    """Return every text by name, without those that were altered."""
    rows = connection.execute("SELECT * FROM about").fetchall()
    return {name: value for name, value, *checksum in rows if is_sound(name, value, *checksum)}


def put(connection: sqlite3.Connection, name: str, value: str) -> None:
    connection.execute("INSERT OR REPLACE INTO about VALUES (?, ?, ?)", (name, value, _checksum(name, value)))


def is_sound(name: str, value: str, checksum: object = None) -> bool:
    """Return whether a text is as it was put."""
    return checksum is None or checksum == _checksum(name, value)  # format 1 has no checksums


def _checksum(name: str, value: str) -> int:
    """Return the checksum of a text, without a sign as in every format: a file of an earlier one keeps its notes."""
    return row_checksum(stream_salt(name), value) % 2**32
