"""What the maintenance of an archive reports while it runs."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

# Is called with how much is done, and of how much.
OnProgress = Callable[[int, int], None]
OnDone = Callable[[int], None]


def silently(done: int, whole: int) -> None:
    """Report nothing."""


def count(connection: sqlite3.Connection, table: str) -> int:
    """Return the number of rows of a table."""
    (number,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    return int(number)
