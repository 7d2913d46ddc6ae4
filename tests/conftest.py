"""Fixtures: the real command as a process, in a world of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests import examples, inprocess

settings.load_profile(examples.FEW)

# Whoever starts the suite in the background of a script has it ignore interrupts, and every process it starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@dataclass(frozen=True)
class Finished:
    """A finished process. ``out`` and ``err`` are its bytes; ``envelope`` parses the former."""

    out: bytes
    err: bytes
    code: int

    @property
    def envelope(self) -> dict[str, Any]:
        parsed: dict[str, Any] = json.loads(self.out)
        assert set(parsed) == {"data", "gaps"}
        return parsed

    @property
    def ids(self) -> list[str]:
        return [item["id"] for item in self.envelope["data"]]

    @property
    def gap_types(self) -> list[str]:
        return [gap["type"] for gap in self.envelope["gaps"]]


Run = Callable[..., Finished]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs ``pit_fetch`` with the given words. ``env`` is added to an otherwise bare environment."""
    home = tmp_path / "home"
    home.mkdir()
    bare = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}

    def call(
        *words: str,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        cwd: Path | None = None,
        command: tuple[str, ...] = (sys.executable, "-m", "pit_fetch"),
    ) -> Finished:
        done = subprocess.run(
            [*command, *words],
            input=stdin,
            capture_output=True,
            env={**bare, **(env or {})},
            cwd=cwd or home,
            timeout=60,
            check=False,
        )
        return Finished(done.stdout, done.stderr, done.returncode)

    return call


Foreign = Callable[[Path], None]


@pytest.fixture
def foreign() -> Foreign:
    """Gives a file, or a link, to another user. Only root can."""
    if os.geteuid() != 0:
        pytest.skip("a file can only be given away by root")
    return lambda path: os.chown(path, 4_711, -1, follow_symlinks=False)


@pytest.fixture
def near(tmp_path: Path) -> Run:
    """Like ``run``, in this process and on a clock that no pause delays: for what needs a server and no process."""

    def call(*words: str, env: Mapping[str, str] | None = None, stdin: bytes = b"", cwd: Path = tmp_path) -> Finished:
        left = inprocess.fetch(cwd, *words, env=env, body=stdin, now=datetime.now(UTC))
        return Finished(left.out.encode(), left.err.encode(), left.code)

    return call
