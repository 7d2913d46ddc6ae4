"""The guard's tables are those of the providers and of the files that agents read."""

from __future__ import annotations

from tests.repo.seal import GUARD, sealed


def test_the_tables_in_the_guard_are_up_to_date() -> None:
    text = GUARD.read_text(encoding="utf-8")
    assert text == sealed(text), "run python -m tests.repo.seal"
