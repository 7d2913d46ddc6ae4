"""The file: one SQLite database. The journal is kept for good; the index is derived from it and can be made again.

about        the chain that this file appends to, where each chain ends, the runs of captures, and the last reply to
             requests that differ in their times alone: the next one is packed with it
entries      one row for everything that was appended, with the hash of all entries before it
fetches      the requests in their canonical form, with provider, time and PIT
exchanges    the requests to hosts and their replies, without secrets
answers      how a fetch ended and what it printed
drops        the deletions on request, and their times; a deleted row leaves an entry of the kind "dropped"
bodies       every body once, by the hash of its bytes, packed

streams, reads, terms, forms, items, versions, dictionaries, stretches, validities, first_held, pending: see index.py

Format 1 had no checksums in ``about`` and in most of the index, and did not know since when a row was held. Format 2
had other streams. Format 3 had neither ``forms`` nor ``items``, and four times the bytes a version. Format 4 kept what
was asked by a name apart from what was asked by its number. Format 5 did not know what a fetch had contained before it
was public. Format 6 took what could not be read again of a fetch without a PIT for absent. Format 7 took some of it for
absent, and what nothing dates for newer than its date. Format 8 did not note as of when a read counts, nor what it
asked for. Format 9 kept the texts of versions as they were. A file of any of them is upgraded when it is opened to be
written: a copy of it is kept, its journal stays as it is, and its fetches are pending.
"""

from __future__ import annotations

APPLICATION_ID = 0x50495446  # "PITF"
FORMAT = 10

ABOUT = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER NOT NULL) WITHOUT ROWID;
"""
LOG = """
CREATE TABLE entries (
    origin TEXT NOT NULL, seq INTEGER NOT NULL, kind TEXT NOT NULL, link BLOB NOT NULL, PRIMARY KEY (origin, seq)
) WITHOUT ROWID;
CREATE TABLE fetches (
    origin TEXT NOT NULL, seq INTEGER NOT NULL, began INTEGER NOT NULL, kind TEXT NOT NULL, source TEXT NOT NULL,
    version TEXT NOT NULL, plan TEXT NOT NULL, hosts TEXT NOT NULL, request TEXT NOT NULL, pit INTEGER,
    PRIMARY KEY (origin, seq)
) WITHOUT ROWID;
CREATE TABLE exchanges (
    origin TEXT NOT NULL, seq INTEGER NOT NULL, fetch INTEGER NOT NULL, seen INTEGER NOT NULL, method TEXT NOT NULL,
    url TEXT NOT NULL, params TEXT NOT NULL, sent BLOB, status INTEGER NOT NULL, headers TEXT NOT NULL,
    body BLOB NOT NULL, asked BLOB NOT NULL, PRIMARY KEY (origin, seq)
) WITHOUT ROWID;
CREATE INDEX exchanges_by_fetch ON exchanges (origin, fetch, seq);
CREATE INDEX exchanges_by_request ON exchanges (asked, seen);
CREATE INDEX exchanges_by_time ON exchanges (seen);
CREATE TABLE answers (
    origin TEXT NOT NULL, seq INTEGER NOT NULL, fetch INTEGER NOT NULL, seen INTEGER NOT NULL,
    complete INTEGER NOT NULL, status INTEGER NOT NULL, answer BLOB, PRIMARY KEY (origin, seq)
) WITHOUT ROWID;
CREATE INDEX answers_by_fetch ON answers (origin, fetch);
CREATE INDEX answers_by_time ON answers (seen);
CREATE TABLE drops (
    origin TEXT NOT NULL, seq INTEGER NOT NULL, time INTEGER NOT NULL, what TEXT NOT NULL, PRIMARY KEY (origin, seq)
) WITHOUT ROWID;
CREATE TABLE bodies (
    digest BLOB PRIMARY KEY, size INTEGER NOT NULL, coding TEXT NOT NULL, base BLOB, depth INTEGER NOT NULL,
    packed BLOB NOT NULL
);
"""

INDEX = """
CREATE TABLE streams (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, salt INTEGER NOT NULL, reads INTEGER NOT NULL,
    checksum INTEGER NOT NULL
);
CREATE INDEX streams_by_salt ON streams (salt);
CREATE TABLE reads (
    stream INTEGER NOT NULL, seen INTEGER NOT NULL, origin TEXT NOT NULL, fetch INTEGER NOT NULL,
    complete INTEGER NOT NULL, since INTEGER, until INTEGER, ended INTEGER NOT NULL, asked_from INTEGER NOT NULL,
    asked_until INTEGER NOT NULL, counts_from INTEGER NOT NULL, terms INTEGER NOT NULL, checksum INTEGER NOT NULL,
    PRIMARY KEY (stream, seen, origin, fetch)
) WITHOUT ROWID;
CREATE TABLE terms (id INTEGER PRIMARY KEY, stream INTEGER NOT NULL, text TEXT NOT NULL, UNIQUE (stream, text));
CREATE TABLE forms (
    id INTEGER PRIMARY KEY, stream INTEGER NOT NULL, stamp TEXT NOT NULL, names TEXT NOT NULL,
    UNIQUE (stream, stamp, names)
);
CREATE TABLE items (id INTEGER PRIMARY KEY, stream INTEGER NOT NULL, name TEXT NOT NULL, checksum INTEGER NOT NULL);
CREATE INDEX items_by_checksum ON items (checksum);
CREATE TABLE versions (
    id INTEGER PRIMARY KEY, item INTEGER NOT NULL, form INTEGER NOT NULL, content BLOB, available INTEGER,
    revised INTEGER, payload NOT NULL, checksum INTEGER NOT NULL
);
CREATE TABLE dictionaries (stream INTEGER PRIMARY KEY, content BLOB NOT NULL, checksum INTEGER NOT NULL);
CREATE TABLE stretches (
    stream INTEGER NOT NULL, item INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
    before INTEGER NOT NULL, counts_from INTEGER NOT NULL, versions TEXT NOT NULL, cover_from INTEGER,
    latest INTEGER NOT NULL, checksum INTEGER NOT NULL, PRIMARY KEY (stream, item, first, versions)
) WITHOUT ROWID;
CREATE INDEX stretches_apart ON stretches (stream, cover_from) WHERE cover_from IS NOT NULL;
CREATE TABLE validities (
    stream INTEGER NOT NULL, position INTEGER NOT NULL, version INTEGER NOT NULL, start INTEGER NOT NULL, stop INTEGER,
    first_seen INTEGER, checksum INTEGER NOT NULL, PRIMARY KEY (stream, position DESC, version, start)
) WITHOUT ROWID;
CREATE TABLE first_held (
    stream INTEGER NOT NULL, row INTEGER NOT NULL, first INTEGER NOT NULL, checksum INTEGER NOT NULL,
    PRIMARY KEY (stream, row)
) WITHOUT ROWID;
CREATE TABLE pending (
    stream INTEGER NOT NULL, origin TEXT NOT NULL, fetch INTEGER NOT NULL, checksum INTEGER NOT NULL,
    PRIMARY KEY (origin, fetch)
) WITHOUT ROWID;
CREATE INDEX pending_by_stream ON pending (stream);
"""
DERIVED = (
    "streams",
    "reads",
    "versions",
    "stretches",
    "validities",
    "first_held",
    "pending",
    "forms",
    "items",
    "terms",
    "dictionaries",
)
# What formats 1 to 8 called some of them.
FORMER = ("runs", "pools", "sights", "reigns", "firsts", "due")
SCHEMA = ABOUT + LOG + INDEX
