"""A newcomer pastes the README's commands, and sees what the README shows."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.repo.test_recipes import asking, servers

__all__ = ["asking", "servers"]
ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(sh|console)\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def run(script: str, folder: Path) -> str:
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "COLUMNS": "120"}
    ran = subprocess.run(["bash", "-euc", script], capture_output=True, text=True, env=env, cwd=folder, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_it_fits_on_a_few_screens_and_begins_with_the_two_commands() -> None:
    assert README.count("\n") <= 110
    assert [line.split("#")[0].strip() for line in BLOCKS[0][1].splitlines()] == ["make demo", "make test"]


@pytest.mark.parametrize("code", [code for language, code in BLOCKS if language == "console"])
def test_the_output_is_the_one_that_is_printed(code: str) -> None:
    command, _, output = code.removeprefix("$ ").partition("\n")
    assert run(command, ROOT) == output


def test_the_commands_of_each_kind_of_user_work_as_pasted(asking: Path) -> None:
    agent, analyst, author = (code for language, code in BLOCKS if language == "sh" and not code.startswith("make "))
    script = agent.replace("python3 pit_fetch.py", f"{sys.executable} {ROOT / 'pit_fetch.py'}")
    envelope = json.loads(run(script, asking))
    assert {gap["type"] for gap in envelope["gaps"]} <= {"pit_excluded", "unverifiable", "no_data"}
    shown = run(analyst, asking)
    assert "AAPL" in shown
    assert "SECRET" not in shown
    assert (asking / "bars.csv").read_text().count("\n") > 1
    run(author, asking)
    assert (asking / "pit-fetch-my-feed" / "pyproject.toml").is_file()
