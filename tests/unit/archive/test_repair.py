"""archive repair: a new archive has every row that can be read, the rest from another one, and says what is lost."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pit_fetch.archive.store import journal
from pit_fetch.archive.store.journal import COLUMNS, Key
from pit_fetch.testing.inprocess import Left
from tests.providers.bz_news_api import server as benzinga
from tests.unit.archive import flips
from tests.unit.archive.scene import Archive, articles, at
from tests.unit.archive.test_formats import QUESTIONS

NEWS = "bz-news-api --lookback-minutes 100000"
PAGE = 4096
_numbers = count()


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return flips.sample(tmp_path)


def copy_of(archive: Archive, name: str = "copy") -> Archive:
    other = Archive(archive.folder / name)
    other.folder.mkdir()
    with closing(archive.open()) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copy(archive.path, other.path)
    return other


def answers(archive: Archive) -> list[Any]:
    """Return the answers of a copy of an archive: asking is recorded."""
    asked = copy_of(archive, f"asked-{next(_numbers)}")
    return [asked.offline(words, "2026-06-20 12:00", pit=pit).data for words, pit in QUESTIONS]


def repaired(archive: Archive, words: str = "") -> tuple[Left, list[str], Archive]:
    """Repair an archive. Return what the command left, what it says is lost, and the new archive."""
    fixed = Archive(archive.folder / f"fixed-{next(_numbers)}")
    fixed.folder.mkdir()
    before = archive.path.read_bytes()
    left = archive.command(f"archive repair {words} --into {fixed.path} --json")
    assert fixed.path.exists(), left.err
    assert archive.path.read_bytes() == before, "the damaged file is only read"
    assert fixed.command("archive verify").code == 0, fixed.command("archive verify").out
    return left, json.loads(left.out)["lost"], fixed


def damage(archive: Archive, statement: str) -> None:
    with closing(archive.open()) as connection:
        connection.execute(statement)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert archive.command("archive verify").code == 1


def body_of(seq: int) -> str:
    """Return the statement that damages the reply with this number in its chain."""
    return f"UPDATE bodies SET packed = x'00' WHERE digest = (SELECT body FROM exchanges WHERE seq = {seq})"


DAMAGE = {
    "a text that is none": "UPDATE exchanges SET url = CAST(x'68ff' AS TEXT) WHERE seq = 7",
    "a key that is no text": "UPDATE entries SET origin = CAST(x'68ff' AS TEXT) WHERE seq = 7",
    "a key of a request that is no text": "UPDATE fetches SET origin = CAST(x'68ff' AS TEXT) WHERE seq = 9",
    "a time that is none": "UPDATE fetches SET began = 1 << 62 WHERE seq = 9",
    "a reply": body_of(7),
    "how a reply is packed": body_of(7).replace("packed = x'00'", "coding = 'zzzz'"),
    "a reply that others are packed with": "UPDATE bodies SET packed = x'00' WHERE digest IN (SELECT base FROM bodies)",
    "a reply that is gone": "DELETE FROM bodies WHERE digest = (SELECT body FROM exchanges WHERE seq = 7)",
    "an answer": "UPDATE bodies SET packed = x'00' WHERE digest = (SELECT answer FROM answers WHERE seq = 8)",
    "the row of a reply": "UPDATE exchanges SET status = 500 WHERE seq = 7",
    "which fetch a reply belongs to": "UPDATE exchanges SET fetch = 12 WHERE seq = 7",
    "a request": "UPDATE fetches SET pit = 5 WHERE seq = 9",
    "the end of a fetch": "UPDATE answers SET complete = 0 WHERE seq = 8",
    "a deletion": "UPDATE drops SET what = '{}'",
    "a row that is gone": "DELETE FROM exchanges WHERE seq = 7",
    "an entry that is gone": "DELETE FROM entries WHERE seq = 7",
    "the last entry": "DELETE FROM entries WHERE seq = (SELECT max(seq) FROM entries)",
    "the hash of an entry": "UPDATE entries SET link = zeroblob(32) WHERE seq = 7",
    "the hash of a deleted entry": "UPDATE entries SET link = zeroblob(32) WHERE seq = 2",
    "the number of an entry": "UPDATE entries SET seq = seq + (1 << 40) WHERE seq = 7",
    "a number that no entry has": "UPDATE entries SET seq = -seq WHERE seq = 7",
    "the chain of an entry": "UPDATE entries SET origin = 'another' WHERE seq = 7",
    "a row under another number": "UPDATE exchanges SET seq = 99 WHERE seq = 7",
    "what is noted of a body": "UPDATE bodies SET size = size + 1, depth = depth + 1",
    "what it notes of itself": "UPDATE about SET value = value || 'x'",
}


@pytest.mark.parametrize("what", DAMAGE)
def test_what_is_damaged_is_taken_from_a_copy(archive: Archive, what: str) -> None:
    expected = answers(archive)
    copy_of(archive)
    damage(archive, DAMAGE[what])
    left, lost, fixed = repaired(archive, "copy/a.db")
    assert (left.code, lost) == (0, [])
    assert answers(fixed) == expected
    # The two still continue one chain alike.
    assert fixed.command(f"archive merge {archive.folder}/copy/a.db").code == 0
    assert fixed.command("archive verify").code == 0


@pytest.mark.parametrize("what", DAMAGE)
def test_what_no_copy_has_is_given_up(archive: Archive, what: str) -> None:
    """What remains answers as an archive that never received more, and recording goes on."""
    before = replies(archive)
    damage(archive, DAMAGE[what])
    left, lost, fixed = repaired(archive)
    assert left.code == bool(lost)
    gone = before - replies(fixed)
    # What is packed with a reply that is gone goes with it.
    with closing(archive.open()) as connection:
        packed = journal.count(connection, "bodies WHERE base IS NOT NULL")
    assert len(gone) <= 2 + packed * ("a reply" in what or "packed" in what), "a good reply was given up"
    assert bool(gone) <= bool(lost)
    fixed.app = articles(benzinga.article(9, at("2026-06-01 14:30"), title="goes on"))
    assert fixed.fetch(NEWS, "2026-06-15 15:00").ids == ["9"]
    assert fixed.offline(NEWS, "2026-06-20 12:00", pit="2026-06-16 15:00").ids == ["9"]
    assert fixed.command("archive verify").code == 0


def replies(archive: Archive) -> set[bytes]:
    with closing(archive.open()) as connection:
        return {
            exchange.body for key in journal.fetches(connection) for exchange in journal.exchanges_of(connection, key)
        }


def spoil(archive: Archive, way: str, pages: list[int], rng: Random) -> None:
    """Zero or randomise pages, or cut the file before the last of them."""
    whole = bytearray(archive.path.read_bytes())
    if way == "cut":
        del whole[max(pages) * PAGE :]
    for page in pages if way != "cut" else ():
        whole[page * PAGE : (page + 1) * PAGE] = bytes(PAGE) if way == "zeroed" else rng.randbytes(PAGE)
    archive.path.write_bytes(whole)


def readable(connection: sqlite3.Connection, query: str, *values: Any) -> Any:
    try:
        return connection.execute(query, values).fetchone()
    except sqlite3.Error:
        return None


def rows_of(archive: Archive) -> dict[tuple[str, Key], tuple[Any, ...]]:
    with closing(archive.open()) as connection:
        return {
            (kind, key): row
            for kind in COLUMNS
            for key in journal.keys(connection, f"SELECT origin, seq FROM {kind}")
            if (row := journal.row_of(connection, kind, key)) is not None
        }


@pytest.mark.parametrize("way", ["zeroed", "randomised", "cut"])
def test_every_row_that_can_be_read_survives_damaged_pages(archive: Archive, way: str) -> None:
    """Of 20 archives, each with one to four pages damaged in this way; with a copy nothing is lost."""
    expected, whole, copy = answers(archive), rows_of(archive), copy_of(archive)
    sound = archive.path.read_bytes()
    for seed in range(20):
        rng = Random(f"{way}{seed}")
        damaged = Archive(archive.folder / f"damaged-{way}-{seed}")
        damaged.folder.mkdir()
        damaged.path.write_bytes(sound)
        spoil(damaged, way, rng.sample(range(1, len(sound) // PAGE), rng.randint(1, 4)), rng)
        with closing(sqlite3.connect(f"file:{damaged.path}?immutable=1", uri=True)) as connection:
            connection.execute("PRAGMA writable_schema = ON")
            still = {
                (kind, key): row
                for (kind, key), row in whole.items()
                if readable(
                    connection, f"SELECT {', '.join(COLUMNS[kind])} FROM {kind} WHERE origin = ? AND seq = ?", *key
                )
                == row
            }
        _, _, fixed = repaired(damaged)
        saved = rows_of(fixed)
        asked = {key for kind, key in still if kind == "fetches"}
        for (kind, key), row in still.items():
            if kind not in ("exchanges", "answers") or Key(key.origin, row[0]) in asked:
                assert saved.get((kind, key)) == row, (way, seed, kind, key)
        assert saved.items() <= whole.items(), "what was never recorded"
        left, lost, mended = repaired(damaged, str(copy.path))
        assert (left.code, lost) == (0, []), (way, seed)
        assert answers(mended) == expected


def test_a_damaged_copy_gives_what_can_be_read_of_it(archive: Archive) -> None:
    expected, copy = answers(archive), copy_of(archive)
    damage(archive, body_of(7))
    damage(copy, body_of(10))
    left, lost, fixed = repaired(archive, str(copy.path))
    assert (left.code, lost, answers(fixed)) == (0, [], expected)


def test_what_was_given_up_is_said(archive: Archive) -> None:
    damage(archive, body_of(26))  # nothing is packed with it
    left = archive.command("archive repair --into new.db")
    assert left.code == 1
    assert "LOST: fetch " in left.out
    assert (
        "-25 of 2026-06-09 15:00:00Z is no longer complete: --source bz-news-api --lookback-minutes 100000\n"
        in left.out
    )
    assert left.out.endswith(" fetches saved, 1 lost\n"), left.out


def test_a_damaged_reply_shows_nothing_as_gone(archive: Archive) -> None:
    """The capture of the 3rd lacked an article; without its reply it is not known that it did."""
    asked = ("2026-06-20 12:00", "2026-06-04 15:00")
    assert "3" not in archive.offline(NEWS, *asked).ids
    damage(archive, body_of(10))
    *_, fixed = repaired(archive)
    assert "3" in fixed.offline(NEWS, *asked).ids


def test_what_was_given_up_comes_back_with_a_merge_and_is_not_deleted_elsewhere(archive: Archive) -> None:
    expected, copy = answers(archive), copy_of(archive)
    for what in ("a reply", "a request", "the end of a fetch"):
        damage(archive, DAMAGE[what])
    *_, fixed = repaired(archive)
    with_less = copy_of(fixed, "with-less")
    assert fixed.command(f"archive merge {copy.path}").code == 0
    assert answers(fixed) == expected
    assert fixed.command(f"archive merge {with_less.path} --json").out == '{\n  "entries": 0\n}\n'
    assert copy.command(f"archive merge {with_less.path}").code == 0
    for whole in (fixed, copy):
        assert answers(whole) == expected
        assert whole.command("archive verify").code == 0
    other = Archive(archive.folder / "other")
    other.folder.mkdir()
    assert other.command(f"archive merge {with_less.path}").code == 0
    assert answers(other) == answers(with_less)


@pytest.mark.parametrize("words", ["rebuild", "merge copy/a.db", "drop --source benzinga --before 2026-06-04"])
def test_what_damage_keeps_from_being_done_is_possible_after_a_repair(archive: Archive, words: str) -> None:
    copy = copy_of(archive)
    damage(archive, body_of(16))
    before = archive.command("archive info").out
    left = archive.command(f"archive {words}")
    if left.code:
        assert "pit_fetch archive repair" in left.err
        assert archive.command("archive info").out == before, "nothing was done"
    *_, fixed = repaired(archive)
    assert fixed.command(f"archive {words.replace('copy/a.db', str(copy.path))}").code == 0
    assert fixed.command("archive verify").code == 0


def test_a_damaged_reply_does_not_keep_later_ones_out(archive: Archive) -> None:
    """The next reply is packed with the one before as its dictionary."""
    damage(archive, "UPDATE bodies SET packed = x'00'")
    archive.app = articles(benzinga.article(9, at("2026-06-01 14:30"), title="goes on"))
    assert archive.fetch(NEWS, "2026-06-15 15:00").gap_types == []
    with closing(archive.open()) as connection:
        *_, last = journal.fetches(connection)
        assert b"goes on" in b"".join(exchange.body for exchange in journal.exchanges_of(connection, last))


def test_a_sound_archive_is_copied_as_it_is(archive: Archive) -> None:
    left, lost, fixed = repaired(archive)
    assert (left.code, lost) == (0, [])
    assert rows_of(fixed) == rows_of(archive)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("repair a.db --into new.db", "the same archive twice"),
        ("repair none.db --into new.db", "(none.db): there is no such file"),
        ("repair --archive none.db --into new.db", "there is no such file"),
        ("repair --into a.db", "there is a file already"),
        ("repair", "the following arguments are required: --into"),
    ],
)
def test_what_cannot_be_repaired_is_refused(archive: Archive, words: str, problem: str) -> None:
    left = archive.command(f"archive {words}")
    assert (left.code, left.out) == (2, "")
    assert problem in left.err
    assert not (archive.folder / "new.db").exists()
