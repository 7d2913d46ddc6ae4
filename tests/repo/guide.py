"""Follows docs/provider-guide.md word by word, in a clean folder and environment.

Every ``sh`` block of the guide is run, in order and in one shell; a block after ``<!-- file: PATH -->``
is written to PATH. ``~/pit_fetch`` is a copy of this checkout.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.repo.wheel import ROOT

GUIDE = ROOT / "docs" / "provider-guide.md"

_BLOCK = re.compile(r"(?:<!-- file: (?P<path>\S+) -->\n)?```(?P<language>\w+)\n(?P<text>.*?)```\n", re.DOTALL)


def script(guide: str) -> Iterator[str]:
    """The shell script that does what the guide says."""
    for block in _BLOCK.finditer(guide):
        if block["path"]:
            yield f"cat > {shlex.quote(block['path'])} <<'END_OF_FILE'\n{block['text']}END_OF_FILE"
        elif block["language"] == "sh":
            yield block["text"]


def copy_checkout(folder: Path) -> None:
    """Copy what git has of the checkout, and what is new in it: beside that, other targets may be writing."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():  # and was not deleted since
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


def main() -> int:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary).resolve()
        work = folder / "work"
        work.mkdir()
        copy_checkout(folder / "pit_fetch")
        environ = {
            "PATH": os.pathsep.join([os.path.dirname(os.path.realpath(sys.executable)), "/usr/bin", "/bin"]),
            "HOME": str(folder),
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_QUIET": "1",
            "PIP_NO_COMPILE": "1",
            "PIP_CACHE_DIR": os.environ.get("PIP_CACHE_DIR", os.path.expanduser("~/.cache/pip")),
            **{
                key: os.environ[key]
                for key in os.environ
                if key.upper().endswith("_PROXY") or key.startswith("PIP_INDEX")
            },
        }
        steps = script(GUIDE.read_text(encoding="utf-8"))
        text = "set -euo pipefail\nset -x\n" + "\n".join(steps)
        return subprocess.run(["bash", "-c", text], cwd=work, env=environ, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
