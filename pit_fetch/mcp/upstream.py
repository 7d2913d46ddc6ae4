"""Another server, started as a child: asked for its tools, and for one result at a time of a call.

Of what it sends, only the answer to a question is looked at. Its notifications, its requests and its stderr end here.
The SDK's client is not used: it checks a result against the server's own schema, and one item would cost the others.
"""

from __future__ import annotations

import json
import subprocess
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import count
from queue import Empty, SimpleQueue
from typing import Any

from pit_fetch.errors import UpstreamError
from pit_fetch.gaps import Code
from pit_fetch.support.version import __version__

MAX_LINE_BYTES = 64_000_000
START_SECONDS = 30.0
_PROTOCOL = "2025-11-25"
_GONE: Mapping[str, Any] = {}

Message = Mapping[str, Any]


class Upstream:
    """A running server. Any number of threads may call it at once."""

    def __init__(self, command: Sequence[str], environ: Mapping[str, str], folder: str) -> None:
        """Start it. Raise OSError if it cannot be started, UpstreamError if it does not answer."""
        self._process = subprocess.Popen(  # noqa: S603 - the operator's command
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(environ),
            cwd=folder,
        )
        self._ids, self._lock = count(1), threading.Lock()
        self._waiting: dict[int, SimpleQueue[Message]] = {}
        self._is_gone = False
        threading.Thread(target=self._listen, daemon=True).start()
        client = {"name": "pit_fetch", "version": __version__}
        self._ask("initialize", {"protocolVersion": _PROTOCOL, "capabilities": {}, "clientInfo": client}, START_SECONDS)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def tools(self) -> dict[str, Mapping[str, Any]]:
        """Return the input schema of each tool by name. Raise UpstreamError."""
        schemas: dict[str, Mapping[str, Any]] = {}
        cursor: object = None
        for _ in range(100):
            result = self._ask("tools/list", {} if cursor is None else {"cursor": cursor}, START_SECONDS)
            for tool in result.get("tools") or ():
                if isinstance(tool, dict) and isinstance(tool.get("name"), str):
                    schema = tool.get("inputSchema")
                    schemas[tool["name"]] = schema if isinstance(schema, dict) else {}
            cursor = result.get("nextCursor")
            if cursor is None:
                break
        return schemas

    def call(self, name: str, arguments: Mapping[str, Any], seconds: float) -> Message:
        """Return the result of a call. Raise UpstreamError if it is a failure: nothing of its words is repeated."""
        result = self._ask("tools/call", {"name": name, "arguments": dict(arguments)}, seconds)
        if result.get("isError"):
            raise UpstreamError(Code.MALFORMED, problem="the server says that the call failed")
        return result

    def close(self) -> None:
        self._process.kill()
        self._process.wait()

    def _ask(self, method: str, params: Message, seconds: float) -> Message:
        number, answers = next(self._ids), SimpleQueue[Message]()
        self._waiting[number] = answers
        try:
            self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            answer = _GONE if self._is_gone else answers.get(timeout=seconds)
        except Empty:
            raise UpstreamError(Code.TIMEOUT, host="the server", timeout=seconds) from None
        except (OSError, ValueError):
            answer = _GONE
        finally:
            self._waiting.pop(number, None)
        result = answer.get("result")
        if not isinstance(result, dict):
            raise UpstreamError(Code.MALFORMED, problem="the server is gone, or refuses the question")
        return result

    def _send(self, message: Message) -> None:
        sink = self._process.stdin
        assert sink is not None  # noqa: S101 - it is a pipe
        with self._lock:
            sink.write(json.dumps(message).encode() + b"\n")
            sink.flush()

    def _listen(self) -> None:
        source = self._process.stdout
        assert source is not None  # noqa: S101 - it is a pipe
        while line := source.readline(MAX_LINE_BYTES):
            if not line.endswith(b"\n"):  # too long, or cut off: there is no telling what else it would break
                break
            message = _parsed(line)
            number = message.get("id")
            if "method" in message and number is not None:
                # It asks for a model, a person or a folder: there is none.
                self._send({"jsonrpc": "2.0", "id": number, "error": {"code": -32601, "message": "Method not found"}})
            elif isinstance(number, int) and number in self._waiting:
                self._waiting[number].put(message)
        self._is_gone = True
        for waiting in list(self._waiting.values()):
            waiting.put(_GONE)


def _parsed(line: bytes) -> Message:
    try:
        # One broken character must not cost the other items.
        message = json.loads(line.decode("utf-8", "replace"), object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError):
        return _GONE
    return message if isinstance(message, dict) else _GONE


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object in which a name that stands twice means nothing: of two stamps, which one counts?"""
    known = dict(pairs)
    if len(known) < len(pairs):
        known |= {name: None for name, times in Counter(name for name, _ in pairs).items() if times > 1}
    return known
