"""A project with the files of the first version that users have, taken from the repository's own history."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from pit_fetch.claude_code import bundle, versions
from pit_fetch.cli import command
from pit_fetch.support.bundled import load

ROOT = Path(__file__).resolve().parents[2]
FIRST = "d7229f4"


def _content(path: str) -> bytes:
    """Return a file of the first version; empty if it had none."""
    return subprocess.run(["git", "show", f"{FIRST}:{path}"], cwd=ROOT, capture_output=True, check=False).stdout


def test_the_first_version_is_upgraded_whole(tmp_path: Path) -> None:
    if not _content("hooks/pit_gate.py"):
        pytest.skip("the history is not here")
    command.run(["init", "--with", "neo4j"], {}, str(tmp_path))
    claude = tmp_path / ".claude"
    superseded = [f"agents/{name}.md" for name in load("pit_guard").FORMER_ADAPTERS]
    for name in (*bundle.files(), *superseded):
        if _content(name):
            (claude / name).write_bytes(_content(name))
            assert versions.released_files().version_of(name, _content(name))
    wiring = _content("hooks/hooks.json").decode().replace("${CLAUDE_PLUGIN_ROOT}/hooks", bundle.PROJECT_HOOKS)
    (claude / "settings.json").write_text(json.dumps({"hooks": json.loads(wiring)["hooks"]}))
    upgraded = command.run(["init", "--upgrade"], {}, str(tmp_path))
    assert (upgraded.status, "KEPT" in upgraded.text) == (0, False)
    for name, content in bundle.files().items():
        assert versions.with_model((claude / name).read_bytes(), b"") == content
    assert not any((claude / name).exists() for name in superseded)
    assert b"\nmodel: opus\n" in (claude / "agents" / "alphavantage.md").read_bytes()
    hooks = json.loads((claude / "settings.json").read_text())["hooks"]
    wired = [(event, entry["matcher"]) for event, entries in hooks.items() for entry in entries]
    assert sorted(wired) == sorted((row.event, row.matcher) for row in bundle.wiring())
