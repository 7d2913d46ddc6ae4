"""pit_fetch archive: what its commands say and do, in words and as JSON, and what they refuse."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pit_fetch.archive.store import microseconds, schema
from pit_fetch.archive.store.errors import ArchiveError
from pit_fetch.archive_admin import maintenance
from pit_fetch.cli.commands.archive import COMMANDS
from pit_fetch.engine import registry
from pit_fetch.provider import Page
from tests.demo_source import change_operations
from tests.providers.bz_news_api import server as benzinga
from tests.unit.archive.scene import Archive, alpha, articles, at, estimates

NEWS = "bz-news-api --tickers AAPL --date-from 2026-05-25"
ESTIMATES = "alphavantage EARNINGS_ESTIMATES symbol=IBM"


def filled(folder: Path) -> Archive:
    """Two fetches of one source, and one of another."""
    made = Archive(folder)
    made.app = articles(benzinga.article(1, at("2026-06-01 14:30"), title="first words"))
    made.fetch(NEWS, "2026-06-01 15:00")
    made.fetch(NEWS, "2026-06-01 16:00", pit="2026-06-01 15:30")
    made.app = estimates(("2026-06-30", "2.50"))
    made.fetch(ESTIMATES, "2026-06-02 15:00")
    return made


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return filled(tmp_path)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    """The same one for many tests, which only read it, or are refused."""
    return filled(tmp_path_factory.mktemp("kept"))


def of(archive: Archive, words: str, **given: Any) -> Any:
    """What a command says as JSON."""
    left = archive.command(f"archive {words} --json", **given)
    assert left.err == ""
    return json.loads(left.out)


def damage(archive: Archive) -> None:
    archive.open().execute("UPDATE exchanges SET status = 500 WHERE seq = 2")


# info, log


def test_info_says_how_much_of_what_there_is(kept: Archive) -> None:
    found = of(kept, "info")
    assert [found[name] for name in ("fetches", "exchanges", "drops", "origins")] == [3, 3, 0, 1]
    news, day = {"source": "bz-news-api", "fetches": 2, "exchanges": 2}, "2026-06-01"
    assert [source["source"] for source in found["sources"]] == ["alphavantage", "bz-news-api"]
    assert found["sources"][1] == {**news, "first": f"{day}T15:00:00+00:00", "last": f"{day}T16:00:00+00:00"}
    text = kept.command("archive info").out
    assert "bz-news-api: 2 fetches from 2026-06-01 15:00:00Z to 2026-06-01 16:00:00Z" in text
    assert f"{kept.path}: " in text


def test_log_lists_the_fetches_newest_first(kept: Archive) -> None:
    rows = of(kept, "log")
    assert [(row["time"], row["source"], row["exchanges"]) for row in rows] == [
        ("2026-06-02T15:00:00+00:00", "alphavantage", 1),
        ("2026-06-01T16:00:00+00:00", "bz-news-api", 1),
        ("2026-06-01T15:00:00+00:00", "bz-news-api", 1),
    ]
    assert [row["pit"] for row in rows] == [None, "2026-06-01T15:30:00+00:00", None]
    assert rows[2]["request"] == "--source bz-news-api --date-from 2026-05-25 --tickers AAPL"
    assert len({row["id"] for row in rows}) == 3
    header, *lines = kept.command("archive log").out.splitlines()
    assert header.split("  ")[0] == "id"
    assert [row["id"] for row in rows] == [line.split()[0] for line in lines]


@pytest.mark.parametrize(
    ("words", "sources"),
    [
        ("--source benzinga", ["bz-news-api"] * 2),
        ("--limit 1", ["alphavantage"]),
        ("--symbol ibm", ["alphavantage"]),
        ("--symbol AAPL --limit 1", ["bz-news-api"]),
        ("--symbol IB", []),
        ("--date-from 2026-06-02", ["alphavantage"]),
        ("--date-to 2026-06-01", ["bz-news-api"] * 2),
        ("--date-from 2026-06-01T11:30:00-04:00 --date-to 2026-06-01", ["bz-news-api"]),
    ],
)
def test_log_is_narrowed(kept: Archive, words: str, sources: list[str]) -> None:
    assert [row["source"] for row in of(kept, f"log {words}")] == sources
    assert len(kept.command(f"archive log {words}").out.splitlines()) == 1 + len(sources)


# verify, rebuild


def test_verify_exits_1_on_damage(archive: Archive) -> None:
    assert of(archive, "verify") == {"sound": True, "entries": 9, "bodies": 5, "damage": [], "underived": 0}
    assert archive.command("archive verify").code == 0
    damage(archive)
    left = archive.command("archive verify")
    assert left.code == 1
    assert "exchanges" in left.out
    assert archive.command("archive verify --json").code == 1
    assert of(archive, "verify")["sound"] is False


def test_verify_finds_damage_wherever_a_byte_changed(archive: Archive) -> None:
    """What is so broken that SQLite cannot read on is damage as well, and no command fails in a way of its own."""
    archive.open().execute("PRAGMA wal_checkpoint(TRUNCATE)").connection.close()
    sound, other = archive.path.read_bytes(), archive.folder / "other.db"
    ids = [row["id"] for row in of(archive, "log")]
    # The head of the schema and of a page, cells, and texts in the middle of a row.
    places = [place for place in range(100, len(sound), len(sound) // 60) if sound[place]] + [100, 105, 4096, 4099]
    found = set()
    for place in places:
        other.write_bytes(sound[:place] + bytes([sound[place] ^ 0x81]) + sound[place + 1 :])
        left = archive.command("archive verify --json --archive other.db")
        found.add(left.code)
        assert json.loads(left.out)["sound"] is (left.code == 0)
        for words in ("info", "log --json", f"replay {ids[0]}", "rebuild"):
            assert archive.command(f"archive {words} --archive other.db").code in (0, 1, 2), (place, words)
        for path in archive.folder.glob("other.db-*"):
            path.unlink()
    assert found <= {0, 1}
    assert 1 in found


def test_bodies_that_need_each_other_are_damaged(archive: Archive) -> None:
    archive.open().execute("UPDATE bodies SET base = digest")
    assert archive.command("archive verify").code == 1
    left = archive.command("archive replay last")
    assert (left.code, left.out) == (2, "")
    assert "it is damaged" in left.err


def test_what_a_changed_archive_says_does_not_steer_the_terminal(archive: Archive) -> None:
    archive.open().execute("UPDATE entries SET kind = char(27) || '[31m' WHERE seq = 1")
    left = archive.command("archive verify")
    assert left.code == 1
    assert "\x1b" not in left.out


# replay


def replayed(archive: Archive, words: str = "", **given: Any) -> Any:
    left = archive.command(f"archive replay last {words}", **given)
    return left.code, left.out, left.err


def test_replay_prints_the_recorded_answer_byte_for_byte(archive: Archive) -> None:
    archive.app = articles(benzinga.article(1, at("2026-06-01 14:30"), title="first words"))
    printed = archive.fetch(NEWS, "2026-06-03 15:00", pit="2026-06-01 15:00")
    archive.app = articles(benzinga.article(1, at("2026-06-01 14:30"), title="quietly changed"))
    archive.command("archive rebuild")
    (row,) = [row for row in of(archive, "log") if row["time"].startswith("2026-06-03") and "tickers" in row["request"]]
    left = archive.command(f"archive replay {row['id']}")
    assert (left.out, left.code, left.err) == (printed.text, 0, "")
    replay = of(archive, f"replay {row['id']}")
    assert (replay["answer"], replay["status"], replay["same_today"]) == (printed.text, 0, True)


WAYS = {
    "open mode": (NEWS, None, False),
    "a PIT": (NEWS, "2026-06-02 15:00", False),
    "a PIT that the archive answers": (NEWS, "2026-06-01 15:10", False),
    "offline": (NEWS, "2026-06-01 15:30", True),
    "a snapshot of now": (ESTIMATES, None, False),
    "a snapshot that was held": (ESTIMATES, "2026-06-02 18:00", False),
    "a limit": (f"{NEWS} --limit 4", "2026-06-02 15:00", False),
    "fields": (f"{NEWS} --fields title", None, False),
}


@pytest.mark.parametrize("way", WAYS)
def test_today_s_code_says_what_is_recorded_whatever_came_later(archive: Archive, way: str) -> None:
    """The archive as it is now holds reads of later, which would change an answer of then."""
    words, pit, is_offline = WAYS[way]
    news = [benzinga.article(n, at(f"2026-06-01 14:{n}0"), title=f"edited {n}") for n in range(5)]
    rows = [{"date": "2026-06-30", "horizon": "fiscal quarter", "eps_estimate_average": "2.70"}]
    estimates = alpha(EARNINGS_ESTIMATES={"symbol": "IBM", "estimates": rows})
    archive.app = estimates if "EARNINGS" in words else articles(*news)
    ask = archive.remembered if is_offline else archive.fetch
    printed = ask(words, "2026-06-03 15:00", pit)
    assert printed.data
    (row, *_) = of(archive, "log --limit 1")
    archive.app = alpha(EARNINGS_ESTIMATES={"symbol": "IBM", "estimates": []}) if "EARNINGS" in words else articles()
    for day in ("04", "05"):
        archive.fetch(words.partition(" --limit")[0].partition(" --fields")[0], f"2026-06-{day} 15:00")
    replay = of(archive, f"replay {row['id']}")
    assert (replay["same_today"], replay["why"]) == (True, "")
    assert replay["answer"] == printed.text


def test_replay_says_so_when_today_s_code_says_otherwise(archive: Archive) -> None:
    archive.app = articles(benzinga.article(1, at("2026-06-01 14:30"), title="first words"))
    printed = archive.fetch(NEWS, "2026-06-03 15:00", pit="2026-06-02 15:00")
    (row, *_) = of(archive, "log --limit 1")
    provider = registry.load("bz-news-api")

    def upper(query: Any, context: Any) -> Any:
        for part in provider.operations[0].fetch(query, context):
            if isinstance(part, Page):
                records = (record._replace(payload={**record.payload, "title": "OTHERWISE"}) for record in part.records)
                yield part._replace(records=tuple(records))
            else:
                yield part

    left = archive.command(f"archive replay {row['id']}", provider=change_operations(provider, fetch=upper))
    assert (left.out, left.code) == (printed.text, 0)
    assert "today's code would say otherwise: 1 of 1 items are different" in left.err
    left = archive.command(
        f"archive replay {row['id']} --no-compare", provider=change_operations(provider, fetch=upper)
    )
    assert (left.out, left.err) == (printed.text, "")


# merge


def test_merge_takes_over_what_is_not_there(archive: Archive, tmp_path: Path) -> None:
    (tmp_path / "apart").mkdir()
    other = Archive(tmp_path / "apart")
    other.app = articles(benzinga.article(1, at("2026-06-01 14:30"), title="seen elsewhere"))
    other.fetch(NEWS, "2026-06-01 15:45")
    assert of(archive, "merge apart/a.db") == {"entries": 3}
    assert of(archive, "merge apart/a.db") == {"entries": 0}
    assert archive.command("archive verify").code == 0
    assert len(of(archive, "log")) == 4
    assert of(archive, "info")["origins"] == 2


def test_a_merge_that_is_refused_changes_nothing(archive: Archive) -> None:
    archive.command("archive merge a.db --archive new.db")
    damage(archive)
    before = of(archive, "info --archive new.db")
    left = archive.command("archive merge a.db --archive new.db")
    assert left.code == 2
    assert "the other one is damaged" in left.err
    assert of(archive, "info --archive new.db") == before


# drop


@pytest.fixture
def marked(tmp_path: Path) -> Archive:
    """Texts that stand in the file as they are: a short body is not packed, and the index holds every field."""
    made = Archive(tmp_path)
    for hour, word in ((15, "unwanted"), (18, "wanted")):
        made.app = articles(benzinga.article(hour, at("2026-06-01 14:30"), title=f"{word} words"))
        made.fetch(f"{NEWS} --keywords {word}", f"2026-06-01 {hour}:00")
    return made


def test_drop_leaves_no_byte_of_what_it_deletes(marked: Archive) -> None:
    assert b"unwanted words" in marked.everything()
    dry = of(marked, "drop --source benzinga --before 2026-06-01T16:00:00Z --dry-run")
    assert (dry["fetches"], dry["dry_run"]) == (1, True)
    assert b"unwanted" in marked.everything()
    done = of(marked, "drop --source benzinga --before 2026-06-01T16:00:00Z", now="2026-06-05 12:00")
    assert {name: done[name] for name in ("source", "before", "fetches", "dry_run")} == {
        "source": "bz-news-api",
        "before": "2026-06-01T16:00:00+00:00",
        "fetches": 1,
        "dry_run": False,
    }
    assert b"unwanted" not in marked.everything()
    assert b"wanted words" in marked.everything()
    assert marked.command("archive verify").code == 0
    assert [row["time"] for row in of(marked, "log")] == ["2026-06-01T18:00:00+00:00"]
    assert of(marked, "info")["drops"] == 1


BEFORE = "drop --source benzinga --before 2026-06-01T16:00:00Z"


def test_drop_deletes_later_answers_that_repeat_what_it_deletes(marked: Archive) -> None:
    asked = marked.remembered(f"{NEWS} --keywords unwanted", "2026-06-01 17:00", pit="2026-06-01 15:30")
    assert "unwanted words" in asked.text
    ids = {row["time"][11:13]: row["id"] for row in of(marked, "log")}
    kept = of(marked, f"replay {ids['18']}")["answer"]
    left = marked.command(f"archive {BEFORE} --dry-run")
    assert left.out.splitlines()[1] == "1 later answer that may repeat what was deleted: would be deleted"
    done = of(marked, BEFORE, now="2026-06-05 12:00")
    assert (done["fetches"], done["later_answers"]) == (1, 1)
    assert b"unwanted" not in marked.everything().replace(b"--keywords unwanted", b"")
    assert marked.command("archive verify").code == 0
    # What did not need it is replayed as before; of what did, it stays on record that it was asked.
    assert of(marked, f"replay {ids['18']}")["answer"] == kept
    left = marked.command(f"archive replay {ids['17']}")
    assert left.code == 2
    assert "the text of that answer was deleted on 2026-06-05" in left.err
    deleted = {row["id"]: row["answer_deleted"] for row in of(marked, "log")}
    assert deleted == {ids["18"]: None, ids["17"]: "2026-06-05T12:00:00+00:00"}
    assert marked.command("archive log --offline").out.count("answer deleted") == 1
    # Today's code is not accused of what is missing now, and the index can be made again.
    assert of(marked, f"replay {ids['18']}")["same_today"] is not False
    assert of(marked, "rebuild") == {"fetches": 2}


def test_what_is_recorded_while_its_fetch_is_deleted_is_not_kept(marked: Archive) -> None:
    """The server is slow, and somebody deletes in the meantime."""
    answer = articles(benzinga.article(19, at("2026-06-01 14:30"), title="unwanted, too"))

    def deleting(request: Any) -> Any:
        marked.app = answer
        of(marked, "drop --source benzinga --before 2026-06-01T23:00:00Z")
        return answer(request)

    def first(request: Any) -> Any:
        marked.app = deleting
        rows = [benzinga.article(n, at("2026-06-01 14:30"), title="unwanted") for n in range(100, 200)]
        return articles(*rows)(request)

    marked.app = first
    left = marked.fetch(f"{NEWS} --limit 1000", "2026-06-01 19:00", pit="2026-06-01 18:30")
    assert "deleted from it meanwhile" in left.text
    assert of(marked, "log") == []
    assert b"unwanted" not in marked.everything()
    assert marked.command("archive verify").code == 0


def test_drop_while_another_process_reads_says_that_bytes_are_left(marked: Archive) -> None:
    reader = schema.open_to_read(str(marked.path))
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM entries").fetchone()
    before, now = (microseconds.to_micros(at(text)) for text in ("2026-06-01 16:00", "2026-06-05 12:00"))
    connection = schema.open_to_write(str(marked.path), busy_seconds=0.01)
    with closing(connection), pytest.raises(ArchiveError, match="run the same command again"):
        maintenance.drop(connection, maintenance.Deletion("bz-news-api", before), now)
    reader.close()
    assert marked.command("archive drop --source benzinga --before 2026-06-01T16:00:00Z").code == 0
    assert b"unwanted" not in marked.everything()


# What all of them do.


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("", "say which command first: pit_fetch archive info | log"),
        ("--json info", "say which command first"),
        ("inof", "did you mean info?"),
        ("info --jsno", "did you mean --json?"),
        ("info x", "unrecognized arguments: x (an archive is named with --archive PATH)"),
        ("log --limit 0", "a whole number"),
        ("log --source benzingaa", "benzinga"),
        ("info --archive none.db", "there is no such file"),
        ("verify --archive none.db", "there is no such file"),
        ("rebuild --archive none.db", "there is no such file"),
        ("info --archive none.db", "(pit_fetch capture or pit_fetch archive sample makes one)"),
        ("export versions.parquet", "DIR is a folder of several Parquet files"),
        ("export none/versions", "none/versions: its folder does not exist"),
        ("replay", "the following arguments are required: ID"),
        ("replay nonsense", "there is no such fetch in it (pit_fetch archive log lists them)"),
        ("replay 0123456789ab-7", "there is no such fetch"),
        (f"replay 0123456789ab-{2**63}", "there is no such fetch"),
        pytest.param(f"replay 0123456789ab-{'9' * 5000}", "there is no such fetch", id="a long ID"),
        pytest.param(f"log --limit {'9' * 5000}", "a whole number", id="a long limit"),
        ("replay last --archive none.db", "there is no such file"),
        ("merge", "the following arguments are required: OTHER"),
        ("merge none.db", "(none.db): there is no such file"),
        ("merge a.db", "the same archive twice"),
        ("drop", "one of the arguments --before --after is required"),
        ("drop --source benzinga", "one of the arguments --before --after is required"),
        ("drop --source benzinga --before yesterday", "--before is YYYY-MM-DD"),
        ("drop --source benzingaa --before 2026-06-01", "benzinga"),
        ("drop --source benzinga --before 2026-06-01 --archive none.db", "there is no such file"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line(archive: Archive, words: str, problem: str) -> None:
    left = archive.command(f"archive {words}")
    assert left.code == 2
    assert problem in left.err
    assert left.err.count("\n") == 1
    assert not (archive.folder / "none.db").exists()


def test_without_an_archive_it_says_how_to_name_one(kept: Archive) -> None:
    left = kept.command("archive info", env={"PIT_FETCH_ARCHIVE": ""})
    assert left.code == 2
    assert "PIT_FETCH_ARCHIVE" in left.err
    assert "pit_fetch archive sample PATH" in left.err


def test_the_settings_file_names_the_archive(archive: Archive) -> None:
    home = archive.folder / "home" / ".config" / "pit_fetch"
    home.mkdir(parents=True)
    (home / "config.toml").write_text(f'archive = "{archive.path}"')
    left = archive.command("archive info --json", env={"PIT_FETCH_ARCHIVE": "", "HOME": str(archive.folder / "home")})
    assert left.code == 2, "a variable that is set is stronger, even if it is empty"
    variables = {"HOME": str(archive.folder / "home")}
    assert json.loads(archive.command("archive info --json", env=variables).out)["fetches"] == 3


@pytest.mark.parametrize("environ", [{"PIT_FETCH_CEILING": "2026-06-01T00:00:00Z"}, {"PIT_FETCH_WRAPPER_ONLY": "1"}])
@pytest.mark.parametrize(
    "words", [*(f"archive {name}" for name in COMMANDS), "archive log --json", "capture list.toml"]
)
def test_an_agent_with_a_ceiling_is_shown_nothing(kept: Archive, environ: dict[str, str], words: str) -> None:
    asked, before = len(kept.asked), kept.path.read_bytes()
    needed = {
        "replay": " x-1",
        "merge": " other.db",
        "export": " lake",
        "sample": " sample.db",
        "drop": " --source benzinga --before 2030-01-01",
        "repair": " --into new.db",
        "backup": " copy.db",
    }
    (kept.folder / "list.toml").write_text("[[request]]\nsource = 'benzinga'\n")
    left = kept.command(words + needed.get(words.split()[1], ""), env=environ)
    assert left.code == 2
    assert left.data == []
    assert left.gap_types == ["config"]
    assert "for people and scheduled jobs" in left.reasons
    assert (len(kept.asked), kept.path.read_bytes()) == (asked, before)


@pytest.mark.parametrize("flag", ["--version", "--list-sources", "--help", "-h"])
@pytest.mark.parametrize(
    "words",
    ["archive log", "archive log --source", "archive replay last", "archive verify --json", "capture list.toml"],
)
def test_what_the_guard_takes_for_a_listing_shows_nothing_of_it(kept: Archive, words: str, flag: str) -> None:
    """An adapter may list: with one of these flags nothing else may happen."""
    (kept.folder / "list.toml").write_text("[[request]]\nsource = 'benzinga'\n")
    count, before = len(kept.asked), kept.path.read_bytes()
    left = kept.command(f"{words} {flag}")
    if flag in ("--help", "-h"):
        assert left.out.startswith("usage: ")
    else:
        assert (left.code, left.out) == (2, "")
    assert (len(kept.asked), kept.path.read_bytes()) == (count, before)
    assert "first words" not in left.out + left.err


def test_a_ceiling_in_a_settings_file_counts(archive: Archive) -> None:
    (archive.folder / "pit_fetch.toml").write_text('ceiling = "2026-06-01T00:00:00Z"')
    assert archive.command("archive log").code == 2
