"""Records, by hash, the files that ``pit_fetch init`` of a commit installs, so that later versions know them.

    python -m tests.repo.record COMMIT LABEL

To be run before a file that ``init`` installs is changed, on the last commit that users may have.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from pit_fetch.claude_code import versions

TABLE = Path(versions.__file__).with_suffix(".json")
FOLDERS = ("hooks", "agents", "skills")
IGNORED = b"pit_gate.log*\n"


def _git(*words: str) -> bytes:
    return subprocess.run(["git", *words], capture_output=True, check=True).stdout


def main(commit: str, label: str) -> None:
    """Adds what ``commit`` installs to the table. What is there already keeps its label."""
    table = json.loads(TABLE.read_text()) if TABLE.exists() else {"files": {}, "matchers": {}}
    listed = _git("ls-tree", "-r", "--name-only", commit, *FOLDERS).decode().split()
    found = {name: _git("show", f"{commit}:{name}") for name in listed if name.endswith((".py", ".md"))}
    found["hooks/.gitignore"] = IGNORED
    for name, content in found.items():
        table["files"].setdefault(name, {}).setdefault(versions.digest(name, content), label)
    for event, entries in json.loads(_git("show", f"{commit}:hooks/hooks.json"))["hooks"].items():
        for entry in entries:
            script = "pit_guard.py" if "pit_guard.py" in entry["hooks"][0]["command"] else "pit_gate.py"
            known = table["matchers"].setdefault(event, {}).setdefault(script, [])
            known += [entry["matcher"]] * (entry["matcher"] not in known)
    TABLE.write_text(json.dumps(table, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
