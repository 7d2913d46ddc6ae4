"""The real command, over a socket, in two worlds that serve the same public articles: the same bytes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.conftest import Finished, Run
from tests.providers.bz_news_api import server as benzinga
from tests.providers.bz_news_api.server import TOKEN, article
from tests.serving import serve

PIT = datetime.fromisoformat("2024-02-15T16:00:00-05:00")
MINUTE = timedelta(minutes=1)
CANARY = "CANARY"

PUBLIC = [article(n, PIT - n * MINUTE, title=f"Oil {n}") for n in range(1, 13)]
LATE = [article(500 + n, PIT + (n + 1) * MINUTE, title=f"Oil {CANARY}") for n in range(150)]
REVISED = [article(700 + n, PIT - n * MINUTE, PIT + MINUTE, title=f"Oil {CANARY}") for n in range(1, 9)]
UNDATED: list[dict[str, Any]] = [
    article(800 + n, PIT - n * MINUTE) | {"updated": None, "title": CANARY} for n in range(3)
]
BROKEN: list[dict[str, Any]] = [
    {"id": None},
    {"id": 900, "created": {}, "updated": []},
    article(901, PIT + MINUTE) | {"stocks": 5},
]

EVERYTHING = [*LATE, *REVISED, *PUBLIC, *UNDATED, *BROKEN]

REQUESTS: dict[str, tuple[str, ...]] = {
    "plain": (),
    "verbose": ("-v",),
    "limit": ("--limit", "3"),
    "limit that fits": ("--limit", "12"),
    "keyword of the late": ("--keywords", CANARY),
    "theme": ("--themes", "oil", "--limit", "5"),
    "one page": ("--max-pages", "1"),
    "window": ("--date-from", "2024-02-15", "--date-to", "2024-02-16"),
    "budget": ("--max-chars", "4000"),
    "fail": ("--fail", "--tickers", "NONE"),
    "revised since": ("--updated-since", PIT.isoformat()),
}


# The rest are asked in this process: the laws compare them at length.
IN_A_PROCESS = ("plain", "verbose", "fail")


def fetch(run: Run, articles: Sequence[dict[str, Any]], words: tuple[str, ...]) -> Finished:
    with serve(benzinga.app(articles)) as server:
        env = {"PIT_FETCH_BENZINGA_URL": server.url, "BENZINGA_API_KEY": TOKEN}
        return run("--source", "bz-news-api", "--pit", PIT.isoformat(), *words, env=env)


@pytest.mark.parametrize("asked", REQUESTS)
def test_the_real_command_in_worlds_that_differ_only_in_what_was_not_public(run: Run, near: Run, asked: str) -> None:
    call, words = run if asked in IN_A_PROCESS else near, REQUESTS[asked]
    expected = fetch(call, PUBLIC, words)
    assert (expected.code, CANARY.encode() in expected.out.replace(b"--keywords CANARY", b"")) == (0, False)
    other = fetch(call, EVERYTHING, words)
    assert (other.out, other.err, other.code) == (expected.out, expected.err, expected.code)
