"""docs/alphavantage.md holds the table of the code, word for word."""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path

from pit_fetch_providers.alphavantage.functions import Function, by_rule

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "alphavantage.md"


def _said(function: Function) -> tuple[str, str]:
    return function.how, function.why


def table() -> str:
    """The functions by rule; neighbours that are dated alike, for the same reason, share a row."""
    parts = []
    for title, rows in by_rule():
        parts.append(f"**{title}**\n\n| function | public from | why |\n|---|---|---|\n")
        for (how, why), alike in groupby(rows, key=_said):
            names = ", ".join(f"`{row.name}`" for row in alike)
            parts.append(f"| {names} | {how} | {why} |\n")
        parts.append("\n")
    return "".join(parts)


def test_the_table_is_the_code_s() -> None:
    block = re.search(r"<!-- table -->\n(.*?)<!-- /table -->", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    assert block is not None
    assert block[1] == table(), f"paste this into docs/alphavantage.md:\n{table()}"
