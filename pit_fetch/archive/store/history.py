"""What proves that a version of an item was public at an instant, and which version rules. Pure.

Instants are whole numbers (microseconds of UTC). The rules, as the code applies them:

 1. A *read* is one fetch. What it says of an item at the instant of its receipt is a *sight*: the
    versions that were public by then. A version whose own stamps are later (a running bar) is not one.
 2. A complete read that lacks an item, and whose window would have held it, is a sight of its absence.
 3. A sight is a proof, at its own instant.
 4. A version with stamps has a *claim*, the later of them. It is a proof, at the instant it names, unless
    the item was seen with other content (or absent) at or after the claim and before the sight: then
    the source changed it without a mark, and sight is all we have.
 5. A claim counts at T only if it appears in a read that depends on nothing after T.
 6. At T the latest proof at or before T rules; an absence serves nothing. Ties: the later sight, then the key.
 7. The stamps shown are at most the proof. Where the claim does not stand, the sight shows as ``first_seen_at``.

Several versions in one sight are vintages: each has its claim, and the greatest one rules the sight.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple


class Version(NamedTuple):
    """What a source said of an item.

    content  a digest of what it says, without stamps and evidence: two versions of one content do not contradict
    claim    the later of its stamps; None if it has none
    key      tells versions apart that have one claim, and settles which one rules: the greater
    """

    content: str
    claim: int | None = None
    key: str = ""


Said = frozenset[Version]
ABSENT: Said = frozenset()


class Sight(NamedTuple):
    """What one read said of an item.

    seen  when the read was received
    said  its versions; none if the item was absent, or only running
    free  the first instant at which the claims of this read count: it depends on nothing later
    """

    seen: int
    said: Said
    free: int


class Run(NamedTuple):
    """Consecutive sights that say the same, or several at one instant that do not (of two archives, say)."""

    first: int
    last: int
    sights: tuple[Sight, ...]


class Proof(NamedTuple):
    """That ``version`` was public at ``time`` (None: that nothing was). It may be used from ``usable`` on.

    seen  when the read in which it appears was received
    by_sight  the first sight, if the claim does not stand
    """

    time: int
    seen: int
    version: Version | None
    usable: int
    by_sight: int | None = None


class Reign(NamedTuple):
    """From ``start`` until the next reign begins, ``version`` is the answer. ``first_seen``: sight was the proof."""

    start: int
    version: Version | None
    first_seen: int | None = None


class Read(NamedTuple):
    """One fetch, as far as the rule is concerned. ``said`` holds the versions by item, running ones included.

    complete  it ran to its end and was not empty, so that what it lacks was not there
    """

    seen: int
    said: Mapping[str, Said]
    complete: bool
    free: int


Holds = Callable[[Read, Said], bool]


def sight(seen: int, said: Iterable[Version], free: int) -> Sight:
    """(1): of what a read says, the versions that were public when it was received."""
    return Sight(seen, frozenset(one for one in said if one.claim is None or one.claim <= seen), free)


def sights(item: str, reads: Sequence[Read], holds: Holds) -> Iterator[Sight]:
    """Every sight of ``item`` that matters. ``reads`` are in the order of their receipt.

    (2): ``holds`` says whether the window of a complete read would have held these versions: those last
    seen, or, of an item that is not there, those that turn up later. In the latter case the last such
    read before them tells as much as all.
    """
    there: Said = ABSENT
    last = -1
    lacking: list[Read] = []
    before: list[Read] = []
    for read in reads:
        if item in read.said:
            found = sight(read.seen, read.said[item], read.free)
            if read.seen > last:
                before = [] if there else [one for one in lacking if last < one.seen < read.seen]
            earlier = [one for one in before if holds(one, read.said[item])]
            if earlier:
                yield Sight(earlier[-1].seen, ABSENT, earlier[-1].free)
            yield found
            if found.said or read.seen > last:  # of one instant, presence outweighs absence
                there = found.said
            last, lacking = read.seen, []
        elif read.complete and there and read.seen > last and holds(read, there):
            yield Sight(read.seen, ABSENT, read.free)
            there, last, before = ABSENT, read.seen, []
        elif read.complete and not there:
            lacking.append(read)


def runs(seen: Iterable[Sight]) -> list[Run]:
    """Sights as runs, in order. At one instant, presence outweighs absence: one of the reads had it."""
    found: list[Run] = []
    for _, moment in groupby(sorted(seen, key=attrgetter("seen")), key=attrgetter("seen")):
        together = list(moment)
        said = {one.said for one in together if one.said} or {ABSENT}
        merged = [Sight(together[0].seen, what, min(one.free for one in together if one.said == what)) for what in said]
        longer = extended(found[-1], merged[0]) if found and len(merged) == 1 else None
        if longer is not None:
            found[-1] = longer
        else:
            found.append(Run(together[0].seen, together[0].seen, tuple(sorted(merged, key=_by_said))))
    return found


def extended(run: Run, one: Sight) -> Run | None:
    """The run with one more, later sight; None if that says something else."""
    if len(run.sights) > 1 or run.sights[0].said != one.said:
        return None
    held = run.sights[0]
    return Run(run.first, one.seen, (held._replace(free=min(held.free, one.free)),))


def proofs(history: Sequence[Run]) -> Iterator[Proof]:
    """(3) and (4): every proof that the runs of one item give."""
    for place, run in enumerate(history):
        for one in run.sights:
            standing = {version for version in one.said if _stands(version, history[:place], run.first)}
            for version in standing:
                claim = version.claim if version.claim is not None else run.first
                yield Proof(claim, run.first, version, max(claim, one.free))
            ruling = max(one.said, key=_by_claim, default=None)
            yield Proof(
                run.first, run.first, ruling, run.first, None if ruling in standing or not ruling else run.first
            )


def reigns(history: Sequence[Run]) -> list[Reign]:
    """(5) and (6): which version rules when, in order. Before the first reign nothing does."""
    found: list[Reign] = []
    best: Proof | None = None
    for start, beginning in groupby(sorted(proofs(history), key=attrgetter("usable")), key=attrgetter("usable")):
        latest = max(beginning, key=_by_time)
        best = latest if best is None else max(latest, best, key=_by_time)
        reign = Reign(start, best.version, best.by_sight)
        if not found or found[-1][1:] != reign[1:]:
            found.append(reign)
    return found


def alone(claim: int | None, seen: int, free: int) -> tuple[int, int | None]:
    """The start and ``first_seen`` of the only reign of an item that one read has in one version: most items.

    It is what :func:`reigns` makes of that, at a fraction of the cost.
    """
    return (seen, seen) if claim is None else (max(claim, free), None)


def at(history: Sequence[Reign], instant: int) -> Reign | None:
    """The reign at ``instant``, if there is one."""
    place = bisect_right(history, instant, key=attrgetter("start"))
    return history[place - 1] if place else None


def _stands(version: Version, before: Sequence[Run], first: int) -> bool:
    """(4): whether the claim is a proof, in a run that begins at ``first`` after the runs ``before`` it."""
    if version.claim is None:
        return False
    return not any(
        version.claim <= run.last < first and any(_contradicts(one.said, version) for one in run.sights)
        for run in reversed(before)
    )


def _contradicts(said: Said, version: Version) -> bool:
    return all(one.content != version.content for one in said)


def _by_claim(version: Version) -> tuple[bool, int, str, str]:
    return version.claim is not None, version.claim or 0, version.key, version.content


def _by_time(proof: Proof) -> tuple[int, int, tuple[bool, int, str, str]]:
    return proof.time, proof.seen, _by_claim(proof.version) if proof.version else (False, 0, "", "")


def _by_said(one: Sight) -> list[tuple[bool, int, str, str]]:
    return sorted(map(_by_claim, one.said))
