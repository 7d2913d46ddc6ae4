"""Another server's process: its lines, and which of them end which call."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from io import BytesIO

import pytest

from pit_fetch.errors import UpstreamError
from pit_fetch.mcp.lines import Beginning, lines
from pit_fetch.mcp.upstream import Upstream

# It answers a call with the lines in its arguments, and then as it should.
SERVER = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    number = asked.get("id")
    if number is None:
        continue
    for text in asked["params"].get("arguments", {}).get("lines", []):
        print(text.replace("ID", str(number)).replace("BIG", "x" * 2_000))
    print(json.dumps({"jsonrpc": "2.0", "id": number, "result": {"fine": True}}), flush=True)
"""


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    running = Upstream([sys.executable, "-c", SERVER], dict(os.environ), ".", max_line_bytes=1_000)
    yield running
    running.close()


@pytest.mark.parametrize(
    "line",
    [
        '{"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "BIG"}}',
        '{"method":"notifications/message","params":{"data":"BIG"},"jsonrpc":"2.0"}',
        '{"jsonrpc": "2.0", "id": ID, "method": "sampling/createMessage", "params": ["BIG"]}',
        '{"jsonrpc": "2.0", "id": 999, "result": {"content": "BIG"}}',
        '{"id": 1e400, "method": "ping"}',
        '{"id": ID}',
        "[]",
        "neither",
    ],
)
def test_a_line_that_is_not_its_answer_ends_no_call(upstream: Upstream, line: str) -> None:
    for _ in range(2):
        assert upstream.call("any", {"lines": [line]}, 10.0) == {"fine": True}


@pytest.mark.parametrize(
    "line",
    [
        '{"jsonrpc": "2.0", "id": ID, "result": {"content": "BIG"}}',
        '{"id": ID, "error": {"message": "BIG"}}',
        '{"result": {"content": "BIG"}, "jsonrpc": "2.0", "id": ID}',  # nothing shows whose it is
        "BIG",
    ],
)
def test_an_answer_that_is_too_long_fails_its_call_and_no_later_one(upstream: Upstream, line: str) -> None:
    with pytest.raises(UpstreamError):
        upstream.call("any", {"lines": [line]}, 10.0)
    assert upstream.call("any", {}, 10.0) == {"fine": True}


# It knows the stateless protocol alone, says what it was asked, and answers no call of a tool before the next request.
NEWER = """
import json, sys
heard = []
for line in sys.stdin:
    asked = json.loads(line)
    meta = asked["params"].get("_meta", {})
    heard.append([asked["method"], asked["params"].get("requestId"), bool(meta)])
    if asked["method"] == "tools/list":
        tools = [{"name": json.dumps(heard)}]
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {"tools": tools}}), flush=True)
    elif asked["method"] == "initialize":
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32601}}), flush=True)
"""


@pytest.mark.parametrize("seconds", [60.0, 0.1])
def test_a_newer_server_is_asked_without_a_handshake_and_told_that_nobody_waits(seconds: float) -> None:
    running = Upstream([sys.executable, "-c", NEWER], dict(os.environ), ".")
    stop = threading.Event()
    if seconds > 1:
        threading.Timer(0.2, stop.set).start()
    with pytest.raises(UpstreamError):
        running.call("any", {}, seconds, stop)
    [heard] = map(json.loads, running.tools())
    running.close()
    assert [each[0] for each in heard] == ["initialize", "tools/call", "notifications/cancelled", "tools/list"]
    assert heard[2][1] == 2
    assert [each[2] for each in heard] == [False, True, True, True]


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (b"", []),
        (b"a\n \n\nb", [b"a\n", b"b"]),
        (b"x" * 10 + b"\nb\n", [b"x" * 10 + b"\n", b"b\n"]),
        (b"x" * 11 + b"\nb\n", [b"x" * 11, b"b\n"]),
        (b"a\n" + b"x" * 1_000 + b"\nb\n", [b"a\n", b"x" * 11, b"b\n"]),
        (b"a\n" + b"x" * 1_000, [b"a\n", b"x" * 11]),
    ],
)
def test_of_a_line_that_is_too_long_the_beginning_is_read(stream: bytes, expected: list[bytes]) -> None:
    found = list(lines(BytesIO(stream), 10))
    assert found == expected
    assert [isinstance(line, Beginning) for line in found] == [line == b"x" * 11 for line in found]
