"""The table of commands: each has a module that answers --help, and the gate knows those that fetch nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pit_fetch.cli.command import module_of
from pit_fetch.cli.commands import COMMANDS
from pit_fetch.support.bundled import gate
from tests.inprocess import fetch


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_a_module_with_its_own_help(name: str, tmp_path: Path) -> None:
    assert callable(module_of(name).run)
    answer = fetch(tmp_path, name, "--help")
    assert (answer.status, answer.text.partition("\n")[0].startswith(f"usage: pit_fetch {name}")) == (0, True)


def test_the_help_has_a_line_for_each_command(tmp_path: Path) -> None:
    lines = fetch(tmp_path, "--help").text.splitlines()
    for name, command in COMMANDS.items():
        assert re.fullmatch(
            rf"  {name} +{re.escape(command.summary)}", next(row for row in lines if row.split()[:1] == [name])
        )


def test_the_gate_lets_the_listings_among_them_pass() -> None:
    listings = {name for name, command in COMMANDS.items() if command.is_listing}
    assert {name for name in COMMANDS if gate.is_listing(f"pit_fetch {name}")} == listings


@pytest.mark.parametrize("name", [name for name, command in COMMANDS.items() if command.kind != "fetch"])
def test_no_option_of_a_command_is_known_by_its_beginning(name: str, tmp_path: Path) -> None:
    usage = fetch(tmp_path, name, "--help").text
    needed = ("FILE",) if name == "capture" else ()
    names = {*re.findall(r"--[a-z][a-z-]+", usage)} - {"--help"}
    for flag in (flag[:-1] for flag in names if flag[:-1] not in names):
        answer = fetch(tmp_path, name, f"{flag}=x", *needed)
        assert (answer.status, f"unrecognized arguments: {flag}" in answer.complaint) == (2, True)
