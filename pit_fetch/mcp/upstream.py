"""Another MCP server, started as a child process: asked for its tools, and to call them.

Only its answers to our own requests are used. Its notifications, its requests and its stderr end here.
The SDK's client is not used: it checks a result against the server's own schema, and one item would cost the others.
"""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from queue import Empty, SimpleQueue
from typing import Any

from pit_fetch.errors import UpstreamError
from pit_fetch.gaps import Code
from pit_fetch.mcp.lines import Beginning, document, lines
from pit_fetch.support.version import __version__

MAX_LINE_BYTES = 64_000_000
START_SECONDS = 30.0
_PROTOCOL = "2025-11-25"
_CLIENT = {"name": "pit_fetch", "version": __version__}
# What each request carries in the protocol of 2026-07-28, which has no handshake.
_STATELESS = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": _CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}
_LOOK_SECONDS = 0.1
Message = Mapping[str, Any]

_GONE: Message = {}
_ANSWERS = frozenset({"result", "error"})
# How a line begins that is an answer, and one that is a request or a notification.
_BEGINNING = rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?'
_ANSWER = re.compile(_BEGINNING + rb'"id"\s*:\s*([0-9]{1,15})\s*,\s*"(?:result|error)"\s*:')
_QUESTION = re.compile(_BEGINNING + rb'(?:"id"\s*:\s*[^,{[]{1,80},\s*)?"method"\s*:')


class _Refused(UpstreamError):
    """The server answers with an error."""


class Upstream:
    """A running server. Any number of threads may call it at once."""

    def __init__(
        self,
        command: Sequence[str],
        environ: Mapping[str, str],
        folder: str,
        max_line_bytes: int = MAX_LINE_BYTES,
    ) -> None:
        """Start it. Raise OSError if it cannot be started, UpstreamError if it does not answer."""
        self._max_line_bytes = max_line_bytes
        self._process = subprocess.Popen(  # noqa: S603 - the operator's command
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(environ),
            cwd=folder,
        )
        self._ids = count(1)
        self._waiting: dict[int, SimpleQueue[Message]] = {}
        self._sent: SimpleQueue[Message] = SimpleQueue()
        self._is_gone = False
        # Whoever writes may have to wait until the other server reads. It may be writing itself, so nobody else waits.
        for work in (self._listen, self._speak):
            threading.Thread(target=work, daemon=True).start()
        self._meta: Message = {}
        try:
            params = {"protocolVersion": _PROTOCOL, "capabilities": {}, "clientInfo": _CLIENT}
            self._ask("initialize", params, START_SECONDS)
        except _Refused:  # it knows the newer, stateless protocol alone
            self._meta = {"_meta": _STATELESS}
        else:
            self._sent.put({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def tools(self) -> dict[str, Mapping[str, Any]]:
        """Return the input schema of each tool by name. Raise UpstreamError."""
        schemas: dict[str, Mapping[str, Any]] = {}
        cursor: object = None
        for _ in range(100):
            result = self._ask("tools/list", {} if cursor is None else {"cursor": cursor}, START_SECONDS)
            tools = result.get("tools")
            for tool in tools if isinstance(tools, list) else ():
                if isinstance(tool, dict) and isinstance(tool.get("name"), str):
                    schema = tool.get("inputSchema")
                    schemas[tool["name"]] = schema if isinstance(schema, dict) else {}
            cursor = result.get("nextCursor")
            if cursor is None:
                break
        return schemas

    def call(
        self, name: str, arguments: Mapping[str, Any], seconds: float, stop: threading.Event | None = None
    ) -> Message:
        """Return the result of a call. Raise UpstreamError if it is a failure: nothing of its words is repeated.

        Once ``stop`` is set, or the seconds are over, the server is told that nobody waits for the answer.
        What in it cannot be read is marked, as :func:`json_tree` does.
        """
        result = self._ask("tools/call", {"name": name, "arguments": dict(arguments)}, seconds, stop)
        if result.get("isError"):
            raise UpstreamError(Code.MALFORMED, problem="the server says that the call failed")
        return result

    def close(self) -> None:
        self._process.kill()
        self._process.wait()

    def _ask(self, method: str, params: Message, seconds: float, stop: threading.Event | None = None) -> Message:
        number, answers = next(self._ids), SimpleQueue[Message]()
        self._waiting[number] = answers
        try:
            self._sent.put({"jsonrpc": "2.0", "id": number, "method": method, "params": {**params, **self._meta}})
            message = _GONE if self._is_gone else _answer(answers, seconds, stop)
        except Empty:
            if method == "tools/call":
                cancelled = {"method": "notifications/cancelled", "params": {"requestId": number, **self._meta}}
                self._sent.put({"jsonrpc": "2.0", **cancelled})
            raise UpstreamError(Code.TIMEOUT, host="the server", timeout=seconds) from None
        finally:
            self._waiting.pop(number, None)
        result = message.get("result")
        if not isinstance(result, dict):
            error = _Refused if "error" in message else UpstreamError
            raise error(Code.MALFORMED, problem="the server is gone, or refuses the question")
        return result

    def _speak(self) -> None:
        sink = self._process.stdin
        assert sink is not None  # noqa: S101 - it is a pipe
        with contextlib.suppress(OSError, ValueError):  # it reads no more, or is closed
            while True:
                sink.write(json.dumps(self._sent.get()).encode() + b"\n")
                sink.flush()

    def _listen(self) -> None:
        source = self._process.stdout
        assert source is not None  # noqa: S101 - it is a pipe
        for line in lines(source, self._max_line_bytes):
            if isinstance(line, Beginning):
                self._fail_by(line)
                continue
            message = parse_message(line)
            number = message.get("id")
            if "method" in message and isinstance(number, (int, str)):
                # It asks for a model, a person or a folder: there is none.
                refusal = {"code": -32601, "message": "Method not found"}
                self._sent.put({"jsonrpc": "2.0", "id": number, "error": refusal})
            elif isinstance(number, int) and number in self._waiting and not message.keys().isdisjoint(_ANSWERS):
                self._waiting[number].put(message)
        self._is_gone = True
        self._fail(list(self._waiting))

    def _fail_by(self, line: Beginning) -> None:
        """Fail the call that a line answers, which is too long to be read; every call if it does not say which."""
        answer = _ANSWER.match(line)
        if answer is not None:
            self._fail([int(answer[1])])
        elif not _QUESTION.match(line):
            self._fail(list(self._waiting))

    def _fail(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            waiting = self._waiting.get(number)
            if waiting is not None:
                waiting.put(_GONE)


def _answer(answers: SimpleQueue[Message], seconds: float, stop: threading.Event | None) -> Message:
    """Return the answer to a question. Raise Empty if there is none in time, or before ``stop`` is set."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0 and not (stop and stop.is_set()):
        with contextlib.suppress(Empty):
            return answers.get(timeout=min(left, _LOOK_SECONDS))
    raise Empty


def parse_message(line: bytes) -> Message:
    """Return a message, in which what cannot be read is marked; an empty one for what is none."""
    message = document(line)
    return message if isinstance(message, dict) else {}
