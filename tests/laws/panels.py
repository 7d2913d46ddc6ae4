"""A panel's cell is the fetch at its instant, whatever stands beside it, and its universe is that of its day."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from random import Random

from pit_fetch.panels.grid import grid_of
from pit_fetch.panels.panel import Panel
from pit_fetch.panels.universe import members, subjects
from pit_fetch.testing.inprocess import Left
from pit_fetch.testing.server import App
from pit_fetch.times import NEW_YORK
from tests.laws.coverage import question_of
from tests.laws.worlds import SECRETS, Case, run, surroundings
from tests.worlds import same_bytes

_LIMIT = 100_000  # of Question.words


def cells(case: Case, rng: Random) -> int:
    """The cells of a panel are the fetches at their instants; those up to the PIT are bytes that no later record moves.

    Instants before and after the PIT stand in one panel, in any order.
    """
    question = question_of(case)
    if question is None or case.ceiling:
        return 0
    later = rng.choice((timedelta(seconds=1), timedelta(hours=1), timedelta(days=30)))
    pits = [case.moment + later, case.moment, case.moment - later]
    rng.shuffle(pits)

    def ask(app: App) -> Left:
        with surroundings(case, app) as runtime:
            panel = Panel(grid_of(case.source, pits, {}, {**question.values, "limit": _LIMIT}, runtime))
            answered = [(cell.pit, cell.status, dict(cell.envelope)) for cell in panel]
        for pit, _, envelope in answered:
            assert envelope == run(case, app, pit=pit.isoformat(), words=question.words).envelope
        return Left(json.dumps([rest for pit, *rest in answered if pit <= case.moment]), "", 0)

    same_bytes(ask, case.worlds, SECRETS)
    return len(case.worlds) - 1


_FIRST = date(2024, 2, 1)


def universe(rng: Random) -> int:
    """Who is asked about at an instant depends on no line that begins later, and on no end that comes later.

    In which order is up to the file.
    """
    stints = [_stint(rng) for _ in range(rng.randint(1, 8))]
    instant = datetime(2024, 2, rng.randint(1, 12), rng.randint(0, 23), tzinfo=UTC)
    today = instant.astimezone(NEW_YORK).date()
    known = [
        (symbol, since, until if until and until < today else None)
        for symbol, since, until in stints
        if not since or since <= today
    ]
    expected = sorted({symbol for symbol, _, until in known if until is None})
    assert _asked(stints, instant, rng) == expected
    assert _asked(known, instant, rng) == expected
    return 2


Stint = tuple[str, date | None, date | None]


def _stint(rng: Random) -> Stint:
    days = [_FIRST + timedelta(days=day) for day in sorted((rng.randint(0, 12), rng.randint(0, 12)))]
    since, until = (day if rng.random() < 0.7 else None for day in days)
    return rng.choice(("IBM", "GE", "LEH")), since, until


def _asked(stints: list[Stint], instant: datetime, rng: Random) -> list[str]:
    """Return the symbols of a universe in a file, written as people write one."""
    text = rng.choice(("", "# the index\n", "\n")) + rng.choice(("symbol,from,to\n", "symbol, From, To\n"))
    text += "".join(f"{symbol},{since or ''},{until or ''}\n" for symbol, since, until in stints)
    named = {"symbol": members("symbol", "@index.csv", lambda path: text)} if stints else {"symbol": []}
    return sorted(subject.over["symbol"] for subject in subjects(named, [instant]))


def laws(makers: Mapping[str, Callable[[Random], Case]]) -> Mapping[str, Callable[[Random], int]]:
    """The law of cells for every source, and that of the universe."""

    def of(make: Callable[[Random], Case]) -> Callable[[Random], int]:
        return lambda rng: cells(make(rng), rng)

    return {**{f"{source}: panel": of(make) for source, make in makers.items()}, "panel: universe": universe}
