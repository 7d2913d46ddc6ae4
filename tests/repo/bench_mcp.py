"""A warm call of a tool beside the same fetch as a command, and 32 calls at once beside as many one by one.

Each pair is measured in turn in one run, by the clock, which is what a client waits for.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.providers.bz_news_api import server as benzinga
from tests.repo.bench import articles, judge
from tests.serving import serve
from tests.unit.mcp.wire_client import PIT, WireClient, call, environment, started

RUNS = 15
AT_ONCE = 32
TOOL = "bz_news_api"
# The source's own limit of 50 calls a second would be what is measured.
UNLIMITED = {"PIT_FETCH_RATE_API_BENZINGA_COM": "10000/0.001"}


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _one_by_one(client: WireClient) -> None:
    for number in range(AT_ONCE):
        assert client.ask(call(TOOL, {"limit": 50}, number))["id"] == number


def _at_once(client: WireClient) -> None:
    for number in range(AT_ONCE):
        client.send(call(TOOL, {"limit": 50}, number))
    assert {client.receive()["id"] for _ in range(AT_ONCE)} == set(range(AT_ONCE))


def main() -> int:
    with tempfile.TemporaryDirectory() as folder, serve(benzinga.app(articles(50))) as server:
        home = Path(folder)
        command = [str(Path(sys.executable).parent / "pit_fetch"), "--source", "bz-news-api", "--pit", PIT]
        environ = {**environment(home, server.url), **UNLIMITED}
        env: dict[str, Any] = {"env": environ, "check": True, "stdout": subprocess.DEVNULL}
        started_at = time.perf_counter()
        with started(home, server.url, ("--pit", PIT, "--sources", "bz-news-api"), UNLIMITED) as client:
            client.open()
            ready = time.perf_counter() - started_at
            assert len(client.call(TOOL, {"limit": 50})["data"]) > 1
            cold, warm, single, together = [], [], [], []
            for _ in range(RUNS):
                cold.append(_seconds(lambda: subprocess.run(command, **env)))
                warm.append(_seconds(lambda: client.call(TOOL, {"limit": 50})))
            for _ in range(RUNS):
                single.append(_seconds(lambda: _one_by_one(client)))
                together.append(_seconds(lambda: _at_once(client)))
        print(f"a server is ready after            {ready * 1000:7.1f} ms")
        rows = [
            judge("a warm call, and the command", statistics.median(warm), statistics.median(cold), 0.35),
            judge("32 calls at once, and one by one", statistics.median(together), statistics.median(single), 1.15),
        ]
    return 0 if all(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
