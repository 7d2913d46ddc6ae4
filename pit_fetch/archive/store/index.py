"""The index of an archive: which version of an item is valid when. It is derived from the journal and replaceable.

streams     a stream is the series of fetches that answer one question (source, hosts, plan, operation, and the options
            that affect a record); each row has how many of its fetches are in ``reads``
reads       the fetches of a stream, in the order of their receipt
terms       the values to which fetches narrow what they ask for, such as their tickers
items       the items of a stream, each of which has a number
forms       what many versions have in common: where their instants come from, and the names of their fields
versions    each version of an item, once: its instants, and the values of its fields, packed if they are long
dictionaries  with what the texts of a stream are packed (:mod:`pit_fetch.archive.store.payloads`)
stretches   those of :mod:`pit_fetch.archive.store.history`; ``versions`` lists version ids, empty for an absence;
            ``last`` and ``before`` are microseconds after ``first``, and ``counts_from`` before it
validities  from ``start`` to ``stop`` this version is the answer, at this position of the order
first_held  when each row of a snapshot was first held, by its digest
pending     fetches that are not ingested yet: the next question about their stream ingests them

An answer is one range of ``validities``, read newest first. It costs what it returns, however large the archive is.
:mod:`pit_fetch.archive.store.ingestion` writes the rows, each of which has a checksum.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from pit_fetch.archive.store import items, microseconds
from pit_fetch.archive.store.checksums import DAMAGED_INDEX, check, row_checksum, stream_salt
from pit_fetch.archive.store.errors import BROKEN, Damaged, archive_error
from pit_fetch.archive.store.journal import Key, ending_order
from pit_fetch.archive.store.payloads import Dictionary
from pit_fetch.archive.store.tables import DERIVED, FORMER, INDEX
from pit_fetch.archive.store.versions import Version, shown_record
from pit_fetch.provider import Record

# The stream of fetches in a file of an earlier format, until today's code has interpreted their requests.
UNASSIGNED = ""
# Values of ``complete`` in ``reads``. COMPLETE: what it lacks was absent. INCOMPLETE: it shows no absence. IN_PART: nor
# could all of its items be derived again.
COMPLETE, INCOMPLETE, IN_PART = 1, 0, -1

_STREAM = "(SELECT id FROM streams WHERE name = ?)"
_READS = (
    "SELECT r.checksum, r.seen, r.origin, r.fetch, r.complete, r.since, r.until, r.ended, r.asked_from, r.asked_until, "
    f"r.counts_from, t.text FROM reads r LEFT JOIN terms t ON t.id = r.terms WHERE r.stream = {_STREAM} "
)
_WANTED = (
    "AND r.seen BETWEEN :seen_from AND :seen_until AND r.counts_from <= :instant "
    "AND r.asked_from <= :asked_until AND r.asked_until >= :asked_from "
)
_LAST_FIRST = "ORDER BY r.seen DESC, r.origin DESC, r.fetch DESC"
# A question for more values than that is compared with every request of its time.
_MOST_TERMS = 200
# What a request asks for that excludes some values, and names none.
ANY = "*"
_VALID_THEN = "r.start <= ? AND (r.stop IS NULL OR r.stop > ?)"


class Asked(NamedTuple):
    """What a fetch asked for, as a question looks for it. Instants are in microseconds.

    is_ended        it ran to its end
    since, until    the time of publication that it asked for
    counts_from     the first instant at which a complete answer to it counts
    terms           by the name of an option, the values to which it narrows what is asked for; :data:`ANY` for all but
                    some that it excludes
    """

    is_ended: bool = False
    since: int = microseconds.NEVER
    until: int = microseconds.ALWAYS
    counts_from: int = microseconds.NEVER
    terms: Mapping[str, Collection[str]] = {}

    @property
    def text(self) -> str:
        """The terms as one text, each on a line of its own."""
        return _lines(_term(name, value) for name, values in self.terms.items() for value in sorted(values))


class Wanted(NamedTuple):
    """Which fetches of a stream a question needs: only these are read, and interpreted. Instants are in microseconds.

    seen_from, seen_until    when it was received
    instant                  by when it counts
    asked_from, asked_until  the time of which it asked for a part
    terms                    by the name of an option, the values of which it asked for one, or for all; None: for all
    """

    seen_from: int = microseconds.NEVER
    seen_until: int = microseconds.ALWAYS
    instant: int = microseconds.ALWAYS
    asked_from: int = microseconds.NEVER
    asked_until: int = microseconds.ALWAYS
    terms: Mapping[str, Collection[str] | None] = {}


EVERY = Wanted()


class FetchToIndex(NamedTuple):
    """One fetch as the index sees it: its item versions, and the time window it covered.

    stream          the question it belongs to, as text
    shows_absence   what it lacks, and its window covers, was absent
    counts_from     the first instant at which its stamps count
    since, until    the window of dated items that it covers (None: unbounded)
    items           the versions by item, including those that are not yet public
    rows            the digests of the rows of a snapshot
    has_every_item  every item that the fetch had could be derived again
    asked           what it asked for
    fields          by the name of an option, the field of an item that lists the values that the option asks for
    """

    key: Key
    stream: str
    seen: int
    shows_absence: bool
    counts_from: int
    since: int | None
    until: int | None
    items: Mapping[str, Sequence[Version]]
    rows: Collection[int] = ()
    has_every_item: bool = True
    asked: Asked = Asked()
    fields: Mapping[str, str] = {}

    @property
    def narrowed(self) -> dict[str, Collection[str]]:
        """By the name of a field, the values of which an item has one, if the fetch asks for it."""
        values = {field: self.asked.terms.get(option, (ANY,)) for option, field in self.fields.items()}
        return {field: asked for field, asked in values.items() if ANY not in asked}


def clear(connection: sqlite3.Connection) -> None:
    for table in DERIVED:
        connection.execute(f"DELETE FROM {table}")


def recreate(connection: sqlite3.Connection) -> None:
    """Create the tables of the index, empty, in place of those that are there, however damaged these are."""
    for table in (*DERIVED, *FORMER):
        connection.execute(f"DROP TABLE IF EXISTS {table}")
    for statement in INDEX.split(";"):
        connection.execute(statement)


def stream_id(connection: sqlite3.Connection, stream: str) -> int:
    """Return the id of a stream, which is added if it is new. Raise Damaged."""
    known = known_stream(connection, stream)
    if known is not None:
        return known
    (number,) = connection.execute("SELECT coalesce(max(id), 0) + 1 FROM streams").fetchone()
    _set_reads(connection, stream, number, 0)
    return int(number)


def known_stream(connection: sqlite3.Connection, stream: str) -> int | None:
    """Return the id of a stream; None if the archive holds nothing of it. Raise Damaged."""
    row = connection.execute("SELECT id, reads, checksum FROM streams WHERE name = ?", (stream,)).fetchone()
    if row is not None:
        number, reads, checksum = row
        check(checksum, stream_salt(stream), number, reads)
        return int(number)
    # It may be there under a name that has changed: its history would be forgotten.
    for (name,) in connection.execute("SELECT name FROM streams WHERE salt = ?", (stream_salt(stream),)):
        if stream_salt(name) != stream_salt(stream):
            raise Damaged(DAMAGED_INDEX)
    return None


def streams(connection: sqlite3.Connection) -> list[str]:
    """Return the names of the streams."""
    return [name for (name,) in connection.execute("SELECT name FROM streams WHERE name != ?", (UNASSIGNED,))]


def count_reads(connection: sqlite3.Connection, stream: str, number: int, change: int) -> None:
    """Add ``change`` to the number of fetches that the stream has in ``reads``."""
    (reads,) = connection.execute("SELECT reads FROM streams WHERE id = ?", (number,)).fetchone()
    _set_reads(connection, stream, number, reads + change)


def _set_reads(connection: sqlite3.Connection, stream: str, number: int, reads: int) -> None:
    row = (number, stream, stream_salt(stream), reads, row_checksum(stream_salt(stream), number, reads))
    connection.execute("INSERT OR REPLACE INTO streams VALUES (?, ?, ?, ?, ?)", row)


class FetchRow(NamedTuple):
    """A fetch in ``reads``."""

    seen: int
    key: Key
    shows_absence: bool
    since: int | None = None  # since when it covers dated items, in microseconds; None: it covers all
    has_every_item: bool = True  # every item that the fetch had is in the index
    is_ended: bool = False  # it ran to its end


def reads_of(connection: sqlite3.Connection, stream: str, wanted: Wanted = EVERY) -> Iterator[FetchRow]:
    """Yield the fetches of a stream that are ``wanted``, the last one first.

    Raise Damaged, also if any of the stream is missing.
    """
    number = known_stream(connection, stream)
    if number is None:  # nothing was recorded of it
        return
    # A row that is gone has no checksum that could be wrong: only their number shows it.
    query = "SELECT (SELECT count(*) FROM reads WHERE stream = s.id) = s.reads FROM streams s WHERE s.id = ?"
    if connection.execute(query, (number,)).fetchone() != (1,):
        raise Damaged(DAMAGED_INDEX)
    terms, values = _wanted_terms(wanted.terms)
    query = f"{_READS.replace(_STREAM, ':number')}{_WANTED}{terms}{_LAST_FIRST}"
    given = {**wanted._asdict(), **values, "number": number}
    del given["terms"]
    salt = stream_salt(stream)
    for checksum, *row in connection.execute(query, given):
        check(checksum, salt, *row)
        seen, origin, fetch, complete, since, _, ended, *_ = row
        yield FetchRow(seen, Key(origin, fetch), complete == COMPLETE, since, complete != IN_PART, bool(ended))


def _wanted_terms(terms: Mapping[str, Collection[str] | None]) -> tuple[str, dict[str, str]]:
    """Return the condition on what a fetch asked for in SQL, and its values."""
    conditions, given = [], dict[str, str]()
    if sum(len(values or ()) for values in terms.values()) > _MOST_TERMS:
        return "", {}
    for place, (name, values) in enumerate(terms.items()):
        given[f"name{place}"] = f"\n{name}="
        either = [f"instr(text, :name{place}) = 0"]
        for number, value in enumerate(() if values is None else (*values, ANY)):
            given[f"term{place}_{number}"] = _lines([_term(name, value)])
            either.append(f"instr(text, :term{place}_{number})")
        conditions.append(f"({' OR '.join(either)})")
    if not conditions:
        return "", {}
    return f"AND r.terms IN (SELECT id FROM terms WHERE stream = :number AND {' AND '.join(conditions)}) ", given


def _term(name: str, value: str) -> str:
    return f"{name}={value}".replace("\n", " ")


def _lines(terms: Iterable[str]) -> str:
    return "".join(f"\n{term}\n" for term in terms)


def terms_id(connection: sqlite3.Connection, number: int, asked: Asked) -> int:
    """Return the id of the terms of a fetch in the stream with this number. They are added if they are new."""
    connection.execute("INSERT OR IGNORE INTO terms (stream, text) VALUES (?, ?)", (number, asked.text))
    query = "SELECT id FROM terms WHERE stream = ? AND text = ?"
    (found,) = connection.execute(query, (number, asked.text)).fetchone()
    return int(found)


def defer(connection: sqlite3.Connection, stream: str, key: Key) -> None:
    """Leave a fetch to be ingested by the next question about its stream."""
    row = (stream_id(connection, stream), *key, row_checksum(stream_salt(stream), *key))
    connection.execute("INSERT OR IGNORE INTO pending VALUES (?, ?, ?, ?)", row)


def pending(connection: sqlite3.Connection, stream: str) -> list[Key]:
    """Return the fetches of a stream that are not ingested yet, in the order of :func:`journal.fetches`.

    Raise Damaged.
    """
    rows = connection.execute(
        "SELECT f.checksum, f.origin, f.fetch FROM pending f LEFT JOIN answers a "
        f"ON a.origin = f.origin AND a.fetch = f.fetch WHERE f.stream = {_STREAM} ORDER BY {ending_order('f.fetch')}",
        (stream,),
    ).fetchall()
    for checksum, *key in rows:
        check(checksum, stream_salt(stream), *key)
    return [Key(*key) for _, *key in rows]


def is_behind(connection: sqlite3.Connection, stream: str) -> bool:
    """Return whether the index lacks a fetch of a stream, or may lack one. Raise Damaged."""
    if connection.execute("SELECT 1 FROM pending LIMIT 1").fetchone() is None:  # most often, and found at once
        return False
    return bool(pending(connection, stream) or pending(connection, UNASSIGNED))


def has_ingested(connection: sqlite3.Connection, stream: str, key: Key, since: int) -> bool:
    """Return whether a fetch is in the index, as received at or after ``since``."""
    query = f"SELECT 1 FROM reads WHERE stream = {_STREAM} AND seen >= ? AND origin = ? AND fetch = ?"
    return connection.execute(query, (stream, since, *key)).fetchone() is not None


def defer_all(connection: sqlite3.Connection, stream: str) -> None:
    """Remove all fetches of a stream from the index, and leave them to the next question about it."""
    number = stream_id(connection, stream)
    for read in list(reads_of(connection, stream)):
        defer(connection, stream, read.key)
    connection.execute("DELETE FROM versions WHERE item IN (SELECT id FROM items WHERE stream = ?)", (number,))
    for table in ("reads", "terms", "dictionaries", "forms", "items", "stretches", "validities", "first_held"):
        connection.execute(f"DELETE FROM {table} WHERE stream = ?", (number,))
    _set_reads(connection, stream, number, 0)


def unplaced(connection: sqlite3.Connection, origin: str, seq: int) -> list[Key]:
    """Return the fetches of a chain from a number on that ended, have a reply, and are neither indexed nor pending."""
    query = (
        "SELECT f.origin, f.seq FROM fetches f WHERE f.origin = ? AND f.seq >= ? "
        "AND EXISTS (SELECT 1 FROM answers a WHERE a.origin = f.origin AND a.fetch = f.seq) "
        "AND EXISTS (SELECT 1 FROM exchanges e WHERE e.origin = f.origin AND e.fetch = f.seq) "
        "AND NOT EXISTS (SELECT 1 FROM pending p WHERE p.origin = f.origin AND p.fetch = f.seq) "
        "AND (f.origin, f.seq) NOT IN (SELECT origin, fetch FROM reads)"
    )
    return [Key(*row) for row in connection.execute(query, (origin, seq))]


def mark_ingested(connection: sqlite3.Connection, key: Key) -> None:
    connection.execute("DELETE FROM pending WHERE origin = ? AND fetch = ?", key)


def has_fetches(connection: sqlite3.Connection, stream: str) -> bool:
    """Return whether the stream has a fetch, ingested or pending."""
    query = f"SELECT 1 FROM reads WHERE stream = {_STREAM} UNION ALL SELECT 1 FROM pending WHERE stream = {_STREAM}"
    return connection.execute(query, (stream, stream)).fetchone() is not None


def is_out_of_order(connection: sqlite3.Connection, fetch: FetchToIndex) -> bool:
    """Return whether the index holds a fetch of the same stream that was received after this one."""
    query = f"SELECT max(seen) FROM reads WHERE stream = {_STREAM}"
    (latest_seen,) = connection.execute(query, (fetch.stream,)).fetchone()
    # Such a fetch comes from a merge, or from a rebuild during a fetch.
    return latest_seen is not None and fetch.seen < latest_seen


def last_asked(connection: sqlite3.Connection, stream: str, pit: int, request: str) -> Key | None:
    """Return the last fetch of a stream that asked this request as of its PIT, then past; None without one."""
    query = (
        "SELECT r.origin, r.fetch FROM reads r JOIN fetches f ON f.origin = r.origin AND f.seq = r.fetch "
        f"WHERE r.stream = {_STREAM} AND r.counts_from = ? AND f.kind = 'live' AND f.began > f.pit AND f.request = ? "
        "ORDER BY r.seen DESC, r.origin, r.fetch LIMIT 1"
    )
    row = connection.execute(query, (stream, pit, request)).fetchone()
    return None if row is None else Key(*row)


def latest_complete_fetch(connection: sqlite3.Connection, stream: str, instant: int) -> tuple[Key, int] | None:
    """Return the last complete fetch of the stream received by ``instant``, and when. Raise Damaged."""
    query = f"{_READS} AND r.complete = {COMPLETE} AND r.seen <= ? {_LAST_FIRST} LIMIT 1"
    row = connection.execute(query, (stream, instant)).fetchone()
    if row is None:
        return None
    checksum, seen, origin, fetch, *_ = row
    check(checksum, stream_salt(stream), *row[1:])
    return Key(origin, fetch), seen


def first_held(connection: sqlite3.Connection, stream: str, rows: Collection[int]) -> dict[int, int]:
    """Return when each of these rows of a snapshot was first held, by its digest; nothing of one that is new.

    Raise Damaged.
    """
    salt, held = stream_salt(stream), {}
    for row, first, checksum in connection.execute(
        "SELECT f.row, f.first, f.checksum FROM json_each(?) j "
        f"CROSS JOIN first_held f ON f.stream = {_STREAM} AND f.row = j.value",
        (json.dumps([*rows]), stream),
    ):
        check(checksum, salt, row, first)
        held[row] = first
    if not held.keys() >= {*rows}:
        # A row whose digest has changed would seem to be new under its own.
        for checksum, *row in connection.execute(
            f"SELECT checksum, row, first FROM first_held WHERE stream = {_STREAM}", (stream,)
        ):
            check(checksum, salt, *row)
    return held


def known_by(connection: sqlite3.Connection, stream: str, names: Collection[str], instant: int) -> set[str]:
    """Return which of these items the archive had observed by ``instant``, also as absent, or holds then.

    Raise Damaged.
    """
    number = known_stream(connection, stream)
    if number is None:
        return set()
    salt = stream_salt(stream)
    numbers = items.numbers(connection, number, salt, names)
    named = {item: name for name, item in numbers.items()}
    stretches = items.stretches(connection, number, salt, named)
    if stretches.keys() != numbers.keys():
        raise Damaged(DAMAGED_INDEX)
    known = {name for name, of_item in stretches.items() if any(stretch.first <= instant for stretch in of_item)}
    held = [version for of_item in stretches.values() for stretch in of_item for version in stretch.numbers]
    rows = connection.execute(
        "SELECT v.item FROM json_each(?) j CROSS JOIN versions v ON v.id = j.value "
        "CROSS JOIN validities r ON r.stream = ? AND r.position = v.available AND r.version = v.id "
        f"WHERE {_VALID_THEN}",
        (json.dumps(held), number, instant, instant),
    )
    return known.union(named[item] for (item,) in rows)


def texts_of(connection: sqlite3.Connection, stream: str) -> Callable[[object], str]:
    """Return the function that unpacks the texts of the versions of a stream. It raises Damaged."""

    @cache
    def dictionary() -> Dictionary:
        known = dictionary_of(connection, stream)
        if known is None:
            raise Damaged(DAMAGED_INDEX)
        return known

    return lambda stored: dictionary().unpack(stored) if isinstance(stored, bytes) else f"{stored}"


def dictionary_of(connection: sqlite3.Connection, stream: str) -> Dictionary | None:
    """Return the dictionary of a stream, if it has one. Raise Damaged, or Unreadable without zstandard."""
    query = f"SELECT content, checksum FROM dictionaries WHERE stream = {_STREAM}"
    row = connection.execute(query, (stream,)).fetchone()
    if row is None:
        return None
    content, checksum = row
    check(checksum, stream_salt(stream), content)
    return Dictionary(content)


class ValidRecord(NamedTuple):
    """A version of an item that is the answer from ``start`` until just before ``stop`` (None: for good)."""

    start: int
    stop: int | None
    record: Record


def records_as_of(
    connection: sqlite3.Connection, stream: str, instant: int, newest: int, oldest: int = microseconds.NEVER
) -> Iterator[Record]:
    """Yield the records as of ``instant``, from ``newest`` to ``oldest``, those of one instant in no order.

    Raise ArchiveError for a wrong checksum.
    """
    condition = f"AND r.position BETWEEN ? AND ? AND {_VALID_THEN} ORDER BY r.position DESC"
    valid = _valid_records(connection, stream, condition, (oldest, newest, instant, instant))
    return (record for _, _, record in valid)


def records_between(
    connection: sqlite3.Connection, stream: str, first: int, last: int, oldest: int = microseconds.NEVER
) -> Iterator[ValidRecord]:
    """Yield the versions that are the answer at some instant from ``first`` to ``last``, back to ``oldest``.

    Raise ArchiveError for a wrong checksum.
    """
    condition = f"AND r.position >= ? AND {_VALID_THEN} ORDER BY r.start"
    valid = _valid_records(connection, stream, condition, (oldest, last, first))
    return (ValidRecord(*each) for each in valid)


def valid_records(connection: sqlite3.Connection, stream: str) -> Iterator[ValidRecord]:
    """Yield every version of every item of a stream, once for each time that it is valid, newest items first.

    Raise ArchiveError for a wrong checksum.
    """
    every = _valid_records(connection, stream, "ORDER BY r.position DESC, i.name, r.start", ())
    return (ValidRecord(*valid) for valid in every)


def _valid_records(
    connection: sqlite3.Connection, stream: str, condition: str, parameters: Sequence[int]
) -> Iterator[tuple[int, int | None, Record]]:
    """Yield the fields of a :class:`ValidRecord`: of thousands, most are wanted for the record alone."""
    of_stream, texts = stream_salt(stream), texts_of(connection, stream)
    try:
        for row in connection.execute(
            "SELECT r.checksum, v.payload, r.position, r.start, r.stop, r.first_seen, i.name, v.available, "
            "v.revised, f.stamp, f.names FROM validities r LEFT JOIN versions v ON v.id = r.version "
            "LEFT JOIN items i ON i.id = v.item LEFT JOIN forms f ON f.id = v.form "
            f"WHERE r.stream = {_STREAM} {condition}",
            (stream, *parameters),
        ):
            checksum, packed, _, start, stop, first_seen, name, available, revised, stamp, names = row
            values = packed if isinstance(packed, str) else texts(packed)
            if checksum != row_checksum(of_stream, *row[2:], payload=values):
                raise Damaged(DAMAGED_INDEX)
            yield start, stop, shown_record(name, stamp, first_seen, available, revised, names, values)
    except sqlite3.Error as error:
        raise archive_error(error) from error
    except BROKEN as error:
        raise Damaged(DAMAGED_INDEX) from error
