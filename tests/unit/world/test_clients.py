"""Unmodified clients under ``pit_fetch run``, in pairs of worlds: one source has late articles, the other has none."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pit_fetch.views import views_table
from tests.providers.bz_news_api.server import TOKEN, app, article
from tests.serving import serve
from tests.unit.world.sealable import needs_sealing

PIT = datetime(2024, 2, 15, 21, tzinfo=UTC)
URL = f"https://api.benzinga.com/api/v2/news?token={TOKEN}&tickers=AAPL&pageSize=100&displayOutput=full&page="
PUBLIC = [article(number, PIT - timedelta(hours=number)) for number in range(1, 151)]
# As many again, of which each is late in another way: published, or rewritten, after the instant.
LATE = [
    article(1_000 + number, PIT - timedelta(hours=number, minutes=30), PIT + timedelta(seconds=number))
    if number % 2
    else article(1_000 + number, PIT + timedelta(seconds=number))
    for number in range(1, 151)
]
CLIENTS = {
    "curl": "for page in 0 1; do curl -s -H 'Accept: application/json' '{url}'$page; done",
    "requests": "{python} -c \"import requests; print(*(requests.get('{url}' + p, headers={{'Accept': 'application/json'}}).text for p in '01'), sep='', end='')\"",
    "httpx": "{python} -c \"import httpx; c = httpx.Client(http2=True); print(*(c.get('{url}' + p, headers={{'Accept': 'application/json'}}).text for p in '01'), sep='', end='')\"",
    "node": "node -e \"(async () => {{ for (const p of '01') process.stdout.write(await (await fetch('{url}' + p, {{headers: {{accept: 'application/json'}}}})).text()) }})()\"",
}
pytestmark = [needs_sealing, pytest.mark.skipif(not views_table(), reason="no source has a view")]


def printed(url: str, *options: str) -> dict[str, str]:
    """Return what each client prints, all in one run in front of the source at ``url``."""
    here = {name: text for name, text in CLIENTS.items() if shutil.which(name) or name in ("requests", "httpx")}
    lines = "; printf '\\0'; ".join(text.format(url=URL, python=sys.executable) for text in here.values())
    environ = {**os.environ, "PIT_FETCH_BENZINGA_URL": url, "PYTHONWARNINGS": "ignore"}
    command = (sys.executable, "-m", "pit_fetch", "run", "--pit", PIT.isoformat(), *options, "--", "sh", "-c", lines)
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=120, check=True)
    return dict(zip(here, done.stdout.split("\0"), strict=True))


def shown(articles: list[dict[str, Any]]) -> dict[str, str]:
    with serve(app(articles)) as server:
        return printed(server.url)


def test_late_articles_leave_no_trace_in_any_client() -> None:
    with_late, without = shown([*PUBLIC, *LATE]), shown(PUBLIC)
    assert with_late == without
    for printed in with_late.values():
        decoder, first = json.JSONDecoder(), printed
        pages = []
        while first:
            page, end = decoder.raw_decode(first)
            pages.append(page)
            first = first[end:].lstrip()
        assert [len(page) for page in pages] == [100, 50]  # the late leave no hole
        assert {row["id"] for page in pages for row in page} == {row["id"] for row in PUBLIC}


def test_a_later_run_without_the_source_gets_the_same_bytes(tmp_path: Path) -> None:
    archive = ("--archive", str(tmp_path / "archive.db"))
    with serve(app([*PUBLIC, *LATE])) as server:
        first = printed(server.url, *archive)
    assert printed(server.url, *archive, "--offline") == first
    assert json.loads(first["requests"][: first["requests"].index("][") + 1])
