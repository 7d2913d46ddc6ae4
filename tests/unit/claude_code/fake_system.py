"""A system for ``doctor`` whose programs are run only once, and a project as ``init`` leaves it."""

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

from pit_fetch.claude_code.system import System, run_process
from pit_fetch.cli.commands import init

# The interpreter itself first: what is on PATH may be a slow script of a version manager.
PATH = f"{Path(sys.executable).parent}:{os.environ['PATH']}"

_OUTPUTS: dict[tuple[str, ...], str] = {}
_INSTALLING = Lock()


def fake_system(root: Path, **replaced: Any) -> System:
    """Return a system with time enough for any test, whose home, project and own programs are below ``root``.

    The answer of a hook depends only on its command, its environment, its input and the programs beside it: with
    the same ones in another folder, it is not started again. Other programs depend on their arguments alone.
    """
    scripts = sorted(path for path in root.rglob("*") if path.suffix in (".py", "") and path.is_file())
    programs = {path: f"{path} {path.stat().st_mode} {sha256(path.read_bytes()).hexdigest()}" for path in scripts}

    def run_once(command: Sequence[str], environ: Mapping[str, str], stdin: str, seconds: float) -> str:
        is_hook = command[1] == "-c"
        variables = sorted(environ.items()) if is_hook else [("PATH", environ["PATH"])]
        beside = [text for path, text in programs.items() if is_hook or not path.suffix]
        key = tuple(text.replace(str(root), "@") for text in (*command, *map("=".join, variables), stdin, *beside))
        if key not in _OUTPUTS:
            _OUTPUTS[key] = run_process(command, environ, stdin, seconds)
        return _OUTPUTS[key]

    return System(**{"seconds": 30.0, "run": run_once, **replaced})


@cache
def _installed() -> tuple[TemporaryDirectory[str], Path]:
    folder = TemporaryDirectory(prefix="pit-installed-")
    assert init.run(["--with", "neo4j"], {}, folder.name).status == 0
    return folder, Path(folder.name)


def install_into(project: Path) -> None:
    """Write what ``init --with neo4j`` writes: by it the first time, then as copies. Threads may install at once."""
    with _INSTALLING:  # two threads that miss the cache would both install, and delete the other's folder
        folder = _installed()[1]
    shutil.copytree(folder, project, dirs_exist_ok=True)


def write_program(path: Path, text: str, interpreter: str = "/bin/sh") -> str:
    """Write an executable script; return its path."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!{interpreter}\n{text}\n")
    path.chmod(0o755)
    return str(path)
