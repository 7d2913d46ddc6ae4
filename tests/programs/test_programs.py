"""Programs that were not changed see the same in worlds that differ only after the PIT."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.programs.run import check
from tests.programs.worlds import PROGRAMS


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_sees_the_same(name: str, tmp_path: Path) -> None:
    program = PROGRAMS[name]
    if find_spec(program.needs) is None and shutil.which(program.needs) is None:
        pytest.skip(f"{program.needs} is not installed")
    check(program, tmp_path)
