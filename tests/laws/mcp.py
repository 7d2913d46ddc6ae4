"""The law of the server: in worlds that agree on what was public, the same bytes of the protocol, whatever is called.

A session is the server itself over streams in memory: every line that it writes is compared.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from queue import SimpleQueue
from random import Random
from typing import Any

from pit_fetch.cli.arguments import read_options
from pit_fetch.engine.settings_files import Settings
from pit_fetch.mcp.calls import FETCH_SECONDS, Runtimes, Server
from pit_fetch.mcp.instant import make_instant
from pit_fetch.mcp.server import serve
from pit_fetch.mcp.streams import Wire
from pit_fetch.mcp.tools import Shape, name_of, tools_for
from pit_fetch.runtime import Runtime
from pit_fetch.testing.inprocess import Left
from pit_fetch.testing.server import App
from tests.laws.checks import dated
from tests.laws.worlds import SECRETS, Case, provider_of, run, surroundings
from tests.worlds import same_bytes

SHAPES: tuple[Shape, ...] = ("columns", "items")
MODERN = "2026-07-28"
_CLIENT = {"name": "law", "version": "1"}
_ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": _CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Dialogue:
    """A client in memory: both ends of a wire. The next request is sent once the one before it is answered."""

    def __init__(self, requests: Sequence[Mapping[str, Any]]) -> None:
        self.written = b""
        self._waiting = list(requests)
        self._lines: SimpleQueue[bytes] = SimpleQueue()
        self._advance()

    def readline(self, size: int) -> bytes:
        return self._lines.get()

    def write(self, data: memoryview) -> int:
        self.written += bytes(data)
        if "id" in json.loads(bytes(data)):  # and not a notification; a line is written whole
            self._advance()
        return len(data)

    def flush(self) -> None:
        pass

    def _advance(self) -> None:
        while self._waiting:
            request = self._waiting.pop(0)
            self._lines.put(json.dumps(request).encode() + b"\n")
            if "id" in request:
                return
        self._lines.put(b"")


def requests_of(calls: Sequence[tuple[str, Mapping[str, Any]]], *, modern: bool) -> list[dict[str, Any]]:
    """Return a session's messages: its opening in either era, the list of tools, and ``calls`` of them."""
    asked: list[tuple[str, dict[str, Any]]] = [("tools/list", {})]
    asked += [("tools/call", {"name": name, "arguments": dict(arguments)}) for name, arguments in calls]
    if modern:
        opening: list[dict[str, Any]] = []
        asked = [("server/discover", {}), *asked]
    else:
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": _CLIENT}
        opening = [_request("initialize", params, 0), {"jsonrpc": "2.0", "method": "notifications/initialized"}]
    meta = {"_meta": _ENVELOPE} if modern else {}
    return opening + [_request(method, {**params, **meta}, number) for number, (method, params) in enumerate(asked, 1)]


def _request(method: str, params: Mapping[str, Any], number: int) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def law(make: Callable[[Random], Case]) -> Callable[[Random], int]:
    """Return the law for one source's worlds."""
    return lambda rng: _holds(make(rng), rng)


def _holds(case: Case, rng: Random) -> int:
    arguments, is_whole = arguments_of(case)
    name = name_of(provider_of(case))
    later = {**arguments, "pit": (case.moment + timedelta(days=4_000)).isoformat()}
    calls = [(name, arguments), (name, later), ("sources", {"name": name}), ("nothing", {})]
    script, shape = requests_of(calls, modern=rng.random() < 0.5), rng.choice(SHAPES)
    first = same_bytes(lambda app: session(case, app, script, shape), case.worlds, SECRETS)
    answers = {row["id"]: row["result"] for row in map(json.loads, first.out.splitlines())}
    results = [answers[number]["content"][0]["text"] for number in sorted(answers)[-len(calls) :]]
    if is_whole:
        words = (*case.words, "--timeout", f"{FETCH_SECONDS:g}")
        # A server with an instant is a ceiling.
        environ = {"CLAUDECODE": "1", "PIT_FETCH_CEILING": case.pit}
        expected = run(case, case.worlds[0], words=words, environ=environ)
        _check_same(results[0], expected, arguments.get("fields"))
    moved = json.loads(results[1])
    assert moved["rows" if shape == "columns" else "data"] == [], "a message moves the instant"
    return len(case.worlds) - 1


def _check_same(text: str, expected: Left, fields: object) -> None:
    """A tool answers with what the command prints: with its bytes, or in columns with the same items."""
    answer = json.loads(text)
    if "data" in answer:
        assert text == expected.out.rstrip("\n"), "the tool and the command answer differently"
        return
    rows = [answer["shared"] | dict(zip(answer["columns"], row, strict=True)) for row in answer["rows"]]
    left_out = {"id"} if fields and "id" not in str(fields) else set()
    items = [{name: item[name] for name in item if name not in left_out} for item in expected.data]
    every = dict.fromkeys(name for item in items for name in item)
    assert rows == [every | item for item in items], "the tool and the command answer differently"
    assert len(answer["gaps"]) == len(expected.envelope["gaps"])


def clock_behind(case: Case) -> int:
    """A server whose clock is behind the replies' ``Date`` serves nothing of them, and says why."""
    arguments, _ = arguments_of(case)
    script = requests_of([(name_of(provider_of(case)), arguments)], modern=True)
    sent = case.moment + timedelta(days=1_900)  # a year or more after the server's clock
    for app in case.worlds:
        left = session(case, dated(app, sent), script)
        envelope = json.loads(json.loads(left.out.splitlines()[-1])["result"]["content"][0]["text"])
        assert envelope["data"] == [], "a reply from after the clock is served"
    return 0


def arguments_of(case: Case) -> tuple[dict[str, Any], bool]:
    """Return the case's options as arguments of its tool, and whether that is all of them."""
    provider = provider_of(case)
    given, _ = read_options(["--source", case.source, *case.words], provider)
    given.pop("source", None)
    [tool, _] = tools_for([provider], case.pit).values()
    arguments = {name: value for name, value in given.items() if name in tool.arguments}
    return arguments, arguments.keys() == given.keys()


def session(case: Case, app: App, script: Sequence[Mapping[str, Any]], shape: Shape = "items") -> Left:
    """Return every byte that a server of the case's source writes, in the world ``app``."""
    with surroundings(case, app) as runtime:
        dialogue = Dialogue(script)
        serve(_server(case, runtime, shape), Wire(dialogue, dialogue))  # type: ignore[arg-type]
    return Left(dialogue.written.decode(), "", 0)


def _server(case: Case, runtime: Runtime, shape: Shape) -> Server:
    instant = make_instant(case.pit, None, runtime.environ)
    tools = tools_for([runtime.find(case.source)], instant.phrase)
    return Server(tools, instant, Settings(runtime.environ), Runtimes(lambda: runtime), shape=shape)
