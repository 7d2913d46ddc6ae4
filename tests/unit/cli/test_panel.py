"""pit_fetch panel: the table of pit_fetch.panel, from a command line."""

from __future__ import annotations

import csv
import io
import json
import os
from datetime import timedelta
from pathlib import Path

import pytest

from pit_fetch.cli.main import main
from pit_fetch.support.whole_folder import locked
from pit_fetch.testing.server import Response
from tests.providers.bz_news_api import server as benzinga
from tests.unit.archive.flips import bytes_of
from tests.unit.archive.scene import Archive, alpha, articles, at
from tests.unit.cli.test_output import terminal, written

ROW = {"ex_dividend_date": "2026-03-31", "declaration_date": "2026-05-14", "amount": "1.85"}
NOW = "2026-07-02 12:00"
PITS = "--pits @months.txt"
ASKED = f"panel --source alphavantage DIVIDENDS --offline {PITS}"


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    """The earnings of one company, captured."""
    (tmp_path / "months.txt").write_text("monthly 2026-04..2026-06 16:00[America/New_York]\n")
    archive = Archive(tmp_path, app=alpha(DIVIDENDS={"symbol": "GE", "data": [ROW]}))
    (archive.folder / "list.toml").write_text('[[request]]\nsource = "alphavantage"\nop = "DIVIDENDS"\nsymbol = "GE"\n')
    assert archive.command("capture list.toml", now="2026-07-01 12:00").code == 0
    return archive


def test_a_row_for_each_item_and_for_each_empty_cell(archive: Archive) -> None:
    answer = archive.command(f"{ASKED} --over symbol=GE,T", NOW)
    rows = [*csv.DictReader(io.StringIO(answer.out))]
    assert (answer.code, [*rows[0]][:4]) == (0, ["pit", "symbol", "status", "reason"])
    assert [(row["pit"], row["symbol"], row["status"], row["amount"]) for row in rows] == [
        ("2026-04-30T16:00:00-04:00", "GE", "nothing_public", ""),
        ("2026-05-31T16:00:00-04:00", "GE", "ok", "1.85"),
        ("2026-06-30T16:00:00-04:00", "GE", "ok", "1.85"),
        ("2026-04-30T16:00:00-04:00", "T", "not_captured", ""),
        ("2026-05-31T16:00:00-04:00", "T", "not_captured", ""),
        ("2026-06-30T16:00:00-04:00", "T", "not_captured", ""),
    ]


def test_the_universe_and_the_instants_may_stand_in_files(archive: Archive) -> None:
    (archive.folder / "index.csv").write_text("# held\nsymbol,from,to\nGE,2026-06-01,\n")
    (archive.folder / "pits.txt").write_text("2026-05-31T20:00:00Z\n2026-06-30T20:00:00Z\n")
    words = "panel --source alphavantage DIVIDENDS --offline --over symbol=@index.csv --pits @pits.txt --format jsonl"
    (row,) = archive.command(words, NOW).out.splitlines()
    assert (json.loads(row)["pit"], json.loads(row)["status"]) == ("2026-06-30T16:00:00-04:00", "ok")


def test_a_file_has_the_format_of_its_name(archive: Archive) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    for name in ("panel.csv", "panel.jsonl", "panel.parquet"):
        answer = archive.command(f"{ASKED} --over symbol=GE,T --output {name}", NOW)
        assert (answer.code, answer.out) == (0, "")
    table = parquet.read_table(archive.folder / "panel.parquet")
    lines = (archive.folder / "panel.jsonl").read_text().splitlines()
    assert (table.num_rows, len(lines)) == (6, 6)
    assert [str(table.schema.field(name).type) for name in ("pit", "amount")] == [
        "timestamp[us, tz=America/New_York]",
        "double",
    ]
    assert table.column("status").to_pylist() == [json.loads(line)["status"] for line in lines]


def test_an_older_file_stays_if_every_cell_failed_and_what_failed_is_asked_again(archive: Archive) -> None:
    live = f"panel --source alphavantage DIVIDENDS {PITS} --over symbol=GE,T --output panel.csv"
    (archive.folder / "panel.csv").write_text("older")
    documents, archive.app = archive.app, lambda request: Response(b"", 500)
    answer = archive.command(live, NOW)
    assert (answer.code, "Nothing was written. 6 of 6 cells failed" in answer.err) == (1, True)
    assert (archive.folder / "panel.csv").read_text() == "older"

    archive.app = lambda request: documents(request) if request.query["symbol"] == "GE" else Response(b"", 500)
    answer = archive.command(live, NOW)
    assert (answer.code, "3 of 6 cells failed" in answer.err) == (1, True)
    assert "The same command asks again for what failed" in answer.err

    archive.app = alpha(DIVIDENDS={"symbol": "T", "data": [ROW]})
    archive.asked.clear()
    answer = archive.command(live, NOW)
    assert (answer.code, {request.query["symbol"] for request in archive.asked}) == (0, {"T"})
    assert not (archive.folder / "panel.csv.parts").exists()


def test_a_dry_run_says_what_would_be_asked(archive: Archive) -> None:
    words = f"panel --source alphavantage DIVIDENDS {PITS} --over symbol=GE,T --dry-run"
    archive.asked.clear()
    assert archive.command(f"{words} --offline", NOW).out == "6 cells\n"
    plan = archive.command(words, NOW).out
    assert plan.startswith("6 cells. alphavantage: 6 requests, at least 6 calls")
    assert archive.asked == []


def test_a_saved_reply_answers_for_every_cell(archive: Archive) -> None:
    (archive.folder / "reply.json").write_text(json.dumps({"symbol": "GE", "data": [ROW]}))
    words = f"panel --source alphavantage DIVIDENDS {PITS} --over symbol=GE --input-file reply.json"
    assert archive.command(f"{words} --dry-run", NOW).out == "3 cells\n"
    answer = archive.command(words, NOW)
    rows = [*csv.DictReader(io.StringIO(answer.out))]
    assert (answer.code, [row["amount"] for row in rows]) == (0, ["", "1.85", "1.85"])


@pytest.mark.parametrize("name", ["archive.db", "index.csv", "months.txt"])
def test_no_file_that_it_reads_is_written(archive: Archive, name: str) -> None:
    (archive.folder / "index.csv").write_text("symbol\nGE\n")
    (archive.folder / "archive.db").write_bytes(Path(archive.path).read_bytes())
    before = (archive.folder / name).read_bytes()
    answer = archive.command(f"{ASKED} --over symbol=@index.csv --format csv --output {name}", NOW)
    assert (answer.code, "name another file" in answer.err) == (2, True)
    assert (archive.folder / name).read_bytes() == before


def test_two_panels_do_not_write_one_file_at_once(archive: Archive) -> None:
    (archive.folder / "panel.csv.parts").mkdir()
    with locked(archive.folder / "panel.csv.parts"):
        answer = archive.command(f"{ASKED} --over symbol=GE --output panel.csv", NOW)
    assert (answer.code, "another process is writing it" in answer.err) == (2, True)
    assert archive.command(f"{ASKED} --over symbol=GE --output panel.csv", NOW).code == 0
    assert not (archive.folder / "panel.csv.parts").exists()


def test_why_a_cell_is_empty_is_told_beside_the_table(archive: Archive) -> None:
    archive.app = articles()
    answer = archive.command(f"panel --source bz-news-api {PITS} --over tickers=AAPL", NOW)
    assert (answer.code, answer.out.count("nothing_public")) == (0, 3)
    assert "3 of 3 cells have nothing public. The first of them: " in answer.err
    assert "Only the 24 hours before the PIT were searched" in answer.err
    answer = archive.command(f"{ASKED} --over symbol=GE,T", NOW)
    assert "1 of 6 cells have nothing public. The first of them: " in answer.err
    assert "3 of 6 cells were never captured" in answer.err


def test_what_is_asked_before_its_time_is_told_and_asked_again(archive: Archive) -> None:
    live = "panel --source alphavantage DIVIDENDS --pits 2026-06-30T20:00:00Z,2026-07-31T20:00:00Z --over symbol=GM,T"
    reported: list[dict[str, str]] = []
    archive.app = lambda request: alpha(DIVIDENDS={"symbol": request.query["symbol"], "data": [*reported]})(request)
    documents = archive.app
    archive.app = lambda request: documents(request) if request.query["symbol"] == "GM" else Response(b"", 500)
    answer = archive.command(f"{live} --output panel.csv", NOW)
    assert "2 of 4 cells are of instants that had not come when they were asked, so their answers" in answer.err
    reported.append({**ROW, "declaration_date": "2026-07-30"})
    archive.app = documents
    answer = archive.command(f"{live} --output panel.csv", "2026-08-03 12:00")
    rows = csv.DictReader(io.StringIO((archive.folder / "panel.csv").read_text()))
    assert [row["status"] for row in rows] == ["nothing_public", "ok"] * 2
    assert (answer.code, "provisional" in answer.err) == (0, False)


def test_a_check_says_how_many_cells_are_as_single_fetches_answer(archive: Archive) -> None:
    answer = archive.command(f"{ASKED} --over symbol=GE,T --format csv --check 4", NOW)
    assert (answer.code, "4 of 4 cells are as single fetches answer" in answer.err) == (0, True)
    answer = archive.command(f"{ASKED} --over symbol=GE,T --output panel.csv --check 20", NOW)
    assert (answer.code, "6 of 6 cells are as single fetches answer" in answer.err) == (0, True)


def test_a_cell_that_a_single_fetch_answers_otherwise_is_named(archive: Archive) -> None:
    """A source that forgets: the panel had a report that is no longer there."""
    archive.env["PIT_FETCH_ARCHIVE"] = ""
    live = "panel --source alphavantage DIVIDENDS --pits 2026-06-30T20:00:00Z,2026-03-01T00:00:00Z --over symbol=GM"
    archive.asked.clear()
    archive.app = alpha(DIVIDENDS={"symbol": "GM", "data": [ROW]})
    assert archive.command(f"{live} --format csv", NOW).code == 0
    remembered, calls = archive.app, len(archive.asked)
    archive.asked.clear()
    forgotten = alpha(DIVIDENDS={"symbol": "GM", "data": []})
    archive.app = lambda request: (remembered if len(archive.asked) <= calls else forgotten)(request)
    answer = archive.command(f"{live} --format csv --check 2", NOW)
    assert (answer.code, "could not be checked" in answer.err) == (1, False)
    assert "1 of 2 cells are as single fetches answer. These are not: 2026-06-30T16:00:00-04:00 symbol=GM" in answer.err


def test_a_cell_of_a_source_that_fails_now_is_told_from_one_that_differs(archive: Archive) -> None:
    archive.env["PIT_FETCH_ARCHIVE"] = ""
    reply, rest = alpha(DIVIDENDS={"symbol": "GM", "data": [ROW]}), iter(range(2))
    archive.app = lambda request: Response(b"", 404) if next(rest, None) is None else reply(request)
    live = "panel --source alphavantage DIVIDENDS --pits 2026-06-30T20:00:00Z,2026-06-15T20:00:00Z --over symbol=GM"
    answer = archive.command(f"{live} --format csv --check 2", NOW)
    assert (answer.code, answer.out.count("ok"), "These are not" in answer.err) == (1, 2, False)
    assert "0 of 2 cells are as single fetches answer. 2 could not be checked: 2026-06-" in answer.err
    assert "The first of them: Alpha Vantage" in answer.err
    assert "(HTTP 404)" in answer.err


@pytest.mark.parametrize("flag", ["--output", "--out"])
@pytest.mark.parametrize(
    ("place", "form", "file"),
    [
        ("made", "", "made/panel.csv"),
        ("made/", "jsonl", "made/panel.jsonl"),
        ("new/", "", "new/panel.csv"),
        ("new.csv", "", "new.csv"),
    ],
)
def test_a_folder_has_the_panel_in_it(archive: Archive, flag: str, place: str, form: str, file: str) -> None:
    (archive.folder / "made").mkdir()
    words = f"{ASKED} --over symbol=GE {flag} {place} {f'--format {form}' if form else ''}"
    assert archive.command(f"{words} --dry-run", NOW).code == 0
    assert not (archive.folder / "new").exists()
    assert archive.command(words, NOW).code == 0
    assert [str(path.relative_to(archive.folder)) for path in archive.folder.rglob("panel.*")] == (
        [file] if "/" in file else []
    )
    assert (archive.folder / file).is_file()


def test_a_pipe_is_refused_with_what_to_do(archive: Archive) -> None:
    reading, writing = os.pipe()
    os.mkfifo(archive.folder / "pipe")
    for path in ("pipe", f"/dev/fd/{writing}", "/dev/null"):
        answer = archive.command(f"{ASKED} --over symbol=GE --format csv --output {path}", NOW)
        assert (answer.code, "without --output, the answer goes to stdout" in answer.err) == (2, True)
    os.close(reading)
    os.close(writing)


def test_what_a_limit_cuts_is_no_failure(archive: Archive) -> None:
    older = {**ROW, "ex_dividend_date": "2025-12-31", "declaration_date": "2026-02-12"}
    reply = {"symbol": "GE", "data": [ROW, older]}
    (archive.folder / "reply.json").write_text(json.dumps(reply))
    words = f"panel --source alphavantage DIVIDENDS {PITS} --over symbol=GE --input-file reply.json --limit 1"
    answer = archive.command(words, NOW)
    rows = [*csv.DictReader(io.StringIO(answer.out))]
    assert (answer.code, [row["status"] for row in rows]) == (0, ["ok", "ok", "ok"])


@pytest.mark.parametrize(
    ("limits", "items", "code", "status", "told"),
    [
        ("--limit 3", 3, 0, "ok", ""),
        ("--limit 1000", 150, 0, "ok", ""),
        ("--limit 3 --max-pages 1", 3, 0, "ok", ""),
        ("--limit 1000 --max-pages 1", 100, 1, "incomplete", "Stopped after 100 public records (--max-pages 1)"),
        ("--max-pages 1", 100, 1, "incomplete", "Stopped after 100 public records (--max-pages 1)"),
    ],
)
def test_a_cell_that_a_limit_of_ones_own_cut_is_told_from_one_that_was_not_read_to_its_end(
    archive: Archive, limits: str, items: int, code: int, status: str, told: str
) -> None:
    archive.env["PIT_FETCH_ARCHIVE"] = ""
    public = at("2026-06-30 19:00")
    archive.app = articles(*(benzinga.article(number, public - timedelta(minutes=number)) for number in range(1, 151)))
    words = "panel --source bz-news-api --pits 2026-06-30T20:00:00Z --fields title --format csv"
    answer = archive.command(f"{words} {limits}", NOW)
    rows = [*csv.DictReader(io.StringIO(answer.out))]
    assert (answer.code, len(rows), {row["status"] for row in rows}) == (code, items, {status})
    assert told in answer.err


def test_beside_what_a_limit_cuts_the_end_of_the_captures_is_told(archive: Archive) -> None:
    words = "--pits 2026-06-30T20:00:00Z,2026-07-31T20:00:00Z --over symbol=GE --limit 1 --format csv"
    answer = archive.command(f"panel --source alphavantage DIVIDENDS --offline {words}", "2026-08-03 12:00")
    assert (answer.code, answer.out.count("incomplete")) == (1, 1)
    assert "1 of 2 cells failed, or are incomplete. The first of them: What became public after Wednesday" in answer.err


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("--pits 2026-06-01T00:00:00Z", "a panel needs --source SOURCE and --pits INSTANTS"),
        (f"--source alphavantage DIVIDENDS {PITS} --over symbol=A --output=", "--output is empty: name a file, or "),
        (f"{PITS} --sorce alphavantage", "unrecognized arguments: --sorce"),
        (
            f"--source alphavantage {PITS} --pit 2026-06-01T00:00:00Z",
            "a panel has --pits, with commas between its instants, in the place of --pit",
        ),
        (f"--source alphavantage {PITS} --after x", "--after is not an option of a panel: a cell takes --date-from, "),
        (f"--source alphavantage DIVIDENDS {PITS} --over symbol=A --input-file -", "put it into a file, and name that"),
        (f"--source alphavantage DIVIDENDS {PITS} --over symbol=A --input-file none.json", "cannot be read"),
        (f"--source alphavantage {PITS} --over symbol", "symbol has no values: write --over NAME=A,B or NAME=@FILE"),
        (
            f"--source alphavantage {PITS} --over symbol=A --over symbol=B",
            "--over: symbol is given twice: write --over ",
        ),
        (
            f"--source alphavantage {PITS} --over symbol GE,T DIVIDENDS",
            "--over takes one word: write --over NAME=A,B or ",
        ),
        (f"--source alphavantage {PITS} --over symbol=GE T", "--over takes one word"),
        (f"--source alphavantage {PITS}Z 2026-07-01T00:00:00Z", "--pits takes one word: instants with commas between "),
        (
            "--source alphavantage --pits monthly 2024-01..2024-03 16:00[America/New_York] DIVIDENDS --over symbol=GE",
            "or a rule in quotes: --pits 'monthly 2024-01..2024-12 16:00[America/New_York]'",
        ),
        (
            "--source alphavantage DIVIDENDS --over symbol=GE",
            "a panel needs --pits INSTANTS: write --pits 'monthly 2024",
        ),
        (f"--source alphavantage {PITS} --over simbol=A", "did you mean symbol?"),
        (f"--source alphavantage {PITS} --over ticker=A", "did you mean symbol?"),
        (f"--source alphavantage DIVIDENDS {PITS} symbol=GE,T", "To ask about each of them: --over symbol=GE,T"),
        (f"--source alphavantage DIVIDENDS {PITS}", "needs symbol"),
        (f"--source alphavantage DIVIDENDS {PITS} --over archive=a.db,b.db", "archive is one for all cells"),
        (f"--source alphavantage DIVIDENDS {PITS} --over timeout=5,10", "timeout is one for all cells"),
        (
            f"--source alphavantage DIVIDENDS {PITS} --over symbol=A --offline --archive none.db",
            "there is no such file",
        ),
        (f"--source alphavantage DIVIDENDS {PITS} --over symbol=A --offline --archive bad.db", "is damaged"),
        (
            f"--source alphavantage {PITS} --over symbol=A --format jsonl --csv-safe",
            "--csv-safe is of CSV: leave it out",
        ),
        (f"--source alphavantage {PITS} --check 0", "write a whole number from 1 to "),
        (f"--source alphavantage {PITS} --over symbol=A --format parquet", "--format parquet needs --output FILE"),
    ],
)
def test_what_cannot_be_asked_is_refused(archive: Archive, words: str, problem: str) -> None:
    whole = bytes_of(archive)
    (archive.folder / "bad.db").write_bytes(whole[:8192] + bytes(len(whole) - 8192))
    answer = archive.command(f"panel {words}", NOW)
    assert (answer.code, problem in answer.err) == (2, True)


def test_a_panel_that_was_never_captured_says_so_and_fails_on_request(archive: Archive) -> None:
    for words, code in (("", 0), ("--fail", 1)):
        answer = archive.command(f"{ASKED} --over symbol=T,IBM {words}", NOW)
        assert (answer.code, answer.out.count("not_captured")) == (code, 6)
        assert "no cell was ever captured, so the table has no answer" in answer.err
    assert archive.command(f"{ASKED} --over symbol=GE,T --fail", NOW).code == 1
    assert archive.command(f"{ASKED} --over symbol=GE --fail", NOW).code == 0


@pytest.mark.parametrize("variable", ["PIT_FETCH_CEILING", "PIT_FETCH_WRAPPER_ONLY"])
def test_it_is_for_people(archive: Archive, variable: str) -> None:
    archive.env[variable] = "2026-12-01T00:00:00Z"
    answer = archive.command(f"{ASKED} --over symbol=GE", NOW)
    assert (answer.code, "amount" in answer.out) == (2, False)


def test_a_person_at_a_terminal_reads_a_table_and_a_pipe_csv(tmp_path: Path) -> None:
    words = ["panel", "--source", "demo", "--pits", "2024-02-15T16:00:00-05:00"]
    runtime = terminal(tmp_path, {"COLUMNS": "50"})
    assert main(words, runtime) == 0
    heads, rule, *rows = written(runtime)[0].splitlines()
    assert (heads.split()[:2], set(rule)) == (["pit", "status"], {"-", " "})
    assert max(map(len, (heads, rule, *rows[:2]))) <= 50
    for environ, form in (({"CLAUDECODE": "1"}, ()), ({}, ("--format", "csv"))):
        runtime = terminal(tmp_path, environ)
        assert main([*words, *form], runtime) == 0
        assert written(runtime)[0].startswith("pit,status,reason,available_at,")


@pytest.mark.parametrize("file", ["panel.xlsx", "panel.json", "panel.csv.gz"])
def test_a_file_of_another_kind_is_refused_before_anything_is_asked(archive: Archive, file: str) -> None:
    answer = archive.command(f"{ASKED} --over symbol=GE --output {file}", NOW)
    assert (answer.code, "let FILE end with one of .jsonl, .csv, .parquet" in answer.err) == (2, True)
    assert not (archive.folder / file).exists()
