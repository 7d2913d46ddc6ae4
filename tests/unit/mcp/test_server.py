"""The real server as a process, with a source on loopback: by hand, and by the official SDK's client in both eras."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pit_fetch.testing.server import App, Response
from pit_fetch.transport import HttpRequest
from tests.conftest import Run
from tests.providers.bz_news_api import server as benzinga
from tests.providers.bz_news_api.server import TOKEN, article
from tests.serving import serve
from tests.unit.mcp.wire_client import PIT, SECONDS, call, environment, started

AT = datetime.fromisoformat(PIT)
MINUTE = timedelta(minutes=1)
CANARY = "CANARY"
PUBLIC = [article(n, AT - n * MINUTE, title=f"Oil {n}") for n in range(1, 13)]
LATE = [article(500 + n, AT + (n + 1) * MINUTE, title=f"Oil {CANARY}") for n in range(150)]
REVISED = [article(700 + n, AT - n * MINUTE, AT + MINUTE, title=f"Oil {CANARY}") for n in range(1, 9)]
NEWS = "bz_news_api"


async def _with_sdk(home: Path, url: str, mode: str) -> tuple[Any, Any, list[Any]]:
    from mcp.client import Client
    from mcp.client.stdio import StdioServerParameters

    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "pit_fetch", "mcp", "--pit", PIT, "--shape", "items"],
        env=environment(home, url),
        cwd=home,
    )
    async with Client(command, mode=mode) as client:
        listed = await client.list_tools()
        answers = await asyncio.gather(*(client.call_tool(NEWS, {"limit": n + 1}) for n in range(32)))
        return client.protocol_version, listed, answers


@pytest.mark.parametrize(("mode", "era"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
def test_the_official_client_gets_what_the_command_prints(run: Run, tmp_path: Path, mode: str, era: str) -> None:
    with serve(benzinga.app([*PUBLIC, *LATE, *REVISED])) as server:
        version, listed, answers = asyncio.run(_with_sdk(tmp_path, server.url, mode))
        env = {"PIT_FETCH_BENZINGA_URL": server.url, "BENZINGA_API_KEY": TOKEN}
        printed = run("--source", "bz-news-api", "--pit", PIT, "--limit", "7", env=env).out.decode()
    assert (version, listed.ttl_ms, listed.cache_scope) == (era, 0, "private")
    assert {"sources", NEWS} <= {tool.name for tool in listed.tools}
    # 32 at once, each with its own answer.
    texts = [answer.content[0].text for answer in answers]
    assert [len(json.loads(text)["data"]) for text in texts] == [min(n + 1, 12) for n in range(32)]
    assert all(answer.structured_content == json.loads(answer.content[0].text) for answer in answers)
    assert texts[6] == printed.rstrip("\n")


def test_a_flood_of_malformed_messages_leaves_the_server_as_it_was(tmp_path: Path) -> None:
    with serve(benzinga.app(PUBLIC)) as server, started(tmp_path, server.url) as client:
        client.open()
        deep = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + b"[" * 100_000
        for line, code in (
            (b"nonsense", -32700),
            (b'{"id": 5}', -32600),
            (b'[{"id": 5}]', -32600),
            (b'{"id": "\\ud800"}', -32600),
            (deep, -32700),
            (b"\xff\xfe", -32700),
        ):
            assert client.ask(line)["error"]["code"] == code
        assert client.ask(b'{"jsonrpc": "2.0", "id": 5, "method": 5}')["id"] == 5
        assert client.ask(b"x" * 100_000_000)["error"]["code"] == -32600
        bad: tuple[Any, ...] = ({}, {"name": 5}, {"name": NEWS, "arguments": []}, [])
        for params in bad:
            reply = client.ask({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": params})
            assert "pydantic" not in json.dumps(reply)
            assert reply["error"]["message"] in ("Invalid request parameters", "Invalid request")
        assert client.ask({"jsonrpc": "2.0", "id": 9, "method": "resources/list"})["error"]["code"] == -32601
        for name, arguments in (("nothing", {}), (NEWS, {"pit": PIT}), (NEWS, {"limit": {"a": [1]}}), (NEWS, {"x": 1})):
            answer = client.call(name, arguments)
            assert (answer["rows"], [gap["type"] for gap in answer["gaps"]]) == ([], ["config"])
        assert len(client.call(NEWS)["rows"]) == 12
        assert client.close()[1:] == (b"", 0)


class _Held:
    """A source whose replies wait until they are let go."""

    def __init__(self, inner: App) -> None:
        self.inner, self.asked, self.go = inner, threading.Semaphore(0), threading.Event()
        self.requests = 0

    def __call__(self, request: HttpRequest) -> Response:
        self.requests += 1
        self.asked.release()
        self.go.wait(SECONDS)
        return self.inner(request)


def test_a_cancelled_call_is_not_answered_and_asks_no_more(tmp_path: Path) -> None:
    many = [article(n, AT - n * MINUTE) for n in range(400)]  # several pages
    source = _Held(benzinga.app(many))
    with serve(source) as server, started(tmp_path, server.url) as client:
        client.open()
        client.send(call(NEWS, {"limit": 1000}, number=5))
        assert source.asked.acquire(timeout=SECONDS)
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}}
        client.send(cancel)
        assert client.ask(call("sources", number=6))["id"] == 6  # which means that the cancellation was read, too
        source.go.set()
        assert client.ask(call(NEWS, {"limit": 1}, number=7))["id"] == 7
        assert source.requests == 2
        client.close()


def test_a_client_that_disappears_ends_the_server(tmp_path: Path) -> None:
    source = _Held(benzinga.app(PUBLIC))
    with serve(source) as server, started(tmp_path, server.url) as client:
        client.open()
        client.send(call(NEWS))
        assert source.asked.acquire(timeout=SECONDS)
        out, err, status = client.close()
        source.go.set()
    assert (err, status) == (b"", 0)
    assert b"Title" not in out


@pytest.mark.parametrize(
    ("words", "env", "reason"),
    [
        ((), {}, "a server needs an instant"),
        (("--pit", "2024-02-15"), {}, "--pit"),
        (("--pit", PIT, "--pit-file", "pit"), {}, "exclude each other"),
        (("--pit", PIT), {"PIT_FETCH_CEILING": "2024-02-15T15:59:59-05:00"}, "2024-02-15T15:59:59-05:00"),
        (("--pit-file", "missing"), {}, "holds no instant"),
        (("--pit", PIT, "--moving"), {}, "--moving needs --pit-file"),
        (("--pit", PIT, "--sources", "nothing"), {}, "nothing"),
        (("--pit", PIT, "--offline"), {}, "--offline needs an archive: set PIT_FETCH_ARCHIVE, or give --archive PATH"),
        (("--pit", PIT, "--offline", "--archive", "none.db"), {}, "The archive cannot be used: there is no such file"),
        (("--pit", PIT, "--offline"), {"PIT_FETCH_ARCHIVE": "none.db"}, "there is no such file"),
    ],
)
def test_what_cannot_start_says_why_in_a_line(
    near: Run, words: tuple[str, ...], env: dict[str, str], reason: str
) -> None:
    done = near("mcp", *words, env=env)
    assert (done.code, done.out, done.err.count(b"\n")) == (2, b"", 1)
    assert reason in done.err.decode()


def test_offline_the_archive_alone_answers_and_needs_no_key(run: Run, tmp_path: Path) -> None:
    """Nobody serves at the address of the source, and nothing is written."""
    archive = tmp_path / "sample.db"
    assert run("archive", "sample", str(archive)).code == 0
    before = archive.read_bytes()
    asked = {"op": "EARNINGS_ESTIMATES", "symbol": "ACME"}
    words = ("--pit", PIT, "--offline", "--archive", str(archive))
    with started(tmp_path, "http://127.0.0.1:9", words) as client:
        client.open()
        held, missing = client.call("alphavantage", asked), client.call("alphavantage", {**asked, "symbol": "NONE"})
        assert "offline is not an argument" in str(client.call("alphavantage", {**asked, "offline": False}))
    assert (len(held["rows"]) > 0, missing["rows"]) == (True, [])
    assert {gap.get("captured") for gap in missing["gaps"]} == {None, False}
    assert archive.read_bytes() == before


@pytest.mark.parametrize("moving", [True, False])
def test_a_file_moves_the_instant_for_the_next_conversation_and_never_above_the_ceiling(
    tmp_path: Path, moving: bool
) -> None:
    """With ``--moving`` for the next call of the same one."""
    file = tmp_path / "instant"
    words, env = ("--pit-file", str(file), "--sources", "bz-news-api"), {"PIT_FETCH_CEILING": PIT}
    words = (*words, *(("--moving",) if moving else ()))

    def shown(text: str) -> int | str:
        file.write_text(text)
        answer = client.call(NEWS, {"fields": ["title"]})
        return len(answer["rows"]) or answer["gaps"][0]["reason"]

    early = (AT - timedelta(minutes=6)).isoformat()
    file.write_text(PIT)
    with serve(benzinga.app([*PUBLIC, *LATE])) as server, started(tmp_path, server.url, words, env) as client:
        client.open()
        listed = client.ask({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})["result"]["tools"]
        assert "the instant that the operator set" in listed[0]["description"]
        assert PIT not in json.dumps(listed)
        first, moved, back = (shown(text) for text in (PIT, early, f"{PIT}\n"))
        assert (first, back) == (12, 12)
        assert moved == 6 if moving else "begin a new conversation" in str(moved)
        assert "PIT_FETCH_CEILING" in str(shown("2024-02-15T16:00:01-05:00"))
        assert all("holds no instant" in str(shown(text)) for text in ("", "soon", "2024-02-15", "x" * 5_000))
        file.unlink()
        file.mkdir()
        assert "holds no instant" in client.call(NEWS)["gaps"][0]["reason"]
        file.rmdir()
        assert shown(PIT) == 12


def test_what_a_source_prints_reaches_nobody(tmp_path: Path) -> None:
    script = """
import os, sys
from pit_fetch.mcp.streams import take_standard_streams
wire = take_standard_streams()
print("leak"), print("leak", file=sys.stderr), os.write(1, b"leak"), os.write(2, b"leak"), os.system("echo leak")
os._exit(0 if wire.sink.write(wire.source.readline()) else 1)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], input=b"line\n", capture_output=True, check=True, cwd=tmp_path
    )
    assert (done.stdout, done.stderr) == (b"line\n", b"")
