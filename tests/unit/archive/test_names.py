"""A company in an archive, which is asked for by its symbol or by its number."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pit_fetch.testing.server import App
from tests.providers.sec_filings import server as filings
from tests.providers.sec_full_text import server as sec
from tests.unit.archive.scene import Archive

FILINGS = "sec_filings filings"
BY_SYMBOL, BY_NUMBER = f"{FILINGS} symbol=AAPL", f"{FILINGS} cik=320193"
EARLY, LATE = (sec.Filing(sec.number(n), "10-K", f"2026-0{3 + n}-05 10:30:00") for n in (1, 2))
PIT = "2026-06-01 12:00"


def serving(*filed: sec.Filing, tickers: dict[str, int] | None = None) -> App:
    return filings.app([filings.Filed(filing) for filing in filed], tickers=tickers)


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    # No cache: each fetch asks for the list of its day.
    return Archive(tmp_path, env={"SEC_USER_AGENT": sec.USER_AGENT}, app=serving(EARLY, LATE))


def capture(archive: Archive, words: str, day: str) -> None:
    source, operation, who = words.split()
    name, _, value = who.partition("=")
    text = f'[[request]]\nsource = "{source}"\nop = "{operation}"\n{name} = "{value}"\nmay_be_empty = true\n'
    (archive.folder / "list.toml").write_text(text, encoding="utf-8")
    assert archive.command("capture list.toml --again", f"{day} 15:00").code == 0


def test_without_any_list_a_symbol_is_nobody(archive: Archive) -> None:
    capture(archive, BY_NUMBER, "2026-06-10")
    answer = archive.offline(BY_SYMBOL, "2026-06-20 12:00", PIT)
    assert answer.ids == []
    assert [gap["captured"] for gap in answer.envelope["gaps"] if "captured" in gap] == [False]


def test_a_fetch_that_got_no_list_is_of_nobody(archive: Archive) -> None:
    capture(archive, BY_SYMBOL, "2026-05-20")
    served = archive.app
    archive.app = lambda request: sec.MAINTENANCE if "company_tickers" in request.path else served(request)
    expected = archive.fetch(BY_SYMBOL, "2026-06-20 12:00", PIT, archive=False)
    assert archive.fetch(BY_SYMBOL, "2026-06-20 12:00", PIT).text == expected.text
    assert archive.command("archive verify").code == 0
    assert archive.offline(BY_SYMBOL, "2026-06-21 12:00", PIT).ids == [LATE.accession, EARLY.accession]


def test_an_answer_by_symbol_that_repeats_what_is_deleted_of_the_number_is_deleted(archive: Archive) -> None:
    capture(archive, BY_NUMBER, "2026-05-20")
    # What the source no longer serves, the archive adds.
    archive.app = serving(EARLY, replace(LATE, ciks=(sec.TESLA,)))
    answer = archive.fetch(BY_SYMBOL, "2026-06-20 12:00", "2026-05-25 12:00")
    assert LATE.accession in answer.ids
    assert archive.command("archive replay last").out == answer.text
    assert json.loads(archive.command("archive replay last --json").out)["same_today"] is True
    left = archive.command("archive drop --source sec_filings --before 2026-06-01 --json")
    assert (left.code, json.loads(left.out)["later_answers"]) == (0, 1)
    assert archive.command("archive replay last").code == 2
