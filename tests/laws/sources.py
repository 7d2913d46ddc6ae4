"""Sources that change while they are fetched, as a model: what each contains at an instant, and what an archive saw.

Instants are small whole numbers. Nothing here knows how the rules of the archive decide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import NamedTuple

from pit_fetch.archive.store.history import ItemVersion
from tests.laws.observed import FetchObservation

END = 60
KINDS = (
    "marked", "unmarked", "back-dated edit", "back-dated insert", "there and back", "deleted", "undated", "vintages",
    "running bar", "restored", "evidence", "redated", "sometimes dated",
)  # fmt: skip
# Of these, each stamp is true and nothing is deleted.
HONEST = ("marked", "vintages", "running bar")


class State(NamedTuple):
    """From ``begins`` on, the source contains ``versions`` of an item (none: it is gone)."""

    begins: int
    versions: frozenset[ItemVersion]


Item = Sequence[State]
Source = Mapping[str, Item]


class Window(NamedTuple):
    """The instants that a complete fetch covers; ``among``: of the items with these names alone, if it has any."""

    since: int
    until: int
    among: str = ""

    def covers(self, version: ItemVersion) -> bool:
        is_asked = not self.among or version.content[0] in self.among
        return is_asked and (version.stamped_at is None or self.since <= version.stamped_at <= self.until)


class Captured(NamedTuple):
    """The fetches of one archive, in order, and the window of each by the id of its items."""

    fetches: tuple[FetchObservation, ...]
    windows: Mapping[int, Window]

    def window_covers(self, fetch: FetchObservation, versions: frozenset[ItemVersion]) -> bool:
        window = self.windows[id(fetch.items)]
        return any(map(window.covers, versions))


def item(rng: Random, kind: str, name: str) -> Item:
    """Return the states of one item of a source of this kind."""
    born = rng.randrange(1, END - 10)
    later = sorted(rng.sample(range(born + 1, END), 3))

    def only(content: str, stamped_at: int | None, key: str = "") -> frozenset[ItemVersion]:
        return frozenset({ItemVersion(name + content, stamped_at, key)})

    match kind:
        case "marked":
            return [State(born, only("A", born)), *(State(t, only(f"{t}", t)) for t in later)]
        case "unmarked":
            return [State(born, only("A", born)), State(later[0], only("B", born))]
        case "back-dated edit":
            return [State(born, only("A", born)), State(later[1], only("B", rng.randrange(born, later[1] + 1)))]
        case "back-dated insert":
            return [State(later[0], only("A", rng.randrange(0, later[0])))]
        case "there and back":
            stamped = (born, rng.choice((born, later[0])), rng.choice((born, later[1])))
            return [State(t, only(c, stamp)) for t, c, stamp in zip((born, *later), "ABA", stamped, strict=False)]
        case "deleted":
            return [State(born, only("A", born)), State(later[0], frozenset())]
        case "restored":
            return [State(born, only("A", born)), State(later[0], frozenset()), State(later[1], only("A", born))]
        case "undated":
            return [State(born, only("A", None)), State(later[0], only("B", None)), State(later[1], frozenset())]
        case "sometimes dated":  # by a source that finds a date in one fetch and none in another
            found = [rng.choice((None, born)) for _ in range(4)]
            return [State(t, only(rng.choice("AAAB"), stamp)) for t, stamp in zip((born, *later), found, strict=False)]
        case "vintages":
            stamps = [born, *later]
            every = [ItemVersion(f"{name}{t}", t) for t in stamps]
            return [State(t, frozenset(every[: place + 1])) for place, t in enumerate(stamps)]
        case "running bar":
            ends = later[1]
            return [State(born, only("r", ends)), State(later[0], only("s", ends)), State(ends, only("final", ends))]
        case "evidence":
            late = rng.randrange(born, later[0] + 1)
            return [State(born, only("A", late, "day")), State(later[0], only("A", born, "header"))]
        case "redated":
            stamps = [rng.randrange(born, END) for _ in range(4)]
            return [State(t, only(rng.choice("AAAB"), stamp)) for t, stamp in zip((born, *later), stamps, strict=True)]
    raise AssertionError(kind)


def source(rng: Random, kinds: Sequence[str] = KINDS) -> dict[str, Item]:
    """Return some items of any kinds."""
    chosen = [rng.choice(kinds) for _ in range(rng.randrange(1, 5))]
    return {f"{name}": item(rng, kind, name) for name, kind in zip("wxyz", chosen, strict=False)}


def content(source: Source, instant: int) -> dict[str, frozenset[ItemVersion]]:
    """Return everything that the source contains at ``instant``."""
    items = {}
    for name, states in source.items():
        begun = [state for state in states if state.begins <= instant]
        if begun and begun[-1].versions:
            items[name] = begun[-1].versions
    return items


def capture(
    rng: Random, source: Source, *, whole: bool = False, most: int = 7, beside: Captured | None = None
) -> Captured:
    """Return an archive of complete and limited fetches, with and without a PIT, and captures; a clock may be late.

    ``whole``: only complete fetches of everything. ``beside``: another archive, with whose instants many coincide.
    """
    fetches, windows = [], {}
    # How far the replies lag behind the source (a cache), or how far the clock of the archive is ahead.
    lag = 0 if whole else rng.choice((0, 0, 2, 12))
    changes = [
        near for states in source.values() for state in states for near in range(state.begins - 2, state.begins + 3)
    ]
    shared = [fetch.seen - lag for fetch in beside.fetches] if beside else changes
    near = [instant for instant in shared if 0 < instant < END]
    times = near if beside else rng.choice((range(1, END), near))
    for true in sorted(rng.choices(times or [1], k=rng.randrange(1, most))):
        seen, everything = true + lag, content(source, true)
        pit = seen if whole or rng.random() < 0.5 else rng.randrange(0, seen + 1)
        since = 0 if whole or rng.random() < 0.6 else rng.randrange(0, END)
        window = Window(since, pit, "" if whole else rng.choice(("", "", "wx", "y")))
        items = {name: versions for name, versions in everything.items() if _is_in(window, versions)}
        limited = not whole and rng.random() < 0.3
        if limited:
            items = dict(rng.sample(sorted(items.items()), rng.randrange(0, len(items) + 1)))
        captured = not limited and rng.random() < 0.4
        fetches.append(FetchObservation(seen, items, bool(items) and not limited, -1 if captured else pit))
        windows[id(items)] = window
    return Captured(tuple(fetches), windows)


def _is_in(window: Window, versions: frozenset[ItemVersion]) -> bool:
    # A server's window is coarse: later items are sent as well.
    return any(version.stamped_at is None or version.stamped_at >= window.since for version in versions) and any(
        not window.among or version.content[0] in window.among for version in versions
    )


def merged(archives: Sequence[Captured]) -> Captured:
    """Return several archives as one, in the order of receipt. Fetches of one instant have a fixed order."""
    fetches = sorted(
        (fetch for archive in archives for fetch in archive.fetches),
        key=lambda fetch: (fetch.seen, len(fetch.items), repr(_sorted(fetch)), fetch.counts_from),
    )
    return Captured(tuple(fetches), {key: window for archive in archives for key, window in archive.windows.items()})


def _sorted(fetch: FetchObservation) -> list[tuple[str, list[ItemVersion]]]:
    return [(name, sorted(versions, key=repr)) for name, versions in sorted(fetch.items.items())]
