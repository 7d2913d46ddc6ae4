"""Decide which version of an item was public at an instant, from the fetches that contained or lacked it. Pure.

Instants are whole numbers (microseconds of UTC). The code refers to these rules by their numbers:

 1. An *observation* is what a fetch contained of an item when its reply was received. A version is *public* if its own
    timestamps are not later than that. One that is not (a bar that is still running) is no evidence of itself.
 2. A complete fetch that lacks an item, although its window would have covered it, is an observation of absence. So is
    one that contains no public version of it, but of other content only: what it does contain was there.
 3. An observation is evidence for the instant of its receipt.
 4. A version with timestamps of its own is *stamped* with the later of them (``stamped_at``): by its source, it was
    public by then. The stamp is evidence for that instant, unless the item was observed with other content, or as
    absent, at or after the stamped instant and before this observation. Then the source changed the item without
    marking the change: the stamp is refuted, and only the observation counts.
 5. A stamp counts at T only if it appears in a fetch that depends on nothing after T. Of several stamps of one
    content, those of the last observation count that has such: the source corrected the others.
 6. At T, the latest evidence at or before T decides. Proof of absence yields no record. A tie goes to the later
    observation, then to the version with the greater key. An observation of the same content without a timestamp does
    not replace a stamped version: it confirms that version, whose stamp says since when it was public.
 7. A record shows no timestamp later than its evidence. If its stamp was refuted, the record carries as
    ``first_seen_at`` the instant at which its version was first observed, by whatever other versions it was replaced
    since.

Several public versions in one observation are vintages. Each has a stamp of its own, and the version with the latest
stamp represents the observation.

An article is captured at 20, is edited under its old timestamp, is fetched again at 40, and is gone at 60. At 80 the
edited article is back. The capture depends on nothing later, so its stamp counts from the beginning. The edit is
refuted for 10 by the first capture:

>>> original, edited = ItemVersion("first words", stamped_at=10), ItemVersion("other words", stamped_at=10)
>>> history = stretches([
...     Observation(20, frozenset({original}), counts_from=0),
...     Observation(40, frozenset({edited}), counts_from=40),
...     Observation(60, NOTHING, counts_from=60),
...     Observation(80, frozenset({edited}), counts_from=80),
... ])
>>> for validity in validities(history):
...     print(validity.start, validity.version and validity.version.content, validity.first_seen)
10 first words None
40 other words 40
60 None None
80 other words 40
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple


class ItemVersion(NamedTuple):
    """One version of an item.

    content     a digest of its content, without timestamps and evidence: versions of equal content do not conflict
    stamped_at  the later of its timestamps; None if it has none
    key         orders versions with equal stamps: the greater one represents the observation
    """

    content: str
    stamped_at: int | None = None
    key: str = ""


NOTHING: frozenset[ItemVersion] = frozenset()
NO_CONTENT: frozenset[str] = frozenset()


def is_public(stamped_at: int | None, seen: int) -> bool:
    """Return whether a version was public when its reply was received, at ``seen``, by its own timestamps."""
    return stamped_at is None or stamped_at <= seen


class Observation(NamedTuple):
    """What one fetch contained of an item.

    seen         when its reply was received
    versions     all that it contained of the item, public or not; empty if the item was absent
    counts_from  the first instant at which the stamps of this fetch count: it depends on nothing later
    """

    seen: int
    versions: frozenset[ItemVersion]
    counts_from: int

    @property
    def public(self) -> frozenset[ItemVersion]:
        """The versions that were public when the reply was received."""
        return frozenset(version for version in self.versions if is_public(version.stamped_at, self.seen))

    @property
    def is_all_public(self) -> bool:
        """Whether all that it contained was public, if anything."""
        return self.versions == self.public

    @property
    def is_settled(self) -> bool:
        """Whether it shows what was public of the item: a version, or that there was none."""
        return bool(self.public) or not self.versions


class Stretch(NamedTuple):
    """Consecutive observations with equal versions, or several of one instant that differ (two merged archives).

    ``before`` is the second-to-last instant at which the stretch was observed.
    """

    first: int
    before: int
    last: int
    observations: tuple[Observation, ...]


class Proof(NamedTuple):
    """Proof that ``version`` was public at ``time`` (None: that nothing was, unless ``spares`` names it).

    seen         when the reply that contains the version was received
    usable_from  the first instant at which this evidence counts
    first_seen   the first observation of the version, if the stamp was refuted
    spares       the contents that the observation holds without dating them: stamped later than its receipt, or not
                 stamped. Earlier evidence for these contents stays in force
    is_stamp     the stamp proves it, and not the observation
    """

    time: int
    seen: int
    version: ItemVersion | None
    usable_from: int
    first_seen: int | None = None
    spares: frozenset[str] = NO_CONTENT
    is_stamp: bool = False


class Validity(NamedTuple):
    """``version`` is the answer from ``start`` on. ``first_seen`` is set if an observation, and no stamp, proves it."""

    start: int
    version: ItemVersion | None
    first_seen: int | None = None


def stretches(observed: Iterable[Observation]) -> list[Stretch]:
    """Return stretches in order of time. At one instant, presence outweighs absence; all contents are kept."""
    history: list[Stretch] = []
    for seen, simultaneous in groupby(sorted(observed, key=attrgetter("seen")), key=attrgetter("seen")):
        counts_from: dict[frozenset[ItemVersion], int] = {}
        for current in simultaneous:
            other = counts_from.get(current.versions, current.counts_from)
            # The same content twice counts from the earlier of both.
            counts_from[current.versions] = min(current.counts_from, other)
        # Two pages of one fetch, or two machines at one instant: what one of them has was there.
        if len(counts_from) > 1:
            counts_from.pop(NOTHING, None)
        merged = [Observation(seen, versions, instant) for versions, instant in counts_from.items()]
        longer = extend(history[-1], merged[0]) if history and len(merged) == 1 else None
        if longer is not None:
            history[-1] = longer
        else:
            merged.sort(key=lambda observation: sorted(map(_stamp_order, observation.versions)))
            history.append(Stretch(seen, seen, seen, tuple(merged)))
    return history


def extend(stretch: Stretch, later: Observation) -> Stretch | None:
    """Return the stretch with one more, later observation. Return None if that differs from the stretch.

    Where something was not public yet, a stretch is one observation: a fetch between two of them may have lacked the
    item, which matters once a version is stamped with an instant before that.
    """
    (first, *others) = stretch.observations
    if others or first.versions != later.versions or not first.is_all_public:
        return None
    # An observation that counts earlier vouches for the whole stretch.
    earliest = first._replace(counts_from=min(first.counts_from, later.counts_from))
    return Stretch(stretch.first, stretch.last, later.seen, (earliest,))


def proofs(history: Sequence[Stretch]) -> Iterator[Proof]:
    """Yield all evidence that the stretches of one item contain (rules 3 and 4)."""
    for place, stretch in enumerate(history):
        for current in stretch.observations:
            public = current.public
            believed = {version for version in public if _is_believed(version, history[:place], stretch.first)}
            for version in believed:
                stamped_at = version.stamped_at if version.stamped_at is not None else stretch.first
                # Rule 5: not before the fetch that has the stamp depends on nothing later.
                yield Proof(stamped_at, stretch.first, version, max(stamped_at, current.counts_from), is_stamp=True)
            latest = representative(public)
            first_seen = None if latest is None or latest in believed else _first_observed(latest, history)
            seen = stretch.first
            yield Proof(seen, seen, latest, seen, first_seen, _spared(current, latest))  # rule 3


def validities(history: Sequence[Stretch]) -> list[Validity]:
    """Return which version is valid from when, in order of time (rules 5 and 6). Before the first, none is."""
    result: list[Validity] = []
    pieces = sorted(proofs(history), key=attrgetter("usable_from"))
    stamps = {piece.version[:2] for piece in pieces if piece.version is not None}
    is_simple = not any(piece.spares for piece in pieces) and len({content for content, _ in stamps}) == len(stamps)
    usable: list[Proof] = []
    for start, group in groupby(pieces, key=attrgetter("usable_from")):
        usable += group
        best = _decisive(usable if is_simple else _corrected(usable))
        # Unless something is spared or stamped anew, what is earlier than the best will never decide.
        usable = [best] if is_simple else usable
        validity = Validity(start, best.version, best.first_seen)
        if not result or result[-1][1:] != validity[1:]:
            result.append(validity)
    return result


def _corrected(usable: Sequence[Proof]) -> Iterator[Proof]:
    """Yield the evidence, each content with the stamps of the last observation that has it on a stamp (rule 5)."""
    last: dict[str, Proof] = {}
    for piece in sorted(usable, key=_time_order):
        if piece.version is not None and piece.is_stamp:
            known = last.get(piece.version.content)
            last[piece.version.content] = piece if known is None or piece.seen >= known.seen else known
    for piece in usable:
        newer = None if piece.version is None else last.get(piece.version.content)
        if newer is None or not _corrects(newer, piece):
            yield piece
        elif not piece.is_stamp:
            yield piece._replace(version=newer.version, first_seen=None)


def _corrects(newer: Proof, piece: Proof) -> bool:
    """Return whether evidence of the same content is of a later observation, and has another stamp."""
    stamps = [known.version and known.version.stamped_at for known in (newer, piece)]
    return newer.seen > piece.seen and None not in stamps and stamps[0] != stamps[1]


def _decisive(usable: Iterable[Proof]) -> Proof:
    """Return the latest evidence (rule 6), or what that spares."""
    first, *later = sorted(usable, key=_time_order)
    best = first
    for piece in later:
        if not _spares(best.version, piece):
            best = piece
    return best


def representative(versions: Iterable[ItemVersion]) -> ItemVersion | None:
    """Return which of the versions of one observation represents it; None if there are none."""
    return max(versions, key=_stamp_order, default=None)


def _spared(current: Observation, latest: ItemVersion | None) -> frozenset[str]:
    """Return the contents of an observation, represented by ``latest``, that were there and do not show since when."""
    is_dated = latest is not None and latest.stamped_at is not None
    return NO_CONTENT if is_dated else frozenset(version.content for version in current.versions)


def _spares(known: ItemVersion | None, later: Proof) -> bool:
    """Return whether later evidence leaves a version as it is."""
    if known is None or known.content not in later.spares:
        return False
    return later.version is None or known.stamped_at is not None


def sole_validity(stamped_at: int | None, seen: int, counts_from: int) -> tuple[int, int | None]:
    """Return ``start`` and ``first_seen`` of the only validity of an item that was observed once, in one version.

    Most items are of this kind, and :func:`validities` returns the same at many times the cost.
    """
    return (seen, seen) if stamped_at is None else (max(stamped_at, counts_from), None)


def _is_believed(version: ItemVersion, earlier: Sequence[Stretch], first: int) -> bool:
    """Return whether the stamp is evidence (rule 4), in a stretch that begins at ``first`` after ``earlier`` ones."""
    if version.stamped_at is None:
        return False
    between = (stretch for stretch in reversed(earlier) if version.stamped_at <= stretch.last < first)
    same = version.content
    return all(
        any(other.content == same for other in observed.versions)
        for stretch in between
        for observed in stretch.observations
    )


def _first_observed(version: ItemVersion, history: Sequence[Stretch]) -> int:
    """Return when the version was first observed. What only another key tells apart (evidence) is the same version."""
    same = version[:2]
    return next(
        stretch.first
        for stretch in history
        for observed in stretch.observations
        if any(other[:2] == same for other in observed.public)
    )


def _stamp_order(version: ItemVersion) -> tuple[bool, int, str, str]:
    return version.stamped_at is not None, version.stamped_at or 0, version.key, version.content


def _time_order(piece: Proof) -> tuple[int, int, tuple[bool, int, str, str]]:
    return piece.time, piece.seen, _stamp_order(piece.version) if piece.version else (False, 0, "", "")
