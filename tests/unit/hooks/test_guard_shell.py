"""The oracle of the law "guard: shell", which holds the guard against a real bash."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.laws import shell


@pytest.mark.parametrize(
    ("command", "objection"),
    [
        ("pit_fetch --help", ""),
        ("pit_'fetch' \"--help\"", ""),
        ("X=/pit_fetch cat raw.json --help", "ran "),
        ("pit_fetch --help; cat raw.json", "ran "),
        ("pit_fetch $(pit_fetch --help)", "ran "),
        ("pit_fetch --help ~", "ran "),
        ("X=1; pit_fetch --help", "2 simple commands"),
        ("pit_fetch --help; echo leak", "2 simple commands"),
        ("{ pit_fetch --help; } && [[ leak ]]", "2 simple commands"),
        ("pit_fetch --help > out", "changed files"),
        ("%1 --help", "ran "),
    ],
)
def test_the_oracle_tells_a_call_from_what_is_more(tmp_path: Path, command: str, objection: str) -> None:
    objected = shell.Sandbox(tmp_path).objection(command, ["pit_fetch", "--help"], 1)
    assert objected.startswith(objection)
    assert bool(objected) == bool(objection)


def test_the_oracle_sees_what_python_takes_for_code(tmp_path: Path) -> None:
    script = '-cprint(open("raw.json").read())#/pit_fetch.py'
    sandbox = shell.Sandbox(tmp_path)
    assert "after the PIT" in sandbox.objection(f"python3 '{script}' --help", ["python3", script, "--help"], 2)
    assert not sandbox.objection("python3 -B tools/pit_fetch.py x", ["python3", "-B", "tools/pit_fetch.py", "x"], 3)
