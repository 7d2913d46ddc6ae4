"""The documents say what the program does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def test_the_help_in_the_readme_is_the_program_s() -> None:
    env = {**os.environ, "COLUMNS": "100"}
    command = [sys.executable, "-m", "pit_fetch", "--help"]
    shown = subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout
    block = re.search(r"<!-- help -->\n```text\n(.*?)```\n<!-- /help -->", (ROOT / "README.md").read_text(), re.DOTALL)
    assert block is not None
    assert block[1] == shown, "paste the output of `COLUMNS=100 pit_fetch --help` into README.md"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text()):
        assert (document.parent / target).exists(), target


def test_every_environment_variable_is_documented() -> None:
    used = {
        name
        for root in ("pit_fetch", "providers", "hooks")
        for path in (ROOT / root).rglob("*.py")
        if "skeleton" not in path.parts
        for name in re.findall(r"\"(PIT_[A-Z_]+(?:_URL)?|PIT_GATE_LOG)\"", path.read_text())
        if name.startswith(("PIT_FETCH_", "PIT_GATE_LOG"))
    }
    documented = (ROOT / "docs" / "command.md").read_text()
    assert sorted(name for name in used if name not in documented) == []


def test_every_exit_status_is_documented() -> None:
    from pit_fetch.errors import ExitStatus

    documented = (ROOT / "docs" / "command.md").read_text()
    assert [status.name for status in ExitStatus if f"| {status.value} |" not in documented] == []


def test_every_gap_type_is_documented() -> None:
    from pit_fetch.gaps import GapType

    documented = (ROOT / "docs" / "command.md").read_text()
    assert {kind for kind in GapType if f"`{kind}`" not in documented} == set()
