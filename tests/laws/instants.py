"""The law of instants side by side: whoever asks, on a thread or in a task, is answered as of its own instant.

Of each answer the bytes are those of the same question asked alone, and the record has one row for it, of its instant.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pit_fetch
from pit_fetch.errors import UsageError
from pit_fetch.instants.as_of import AsOf
from pit_fetch.runs.record import entries
from tests.providers.bz_news_api import server as benzinga

INSTANTS = 64
_SOURCE = "bz-news-api"
_FIRST = datetime.fromisoformat("2024-02-15T16:00:00-05:00")


def law(rng: Random) -> int:
    """Ask many instants at once, half of them on few threads and half in tasks, in any order."""
    with TemporaryDirectory() as folder:
        reply, record = Path(folder, "reply.json"), Path(folder, "runs.db")
        hours = sorted(rng.sample(range(500), INSTANTS))
        articles = [benzinga.article(hour, _FIRST + timedelta(hours=hour)) for hour in hours]
        reply.write_text(json.dumps(articles))
        pits = [(_FIRST + timedelta(hours=hour, minutes=rng.randrange(-1, 2))).isoformat() for hour in hours]
        thens = [pit_fetch.as_of(pit, record=record, run=pit, sources=[_SOURCE]) for pit in pits]
        rng.shuffle(thens)
        options: dict[str, Any] = {"input_file": reply, "limit": 1}
        answered = _on_threads(thens[::2], options) | asyncio.run(_in_tasks(thens[1::2], options))
        for pit in rng.sample(pits, 4):
            alone = pit_fetch.fetch(_SOURCE, pit, **options)
            assert answered[pit] == [alone, alone.next()], f"as of {pit} something else is answered"
        late = {pit: _late_stamps(pages, pit) for pit, pages in answered.items()}
        assert not any(late.values()), f"served from after the instant: {late}"
        assert {call.pit for call in entries(os.fspath(record))} == {
            datetime.fromisoformat(pit).isoformat() for pit in pits
        }
        for pit in pits:
            calls = entries(os.fspath(record), pit)
            shown = [page for page in answered[pit] if page is not None]
            assert [call.pit for call in calls] == [pit] * len(shown), f"the record of {pit} has other calls"
            assert [json.loads(call.shown) for call in calls] == shown
    return 0


def _on_threads(thens: list[AsOf], options: dict[str, Any]) -> dict[str, list[Any]]:
    def ask(then: AsOf) -> list[Any]:
        with then:
            _refuses(lambda pit: then.fetch(_SOURCE, pit=pit, **options), then)
            return _pages(then.fetch(_SOURCE, **options))

    with ThreadPoolExecutor(8) as threads:
        return dict(zip((then.pit for then in thens), threads.map(ask, thens), strict=True))


async def _in_tasks(thens: list[AsOf], options: dict[str, Any]) -> dict[str, list[Any]]:
    async def ask(then: AsOf) -> list[Any]:
        async with then:
            return _pages(await then.afetch(_SOURCE, **options))

    return dict(zip((then.pit for then in thens), await asyncio.gather(*map(ask, thens)), strict=True))


def _pages(envelope: pit_fetch.Envelope) -> list[Any]:
    return [envelope, envelope.next()]


def _refuses(ask: Callable[[str], object], then: AsOf) -> None:
    later = datetime.fromisoformat(then.pit) + timedelta(microseconds=1)
    for pit in (later.isoformat(), "open"):
        try:
            ask(pit)
        except UsageError:
            continue
        raise AssertionError(f"as of {then.pit} an answer as of {pit} is given")


def _late_stamps(pages: list[Any], pit: str) -> list[str]:
    items = [item for page in pages if page is not None for item in page.data]
    at = datetime.fromisoformat(pit)
    return [item["available_at"] for item in items if datetime.fromisoformat(item["available_at"]) > at]
