"""A panel's cell is the fetch at its instant, whatever stands beside it, and its universe is that of its day."""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, get_args
from unittest.mock import patch

from pit_fetch.archive.archived import Archived, OpenArchives
from pit_fetch.archive.store import index, reading, schema
from pit_fetch.archive_admin.capture import jobs
from pit_fetch.archive_admin.capture.run import Shown
from pit_fetch.engine.registry import load
from pit_fetch.errors import UsageError
from pit_fetch.panels.cells import Status, status_of
from pit_fetch.panels.grid import grid_of
from pit_fetch.panels.output import PanelFile
from pit_fetch.panels.panel import Panel
from pit_fetch.panels.universe import members, subjects
from pit_fetch.provider import Operation
from pit_fetch.runtime import Runtime
from pit_fetch.testing.inprocess import Left, TestClock
from pit_fetch.testing.server import Answering, App, Response
from pit_fetch.times import NEW_YORK
from pit_fetch.transport import HttpRequest
from tests.laws import archived
from tests.laws.coverage import question_of
from tests.laws.worlds import SECRETS, Case, run, surroundings
from tests.providers.bz_news_api import server as bz
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


def swept(case: Case, rng: Random) -> int:
    """The cells of a panel of an archive alone, which one sweep answers, are the fetches at their instants.

    The archive was filled at several times, by captures and by fetches, from worlds that differ; the instants lie
    around these times and the PIT. Options that choose among what is public are those of both.
    """
    question = question_of(case)
    if question is None or case.ceiling:
        return 0
    times = sorted(case.moment + _some_while(rng) for _ in range(rng.randint(1, 4)))
    with archived.archive() as path:
        for now in times:
            app, environ = rng.choice(case.worlds), archived.environ(path)
            if rng.random() < 0.6:
                archived.capture(case, app, path, case.words, now)
            else:
                pit = rng.choice(("", min(now, case.moment + _some_while(rng)).isoformat()))
                run(case, app, pit=pit, now=now, environ=environ)
        if not path.exists():
            return 0
        if rng.random() < 0.3:  # some of it is not in the index yet
            with closing(schema.open_to_write(str(path))) as connection, schema.transaction(connection):
                for stream in index.streams(connection):
                    index.defer_all(connection, stream)
        around = [case.moment, case.moment + timedelta(days=901), *times]
        pits = {rng.choice(around) + rng.choice((_NOTHING, _MOMENT, -_MOMENT, _some_while(rng))) for _ in range(24)}
        options = {**question.values, **_choosing(question.query.operation, rng), "archive": str(path), "offline": True}
        with surroundings(case, archived.nobody) as runtime:
            grid = grid_of(case.source, sorted(pits), {}, options, runtime)
            cells = [*Panel(grid)]
            for cell in cells:
                single = grid.fetch(cell.over, cell.pit)
                assert (cell.envelope, vars(cell.envelope)) == (single, vars(single)), cell.pit
                assert cell.status == status_of(single)
                assert cell.answer.items == single.data
    return len(cells)


_NOTHING, _MOMENT = timedelta(0), timedelta(microseconds=1)


def _some_while(rng: Random) -> timedelta:
    most = rng.choice((timedelta(seconds=5), timedelta(hours=30), timedelta(days=60)))
    return most * rng.uniform(-1, 1)


def _choosing(operation: Operation, rng: Random) -> dict[str, Any]:
    """Return options that choose among public items."""
    newest = {"newest": rng.randint(1, 3)} if operation.period and rng.random() < 0.4 else {}
    limit = {"limit": rng.randint(1, 4)} if rng.random() < 0.3 else {}
    evidence = {"evidence": "claimed"} if operation.dating.claims and rng.random() < 0.2 else {}
    return {**newest, **limit, **evidence}


_FIRST = date(2024, 2, 1)


def universe(rng: Random) -> int:
    """Who is asked about at an instant depends on no line that begins later, and on no end that comes later.

    In which order is up to the file, and how it calls the days: they are never taken for something else.
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
    with suppress(UsageError):  # under other names, the days count or are refused
        assert _asked(stints, instant, rng, rng.choice(("symbol,start,end\n", "symbol,from,until\n"))) == expected
    return 3


Stint = tuple[str, date | None, date | None]


def _stint(rng: Random) -> Stint:
    days = [_FIRST + timedelta(days=day) for day in sorted((rng.randint(0, 12), rng.randint(0, 12)))]
    since, until = (day if rng.random() < 0.7 else None for day in days)
    return rng.choice(("IBM", "GE", "LEH")), since, until


def _asked(stints: list[Stint], instant: datetime, rng: Random, head: str = "") -> list[str]:
    """Return the symbols of a universe in a file, written as people write one."""
    head = head or rng.choice(("symbol,from,to\n", "symbol, From, To\n"))
    text = rng.choice(("", "# the index\n", "\n")) + head
    text += "".join(f"{symbol},{since or ''},{until or ''}\n" for symbol, since, until in stints)
    named = {"symbol": members("symbol", "@index.csv", lambda path: text)} if stints else {"symbol": []}
    return sorted(subject.over["symbol"] for subject in subjects(named, [instant]))


_TICKERS = ("AAPL", "IBM", "MSFT")
_START = datetime(2026, 6, 1, tzinfo=UTC)
Rows = list[dict[str, str]]
# When each article came out, and the article.
News = list[tuple[datetime, dict[str, Any]]]


def instants_ahead(rng: Random) -> int:
    """A panel that was begun before some of its instants is, once they have come, the panel of one run.

    It was broken off, or some of its subjects failed, at any times before.
    """
    news = [_article(number, rng) for number in range(1, rng.randint(2, 12))]
    pits = sorted({_some_time(rng) for _ in range(rng.randint(1, 4))})
    *times, end = sorted(_some_time(rng) for _ in range(rng.randint(2, 4)))
    with TemporaryDirectory() as folder:
        for now in times:
            _run(folder, "panel.csv", pits, now, news, set(_some(rng)), rng.randint(1, 20))
        rows, whole = (_run(folder, name, pits, end, news, set()) for name in ("panel.csv", "whole.csv"))
    assert whole
    assert _settled(rows, end) == _settled(whole, end)
    assert {row["status"] for row in rows} <= {*get_args(Status)}
    return len(times)


def states(rng: Random) -> int:
    """A panel of an archive that grew after it was broken off has answers of one state, the last.

    Whether the same object is written again or another one, nothing that was kept of an earlier state counts.
    """
    news = [_article(number, rng) for number in range(1, rng.randint(3, 9))]
    pits, end = sorted({_some_time(rng) for _ in range(2)}), _START + timedelta(days=30)
    seen = sorted(_some_time(rng) for _ in range(2))
    with TemporaryDirectory() as folder:
        make = partial(_of_archive, folder, pits, end)
        _captured(folder, news, seen[0])
        panel, broken, fresh = make(), f"{folder}/panel.csv", f"{folder}/fresh.csv"
        _break_off(panel, broken, rng.randint(1, len(_TICKERS)))
        _captured(folder, news, seen[1])
        rng.choice((panel, make())).write(broken)
        make().write(fresh)
        assert Path(broken).read_bytes() == Path(fresh).read_bytes()
    return 1


def limits(rng: Random) -> int:
    """A cell is "ok" if it has all that was public, or as many items as the limit, and "incomplete" otherwise.

    By counting, for as many pages as are read at the most.
    """
    pit, public, page = _START + timedelta(days=1), rng.randint(1, 250), 100
    served = bz.app([bz.article(number, pit - timedelta(minutes=number)) for number in range(1, public + 1)])
    limit, most = rng.choice((None, rng.randint(1, 300))), rng.choice((None, 1, 2, 3))
    options = {"fields": ["title"], "limit": limit, **({} if most is None else {"max_pages": most})}
    with TemporaryDirectory() as folder:
        runtime = _runtime(folder, served, TestClock(pit + timedelta(days=1)))
        (cell,) = Panel(grid_of("bz-news-api", [pit], {}, options, runtime))
    wanted = min(public, limit or public)
    assert len(cell.envelope.data) == min(wanted, page * (most or 10))
    assert cell.status == ("ok" if len(cell.envelope.data) == wanted else "incomplete")
    return 1


def disturbed(rng: Random) -> int:
    """A panel of a user who may not write to the archive, while its owner records, is that of one state of it.

    The owner records once, before any of the panel's readings or after all of them.
    """
    news = [_article(number, rng) for number in range(1, rng.randint(3, 9))]
    pits, end = sorted({_some_time(rng) for _ in range(2)}), _START + timedelta(days=30)
    seen = sorted(_some_time(rng) for _ in range(2))
    with TemporaryDirectory() as folder:
        path = Path(folder, "archive.db")
        _captured(folder, news, seen[0])
        _of_archive(folder, pits, end).write(f"{folder}/before.csv")
        panel = _of_archive(folder, pits, end)
        while not reading.file_state(str(path)).is_settled(time.time_ns()):
            time.sleep(0.001)
        with _recorded_before(rng.randint(1, 12), lambda: _captured(folder, news, seen[1])):
            panel.write(f"{folder}/panel.csv")
        _of_archive(folder, pits, end).write(f"{folder}/after.csv")
        found, before, after = (Path(folder, f"{name}.csv").read_bytes() for name in ("panel", "before", "after"))
        assert found in (before, after), "neither what the archive held before, nor what it held then"
    return 1


@contextmanager
def _recorded_before(number: int, record: Callable[[], None]) -> Iterator[None]:
    """Let nobody who reads an archive write to it, and its owner record before a reading, by its number."""
    reads, read = iter(range(1, number)), OpenArchives.open_archive

    def disturbed(archives: OpenArchives, path: str) -> Archived:
        nonlocal number
        if next(reads, None) is None and number:
            number = 0
            record()
        return read(archives, path)

    allowed = partial(schema.open_to_read, allowed=lambda path: False)
    with patch.object(schema, "open_to_read", allowed), patch.object(OpenArchives, "open_archive", disturbed):
        yield


def _of_archive(folder: str, pits: list[datetime], now: datetime) -> Panel:
    def nobody(request: HttpRequest) -> Response:
        raise AssertionError("the network was asked")

    runtime = _runtime(folder, nobody, TestClock(now))
    options = {"fields": ["title"], "lookback_minutes": 20_000, "archive": f"{folder}/archive.db", "offline": True}
    return Panel(grid_of("bz-news-api", pits, {"tickers": _TICKERS}, options, runtime))


def _captured(folder: str, news: News, now: datetime) -> None:
    """Record all that is there at a time."""
    served = bz.app([article for public, article in news if public <= now])
    request = {"source": "bz-news-api", "date_from": "2026-05-01"}
    runtime = _runtime(folder, served, TestClock(now))
    jobs.carry_out(jobs.requests_job([request], runtime)._replace(again=True), f"{folder}/archive.db", runtime, Shown())


def _break_off(panel: Panel, path: str, subjects: int) -> None:
    """Interrupt the panel after so many subjects."""
    rest = iter(range(subjects - 1))

    def stop(cells: int) -> None:
        if next(rest, None) is None:
            raise KeyboardInterrupt

    with suppress(KeyboardInterrupt):
        PanelFile(panel._grid, path).write(on_cells=stop)


def _run(
    folder: str,
    name: str,
    pits: list[datetime],
    now: datetime,
    news: News,
    failing: set[str],
    patience: int = 1_000,
) -> Rows:
    """Write the panel at a time, when some of the news is there. It is broken off after so many calls."""
    served, calls = bz.app([article for public, article in news if public <= now]), iter(range(patience))

    def app(request: HttpRequest) -> Response:
        if next(calls, None) is None:
            raise KeyboardInterrupt
        return Response(b"", 404) if request.query["tickers"] in failing else served(request)

    runtime, path = _runtime(folder, app, TestClock(now)), Path(folder, name)
    options = {"fields": ["title"], "lookback_minutes": 20_000}
    try:
        Panel(grid_of("bz-news-api", pits, {"tickers": _TICKERS}, options, runtime)).write(path)
    except KeyboardInterrupt:
        return []
    return [*csv.DictReader(path.read_text().splitlines())] if path.exists() else []


def _runtime(folder: str, app: App, clock: TestClock) -> Runtime:
    environ = {"HOME": folder, **bz.VARIABLES, "PIT_FETCH_RATE_API_BENZINGA_COM": "10000/0.001"}
    return Runtime(environ, folder, clock.value(), Answering(app, clock.now), load, lambda seconds: b"")


def _article(number: int, rng: Random) -> tuple[datetime, dict[str, Any]]:
    public, stocks = _some_time(rng), [{"name": ticker, "exchange": "N"} for ticker in _some(rng)]
    return public, bz.article(number, public, stocks=stocks)


def _settled(rows: Rows, now: datetime) -> Rows:
    return [row for row in rows if datetime.fromisoformat(row["pit"]) < now]


def _some_time(rng: Random) -> datetime:
    return _START + timedelta(hours=6 * rng.randint(0, 24))


def _some(rng: Random) -> list[str]:
    return rng.sample(_TICKERS, rng.randint(0, len(_TICKERS)))


def laws(makers: Mapping[str, Callable[[Random], Case]]) -> Mapping[str, Callable[[Random], int]]:
    """The law of cells for every source, and those of what all panels have in common."""

    def of(make: Callable[[Random], Case]) -> Callable[[Random], int]:
        return lambda rng: cells(make(rng), rng)

    def swept_of(make: Callable[[Random], Case]) -> Callable[[Random], int]:
        return lambda rng: swept(make(rng), rng)

    of_sources = {f"{source}: panel": of(make) for source, make in makers.items()}
    of_sources |= {f"{source}: panel swept": swept_of(make) for source, make in makers.items()}
    of_all = {"panel: universe": universe, "panel: instants ahead": instants_ahead}
    of_archives = {"panel: states": states, "panel: disturbed": disturbed}
    return {**of_sources, **of_all, **of_archives, "panel: limits": limits}
