"""What ``doctor`` uses of the computer, as one value whose parts a test replaces by keyword, and what it finds."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pit_fetch.support.terminal import deliver, line

Level = Literal["ok", "note", "warn", "open", "fail"]


@dataclass(frozen=True)
class Finding:
    """One line of the report.

    "fail" means that calls of pit_fetch are not held to the PIT, "warn" that they may not be, and "open" that an agent
    has a way past them.
    """

    level: Level
    check: str
    message: str
    fix: str = ""


TIMED_OUT = "timed out"


def run_process(command: Sequence[str], environ: Mapping[str, str], stdin: str, seconds: float) -> str:
    """Return what a child process prints; "" if it fails, and :data:`TIMED_OUT` if its time is up."""
    pipe = subprocess.PIPE
    try:
        child = subprocess.Popen(  # noqa: S603 - the commands that the client itself would run
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, env=environ, start_new_session=True
        )
    except OSError:
        return ""
    with child:
        try:
            printed, _ = child.communicate(stdin, timeout=seconds)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)  # with its own children
            return TIMED_OUT
    return printed if child.returncode == 0 else ""


def find_client(environ: Mapping[str, str]) -> str:
    """Return the client's program: the one on PATH, or that of the installed SDK; "" for none."""
    from importlib.util import find_spec

    program = shutil.which("claude", path=environ.get("PATH"))
    if program:
        return program
    spec = find_spec("claude_agent_sdk")
    bundled = Path(spec.origin).parent / "_bundled" / "claude" if spec and spec.origin else None
    return str(bundled) if bundled and bundled.is_file() else ""


def announce(text: str) -> None:
    """Write one line to the process's own stderr, before what it announces is started."""
    if sys.__stderr__ is not None:
        with contextlib.suppress(OSError, ValueError):
            deliver(sys.__stderr__, line(text))


@dataclass(frozen=True)
class System:
    """The functions that run child processes, and find and announce the client."""

    seconds: float = 1.6  # for each child process; they run side by side, so the whole command takes less than two
    run: Callable[[Sequence[str], Mapping[str, str], str, float], str] = run_process
    find_client: Callable[[Mapping[str, str]], str] = find_client
    announce: Callable[[str], None] = announce
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    def output(self, command: Sequence[str], environ: Mapping[str, str], stdin: str = "") -> str:
        """Return what ``command`` prints within the time for a child process, see :func:`run_process`."""
        return self.run(command, environ, stdin, self.seconds)

    def python_output(self, code: str, environ: Mapping[str, str], *args: str) -> str:
        """Return what the ``python3`` that runs the hooks prints when it runs ``code``."""
        python = shutil.which("python3", path=environ.get("PATH")) or "python3"
        return self.output([python, "-I", "-S", "-B", "-c", code, *args], environ)


THIS_SYSTEM = System()
