"""A newcomer pastes the README's commands, and sees what the README shows."""

from __future__ import annotations

import csv
import json
import os
import re
import sys
import venv
from pathlib import Path

import pytest

from tests.repo.consoles import printed, typed
from tests.repo.test_recipes import asking, servers

__all__ = ["asking", "servers"]
ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(sh|console)\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


INSTALL = ["make demo", ". .venv/bin/activate"]


def test_it_fits_on_a_few_screens_and_begins_with_the_install() -> None:
    assert README.count("\n") <= 110
    assert [line.split("#")[0].strip() for line in BLOCKS[0][1].splitlines()] == INSTALL


def test_the_environment_is_the_one_that_make_sets_up_and_the_second_command_finds_pit_fetch(tmp_path: Path) -> None:
    assert "BIN = .venv/bin\n" in (ROOT / "Makefile").read_text(encoding="utf-8")
    venv.create(tmp_path / ".venv", symlinks=True)
    command = tmp_path / ".venv" / "bin" / "pit_fetch"
    command.symlink_to(Path(sys.executable).parent / "pit_fetch")
    assert printed(f"{INSTALL[1]}\ncommand -v pit_fetch", tmp_path).strip() == str(command)


@pytest.mark.parametrize(("command", "output"), [*typed(README)])
def test_the_output_is_the_one_that_is_printed(command: str, output: str) -> None:
    assert printed(command, ROOT) == output


def test_the_commands_work_as_pasted_one_after_the_other(asking: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.endswith("_API_KEY") or name == "SEC_USER_AGENT"]:
        monkeypatch.delenv(name)
    (asking / "examples").symlink_to(ROOT / "examples")
    users = [code for language, code in BLOCKS if language == "sh" and not code.startswith("make ")]
    assert len(users) == 4
    # What the sample holds is of the sources' own addresses, and the servers of this test have others.
    addresses = " ".join(f"-u {name}" for name in os.environ if re.fullmatch("PIT_FETCH_.*_URL", name))
    shown = printed(re.sub(r"^(?=.* sample\.db)", f"env {addresses} ", "".join(users), flags=re.MULTILINE), asking)
    assert "Acme seen beating estimates" in (asking / "why.html").read_text(encoding="utf-8")
    expected, changes, earnings, refusal = map(json.loads, re.findall(r"^\{.*$", shown, re.MULTILINE))
    assert [item["eps_estimate_average"] for item in expected["data"]] == ["4.6200", "1.0800"]
    assert [(item["change"], item["value"]) for item in changes["data"]][:2] == [("new", 4.10), ("changed", 3.25)]
    panel = re.findall(r"^(?:pit|2024-0)\S*,(?:concept|EarningsPer|NetIncome).*$", shown, re.MULTILINE)
    cells = [*csv.DictReader(panel)]
    assert {(cell["pit"][:7], cell["status"]) for cell in cells} == {("2024-01", "ok"), ("2024-02", "ok")}
    restated = [cell["value"] for cell in cells if cell["end"] == "2022-12-31"]
    assert restated == ["3.6", "3.25", "144000000", "130000000"]
    assert [item["value"] for item in earnings["data"]] == [6.13, 6.10]
    assert [gap["type"] for gap in refusal["gaps"]] == ["invalid_pit"]
    assert "\nrefused\n" in shown
    assert (asking / "pit-fetch-my-feed" / "pyproject.toml").is_file()
