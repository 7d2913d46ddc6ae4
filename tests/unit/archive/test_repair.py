"""archive repair: what is damaged comes from another archive, or is given up, and nothing else is."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pit_fetch.archive.store import journal
from pit_fetch.archive_admin import verification
from pit_fetch.testing.inprocess import Left
from tests.providers.bz_news_api import server as benzinga
from tests.unit.archive import flips
from tests.unit.archive.scene import Archive, articles, at
from tests.unit.archive.test_formats import QUESTIONS

NEWS = "bz-news-api --lookback-minutes 100000"


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
    asked = copy_of(archive, f"asked-{len(list(archive.folder.iterdir()))}")
    return [asked.offline(words, "2026-06-20 12:00", pit=pit).data for words, pit in QUESTIONS]


def repaired(archive: Archive, words: str = "") -> tuple[Left, dict[str, list[str]]]:
    """Repair an archive. Return what the command left, and what it did."""
    left = archive.command(f"archive repair {words} --json")
    assert archive.command("archive verify").code == 0, archive.command("archive verify").out
    return left, json.loads(left.out)


def damage(archive: Archive, statement: str) -> None:
    archive.open().execute(statement)
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
    left, done = repaired(archive, "copy/a.db")
    assert (left.code, done["lost"]) == (0, [])
    assert done["mended"]
    assert answers(archive) == expected
    # The two still continue one chain alike.
    assert archive.command("archive merge copy/a.db").code == 0
    assert archive.command("archive verify").code == 0


@pytest.mark.parametrize("what", DAMAGE)
def test_what_no_copy_has_is_given_up(archive: Archive, what: str) -> None:
    """What remains answers as an archive that never received more, and recording goes on."""
    before = replies(archive)
    damage(archive, DAMAGE[what])
    left, done = repaired(archive)
    assert left.code == bool(done["lost"])
    lost = before - replies(archive)
    assert len(lost) <= 2, "a good reply was given up"
    assert bool(lost) <= bool(done["lost"])
    archive.app = articles(benzinga.article(9, at("2026-06-01 14:30"), title="goes on"))
    assert archive.fetch(NEWS, "2026-06-15 15:00").ids == ["9"]
    assert archive.offline(NEWS, "2026-06-20 12:00", pit="2026-06-16 15:00").ids == ["9"]
    assert archive.command("archive verify").code == 0


def replies(archive: Archive) -> set[bytes]:
    with closing(archive.open()) as connection:
        return {
            exchange.body for key in journal.fetches(connection) for exchange in journal.exchanges_of(connection, key)
        }


def test_what_was_given_up_is_said(archive: Archive) -> None:
    damage(archive, body_of(7))
    left = archive.command("archive repair")
    assert left.code == 1
    assert "LOST: fetch " in left.out
    assert (
        "-6 of 2026-06-01 15:00:00Z is no longer complete: --source bz-news-api --lookback-minutes 100000\n" in left.out
    )
    assert "0 mended, 1 lost; the index was made again\n" in left.out
    assert archive.command("archive repair").code == 0, "it is said once"


def test_a_damaged_reply_shows_nothing_as_gone(archive: Archive) -> None:
    """The capture of the 3rd lacked an article; without its reply it is not known that it did."""
    asked = ("2026-06-20 12:00", "2026-06-04 15:00")
    assert "3" not in archive.offline(NEWS, *asked).ids
    damage(archive, body_of(10))
    repaired(archive)
    assert "3" in archive.offline(NEWS, *asked).ids


def test_what_was_given_up_comes_back_with_a_merge(archive: Archive) -> None:
    expected = answers(archive)
    copy_of(archive)
    for what in ("a reply", "a request", "the end of a fetch"):
        damage(archive, DAMAGE[what])
        repaired(archive)
    given_up = copy_of(archive, "given-up")
    assert archive.command("archive merge copy/a.db").code == 0
    assert answers(archive) == expected
    # What one has lost is not deleted in the other.
    assert archive.command("archive merge given-up/a.db --json").out == '{\n  "entries": 0\n}\n'
    assert answers(archive) == expected
    assert given_up.command("archive verify").code == 0
    assert archive.command("archive verify").code == 0


def test_what_was_given_up_can_be_merged_on(archive: Archive) -> None:
    damage(archive, DAMAGE["a reply"])
    damage(archive, DAMAGE["an answer"])
    repaired(archive)
    other = Archive(archive.folder / "other")
    other.folder.mkdir()
    assert other.command(f"archive merge {archive.path}").code == 0
    assert other.command("archive verify").code == 0
    assert answers(other) == answers(archive)


@pytest.mark.parametrize("words", ["rebuild", "merge copy/a.db", "drop --source benzinga --before 2026-06-04"])
def test_what_damage_keeps_from_being_done_is_possible_after_a_repair(archive: Archive, words: str) -> None:
    copy_of(archive)
    damage(archive, body_of(16))
    before = archive.command("archive info").out
    left = archive.command(f"archive {words}")
    if left.code:
        assert "pit_fetch archive repair" in left.err
        assert archive.command("archive info").out == before, "nothing was done"
    repaired(archive)
    assert archive.command(f"archive {words}").code == 0
    assert archive.command("archive verify").code == 0


def test_a_damaged_reply_does_not_keep_later_ones_out(archive: Archive) -> None:
    """The next reply is packed with the one before as its dictionary."""
    damage(archive, "UPDATE bodies SET packed = x'00'")
    archive.app = articles(benzinga.article(9, at("2026-06-01 14:30"), title="goes on"))
    assert archive.fetch(NEWS, "2026-06-15 15:00").gap_types == []
    assert b"goes on" in b"".join(replies_of_last(archive))


def replies_of_last(archive: Archive) -> list[bytes]:
    with closing(archive.open()) as connection:
        *_, last = journal.fetches(connection)
        return [exchange.body for exchange in journal.exchanges_of(connection, last)]


def test_a_sound_archive_is_left_as_it_is(archive: Archive) -> None:
    left, done = repaired(archive)
    assert (left.code, done) == (0, {"mended": [], "lost": []})


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("repair a.db", "the same archive twice"),
        ("repair none.db", "(none.db): there is no such file"),
        ("repair --archive none.db", "there is no such file"),
    ],
)
def test_what_cannot_be_repaired_is_refused(archive: Archive, words: str, problem: str) -> None:
    left = archive.command(f"archive {words}")
    assert (left.code, left.out) == (2, "")
    assert problem in left.err


@pytest.mark.thorough
def test_whatever_bit_changes_the_archive_is_sound_again(archive: Archive) -> None:
    whole, rng = flips.bytes_of(archive), Random(3)
    with closing(flips.opened(whole)) as connection:
        every = list(flips.flips(connection))
    for place, flip in enumerate(rng.sample(every, 60)):
        with closing(flips.opened(whole)) as connection:
            if not flips.change(connection, flip):
                continue
            folder = archive.folder / f"flip{place}"
            folder.mkdir()
            changed = Archive(folder)
            changed.path.write_bytes(connection.serialize())
        left, done = repaired(changed)
        assert left.code == bool(done["lost"]), flip
        with closing(changed.open()) as connection:
            assert verification.verify(connection).damage == (), flip
