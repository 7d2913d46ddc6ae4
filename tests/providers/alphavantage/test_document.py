"""docs/alphavantage.md holds the table of the code, word for word."""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path

from pit_fetch_providers.alphavantage import PROVIDER

from pit_fetch.request.query import by_dating

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "alphavantage.md"


def table() -> str:
    """The functions by rule; neighbours that are dated alike, for the same reason, share a row."""
    parts = []
    for title, operations in by_dating(PROVIDER):
        parts.append(f"**{title}**\n\n| function | public from | why |\n|---|---|---|\n")
        for (rule, why), alike in groupby(operations, key=lambda operation: (operation.rule, operation.why)):
            names = ", ".join(f"`{operation.name}`" for operation in alike)
            parts.append(f"| {names} | {rule} | {why} |\n")
        parts.append("\n")
    return "".join(parts)


def test_the_table_is_the_code_s() -> None:
    block = re.search(r"<!-- table -->\n(.*?)<!-- /table -->", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    assert block is not None
    assert block[1] == table(), f"paste this into docs/alphavantage.md:\n{table()}"
