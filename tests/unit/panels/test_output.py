"""The file of a panel: the same bytes however often it was broken off, and one schema for all subjects."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from pit_fetch.formats import RenderOptions
from pit_fetch.panels.cells import AskSession, Grid
from pit_fetch.panels.check import Check
from pit_fetch.panels.output import PanelFile, WriteReport
from pit_fetch.panels.universe import Subject
from pit_fetch.pipeline.envelope import PlainEnvelope, Provenance
from tests.unit.archive.scene import at

PITS = [at("2026-05-01 12:00"), at("2026-06-01 12:00")]
FAILED = {"type": "upstream_error", "reason": "The host reports an error."}
Answers = Mapping[str, PlainEnvelope]


def items(**payload: Any) -> PlainEnvelope:
    return PlainEnvelope([{"id": "a", **payload}], (), Provenance(kinds={"close": "number"}))


class Source:
    """Answers about each symbol, and counts what is asked."""

    def __init__(self, answers: Mapping[str, PlainEnvelope]) -> None:
        self.answers = dict(answers)
        self.asked: list[str] = []
        self.fetched: list[tuple[str, datetime]] = []

    def grid(self, pits: list[datetime] = PITS, held: str = "", now: str = "2026-07-01 12:00") -> Grid:
        subjects = [Subject({"symbol": symbol}, pits) for symbol in self.answers]
        clock = lambda: at(now)  # noqa: E731
        session = AskSession(self.ask, lambda subject: f"{subject.over['symbol']}{held}")
        return Grid(subjects, lambda: nullcontext(session), clock, self.fetch)

    def fetch(self, over: Mapping[str, Any], pit: datetime) -> PlainEnvelope:
        self.fetched.append((over["symbol"], pit))
        return self.answers[over["symbol"]]

    def ask(self, over: Mapping[str, Any], pit: datetime) -> PlainEnvelope:
        self.asked.append(over["symbol"])
        return self.answers[over["symbol"]]


class Impatient(Source):
    """Is interrupted after so many questions."""

    def __init__(self, answers: Mapping[str, PlainEnvelope], patience: int) -> None:
        super().__init__(answers)
        self.patience = patience

    def ask(self, over: Mapping[str, Any], pit: datetime) -> PlainEnvelope:
        if len(self.asked) == self.patience:
            raise KeyboardInterrupt
        return super().ask(over, pit)


def write(grid: Grid, path: str, *, again: bool = False, form: str = "", width: int = 0) -> WriteReport:
    return PanelFile(grid, path, again=again).write(form, layout=RenderOptions(width=width))


@pytest.fixture
def source() -> Source:
    return Source({"IBM": items(close="182.5"), "GE": PlainEnvelope(), "T": items(close="17", volume=5)})


def test_a_panel_that_was_broken_off_asks_only_what_is_missing(source: Source, tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole.csv", tmp_path / "broken.csv"
    write(source.grid(), str(whole))
    assert source.asked == ["IBM", "IBM", "GE", "GE", "T", "T"]
    for place in range(6):
        with pytest.raises(KeyboardInterrupt):
            write(Impatient(source.answers, place).grid(), str(broken))
        assert not broken.exists()
        again = Source(source.answers)
        write(again.grid(), str(broken))
        assert again.asked == source.asked[place // 2 * 2 :]
        assert broken.read_bytes() == whole.read_bytes()
        assert sorted(tmp_path.iterdir()) == [broken, whole]  # the parts are gone
        broken.unlink()


@pytest.mark.parametrize("place", range(4))
def test_a_full_disk_leaves_an_older_file_and_what_was_answered(
    source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: int
) -> None:
    replaced: list[str] = []
    target = tmp_path / "panel.jsonl"
    target.write_text("older")

    def replace(aside: str, path: str, real: Callable[[str, str], None] = os.replace) -> None:
        if len(replaced) == place:
            raise OSError(28, "No space left on device")
        replaced.append(path)
        real(aside, path)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", replace)
        with pytest.raises(OSError, match="No space left") as full:
            write(source.grid(), str(target))
    assert str(full.value.filename).startswith(str(target))
    assert target.read_text() == "older"
    again = Source(source.answers)
    write(again.grid(), str(target))
    assert (len(again.asked), len(target.read_text().splitlines())) == (6 - 2 * place, 6)


def test_another_question_takes_nothing_from_what_is_kept(source: Source, tmp_path: Path) -> None:
    source.answers["T"] = PlainEnvelope((), [FAILED])
    target = str(tmp_path / "panel.csv")
    for grid, expected in ((source.grid(), 6), (source.grid(), 2), (source.grid(held="more"), 6)):
        source.asked.clear()
        write(grid, target)
        assert len(source.asked) == expected
    source.asked.clear()
    write(source.grid(held="more"), target, again=True)
    assert len(source.asked) == 6


def test_what_a_killed_process_has_left_is_removed_in_the_end(source: Source, tmp_path: Path) -> None:
    (tmp_path / "panel.csv.parts").mkdir()
    (tmp_path / "panel.csv.parts" / ".pit_fetch-0123456789abcdef.tmp").write_text("half a table")
    write(source.grid(), str(tmp_path / "panel.csv"))
    assert [*tmp_path.iterdir()] == [tmp_path / "panel.csv"]


def test_a_part_that_cannot_be_read_is_asked_again(source: Source, tmp_path: Path) -> None:
    source.answers["T"] = PlainEnvelope((), [FAILED])
    write(source.grid(), str(tmp_path / "panel.csv"))
    (tmp_path / "panel.csv.parts" / "IBM.part").write_text("{")
    source.asked.clear()
    write(source.grid(), str(tmp_path / "panel.csv"))
    assert source.asked == ["IBM", "IBM", "T", "T"]


def test_a_link_keeps_pointing_to_its_file(source: Source, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "panel.csv").symlink_to(tmp_path / "elsewhere" / "panel.csv")
    source.answers["T"] = PlainEnvelope((), [FAILED])
    write(source.grid(), str(tmp_path / "panel.csv"))
    assert (tmp_path / "panel.csv").is_symlink()
    # Beside the file, and not beside the link: the two can be on different disks.
    assert sorted(path.name for path in (tmp_path / "elsewhere").iterdir()) == ["panel.csv", "panel.csv.parts"]


@pytest.mark.parametrize(
    ("first", "second", "kind", "values"),
    [
        ({"close": "1.5"}, {"close": "2"}, "double", [1.5, 2.0]),
        ({"close": "1.50"}, {"close": "n.q."}, "string", ['"1.50"', '"n.q."']),
        ({}, {"other": 3}, "int64", [None, 3]),
        ({"other": 1}, {"other": 2.5}, "double", [1.0, 2.5]),
        ({"other": "a"}, {"other": 2}, "string", ['"a"', "2"]),
        ({"other": None}, {"other": True}, "bool", [None, True]),
        ({"other": ["a"]}, {"other": []}, "list<element: string>", [["a"], []]),
        ({"other": {"x": 1}}, {"other": {"x": 1.5, "y": "z"}}, "struct<x: double, y: string>",
         [{"x": 1.0, "y": None}, {"x": 1.5, "y": "z"}]),
        ({"other": {"x": 1}}, {"other": {"x": "1"}}, "string", ['{"x": 1}', '{"x": "1"}']),
        ({"other": {}}, {"other": {"x": 1}}, "string", ["{}", '{"x": 1}']),
        ({"other": "\ud800"}, {"other": "a"}, "string", ["?", "a"]),
    ],
)  # fmt: skip
def test_a_column_of_parquet_has_one_type_for_all_subjects(
    first: dict[str, Any], second: dict[str, Any], kind: str, values: list[Any], tmp_path: Path
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    source = Source({"IBM": items(**first), "GE": items(**second)})
    write(source.grid(PITS[:1]), str(tmp_path / "panel.parquet"))
    table = parquet.read_table(tmp_path / "panel.parquet")
    name = "other" if "other" in second else "close"
    assert (str(table.schema.field(name).type), table.column(name).to_pylist()) == (kind, values)
    assert [*map(str, table.schema.names)][:5] == ["pit", "symbol", "status", "reason", "id"]


def test_some_cells_are_asked_again_as_single_fetches(source: Source, tmp_path: Path) -> None:
    file = PanelFile(source.grid(), str(tmp_path / "panel.csv"), again=True)
    few, many = file.write(check=2).check, file.write(check=100).check
    assert (few, many) == (Check(2), Check(6))
    first, *rest = source.fetched
    assert (rest[1], len({first, *rest})) == (first, 6)  # the same ones of the same panel


def test_no_cell_is_checked_of_an_instant_that_had_not_come(source: Source, tmp_path: Path) -> None:
    PanelFile(source.grid(now="2026-05-15 12:00"), str(tmp_path / "panel.csv")).write(check=100)
    assert {pit for _, pit in source.fetched} == {PITS[0]}
    assert len(source.fetched) == 3


def test_no_cell_is_checked_of_a_file_that_is_not_whole_or_of_an_archive_that_went_on(
    source: Source, tmp_path: Path
) -> None:
    def session(state: str) -> AskSession:
        return AskSession(source.ask, lambda subject: f"{subject.over['symbol']} {state}")

    states = iter(("a", "b"))
    grid = source.grid()
    going_on = grid._replace(session=lambda: nullcontext(session(next(states))))
    written = PanelFile(going_on, str(tmp_path / "panel.csv")).write(check=1)
    assert written.check == Check(0, (), "the archive has recorded more since the panel began")
    source.answers["T"] = PlainEnvelope((), [FAILED])
    assert write_checked(source.grid(), str(tmp_path / "panel.csv")) == Check(0, (), "some cells failed")
    assert source.fetched == []


def write_checked(grid: Grid, path: str) -> Check | None:
    return PanelFile(grid, path).write(check=1).check


def test_a_table_says_first_what_was_asked_and_what_all_items_share_above_it(tmp_path: Path) -> None:
    source = Source(
        {"IBM": items(close="182.5", unit="USD"), "GE": PlainEnvelope(), "T": items(close="17", unit="USD")}
    )
    write(source.grid(PITS[:1]), str(tmp_path / "panel.txt"), form="table", width=60)
    assert (tmp_path / "panel.txt").read_text().splitlines() == [
        "All items: unit USD",
        "pit                      symbol  status          close  id",
        "-----------------------  ------  --------------  -----  --",
        "2026-05-01 08:00:00 EDT  IBM     ok              182.5  a",
        "2026-05-01 08:00:00 EDT  GE      nothing_public",
        "2026-05-01 08:00:00 EDT  T       ok                 17  a",
    ]
