"""The table of commands: each has a module that answers --help, and the gate knows those that fetch nothing."""

from __future__ import annotations

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


def test_the_gate_lets_the_listings_among_them_pass() -> None:
    listings = {name for name, command in COMMANDS.items() if command.is_listing}
    assert {name for name in COMMANDS if gate.is_listing(f"pit_fetch {name}")} == listings
