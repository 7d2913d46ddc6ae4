"""Leaks of the archive: of its rules, its index, its recorder, and its deletions."""

from __future__ import annotations

from datetime import timedelta
from itertools import dropwhile
from typing import Any

from pit_fetch.archive import names, rederive
from pit_fetch.archive.archived import ArchivedReplies
from pit_fetch.archive.interpreted import resolve_names
from pit_fetch.archive.store import history, index, journal, microseconds, reading
from pit_fetch.engine.record_filter import up_to
from pit_fetch.gaps import Code, gap
from tests.laws.mutants.leak import Mutant, nothing
from tests.laws.plant import Make


def _by_its_stamp(valid: Any) -> Any:
    at = valid.record.available_at
    return valid if at is None else valid._replace(start=microseconds.to_micros(at))


_DAMAGE = ("archive: damage",)
_WORDS = ("archive: words",)
_READERS = ("archive: readers",)


def _each(change: Any) -> Any:
    """Change each observation, or each piece of evidence, that the function yields. None leaves it out."""
    return lambda real: lambda *args: [changed for changed in map(change, real(*args)) if changed is not None]


def _refuted_stamp_counts(piece: Any) -> Any:
    """A version counts from the earlier of its stamps and its receipt, whatever was observed in between."""
    stamped_at = piece.version and piece.version.stamped_at
    is_refuted = stamped_at is not None and piece.first_seen is not None
    return piece._replace(time=stamped_at, usable_from=stamped_at, first_seen=None) if is_refuted else piece


def _completeness(shows_absence: bool) -> Any:
    """The observations of an item, from fetches that are all complete or all not."""

    def make(real: Any) -> Any:
        return lambda item, fetches, window_covers: real(
            item, [fetch._replace(shows_absence=shows_absence) for fetch in fetches], window_covers
        )

    return make


def _absence_first(real: Any) -> Any:
    def stretches(observed: Any) -> Any:
        every = list(observed)
        gone = {seen for seen, versions, _ in every if not versions}
        return real(current for current in every if not current.versions or current.seen not in gone)

    return stretches


def _first_come(real: Any) -> Any:
    def validities(history: Any) -> Any:
        found = real(history)
        return found[:1] + [validity for validity in found[1:] if None in (validity.version, validity.first_seen)]

    return validities


# Leaks of the index and of the command.


def _as_of_now(real: Any) -> Any:
    return lambda connection, stream, instant, *window: real(connection, stream, microseconds.ALWAYS - 1, *window)


def _counts_from_the_beginning(real: Any) -> Any:
    return lambda *args: real(*args)._replace(counts_from=microseconds.NEVER)


def _added(change: Any) -> Make:
    """A fetch is added to the index as ``change`` makes it and who covers what, given the reads of its stream."""

    def make(real: Any) -> Any:
        def add(connection: Any, fetch: Any, window_covers: Any, standings: Any = None) -> Any:
            seconds = list(index.reads_of(connection, fetch.stream, index.Wanted(fetch.seen, fetch.seen)))
            return real(connection, *change(fetch, window_covers, seconds), standings)

        return add

    return make


def _as_of_the_first_look(real: Any) -> Any:
    def add(connection: Any, fetch: Any, window_covers: Any, standings: Any = None) -> Any:
        looked = real(connection, fetch, window_covers, standings)
        looked.stale.clear()
        return looked

    return add


def _covering_alone(fetch: Any, window_covers: Any, is_due: object = True) -> Any:
    """Of the fetches before this one, none would have contained an item."""
    return fetch, lambda key, records: (key == fetch.key or not is_due) and window_covers(key, records)


def _without_the_instant_before(real: Any) -> Any:
    return lambda run, versions: real(run._replace(before=run.first), versions)


def _with_namesakes(real: Any) -> Any:
    def numbers(connection: Any, stream_id: int, salt: int, names: Any) -> Any:
        known = real(connection, stream_id, salt, names)
        rows = connection.execute("SELECT name, id, checksum FROM items WHERE stream = ?", (stream_id,)).fetchall()
        checksums = {checksum for name, _, checksum in rows if name in known}
        return known | {name: number for name, number, checksum in rows if checksum in checksums}

    return numbers


def _cut_before_computing(real: Any) -> Any:
    def select(wanted: Any, ordered: Any, builder: Any, query: Any = None, stop: Any = None) -> None:
        real(wanted, ordered if stop is None else up_to(ordered, stop), builder, query)

    return select


def _as_of_the_cursor(real: Any) -> Any:
    def select(wanted: Any, ordered: Any, builder: Any, query: Any = None, stop: Any = None) -> None:
        query = query or wanted.query
        real(wanted, ordered, builder, query._replace(now=query.horizon), stop)

    return select


def _by_itself(real: Any) -> Any:
    def derived(recorded: Any, exchanges: Any) -> Any:
        if recorded.is_snapshot or recorded.query.pit is not None:
            return real(recorded, exchanges)
        return rederive.Rederived([*rederive.every_record(recorded, exchanges)], has_every_item=True)

    return derived


def _emptied(real: Any) -> Any:
    def derived(recorded: Any, exchanges: Any) -> Any:
        made = real(recorded, exchanges)
        if recorded.is_snapshot or recorded.query.pit is not None:
            return made
        empty = [one._replace(record=one.record._replace(payload=dict.fromkeys(one.record.payload))) for one in made[0]]
        return made._replace(received=empty)

    return derived


def _live_answer_is_dropped(real: Any) -> Any:
    """Only what the archive holds is an answer, where there is one."""

    def with_live(answer: Any, live: Any) -> Any:
        answer.archive.ingest_if_needed = lambda: True
        return real(answer, live)

    return with_live


def _says_its_origin(real: Any) -> Any:
    """An answer says that it comes from the archive."""
    return lambda *given: real(*given).with_gaps(before=(gap(Code.OFFLINE),))


def _stream_without(**fields: Any) -> Any:
    """The name of a stream, of a fetch without some of its properties."""
    return lambda real: lambda provider, query, fetch: real(provider, query, fetch._replace(**fields))


def _rows_of_every_reply(real: Any) -> Any:
    """A snapshot contains the rows of every reply so far."""

    def reparse(recorded: Any, exchanges: Any, on_error: Any = None) -> Any:
        _EVER.update({record.id: record for record in real(recorded, exchanges)})
        yield from _EVER.values()

    return reparse


def _held_since_the_oldest(real: Any) -> Any:
    """All rows of a snapshot were first held when the first of them was."""

    def first_held(connection: Any, stream: str, rows: Any) -> Any:
        held = real(connection, stream, rows)
        return dict.fromkeys(held, min(held.values(), default=0))

    return first_held


def _of_reach(recorded: Any, reach: str) -> Any:
    """The fetch, whose operation is taken to hold everything if it has this reach."""
    query = recorded.query
    if query.operation.archiving.reach != reach:
        return recorded
    return recorded._replace(
        query=query._replace(
            operation=query.operation._replace(archiving=query.operation.archiving._replace(reach="all"))
        )
    )


def _reaching(reach: str) -> Make:
    return lambda real: lambda key, recorded, *given: real(key, _of_reach(recorded, reach), *given)


# Leaks of what covers a question.


def _empty_is_uncaptured(real: Any) -> Any:
    """A capture counts as one of the question if it brought something, which may have come after the PIT."""

    def captured_until(archived: Any, stream: str, *asked: Any) -> Any:
        is_found = any(read.shows_absence for read in index.reads_of(archived.connection, stream))
        return real(archived, stream, *asked) if is_found else None

    return captured_until


def _holding_only_what_was_whole(real: Any) -> Any:
    """An archive holds something else about a question if another fetch was complete: what came later may be why."""
    return lambda connection, stream: any(read.shows_absence for read in index.reads_of(connection, stream))


def _over_holes(real: Any) -> Any:
    """The last time that requests reach is that up to which they cover everything."""
    return lambda recorded, wanted: max((part.until for part in recorded), default=real([], wanted))


def _with_holes_between_days(real: Any) -> Any:
    return lambda recorded, wanted: real(
        [
            part if part.has_no_beginning else part._replace(since=part.since + timedelta(microseconds=1))
            for part in recorded
        ],
        wanted,
    )


def _for_the_first_alone(real: Any) -> Any:
    def covered_until(requests: Any, question: Any, instant: Any, options: Any) -> Any:
        lists = {option.name for option in options if option.covered_by == "superset"}
        first = {
            name: value[:1] if name in lists and isinstance(value, tuple) else value
            for name, value in question.options.items()
        }
        return real(requests, question._replace(options={**question.options, **first}), instant, options)

    return covered_until


# Leaks of who may only read.


def _shared_for_first(way: reading.Way) -> reading.Way:
    return reading.Way.SHARED if way is reading.Way.FIRST else way


# Leaks of what is deleted.


def _nothing_is_repeated(real: Any) -> Any:
    return lambda connection, gone: set()


def _unless(is_spared: Any) -> Make:
    """What repeats the deleted, but for the answers of which ``is_spared``."""

    def make(real: Any) -> Any:
        def later_answers(connection: Any, gone: Any) -> Any:
            return {key for key in real(connection, gone) if not is_spared(connection, key)}

        return later_answers

    return make


def _is_live(connection: Any, key: Any) -> bool:
    """An answer with a PIT is taken to come from the network alone, like one without."""
    fetch = journal.fetch_of(connection, key)
    return fetch is not None and fetch.kind == "live"


def _redacted_in_plain(real: Any) -> Any:
    def redact(secrets: Any) -> Any:
        def plainly(body: bytes) -> bytes:
            for secret in filter(None, secrets):
                body = body.replace(secret.encode(), b"")
            return body

        return plainly

    return redact


_EVER: dict[str, Any] = {}
_INDEX = ("archive: index",)
_RUNNING = ("archive: running",)
_SNAPSHOTS = ("alphavantage: archive snapshots",)
_POOLS = ("bz-news-api: archive pools",)
_COVERAGE = ("archive: coverage",)
_FILINGS = ("sec_full_text: archive filings",)
_RECORDED_NAMES = ("archive: names recorded",)
_ASKED_NAMES = ("archive: names asked",)
_SILENT = ("bz-news-api: archive silent", "earningscall: archive silent", "sample: archive silent")
_LOOKED_BACK = ("alphavantage: archive looked back",)
_REPLAYED = ("bz-news-api: archive replayed", "sample: archive offline")
_STOPS = ("bz-news-api: archive stops",)
_CAPTURES = ("bz-news-api: archive captures",)
_DROPPED = ("bz-news-api: archive dropped",)
_EXPORTED = ("bz-news-api: archive exported",)
_MERGED = ("bz-news-api: archive dropped and merged",)
_EARLY = ("bz-news-api: archive nothing early", "sample: archive nothing early")

Row = tuple[str, str, Make, tuple[str, ...]]


def _in(module: str, *rows: Row) -> tuple[Mutant, ...]:
    """Return the leaks of a module. A row is a name, the target in the module, the leak, and the laws to ask first."""
    return tuple(Mutant(name, f"{module}:{target}", make, laws) for name, target, make, laws in rows)


MUTANTS = (
    *_in(
        "pit_fetch.archive.store.reading",
        (
            "a reader overlooks what is in the write-ahead log",
            "side_files",
            lambda real: lambda path: reading.SideFiles(None, has_shm=False),
            _READERS,
        ),
        ("an archive that is written to is read on by itself", "Reader.check_unchanged", nothing, _READERS),
        (
            "a reader leaves files that the owner cannot write to",
            "ways",
            lambda real: lambda files, *, may_write, is_brief: real(files, may_write=True, is_brief=is_brief),
            _READERS,
        ),
        (
            "the last reader leaves files",
            "ways",
            lambda real: lambda files, **reader: tuple(_shared_for_first(way) for way in real(files, **reader)),
            _READERS,
        ),
    ),
    *_in(
        "pit_fetch.archive.store.index",
        ("the index answers as of now", "records_as_of", _as_of_now, _INDEX),
        (
            "what is due is never taken up",
            "pending",
            lambda real: lambda connection, stream: [],
            ("bz-news-api: archive offline", "sample: archive offline"),
        ),
        (
            "an archive of fetches that broke off holds nothing",
            "has_fetches",
            _holding_only_what_was_whole,
            _LOOKED_BACK,
        ),
        (
            "the latest snapshot answers for every instant",
            "latest_complete_fetch",
            lambda real: lambda connection, stream, instant: real(connection, stream, microseconds.ALWAYS),
            _SNAPSHOTS,
        ),
        (
            "a row of a snapshot is as old as its reply",
            "first_held",
            lambda real: lambda connection, stream, rows: {},
            _SNAPSHOTS,
        ),
        (
            "all rows of a snapshot are as old as the oldest",
            "first_held",
            _held_since_the_oldest,
            _SNAPSHOTS,
        ),
        (
            "the snapshot of the instant before",
            "latest_complete_fetch",
            lambda real: lambda connection, stream, instant: real(connection, stream, instant - 1),
            _SNAPSHOTS,
        ),
    ),
    *_in(
        "pit_fetch.archive.store.rows",
        (
            "a run that is split ends where it began",
            "StretchRow.observations",
            _without_the_instant_before,
            ("archive: ties", "archive: crowds"),
        ),
    ),
    *_in(
        "pit_fetch.archive.store.items",
        (
            "items with one checksum are all in a fetch of one of them",
            "numbers",
            _with_namesakes,
            ("archive: namesakes",),
        ),
    ),
    *_in(
        "pit_fetch.archive.store.journal",
        (
            "a shared reply counts as received when it is recorded again",
            "Writer.append_exchange",
            lambda real: (
                lambda writer, fetch, exchange: real(
                    writer, fetch, exchange._replace(seen=max(exchange.seen, writer.last_seen()))
                )
            ),
            ("archive: receipts",),
        ),
    ),
    *_in(
        "pit_fetch.archive.store.ingestion",
        (
            "the index keeps no absences",
            "add",
            _added(lambda fetch, window_covers, seconds: (fetch._replace(shows_absence=False), window_covers)),
            _INDEX,
        ),
        (
            "the index does not look back",
            "add",
            _added(lambda fetch, window_covers, seconds: _covering_alone(fetch, window_covers)),
            _INDEX,
        ),
        (
            "a read of the same instant replaces the other",
            "add",
            _added(
                lambda fetch, window_covers, seconds: (fetch._replace(items={}) if seconds else fetch, window_covers)
            ),
            ("archive: ties",),
        ),
        (
            "the index does not look back from the second read of an instant",
            "add",
            _added(lambda fetch, window_covers, seconds: _covering_alone(fetch, window_covers, seconds)),
            ("archive: crowds",),
        ),
        ("what a fetch brought is not missed by the next", "add", _as_of_the_first_look, _INDEX),
        (
            "what lists no values of a field is asked for by none",
            "Standings.having",
            lambda real: (
                lambda standings, narrowed: (
                    {item for item in real(standings, narrowed) if item != "x"}
                    if narrowed
                    else real(standings, narrowed)
                )
            ),
            _INDEX,
        ),
    ),
    *_in(
        "pit_fetch.archive.store.checksums",
        (
            "a reign is served whatever became of it",
            "row_checksum",
            lambda real: lambda start, *values, payload="": 0,
            ("archive: damaged rows", *_DAMAGE),
        ),
        (
            "what is read to add a fetch is believed",
            "check",
            lambda real: lambda checksum, start, *values, payload="": None,
            ("archive: damaged absences", *_DAMAGE),
        ),
        ("a row may be of any stream", "stream_salt", lambda real: lambda stream: 0, _DAMAGE),
    ),
    *_in(
        "pit_fetch.provider",
        (
            "what a fetch chose counts before it",
            "Query.chooses.fget",
            lambda real: lambda query: False,
            ("wikipedia: archive captured", "wayback: archive captured"),
        ),
        (
            "the end of the last day is not recalled",
            "Query.last_stamp.fget",
            lambda real: lambda query: query.horizon,
            ("alphavantage: archive backtested",),
        ),
    ),
    *_in(
        "pit_fetch.archive.interpreted",
        ("hosts are pooled", "stream_of", _stream_without(hosts={}), _POOLS),
        ("plans are pooled", "stream_of", _stream_without(plan=""), _POOLS),
        (
            "what a source said of a past instant it said when it was asked",
            "stream_of",
            _stream_without(pit=None),
            ("fred: archive backtested",),
        ),
        (
            "what a source drops is gone if it is undated",
            "InterpretedFetch.covers",
            lambda real: lambda recorded, records: real(_of_reach(recorded, "newest"), records),
            ("archive: rolled",),
        ),
    ),
    *_in(
        "pit_fetch.archive.rederive",
        ("a snapshot has the rows of every reply", "reparse", _rows_of_every_reply, _SNAPSHOTS),
        ("what was running is kept", "received", lambda real: lambda part, moment: real(part, None), _RUNNING),
    ),
    *_in(
        "pit_fetch.archive.archived",
        ("what was asked after the PIT counts before it", "fetch_to_index", _counts_from_the_beginning, _EARLY),
        ("what a source drops is gone", "fetch_to_index", _reaching("newest"), ("archive: rolled",)),
        ("what a source leaves out by choice is gone", "fetch_to_index", _reaching("some"), ("archive: chosen",)),
        (
            "an empty reply is a snapshot",
            "fetch_to_index",
            lambda real: (
                lambda key, recorded, records, seen, complete, clean: real(
                    key, recorded, records, seen, complete, clean
                )._replace(shows_absence=complete)
            ),
            _SNAPSHOTS,
        ),
        (
            "a capture that was cut is whole",
            "fetch_to_index",
            lambda real: (
                lambda key, recorded, records, seen, complete, clean: real(
                    key, recorded._replace(fetch=recorded.fetch._replace(kind="capture")), records, seen, True, clean
                )
            ),
            (*_CAPTURES, *_EARLY),
        ),
    ),
    *_in(
        "pit_fetch.archive.archived",
        (
            "tickers of a recorded request stand for everything",
            "Archived.resolve_names",
            lambda real: lambda archived, key, recorded: recorded,
            ("sec_full_text: archive wider",),
        ),
        (
            "a symbol of a recorded request stands for itself",
            "Archived.resolve_names",
            lambda real: lambda archived, key, recorded: recorded,
            _RECORDED_NAMES,
        ),
        (
            "a symbol of a recorded request means what the newest list says",
            "Archived.resolve_names",
            lambda real: (
                lambda archived, key, recorded: (
                    resolve_names(recorded, ArchivedReplies(archived, microseconds.ALWAYS)) or recorded
                )
            ),
            _RECORDED_NAMES,
        ),
    ),
    *_in(
        "pit_fetch.archive.store.schema",
        ("the streams of an earlier format are those of today", "FORMAT", lambda real: 4, _RECORDED_NAMES),
    ),
    *_in(
        "pit_fetch.archive.names",
        (
            "tickers of a question stand for everything",
            "meaning",
            lambda real: lambda archived, question, at, own=None: names.Meaning(question),
            _FILINGS,
        ),
        (
            "a ticker that no list has was captured",
            "meaning",
            lambda real: (
                lambda archived, question, at, own=None: (
                    known._replace(has_every_name=True) if (known := real(archived, question, at, own)) else None
                )
            ),
            _FILINGS,
        ),
        (
            "a symbol in a question stands for itself",
            "meaning",
            lambda real: lambda archived, question, at, own=None: names.Meaning(question),
            _ASKED_NAMES,
        ),
        (
            "a symbol means what the newest list says, whatever the PIT",
            "meaning",
            lambda real: lambda archived, question, at, own=None: real(archived, question, microseconds.ALWAYS, own),
            _ASKED_NAMES,
        ),
        (
            "a symbol of today means what a list of before says",
            "meaning",
            lambda real: lambda archived, question, at, own=None: real(archived, question, at),
            ("archive: names live",),
        ),
        (
            "a symbol in a question that was just asked stands for itself",
            "meaning",
            lambda real: (
                lambda archived, question, at, own=None: (
                    real(archived, question, at) if own is None else names.Meaning(question)
                )
            ),
            ("archive: names live",),
        ),
    ),
    *_in(
        "pit_fetch.archive.captures",
        ("what was captured and brought nothing was not captured", "captured_until", _empty_is_uncaptured, _SILENT),
    ),
    *_in(
        "pit_fetch.request.coverage",
        ("a day is followed by a hole", "covered_without_hole", _with_holes_between_days, _COVERAGE),
        ("any request asks for all of a question", "unasked", lambda real: lambda *given: iter(()), _COVERAGE),
        (
            "a part of a list is all of it",
            "asks_no_less",
            lambda real: (
                lambda option, request, question: option.covered_by == "superset" or real(option, request, question)
            ),
            _COVERAGE,
        ),
        ("what lies between two requests was asked for", "covered_without_hole", _over_holes, _COVERAGE),
        (
            "a question for several is one for the first",
            "covered_until",
            _for_the_first_alone,
            _COVERAGE,
        ),
    ),
    *_in(
        "pit_fetch.engine.from_archive",
        (
            "an archive of one read is asked, too",
            "ArchiveAnswer.with_live",
            _live_answer_is_dropped,
            ("sample: archive empty", "alphavantage: archive empty"),
        ),
        ("an answer says where it comes from", "ArchiveAnswer.alone", _says_its_origin, _REPLAYED),
    ),
    *_in(
        "pit_fetch.archive.session",
        (
            "what was asked of a source before was never captured",
            "ArchiveSession.asked_before",
            lambda real: lambda session, at: None,
            _REPLAYED,
        ),
    ),
    *_in(
        "pit_fetch.archive.archived",
        (
            "what needed no request was never captured",
            "Archived.needed_no_request",
            lambda real: lambda archived, fetch: False,
            ("yahoo: archive offline",),
        ),
    ),
    *_in(
        "pit_fetch.engine.record_filter",
        (
            "a limit of the live answer cuts what the archived one is computed from",
            "RecordFilter.select",
            _cut_before_computing,
            ("sec_facts: archive again", "sec_filings: archive again"),
        ),
        (
            "a page begins at the instant that it is asked about",
            "RecordFilter.select",
            _as_of_the_cursor,
            ("sec_full_text: archive paged",),
        ),
    ),
    *_in(
        "pit_fetch.engine.from_archive",
        ("a mixed answer does not stop", "stop_of", lambda real: lambda live: None, _STOPS),
        (
            "a mixed answer goes on for a day",
            "stop_of",
            lambda real: lambda live: None if (found := real(live)) is None else (found[0] + 86_400, *found[1:]),
            _STOPS,
        ),
        (
            "a mixed answer goes on after an error",
            "stop_of",
            lambda real: lambda live: real(live._replace(is_cut=False)),
            _STOPS,
        ),
        (
            "archive: a snapshot comes in the order of its reply",
            "sort_archived",
            lambda real: lambda held, stream: stream if held.is_snapshot else real(held, stream),
            ("yahoo: held", "alphavantage: held"),
        ),
        (
            "archive: records of one instant come by their ids",
            "sort_archived",
            lambda real: lambda held, stream: real(held, stream) if held.is_snapshot else stream,
            ("fred: archive offline", "fred: archive captured"),
        ),
    ),
    *_in(
        "pit_fetch.archive.recorder",
        (
            "keys are recorded",
            "ArchiveRecorder.start",
            lambda real: lambda recorder, secrets: real(recorder, ()),
            ("bz-news-api: archive secrets", "alphavantage: archive secrets"),
        ),
    ),
    *_in(
        "pit_fetch.archive.rederive",
        (
            "what could not be read again was not there",
            "rederive",
            lambda real: lambda recorded, exchanges: real(recorded, exchanges)._replace(has_every_item=True),
            ("sec_filings: archive again", "sec_filings: archive kept"),
        ),
        (
            "what a reply shows by itself is what the fetch had",
            "rederive",
            _by_itself,
            ("earningscall: archive again", "earningscall: archive kept", "earningscall: archive dated"),
        ),
        (
            "a fetch without a PIT has empty fields",
            "rederive",
            _emptied,
            ("alphavantage: archive dated", "sec_facts: archive dated", "bz-news-api: archive dated"),
        ),
        (
            "what was not public yet was not there",
            "received",
            lambda real: lambda part, moment: [received for received in real(part, moment) if received.is_public],
            ("sec_filings: waited",),
        ),
    ),
    *_in(
        "pit_fetch.support.redaction",
        (
            "only what was spelled plainly is a key",
            "body_redactor",
            _redacted_in_plain,
            ("bz-news-api: archive secrets", "alphavantage: archive secrets"),
        ),
    ),
    *_in(
        "pit_fetch.archive.store.history",
        (
            "an item that was seen once counts from its stamp on",
            "sole_validity",
            lambda real: (
                lambda stamped_at, seen, since: (
                    seen if stamped_at is None else stamped_at,
                    real(stamped_at, seen, since)[1],
                )
            ),
            _INDEX,
        ),
        (
            "an undated item that was seen once shows no sight",
            "sole_validity",
            lambda real: lambda stamped_at, seen, since: (real(stamped_at, seen, since)[0], None),
            _INDEX,
        ),
        ("the earlier of stamp and receipt", "proofs", _each(_refuted_stamp_counts), _WORDS),
        (
            "stamps are never believed",
            "proofs",
            _each(lambda piece: None if piece.is_stamp else piece),
            ("archive: honest", *_WORDS),
        ),
        (
            "a running bar is a sight",
            "is_public",
            lambda real: lambda stamped_at, seen: True,
            ("archive: proved", *_WORDS),
        ),
        (
            "what is not public yet takes the place of all before",
            "proofs",
            _each(lambda piece: piece._replace(spares=history.NO_CONTENT)),
            _WORDS,
        ),
        (
            "what is not public yet takes the place of nothing",
            "proofs",
            _each(lambda piece: None if piece.spares else piece),
            ("archive: complete", *_WORDS),
        ),
        (
            "a stamp that was corrected counts on",
            "proofs",
            _each(lambda piece: piece._replace(is_stamp=False)),
            _WORDS,
        ),
        (
            "what was asked for later counts at once",
            "proofs",
            _each(lambda piece: piece._replace(usable_from=piece.time)),
            ("archive: nothing later",),
        ),
        ("the first version stays", "validities", _first_come, ("archive: complete", *_WORDS)),
        (
            "the oldest vintage rules",
            "representative",
            lambda real: lambda versions: min(versions, key=lambda version: version.stamped_at or 0, default=None),
            _WORDS,
        ),
        (
            "the earlier sight wins a tie",
            "proofs",
            _each(lambda piece: piece._replace(seen=-piece.seen)),
            _WORDS,
        ),
        ("of one instant, absence outweighs presence", "stretches", _absence_first, _WORDS),
        (
            "sight is not shown where it was the proof",
            "proofs",
            _each(lambda piece: piece._replace(first_seen=None)),
            ("archive: proved",),
        ),
        (
            "what is back again is as old as its return",
            "proofs",
            _each(lambda piece: piece._replace(first_seen=None if piece.first_seen is None else piece.seen)),
            ("archive: proved",),
        ),
        (
            "runs of different content are one",
            "extend",
            lambda real: (
                lambda run, later: real(
                    run, later._replace(archiving=later.archiving._replace(versions=run.observations[0].versions))
                )
            ),
            ("archive: complete", "archive: compressed"),
        ),
        (
            "a run counts from its last observation",
            "extend",
            lambda real: lambda run, later: (longer := real(run, later)) and longer._replace(observations=(later,)),
            ("archive: compressed", *_WORDS),
        ),
    ),
    *_in(
        "tests.laws.observed",
        (
            "a sight counts before it was had",
            "observations",
            _each(lambda current: current._replace(seen=current.seen - 1)),
            ("archive: proved", *_WORDS),
        ),
        (
            "an absence is not a sight",
            "observations",
            _each(lambda current: current if current.versions else None),
            ("archive: complete",),
        ),
        ("every read is complete", "observations", _completeness(True), _WORDS),
        ("no read is complete", "observations", _completeness(False), ("archive: complete",)),
        (
            "the window is not looked at",
            "observations",
            lambda real: lambda item, fetches, window_covers: real(item, fetches, lambda fetch, versions: True),
            _WORDS,
        ),
        (
            "what was absent before its first sight is not looked at",
            "observations",
            lambda real: (
                lambda item, fetches, window_covers: real(
                    item, [*dropwhile(lambda fetch: item not in fetch.items, fetches)], window_covers
                )
            ),
            ("archive: refuted", *_WORDS),
        ),
        (
            "the answer of the instant after",
            "validity_at",
            lambda real: lambda history, instant: real(history, instant + 1),
            ("archive: nothing later", *_WORDS),
        ),
    ),
    *_in(
        "pit_fetch.request.fetch_request",
        (
            "what was captured counts from its capture on alone",
            "FetchRequest.captures_all.fget",
            lambda real: lambda request: False,
            _CAPTURES,
        ),
    ),
    *_in(
        "pit_fetch.archive_admin.capture.request_list",
        (
            "a capture is asked for without a PIT",
            "plan",
            lambda real: (
                lambda wanted, runtime, now: (made := real(wanted, runtime, now))._replace(
                    request=made.request._replace(pit=None)
                )
            ),
            ("fred: archive captured", "sec_full_text: archive captured"),
        ),
    ),
    *_in(
        "pit_fetch.request.query",
        (
            "an answer as of a PIT tells what is not known today",
            "build_query",
            lambda real: lambda request, started: real(request, started)._replace(capture=True),
            ("alphavantage: failures", "fred: failures"),
        ),
    ),
    *_in(
        "pit_fetch.request.audience",
        (
            "a ceiling does not keep the archive shut",
            "is_bound",
            lambda real: lambda environ: False,
            ("command: archive under a ceiling",),
        ),
    ),
    *_in(
        "pit_fetch.archive.store.index",
        (
            "archive: a superseded version is exported as valid",
            "valid_records",
            _each(lambda valid: valid._replace(stop=None)),
            _EXPORTED,
        ),
        (
            "archive: a version is exported as valid before it was seen",
            "valid_records",
            _each(_by_its_stamp),
            _EXPORTED,
        ),
    ),
    *_in(
        "pit_fetch.archive_admin.maintenance",
        ("archive: later answers keep what was deleted", "later_answers", _nothing_is_repeated, (*_DROPPED, *_MERGED)),
        ("archive: who asked the network repeats nothing deleted", "later_answers", _unless(_is_live), _DROPPED),
    ),
    *_in(
        "pit_fetch.archive.store.journal",
        (
            "archive: an answer that was under way is kept",
            "deletions",
            lambda real: lambda connection: 0,
            ("alphavantage: archive dropped under way",),
        ),
    ),
)
