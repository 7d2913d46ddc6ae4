"""pit_fetch.panel: each cell is the fetch at its own instant, and the table says why a cell is empty."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing, nullcontext
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from pit_fetch.archive.store import index
from pit_fetch.engine.registry import load
from pit_fetch.errors import GapError, UsageError
from pit_fetch.panels.cells import AskSession, Grid, status_of
from pit_fetch.panels.grid import grid_of
from pit_fetch.panels.output import PanelFile
from pit_fetch.panels.panel import Panel
from pit_fetch.panels.universe import Subject
from pit_fetch.pipeline.envelope import PlainEnvelope, Provenance
from pit_fetch.runtime import Runtime
from pit_fetch.testing.inprocess import TestClock
from pit_fetch.testing.server import Answering, App, Response
from pit_fetch.transport import HttpRequest
from tests.providers.alphavantage import server as alphavantage
from tests.unit.archive.scene import Archive, alpha, at

PITS = "monthly 2026-04..2026-06 16:00[America/New_York]"
REPORTED = {"IBM": "2026-04-22", "GE": "2026-05-14"}


def figures(symbol: str) -> dict[str, Any]:
    row = {"ex_dividend_date": "2026-03-31", "declaration_date": REPORTED[symbol], "amount": "1.85"}
    return {"symbol": symbol, "data": [row]}


def nobody(request: HttpRequest) -> Response:
    raise AssertionError("the network was asked")


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    """The earnings of two companies, captured on one day."""
    archive = Archive(tmp_path)
    for symbol in REPORTED:
        archive.app = alpha(DIVIDENDS=figures(symbol))
        (archive.folder / "list.toml").write_text(
            f'[[request]]\nsource = "alphavantage"\nop = "DIVIDENDS"\nsymbol = "{symbol}"\n'
        )
        assert archive.command("capture list.toml", now="2026-07-01 12:00").code == 0
    return archive


def panel(
    kept: Archive,
    symbols: object = ("IBM", "GE"),
    pits: object = PITS,
    app: App = nobody,
    environ: Mapping[str, str] = {},
    **options: Any,
) -> Panel:
    """Ask the archive alone, or a server."""
    transport = Answering(app, lambda: at("2026-07-02 12:00"))
    runtime = Runtime(
        {"HOME": str(kept.folder), "ALPHAVANTAGE_API_KEY": alphavantage.KEY, **environ},
        str(kept.folder),
        TestClock(at("2026-07-02 12:00")).value(),
        transport,
        load,
        lambda seconds: b"",
    )
    asked = {"op": "DIVIDENDS", "archive": kept.path, "offline": True, **options}
    return Panel(grid_of("alphavantage", pits, {"symbol": symbols}, asked, runtime))


def test_each_cell_says_what_it_asks_and_why_it_is_empty(archive: Archive) -> None:
    cells = [(str(cell.pit)[:10], cell.over["symbol"], cell.status) for cell in panel(archive, ["IBM", "GE", "T"])]
    assert cells == [
        ("2026-04-30", "IBM", "ok"), ("2026-05-31", "IBM", "ok"), ("2026-06-30", "IBM", "ok"),
        ("2026-04-30", "GE", "nothing_public"), ("2026-05-31", "GE", "ok"), ("2026-06-30", "GE", "ok"),
        ("2026-04-30", "T", "not_captured"), ("2026-05-31", "T", "not_captured"), ("2026-06-30", "T", "not_captured"),
    ]  # fmt: skip


def test_all_cells_are_of_what_the_archive_held_at_the_first(archive: Archive) -> None:
    asked = panel(archive, ["IBM", "T"])
    cells = iter(asked)
    seen = [next(cells).status]
    archive.app = alpha(DIVIDENDS=figures("GE") | {"symbol": "T"})
    (archive.folder / "more.toml").write_text('[[request]]\nsource = "alphavantage"\nop = "DIVIDENDS"\nsymbol = "T"\n')
    assert archive.command("capture more.toml", now="2026-07-01 13:00").code == 0
    assert [*seen, *(cell.status for cell in cells)] == ["ok", "ok", "ok", *["not_captured"] * 3]
    assert [cell.status for cell in asked][3:] == ["nothing_public", "ok", "ok"]


def test_fetches_that_are_not_in_the_index_yet_are_answered_and_nothing_is_written(archive: Archive) -> None:
    for symbol in REPORTED:
        archive.app = alpha(DIVIDENDS=figures(symbol))
        archive.fetch(f"alphavantage DIVIDENDS symbol={symbol}", "2026-07-01 14:00")
    with closing(archive.open()) as connection:
        for (stream,) in connection.execute("SELECT name FROM streams").fetchall():
            index.defer_all(connection, stream)
        before = connection.execute("SELECT count(*) FROM pending").fetchone()
        asked = panel(archive, ["IBM", "GE", "IBM"], [*map(at, ("2026-05-31 16:00", "2026-06-30 16:00"))])
        assert [cell.status for cell in asked] == ["ok"] * 4
        cells = iter(asked)
        next(cells)
        index.defer_all(connection, next(iter(connection.execute("SELECT name FROM streams")))[0])
        assert [cell.status for cell in cells] == ["ok"] * 3
        assert (before, before) == (connection.execute("SELECT count(*) FROM pending").fetchone(), (4,))


def test_a_check_asks_single_fetches(archive: Archive) -> None:
    asked = panel(archive, ["IBM", "GE", "T"])
    assert asked.check(100) == []
    wrong = asked._grid._replace(fetch=lambda over, pit: asked._grid.fetch({"symbol": "IBM"}, pit))
    found = Panel(wrong).check(100)
    assert {(cell.over["symbol"], cell.pit.month) for cell in found} == {
        ("GE", 4), ("GE", 5), ("GE", 6), ("T", 4), ("T", 5), ("T", 6),
    }  # fmt: skip


def test_a_check_that_a_failure_leaves_open_is_not_passed(archive: Archive) -> None:
    asked = panel(archive, ["IBM", "T"])
    failing = PlainEnvelope((), [{"type": "upstream_error", "reason": "The host is down."}])

    def fetch(over: Mapping[str, Any], pit: datetime) -> PlainEnvelope:
        return failing if over["symbol"] == "T" else answers(over, pit)

    answers = asked._grid.fetch
    with pytest.raises(
        GapError, match=r"^3 of 6 cells could not be checked\. The first of them: The host is down\.$"
    ) as it:
        Panel(asked._grid._replace(fetch=fetch)).check(100)
    assert it.value.envelope is failing
    answers = lambda over, pit: PlainEnvelope()  # noqa: E731 - what differs is told all the same
    assert {cell.over["symbol"] for cell in Panel(asked._grid._replace(fetch=fetch)).check(100)} == {"IBM"}


def test_a_frame_has_a_row_for_each_item_and_for_each_empty_cell(archive: Archive) -> None:
    frame = panel(archive, ["IBM", "GE", "T"]).to_df()
    assert [*frame.columns[:4]] == ["pit", "symbol", "status", "reason"]
    assert frame.attrs["status"] == {"ok": 5, "nothing_public": 1, "not_captured": 3}
    assert len(frame) == 9
    assert frame.groupby("symbol").amount.count().to_dict() == {"GE": 2, "IBM": 3, "T": 0}
    assert str(frame.pit.dtype) == "datetime64[us, America/New_York]"
    assert (frame.available_at.isna() | (frame.available_at <= frame.pit)).all()


def test_the_columns_of_a_frame_do_not_depend_on_what_is_answered(archive: Archive) -> None:
    whole = panel(archive, ["IBM", "GE"]).to_df()
    with pytest.warns(UserWarning, match=r"^no cell was ever captured: This was never captured"):
        empty = panel(archive, ["T"]).to_df()
    with pytest.warns(UserWarning, match=r"^3 of 3 cells failed, or are incomplete\. The first of them: Alpha Vantage"):
        failed = panel(archive, ["T"], app=lambda request: Response(b"", 500), offline=None, archive=None).to_df()
    assert [*whole.columns] == [*empty.columns] == [*failed.columns]
    assert {*failed.status} == {"failed"}
    assert failed.reason.str.contains("HTTP 500").all()
    assert whole.reason.notna().sum() == (whole.status != "ok").sum() == 1
    assert [*map(str, failed.dtypes)] == [*map(str, whole.dtypes)]
    assert panel(archive, ["IBM"], fields=["amount"]).to_df().columns[-1] == "amount"


def test_a_cell_of_an_instant_ahead_is_provisional(archive: Archive) -> None:
    asked = panel(archive, ["GE"], "monthly 2026-06..2026-08 16:00[America/New_York]")
    assert [(cell.status, cell.is_provisional) for cell in asked] == [
        ("ok", False), ("incomplete", True), ("incomplete", True),
    ]  # fmt: skip
    assert asked.to_df().attrs["provisional"] == 2


def test_an_item_says_whether_it_is_proved_where_claims_were_accepted() -> None:
    claimed = Provenance(grade="claimed")
    frame = panel_of(PlainEnvelope([{"id": "a", "evidence": "claimed"}, {"id": "b"}], (), claimed)).to_df()
    assert [*frame["evidence"]] == ["claimed", "proved"]
    assert "evidence" not in panel_of(PlainEnvelope((), (), claimed)).to_df()


def panel_of(envelope: PlainEnvelope) -> Panel:
    subjects = [Subject({"symbol": "IBM"}, [at("2026-06-01 12:00")])]
    session = AskSession(lambda over, pit: envelope)
    return Panel(Grid(subjects, lambda: nullcontext(session), lambda: at("2026-07-02 12:00"), session.ask))


@pytest.mark.parametrize(
    ("data", "gap", "status"),
    [
        ([{}], {"type": "pit_excluded"}, "ok"),
        ([{}], {"type": "truncated"}, "incomplete"),
        ([{}], {"type": "upstream_error"}, "incomplete"),
        ([{}], {"type": "unverifiable", "captured": False}, "incomplete"),
        ([], {"type": "no_data"}, "nothing_public"),
        ([], {"type": "unverifiable", "captured": False}, "not_captured"),
        ([], {"type": "upstream_error"}, "failed"),
        ([], {"type": "internal_error"}, "failed"),
        ([], {"type": "truncated"}, "incomplete"),
        ([], {"type": "config"}, "refused"),
        ([], ({"type": "config"}, {"type": "no_data"}), "incomplete"),
        ([], {"type": "invalid_pit"}, "refused"),
    ],
)
def test_the_status_of_an_answer(data: list[dict[str, Any]], gap: Any, status: str) -> None:
    assert status_of(PlainEnvelope(data, gap if isinstance(gap, tuple) else [gap])) == status


@pytest.mark.parametrize(
    ("gaps", "status"),
    [
        ([], "ok"),
        ([{"type": "truncated", "reason": "Beyond what the source keeps."}], "incomplete"),
        ([{"type": "upstream_error", "reason": "The host is down."}], "incomplete"),
        ([{"type": "unverifiable", "captured": False, "reason": "Never captured."}], "incomplete"),
    ],
)
def test_a_limit_of_ones_own_hides_nothing_else_that_is_missing(gaps: list[dict[str, Any]], status: str) -> None:
    envelope = PlainEnvelope([{}], [{"type": "truncated", "reason": "More than --limit 1."}, *gaps])
    assert status_of(envelope) == "incomplete"  # nobody set a limit
    envelope.limited = "More than --limit 1."
    assert status_of(envelope) == status


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"simbol": "IBM"}, "simbol is not an option"),
        ({"pit": "2026-06-01T00:00:00Z"}, "pit is given as an option"),
        ({"symbol": "IBM"}, "symbol is given as an option"),
    ],
)
def test_what_no_cell_could_ask_is_refused_at_once(archive: Archive, options: dict[str, Any], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        panel(archive, **options)


@pytest.mark.parametrize("variable", ["PIT_FETCH_CEILING", "PIT_FETCH_WRAPPER_ONLY"])
def test_it_is_refused_under_a_ceiling_as_the_command_is(archive: Archive, variable: str) -> None:
    with pytest.raises(UsageError, match="panel"):
        panel(archive, ["GE"], environ={variable: "2026-12-01T00:00:00Z"})


def test_a_file_that_cannot_be_read_is_named(archive: Archive) -> None:
    with pytest.raises(UsageError, match=r"none\.txt: No such file"):
        panel(archive, symbols="@none.txt")
    with pytest.raises(UsageError, match=r"none\.txt: No such file"):
        panel(archive, pits="@none.txt")


def test_what_is_kept_of_a_panel_is_that_of_the_content_of_its_saved_reply(archive: Archive) -> None:
    keys, file = set(), archive.folder / "reply.json"
    for content in ("{}", '{"symbol": "GE"}', "{}"):
        file.write_text(content)
        keys |= keys_of(panel(archive, ["GE"], offline=False, archive=None, input_file=str(file)))
    assert len(keys) == 2


def keys_of(panel: Panel) -> set[str]:
    with panel._grid.session() as session:
        return {session.key(subject) for subject in panel._grid.subjects}


def test_what_is_kept_of_a_panel_is_that_of_its_archive(archive: Archive) -> None:
    """From that alone, of what it holds; where a source answers, too, of the file: each cell records into it."""
    other = archive.folder / "other.db"
    other.write_bytes(Path(archive.path).read_bytes())
    (archive.folder / "link.db").symlink_to(other)
    assert keys_of(panel(archive, ["GE"])) == keys_of(panel(archive, ["GE"], archive=str(other)))
    named = {"PIT_FETCH_ARCHIVE": "other.db"}
    live = [keys_of(panel(archive, ["GE"], offline=None, archive=path)) for path in (None, archive.path, "other.db")]
    assert len({*map(frozenset, live)}) == 3
    assert live[2] == keys_of(panel(archive, ["GE"], offline=None, archive="link.db"))
    assert live[2] == keys_of(panel(archive, ["GE"], offline=None, archive=None, environ=named))


def test_a_variable_that_changes_answers_is_another_question(archive: Archive) -> None:
    plan = {"PIT_FETCH_PLAN": "2026-07-01T00:00:00Z"}
    assert keys_of(panel(archive, ["GE"])) != keys_of(panel(archive, ["GE"], environ=plan))


def test_a_panel_that_is_written_again_is_of_what_the_archive_holds_by_then(archive: Archive) -> None:
    """Nothing that was kept when it was broken off is beside answers of a later state."""
    asked, file = panel(archive, ["IBM", "T"]), archive.folder / "panel.csv"

    def stop(cells: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        PanelFile(asked._grid, str(file)).write(on_cells=stop)
    (archive.folder / "list.toml").write_text(
        '[[request]]\nsource = "alphavantage"\nop = "DIVIDENDS"\nover.symbol = ["IBM", "T"]\n'
    )
    archive.app = lambda request: alpha(DIVIDENDS=figures("GE") | {"symbol": request.query["symbol"]})(request)
    assert archive.command("capture list.toml", now="2026-07-01 13:00").code == 0
    asked.write(file)
    panel(archive, ["IBM", "T"]).write(archive.folder / "fresh.csv")
    assert file.read_bytes() == (archive.folder / "fresh.csv").read_bytes()
    assert "2026-05-14" in file.read_text()


def test_the_same_request_in_other_words_is_another_subject(archive: Archive) -> None:
    asked = panel(archive, ["GE", "ge"])
    assert len(keys_of(asked)) == 2


def test_no_archive_is_replaced_and_no_folder_made(archive: Archive) -> None:
    named = archive.folder / "archive.csv"
    named.write_bytes(Path(archive.path).read_bytes())
    whole = named.read_bytes()
    with pytest.raises(FileExistsError, match="it is a database"):
        panel(archive, ["GE"]).write(named)
    assert named.read_bytes() == whole
    with pytest.raises(FileNotFoundError):
        panel(archive, ["GE"]).write(str(archive.folder / "none" / "panel.csv"))


def test_the_newest_period_is_no_old_one_that_was_released_last(archive: Archive) -> None:
    """An old dividend that is declared last is not the newest one, whatever a limit makes of it."""
    late = {"ex_dividend_date": "2025-12-31", "declaration_date": "2026-05-20", "amount": "9.99"}
    archive.app = alpha(DIVIDENDS={"symbol": "T", "data": [*figures("GE")["data"], late]})
    listed = archive.folder / "late.toml"
    listed.write_text('[[request]]\nsource = "alphavantage"\nop = "DIVIDENDS"\nsymbol = "T"\n')
    assert archive.command("capture late.toml", now="2026-07-01 15:00").code == 0
    newest, limited = panel(archive, ["T"], newest=1), panel(archive, ["T"], limit=1)
    assert [[item["amount"] for item in cell.answer.items] for cell in newest] == [[], ["1.85"], ["1.85"]]
    assert [item["amount"] for cell in limited for item in cell.answer.items][-1] == "9.99"
    assert "newest=N" in limited._grid.caution
    assert newest.check(9) == []
    assert newest._grid.caution == ""


def test_newest_is_refused_without_periods(archive: Archive) -> None:
    with pytest.raises(UsageError, match="--newest counts periods"):
        panel(archive, ["GE"], op="SYMBOL_SEARCH", newest=1)


def test_one_sweep_answers_all_cells_of_a_subject(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = panel(archive, ["IBM", "GE", "T"])
    expected = [(cell.status, dict(cell.envelope)) for cell in asked]
    monkeypatch.setattr(index, "records_as_of", lambda *given: pytest.fail("a cell was read by itself"))
    assert [(cell.status, dict(cell.envelope)) for cell in asked] == expected
