"""This repository as a Claude Code plugin."""

from __future__ import annotations

import json
import os
from pathlib import Path

from pit_fetch import __version__, commands

ROOT = Path(__file__).resolve().parents[2]


def test_the_plugin_and_the_package_have_one_version() -> None:
    manifest = json.loads((ROOT / ".claude-plugin" / "plugin.json").read_text())
    assert (manifest["name"], manifest["version"]) == ("pit-fetch", __version__)


def test_its_agents_pass_the_linter() -> None:
    done = commands.run(["lint"], {}, str(ROOT))
    names = sorted(path.stem for path in (ROOT / "agents").glob("*.md"))
    assert done.text == f"PASS: 0 errors, 0 warnings, {len(names)} agents checked ({', '.join(names)})\n"


def test_its_hooks_hold(tmp_path: Path) -> None:
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    report = json.loads(commands.run(["doctor", "--json"], environ, str(ROOT)).text)
    wiring = [finding["level"] for finding in report["findings"] if finding["check"] in ("wiring", "files")]
    assert set(wiring) == {"ok"}
