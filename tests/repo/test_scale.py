"""docs/scale.md: its queries are those that are measured, and find what a panel answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.repo import scale

PAGE = Path(__file__).parents[2] / "docs" / "scale.md"


@pytest.mark.parametrize("query", [scale.NEWEST, scale.ALL])
def test_the_page_has_the_queries_that_are_measured(query: str) -> None:
    assert query.format(folder="versions", pits="pits.txt").strip() in PAGE.read_text(encoding="utf-8")


@pytest.mark.thorough
def test_a_panel_and_a_query_answer_alike() -> None:
    assert scale.main(["--symbols", "3", "--instants", "4"]) == 0
