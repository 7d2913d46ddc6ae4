"""The worked example of the archive's rules is true. Its laws are in tests/laws/archive_laws.py."""

from __future__ import annotations

import doctest

from pit_fetch.archive.store import history


def test_the_worked_example_is_true() -> None:
    result = doctest.testmod(history)
    assert (result.failed, result.attempted > 0) == (0, True)
