"""A project with the files of the first version that users have, taken from the repository's own history."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from pit_fetch.claude_code import bundle, versions
from pit_fetch.cli import command

ROOT = Path(__file__).resolve().parents[2]
FIRST = "d7229f4"


def _show(path: str) -> bytes:
    done = subprocess.run(["git", "show", f"{FIRST}:{path}"], cwd=ROOT, capture_output=True, check=False)
    return done.stdout


@pytest.fixture(autouse=True)
def _history() -> None:
    if not _show("hooks/pit_gate.py"):
        pytest.skip("the history is not here")


def test_the_first_version_is_upgraded_whole(tmp_path: Path) -> None:
    command.run(["init"], {}, str(tmp_path))
    claude = tmp_path / ".claude"
    for name in bundle.files():
        if _show(name):
            (claude / name).write_bytes(_show(name))
    wiring = _show("hooks/hooks.json").decode().replace("${CLAUDE_PLUGIN_ROOT}/hooks", bundle.PROJECT_HOOKS)
    (claude / "settings.json").write_text(json.dumps({"hooks": json.loads(wiring)["hooks"]}))
    assert "" not in {versions.version_of(name, (claude / name).read_bytes()) for name in bundle.files()}
    done = command.run(["init", "--upgrade"], {}, str(tmp_path))
    assert (done.status, "KEPT" in done.text) == (0, False)
    for name, content in bundle.files().items():
        assert versions.without_model((claude / name).read_bytes()) == content
    assert b"\nmodel: opus\n" in (claude / "agents" / "alphavantage.md").read_bytes()
    settings = json.loads((claude / "settings.json").read_text())
    for row in bundle.wiring():
        entries = [one for one in settings["hooks"][row.event] if one["matcher"] == row.matcher]
        assert len(entries) == 1
    assert not any(one["matcher"] == "Bash" for one in settings["hooks"]["PreToolUse"])
