"""The position of a record in an answer, and the cursor that resumes a fetch behind it. Pure.

>>> from datetime import UTC, datetime
>>> from pit_fetch.provider import Record
>>> record = Record("AAPL/10-K", datetime(2024, 2, 15, 21, tzinfo=UTC), {"text": "Net sales rose."})
>>> format_cursor(record)
'AAPL%2F10-K@2024-02-15T16:00:00-05:00'
>>> parse_cursor(format_cursor(record)).position == position(record)
True
>>> parse_cursor(format_cursor(record, ChunkStart("text", 9))).within
ChunkStart(field='text', offset=9, checksum='')
>>> parse_cursor("2024-02-15") is None
True
>>> format_cursor(record._replace(at_receipt=True, period="2023-12-31"))
'AAPL%2F10-K@receipt,2023-12-31'
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple

from pit_fetch.pipeline.chunks import ChunkStart
from pit_fetch.provider import Record
from pit_fetch.times import in_new_york, is_aware, parse_pit

# Two ages, of a record (see record_age) and of its period, and an id. Positions compare in the order of an answer.
Position = tuple[float, float, str]

# An id of more bytes than this counts by its first characters and a digest, so that a cursor fits into any answer.
_MAX_ID_BYTES = 256
_ID_BEGINNING = 64

# The stamp in the cursor of a record that is dated on receipt: the next run dates it later.
_RECEIPT = "receipt"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_AGE_AT_RECEIPT = float("-inf")
_AGE_OF_UNDATED = float("inf")
# Before all records.
START: Position = (_AGE_AT_RECEIPT, _AGE_AT_RECEIPT, "")


class Cursor(NamedTuple):
    """The position after which a fetch resumes.

    instant  the UTC instant at that position: everything that follows was available at or before it. None for an
             undated record and for one that is dated on receipt
    within   where the record at that position continues, if only chunks of it have been delivered
    """

    position: Position
    instant: datetime | None
    within: ChunkStart | None = None


def position(record: Record) -> Position:
    """Return the position of a record in an answer: newest first, undated last; of one instant by period, then by id.

    Records that are dated on receipt come before all others. Their position does not rest on the stamp, so that it is
    the same in the next run.
    """
    return record_age(record), *place_among_ties(record)


def place_among_ties(record: Record) -> tuple[float, str]:
    """Return the place of a record among those of its age: by period, then by id."""
    return period_age(record.period), _short(record.id)


def _short(id: str) -> str:  # noqa: A002 - as the envelope calls it
    if len(id) <= _ID_BEGINNING or len(id.encode("utf-8", "surrogatepass")) <= _MAX_ID_BYTES:
        return id
    from hashlib import sha256

    return f"{id[:_ID_BEGINNING]}…{sha256(id.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def record_age(record: Record) -> float:
    """Return the :func:`instant_age` of ``available_at``; minus infinity for a record that is dated on receipt."""
    return _AGE_AT_RECEIPT if record.at_receipt and is_aware(record.available_at) else instant_age(record.available_at)


@lru_cache  # the same quarters end again and again
def period_age(text: str) -> float:
    """Return the seconds from the date in ``text`` to the epoch, so that the newest sorts first; infinity for none."""
    if not text:
        return _AGE_OF_UNDATED
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return _AGE_OF_UNDATED
    # A clock without an offset counts as UTC: among records of one source only their order matters.
    return (_EPOCH - moment.replace(tzinfo=moment.tzinfo or UTC)).total_seconds()


def instant_age(moment: datetime | None) -> float:
    """Return the seconds from ``moment`` to the epoch, so that the newest sorts first; infinity if it is not aware."""
    # A float keeps microseconds distinct until the year 2242.
    return -moment.timestamp() if is_aware(moment) else _AGE_OF_UNDATED


def format_cursor(record: Record, within: ChunkStart | None = None) -> str:
    """Return the ``--after`` value that resumes after ``record``, or ``within`` it. It needs no quotes in a shell."""
    if record_age(record) == _AGE_AT_RECEIPT:
        stamp = _RECEIPT
    else:
        stamp = "" if record.available_at is None else in_new_york(record.available_at)
    stamp += "" if period_age(record.period) == _AGE_OF_UNDATED else f",{_quote(record.period)}"
    start = "" if within is None else f"/{_quote(within.field)}/{within.offset}/{within.checksum}".rstrip("/")
    return f"{_quote(_short(record.id))}@{stamp}{start}"


def parse_cursor(text: str) -> Cursor | None:
    """Return the cursor that an ``--after`` value stands for; None if it is not one."""
    quoted_id, at, rest = text.rpartition("@")
    if not at or not quoted_id:
        return None
    try:
        return _parse(quoted_id, rest)
    except UnicodeDecodeError:  # an escape of no character
        return None


def _parse(quoted_id: str, rest: str) -> Cursor | None:
    dated, *start = rest.split("/")
    stamp, comma, period = dated.partition(",")
    within = None
    if start:
        match = re.fullmatch("([^/]+)/([0-9]{1,12})(?:/([0-9a-f]{8}))?", "/".join(start))
        if match is None:
            return None
        within = ChunkStart(_unquote(match[1]), int(match[2]), match[3] or "")
    place = period_age(_unquote(period)), _unquote(quoted_id)
    if comma and place[0] == _AGE_OF_UNDATED:
        return None
    if stamp == _RECEIPT:
        return Cursor((_AGE_AT_RECEIPT, *place), None, within)
    moment = parse_pit(stamp) if stamp else None
    if stamp and moment is None:
        return None
    return Cursor((instant_age(moment), *place), moment, within)


# urllib.parse is imported when it is needed: most fetches neither read nor write a cursor. Half of a surrogate pair is
# legal in a JSON string, and so in an id.


def _quote(text: str) -> str:
    from urllib.parse import quote

    return quote(text, safe="", errors="surrogatepass")


def _unquote(text: str) -> str:
    from urllib.parse import unquote

    return unquote(text, errors="surrogatepass")
