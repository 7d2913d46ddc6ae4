"""The `console` blocks of the documents: commands as a reader types them, each with what it prints."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*\n)", re.MULTILINE)


class Typed(NamedTuple):
    """A command, and what the document says that it prints."""

    command: str
    output: str


def typed(page: str) -> Iterator[Typed]:
    """Yield each command of a page's `console` blocks."""
    for block in _BLOCK.findall(page):
        _, *parts = _COMMAND.split(block)
        yield from map(Typed, parts[::2], parts[1::2])


def printed(script: str, folder: Path) -> str:
    """Return what a command prints in ``folder``, where lines have 120 characters. Its exit status has to be 0."""
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "COLUMNS": "120"}
    ran = subprocess.run(["bash", "-euc", script], capture_output=True, text=True, env=env, cwd=folder, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout
