"""Start-up and fetch times as ratios, each pair measured in turn in one run.

An agent starts this program thousands of times, so start-up is its speed. Each row compares the
medians of whole processes: ours against the least that the job needs.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from pit_fetch.formats import DEFAULTS, renderer
from pit_fetch.pipeline.envelope import PlainEnvelope
from tests.providers.bz_news_api import server as benzinga
from tests.serving import serve
from tests.unit.formats.sample_pages import bars, news

RUNS = 15
PAGE_MS, PAGE_KB = 40, 150
PIT = datetime.fromisoformat("2024-02-15T16:00:00-05:00")
BARE = "import argparse, json, datetime, zoneinfo, dataclasses"
BARE_FETCH = """
import sys, requests
session = requests.Session()
for page in range(10):
    query = {"token": sys.argv[2], "page": page, "pageSize": 100, "displayOutput": "full", "sort": "created:desc"}
    assert session.get(sys.argv[1] + "/api/v2/news", params=query).json()
"""


def articles(count: int) -> list[dict[str, object]]:
    body = "<p>" + "A paragraph of an article about markets. " * 40 + "</p>"
    return [
        benzinga.article(n, PIT - timedelta(seconds=n), body=body, tags=[{"name": "Rare" if n % 20 == 0 else "Common"}])
        for n in range(1, count + 1)
    ]


def ratio(name: str, ours: list[str], other: list[str], at_most: float, env: dict[str, str]) -> bool:
    """Prints and judges one row. The two commands alternate, so that a drifting machine hits both."""
    times: tuple[list[float], list[float]] = ([], [])
    for run in range(RUNS + 1):
        for command, measured in zip((ours, other), times, strict=True):
            start = time.perf_counter()
            subprocess.run(command, check=True, env=env, stdout=subprocess.DEVNULL)
            if run:
                measured.append(time.perf_counter() - start)
    mine, theirs = (statistics.median(measured) for measured in times)
    return judge(name, mine, theirs, at_most)


def judge(name: str, ours: float, other: float, at_most: float) -> bool:
    """Prints how long ours takes beside another, in seconds, and whether the ratio is within its limit."""
    good = ours / other <= at_most
    print(
        f"{name:<34} {ours * 1000:7.1f} ms / {other * 1000:7.1f} ms = {ours / other:.2f}x"
        f"  (at most {at_most:.2f}x{'' if good else ': EXCEEDED'})"
    )
    return good


def page() -> bool:
    """Prints and judges what a page of 500 items takes more than the same items as JSON, in milliseconds."""
    good = True
    for envelope in (news(500), bars(500)):
        taken = {name: [_seconds(name, envelope) for _ in range(RUNS)] for name in ("html", "json")}
        more = (statistics.median(taken["html"]) - statistics.median(taken["json"])) * 1000
        size = len(renderer("html")(envelope, DEFAULTS).encode()) / 1000
        fits = more <= PAGE_MS and size <= PAGE_KB
        good = good and fits
        print(
            f"{f'page of 500 items, {envelope.provenance.source}':<34} {more:7.1f} ms over JSON, {size:.0f} kB"
            f"  (at most {PAGE_MS} ms, {PAGE_KB} kB{'' if fits else ': EXCEEDED'})"
        )
    return good


def _seconds(form: str, envelope: PlainEnvelope) -> float:
    start = time.perf_counter()
    renderer(form)(envelope, DEFAULTS)
    return time.perf_counter() - start


def main() -> int:
    command = [str(Path(sys.executable).parent / "pit_fetch"), "--source", "bz-news-api"]
    with tempfile.TemporaryDirectory() as folder, serve(benzinga.app(articles(950))) as server:
        reply = Path(folder) / "reply.json"
        reply.write_text(json.dumps(articles(50)))
        env = {"PATH": os.environ["PATH"], "HOME": folder}
        live = {**env, "PIT_FETCH_BENZINGA_URL": server.url, "BENZINGA_API_KEY": benzinga.TOKEN}
        at_pit = [*command, "--pit", PIT.isoformat()]
        python = [sys.executable, "-c"]
        rows = [
            ratio("--source X --help", [*command, "--help"], [*python, BARE], 2.0, env),
            ratio("import pit_fetch", [*python, "import pit_fetch"], [*python, "pass"], 1.2, env),
            page(),
            ratio(
                "50 items offline, gate included",
                [*at_pit, "--input-file", str(reply)],
                [*python, "import requests"],
                1.0,
                env,
            ),
            ratio(
                "10 pages from loopback, 47 kept",
                [*at_pit, "--tags", "rare"],
                [*python, BARE_FETCH, server.url, benzinga.TOKEN],
                1.45,
                live,
            ),
        ]
    return 0 if all(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
