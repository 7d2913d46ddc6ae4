"""docs/scale.md: its queries are those that are measured, and find what a panel answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.repo import scale

PAGE = Path(__file__).parents[2] / "docs" / "scale.md"


@pytest.mark.parametrize("query", [scale.NEWEST, scale.ALL])
def test_the_page_has_the_queries_that_are_measured(query: str) -> None:
    assert query.format(folder="versions", pits="pits.txt").strip() in PAGE.read_text(encoding="utf-8")


def test_the_newest_figure_is_that_of_the_last_date_even_if_it_has_none(tmp_path: Path) -> None:
    import duckdb

    (tmp_path / "pits.txt").write_text("2026-03-31T20:00:00Z\n")
    folder = tmp_path / "alphavantage" / "DIVIDENDS"
    folder.mkdir(parents=True)
    rows = [("2025-12-31", None), ("2025-09-30", 4.2)]
    versions = ", ".join(
        f"(TIMESTAMPTZ '2026-02-01', NULL::TIMESTAMPTZ, '{{\"symbol\": \"T1\"}}'::JSON, "
        f"DATE '{end}', {'NULL' if amount is None else amount}::DOUBLE)"
        for end, amount in rows
    )
    columns = "valid_from, valid_to, stream, ex_dividend_date, amount"
    duckdb.sql(f"COPY (SELECT * FROM (VALUES {versions}) AS t({columns})) TO '{folder / 'a.parquet'}'")
    query = scale.NEWEST.format(folder=tmp_path, pits=tmp_path / "pits.txt")
    found = duckdb.connect().execute(f"SELECT symbol, amount FROM ({query})").fetchall()
    assert found == [("T1", None)]


@pytest.mark.thorough
def test_a_panel_and_a_query_answer_alike() -> None:
    assert scale.main(["--symbols", "3", "--instants", "4"]) == 0
