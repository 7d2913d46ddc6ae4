"""The laws of the archive's rule, each on a generated history; and the rule once more, word by word, by brute force."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from random import Random

from pit_fetch.archive.store import history
from pit_fetch.archive.store.history import Read, Version
from tests.laws.sources import END, HONEST, KINDS, Captured, capture, merged, said, source

Law = Callable[[Random], int]
Instants = range(END + 4)


def answer(captured: Captured, instant: int) -> dict[str, tuple[Version, int | None]]:
    """What the rule serves at ``instant``, and when it was first seen if that was the proof."""
    served = {}
    for item in _items(captured):
        ruling = history.at(_reigns(item, captured), instant)
        if ruling is not None and ruling.version is not None:
            served[item] = (ruling.version, ruling.first_seen)
    return served


def _reigns(item: str, captured: Captured) -> list[history.Reign]:
    return history.reigns(history.runs(history.sights(item, captured.reads, captured.holds)))


def _items(captured: Captured) -> list[str]:
    return sorted({name for read in captured.reads for name in read.said})


# The rule by its words.


def brute(captured: Captured, instant: int) -> dict[str, Version]:
    """What is served at ``instant``, by every proof that there is."""
    served = {}
    for item in _items(captured):
        seen = list(_sights(item, captured))
        known = [(read.seen, read.seen, *_order(newest(versions))) for read, versions in seen if read.seen <= instant]
        for read, versions in seen:
            for one in versions:
                if one.claim is not None and one.claim <= instant and read.free <= instant:
                    others = [v for other, v in seen if one.claim <= other.seen < read.seen]
                    if all(one.content in {v.content for v in versions} for versions in others):
                        known.append((one.claim, read.seen, *_order(one)))
        ruling = max(known, default=None, key=lambda proof: proof[:-1])
        if ruling is not None and ruling[-1] is not None:
            served[item] = ruling[-1]
    return served


def newest(versions: frozenset[Version]) -> Version | None:
    return max(versions, key=lambda one: (one.claim is not None, one.claim or 0, one.key, one.content), default=None)


def _order(one: Version | None) -> tuple[bool, int, str, str, Version | None]:
    return (one is not None, (one and one.claim) or 0, one.key if one else "", one.content if one else "", one)


def _sights(item: str, captured: Captured) -> Iterator[tuple[Read, frozenset[Version]]]:
    """Every read that says or lacks the item. Of one instant, what is there counts."""
    found: list[tuple[Read, frozenset[Version]]] = []
    moments = {read.seen for read in captured.reads if public(read, item)}
    for read in captured.reads:
        if item in read.said:
            if public(read, item) or read.seen not in moments:
                found.append((read, public(read, item)))
        elif read.complete and read.seen not in moments:
            before = [versions for other, versions in found if other.seen < read.seen]
            after = [other.said[item] for other in captured.reads if other.seen > read.seen and item in other.said]
            judged = before[-1] if before and before[-1] else after[0] if after else frozenset[Version]()
            if captured.holds(read, judged):
                found.append((read, frozenset()))
    yield from found


def public(read: Read, item: str) -> frozenset[Version]:
    return frozenset(one for one in read.said.get(item, ()) if one.claim is None or one.claim <= read.seen)


# The laws.


def words(rng: Random) -> int:
    """The rule is what its words say, at every instant, for one archive and for two."""
    world = source(rng)
    captured = capture(rng, world)
    captured = merged([captured, capture(rng, world, beside=captured)]) if rng.random() < 0.5 else captured
    for instant in Instants:
        served = {item: version for item, (version, _) in answer(captured, instant).items()}
        assert served == brute(captured, instant), instant
    return len(Instants)


def complete(rng: Random) -> int:
    """At the instant of a complete read of everything, the answer is that read."""
    captured = capture(rng, source(rng), whole=True)
    for read in captured.reads:
        expected = {item: found.content for item in read.said if (found := newest(public(read, item)))}
        if read.complete and sum(one.seen == read.seen for one in captured.reads) == 1:
            answered = {item: version.content for item, (version, _) in answer(captured, read.seen).items()}
            assert answered == expected
    return len(captured.reads)


def refuted(rng: Random) -> int:
    """Nothing is served that a read of the archive shows to be of later: it lacked what is served for that time."""
    world = source(rng)
    captured = merged([capture(rng, world) for _ in range(2)])
    for instant in Instants:
        for item, (version, first_seen) in answer(captured, instant).items():
            sightings = [read for read in captured.reads if version in public(read, item)]
            first = min(read.seen for read in sightings)
            if first <= instant:
                continue
            assert first_seen is None
            assert version.claim is not None
            assert version.claim <= instant
            between = [read for read in captured.reads if version.claim <= read.seen < first and item in read.said]
            assert all(version.content in {one.content for one in public(read, item)} for read in between)
    return len(Instants)


def nothing_later(rng: Random) -> int:
    """What is first seen after an instant, and may depend on what came after it, adds nothing there."""
    captured = capture(rng, source(rng))
    for instant in Instants:
        known = tuple(read for read in captured.reads if read.seen <= instant)
        free = [read for read in captured.reads if read.seen > instant and read.free <= instant]
        alone = answer(captured._replace(reads=known), instant)
        if not free:
            assert answer(captured, instant) == alone
        else:
            allowed = {one for read in free for versions in read.said.values() for one in versions}
            for item, served in answer(captured, instant).items():
                assert served == alone.get(item) or served[0] in allowed
    return len(Instants)


def proved(rng: Random) -> int:
    """The stamps shown are at most the proof, and a sight that is shown is one that was had by then."""
    captured = capture(rng, source(rng))
    for instant in Instants:
        for item, (version, first_seen) in answer(captured, instant).items():
            assert version.claim is None or version.claim <= instant
            assert version.claim is not None or first_seen is not None
            if first_seen is not None:
                assert first_seen <= instant
                assert any(read.seen == first_seen and version in read.said.get(item, ()) for read in captured.reads)
    return len(Instants)


def honest(rng: Random) -> int:
    """Of a source that marks every change, captures of everything answer every instant as the source did then."""
    world = source(rng, HONEST)
    captured = capture(rng, world, whole=True)
    free = tuple(read._replace(free=-1) for read in captured.reads)
    known = {version for read in free for versions in read.said.values() for version in versions}
    last = max(read.seen for read in free)
    for instant in range(last + 1):
        true = said(world, instant)
        for item, (version, _) in answer(captured._replace(reads=free), instant).items():
            then = newest(frozenset(one for one in true[item] if one.claim is not None and one.claim <= instant))
            assert version == then or then not in known, "what was said then was seen, and is not served"
    return last


def merging(rng: Random) -> int:
    """In which order archives are merged is nothing."""
    world = source(rng)
    archives = [capture(rng, world) for _ in range(3)]
    expected = merged(archives)
    rng.shuffle(archives)
    other = merged([merged(archives[:2]), archives[2]])
    for instant in Instants:
        assert answer(expected, instant) == answer(other, instant)
    return len(Instants)


def compressed(rng: Random) -> int:
    """Sights that are taken up one after another make the same runs as all at once."""
    captured = capture(rng, source(rng))
    for item in _items(captured):
        every = list(history.sights(item, captured.reads, captured.holds))
        if len({one.seen for one in every}) < len(every):
            continue
        runs: list[history.Run] = []
        for sight in every:
            longer = history.extended(runs[-1], sight) if runs else None
            runs[-1:] = [longer] if longer else [*runs[-1:], *history.runs([sight])]
        assert runs == history.runs(every)
    return len(captured.reads)


def monotone(rng: Random) -> int:
    """A later instant takes nothing away where nothing is deleted."""
    kinds = [kind for kind in KINDS if kind not in ("deleted", "restored", "undated", "running bar")]
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
