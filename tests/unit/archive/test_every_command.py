"""What holds for every command: one moment beside a writer, the same bytes of what is read, and a non-archive named."""

from __future__ import annotations

import json
import os
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pit_fetch.archive.store import index, journal
from tests.providers.bz_news_api import server as benzinga
from tests.unit.archive import flips
from tests.unit.archive.scene import Archive, articles, at

READING = {
    "info": 0,
    "log": 0,
    "replay last --no-compare": 0,
    "verify": 0,
    "export versions": 0,
    "backup backup.db": 0,
    "repair --into repaired.db": 0,
    "merge other.db": 2,
    "rebuild": 2,
    "drop --source benzinga --before 2026-06-02": 2,
}
ALL = [*READING, "drop --after 2026-06-02", f"verify --since {'0' * 12}-1"]


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    archive = flips.sample(tmp_path)
    archive.app = articles(benzinga.article(9, at("2026-06-01 14:30"), title="goes on"))
    return archive


def rows(archive: Archive, folder: str) -> list[dict[str, Any]]:
    from pyarrow import parquet

    assert archive.command(f"archive export {folder}").code == 0
    files = sorted((archive.folder / folder).rglob("*.parquet"))
    return [row for file in files for row in parquet.read_table(file).to_pylist()]


def test_verify_and_export_see_one_moment_beside_a_writer(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = json.loads(archive.command("archive verify --json").out)["entries"]

    def beside(module: Any, name: str) -> list[int]:
        """Let another process capture when the function is first called."""
        real, codes = getattr(module, name), list[int]()

        def called(*args: Any) -> Any:
            if not codes:
                codes.append(1)
                codes[0] = archive.command("capture list.toml --again", "2026-06-15 15:00").code
            return real(*args)

        monkeypatch.setattr(module, name, called)
        return codes

    codes = beside(journal, "depths")
    left = archive.command("archive verify --json")
    assert (codes, left.code, json.loads(left.out)["entries"]) == ([0], 0, entries)
    before = rows(archive, "before")
    archive.app = articles(benzinga.article(8, at("2026-06-01 14:30"), title="is new"))
    codes = beside(index, "valid_records")
    during = rows(archive, "during")
    assert (codes, during) == ([0], before)
    assert len(rows(archive, "after")) > len(before)


@pytest.mark.parametrize("words", READING)
def test_a_read_only_archive_keeps_its_bytes(archive: Archive, monkeypatch: pytest.MonkeyPatch, words: str) -> None:
    with closing(archive.open()) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    (archive.folder / "other.db").write_bytes(archive.path.read_bytes())
    before = archive.path.read_bytes()
    real = os.access  # root may write to any file

    def access(path: Any, mode: int, **more: Any) -> bool:
        return not (mode & os.W_OK and str(path) == str(archive.path)) and real(path, mode, **more)

    monkeypatch.setattr(os, "access", access)
    assert archive.command(f"archive {words}").code == READING[words]
    assert archive.path.read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0" + bytes(84)])
@pytest.mark.parametrize("words", ALL)
def test_what_is_no_archive_is_named_and_left_alone(tmp_path: Path, words: str, content: bytes) -> None:
    archive = Archive(tmp_path)
    archive.path.write_bytes(content)
    (tmp_path / "other.db").write_bytes(content)
    left = archive.command(f"archive {words}")
    assert left.code != 0
    assert str(archive.path) in left.err + left.out or "LOST: everything" in left.out
    assert archive.path.read_bytes() == content
