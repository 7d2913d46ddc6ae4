"""Bring a file of format 1 to this format. Its journal stays; its index is made again as questions need it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from pit_fetch.archive.store import about, index, journal
from pit_fetch.archive.store.journal import Key
from pit_fetch.archive.store.tables import ABOUT, FORMAT


def format_of(connection: sqlite3.Connection) -> int:
    """Return the format of an archive."""
    (number,) = connection.execute("PRAGMA main.user_version").fetchone()
    return int(number)


def fetches_of_1(connection: sqlite3.Connection) -> Iterator[tuple[str, Key]]:
    """Yield the fetches in the index of a file of format 1, each with the name of its stream."""
    rows = connection.execute(
        "SELECT p.name, f.origin, f.fetch FROM main.pools p JOIN "
        "(SELECT pool, origin, fetch FROM main.reads UNION SELECT pool, origin, fetch FROM main.due) f ON f.pool = p.id"
    )
    return ((stream, Key(origin, fetch)) for stream, origin, fetch in rows.fetchall())


def upgrade(connection: sqlite3.Connection) -> None:
    """Upgrade a file of format 1, inside a transaction of the caller."""
    notes, fetches = connection.execute("SELECT name, value FROM about").fetchall(), fetches_of_1(connection)
    connection.execute("DROP TABLE about")
    connection.execute(ABOUT)
    index.create_anew(connection)
    for name, value in notes:
        about.put(connection, name, value)
    journal.note_chains(connection)
    journal.note_depths(connection)
    for stream, key in fetches:
        index.defer(connection, stream, key)
    connection.execute(f"PRAGMA user_version = {FORMAT}")
