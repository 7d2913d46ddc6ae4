"""Who is asked about, and on which days."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from datetime import datetime

import pytest

from pit_fetch.errors import UsageError
from pit_fetch.panels.universe import members, subjects

CSV = "symbol,from,to\nIBM,,\nGE,2018-06-26,\nLEH,,2008-09-15\n"


FILES = {
    "plain.txt": "IBM\n# not this one\nGE\n",
    "index.csv": CSV,
    "bad.csv": "symbol,from\nIBM,soon\n",
    "back.csv": "symbol,from,to\nGE,2020-01-01,2019-01-01\n",
    "other.csv": "name,from\nIBM,\n",
    "blank.csv": "symbol,from\n,2020-01-01\n",
}


def read(path: str) -> str:
    return FILES[path]


def present(over: dict[str, object], instant: str) -> list[Mapping[str, object]]:
    named = {name: members(name, value, read) for name, value in over.items()}
    return [subject.over for subject in subjects(named, [datetime.fromisoformat(instant)])]


def test_a_file_without_days_is_a_list() -> None:
    assert [each["symbol"] for each in present({"symbol": "@plain.txt"}, "2008-09-16T00:00:00Z")] == ["IBM", "GE"]


@pytest.mark.parametrize(
    "text",
    [
        "# the index\nsymbol,from,to\nLEH,,2008-09-15\n",
        "symbol, From, TO\n\n# gone\nLEH, ,2008-09-15\n",
        "name,symbol,to,from\nLehman,LEH,2008-09-15\n",
        "\ufeffto,symbol\n2008-09-15,LEH\n",
    ],
)
def test_the_days_are_read_however_the_file_is_written(text: str) -> None:
    assert [str(member) for member in members("symbol", "@index.csv", lambda path: text)] == ["LEH to 2008-09-15"]


OTHER_NAMES = {
    "from": "start START since begin valid_from Valid-From from_date fromDate date_from start_dt added 'Date added' "
    "mbrstartdt first_date",
    "to": "end END until Till thru to_date toDate valid_to 'Valid until' date_to end_date removed mbrenddt last_day",
}


@pytest.mark.parametrize(
    ("bound", "column"), [(bound, name) for bound, names in OTHER_NAMES.items() for name in shlex.split(names)]
)
def test_days_under_other_names_are_refused(bound: str, column: str) -> None:
    """Read as other columns, they would let a member belong for ever: survivorship by a typo."""
    other = "to" if bound == "from" else "from"
    for head in (f"symbol,{column}", f"{column},symbol,name", f"symbol,{other},{column}"):
        text = f"{head}\nLEH,2008-09-15,\n"
        with pytest.raises(UsageError, match=rf"index\.csv: .* rename {re.escape(column)} to {bound}, or leave"):
            members("symbol", "@index.csv", {"index.csv": text}.__getitem__)


def test_a_value_is_asked_about_once_however_often_it_is_named() -> None:
    text = "symbol,from,to\nGE,2008-01-01,2008-12-31\nGE,2008-06-01,\n"
    named = {
        "symbol": members("symbol", "@index.csv", lambda path: text),
        "forms": members("forms", [["4"], ["4"]], read),
        "cik": members("cik", [320193, "320193"], read),
    }
    (asked,) = subjects(named, [datetime.fromisoformat("2008-09-15T16:00:00Z")])
    assert asked.over == {"symbol": "GE", "forms": ["4"], "cik": 320193}


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("@bad.csv", r"symbol: bad\.csv: soon of IBM is no day"),
        ("@back.csv", r"symbol: back\.csv: GE from 2020-01-01 to 2019-01-01 is no time: swap the days"),
        ("@other.csv", r"symbol: other\.csv: it has no column symbol"),
        ("@blank.csv", "a line has no symbol"),
        ("IBM", "a list of values"),
        ([], "it has no value"),
    ],
)
def test_what_cannot_be_used_is_refused(value: object, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        members("symbol", value, read)
