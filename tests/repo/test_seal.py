"""The guard's table of patterns has those of the files, and no others."""

from __future__ import annotations

from pit_fetch.support.bundled import load
from tests.repo.seal import digests


def test_the_guard_knows_every_pattern_and_no_other() -> None:
    guard = load("pit_guard")
    assert set(digests().values()) == guard.SHIPPED_PATTERNS, "run python -m tests.repo.seal"
