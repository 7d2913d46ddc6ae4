"""Bring a file of an earlier format to this one. Its journal stays; its index is made again as questions need it."""

from __future__ import annotations

import sqlite3

from pit_fetch.archive.store import about, index, journal
from pit_fetch.archive.store.tables import ABOUT, FORMAT


def format_of(connection: sqlite3.Connection) -> int:
    """Return the format of an archive."""
    (number,) = connection.execute("PRAGMA main.user_version").fetchone()
    return int(number)


def upgrade(connection: sqlite3.Connection) -> None:
    """Upgrade a file of an earlier format, inside a transaction of the caller."""
    if format_of(connection) == 1:
        notes = connection.execute("SELECT name, value FROM about").fetchall()
        connection.execute("DROP TABLE about")
        connection.execute(ABOUT)
        for name, value in notes:
            about.put(connection, name, value)
        journal.note_chains(connection)
        journal.note_depths(connection)
    index.create_anew(connection)
    defer_everything(connection)
    connection.execute(f"PRAGMA user_version = {FORMAT}")


def defer_everything(connection: sqlite3.Connection) -> None:
    """Mark every fetch of every stream as not indexed. The next question indexes them."""
    for key in journal.fetches(connection):
        index.defer(connection, index.UNASSIGNED, key)
