"""One changed bit, anywhere in the file: verify finds it, and no answer looks ahead because of it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from pit_fetch.archive.store import journal, tables
from pit_fetch.archive_admin import verification
from pit_fetch.errors import ConfigError
from pit_fetch.gaps import Code
from pit_fetch.provider import Provider
from tests.memory_folder import scratch
from tests.unit.archive import flips
from tests.unit.archive.scene import Archive, estimates

with closing(sqlite3.connect(":memory:")) as _empty:
    _empty.executescript(tables.SCHEMA)
    COLUMNS = list(flips.columns(_empty))


@pytest.fixture(scope="module")
def whole() -> bytes:
    with scratch("archive-") as folder:
        return flips.bytes_of(flips.sample(Path(folder)))


def test_the_sample_has_something_in_every_table(whole: bytes) -> None:
    with closing(flips.opened(whole)) as connection:
        assert verification.verify(connection).damage == ()
        assert all(flips.values(connection, table, column) for table, column in COLUMNS)


def found(whole: bytes, flip: flips.Flip) -> bool:
    """Return whether verify finds a changed bit. A table may not take it, or it may be one that means nothing."""
    with closing(flips.opened(whole)) as connection, closing(flips.opened(whole)) as sound:
        is_changed = flips.change(connection, flip)
        return not is_changed or bool(verification.verify(connection).damage) or bodies(connection) == bodies(sound)


def bodies(connection: sqlite3.Connection) -> list[bytes]:
    """Return every body: how one is packed has bits that unpacking does not look at."""
    return [journal.read_body(connection, digest) for digest in flips.values(connection, "bodies", "digest")]


@pytest.mark.parametrize(("table", "column"), COLUMNS)
def test_verify_finds_a_changed_bit_of_every_column(whole: bytes, table: str, column: str) -> None:
    rng = Random(f"{table}.{column}")
    with closing(flips.opened(whole)) as connection:
        rows = [(row, value) for row, value in enumerate(flips.values(connection, table, column)) if flips.bits(value)]
    for row, value in rng.sample(rows, min(len(rows), 4)):
        for bit in {0, rng.randrange(flips.bits(value))}:
            assert found(whole, flips.Flip(table, column, row, bit))


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM {table} WHERE ({key}) = (SELECT {key} FROM {table} LIMIT 1)",
        "DELETE FROM {table} WHERE ({key}) = (SELECT {key} FROM {table} ORDER BY {key} DESC LIMIT 1)",
    ],
)
@pytest.mark.parametrize("table", sorted({table for table, _ in COLUMNS} - {"about"}))  # no answer rests on that
def test_verify_finds_a_row_that_is_gone(whole: bytes, table: str, change: str) -> None:
    with closing(flips.opened(whole)) as connection:
        key = ", ".join(flips.key(connection, table))
        deleted = connection.execute(change.format(table=table, key=key))
        assert deleted.rowcount == 1
        assert verification.verify(connection).damage


def test_a_bit_of_a_reads_time_is_no_look_ahead(tmp_path: Path) -> None:
    """It served a snapshot three days before it was first held, and verify called that sound."""
    archive, words = Archive(tmp_path), "alphavantage EARNINGS_ESTIMATES symbol=IBM"
    archive.app = estimates(("2026-06-30", "2.50"))
    archive.fetch(words, "2026-06-04 15:00")
    archive.take_up()
    assert len(archive.offline(words, "2026-06-09 12:00", pit="2026-06-04 15:00").data) == 1
    assert archive.offline(words, "2026-06-09 12:00", pit="2026-06-03 15:00").data == []
    archive.open().execute("UPDATE reads SET seen = seen & ~(1 << 38)")  # 76 hours earlier
    left = archive.offline(words, "2026-06-09 12:00", pit="2026-06-03 15:00")
    assert (left.data, left.gap_types[-1]) == ([], "config")
    verified = archive.command("archive verify")
    assert verified.code == 1
    assert "index: rows of reads that have changed: 1\n" in verified.out
    assert "pit_fetch archive rebuild makes its index again" in verified.out
    archive.command("archive rebuild")
    assert archive.command("archive verify").code == 0
    assert archive.offline(words, "2026-06-09 12:00", pit="2026-06-03 15:00").data == []


def test_a_stream_whose_name_has_changed_is_not_said_to_hold_nothing(tmp_path: Path) -> None:
    archive = flips.sample(tmp_path)
    archive.open().execute("UPDATE streams SET name = replace(name, 'IBM', 'IBN')")
    left = archive.offline(flips.ESTIMATES, "2026-06-20 12:00", pit="2026-06-06 15:00")
    assert (left.data, left.gap_types[-1]) == ([], "config")


@pytest.mark.parametrize(
    ("change", "table"),
    [
        ("UPDATE validities SET start = start - 1", "validities"),
        ("UPDATE versions SET payload = replace(payload, 'first', 'worst') WHERE payload LIKE '[%'", "versions"),
        ("DELETE FROM validities WHERE start = (SELECT max(start) FROM validities)", "validities"),
        ("DELETE FROM pending", "not where it belongs"),
        ("UPDATE first_held SET first = first - 86400000000", "first_held"),
    ],
)
def test_verify_names_what_of_the_index_is_damaged(whole: bytes, change: str, table: str) -> None:
    with closing(flips.opened(whole)) as connection:
        connection.execute(change)
        damage = verification.verify(connection).damage
    assert damage
    assert all(line.startswith("index") for line in damage)
    assert any(table in line for line in damage)


def test_the_index_of_a_source_that_is_not_installed_is_not_called_damaged(tmp_path: Path) -> None:
    archive = flips.sample(tmp_path)

    def find(name: str) -> Provider:
        raise ConfigError(Code.USAGE, text="not installed")

    with closing(archive.open()) as connection:
        report = verification.verify(connection, find)
    assert (report.damage, report.underived > 0) == ((), True)
    assert json.loads(archive.command("archive verify --json").out)["underived"] == 0
