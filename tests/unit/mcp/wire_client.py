"""A client of the real server, line by line: the command as a process, with every byte that it writes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.laws.mcp import requests_of
from tests.providers.bz_news_api.server import TOKEN

PIT = "2024-02-15T16:00:00-05:00"
SECONDS = 30


class WireClient:
    """A started server."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process, self._lines = process, list[bytes]()

    def send(self, message: Mapping[str, Any] | bytes) -> None:
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        self._lines.append(line)
        message: dict[str, Any] = json.loads(line)
        return message

    def ask(self, message: Mapping[str, Any] | bytes) -> dict[str, Any]:
        self.send(message)
        return self.receive()

    def call(self, name: str, arguments: Mapping[str, Any] = {}) -> dict[str, Any]:
        """Return the envelope that a tool answers with, in a session that was opened."""
        result = self.ask(call(name, arguments))["result"]
        envelope: dict[str, Any] = json.loads(result["content"][0]["text"])
        assert result["structuredContent"] == envelope
        return envelope

    def open(self) -> None:
        for message in requests_of((), modern=False)[:2]:
            self.send(message)
        self.receive()

    def close(self) -> tuple[bytes, bytes, int]:
        """End the session as a client does. Return all of stdout, all of stderr, and the exit status."""
        rest, err = self.process.communicate(timeout=SECONDS)
        return b"".join([*self._lines, rest]), err, self.process.returncode


def call(name: str, arguments: Mapping[str, Any] = {}, number: int = 77, **meta: Any) -> dict[str, Any]:
    """Return a call of a tool."""
    params: dict[str, Any] = {"name": name, "arguments": dict(arguments)}
    return {
        "jsonrpc": "2.0",
        "id": number,
        "method": "tools/call",
        "params": {**params, **({"_meta": meta} if meta else {})},
    }


def environment(home: Path, url: str) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "PIT_FETCH_BENZINGA_URL": url,
        "BENZINGA_API_KEY": TOKEN,
    }


@contextmanager
def started(
    home: Path, url: str, words: Sequence[str] = ("--pit", PIT), env: Mapping[str, str] = {}
) -> Iterator[WireClient]:
    """Start the server of a source at ``url``; whatever happens, it is gone afterwards."""
    with running(["mcp", *words], home, {**environment(home, url), **env}) as client:
        yield client


@contextmanager
def running(words: Sequence[str], home: Path, env: Mapping[str, str]) -> Iterator[WireClient]:
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", "pit_fetch", *words]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=home, env=dict(env)) as process:
        try:
            yield WireClient(process)
        finally:
            process.kill()
