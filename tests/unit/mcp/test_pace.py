"""A call that takes long: signs of life that tell the time alone, and an answer before the client gives up."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from pit_fetch.mcp import server as serving
from pit_fetch.mcp.server import Pace, serve
from pit_fetch.mcp.streams import MAX_WAITING, Wire
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


def test_a_call_that_never_began_blames_the_server_and_not_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "CONCURRENT_CALLS", 0)
    [gap] = _session(Pace(0.05, 1.0), 0.0)[-1]["result"]["structuredContent"]["gaps"]
    assert (gap["type"], "this server" in gap["reason"], "the source" in gap["reason"]) == (
        "upstream_error",
        True,
        False,
    )


class _Deaf:
    """A client that asks on and on, and reads the answer to nothing but the first question."""

    def __init__(self) -> None:
        self.asked, self.gone = 0, threading.Event()
        self._script = [json.dumps(each).encode() + b"\n" for each in requests_of((), modern=False)]

    def readline(self, size: int) -> bytes:
        self.asked += 1
        if self.asked > 50 * MAX_WAITING:
            self.gone.set()
        return b"" if self.gone.is_set() else self._script[min(self.asked, len(self._script)) - 1]

    def write(self, data: memoryview) -> int:
        self.gone.wait(1.0)
        self.gone.set()
        raise OSError


def test_no_more_is_read_from_a_client_that_does_not_read() -> None:
    client = _Deaf()
    serve(server_of(demo([record("1")])), Wire(client, client))  # type: ignore[arg-type]
    assert MAX_WAITING < client.asked < 3 * MAX_WAITING
