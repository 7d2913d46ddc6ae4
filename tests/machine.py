"""The machine that ``doctor`` examines in tests: real child processes, each of which is run only once."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from pit_fetch.commands.machine import Machine, output

# The interpreter itself first: what is on PATH may be a slow script of a version manager.
PATH = f"{Path(sys.executable).parent}:{os.environ['PATH']}"

_SAID: dict[tuple[object, ...], str] = {}


def machine(root: Path, **replaced: Any) -> Machine:
    """A machine with time enough for any test, whose home, project and own programs are below ``root``.

    What a hook answers is a function of its command, its environment, its input and the programs beside it: the
    same ones in another folder are not started again.
    """

    def run(command: Sequence[str], environ: Mapping[str, str], stdin: str, seconds: float) -> str:
        given = [*command, *(f"{name}={value}" for name, value in sorted(environ.items())), stdin]
        key = (*(text.replace(str(root), "@") for text in given), *_programs(root))
        if key not in _SAID:
            _SAID[key] = output(command, environ, stdin, seconds)
        return _SAID[key]

    return Machine(**{"seconds": 30.0, "run": run, **replaced})


def _programs(root: Path) -> list[tuple[str, int, str]]:
    found = sorted(path for path in root.rglob("*") if path.suffix in (".py", "") and path.is_file())
    return [(str(path.relative_to(root)), path.stat().st_mode, sha256(path.read_bytes()).hexdigest()) for path in found]
