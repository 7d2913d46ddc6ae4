"""Run a program that was not changed, in both worlds, through a proxy that answers with views."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from datetime import timedelta
from pathlib import Path

from pit_fetch.engine import registry
from pit_fetch.runtime import Runtime
from pit_fetch.testing.inprocess import TestClock, unhurried
from pit_fetch.testing.server import Answering
from pit_fetch.views import Answer, Exchange, ViewOptions, answer
from tests.programs.worlds import LARGE, LATE, PIT, Program
from tests.proxying import proxy


def printed(program: Program, is_later: bool, folder: Path, python: str = sys.executable) -> str:
    """Return what the program prints in one world. Raise AssertionError if it fails."""
    clock = TestClock(PIT + timedelta(days=700))
    home = folder / str(is_later)
    home.mkdir(parents=True)
    transport = Answering(program.world(is_later), clock.now)
    runtime = Runtime({"HOME": str(home)}, str(home), clock.value(), transport, registry.load, lambda _: b"")
    sources = tuple(unhurried(registry.load(name)) for name in program.source.split(","))
    options = ViewOptions(evidence=program.evidence, providers=sources)

    def view(exchange: Exchange) -> Answer:
        return answer(exchange, PIT, runtime, options)

    with proxy(view, folder) as variables:
        environ = {
            **os.environ,
            **variables,
            "HOME": str(home),
            "XDG_CACHE_HOME": str(home),
            "PYTHONWARNINGS": "ignore",
        }
        environ = {name: value for name, value in environ.items() if name not in ("PYTHONPATH", "NO_PROXY", "no_proxy")}
        done = subprocess.run([python, "-c", program.script], env=environ, capture_output=True, text=True, timeout=120)
    if transport.error is not None:
        raise transport.error
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def check(program: Program, folder: Path, python: str = sys.executable) -> None:
    """Raise AssertionError unless the program prints the same in both worlds: what was public, and nothing of later."""
    before, after = (printed(program, is_later, folder, python) for is_later in (False, True))
    assert after == before, f"{after[:2_000]}\n---\n{before[:2_000]}"
    assert all(part in before for part in program.shows), before
    assert LATE not in after
    assert "9999" not in after


if __name__ == "__main__":
    for name, program in LARGE.items():
        with tempfile.TemporaryDirectory() as home:
            check(program, Path(home), sys.argv[1])
        print(f"{name}: the same in both worlds")
