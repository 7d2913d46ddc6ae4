"""``pit_fetch archive sample``: its archive is like any other, and answers differ from one instant to the next."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from pit_fetch.archive_admin import sample
from pit_fetch.testing.inprocess import Left
from pit_fetch.transport import HttpReply, HttpRequest
from tests.unit.archive.scene import Archive

# The close before Acme's annual report of 2023, and one after it.
BEFORE, AFTER = "2024-02-15 21:00", "2024-02-20 21:00"
EPS = "sec_facts concept=EarningsPerShareDiluted cik=9000001 period=annual"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    archive = Archive(tmp_path_factory.mktemp("sample"))
    left = archive.command("archive sample a.db")
    assert (left.code, left.err) == (0, "")
    return archive


def _figures(left: Left, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(item[name] for name in names) for item in left.data]


def test_a_restatement_and_a_later_report_change_the_figures(made: Archive) -> None:
    ask = made.offline
    assert _figures(ask(EPS, AFTER, BEFORE), "end", "value") == [("2022-12-31", 3.60), ("2021-12-31", 2.95)]
    after = [("2023-12-31", 4.10), ("2022-12-31", 3.25), ("2021-12-31", 2.95)]
    assert _figures(ask(EPS, AFTER, AFTER), "end", "value") == after
    first = ask(f"{EPS} vintage=first", AFTER, AFTER)
    assert _figures(first, "end", "value") == [after[0], ("2022-12-31", 3.60), after[2]]
    every = _figures(ask(f"{EPS} vintage=all", AFTER, AFTER), "end", "value", "restated")
    assert [row for row in every if row[0] == "2022-12-31"] == [("2022-12-31", 3.25, True), ("2022-12-31", 3.60, False)]


def test_every_operation_of_the_list_answers(made: Archive) -> None:
    statement = "statement period=quarter"
    for words in (statement, f"{statement} statement=balance", f"{statement} statement=cashflow", "concepts"):
        for cik in (9000001, 9000002):
            answer = made.offline(f"sec_facts {words} cik={cik}", "2024-05-31 21:00", "2024-05-31 20:00")
            assert answer.data, words
            assert not [gap for gap in answer.envelope["gaps"] if gap.get("captured") is False]


def test_the_questions_that_it_prints_are_answered(made: Archive) -> None:
    for question in sample.history().questions:
        source, pit = re.findall(r"--source (\S+) --pit (\S+)", question)[0]
        words = question.split(pit)[1]
        answer = made.offline(source + words, AFTER, BEFORE)
        assert pit == "2024-02-15T16:00:00-05:00"
        assert answer.data
    left = made.command("archive sample another.db --json")
    assert [line.startswith("pit_fetch --source") for line in json.loads(left.out)["questions"]] == [True, True]


def test_it_is_sound_and_its_fetch_can_be_replayed(made: Archive) -> None:
    assert made.command("archive verify").out.startswith("sound")
    replayed = json.loads(made.command("archive replay last --json").out)
    assert (replayed["same_today"], replayed["status"]) == (True, 0)
    assert "Acme seen beating estimates" in replayed["answer"]
    log = json.loads(made.command("archive log --json").out)
    assert [(fetch["complete"], fetch["status"]) for fetch in log] == [(True, 0)] * len(log)
    assert {fetch["kind"] for fetch in log} == {"capture", "live"}


def test_neither_settings_nor_keys_nor_a_network_nor_a_cache_take_part(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    (tmp_path / ".env").write_text("SEC_USER_AGENT=not plausible\n")
    variables = {
        "HOME": str(tmp_path / "home"),
        "PIT_FETCH_ARCHIVE": str(tmp_path / "mine.db"),
        "PIT_FETCH_SEC_DATA_URL": "http://x",
    }
    (tmp_path / "home").mkdir()
    assert archive.command("archive sample a.db", env=variables).code == 0
    assert archive.asked == []
    assert {path.name for path in tmp_path.iterdir()} == {".env", "a.db", "home"}
    assert list((tmp_path / "home").iterdir()) == []


def test_what_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = Archive(tmp_path)
    left = archive.command("archive sample nowhere/a.db")
    assert (left.code, left.err) == (2, f"pit_fetch: {tmp_path}/nowhere/a.db: its folder does not exist\n")

    def fail(self: object, request: HttpRequest) -> HttpReply:
        raise KeyboardInterrupt

    monkeypatch.setattr(sample._Replies, "send", fail)
    assert archive.command("archive sample a.db").code == 130
    assert list(tmp_path.iterdir()) == []


def test_it_is_small_and_names_no_real_company() -> None:
    files = [path for path in sample.FOLDER.iterdir() if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 80_000
    listed = [json.loads(path.read_text()) for path in files if path.name.endswith("submissions.json")]
    assert {(company["name"], company["cik"]) for company in listed} == {
        ("Acme Corp.", "0009000001"),
        ("Bolt Inc.", "0009000002"),
    }


@pytest.mark.parametrize("company", ["acme", "bolt"])
def test_the_figures_add_up_and_every_filing_is_listed(company: str) -> None:
    facts = json.loads((sample.FOLDER / f"{company}-companyfacts.json").read_text())
    recent = json.loads((sample.FOLDER / f"{company}-submissions.json").read_text())["filings"]["recent"]
    listed = dict(zip(recent["accessionNumber"], zip(recent["form"], recent["filingDate"], strict=True), strict=True))
    filed: dict[tuple[str, str | None, str], dict[str, float]] = defaultdict(dict)
    for concept, described in facts["facts"]["us-gaap"].items():
        for row in (row for rows in described["units"].values() for row in rows):
            assert listed[row["accn"]] == (row["form"], row["filed"])
            filed[row["accn"], row.get("start"), row["end"]][concept] = row["val"]
    for figures in filed.values():
        if "Assets" in figures:
            assert figures["Assets"] == figures["Liabilities"] + figures["StockholdersEquity"]
        else:
            shares = figures["WeightedAverageNumberOfDilutedSharesOutstanding"]
            assert figures["EarningsPerShareDiluted"] == pytest.approx(figures["NetIncomeLoss"] / shares, abs=0.0051)
            assert figures["OperatingIncomeLoss"] >= figures["NetIncomeLoss"] + figures["IncomeTaxExpenseBenefit"]
