"""The laws of the archive's rules, each on a generated history; and the rules once more, literally, by brute force."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from random import Random
from typing import Any

from pit_fetch.archive.store import history
from pit_fetch.archive.store.history import ItemVersion
from tests.laws import observed
from tests.laws.observed import FetchObservation
from tests.laws.sources import END, HONEST, KINDS, Captured, capture, content, merged, source

Law = Callable[[Random], int]
Instants = range(END + 4)


def answer(captured: Captured, instant: int) -> dict[str, tuple[ItemVersion, int | None]]:
    """Return the version served at ``instant`` of each item, and ``first_seen`` if an observation is the evidence."""
    served = {}
    for item in _items(captured):
        validity = observed.validity_at(_validities(item, captured), instant)
        if validity is not None and validity.version is not None:
            served[item] = (validity.version, validity.first_seen)
    return served


def _validities(item: str, captured: Captured) -> list[history.Validity]:
    return history.validities(history.stretches(observed.observations(item, captured.fetches, captured.window_covers)))


def _items(captured: Captured) -> list[str]:
    return sorted({name for fetch in captured.fetches for name in fetch.items})


# The rules, literally.


def brute(captured: Captured, instant: int) -> dict[str, ItemVersion]:
    """Return the version served at ``instant`` of each item, by all evidence that there is."""
    served = {}
    for item in _items(captured):
        seen = list(_observations(item, captured))
        stamps = list[tuple[int, int, ItemVersion]]()
        for fetch, versions in seen:
            for version in _public(versions, fetch.seen):
                if version.stamped_at is not None and max(version.stamped_at, fetch.counts_from) <= instant:
                    between = [v for other, v in seen if version.stamped_at <= other.seen < fetch.seen]
                    if all(version.content in {other.content for other in others} for others in between):
                        stamps.append((version.stamped_at, fetch.seen, version))
        last = {v.content: max(stamps, key=lambda known: (known[2].content == v.content, known[1], known[0]))
                for _, _, v in stamps}  # fmt: skip

        def corrected(version: ItemVersion, seen: int, last: Mapping[str, Any] = last) -> bool:
            at, when, _ = last.get(version.content, (version.stamped_at, seen, version))
            return version.stamped_at not in (None, at) and seen < when

        evidence = [(at, when, *_order(v), frozenset[str]()) for at, when, v in stamps if not corrected(v, when)]
        for (fetch, versions), since in zip(seen, _since(seen), strict=True):
            shown = newest(_public(versions, fetch.seen))
            if fetch.seen <= instant:
                if shown is not None and corrected(shown, fetch.seen):
                    shown = last[shown.content][2]
                evidence.append((since, since, *_order(shown), _there(versions, fetch.seen)))
        best: ItemVersion | None = None
        for piece in sorted(evidence, key=lambda piece: piece[:-2]):
            if best is None or best.content not in piece[-1] or (piece[-2] and best.stamped_at is None):
                best = piece[-2]
        if best is not None:
            served[item] = best
    return served


def _there(versions: frozenset[ItemVersion], seen: int) -> frozenset[str]:
    """Return the contents that were there, if no public version states since when."""
    is_dated = any(version.stamped_at is not None for version in _public(versions, seen))
    return frozenset() if is_dated else frozenset(version.content for version in versions)


def _since(seen: Sequence[tuple[FetchObservation, frozenset[ItemVersion]]]) -> Iterator[int]:
    """Yield from when on nothing else was seen, for each fetch: to see the same again is no newer evidence."""
    since, before = 0, frozenset[tuple[frozenset[ItemVersion], frozenset[ItemVersion]]]()
    for moment, simultaneous in groupby(seen, key=lambda sight: sight[0].seen):
        sights = [(versions, _public(versions, moment)) for _, versions in simultaneous]
        if {*sights} != before or len(before) > 1:
            since, before = moment, frozenset(sights)
        yield from [since] * len(sights)


def newest(versions: frozenset[ItemVersion]) -> ItemVersion | None:
    return max(versions, key=lambda v: (v.stamped_at is not None, v.stamped_at or 0, v.key, v.content), default=None)


def _order(version: ItemVersion | None) -> tuple[bool, int, str, str, ItemVersion | None]:
    if version is None:
        return False, 0, "", "", None
    return True, version.stamped_at or 0, version.key, version.content, version


def _observations(item: str, captured: Captured) -> Iterator[tuple[FetchObservation, frozenset[ItemVersion]]]:
    """Yield every fetch that contains or lacks the item. At one instant, presence counts."""
    found: list[tuple[FetchObservation, frozenset[ItemVersion]]] = []
    moments = {fetch.seen for fetch in captured.fetches if item in fetch.items}
    for fetch in captured.fetches:
        if item in fetch.items:
            found.append((fetch, fetch.items[item]))
        elif fetch.shows_absence and fetch.seen not in moments:
            last = max((other.seen for other, _ in found if other.seen < fetch.seen), default=None)
            before = [versions for other, versions in found if other.seen == last]
            later = [other for other in captured.fetches if other.seen > fetch.seen and item in other.items]
            settled = min((other.seen for other in later if public(other, item)), default=END)
            after = [other.items[item] for other in later if other.seen <= settled]
            was_public = last is not None and any(_public(versions, last) for versions in before)
            judged_by = before if was_public else [*before, *after]
            if any(captured.window_covers(fetch, versions) for versions in judged_by):
                found.append((fetch, history.NOTHING))
    yield from found


def public(fetch: FetchObservation, item: str) -> frozenset[ItemVersion]:
    return _public(fetch.items.get(item, history.NOTHING), fetch.seen)


def _public(versions: frozenset[ItemVersion], seen: int) -> frozenset[ItemVersion]:
    return frozenset(version for version in versions if version.stamped_at is None or version.stamped_at <= seen)


# The laws.


def words(rng: Random) -> int:
    """The code decides as the literal rules do, at every instant, for one archive and for two merged ones."""
    world = source(rng)
    captured = capture(rng, world)
    captured = merged([captured, capture(rng, world, beside=captured)]) if rng.random() < 0.5 else captured
    for instant in Instants:
        served = {item: version for item, (version, _) in answer(captured, instant).items()}
        assert served == brute(captured, instant), instant
    return len(Instants)


def complete(rng: Random) -> int:
    """At the instant of a complete fetch of everything, the answer is that fetch.

    What it holds, and does not show as public, may be the answer by another fetch that does.
    """
    captured = capture(rng, source(rng), whole=True)
    for fetch in captured.fetches:
        expected = {item: latest.content for item in fetch.items if (latest := newest(public(fetch, item)))}
        if fetch.shows_absence and sum(other.seen == fetch.seen for other in captured.fetches) == 1:
            answered = {item: version.content for item, (version, _) in answer(captured, fetch.seen).items()}
            held = {item: {v.content for v in found} for item, found in fetch.items.items() if item not in expected}
            assert {item: c for item, c in answered.items() if c not in held.get(item, ())} == expected
    return len(captured.fetches)


def refuted(rng: Random) -> int:
    """Nothing is served before it was observed if a fetch in between lacked it."""
    world = source(rng)
    captured = merged([capture(rng, world) for _ in range(2)])
    for instant in Instants:
        for item, (version, first_seen) in answer(captured, instant).items():
            first = min(fetch.seen for fetch in captured.fetches if version in public(fetch, item))
            if first <= instant:
                continue
            assert first_seen is None
            assert version.stamped_at is not None
            assert version.stamped_at <= instant
            between = [f for f in captured.fetches if version.stamped_at <= f.seen < first]
            assert all(version.content in {v.content for v in f.items.get(item, (version,))} for f in between)
            was_public = {f.seen for f in captured.fetches if public(f, item)}
            held = {f.seen for f in captured.fetches if item in f.items}
            lacking = [f for f in between if f.shows_absence and f.seen not in held and f.seen < min(was_public)]
            assert not any(captured.window_covers(f, frozenset({version})) for f in lacking)
    return len(Instants)


def nothing_later(rng: Random) -> int:
    """A fetch after an instant adds nothing there if it may depend on what came after the instant."""
    captured = capture(rng, source(rng))
    for instant in Instants:
        known = tuple(fetch for fetch in captured.fetches if fetch.seen <= instant)
        independent = [fetch for fetch in captured.fetches if fetch.counts_from <= instant < fetch.seen]
        alone = answer(captured._replace(fetches=known), instant)
        if not independent:
            assert answer(captured, instant) == alone
        else:
            allowed = {version for fetch in independent for versions in fetch.items.values() for version in versions}
            for item, served in answer(captured, instant).items():
                assert served == alone.get(item) or served[0] in allowed
    return len(Instants)


def proved(rng: Random) -> int:
    """No stamp is later than its evidence, and ``first_seen`` is the first instant at which the version was held."""
    captured = capture(rng, source(rng))
    for instant in Instants:
        for item, (version, first_seen) in answer(captured, instant).items():
            assert version.stamped_at is None or version.stamped_at <= instant
            assert version.stamped_at is not None or first_seen is not None
            if first_seen is not None:
                assert first_seen <= instant
                held = (f.seen for f in captured.fetches for v in public(f, item) if v[:2] == version[:2])
                assert first_seen == min(held)
    return len(Instants)


def honest(rng: Random) -> int:
    """If a source marks every change, complete captures answer every instant as the source did then."""
    world = source(rng, HONEST)
    captured = capture(rng, world, whole=True)
    fetches = tuple(fetch._replace(counts_from=-1) for fetch in captured.fetches)
    known = {version for fetch in fetches for versions in fetch.items.values() for version in versions}
    last = max(fetch.seen for fetch in fetches)
    for instant in range(last + 1):
        true = content(world, instant)
        for item, (version, _) in answer(captured._replace(fetches=fetches), instant).items():
            then = newest(frozenset(v for v in true[item] if v.stamped_at is not None and v.stamped_at <= instant))
            assert version == then or then not in known, "a version that was seen is not served"
    return last


def merging(rng: Random) -> int:
    """The order in which archives are merged does not matter."""
    world = source(rng)
    archives = [capture(rng, world) for _ in range(3)]
    expected = merged(archives)
    rng.shuffle(archives)
    other = merged([merged(archives[:2]), archives[2]])
    for instant in Instants:
        assert answer(expected, instant) == answer(other, instant)
    return len(Instants)


def compressed(rng: Random) -> int:
    """Observations added one after another make the same runs as all at once."""
    captured = capture(rng, source(rng))
    for item in _items(captured):
        every = list(observed.observations(item, captured.fetches, captured.window_covers))
        if len({observation.seen for observation in every}) < len(every):
            continue
        runs: list[history.Stretch] = []
        for observation in every:
            longer = history.extend(runs[-1], observation) if runs else None
            runs[-1:] = [longer] if longer else [*runs[-1:], *history.stretches([observation])]
        assert runs == history.stretches(every)
    return len(captured.fetches)


def monotone(rng: Random) -> int:
    """Where nothing is deleted, a later instant has every item of an earlier one."""
    kinds = [kind for kind in KINDS if kind not in ("deleted", "restored", "undated", "running bar", "redated")]
    captured = capture(rng, source(rng, kinds), whole=True)
    before: set[str] = set()
    for instant in Instants:
        now = set(answer(captured, instant))
        assert before <= now
        before = now
    return len(Instants)


LAWS: Mapping[str, Law] = {
    f"archive: {law.__name__.replace('_', ' ')}": law
    for law in (words, complete, refuted, nothing_later, proved, honest, merging, compressed, monotone)
}
