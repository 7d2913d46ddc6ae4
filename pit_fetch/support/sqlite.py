"""Write to a SQLite database that other processes write to as well."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit on leaving, or roll back on an exception. Raise sqlite3.Error if SQLite does not take it."""
    try:
        connection.execute("BEGIN IMMEDIATE")  # a lock taken only at the first write may be refused half-way
        yield
        connection.execute("COMMIT")
    finally:
        with contextlib.suppress(sqlite3.Error):
            if connection.in_transaction:
                connection.execute("ROLLBACK")
