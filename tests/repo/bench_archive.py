"""What an archive costs, as ratios within one run: recording, as-of answers, questions, panels, an export.

Whole processes where an agent would wait for one, each pair in turn.
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
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from pit_fetch import answers as python
from pit_fetch.archive.interpreted import stream_of
from pit_fetch.archive.store import index, ingestion, journal, microseconds, schema, versions
from pit_fetch.archive.store.journal import Key
from pit_fetch.archive_admin import maintenance, verification
from pit_fetch.archive_admin.capture import jobs
from pit_fetch.archive_admin.capture.run import Shown
from pit_fetch.cli.arguments import parse
from pit_fetch.engine import registry
from pit_fetch.engine.real_runtime import real_runtime
from pit_fetch.net.hosts import base_url
from pit_fetch.panels.grid import grid_of
from pit_fetch.panels.panel import Panel
from pit_fetch.provider import Record
from pit_fetch.request.query import build_query
from pit_fetch.runtime import Clock, Runtime
from pit_fetch.testing.server import Answering, Response
from pit_fetch.transport import HttpRequest
from tests.memory_folder import scratch
from tests.providers.alphavantage import server as alphavantage
from tests.providers.bz_news_api import server as benzinga
from tests.repo import scale
from tests.serving import serve

RUNS = 9
BARS = 6_000
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
            ingested = index.FetchToIndex(Key("bench", 1), stream, seen, False, seen, None, None, items)
            ingestion.add(connection, ingested, lambda key, records: False)


def article(number: int) -> Record:
    public = PIT.astimezone(UTC) - timedelta(minutes=number + 1)
    payload = {"title": f"Title {number}", "teaser": " ", "body": "<p>Words.</p>", "symbols": ["AAPL"], "tags": []}
    return Record(str(number), public, {**payload, "channels": ["News"]}, public)


def captures(folder: Path) -> Iterator[Row]:
    """An old question of an archive of many captures beside one of few; a cell beside many other requests and few."""
    many, few = _captured(folder, "many", 640), _captured(folder, "few", 10)
    pit, cells = _FIRST + timedelta(days=6), [_FIRST - timedelta(hours=hour) for hour in range(1, 9)]

    def ask(runtime: Runtime) -> None:
        options = {"pit": pit.isoformat(), "offline": True, "lookback_minutes": 1440}
        assert len(python.fetch(python.FetchCall(NEWS[1], options, "keep"), runtime).data) == 4

    yield _row("an old question, 640 captures / 10", *in_turn(partial(ask, many), partial(ask, few), times=30), 1.5)
    symbols = [f"T{number}" for number in range(100)]
    among_many, among_few = (_captured(folder, f"of{count}", 1, symbols[:count]) for count in (100, 20))

    def panel(runtime: Runtime) -> None:
        over, options = {"tickers": symbols[:20]}, {"offline": True, "lookback_minutes": 1440}
        assert len([*Panel(grid_of(NEWS[1], cells, over, options, runtime))]) == 20 * len(cells)

    both = in_turn(partial(panel, among_many), partial(panel, among_few), times=10)
    yield _row("a panel, 100 other requests / 20", *both, 1.3)


_FIRST = datetime(2024, 1, 1, 21, tzinfo=UTC)
_WORDS = tuple("".join(Random(n).choices("abcdefghijklmnoprstuvwy", k=2 + n % 9)) for n in range(3_000))
_LESS_AND_LESS = [1 / place for place in range(1, len(_WORDS) + 1)]  # as often as words occur in any language


def watching(folder: Path) -> Iterator[Row]:
    """A capture by ticker: a reply beside many others and few, an unchanged one, a day's verification, and news."""
    many, few = (_Watched(folder, count) for count in (300, 30))
    first, beside_few = many.capture(), few.capture()
    yield ("a reply of 21 KB, 300 tickers / 30", first, beside_few, "ms", 2.0)
    yield ("an unchanged reply / a new one", many.capture(), first, "ms", 1.0)
    with closing(schema.open_to_read(many.path)) as connection:
        began = time.process_time()
        report = verification.verify_since(connection, journal.fetches(connection)[299])
        assert report.damage == (), report
        yield ("verify --since of 300 fetches / most", (time.process_time() - began) * 1000, 1_500, "ms", 1.0)
    slow = _Watched(folder, 60, seconds=0.1)
    began = time.perf_counter()
    slow.capture()
    yield ("60 requests of 100 ms / most", time.perf_counter() - began, 3, "s", 1.0)
    news = _Watched(folder, 1, each=600, words=60)
    for day in range(1, 31):
        news.capture(day)
    with closing(schema.open_to_write(news.path)) as connection:
        versions_held = journal.count(connection, "versions")
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    yield (
        "a version of news, with replies / most",
        Path(news.path).stat().st_size / versions_held,
        1_000,
        "bytes",
        1.0,
    )


class _Watched:
    """A list of so many tickers, each with so many articles of so many words: twenty a day, looking back over three."""

    def __init__(self, folder: Path, count: int, each: int = 12, words: int = 200, seconds: float = 0.0) -> None:
        self.path, self.folder, self.seconds = str(folder / f"watched{count}-{each}.db"), str(folder), seconds
        self.rows: dict[str, list[dict[str, Any]]] = {}
        rng = Random(count)
        for place, ticker in enumerate(f"T{n}" for n in range(count)):
            times = [_FIRST + timedelta(hours=1.2 * n - 24, seconds=place) for n in range(each)]
            self.rows[ticker] = [
                benzinga.article(
                    hash((ticker, n)) % 10**9,
                    public,
                    body=f"<p>{' '.join(rng.choices(_WORDS, _LESS_AND_LESS, k=words))}</p>",
                    stocks=[{"name": ticker, "exchange": "NASDAQ"}],
                )
                for n, public in enumerate(times)
            ]

    def capture(self, day: int = 1) -> float:
        """Capture as of the end of a day. Return the milliseconds of the processor that a reply took."""
        start = _FIRST + timedelta(days=day)
        began = time.monotonic()
        sent = {name: json.dumps(self._shown(rows, start)).encode() for name, rows in self.rows.items()}

        def now() -> datetime:
            return start + timedelta(seconds=time.monotonic() - began)

        def answer(request: HttpRequest) -> Response:
            time.sleep(self.seconds)
            return Response(sent[request.query["tickers"]])

        environ = {"HOME": self.folder, "BENZINGA_API_KEY": benzinga.TOKEN, "PIT_FETCH_RATE_API_BENZINGA_COM": "9999/1"}
        runtime = real_runtime()._replace(
            environ=environ,
            folder=self.folder,
            clock=Clock(now, time.monotonic, lambda: now().timestamp(), lambda seconds: None),
            transport=Answering(answer, now),
        )
        requests = [{"source": NEWS[1], "lookback_minutes": 4320, "tickers": name} for name in self.rows]
        job = jobs.requests_job(requests, runtime)._replace(again=True)
        began_cpu = time.process_time()
        report = jobs.carry_out(job, self.path, runtime, Shown())
        assert not report.failed, report.failed[:1]
        return (time.process_time() - began_cpu) * 1000 / len(requests)

    def _shown(self, rows: list[dict[str, Any]], now: datetime) -> list[dict[str, Any]]:
        stamps = [datetime.strptime(row["created"], "%a, %d %b %Y %H:%M:%S %z") for row in rows]
        pairs = zip(stamps, rows, strict=True)
        return [row for at, row in sorted(pairs, key=lambda pair: pair[0], reverse=True) if now - _BACK <= at <= now]


_BACK = timedelta(minutes=4320)


def _captured(folder: Path, name: str, days: int, tickers: Sequence[str] = ()) -> Runtime:
    """Capture news daily, of all or of each ticker, four articles a day. Return who asks that archive."""
    times = [_FIRST + timedelta(hours=6 * n - 114) for n in range(4 * days + 20)]
    articles = [benzinga.article(n, public, body=f"<p>{f'Words of {n}. ' * 40}</p>") for n, public in enumerate(times)]
    environ = {"HOME": str(folder), "BENZINGA_API_KEY": benzinga.TOKEN, "PIT_FETCH_RATE_API_BENZINGA_COM": "9999/0.001"}
    path = str(folder / f"{name}.db")
    asking = real_runtime()._replace(environ={**environ, "PIT_FETCH_ARCHIVE": path}, folder=str(folder))
    for day in range(days):
        now = _FIRST + timedelta(days=day)
        clock = Clock(partial(_identity, now), time.monotonic, now.timestamp, lambda seconds: None)
        then = articles[max(0, 4 * day - 20) : 4 * day + 20]
        transport = Answering(benzinga.app(then), partial(_identity, now))
        requests = [{"source": NEWS[1], "lookback_minutes": 4500, "may_be_empty": True, "tickers": tickers or None}]
        if tickers:
            requests = [{**requests[0], "tickers": ticker} for ticker in tickers]
        runtime = asking._replace(clock=clock, transport=transport)
        report = jobs.carry_out(jobs.requests_job(requests, runtime), path, runtime, Shown())
        assert not report.failed, report
    return asking


def _identity(now: datetime) -> datetime:
    return now


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


def question(folder: Path) -> Row:
    """An offline question of twenty items, beside one whose answer is recorded, as it was in format 2.

    The clock counts, since a commit waits for the disk: a folder in memory does not show what recording cost. What was
    just written to is opened in a slower way, so that another archive is recorded to.
    """
    for name in ("asked.db", "recorded.db"):
        with closing(schema.open_to_write(str(folder / name))) as connection:
            fill(connection, FEW)
    runtime = _asking(folder)
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
                key = writer.append_fetch(fetch)
            with schema.transaction(connection):
                writer.append_answer(key, journal.Ended(writer.last_seen(), False, 0), answer.encode())

    both = in_turn(ask, lambda: record(ask()), time.perf_counter)
    return _row("an offline question / and recorded", *both, 0.5)


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

    yield _row("a panel / its questions, one by one", *in_turn(cells, fetches, times=20), 0.3)

    def write(subjects: int) -> None:
        over = {"lookback_minutes": range(70 - subjects // 2, 70 + subjects // 2)}  # items of as many minutes
        panel = Panel(grid_of(NEWS[1], pits[:10], over, {"offline": True}, runtime))
        panel.write(folder / "panel.jsonl", again=True)

    ours, other = in_turn(lambda: write(20), lambda: write(2), times=5)
    yield _row("a cell of a panel / of a small one", [seconds / 10 for seconds in ours], other, 1.15)
    large, small = (_peak(partial(write, subjects)) for subjects in (20, 2))
    # Python keeps some thousand tuples for their next use.
    yield ("the peak of memory of both", large / 1e6, small / 1e6, "MB", 1.5)


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
    query, panel = made.query(scale.NEWEST, "newest.parquet"), made.panel(made.symbols, "--newest", "4")
    return ("a panel / a query over an export", panel.cpu * 1000, query.cpu * 1000, "ms", 8.0)


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
        with scratch("bench-") as memory:  # a capture waits for the disk
            good += [judged(row) for row in captures(Path(memory))]
            good += [judged(row) for row in watching(Path(memory))]
        good += [judged(row) for row in (question(folder), *panels(folder))]
        good += [judged(lake(folder / "lake")), judged(weight(folder, env))]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
