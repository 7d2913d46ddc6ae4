"""What an archive costs, as ratios within one run: recording, as-of answers, lookups, vintages, replays.

Whole processes where an agent would wait for one, each pair in turn; lookups in process.
"""

from __future__ import annotations

import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from pit_fetch import answers as python
from pit_fetch.archive.archived import OpenArchives
from pit_fetch.archive.interpreted import stream_of
from pit_fetch.archive.store import index, ingestion, journal, microseconds, schema, tables, versions
from pit_fetch.archive.store.journal import Key
from pit_fetch.archive_admin import maintenance, replay
from pit_fetch.cli.arguments import parse
from pit_fetch.engine import registry
from pit_fetch.engine.real_runtime import real_runtime
from pit_fetch.net.hosts import base_url
from pit_fetch.panels.grid import grid_of
from pit_fetch.panels.panel import Panel
from pit_fetch.provider import Record
from pit_fetch.request.query import build_query
from pit_fetch.runtime import Runtime
from pit_fetch.testing.server import Response
from pit_fetch.transport import HttpRequest
from tests.providers.alphavantage import server as alphavantage
from tests.providers.bz_news_api import server as benzinga
from tests.repo import scale, vintages
from tests.serving import serve

RUNS = 9
BARS, REPLAYS = 6_000, 10_000
FEW, MANY = 1_000, 1_000_000
PIT = datetime.fromisoformat("2026-06-01T16:00:00-04:00")
DAILY = ["--source", "alphavantage", "TIME_SERIES_DAILY", "symbol=IBM"]
NEWS = ["--source", "bz-news-api"]
# (name, our figure, the other figure, the unit, at most)
Row = tuple[str, float, float, str, float]


def bars(count: int) -> list[alphavantage.Bar]:
    """Daily bars, newest first."""
    days = (PIT.date() - timedelta(days=n) for n in range(1, 2 * count))
    weekdays = islice((day for day in days if day.weekday() < 5), count)
    return [alphavantage.bar(day.isoformat(), f"{100 + n / 100:.2f}") for n, day in enumerate(weekdays)]


def seconds(words: Sequence[str], env: dict[str, str]) -> float:
    command = [str(Path(sys.executable).parent / "pit_fetch"), *words]
    start = time.perf_counter()
    printed = subprocess.run(command, check=True, env=env, stdout=subprocess.PIPE).stdout
    taken = time.perf_counter() - start
    assert len(json.loads(printed)["data"]) == 50, printed  # as many as it shows without --limit
    return taken


def recording(folder: Path, env: dict[str, str]) -> Iterator[Row]:
    """A fetch that records, beside the same fetch. Every reply differs from the last."""
    found = bars(BARS)
    served = [0]

    def answer(request: HttpRequest) -> Response:
        served[0] += 1
        changed = [(found[0][0], {**found[0][1], "volume": str(served[0])}), *found[1:]]
        return Response(json.dumps(alphavantage.series_document("TIME_SERIES_DAILY", changed, "US/Eastern")).encode())

    with serve(answer) as server:
        live = {**env, "PIT_FETCH_ALPHAVANTAGE_URL": server.url, "ALPHAVANTAGE_API_KEY": alphavantage.KEY}
        live["PIT_FETCH_RATE_WWW_ALPHAVANTAGE_CO"] = "10000/0.001"
        at_pit = [*DAILY, "--pit", PIT.isoformat()]
        known = {**live, "PIT_FETCH_ARCHIVE": str(folder / "known.db")}
        for _ in range(3):
            seconds(at_pit, known)
        plain, first, opened, mixed = [], [], [], []
        plain_open = []
        for run in range(RUNS):
            new = {**live, "PIT_FETCH_ARCHIVE": str(folder / f"new{run}.db")}
            plain.append(seconds(at_pit, live))
            first.append(seconds(at_pit, new))
            mixed.append(seconds(at_pit, known))
            plain_open.append(seconds(DAILY, live))
            opened.append(seconds(DAILY, new))
    yield _row(f"recording {BARS:,} bars", first, plain, 1.25)
    yield _row(f"recording {BARS:,} bars, open mode", opened, plain_open, 1.25)
    yield _row("recording, and answering from both", mixed, plain, 2.0)


def answers(folder: Path, env: dict[str, str]) -> Iterator[Row]:
    """An as-of answer of the newest of many versions, beside one of the newest of few."""
    paths = {count: folder / f"{count}.db" for count in (FEW, MANY)}
    for count, path in paths.items():
        with closing(schema.open_to_write(str(path))) as connection:
            fill(connection, count)
    words = [*NEWS, "--offline", "--pit", PIT.isoformat(), "--lookback-minutes", "100"]
    taken: dict[int, list[float]] = {FEW: [], MANY: []}
    for _ in range(RUNS):
        for count, path in paths.items():
            taken[count].append(seconds(words, {**env, "PIT_FETCH_ARCHIVE": str(path)}))
    yield _row(f"as of: {MANY:,} versions / {FEW:,}", taken[MANY], taken[FEW], 1.5)


def fill(connection: sqlite3.Connection, count: int) -> None:
    """An archive of so many articles, a minute apart, which one read had."""
    provider = registry.load("bz-news-api")
    request = parse(NEWS[2:], provider, {})
    seen = microseconds.to_micros(PIT - timedelta(seconds=30))
    hosts = {host.name: base_url(host, {}) for host in provider.hosts}
    fetch = journal.FetchEntry(seen, "live", provider.name, "", "", hosts, request.canonical, None)
    stream = stream_of(provider, build_query(request, PIT), fetch)
    with schema.transaction(connection):
        for start in range(0, count, 10_000):
            items = {
                str(n): [versions.fresh(article(n), frozenset())] for n in range(start, min(start + 10_000, count))
            }
            ingested = index.IndexedFetch(Key("bench", 1), stream, seen, False, seen, None, None, items)
            ingestion.add(connection, ingested, lambda key, records: False)


def article(number: int) -> Record:
    public = PIT.astimezone(UTC) - timedelta(minutes=number + 1)
    payload = {"title": f"Title {number}", "teaser": " ", "body": "<p>Words.</p>", "symbols": ["AAPL"], "tags": []}
    return Record(str(number), public, {**payload, "channels": ["News"]}, public)


def lookups() -> Iterator[Row]:
    """A warm lookup of a thousand rows, beside the least that SQLite and JSON need for the same rows."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.executescript(tables.SCHEMA)
        fill(connection, FEW)
        (stream,) = connection.execute("SELECT name FROM streams").fetchone()
        at = microseconds.to_micros(PIT)
        bare = (
            "SELECT i.name, r.first_seen, v.available, v.revised, f.stamp, f.names, v.payload FROM validities r "
            "JOIN versions v ON v.id = r.version JOIN items i ON i.id = v.item JOIN forms f ON f.id = v.form "
            "WHERE r.stream = 1 AND r.position <= ? AND r.start <= ? AND (r.stop IS NULL OR r.stop > ?) "
            "ORDER BY r.position DESC, i.name"
        )

        def decoded() -> list[Any]:
            return [(*row, json.loads(row[-1])) for row in connection.execute(bare, (at, at, at))]

        def records() -> list[Any]:
            return list(index.records_as_of(connection, stream, at, at))

        assert len(decoded()) == len(records()) == FEW
        yield _row("lookup as records / select, json", *in_turn(records, decoded), 3.0)


def in_turn(
    ours: Callable[[], object],
    other: Callable[[], object],
    clock: Callable[[], float] = time.process_time,
    times: int = 100,
) -> tuple[list[float], list[float]]:
    taken: tuple[list[float], list[float]] = ([], [])
    for _ in range(times):
        for action, figures in zip((ours, other), taken, strict=True):
            start = clock()
            action()
            figures.append(clock() - start)
    return taken


def questions(folder: Path) -> Iterator[Row]:
    """An offline question of twenty items, beside one whose answer is recorded, as it was in format 2.

    Then what each spends on the archive beside reading rows: opening it to read, which most of all is SQLite reading
    the definitions of its tables, or opening it to write and recording. A loop of questions keeps it open. The clock
    counts, since a commit waits for the disk: a folder in memory does not show what recording cost. What was just
    written to is opened in a slower way, so that another archive is recorded to.
    """
    for name in ("asked.db", "recorded.db"):
        with closing(schema.open_to_write(str(folder / name))) as connection:
            fill(connection, FEW)
    path, runtime = str(folder / "asked.db"), _asking(folder)
    options = {"pit": PIT.isoformat(), "offline": True, "lookback_minutes": 20}
    asked = parse([*NEWS[2:], "--pit", PIT.isoformat()], registry.load(NEWS[1]), {}).canonical
    fetch = journal.FetchEntry(0, "offline", NEWS[1], "", "", {}, asked, microseconds.to_micros(PIT))

    def ask() -> str:
        answer = python.fetch(python.FetchCall(NEWS[1], options, "keep"), runtime)
        assert len(answer.data) == 20
        return json.dumps(answer)

    def record(answer: str) -> None:
        with closing(schema.open_to_write(str(folder / "recorded.db"))) as connection:
            writer = journal.Writer(connection)
            with schema.transaction(connection):
                key = writer.fetch(fetch)
            with schema.transaction(connection):
                writer.answer(key, journal.Ended(writer.last_seen(), False, 0), answer.encode())

    def open_only() -> None:
        with closing(schema.open_to_read(path, is_brief=True)) as connection, schema.snapshot(connection):
            assert connection.execute("SELECT 1 FROM streams").fetchone()

    answer = ask()
    both = in_turn(ask, lambda: record(ask()), time.perf_counter)
    yield _row("an offline question / and recorded", *both, 0.5)
    both = in_turn(open_only, lambda: record(answer), time.perf_counter)
    yield _row("opening to read / to write, record", *both, 0.2)
    with closing(OpenArchives(registry.load)) as archives:
        archives.read(path)

        def go_on() -> None:
            with schema.checking(archives.check_unchanged):
                archives.read(path)

        both = in_turn(go_on, lambda: record(answer), time.perf_counter)
    yield _row("kept open / opening to write, record", *both, 0.02)


def _asking(folder: Path) -> Runtime:
    environ = {"HOME": str(folder), "PIT_FETCH_ARCHIVE": str(folder / "asked.db")}
    return real_runtime()._replace(environ=environ, folder=str(folder))


def panels(folder: Path) -> Iterator[Row]:
    """A cell of a panel beside the same offline question, and a panel beside one of a tenth of its subjects."""
    runtime = _asking(folder)
    pits = [PIT + timedelta(seconds=second) for second in range(50)]
    options = {"offline": True, "lookback_minutes": 3}

    def cells() -> None:
        assert sum(len(cell.envelope.data) for cell in Panel(grid_of(NEWS[1], pits, {}, options, runtime))) > len(pits)

    def fetches() -> None:
        calls = [python.FetchCall(NEWS[1], {**options, "pit": pit}, "keep") for pit in pits]
        assert sum(len(python.fetch(call, runtime).data) for call in calls) > len(pits)

    yield _row("a panel / its questions, one by one", *in_turn(cells, fetches, times=20), 0.6)

    def write(subjects: int) -> None:
        over = {"lookback_minutes": range(70 - subjects // 2, 70 + subjects // 2)}  # items of as many minutes
        panel = Panel(grid_of(NEWS[1], pits[:10], over, {"offline": True}, runtime))
        panel.write(folder / "panel.jsonl", again=True)

    ours, other = in_turn(lambda: write(20), lambda: write(2), times=5)
    yield _row("a cell of a panel / of a small one", [seconds / 10 for seconds in ours], other, 1.15)
    large, small = (_peak(partial(write, subjects)) for subjects in (20, 2))
    yield ("the peak of memory of both", large / 1e6, small / 1e6, "MB", 1.2)


def _peak(action: Callable[[], object]) -> int:
    """Return the bytes that Python's objects take at the most while an action runs."""
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def lake(folder: Path) -> Row:
    """A query over an export beside a panel of the same cells, each as a process."""
    folder.mkdir()
    made, _ = scale.scene(folder, 20, 100)
    made.command("archive", "export", "versions")
    query, panel = made.query(scale.NEWEST, "newest.parquet"), made.panel(made.symbols, "--limit", "4")
    return ("a query over an export / a panel", query.cpu * 1000, panel.cpu * 1000, "ms", 0.4)


def size() -> Row:
    """Made-up vintages of a series that grew by a day. Real ones: python -m tests.repo.vintages FOLDER."""
    found = bars(BARS)
    earlier, later = (alphavantage.series_csv(found[skipped:]).encode() for skipped in (20, 0))
    sizes = vintages.measure([(earlier, later)])
    return ("a vintage, packed / raw", sizes.packed, sizes.raw, "bytes", 1 / 12)


def weight(folder: Path, env: dict[str, str]) -> Row:
    """The file of an archive of daily bars, with its replies and its index, beside the bars as they are printed."""
    path = folder / "weighed.db"
    reply = json.dumps(alphavantage.series_document("TIME_SERIES_DAILY", bars(BARS), "US/Eastern")).encode()
    with serve(lambda request: Response(reply)) as server:
        live = {**env, "PIT_FETCH_ALPHAVANTAGE_URL": server.url, "ALPHAVANTAGE_API_KEY": alphavantage.KEY}
        live["PIT_FETCH_ARCHIVE"] = str(path)
        command = [str(Path(sys.executable).parent / "pit_fetch"), *DAILY, "--limit", str(BARS)]
        printed = subprocess.run(command, check=True, env=live, stdout=subprocess.PIPE).stdout
    with closing(schema.open_to_write(str(path))) as connection:
        maintenance.ingest_pending(connection, registry.load)
    items = json.loads(printed)["data"]
    assert len(items) == BARS, len(items)
    as_printed = sum(len(json.dumps(item)) for item in items)
    return ("a bar in an archive / as printed", path.stat().st_size / BARS, as_printed / BARS, "bytes", 1.0)


def replays(folder: Path, env: dict[str, str]) -> Row:
    """How many of so many replays are not what was printed."""
    path = folder / "replayed.db"
    with serve(benzinga.app([benzinga.article(n, PIT - timedelta(minutes=n)) for n in range(1, 30)])) as server:
        live = {**env, "PIT_FETCH_BENZINGA_URL": server.url, "BENZINGA_API_KEY": benzinga.TOKEN}
        command = [str(Path(sys.executable).parent / "pit_fetch"), *NEWS, "--pit", PIT.isoformat()]
        live["PIT_FETCH_ARCHIVE"] = str(path)
        printed = subprocess.run(command, check=True, env=live, capture_output=True).stdout
    with closing(schema.open_to_read(str(path))) as connection:
        key = replay.last(connection)
        assert key is not None
        same = sum(replay.recorded_answer(connection, key).text.encode() == printed for _ in range(REPLAYS))
    return (f"of {REPLAYS:,} replays, not identical", REPLAYS - same, REPLAYS, "", 0.0)


def _row(name: str, ours: Sequence[float], other: Sequence[float], at_most: float) -> Row:
    return (name, statistics.median(ours) * 1000, statistics.median(other) * 1000, "ms", at_most)


def judged(row: Row) -> bool:
    """Prints a row and says whether it is good."""
    name, ours, other, unit, at_most = row
    good = ours / other <= at_most
    figures = f"{ours:9,.1f} {unit} / {other:9,.1f} {unit} = {ours / other:.3f}x"
    print(f"{name:<36} {figures}  (at most {at_most:.3f}x{'' if good else ': EXCEEDED'})", flush=True)
    return good


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        env = {"PATH": os.environ["PATH"], "PYTHONPATH": os.environ.get("PYTHONPATH", ""), "HOME": name}
        good = [judged(row) for row in recording(folder, env)]
        good += [judged(row) for row in answers(folder, env)]
        good += [judged(row) for row in lookups()]
        good += [judged(row) for rows in (questions(folder), panels(folder)) for row in rows]
        good += [
            judged(lake(folder / "lake")),
            judged(size()),
            judged(weight(folder, env)),
            judged(replays(folder, env)),
        ]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
