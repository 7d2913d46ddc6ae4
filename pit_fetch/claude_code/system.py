"""What ``doctor`` uses of the machine it runs on, as one value: a test replaces any part of it by keyword."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pit_fetch.support.terminal import deliver, line

if TYPE_CHECKING:
    from pit_fetch.claude_code.prove import Proof

TIMED_OUT = "timed out"


def output(command: Sequence[str], environ: Mapping[str, str], stdin: str, seconds: float) -> str:
    """What a child process prints; "" if it fails. When its time is up, it and its own children are ended."""
    pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
    try:
        child = subprocess.Popen(  # noqa: S603 - the commands that the client itself would run
            command, stdin=pipe, stdout=pipe, stderr=nowhere, text=True, env=environ, start_new_session=True
        )
    except OSError:
        return ""
    with child:
        try:
            printed, _ = child.communicate(stdin, timeout=seconds)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            return TIMED_OUT
    return printed if child.returncode == 0 else ""


def client(environ: Mapping[str, str]) -> str:
    """The client's program: the one on PATH, or that of the installed SDK; "" for none."""
    from importlib.util import find_spec

    found = shutil.which("claude", path=environ.get("PATH"))
    if found:
        return found
    spec = find_spec("claude_agent_sdk")
    bundled = Path(spec.origin).parent / "_bundled" / "claude" if spec and spec.origin else None
    return str(bundled) if bundled and bundled.is_file() else ""


def announce(text: str) -> None:
    """One line on the process's own stderr: what is started must be said before it starts."""
    if sys.__stderr__ is not None:
        with contextlib.suppress(OSError, ValueError):
            deliver(sys.__stderr__, line(text))


def prove(client: str, environ: Mapping[str, str], project: Path, ceiling: datetime, agents: Sequence[str]) -> Proof:
    """What the client itself does with planted leaks (prove.py; an examination without a proof never loads it)."""
    from pit_fetch.claude_code import prove

    return prove.prove(client, environ, project, ceiling, agents)


@dataclass(frozen=True)
class Machine:
    """How child processes are run, and the client is found, announced and tried.

    ``seconds``: time for each child process. They run side by side, so the whole command takes less than two.
    """

    seconds: float = 1.6
    run: Callable[[Sequence[str], Mapping[str, str], str, float], str] = output
    client: Callable[[Mapping[str, str]], str] = client
    announce: Callable[[str], None] = announce
    prove: Callable[[str, Mapping[str, str], Path, datetime, Sequence[str]], Proof] = prove

    def output(self, command: Sequence[str], environ: Mapping[str, str], stdin: str = "") -> str:
        return self.run(command, environ, stdin, self.seconds)


THIS_MACHINE = Machine()
