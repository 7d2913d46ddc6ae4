"""Builds the wheel, checks its top-level names, and runs the suite against it, away from the checkout."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOP_LEVEL = {"pit_fetch", "pit_fetch_providers", "pit_gate.py", "pit_guard.py"}


def build(folder: Path) -> Path:
    """The wheel, built into ``folder``."""
    command = [sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    (wheel,) = folder.glob("*.whl")
    return wheel


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel = build(folder)
        names = {entry.split("/")[0] for entry in zipfile.ZipFile(wheel).namelist()}
        found = {entry for entry in names if not entry.endswith(".dist-info")}
        if found != TOP_LEVEL:
            print(f"the wheel's top-level names are {sorted(found)}, not {sorted(TOP_LEVEL)}")
            return 1
        venv.create(folder / "venv", with_pip=True)
        python = str(folder / "venv" / "bin" / "python")
        packages = [
            f"{wheel}[archive,frames]",
            "pytest",
            "pytest-timeout",
            "pytest-xdist",
            "hypothesis",
            "kglite",
            "responses",
        ]
        pip = [python, "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
        subprocess.run([*pip, *packages], check=True)
        shutil.copytree(ROOT / "tests", folder / "tests", ignore=shutil.ignore_patterns("repo", "__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", folder)
        return subprocess.run([python, "-m", "pytest", "-n", "auto"], cwd=folder, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
