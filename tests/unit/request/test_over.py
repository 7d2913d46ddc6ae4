"""The values that stand in a file, one a line or in a column."""

from __future__ import annotations

from pit_fetch.request import over


def test_values_of_a_file() -> None:
    assert over.from_text("^GSPC\n-4\n", "symbol") == ["^GSPC", "-4"]
