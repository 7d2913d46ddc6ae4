"""Print recorded answers again as they were, and compare them with what today's code makes of the same replies."""

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
from pit_fetch.archive.archived import Archived
from pit_fetch.archive.interpreted import NO_KEY, Find, InterpretedFetch, without_rate
from pit_fetch.archive.session import PLAN
from pit_fetch.archive.store import journal, microseconds, schema
from pit_fetch.archive.store.errors import ArchiveError
from pit_fetch.archive.store.journal import FetchEntry, Key
from pit_fetch.archive_admin.operators import VARIABLE
from pit_fetch.engine.progress import Progress
from pit_fetch.engine.report import FetchResult
from pit_fetch.engine.run import run
from pit_fetch.provider import Provider
from pit_fetch.runtime import Clock, Runtime
from pit_fetch.transport import ReplayingTransport

# SQLite's integers hold any number with so many digits, and no chain is that long.
_DIGITS = 18
_NO_SUCH_FETCH = "there is no such fetch in it (pit_fetch archive log lists them)"


class RecordedAnswer(NamedTuple):
    """A recorded fetch, with the text and exit status of its answer."""

    fetch: FetchEntry
    text: str
    status: int


def recorded_answer(connection: sqlite3.Connection, key: Key) -> RecordedAnswer:
    """Return the answer of a fetch. Raise ArchiveError, with the reason, if there is none."""
    fetch, ended = journal.fetch_of(connection, key), journal.ended(connection, key)
    if fetch is None:
        raise ArchiveError(_NO_SUCH_FETCH)
    if ended is None:
        raise ArchiveError("that fetch did not come to its end")
    deleted = journal.withdrawn(connection).get(key)
    if deleted is not None:
        day = microseconds.from_micros(deleted).date().isoformat()
        raise ArchiveError(
            f"the text of that answer was deleted on {day}: it may have repeated what archive drop deletes"
        )
    answer = journal.answer_of(connection, key)
    if answer is None:
        raise ArchiveError("that fetch was part of a capture, which prints no answer: ask for it with --offline")
    return RecordedAnswer(fetch, answer.decode("utf-8", "surrogatepass"), ended.status)


def key_of(connection: sqlite3.Connection, text: str) -> Key:
    """Return the fetch that ``text`` names: its id, or "last". Raise ArchiveError for anything else."""
    if text == "last":
        newest = (
            "SELECT origin, fetch FROM answers WHERE answer IS NOT NULL ORDER BY seen DESC, origin, seq DESC LIMIT 1"
        )
        for key in journal.keys(connection, newest):
            return key
        raise ArchiveError("it holds no answer: a capture prints none, and a question with --offline records nothing")
    origin, _, seq = text.rpartition("-")
    if not (origin and seq.isascii() and seq.isdigit() and len(seq) <= _DIGITS):
        raise ArchiveError(_NO_SUCH_FETCH)
    return Key(origin, int(seq))


def compare(connection: sqlite3.Connection, key: Key, replayed: RecordedAnswer, find: Find) -> tuple[bool | None, str]:
    """Return whether today's answer, of the same replies, is the same as the recorded one, and what differs.

    None if that is unknown, and why. Raise ArchiveError.
    """
    answer = _envelope(replayed.text)
    if answer is None:
        return None, "it was not printed as JSON"
    # The budget may have come from the environment, and is in no request.
    if any("--max-chars" in gap["reason"] for gap in answer["gaps"]):
        return None, "it was cut to a size, which is not recorded"
    if any(gap["type"] == "upstream_error" for gap in answer["gaps"]):
        return None, "errors of the network are not recorded"
    archived = Archived(connection, find)
    recorded = archived.interpret(key)
    if recorded is None:
        return None, "its source is not installed, or its request is no longer understood"
    difference = ""
    for earlier in _earlier(archived, key, recorded):
        difference = _difference(answer, run_again(archived, key, recorded, *earlier))
        if not difference:
            return True, ""
    if journal.deletions(connection):
        return None, "what the archive held then may have been deleted since (archive drop)"
    return False, difference


def _envelope(text: str) -> dict[str, Any] | None:
    try:
        answer = json.loads(text)
    except ValueError:
        return None
    return answer if isinstance(answer, dict) and set(answer) == {"data", "gaps"} else None


def _earlier(archived: Archived, key: Key, recorded: InterpretedFetch) -> Iterator[list[Key]]:
    """Yield the earlier fetches of the stream: those of the same origin, then those of all origins.

    Names that no list of its own explains may have stood for anything: all of its source then count.
    The archive may have held the first set or both, depending on when another archive was merged into it.
    """
    earlier: list[Key] = []
    for other in journal.fetches(archived.connection):
        if other == key:  # fetches come in the order in which they ended: what follows was not there yet
            break
        fetch = archived.interpret(other)
        if fetch is None:
            continue
        is_of_source = recorded.is_unresolved and fetch.fetch.source == recorded.fetch.source
        if is_of_source or fetch.stream == recorded.stream:
            earlier.append(other)
    own = [other for other in earlier if other.origin == key.origin]
    yield own
    if len(own) < len(earlier):
        yield earlier


def run_again(archived: Archived, key: Key, recorded: InterpretedFetch, *earlier: Key) -> FetchResult:
    """Run a fetch with today's code, on its own replies, at its time, with an archive of the ``earlier`` fetches."""
    connection, find = archived.connection, archived.find
    exchanges, fetch = list(journal.exchanges_of(connection, key)), recorded.fetch
    provider, is_offline = recorded.request.provider, fetch.kind == "offline"
    end = journal.ended(connection, key)
    ended = fetch.began if end is None else max(end.seen, fetch.began)
    with tempfile.TemporaryDirectory(prefix="pit-replay-") as folder:
        variables = {}
        if earlier or is_offline:  # an empty archive changes no answer
            variables[VARIABLE] = path = os.path.join(folder, "held.db")
            with closing(schema.open_to_write(path)) as copy:
                _fill(copy, connection, earlier, find)
        keys = {credential.variables[0]: NO_KEY for credential in provider.credentials}
        runtime = Runtime(
            environ={**recorded.host_variables, **keys, **variables, PLAN: fetch.plan},
            folder=folder,
            clock=_two_readings(microseconds.from_micros(fetch.began), microseconds.from_micros(ended)),
            transport=ReplayingTransport(rederive.replies(exchanges)),
            find=find,
            read_stdin=lambda seconds: b"",
        )
        request = recorded.request._replace(provider=_strip_keys(provider), offline=is_offline)
        return run(request, runtime, Progress(), [])


def _fill(target: sqlite3.Connection, source: sqlite3.Connection, keys: Sequence[Key], find: Find) -> None:
    """Copy fetches, without what they printed, and index them."""
    with schema.transaction(target):
        for kind, named in (("fetches", "seq"), ("exchanges", "fetch"), ("answers", "fetch")):
            query = f"SELECT origin, seq FROM {kind} WHERE origin = ? AND {named} = ?"
            for key in keys:
                for row in source.execute(query, key).fetchall():
                    journal.copy_row(source, target, kind, Key(*row), keys)
                    journal.copy_links(source, target, Key(*row))
        Archived(target, find).rebuild()


def _two_readings(began: datetime, ended: datetime) -> Clock:
    moments = iter([began])  # the engine reads the clock when it begins and when it ends
    return Clock(lambda: next(moments, ended), lambda: 0.0, ended.timestamp, lambda seconds: None)


def _strip_keys(provider: Provider) -> Provider:
    """Return the provider with credentials that are neither checked nor secret, and hosts without a rate limit."""
    return provider._replace(
        credentials=tuple(key._replace(check=None, secret=False) for key in provider.credentials),
        hosts=tuple(without_rate(host) for host in provider.hosts),
    )


def _difference(answer: Mapping[str, Any], result: FetchResult) -> str:
    recorded, items = answer["data"], list(result.envelope.data)
    # A time of receipt was read from a clock, and the reply does not contain it.
    by_receipt = {place for place, record in enumerate(result.kept) if record.at_receipt and not record.first_seen_at}
    if len(items) != len(recorded):
        return f"{len(items)} items, where {len(recorded)} are recorded"
    different = sum(
        _comparable(old, place in by_receipt) != _comparable(new, place in by_receipt)
        for place, (old, new) in enumerate(zip(recorded, items, strict=True))
    )
    if different:
        return f"{different} of {len(items)} items are different"
    if [(gap["type"], gap["reason"]) for gap in answer["gaps"]] != [
        (gap["type"], gap["reason"]) for gap in result.envelope.gaps
    ]:
        return "its gaps are different"
    return ""


def _comparable(item: Mapping[str, Any], by_receipt: bool) -> dict[str, Any]:
    return {name: value for name, value in item.items() if not (by_receipt and name == "available_at")}
