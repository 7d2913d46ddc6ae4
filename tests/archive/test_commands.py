"""pit_fetch archive: what its commands say and do, in words and as JSON, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pit_fetch.archive import schema, upkeep
from pit_fetch.commands.archive import COMMANDS
from tests.archive.world import Archive, alpha, articles, at
from tests.loopback import benzinga

NEWS = "bz-news-api --tickers AAPL"
ESTIMATES = "alphavantage EARNINGS_ESTIMATES symbol=IBM"


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    """Two fetches of one source, and one of another."""
    made = Archive(tmp_path)
    made.app = articles(benzinga.article(1, at("2026-06-01 14:30"), title="first words"))
    made.fetch(NEWS, "2026-06-01 15:00")
    made.fetch(NEWS, "2026-06-01 16:00", pit="2026-06-01 15:30")
    rows = [{"date": "2026-06-30", "horizon": "fiscal quarter", "eps_estimate_average": "2.50"}]
    made.app = alpha(EARNINGS_ESTIMATES={"symbol": "IBM", "estimates": rows})
    made.fetch(ESTIMATES, "2026-06-02 15:00")
    return made


def of(archive: Archive, words: str, **given: Any) -> Any:
    """What a command says as JSON."""
    left = archive.command(f"archive {words} --json", **given)
    assert left.err == ""
    return json.loads(left.out)


def damage(archive: Archive) -> None:
    archive.open().execute("UPDATE exchanges SET status = 500 WHERE seq = 2")


# info, log


def test_info_says_how_much_of_what_there_is(archive: Archive) -> None:
    found = of(archive, "info")
    assert {name: found[name] for name in ("fetches", "exchanges", "drops", "origins")} == {
        "fetches": 3,
        "exchanges": 3,
        "drops": 0,
        "origins": 1,
    }
    assert found["sources"] == [
        {
            "source": "alphavantage",
            "fetches": 1,
            "exchanges": 1,
            "first": "2026-06-02T15:00:00+00:00",
            "last": "2026-06-02T15:00:00+00:00",
        },
        {
            "source": "bz-news-api",
            "fetches": 2,
            "exchanges": 2,
            "first": "2026-06-01T15:00:00+00:00",
            "last": "2026-06-01T16:00:00+00:00",
        },
    ]
    text = archive.command("archive info").out
    assert "bz-news-api: 2 fetches from 2026-06-01 15:00:00Z to 2026-06-01 16:00:00Z" in text
    assert f"{archive.path}: " in text


def test_log_lists_the_fetches_newest_first(archive: Archive) -> None:
    rows = of(archive, "log")
    assert [(row["time"], row["source"], row["exchanges"]) for row in rows] == [
        ("2026-06-02T15:00:00+00:00", "alphavantage", 1),
        ("2026-06-01T16:00:00+00:00", "bz-news-api", 1),
        ("2026-06-01T15:00:00+00:00", "bz-news-api", 1),
    ]
    assert [row["pit"] for row in rows] == [None, "2026-06-01T15:30:00+00:00", None]
    assert rows[2]["request"] == "--source bz-news-api --tickers AAPL"
    assert len({row["id"] for row in rows}) == 3
    assert [row["id"] for row in rows] == [line.split()[0] for line in archive.command("archive log").out.splitlines()]


def test_log_is_narrowed(archive: Archive) -> None:
    assert [row["source"] for row in of(archive, "log --source benzinga")] == ["bz-news-api"] * 2
    assert [row["source"] for row in of(archive, "log --limit 1")] == ["alphavantage"]


# verify, rebuild


def test_verify_exits_1_on_damage(archive: Archive) -> None:
    assert of(archive, "verify") == {"sound": True, "entries": 9, "bodies": 5, "damage": []}
    assert archive.command("archive verify").code == 0
    damage(archive)
    left = archive.command("archive verify")
    assert left.code == 1
    assert "exchanges" in left.out
    assert archive.command("archive verify --json").code == 1
    assert of(archive, "verify")["sound"] is False


def test_verify_reads_one_moment_of_an_archive_that_grows(archive: Archive) -> None:
    """Each of its statements would else see what was appended since the one before, and call it damage."""
    connection = schema.open_to_read(str(archive.path))
    grown: list[str] = []

    def meanwhile(text: str) -> None:
        if text.startswith("SELECT digest FROM bodies") and not grown:
            grown.append(text)
            archive.app = articles(benzinga.article(2, at("2026-06-01 14:30"), title="later"))
            archive.fetch(NEWS, "2026-06-03 15:00")

    connection.set_trace_callback(meanwhile)
    assert upkeep.verify(connection).damage == ()
    assert grown


def test_rebuild_makes_the_index_again(archive: Archive) -> None:
    before = archive.offline(NEWS, "2026-06-05 12:00", pit="2026-06-01 15:30").text
    connection = archive.open()
    connection.executescript("DELETE FROM reigns; DELETE FROM pools; DELETE FROM reads; DELETE FROM sights")
    assert archive.offline(NEWS, "2026-06-05 12:00", pit="2026-06-01 15:30").text != before
    assert of(archive, "rebuild") == {"fetches": 5}, "what was asked offline is a fetch as well"
    assert archive.offline(NEWS, "2026-06-05 12:00", pit="2026-06-01 15:30").text == before


# What all of them do.


@pytest.mark.parametrize("name", COMMANDS)
def test_each_has_help(archive: Archive, name: str) -> None:
    left = archive.command(f"archive {name} --help", env={"PIT_FETCH_ARCHIVE": ""})
    assert (left.code, left.err) == (0, "")
    assert left.out.startswith(f"usage: pit_fetch archive {name} ")
    assert "--json" in left.out


def test_the_help_names_all_of_them(archive: Archive) -> None:
    for words in ("archive --help", "archive -h", "help archive"):
        assert all(f"\n  {name} " in archive.command(words).out for name in COMMANDS)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "say which command first: pit_fetch archive info | log"),
        ("--json info", "say which command first"),
        ("inof", "did you mean info?"),
        ("info --jsno", "did you mean --json?"),
        ("info x", "unrecognized arguments: x"),
        ("log --limit 0", "a whole number"),
        ("log --source benzingaa", "benzinga"),
        ("info --archive none.db", "there is no such file"),
        ("verify --archive none.db", "there is no such file"),
        ("rebuild --archive none.db", "there is no such file"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line(archive: Archive, words: str, said: str) -> None:
    left = archive.command(f"archive {words}")
    assert left.code == 2
    assert said in left.err
    assert left.err.count("\n") == 1
    assert not (archive.folder / "none.db").exists()


@pytest.mark.parametrize("name", ["info", "log", "verify", "rebuild"])
def test_a_file_that_is_not_an_archive_is_left_alone(archive: Archive, name: str) -> None:
    other = archive.folder / "other.db"
    other.write_bytes(b"a,b\n1,2\n" * 500)
    left = archive.command(f"archive {name} --archive other.db")
    assert (left.code, left.out) == (2, "")
    assert "not an archive of pit_fetch" in left.err
    assert other.read_bytes() == b"a,b\n1,2\n" * 500


def test_without_an_archive_it_says_how_to_name_one(archive: Archive) -> None:
    left = archive.command("archive info", env={"PIT_FETCH_ARCHIVE": ""})
    assert left.code == 2
    assert "PIT_FETCH_ARCHIVE" in left.err


def test_the_settings_file_names_the_archive(archive: Archive) -> None:
    home = archive.folder / "home" / ".config" / "pit_fetch"
    home.mkdir(parents=True)
    (home / "config.toml").write_text(f'archive = "{archive.path}"')
    left = archive.command("archive info --json", env={"PIT_FETCH_ARCHIVE": "", "HOME": str(archive.folder / "home")})
    assert left.code == 2, "a variable that is set is stronger, even if it is empty"
    variables = {"HOME": str(archive.folder / "home")}
    assert json.loads(archive.command("archive info --json", env=variables).out)["fetches"] == 3


@pytest.mark.parametrize("environ", [{"PIT_FETCH_CEILING": "2026-06-01T00:00:00Z"}, {"PIT_FETCH_WRAPPER_ONLY": "1"}])
@pytest.mark.parametrize("words", [*(f"archive {name}" for name in COMMANDS), "archive log --json"])
def test_an_agent_with_a_ceiling_is_shown_nothing(archive: Archive, environ: dict[str, str], words: str) -> None:
    before = archive.path.read_bytes()
    needed = {"replay": " x-1", "merge": " other.db", "drop": " --source benzinga --before 2030-01-01"}
    left = archive.command(words + needed.get(words.split()[1], ""), env=environ)
    assert left.code == 2
    assert left.data == []
    assert left.gap_types == ["config"]
    assert "for people and scheduled jobs" in left.reasons
    assert archive.path.read_bytes() == before


def test_a_ceiling_in_a_settings_file_counts(archive: Archive) -> None:
    (archive.folder / "pit_fetch.toml").write_text('ceiling = "2026-06-01T00:00:00Z"')
    assert archive.command("archive log").code == 2


@pytest.mark.parametrize(("name", "said"), [("verify", "verifying: 0 %"), ("rebuild", "rebuilding: 33 %")])
def test_progress_is_shown_on_a_terminal_alone(archive: Archive, name: str, said: str) -> None:
    assert archive.command(f"archive {name}").err == ""
    shown = archive.command(f"archive {name}", terminal=True)
    assert said in shown.err
    assert shown.err.endswith("\r\x1b[K"), "the line is left on the terminal"
