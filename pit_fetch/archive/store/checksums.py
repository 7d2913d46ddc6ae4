"""Checksums of the index's rows. SQLite has none, and a changed bit may be an instant.

Each row has one over all of its columns and the name of its stream, so that a row that was moved to another stream is
found out as well. A row is checked before a question is answered, or other rows are written, from it. A column
of a damaged row can hold a value of another type, whose checksum is another one, too. Pure.

>>> checksum = row_checksum(stream_salt("news"), 1, "a")
>>> check(checksum, stream_salt("news"), 1, "a")
>>> check(checksum, stream_salt("bars"), 1, "a")
Traceback (most recent call last):
pit_fetch.archive.store.errors.Damaged: its index is damaged: run pit_fetch archive rebuild
"""

from __future__ import annotations

from typing import Any
from zlib import crc32

from pit_fetch.archive.store.errors import Damaged

DAMAGED_INDEX = "its index is damaged: run pit_fetch archive rebuild"


def stream_salt(stream: str) -> int:
    """Return the number with which the checksums of a stream's rows begin: the ``salt`` of other functions."""
    return crc32(f"{stream}".encode())


def row_checksum(salt: int, *values: Any, payload: str = "") -> int:
    """Return the checksum of a row: its columns, and a long text apart."""
    number = crc32(f"{payload}".encode(), crc32(repr(values).encode(), salt))
    return number - (number >> 31 << 32)  # signed, SQLite stores it in four bytes


def check(checksum: Any, salt: int, *values: Any, payload: str = "") -> None:
    """Raise Damaged if ``checksum`` is not the checksum of the row."""
    if checksum != row_checksum(salt, *values, payload=payload):
        raise Damaged(DAMAGED_INDEX)
