"""A recorded fetch again, by today's code: with its own replies, at its time, with the archive of its time.

What is then said otherwise is owed to the program, since nothing else is different.
"""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from datetime import datetime
from typing import Any, NamedTuple

from pit_fetch.archive import rederive
from pit_fetch.archive.session import PLAN
from pit_fetch.archive.store import journal, microseconds, schema
from pit_fetch.archive.store.journal import Key
from pit_fetch.archive_admin.replay import Replayed
from pit_fetch.engine.progress import Progress
from pit_fetch.engine.report import FetchResult
from pit_fetch.engine.run import run
from pit_fetch.provider import Provider
from pit_fetch.runtime import Clock, Runtime
from pit_fetch.transport import ReplayingTransport

# Stands in for every credential: what is recorded holds none.
_NO_KEY = "archived"


class Verdict(NamedTuple):
    """Whether today's code says the ``same`` as is recorded (None: that cannot be told), and what is different."""

    same: bool | None
    why: str = ""


def verdict(connection: sqlite3.Connection, key: Key, recorded: Replayed, find: rederive.Find) -> Verdict:
    """Compares the recorded answer of a fetch with today's. Raises ArchiveError if the archive is damaged."""
    said = _envelope(recorded.text)
    if said is None:
        return Verdict(None, "it was not printed as JSON")
    if any("--max-chars" in gap["reason"] for gap in said["gaps"]):
        return Verdict(None, "it was cut to a size, which is not recorded")
    if any(gap["type"] == "upstream_error" for gap in said["gaps"]):
        return Verdict(None, "errors of the network are not recorded")
    archived = rederive.Archived(connection, find, {})
    one = archived.asked(key)
    if one is None:
        return Verdict(None, "its source is not installed, or its request is no longer understood")
    why = ""
    for earlier in _earlier(connection, archived, key, one):
        why = _difference(said, _again(connection, key, one, find, earlier))
        if not why:
            return Verdict(True)
    if journal.deletions(connection):
        return Verdict(None, "what the archive held then may have been deleted since (archive drop)")
    return Verdict(False, why)


def _envelope(text: str) -> dict[str, Any] | None:
    try:
        said = json.loads(text)
    except ValueError:
        return None
    return said if isinstance(said, dict) and set(said) == {"data", "gaps"} else None


def _earlier(
    connection: sqlite3.Connection, archived: rederive.Archived, key: Key, one: rederive.Asked
) -> Iterator[list[Key]]:
    """The fetches of the same pool that the archive may have held then.

    Those of its own origin; and, since another archive may have been merged into it before, those of all.
    """
    found: list[Key] = []
    pool = rederive.pool(one.request.provider, one.query, one.fetch)
    for other in journal.fetches(connection):
        if other == key:
            break
        asked = archived.asked(other)
        if asked is not None and rederive.pool(asked.request.provider, asked.query, asked.fetch) == pool:
            found.append(other)
    own = [other for other in found if other.origin == key.origin]
    yield own
    if len(own) < len(found):
        yield found


def alone(connection: sqlite3.Connection, key: Key, one: rederive.Asked, find: rederive.Find) -> FetchResult:
    """What a fetch says by today's code, on nothing but its own replies."""
    return _again(connection, key, one, find, [])


def _again(
    connection: sqlite3.Connection, key: Key, one: rederive.Asked, find: rederive.Find, earlier: Sequence[Key]
) -> FetchResult:
    exchanges, fetch, provider = list(journal.exchanges_of(connection, key)), one.fetch, one.request.provider
    end = journal.ended(connection, key)
    ended = fetch.began if end is None else max(end.seen, fetch.began)
    is_offline = fetch.kind == "offline"
    with tempfile.TemporaryDirectory(prefix="pit-replay-") as folder:
        held = {}
        if earlier or is_offline:  # an archive that holds nothing changes no answer
            held["PIT_FETCH_ARCHIVE"] = path = os.path.join(folder, "held.db")
            with closing(schema.open_to_write(path)) as copy:
                _fill(copy, connection, earlier, find)
        hosts = {host.url_variable: fetch.hosts[host.name] for host in provider.hosts if host.name in fetch.hosts}
        keys = {credential.variables[0]: _NO_KEY for credential in provider.credentials}
        runtime = Runtime(
            environ={**hosts, **keys, **held, PLAN: fetch.plan},
            folder=folder,
            clock=_between(microseconds.moment(fetch.began), microseconds.moment(ended)),
            transport=ReplayingTransport(rederive.replies(exchanges)),
            find=find,
            read_stdin=lambda seconds: b"",
        )
        request = one.request._replace(provider=_without_keys(provider), offline=is_offline)
        return run(request, runtime, Progress(), [])


def _fill(target: sqlite3.Connection, source: sqlite3.Connection, keys: Sequence[Key], find: rederive.Find) -> None:
    """Copies fetches, without what they printed, and makes an index of them."""
    with schema.transaction(target):
        writer = journal.Writer(target, "")
        for kind, named in (("fetches", "seq"), ("exchanges", "fetch"), ("answers", "fetch")):
            columns = journal.COLUMNS[kind]
            for key in keys:
                query = f"SELECT * FROM {kind} WHERE origin = ? AND {named} = ?"  # noqa: S608 - our names
                for row in source.execute(query, key).fetchall():
                    marks = ", ".join("?" * len(row))
                    target.execute(f"INSERT INTO {kind} VALUES ({marks})", row)  # noqa: S608 - our names
                    for column in journal.BODIES[kind] if kind == "exchanges" else ():
                        digest = row[2 + columns.index(column)]
                        if digest is not None:
                            writer.body(journal.read_body(source, digest), None)
        rederive.Archived(target, find, {}).rebuild()


def _between(began: datetime, ended: datetime) -> Clock:
    """A clock that says when the fetch began, and from then on when it ended."""
    moments = iter([began])
    return Clock(lambda: next(moments, ended), lambda: 0.0, ended.timestamp, lambda seconds: None)


def _without_keys(provider: Provider) -> Provider:
    """The provider, with credentials that are neither checked nor secret, and hosts that may be asked at any rate."""
    return provider._replace(
        credentials=tuple(one._replace(check=None, secret=False) for one in provider.credentials),
        hosts=tuple(rederive.unlimited(host) for host in provider.hosts),
    )


def _difference(said: Mapping[str, Any], again: FetchResult) -> str:
    """What is different, in a few words; "" for nothing."""
    items, gaps = list(again.envelope.data), list(again.envelope.gaps)
    # The time of receipt was a clock's: it is not in the reply.
    by_receipt = {place for place, record in enumerate(again.kept) if record.at_receipt and not record.first_seen_at}
    if len(items) != len(said["data"]):
        return f"{len(items)} items, where {len(said['data'])} are recorded"
    pairs = enumerate(zip(said["data"], items, strict=True))
    different = [
        place for place, (old, new) in pairs if _item(old, place in by_receipt) != _item(new, place in by_receipt)
    ]
    if different:
        return f"{len(different)} of {len(items)} items are different"
    if [_gap(one) for one in said["gaps"]] != [_gap(one) for one in gaps]:
        return "its gaps are different"
    return ""


def _item(item: Mapping[str, Any], by_receipt: bool) -> dict[str, Any]:
    return {name: value for name, value in item.items() if not (by_receipt and name == "available_at")}


def _gap(one: Mapping[str, Any]) -> tuple[str, str]:
    return one["type"], one["reason"]
