"""Leaks of the archive: of its rules, its index, its recorder, and its deletions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import dropwhile
from typing import Any

from pit_fetch.archive import names, rederive
from pit_fetch.archive.archived import ArchivedReplies
from pit_fetch.archive.interpreted import resolve_names
from pit_fetch.archive.store import history, index, journal, microseconds, reading
from pit_fetch.archive_admin import maintenance
from pit_fetch.engine.record_filter import up_to
from tests.laws.mutants.leak import Mutant, nothing
from tests.laws.plant import Make


def _by_its_stamp(real: Any) -> Any:
    return lambda valid: valid.record.available_at


def _any_names(real: Any) -> Any:
    return lambda asked: dict.fromkeys(real(asked), frozenset())


_DAMAGE = ("archive: damage",)
_WORDS = ("archive: words",)
_READERS = ("archive: readers",)


def _each(change: Any) -> Any:
    """Change each observation, or each piece of evidence, that the function yields. None leaves it out."""
    return lambda real: lambda *args: [changed for changed in map(change, real(*args)) if changed is not None]


def _only_of_what_waits(real: Any) -> Any:
    return lambda current, latest: history.NO_CONTENT if latest else real(current, latest)


def _plain_minimum(real: Any) -> Any:
    """A version counts from the earlier of its stamps and its receipt, whatever was observed in between."""
    return lambda version, earlier, first: version.stamped_at is not None


def _contradicted_by_presence_alone(real: Any) -> Any:
    return lambda versions, version: bool(versions) and real(versions, version)


def _at_the_stamp_is_not_looked_at(real: Any) -> Any:
    def is_believed(version: Any, earlier: Sequence[history.ObservationRun], first: int) -> bool:
        return bool(real(version, [run for run in earlier if run.last != version.stamped_at], first))

    return is_believed


def _stamps_are_content(real: Any) -> Any:
    return lambda versions, version: version not in versions


def _completeness(shows_absence: bool) -> Any:
    """The observations of an item, from fetches that are all complete or all not."""

    def make(real: Any) -> Any:
        return lambda item, fetches, window_covers: real(
            item, [fetch._replace(shows_absence=shows_absence) for fetch in fetches], window_covers
        )

    return make


def _absence_first(real: Any) -> Any:
    def runs(observed: Any) -> Any:
        every = list(observed)
        gone = {seen for seen, versions, _ in every if not versions}
        return real(current for current in every if not current.versions or current.seen not in gone)

    return runs


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


def _second_is_ignored(real: Any) -> Any:
    def observe_item(ingestion: Any, item: str, versions: Any, runs: Any, stored: Any) -> None:
        if all(run.last != ingestion.fetch.seen for run in runs):
            real(ingestion, item, versions, runs, stored)

    return observe_item


def _second_does_not_look_back(real: Any) -> Any:
    def absence_before(ingestion: Any, item: str, observed: Any) -> Any:
        is_second = any(current.seen == ingestion.fetch.seen for current in observed)
        return None if is_second else real(ingestion, item, observed)

    return absence_before


def _without_the_instant_before(real: Any) -> Any:
    return lambda run, versions: real(run._replace(before=run.first), versions)


def _with_namesakes(real: Any) -> Any:
    def numbers(connection: Any, stream_id: int, stream_seed: int, names: Any) -> Any:
        known = real(connection, stream_id, stream_seed, names)
        rows = connection.execute("SELECT name, id, mark FROM items WHERE stream = ?", (stream_id,)).fetchall()
        marks = {mark for name, _, mark in rows if name in known}
        return known | {name: number for name, number, mark in rows if mark in marks}

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
    if query.operation.reach != reach:
        return recorded
    return recorded._replace(query=query._replace(operation=query.operation._replace(reach="all")))


def _reaching(reach: str) -> Make:
    return lambda real: lambda key, recorded, *given: real(key, _of_reach(recorded, reach), *given)


# Leaks of what covers a question.


def _empty_is_uncaptured(real: Any) -> Any:
    """A capture counts as one of the question if it brought something, which may have come after the PIT."""

    def requests(archived: Any, stream: str, *asked: Any) -> Any:
        if any(read.shows_absence for read in index.reads_of(archived.connection, stream)):
            yield from real(archived, stream, *asked)

    return requests


def _holding_only_what_was_whole(real: Any) -> Any:
    """An archive holds something else about a question if another fetch was complete: what came later may be why."""
    return lambda connection, stream: any(read.shows_absence for read in index.reads_of(connection, stream))


def _over_holes(real: Any) -> Any:
    """The last time that requests reach is that up to which they cover everything."""
    return lambda recorded, wanted: max((part.until for part in recorded), default=real([], wanted))


# Leaks of who may only read.


def _shared_for_first(way: reading.Way) -> reading.Way:
    return reading.Way.SHARED if way is reading.Way.FIRST else way


# Leaks of what is deleted.


def _nothing_is_repeated(real: Any) -> Any:
    return lambda connection, gone, find, on_progress=None: set()


def _only_without_a_pit(real: Any) -> Any:
    """An answer with a PIT is taken to come from the network alone, like one without."""

    def needed(archived: Any, key: Any, deleted: Any) -> Any:
        fetch = journal.fetch_of(archived.connection, key)
        return [] if fetch is not None and fetch.kind == "live" else real(archived, key, deleted)

    return needed


def _without_items(real: Any) -> Any:
    """The streams of the deleted fetches are known, but none of their items."""
    return lambda archived, gone: (deleted := real(archived, gone))._replace(ids={name: set() for name in deleted.ids})


def _needed(change: Any) -> Any:
    """Change the items that an answer needs. An answer that cannot be read needs none."""

    def make(real: Any) -> Any:
        def needed(archived: Any, key: Any, deleted: Any) -> Any:
            try:
                return change(real(archived, key, deleted))
            except Exception:  # noqa: BLE001 - that is the leak
                return []

        return needed

    return make


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
            "latest",
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
            "a row of a snapshot that has changed is another one",
            "_check_firsts",
            nothing,
            ("archive: damaged rows",),
        ),
        (
            "all rows of a snapshot are as old as the oldest",
            "first_held",
            _held_since_the_oldest,
            _SNAPSHOTS,
        ),
        (
            "the snapshot of the instant before",
            "latest",
            lambda real: lambda connection, stream, instant: real(connection, stream, instant - 1),
            _SNAPSHOTS,
        ),
    ),
    *_in(
        "pit_fetch.archive.store.rows",
        (
            "a run that is split ends where it began",
            "RunRow.observations",
            _without_the_instant_before,
            ("archive: ties", "archive: crowds"),
        ),
        (
            "an item without a date is looked for where it was first seen",
            "_cover_from",
            lambda real: lambda observation, versions, is_sole: None,
            _INDEX,
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
        (
            "a name that has changed is another item",
            "_belongs",
            lambda real: lambda stream_id, stream_seed, owner, name, mark: owner == stream_id,
            _DAMAGE,
        ),
    ),
    *_in(
        "pit_fetch.archive.store.ingestion",
        ("the index keeps no absences", "_Ingestion.add_absences", lambda real: lambda ingestion: None, _INDEX),
        (
            "the index does not look back",
            "_Ingestion._absence_before",
            lambda real: lambda ingestion, item, observed: None,
            _INDEX,
        ),
        (
            "a read of the same instant replaces the other",
            "_Ingestion._observe_item",
            _second_is_ignored,
            ("archive: ties",),
        ),
        (
            "the index does not look back from the second read of an instant",
            "_Ingestion._absence_before",
            _second_does_not_look_back,
            ("archive: crowds",),
        ),
        (
            "an item whose past was lost is new",
            "_Ingestion._check_new",
            lambda real: lambda ingestion, items: None,
            _DAMAGE,
        ),
        (
            "an item that is there was never seen",
            "_Ingestion._check_seen",
            lambda real: lambda ingestion, there, latest: None,
            ("archive: damaged absences",),
        ),
        (
            "an item may have lost a part of its past",
            "_Ingestion._check_whole",
            lambda real: lambda ingestion, runs, stored: None,
            _DAMAGE,
        ),
        (
            "the index goes on where a bar has ended",
            "_were_public",
            lambda real: lambda versions, seen: True,
            _INDEX,
        ),
        (
            "what lacked an item counts for nothing once it was seen before it was public",
            "_Ingestion._absence_before",
            lambda real: (
                lambda ingestion, item, observed: (
                    real(ingestion, item, observed) if all(seen.is_settled for seen in observed) else None
                )
            ),
            ("archive: crowds",),
        ),
    ),
    *_in(
        "pit_fetch.archive.store.checksums",
        (
            "a reign is served whatever became of it",
            "checksum",
            lambda real: lambda start, *values, payload="": 0,
            _DAMAGE,
        ),
        (
            "what is read to add a fetch is believed",
            "check",
            lambda real: lambda mark, start, *values, payload="": None,
            _DAMAGE,
        ),
        ("a row may be of any stream", "seed", lambda real: lambda stream: 0, _DAMAGE),
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
        ("what was asked after the PIT counts before it", "as_indexed", _counts_from_the_beginning, _EARLY),
        ("what a source drops is gone", "as_indexed", _reaching("newest"), ("archive: rolled",)),
        ("what a source leaves out by choice is gone", "as_indexed", _reaching("some"), ("archive: chosen",)),
        (
            "an empty reply is a snapshot",
            "as_indexed",
            lambda real: (
                lambda key, recorded, records, seen, complete, clean: real(
                    key, recorded, records, seen, complete, clean
                )._replace(shows_absence=complete)
            ),
            _SNAPSHOTS,
        ),
        (
            "a capture that was cut is whole",
            "as_indexed",
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
        "pit_fetch.archive.recorder",
        (
            "a fetch by symbol is apart from what is held of its company",
            "ArchiveRecorder._stream",
            lambda real: lambda recorder: recorder.recorded.stream,
            ("archive: names live",),
        ),
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
            "a symbol that a list lacks stands for nothing",
            "_same_names",
            lambda real: lambda archived, question, at: iter(()),
            _ASKED_NAMES,
        ),
        (
            "a symbol that a list lacks means what it meant last, whatever the PIT",
            "_same_names",
            lambda real: lambda archived, question, at: real(archived, question, microseconds.ALWAYS),
            _ASKED_NAMES,
        ),
        ("a request for another symbol tells what this one means", "_names", _any_names, _ASKED_NAMES),
    ),
    *_in(
        "pit_fetch.archive.captures",
        ("what was captured and brought nothing was not captured", "_requests", _empty_is_uncaptured, _SILENT),
    ),
    *_in(
        "pit_fetch.request.coverage",
        ("the last instant of a day is one before a hole", "_INSTANT", lambda real: 0 * real, _COVERAGE),
        ("any request asks for all of a question", "unasked", lambda real: lambda *given: iter(()), _COVERAGE),
        ("a part of a list is all of it", "_holds", lambda real: lambda request, question: True, _COVERAGE),
        ("what lies between two requests was asked for", "covered_without_hole", _over_holes, _COVERAGE),
        (
            "a question for several is one for the first",
            "_single",
            lambda real: lambda question, options: [*real(question, options)][:1],
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
        "pit_fetch.engine.fetch",
        (
            "an order that later records break ends a capture",
            "Fetch._recordable",
            lambda real: (
                lambda fetch, stream, builder: stream if fetch.request.captures_all else real(fetch, stream, builder)
            ),
            _SILENT,
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
        "pit_fetch.archive.store.redaction",
        (
            "only what was spelled plainly is a key",
            "_unescaped",
            lambda real: lambda body: b"",
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
        ("the earlier of stamp and receipt", "_is_believed", _plain_minimum, _WORDS),
        ("a stamp is believed in spite of an absence", "_conflicts", _contradicted_by_presence_alone, _WORDS),
        ("what was seen at the very stamp is not looked at", "_is_believed", _at_the_stamp_is_not_looked_at, _WORDS),
        ("other stamps are other content", "_conflicts", _stamps_are_content, _WORDS),
        (
            "stamps are never believed",
            "_is_believed",
            lambda real: lambda version, earlier, first: False,
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
            "evidence",
            _each(lambda piece: piece._replace(spares=history.NO_CONTENT)),
            _WORDS,
        ),
        (
            "what is not public yet takes the place of nothing",
            "evidence",
            _each(lambda piece: None if piece.spares else piece),
            ("archive: complete", *_WORDS),
        ),
        ("what nothing dates takes the place of a date", "_spared", _only_of_what_waits, _WORDS),
        ("a stamp that was corrected counts on", "_corrected", lambda real: lambda usable: [*usable], _WORDS),
        (
            "what was asked for later counts at once",
            "evidence",
            _each(lambda piece: piece._replace(usable_from=piece.time)),
            ("archive: nothing later",),
        ),
        ("the first version stays", "validities", _first_come, ("archive: complete", *_WORDS)),
        (
            "the oldest vintage rules",
            "_stamp_order",
            lambda real: lambda version: (real(version)[0], -real(version)[1], *real(version)[2:]),
            _WORDS,
        ),
        (
            "the earlier sight wins a tie",
            "_time_order",
            lambda real: lambda piece: (real(piece)[0], -real(piece)[1], *real(piece)[2:]),
            _WORDS,
        ),
        ("of one instant, absence outweighs presence", "runs", _absence_first, _WORDS),
        (
            "sight is not shown where it was the proof",
            "evidence",
            _each(lambda piece: piece._replace(first_seen=None)),
            ("archive: proved",),
        ),
        (
            "what is back again is as old as its return",
            "_first_observed",
            lambda real: lambda version, history: history[-1].first,
            ("archive: proved",),
        ),
        (
            "runs of different content are one",
            "extend",
            lambda real: lambda run, later: real(run, later._replace(versions=run.observations[0].versions)),
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
        "pit_gate",
        ("first_seen_at is not looked at", "_OTHER_STAMPS", lambda real: ("revised_at",), ("gate: judges",)),
    ),
    *_in(
        "pit_fetch.archive.session",
        (
            "a capture with a limit is a capture",
            "_kind",
            lambda real: lambda request: "capture" if request.capture else real(request),
            _CAPTURES,
        ),
        ("what was captured counts from its capture on alone", "_kind", lambda real: lambda request: "live", _CAPTURES),
    ),
    *_in(
        "pit_fetch.archive_admin.capture.request_list",
        (
            "a capture is asked for without a PIT",
            "_dated",
            lambda real: lambda values, undated, now: (undated, ""),
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
        "pit_fetch.archive_admin.export",
        ("archive: a superseded version is exported as valid", "_end", lambda real: lambda valid: None, _EXPORTED),
        ("archive: a version is exported as valid before it was seen", "_start", _by_its_stamp, _EXPORTED),
    ),
    *_in(
        "pit_fetch.archive_admin.dependents",
        ("archive: later answers keep what was deleted", "dependents", _nothing_is_repeated, _DROPPED),
        ("archive: who asked the network repeats nothing deleted", "_needed_items", _only_without_a_pit, _DROPPED),
        ("archive: what is not JSON repeats nothing deleted", "_needed_items", _needed(list), _DROPPED),
        (
            "archive: an item of the same id says the same",
            "_content",
            lambda real: lambda item, is_open, names: real(item, is_open, ()),
            _DROPPED,
        ),
        ("archive: what is deleted said nothing of any item", "_deleted_items", _without_items, _DROPPED),
        (
            "archive: what is deleted says something itself",
            "_missing_items",
            lambda real: lambda archived, gone, needed, on_progress: real(archived, (), needed, on_progress),
            _DROPPED,
        ),
        (
            "archive: the fetch that repeats says it itself",
            "_reproduces",
            lambda real: lambda archived, key, needed: True,
            _DROPPED,
        ),
    ),
    *_in(
        "pit_fetch.archive_admin.maintenance",
        (
            "archive: the text of an answer that is deleted stays",
            "_delete_unused_bodies",
            lambda real: lambda connection: False,
            _DROPPED,
        ),
        (
            "archive: what a fetch was told outlives it",
            "_delete_orphans",
            lambda real: lambda connection: False,
            _DROPPED,
        ),
        (
            "archive: a merge brings back what repeats the deleted",
            "_repeating",
            lambda real: lambda connection, other, find: set(),
            _MERGED,
        ),
        (
            "archive: a merge looks at its own answers alone",
            "_repeating",
            lambda real: (
                lambda connection, other, find: real(connection, other, find) & maintenance._fetches(connection)
            ),
            _MERGED,
        ),
        (
            "archive: a merge looks at the other one's answers alone",
            "_repeating",
            lambda real: (
                lambda connection, other, find: real(connection, other, find) - maintenance._fetches(connection)
            ),
            _MERGED,
        ),
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
