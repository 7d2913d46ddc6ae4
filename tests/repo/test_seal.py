"""What is generated agrees with what it is generated from."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.repo.seal import SEALED


@pytest.mark.parametrize("path", SEALED, ids=lambda path: path.name)
def test_the_file_is_up_to_date(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text == SEALED[path](text), "run python -m tests.repo.seal"
