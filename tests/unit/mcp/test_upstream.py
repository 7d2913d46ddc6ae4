"""Another server's process: which of its lines end which call."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest

from pit_fetch.errors import UpstreamError
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
