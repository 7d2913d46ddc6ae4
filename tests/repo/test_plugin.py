"""This repository as a Claude Code plugin."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pit_fetch import __version__
from pit_fetch.cli import command
from pit_fetch.support.bundled import gate, load

ROOT = Path(__file__).resolve().parents[2]


def test_the_plugin_and_the_package_have_one_version() -> None:
    manifest = json.loads((ROOT / ".claude-plugin" / "plugin.json").read_text())
    assert (manifest["name"], manifest["version"]) == ("pit-fetch", __version__)


@pytest.mark.parametrize("program", ["pit_fetch", f"{ROOT}/pit_fetch.py", f"python3 {ROOT}/pit_fetch.py"])
def test_its_own_program_may_list(program: str) -> None:
    guard = load("pit_guard")
    hook = {"tool_name": "Bash", "tool_input": {"command": f"{program} --version"}, "cwd": str(ROOT)}
    assert guard.decide(hook, {"PIT_FETCH_WRAPPER_ONLY": "1"}, gate).words


def test_its_agents_pass_the_linter() -> None:
    answer = command.run(["lint"], {}, str(ROOT))
    names = sorted(path.stem for path in (ROOT / "agents").glob("*.md"))
    assert answer.text == f"PASS: 0 errors, 0 warnings, {len(names)} agents checked ({', '.join(names)})\n"


def test_its_hooks_are_wired_and_unedited(tmp_path: Path) -> None:
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    report = json.loads(command.run(["doctor", "--json"], environ, str(ROOT)).text)
    wiring = [finding["level"] for finding in report["findings"] if finding["check"] in ("wiring", "files")]
    assert set(wiring) == {"ok"}
