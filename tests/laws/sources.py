"""Sources that change while they are read, as a model: what each says at an instant, and what an archive saw of it.

Instants are small whole numbers. A source is a list of :class:`Said`; a capture is a :class:`Read`
of the rule. Nothing here knows how the rule decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import NamedTuple

from pit_fetch.archive.store.history import Read, Version

END = 60
KINDS = (
    "marked", "unmarked", "back-dated edit", "back-dated insert", "there and back", "deleted", "undated", "vintages",
    "running bar", "restored", "evidence",
)  # fmt: skip
# Of these, each claim is the truth and nothing goes away.
HONEST = ("marked", "vintages", "running bar")


class Saying(NamedTuple):
    """From ``begins`` on the source says ``versions`` of an item (none: it has gone)."""

    begins: int
    versions: frozenset[Version]


Item = Sequence[Saying]
Source = Mapping[str, Item]


class Window(NamedTuple):
    """What a complete read covers, by the instant that an item bears."""

    since: int
    until: int


class Captured(NamedTuple):
    """The reads of one archive, in order, and the window of each."""

    reads: tuple[Read, ...]
    windows: Mapping[int, Window]

    def holds(self, read: Read, said: frozenset[Version]) -> bool:
        window = self.windows[id(read.said)]
        return any(one.claim is None or window.since <= one.claim <= window.until for one in said)


def item(rng: Random, kind: str, name: str) -> Item:
    """One item of a source that behaves as ``kind`` says."""
    born = rng.randrange(1, END - 10)
    later = sorted(rng.sample(range(born + 1, END), 3))

    def one(content: str, claim: int | None, key: str = "") -> frozenset[Version]:
        return frozenset({Version(name + content, claim, key)})

    match kind:
        case "marked":
            return [Saying(born, one("A", born)), *(Saying(t, one(f"{t}", t)) for t in later)]
        case "unmarked":
            return [Saying(born, one("A", born)), Saying(later[0], one("B", born))]
        case "back-dated edit":
            return [Saying(born, one("A", born)), Saying(later[1], one("B", rng.randrange(born, later[1] + 1)))]
        case "back-dated insert":
            return [Saying(later[0], one("A", rng.randrange(0, later[0])))]
        case "there and back":
            claims = (born, rng.choice((born, later[0])), rng.choice((born, later[1])))
            return [Saying(t, one(c, claim)) for t, c, claim in zip((born, *later), "ABA", claims, strict=False)]
        case "deleted":
            return [Saying(born, one("A", born)), Saying(later[0], frozenset())]
        case "restored":
            return [Saying(born, one("A", born)), Saying(later[0], frozenset()), Saying(later[1], one("A", born))]
        case "undated":
            return [Saying(born, one("A", None)), Saying(later[0], one("B", None)), Saying(later[1], frozenset())]
        case "vintages":
            stamps = [born, *later]
            every = [Version(f"{name}{t}", t) for t in stamps]
            return [Saying(t, frozenset(every[: place + 1])) for place, t in enumerate(stamps)]
        case "running bar":
            ends = later[1]
            return [Saying(born, one("r", ends)), Saying(later[0], one("s", ends)), Saying(ends, one("final", ends))]
        case "evidence":
            late = rng.randrange(born, later[0] + 1)
            return [Saying(born, one("A", late, "day")), Saying(later[0], one("A", born, "header"))]
    raise AssertionError(kind)


def source(rng: Random, kinds: Sequence[str] = KINDS) -> dict[str, Item]:
    """Some items of any kinds."""
    chosen = [rng.choice(kinds) for _ in range(rng.randrange(1, 5))]
    return {f"{name}": item(rng, kind, name) for name, kind in zip("wxyz", chosen, strict=False)}


def said(source: Source, instant: int) -> dict[str, frozenset[Version]]:
    """All that the source says at ``instant``."""
    now = {}
    for name, sayings in source.items():
        begun = [one for one in sayings if one.begins <= instant]
        if begun and begun[-1].versions:
            now[name] = begun[-1].versions
    return now


def capture(
    rng: Random, source: Source, *, whole: bool = False, most: int = 7, beside: Captured | None = None
) -> Captured:
    """An archive of ``source``: complete and limited reads, with and without a PIT, and captures; a clock may be late.

    ``whole``: only complete reads of everything. ``beside``: another archive, whose instants this one often shares.
    """
    reads, windows = [], {}
    # How far behind the source is what this archive is served (by a cache), or how far ahead its clock is.
    slow = 0 if whole else rng.choice((0, 0, 2, 12))
    changes = [near for sayings in source.values() for one in sayings for near in range(one.begins - 2, one.begins + 3)]
    shared = [read.seen - slow for read in beside.reads] if beside else changes
    near = [one for one in shared if 0 < one < END]
    times = near if beside else rng.choice((range(1, END), near))
    for true in sorted(rng.choices(times or [1], k=rng.randrange(1, most))):
        seen, everything = true + slow, said(source, true)
        pit = seen if whole or rng.random() < 0.5 else rng.randrange(0, seen + 1)
        since = 0 if whole or rng.random() < 0.6 else rng.randrange(0, END)
        window = Window(since, pit)
        found = {name: versions for name, versions in everything.items() if _in(window, versions)}
        limited = not whole and rng.random() < 0.3
        if limited:
            found = dict(rng.sample(sorted(found.items()), rng.randrange(0, len(found) + 1)))
        captured = not limited and rng.random() < 0.4
        read = Read(seen, found, bool(found) and not limited, -1 if captured else pit)
        reads.append(read)
        windows[id(found)] = window
    return Captured(tuple(reads), windows)


def _in(window: Window, versions: frozenset[Version]) -> bool:
    # A server's window is coarse: what was to come after it is sent as well.
    return any(one.claim is None or one.claim >= window.since for one in versions)


def merged(archives: Sequence[Captured]) -> Captured:
    """Several archives as one, in the order of receipt; reads of one instant in a fixed order."""
    reads = sorted(
        (read for one in archives for read in one.reads),
        key=lambda read: (read.seen, len(read.said), repr(_sorted(read)), read.free),
    )
    return Captured(tuple(reads), {key: value for one in archives for key, value in one.windows.items()})


def _sorted(read: Read) -> list[tuple[str, list[Version]]]:
    return [(name, sorted(versions, key=repr)) for name, versions in sorted(read.said.items())]
