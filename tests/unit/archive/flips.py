"""A small archive with something in every table, and every way in which one bit of it can change."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from tests.providers.bz_news_api import server as benzinga
from tests.unit.archive.scene import Archive, articles, at, estimates

NEWS = "bz-news-api --lookback-minutes 100000"
ESTIMATES = "alphavantage EARNINGS_ESTIMATES symbol=IBM"


def sample(folder: Path) -> Archive:
    """Return an archive of edits, deletions, snapshots, a capture, answers, a drop; one fetch is pending."""
    archive = Archive(folder)

    def news(*rows: tuple[int, str]) -> None:
        # Of the third, enough words for a dictionary.
        long = " ".join(f"{number} words" for number in range(700))
        archive.app = articles(
            *(
                benzinga.article(n, at(f"2026-06-01 14:{n}0"), title=title, body=long if n == 3 else f"<p>{n}</p>")
                for n, title in rows
            )
        )

    news((1, "dropped later"))
    archive.fetch(NEWS, "2026-05-30 15:00")
    archive.remembered(NEWS, "2026-05-30 16:00", pit="2026-05-30 15:30")
    news((1, "first"), (2, "stays"), (3, "goes"))
    archive.fetch(NEWS, "2026-06-01 15:00")
    news((1, "edited without a mark"), (2, "stays"))
    (folder / "list.toml").write_text("[[request]]\nsource = 'benzinga'\nlookback_minutes = 100000\n")
    archive.command("capture list.toml", "2026-06-03 15:00")
    archive.app = estimates(("2026-06-30", "2.50"), ("2026-09-30", "2.80"))
    archive.fetch(ESTIMATES, "2026-06-03 16:00")
    archive.app = estimates(("2026-06-30", "2.50"), ("2026-09-30", "2.95"))
    archive.fetch(ESTIMATES, "2026-06-05 15:00")
    archive.remembered(ESTIMATES, "2026-06-06 15:00", pit="2026-06-04 15:00")
    archive.command("archive drop --source benzinga --before 2026-05-31", "2026-06-07 12:00")
    archive.remembered(NEWS, "2026-06-08 15:00", pit="2026-06-04 15:00")
    archive.remembered(ESTIMATES, "2026-06-08 15:00", pit="2026-06-06 15:00")
    news((1, "first"), (2, "stays"))
    archive.fetch(NEWS, "2026-06-09 15:00")
    return archive


def bytes_of(archive: Archive) -> bytes:
    """Return the file, with everything in it, as a database that can be opened from memory."""
    with closing(archive.open()) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    whole = bytearray(archive.path.read_bytes())
    whole[18:20] = b"\x01\x01"  # without a write-ahead log
    return bytes(whole)


def opened(whole: bytes) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.deserialize(whole)
    return connection


class Flip(NamedTuple):
    """One changed bit of a value."""

    table: str
    column: str
    row: int
    bit: int


def bits(value: Any) -> int:
    """Return how many bits a value has; NULL has none."""
    return 64 if isinstance(value, int) else 8 * len(_raw(value))


def columns(connection: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    tables = "SELECT name FROM main.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name"
    for (table,) in connection.execute(tables).fetchall():
        for _, column, *_ in connection.execute(f"PRAGMA main.table_info({table})").fetchall():
            yield table, column


def values(connection: sqlite3.Connection, table: str, column: str) -> list[Any]:
    listed = ", ".join(key(connection, table))
    return [value for (value,) in connection.execute(f"SELECT {column} FROM main.{table} ORDER BY {listed}")]


def change(connection: sqlite3.Connection, flip: Flip) -> bool:
    """Change the bit. Return False if the table does not take it."""
    table, column, row, bit = flip
    names = key(connection, table)
    listed = ", ".join(names)
    place = connection.execute(f"SELECT {listed} FROM main.{table} ORDER BY {listed} LIMIT 1 OFFSET {row}").fetchone()
    which = " AND ".join(f"{name} IS ?" for name in names)
    value = values(connection, table, column)[row]
    if isinstance(value, int):
        number = (value & (1 << 64) - 1) ^ (1 << bit)
        changed: Any = number - (1 << 64) if number >> 63 else number
    else:
        raw = bytearray(_raw(value))
        raw[bit // 8] ^= 1 << bit % 8
        changed = bytes(raw)
    kind = {int: "INTEGER", str: "TEXT", bytes: "BLOB"}.get(type(value), "BLOB")
    try:
        connection.execute(f"UPDATE main.{table} SET {column} = CAST(? AS {kind}) WHERE {which}", (changed, *place))
    except sqlite3.Error:
        return False
    return True


def key(connection: sqlite3.Connection, table: str) -> list[str]:
    """Return the columns of the key of a table."""
    info = connection.execute(f"PRAGMA main.table_info({table})").fetchall()
    return [name for _, name, *_, place in sorted(info, key=lambda row: row[-1]) if place]


def _raw(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str("" if value is None else value).encode()
