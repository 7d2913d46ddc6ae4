"""Print recorded answers again as they were, whatever has changed in the program, the source or the archive."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from pit_fetch.archive.store import journal, microseconds
from pit_fetch.archive.store.errors import ArchiveError
from pit_fetch.archive.store.journal import Fetch, Key

# SQLite takes any number of so many digits, and no chain is as long.
_DIGITS = 18


class Replayed(NamedTuple):
    """A recorded fetch, with the text and exit status of its answer."""

    fetch: Fetch
    text: str
    status: int


def recorded(connection: sqlite3.Connection, key: Key) -> Replayed:
    """Return the answer of a fetch. Raise ArchiveError, with the reason, if there is none."""
    fetch, ended = journal.fetch_of(connection, key), journal.ended(connection, key)
    if fetch is None:
        raise ArchiveError("there is no such fetch in it")
    if ended is None:
        raise ArchiveError("that fetch did not come to its end")
    deleted = journal.withdrawn(connection).get(key)
    if deleted is not None:
        day = microseconds.from_micros(deleted).date().isoformat()
        raise ArchiveError(f"the text of that answer was deleted on {day}: it repeated what archive drop deletes")
    answer = journal.answer_of(connection, key)
    if answer is None:
        raise ArchiveError("that fetch was part of a capture, which prints no answer: ask for it with --offline")
    return Replayed(fetch, answer.decode("utf-8", "surrogatepass"), ended.status)


def last(connection: sqlite3.Connection) -> Key | None:
    """Return the fetch that ended last, of those that printed an answer."""
    row = connection.execute(
        "SELECT origin, fetch FROM answers WHERE answer IS NOT NULL ORDER BY seen DESC, origin, seq DESC LIMIT 1"
    ).fetchone()
    return None if row is None else Key(*row)


def key_of(connection: sqlite3.Connection, text: str) -> Key:
    """Return the fetch that ``text`` names: its id, or "last". Raise ArchiveError for anything else."""
    key = last(connection) if text == "last" else parse_key(text)
    if key is None:
        raise ArchiveError("there is no such fetch in it")
    return key


def parse_key(text: str) -> Key | None:
    """Return the key whose text form is ``text``, or None."""
    origin, _, seq = text.rpartition("-")
    is_number = seq.isascii() and seq.isdigit() and len(seq) <= _DIGITS
    return Key(origin, int(seq)) if origin and is_number else None
