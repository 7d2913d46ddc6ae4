"""A call that takes long: signs of life that tell the time alone, and an answer before the client gives up."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

from pit_fetch.mcp.server import Pace, serve
from pit_fetch.mcp.streams import Wire
from pit_fetch.provider import Context, Query, Record
from tests.demo_source import demo, record
from tests.laws.mcp import Dialogue, requests_of
from tests.unit.mcp.in_memory import server_of


def _session(pace: Pace, seconds: float, **meta: Any) -> list[dict[str, Any]]:
    """Return what a server writes whose only source takes ``seconds`` for its only record."""
    let_go = threading.Event()

    def fetch(query: Query, context: Context) -> Iterator[Record]:
        let_go.wait(seconds)
        yield record("1")

    script = requests_of([("demo", {})], modern=False)
    script[-1]["params"]["_meta"] = meta
    dialogue = Dialogue(script)
    serve(server_of(demo(fetch)), Wire(dialogue, dialogue), pace)  # type: ignore[arg-type]
    let_go.set()
    return [json.loads(line) for line in dialogue.written.splitlines()]


def test_a_client_that_asks_for_progress_is_told_that_time_passes() -> None:
    *others, answer = _session(Pace(30.0, 0.01), 0.1, progressToken="t")
    signs = [message["params"] for message in others if "id" not in message]
    assert len(signs) > 2
    assert all(sign.keys() == {"progressToken", "progress"} for sign in signs)
    assert [sign["progress"] for sign in signs] == sorted({sign["progress"] for sign in signs})
    assert len(answer["result"]["structuredContent"]["data"]) == 1


def test_without_a_token_there_is_none() -> None:
    assert all("id" in message for message in _session(Pace(30.0, 0.01), 0.05))


def test_a_call_that_takes_too_long_is_answered_with_a_gap() -> None:
    answer = _session(Pace(0.05, 1.0), 30.0)[-1]["result"]
    assert (answer["isError"], answer["structuredContent"]["data"]) == (True, [])
    [gap] = answer["structuredContent"]["gaps"]
    assert (gap["type"], "deadline" in gap["reason"]) == ("upstream_error", True)
