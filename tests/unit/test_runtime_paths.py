"""A path with a mistake that a shell or another system left in it is refused, unless there is such a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from pit_fetch.runtime import path_problem

MISTAKES = {
    '"x.csv"': "a path has quotes of its own",
    "'x.csv'": "a path has quotes of its own",
    "x.csv ": "a path begins or ends with a blank",
    "x\0.csv": "a path begins or ends with a blank, or has an invisible character",
    "@x.csv": "leave out the @",
    "file:///tmp/x.csv": "leave out file://",
    "https://api.example.com/news": "an address is no file",
    "s3://bucket/x.csv": "an address is no file",
    "C:\\data\\x.csv": "a path of Windows does not lead anywhere here: write it with / and no C:",
    "saved\\x.csv": "a path of Windows",
    "%USERPROFILE%/x.csv": "a variable in a path was not replaced",
    "$HOME/x.csv": "a variable in a path was not replaced",
    "${HOME}/x.csv": "a variable in a path was not replaced",
}
NAMES = ["x", "x.csv", ".", "..", "../x", "/x", "50% of it, in 2024.csv", "x[1].csv", "US$.csv", "it's.csv", "AT&T.csv"]


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_named(tmp_path: Path, name: str) -> None:
    assert MISTAKES[name] in path_problem(name, str(tmp_path))


@pytest.mark.parametrize("name", NAMES)
def test_an_odd_name_is_none(tmp_path: Path, name: str) -> None:
    assert path_problem(name, str(tmp_path)) == ""


def test_what_exists_is_meant(tmp_path: Path) -> None:
    (tmp_path / "$RECYCLE.BIN").mkdir()
    (tmp_path / "'x'").touch()
    assert [path_problem(name, str(tmp_path)) for name in ("$RECYCLE.BIN/x.csv", "'x'")] == ["", ""]
    assert path_problem("'x'", "/") != ""
