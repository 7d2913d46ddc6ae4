"""What ``doctor`` examines in tests: a project as ``init`` leaves it, on a machine whose programs are run only once."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any

from pit_fetch.claude_code import install
from pit_fetch.claude_code.system import Machine, output

# The interpreter itself first: what is on PATH may be a slow script of a version manager.
PATH = f"{Path(sys.executable).parent}:{os.environ['PATH']}"

_SAID: dict[tuple[str, ...], str] = {}
_INSTALLING = Lock()


def machine(root: Path, **replaced: Any) -> Machine:
    """A machine with time enough for any test, whose home, project and own programs are below ``root``.

    What a hook answers is a function of its command, its environment, its input and the programs beside it: the
    same ones in another folder are not started again. Other programs are only asked what they are.
    """
    programs = _programs(root)

    def run(command: Sequence[str], environ: Mapping[str, str], stdin: str, seconds: float) -> str:
        is_hook = command[1] == "-c"
        variables = sorted(environ.items()) if is_hook else [("PATH", environ["PATH"])]
        beside = [text for path, text in programs if is_hook or not path.suffix]
        given = (*command, *map("=".join, variables), stdin, *beside)
        key = tuple(text.replace(str(root), "@") for text in given)
        if key not in _SAID:
            _SAID[key] = output(command, environ, stdin, seconds)
        return _SAID[key]

    return Machine(**{"seconds": 30.0, "run": run, **replaced})


def _programs(root: Path) -> list[tuple[Path, str]]:
    """The scripts and the executable files, and what tells whether they are the same."""
    found = sorted(path for path in root.rglob("*") if path.suffix in (".py", "") and path.is_file())
    return [(path, f"{path} {path.stat().st_mode} {sha256(path.read_bytes()).hexdigest()}") for path in found]


@cache
def _installed() -> tuple[TemporaryDirectory[str], Path]:
    folder = TemporaryDirectory(prefix="pit-installed-")
    assert install.run([], {}, folder.name).status == 0
    return folder, Path(folder.name)


def install_into(project: Path) -> None:
    """What ``init`` writes: it does so once, and the rest are copies. Threads may install at the same time."""
    with _INSTALLING:  # a cache would let two of them install, and delete what the first one had
        folder = _installed()[1]
    shutil.copytree(folder, project, dirs_exist_ok=True)
