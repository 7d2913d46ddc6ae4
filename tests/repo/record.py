"""Record, by hash, the files that ``pit_fetch init`` of a commit installs, so that later versions know them.

    python -m tests.repo.record COMMIT LABEL

To be run before a file that ``init`` installs is changed, on the last commit that users may have.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from pit_fetch.claude_code import bundle, versions

TABLE = Path(versions.__file__).with_suffix(".json")
FOLDERS = ("hooks", "agents", "skills")


def _git(*args: str) -> bytes:
    return subprocess.run(["git", *args], capture_output=True, check=True).stdout


def main(commit: str, label: str) -> None:
    """Add the files and matchers of ``commit`` to the table. What it contains already keeps its label."""
    table = json.loads(TABLE.read_text())
    names = _git("ls-tree", "-r", "--name-only", commit, *FOLDERS).decode().split()
    contents = {name: _git("show", f"{commit}:{name}") for name in names if name.endswith((".py", ".md"))}
    contents["hooks/.gitignore"] = bundle.files()["hooks/.gitignore"]  # init writes it; it is no file of the repository
    digests = {name: versions.digest(name, content) for name, content in contents.items()}
    known = {item for files in table["files"].values() for item in files.items()}
    new = dict(digests.items() - known)
    if new:
        table["files"].setdefault(label, {}).update(new)
    for event, entries in json.loads(_git("show", f"{commit}:hooks/hooks.json"))["hooks"].items():
        matchers = [*table["matchers"].get(event, ()), *(entry["matcher"] for entry in entries)]
        table["matchers"][event] = list(dict.fromkeys(matchers))
    TABLE.write_text(json.dumps(table, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
