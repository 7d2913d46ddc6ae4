"""Instants as whole numbers: microseconds of UTC since 1970. They compare and sort exactly, in SQLite as well."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

# Before and after every instant that can be written.
NEVER, ALWAYS = -(2**62), 2**62


def number(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND


def moment(number: int) -> datetime:
    return _EPOCH + number * _MICROSECOND


def maybe_moment(number: int | None) -> datetime | None:
    return None if number is None else moment(number)


def maybe(moment: datetime | None) -> int | None:
    return None if moment is None else number(moment)
