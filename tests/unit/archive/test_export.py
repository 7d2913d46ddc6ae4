"""pit_fetch archive export: every version as a row of Parquet, with when it was the answer."""

from __future__ import annotations

import errno
import json
import stat
from contextlib import closing
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

from pit_fetch.archive.store import index, schema
from pit_fetch.archive.store.journal import FetchEntry, Writer
from pit_fetch.testing.server import as_json
from tests.laws.exported import AS_OF
from tests.providers.bz_news_api import server as benzinga
from tests.unit.archive.scene import Archive, articles, at
from tests.unit.archive.test_commands import NEWS, filled

DIVIDENDS = "alphavantage DIVIDENDS symbol=IBM"
FIGURES = {
    "symbol": "IBM",
    "data": [
        {"ex_dividend_date": "2026-03-31", "declaration_date": "2026-04-22", "amount": "1.85", "payment_date": "None"}
    ],
}


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    """An article that is edited, bars of a company, and a snapshot."""
    archive = filled(tmp_path)
    archive.app = articles(
        benzinga.article(1, at("2026-06-01 14:30"), at("2026-06-03 09:00"), title="other words"),
    )
    archive.fetch(NEWS, "2026-06-03 15:00")
    archive.app = lambda request: as_json(FIGURES)
    archive.fetch(DIVIDENDS, "2026-06-03 15:00")
    return archive


def rows(folder: Path, operation: str) -> list[dict[str, Any]]:
    from pyarrow import parquet

    return [row for path in sorted((folder / operation).iterdir()) for row in parquet.read_table(path).to_pylist()]


def test_the_fetches_of_a_source_that_is_not_installed_stay_for_its_return(archive: Archive) -> None:
    with closing(archive.open()) as connection:
        with schema.transaction(connection):
            gone = FetchEntry(0, "live", "gone", "", "", {}, "--source gone", None)
            key = Writer(connection).append_fetch(gone)
            index.defer(connection, index.UNASSIGNED, key)
        assert archive.command("archive export lake").code == 0
        assert index.pending(connection, index.UNASSIGNED) == [key]


def test_what_no_question_has_needed_yet_is_indexed_aside(archive: Archive) -> None:
    archive.take_up()
    assert archive.command("archive export lake").code == 0
    with closing(archive.open()) as connection, schema.transaction(connection):
        for stream in index.streams(connection):
            index.defer_all(connection, stream)
    before = archive.path.read_bytes()
    assert archive.command("archive export again").out.startswith("3 rows in 2 files")
    assert archive.path.read_bytes() == before
    for operation in ("bz-news-api/items", "alphavantage/DIVIDENDS"):
        assert rows(archive.folder / "again", operation) == rows(archive.folder / "lake", operation)


def test_fields_have_their_types(archive: Archive) -> None:
    archive.command("archive export lake")
    (row,) = rows(archive.folder / "lake", "alphavantage/DIVIDENDS")
    assert (row["amount"], row["payment_date"]) == (1.85, None)
    assert (row["ex_dividend_date"], row["declaration_date"]) == (date(2026, 3, 31), date(2026, 4, 22))
    assert json.loads(row["stream"])["symbol"] == "IBM"
    assert isinstance(row["available_at"], datetime)


def test_the_documented_query_answers_as_of_an_instant(archive: Archive) -> None:
    import duckdb

    folder = archive.folder / "lake"
    archive.command("archive export lake")
    query = AS_OF.format(folder=folder)
    document = Path(__file__, "../../../../docs/archive-care.md").resolve().read_text(encoding="utf-8")
    assert " ".join(AS_OF.format(folder="versions").split()) in " ".join(document.split())
    for pit in ("2026-06-02 12:00", "2026-06-04 12:00"):
        found = [json.loads(item) for (item,) in duckdb.connect().sql(query, params={"pit": at(pit)}).fetchall()]
        answer = archive.offline(NEWS, "2026-07-01 12:00", pit=pit)
        assert [item for item in found if item["id"] == "1"] == answer.data


def test_it_is_for_this_user_alone(archive: Archive) -> None:
    archive.command("archive export lake")
    assert stat.S_IMODE((archive.folder / "lake").stat().st_mode) == 0o700


def test_a_folder_that_exists_is_left_as_it_is(archive: Archive) -> None:
    (archive.folder / "lake").mkdir()
    left = archive.command("archive export lake")
    assert left.code == 2
    assert "lake: it exists already: name a new folder" in left.err
    assert [*(archive.folder / "lake").iterdir()] == []


def test_it_is_there_whole_or_not_at_all(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyarrow import parquet

    before = {*archive.folder.iterdir()}
    write = parquet.write_table

    def fill_the_disk(table: Any, path: Path, **options: Any) -> None:
        if path.parent.name == "items":
            raise OSError(errno.ENOSPC, "No space left on device")
        write(table, path, **options)

    monkeypatch.setattr(parquet, "write_table", fill_the_disk)
    left = archive.command("archive export lake")
    assert left.code == 2
    assert "lake: it cannot be written (No space left on device)" in left.err
    assert {*archive.folder.iterdir()} == before


def test_a_damaged_index_is_not_exported(archive: Archive) -> None:
    archive.command("archive rebuild")
    with archive.open() as connection:
        connection.execute("UPDATE validities SET start = start - 1")
    left = archive.command("archive export lake")
    assert left.code == 2
    assert not (archive.folder / "lake").exists()
