"""Instants as whole numbers: microseconds of UTC since 1970. They compare and sort exactly, in SQLite as well. Pure.

>>> from_micros(to_micros(datetime(2024, 2, 15, 21, 0, 0, 123456, tzinfo=UTC))).isoformat()
'2024-02-15T21:00:00.123456+00:00'
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import overload

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

# Before and after every instant that can be written.
NEVER, ALWAYS = -(2**62), 2**62


@overload
def to_micros(moment: datetime) -> int: ...
@overload
def to_micros(moment: datetime | None) -> int | None: ...
def to_micros(moment: datetime | None) -> int | None:
    return None if moment is None else (moment - _EPOCH) // _MICROSECOND


@overload
def from_micros(number: int) -> datetime: ...
@overload
def from_micros(number: int | None) -> datetime | None: ...
def from_micros(number: int | None) -> datetime | None:
    return None if number is None else _instant(number)


def isoformat(number: int | None) -> str | None:
    return None if number is None else _instant(number).isoformat()


@lru_cache(maxsize=512)  # the items of one reply, or of one filing, have the same instants
def _instant(number: int) -> datetime:
    return _EPOCH + number * _MICROSECOND
