"""The law of the program: where Bash is for pit_fetch alone, no file that an agent may have written is started.

A real bash runs what the guard permits, after every link of the agent's has been pointed at a file of its own.
"""

from __future__ import annotations

import os
import subprocess
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from unittest.mock import patch

from pit_fetch.support.bundled import gate, load

guard = load("pit_guard")

PIT = "2024-02-15T16:00:00-05:00"
TRIED = 12

_INSTALLED = ("bin/pit_fetch", "bin/python3", "checkout/pit_fetch.py")
_WRITTEN = (
    *("pit_fetch", "pit_fetch.py", "python3", "bin/pit_fetch", "bin/python3", "work/pit_fetch.py", "work/pit_fetch"),
    *(".venv/bin/pit_fetch", ".claude/pit_fetch.py"),
)
# Of each link of the agent's: what it points to when the guard looks, and when the call runs.
_LINKS = {
    "links/pit_fetch": ("bin/pit_fetch", "project/pit_fetch"),
    "links/pit_fetch.py": ("checkout/pit_fetch.py", "project/pit_fetch.py"),
    "pit_link": ("checkout", "project/work"),
}
_PATHS = ("{root}/bin", "{project}/bin", "", ".", "work", "bin", "./bin", "../project/bin", "~/bin", "{root}/none")
_FOLDERS = ("", "work", "links")
_SCRIPTS = (
    *("pit_fetch.py", "work/pit_fetch.py", "links/pit_fetch.py", "{project}/links/pit_fetch.py"),
    *("pit_link/pit_fetch.py", "{root}/checkout/pit_fetch.py", "../checkout/pit_fetch.py", ".claude/pit_fetch.py"),
    *("{root}/checkout//pit_fetch.py", "{root}/project/../checkout/pit_fetch.py", "./pit_fetch.py"),
)
_PROGRAMS = (
    *("pit_fetch", "pit_fetch.py", "./pit_fetch", "bin/pit_fetch", "{project}/bin/pit_fetch", "{root}/bin/pit_fetch"),
    *("links/pit_fetch", "{project}/links/pit_fetch", ".venv/bin/pit_fetch", "work/pit_fetch", "../bin/pit_fetch"),
)
_PYTHONS = ("python3", "python3 -I", "{root}/bin/python3", "bin/python3", "./python3", "{project}/bin/python3 -B")


@cache
def _place() -> tuple[TemporaryDirectory[str], Path]:
    """Make programs that print their own path, and a project in which an agent has written others."""
    folder = TemporaryDirectory(prefix="pit-programs-")
    root = Path(folder.name).resolve()
    for name in (*_INSTALLED, *(f"project/{name}" for name in _WRITTEN)):
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        script = 'while [ "${1#-}" != "$1" ]; do shift; done; sh "$@"' if file.name == "python3" else ""
        file.write_text(f"#!/bin/sh\necho '{file}'\n{script}\n")
        file.chmod(0o755)
    (root / "project" / "links").mkdir()
    hooks = root / "project" / ".claude" / "hooks"
    hooks.mkdir()
    (hooks / guard.RECORD).write_text(f"{root}/checkout/pit_fetch.py\n")
    return folder, root


def _link(root: Path, *, is_innocent: bool) -> None:
    for name, (innocent, own) in _LINKS.items():
        link = root / "project" / name
        link.unlink(missing_ok=True)
        link.symlink_to(root / (innocent if is_innocent else own))


def law(rng: Random) -> int:
    """Some calls of programs of the name, as an agent may write them."""
    root = _place()[1]
    project = root / "project"
    for number in range(TRIED):
        is_known = number == 0  # the installed program runs by its name and its path: the law is not empty
        places = ["{root}/bin"] if is_known else rng.sample(_PATHS, rng.randint(1, 3))
        path = os.pathsep.join(places).format(root=root, project=project)
        folder = project / rng.choice(_FOLDERS)
        script = f"{rng.choice(_PYTHONS)} {rng.choice(_SCRIPTS)}"
        program = rng.choice(["pit_fetch", "python3 {root}/checkout/pit_fetch.py"])
        program = program if is_known else rng.choice([script, rng.choice(_PROGRAMS)])
        command = f"{program} --source x --pit {PIT}".format(root=root, project=project)
        _link(root, is_innocent=True)
        hook = {"tool_name": "Bash", "tool_input": {"command": command}, "cwd": str(folder)}
        try:
            with patch.object(guard, "_HERE", str(project / ".claude" / "hooks")):
                words = guard.decide(hook, {guard.ONLY_VARIABLE: "1", "PATH": path}, gate).words
        except guard.Refusal:
            assert not is_known, command
            continue
        _link(root, is_innocent=False)
        started = _started(gate.join_words(words), folder, path)
        # What an absolute folder of PATH holds is what the operator has installed, wherever it is.
        own = [file for file in started if not _is_installed(file, root, path)]
        assert not own, f"{command!r} in {folder} with PATH={path} starts {own}"
    return 0


def _started(command: str, folder: Path, path: str) -> list[str]:
    done = subprocess.run(
        ["/bin/bash", "-c", command],
        cwd=folder,
        env={"PATH": f"{path}:/usr/bin:/bin"},
        capture_output=True,
        check=False,
    )
    return [line for line in done.stdout.decode().splitlines() if line]


def _is_installed(file: str, root: Path, path: str) -> bool:
    return file in (f"{root}/{name}" for name in _INSTALLED) or os.path.dirname(file) in path.split(os.pathsep)
