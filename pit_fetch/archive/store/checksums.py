"""Checksums of the index's rows. SQLite has none, and a changed bit may be an instant.

Each row has one over all of its columns and the name of its stream, so that a row that was moved to another stream is
found out as well. A row is checked before a question is answered, or other rows are written, from it. A column
of a damaged row can hold a value of another type, whose checksum is another one, too. Pure.

>>> mark = checksum(seed("news"), 1, "a")
>>> check(mark, seed("news"), 1, "a")
>>> check(mark, seed("bars"), 1, "a")
Traceback (most recent call last):
pit_fetch.archive.store.errors.Damaged: its index is damaged: run pit_fetch archive rebuild
"""

from __future__ import annotations

from typing import Any
from zlib import crc32

from pit_fetch.archive.store.errors import Damaged

DAMAGED_INDEX = "its index is damaged: run pit_fetch archive rebuild"


def seed(stream: str) -> int:
    """Return the number with which the checksums of a stream's rows begin: the ``stream_seed`` of other functions."""
    return crc32(f"{stream}".encode())


def checksum(stream_seed: int, *values: Any, payload: str = "") -> int:
    """Return the checksum of a row: its columns, and a long text apart."""
    return checksum_of(stream_seed, values, payload)


def checksum_of(stream_seed: int, values: tuple[Any, ...], payload: str = "") -> int:
    """Return the :func:`checksum` of a row's columns as they were read."""
    number = crc32(f"{payload}".encode(), crc32(repr(values).encode(), stream_seed))
    return number - (number >> 31 << 32)  # signed, SQLite stores it in four bytes


def check(mark: Any, stream_seed: int, *values: Any, payload: str = "") -> None:
    """Raise Damaged if ``mark`` is not the checksum of the row."""
    if mark != checksum(stream_seed, *values, payload=payload):
        raise Damaged(DAMAGED_INDEX)
