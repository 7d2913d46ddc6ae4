"""Leaks of the archive's rule: what counts as a proof, from when on, and which of several rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pit_fetch.archive.store import history, journal, microseconds
from pit_fetch.archive_admin import maintenance
from tests.laws.mutants.leak import Mutant

_WORDS = ("archive: words",)


def _sight(change: Any) -> Any:
    """Every sight of an item, as ``change`` makes it, or left out."""

    def make(real: Any) -> Any:
        def sights(item: str, reads: Any, holds: Any) -> Any:
            return [one for one in map(change, real(item, reads, holds)) if one is not None]

        return sights

    return make


def _proof(change: Any) -> Any:
    """Every proof, as ``change`` makes it, or left out."""

    def make(real: Any) -> Any:
        return lambda history: [one for one in map(change, real(history)) if one is not None]

    return make


def _plain_minimum(real: Any) -> Any:
    """A version counts from the earlier of its stamps and its receipt on, and what came later is not looked at."""
    return lambda version, before, first: version.claim is not None


def _contradicted_by_presence_alone(real: Any) -> Any:
    return lambda said, version: bool(said) and real(said, version)


def _at_the_claim_is_not_looked_at(real: Any) -> Any:
    def stands(version: Any, before: Sequence[history.Run], first: int) -> bool:
        return bool(real(version, [run for run in before if run.last != version.claim], first))

    return stands


def _stamps_are_content(real: Any) -> Any:
    return lambda said, version: version not in said


def _without(name: str) -> Any:
    """The sights of an item, from reads that are all ``complete`` or all not."""

    def make(real: Any) -> Any:
        return lambda item, reads, holds: real(item, [one._replace(complete=name == "all") for one in reads], holds)

    return make


def _absence_first(real: Any) -> Any:
    def runs(seen: Any) -> Any:
        every = list(seen)
        gone = {one.seen for one in every if not one.said}
        return real(one for one in every if not one.said or one.seen not in gone)

    return runs


def _first_come(real: Any) -> Any:
    def reigns(history: Any) -> Any:
        found = real(history)
        return found[:1] + [one for one in found[1:] if one.version is None or one.first_seen is None]

    return reigns


# Leaks of the index and of the command.


def _ruling(change: Any) -> Any:
    """An answer of the index to another question, as ``change`` makes it."""

    def make(real: Any) -> Any:
        def ruling(connection: Any, pool: str, instant: int, newest: int, oldest: int = microseconds.NEVER) -> Any:
            return real(connection, *change(pool, instant, newest, oldest))

        return ruling

    return make


def _every_read_is_free(real: Any) -> Any:
    return lambda *given: real(*given)._replace(free=microseconds.NEVER)


def _missed_twice(real: Any) -> Any:
    """The second note of an absence takes the mark of the latest from the first one."""

    def miss(items: Any) -> None:
        real(items)
        items.connection.execute(
            "UPDATE sights SET latest = 0 WHERE said = '' AND first = ? AND (SELECT count(*) FROM sights s "
            "WHERE s.pool = sights.pool AND s.item = sights.item AND s.first < sights.first) > 1",
            (items.found.seen,),
        )

    return miss


def _secrets_are_recorded(real: Any) -> Any:
    return lambda recorder, secrets: real(recorder, ())


def _live_answer_is_dropped(real: Any) -> Any:
    """Only what the archive holds is an answer, where there is one."""

    def mixed(fetch: Any, archive: Any, live: Any) -> Any:
        archive.settle = lambda: True
        return real(fetch, archive, live)

    return mixed


def _pooled_without(**fields: Any) -> Any:
    """What pools leaves something of a fetch out."""
    return lambda real: lambda provider, query, fetch: real(provider, query, fetch._replace(**fields))


def _rows_of_every_reply(real: Any) -> Any:
    """A snapshot is all that any reply so far had."""

    def reread(one: Any, exchanges: Any, failed: Any = None) -> Any:
        seen: dict[str, Any] = {}
        for record in real(one, exchanges):
            seen[record.id] = record
        _EVER.update(seen)
        yield from _EVER.values()

    return reread


# Leaks of what is deleted.


def _nothing_is_repeated(real: Any) -> Any:
    return lambda connection, gone, find, told=None: set()


def _only_without_a_pit(real: Any) -> Any:
    """Whoever asked the network is taken to have answered from it."""

    def needed(archived: Any, key: Any, deleted: Any) -> Any:
        fetch = journal.fetch_of(archived.connection, key)
        return [] if fetch is not None and fetch.kind == "live" else real(archived, key, deleted)

    return needed


def _said_nothing(real: Any) -> Any:
    """Of what goes, its questions are known, and none of its items."""
    return lambda archived, gone: (found := real(archived, gone))._replace(ids={pool: set() for pool in found.ids})


def _needed(change: Any) -> Any:
    """What an answer needs, as ``change`` makes it; an answer that cannot be read needs nothing."""

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
_SNAPSHOTS = ("alphavantage: archive snapshots",)
_APART = ("bz-news-api: archive apart",)
_STOPS = ("bz-news-api: archive stops",)
_CAPTURES = ("bz-news-api: archive captures",)
_DROPPED = ("bz-news-api: archive dropped",)
_MERGED = ("bz-news-api: archive dropped and merged",)
_EARLY = ("bz-news-api: archive nothing early", "sample: archive nothing early")

MUTANTS = (
    Mutant(
        "the index answers as of now",
        "pit_fetch.archive.store.index:ruling",
        _ruling(lambda pool, instant, newest, oldest: (pool, microseconds.ALWAYS - 1, newest, oldest)),
        _INDEX,
    ),
    Mutant(
        "the index keeps no absences",
        "pit_fetch.archive.store.index:_Items.miss",
        lambda real: lambda items: None,
        _INDEX,
    ),
    Mutant(
        "the index does not look back",
        "pit_fetch.archive.store.index:_Items._look_back",
        lambda real: lambda items, item, rows, last, *, behind=False: False,
        _INDEX,
    ),
    Mutant(
        "a read of the same instant replaces the other",
        "pit_fetch.archive.store.index:_Items._beside",
        lambda real: lambda items, item, said, held: None,
        ("archive: ties",),
    ),
    Mutant(
        "the index does not look back from the second read of an instant",
        "pit_fetch.archive.store.index:_Items._look_behind",
        lambda real: lambda items, item, rows: None,
        ("archive: crowds",),
    ),
    Mutant(
        "what two reads of one instant said is missed twice",
        "pit_fetch.archive.store.index:_Items.miss",
        _missed_twice,
        ("archive: crowds",),
    ),
    Mutant(
        "the index takes running bars for sights",
        "pit_fetch.archive.store.index:_Items._public",
        lambda real: lambda items, rows: " ".join(map(str, sorted(rows))),
        _INDEX,
    ),
    Mutant(
        "what was asked after the PIT counts before it", "pit_fetch.archive.rederive:found", _every_read_is_free, _EARLY
    ),
    Mutant(
        "an archive of one read is asked, too",
        "pit_fetch.engine.fetch:Fetch._with_archive",
        _live_answer_is_dropped,
        ("sample: archive empty", "alphavantage: archive empty"),
    ),
    Mutant(
        "keys are recorded",
        "pit_fetch.archive.recorder:Recorder.start",
        _secrets_are_recorded,
        ("bz-news-api: archive secrets", "alphavantage: archive secrets"),
    ),
    Mutant(
        "only what was spelled plainly is a key",
        "pit_fetch.archive.store.redaction:_unescaped",
        lambda real: lambda body: b"",
        ("bz-news-api: archive secrets", "alphavantage: archive secrets"),
    ),
    Mutant(
        "what is due is never taken up",
        "pit_fetch.archive.store.index:due",
        lambda real: lambda connection, pool: [],
        ("bz-news-api: archive offline", "sample: archive offline"),
    ),
    Mutant(
        "a reign is served whatever became of it",
        "pit_fetch.archive.store.index:_mark",
        lambda real: lambda *values, payload: 0,
        ("archive: damage",),
    ),
    Mutant(
        "an item that was seen once counts from its claim on",
        "pit_fetch.archive.store.history:alone",
        lambda real: lambda claim, seen, free: (seen if claim is None else claim, real(claim, seen, free)[1]),
        _INDEX,
    ),
    Mutant(
        "an undated item that was seen once shows no sight",
        "pit_fetch.archive.store.history:alone",
        lambda real: lambda claim, seen, free: (real(claim, seen, free)[0], None),
        _INDEX,
    ),
    Mutant(
        "first_seen_at is not looked at",
        "pit_gate:_OTHER_STAMPS",
        lambda real: ("revised_at",),
        ("gate: judges",),
    ),
    Mutant("a mixed answer does not stop", "pit_fetch.engine.fetch:_stop", lambda real: lambda live: None, _STOPS),
    Mutant(
        "a mixed answer goes on for a day",
        "pit_fetch.engine.fetch:_stop",
        lambda real: lambda live: None if (found := real(live)) is None else (found[0] + 86_400, found[1]),
        _STOPS,
    ),
    Mutant("hosts are pooled", "pit_fetch.archive.rederive:pool", _pooled_without(hosts={}), _APART),
    Mutant("plans are pooled", "pit_fetch.archive.rederive:pool", _pooled_without(plan=""), _APART),
    Mutant(
        "the latest snapshot answers for every instant",
        "pit_fetch.archive.store.index:latest",
        lambda real: lambda connection, pool, instant: real(connection, pool, microseconds.ALWAYS),
        _SNAPSHOTS,
    ),
    Mutant(
        "the snapshot of the instant before",
        "pit_fetch.archive.store.index:latest",
        lambda real: lambda connection, pool, instant: real(connection, pool, instant - 1),
        _SNAPSHOTS,
    ),
    Mutant(
        "a snapshot has the rows of every reply", "pit_fetch.archive.rederive:reread", _rows_of_every_reply, _SNAPSHOTS
    ),
    Mutant(
        "an empty reply is a snapshot",
        "pit_fetch.archive.rederive:found",
        lambda real: (
            lambda key, one, records, seen, complete, clean: real(key, one, records, seen, complete, clean)._replace(
                complete=complete
            )
        ),
        _SNAPSHOTS,
    ),
    Mutant(
        "a capture with a limit is a capture",
        "pit_fetch.archive.session:_kind",
        lambda real: lambda request: "capture" if request.capture else real(request),
        _CAPTURES,
    ),
    Mutant(
        "a capture that was cut is whole",
        "pit_fetch.archive.rederive:found",
        lambda real: (
            lambda key, one, records, seen, complete, clean: real(
                key, one._replace(fetch=one.fetch._replace(kind="capture")), records, seen, True, clean
            )
        ),
        (*_CAPTURES, *_EARLY),
    ),
    Mutant(
        "a capture is asked for without a PIT",
        "pit_fetch.archive_admin.capture:_dated",
        lambda real: lambda values, undated, now: undated,
        ("fred: archive captured", "sec_full_text: archive captured"),
    ),
    Mutant(
        "what was captured counts from its capture on alone",
        "pit_fetch.archive.session:_kind",
        lambda real: lambda request: "live",
        _CAPTURES,
    ),
    Mutant(
        "a ceiling does not keep the archive shut",
        "pit_fetch.request.audience:is_bound",
        lambda real: lambda environ: False,
        ("command: archive under a ceiling",),
    ),
    Mutant("the earlier of claim and receipt", "pit_fetch.archive.store.history:_stands", _plain_minimum, _WORDS),
    Mutant(
        "a claim is believed in spite of an absence",
        "pit_fetch.archive.store.history:_contradicts",
        _contradicted_by_presence_alone,
        _WORDS,
    ),
    Mutant(
        "what was seen at the very claim is not looked at",
        "pit_fetch.archive.store.history:_stands",
        _at_the_claim_is_not_looked_at,
        _WORDS,
    ),
    Mutant(
        "other stamps are other content", "pit_fetch.archive.store.history:_contradicts", _stamps_are_content, _WORDS
    ),
    Mutant(
        "claims are never believed",
        "pit_fetch.archive.store.history:_stands",
        lambda real: lambda version, before, first: False,
        ("archive: honest", *_WORDS),
    ),
    Mutant(
        "a running bar is a sight",
        "pit_fetch.archive.store.history:sight",
        lambda real: lambda seen, said, free: history.Sight(seen, frozenset(said), free),
        ("archive: proved",),
    ),
    Mutant(
        "what was asked for later counts at once",
        "pit_fetch.archive.store.history:proofs",
        _proof(lambda proof: proof._replace(usable=proof.time)),
        ("archive: nothing later",),
    ),
    Mutant(
        "a sight counts before it was had",
        "pit_fetch.archive.store.history:sights",
        _sight(lambda one: one._replace(seen=one.seen - 1)),
        ("archive: proved", *_WORDS),
    ),
    Mutant(
        "an absence is not a sight",
        "pit_fetch.archive.store.history:sights",
        _sight(lambda one: one if one.said else None),
        ("archive: complete",),
    ),
    Mutant("every read is complete", "pit_fetch.archive.store.history:sights", _without("all"), _WORDS),
    Mutant("no read is complete", "pit_fetch.archive.store.history:sights", _without("none"), ("archive: complete",)),
    Mutant(
        "the window is not looked at",
        "pit_fetch.archive.store.history:sights",
        lambda real: lambda item, reads, holds: real(item, reads, lambda read, said: True),
        _WORDS,
    ),
    Mutant(
        "what was absent before its first sight is not looked at",
        "pit_fetch.archive.store.history:sights",
        lambda real: (
            lambda item, reads, holds: real(
                item, [one for place, one in enumerate(reads) if any(item in r.said for r in reads[: place + 1])], holds
            )
        ),
        ("archive: refuted", *_WORDS),
    ),
    Mutant(
        "the first version stays", "pit_fetch.archive.store.history:reigns", _first_come, ("archive: complete", *_WORDS)
    ),
    Mutant(
        "the oldest vintage rules",
        "pit_fetch.archive.store.history:_by_claim",
        lambda real: lambda version: (real(version)[0], -real(version)[1], *real(version)[2:]),
        _WORDS,
    ),
    Mutant(
        "the earlier sight wins a tie",
        "pit_fetch.archive.store.history:_by_time",
        lambda real: lambda proof: (real(proof)[0], -real(proof)[1], *real(proof)[2:]),
        _WORDS,
    ),
    Mutant(
        "of one instant, absence outweighs presence",
        "pit_fetch.archive.store.history:runs",
        _absence_first,
        _WORDS,
    ),
    Mutant(
        "sight is not shown where it was the proof",
        "pit_fetch.archive.store.history:proofs",
        _proof(lambda proof: proof._replace(by_sight=None)),
        ("archive: proved",),
    ),
    Mutant(
        "runs of different content are one",
        "pit_fetch.archive.store.history:extended",
        lambda real: lambda run, one: real(run, one._replace(said=run.sights[0].said)),
        ("archive: complete", "archive: compressed"),
    ),
    Mutant(
        "a run is as free as its last sight",
        "pit_fetch.archive.store.history:extended",
        lambda real: lambda run, one: (longer := real(run, one)) and longer._replace(sights=(one,)),
        ("archive: compressed", *_WORDS),
    ),
    Mutant(
        "the answer of the instant after",
        "pit_fetch.archive.store.history:at",
        lambda real: lambda history, instant: real(history, instant + 1),
        ("archive: nothing later", *_WORDS),
    ),
    Mutant(
        "archive: later answers keep what was deleted",
        "pit_fetch.archive_admin.dependents:repeated",
        _nothing_is_repeated,
        _DROPPED,
    ),
    Mutant(
        "archive: who asked the network repeats nothing deleted",
        "pit_fetch.archive_admin.dependents:_needed",
        _only_without_a_pit,
        _DROPPED,
    ),
    Mutant(
        "archive: what is not JSON repeats nothing deleted",
        "pit_fetch.archive_admin.dependents:_needed",
        _needed(list),
        _DROPPED,
    ),
    Mutant(
        "archive: an item of the same id says the same",
        "pit_fetch.archive_admin.dependents:_said",
        lambda real: lambda item, is_open, names: real(item, is_open, ()),
        _DROPPED,
    ),
    Mutant(
        "archive: what is deleted said nothing of any item",
        "pit_fetch.archive_admin.dependents:_deleted",
        _said_nothing,
        _DROPPED,
    ),
    Mutant(
        "archive: what is deleted says something itself",
        "pit_fetch.archive_admin.dependents:_unsaid",
        lambda real: lambda archived, gone, needed, told: real(archived, (), needed, told),
        _DROPPED,
    ),
    Mutant(
        "archive: the fetch that repeats says it itself",
        "pit_fetch.archive_admin.dependents:_says_itself",
        lambda real: lambda archived, key, needed: True,
        _DROPPED,
    ),
    Mutant(
        "archive: the text of an answer that is deleted stays",
        "pit_fetch.archive_admin.maintenance:_sweep",
        lambda real: lambda connection: False,
        _DROPPED,
    ),
    Mutant(
        "archive: what a fetch was told outlives it",
        "pit_fetch.archive_admin.maintenance:_forget_parts",
        lambda real: lambda connection: False,
        _DROPPED,
    ),
    Mutant(
        "archive: a merge brings back what repeats the deleted",
        "pit_fetch.archive_admin.maintenance:_repeating",
        lambda real: lambda connection, other, find: set(),
        _MERGED,
    ),
    Mutant(
        "archive: a merge looks at its own answers alone",
        "pit_fetch.archive_admin.maintenance:_repeating",
        lambda real: lambda connection, other, find: real(connection, other, find) & maintenance._fetches(connection),
        _MERGED,
    ),
    Mutant(
        "archive: a merge looks at the other one's answers alone",
        "pit_fetch.archive_admin.maintenance:_repeating",
        lambda real: lambda connection, other, find: real(connection, other, find) - maintenance._fetches(connection),
        _MERGED,
    ),
    Mutant(
        "archive: an answer that was under way is kept",
        "pit_fetch.archive.store.journal:deletions",
        lambda real: lambda connection: 0,
        ("bz-news-api: archive dropped under way",),
    ),
    Mutant(
        "archive: a snapshot comes in the order of its reply",
        "pit_fetch.engine.fetch:_ordered",
        lambda real: lambda held, stream: stream,
        ("yahoo: held", "alphavantage: held"),
    ),
)
