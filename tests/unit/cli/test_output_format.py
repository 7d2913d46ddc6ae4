"""Which format an answer has: by --format, by the ending of --output, and never by both where they differ."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pit_fetch.cli.arguments import chosen_format
from pit_fetch.errors import UsageError
from tests.demo_source import at_pit, demo, record

ROWS = [record("a", 1, title="First"), record("b", 2, title="Second")]


@pytest.mark.parametrize(
    ("given", "form"),
    [
        ({}, None),
        ({"format": "CSV"}, "csv"),
        ({"format": "ndjson"}, "jsonl"),
        ({"json": True}, "json"),
        ({"pretty": True}, "json"),
        ({"pretty": True, "format": "csv"}, "csv"),
        ({"csv_safe": True}, "csv"),
        *(
            ({"output": f"a.b/answer.{ending}"}, form)
            for ending, form in {
                "json": "json", "JSON": "json", "jsonl": "jsonl", "ndjson": "jsonl", "csv": "csv", "Csv": "csv",
                "html": "html", "htm": "html", "parquet": "parquet", "pq": "parquet", "part.csv": "csv",
                "csv ": "csv", "csv\u00a0": "csv",
            }.items()
        ),
        *(
            ({"output": name}, None)
            for name in ("answer", "answer.txt", "a.csv/answer", "answer.table", "answer.", "a.log", "a.v2")
        ),
        ({"output": "answer.csv", "format": "csv"}, "csv"),
        ({"output": "answer.csv", "pretty": True}, "csv"),
        ({"output": "answer.txt", "format": "table"}, "table"),
        ({"output": "answer.md", "format": "table"}, "table"),
    ],
)  # fmt: skip
def test_a_format_is_stated_or_implied(given: dict[str, object], form: str | None) -> None:
    assert chosen_format(given) == form


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"output": "x.csv", "format": "json"}, "--output ends with .csv, but --format is json: leave out --format"),
        ({"output": "x.json", "format": "jsonl"}, "--output ends with .json, but --format is jsonl"),
        ({"output": "x.htm", "format": "table"}, "--output ends with .htm, but --format is table"),
        ({"output": "x.html", "json": True}, "--output ends with .html, but --format is json"),
        ({"json": True, "format": "csv"}, "--json and --format csv contradict each other"),
        ({"csv_safe": True, "format": "json"}, "--csv-safe is of CSV: leave it out, or --format json"),
        ({"csv_safe": True, "output": "x.json"}, "--output ends with .json, but --format is csv"),
        ({"output": "x.csv.gz"}, "--output is not compressed: leave .gz out of its name"),
        ({"output": "x.zip", "format": "csv"}, "--output is not compressed"),
        ({"output": "x.xlsx"}, "no format is .xlsx: let --output end with one of .json, .jsonl, .csv, .html, .parquet"),
        ({"output": "x.tsv"}, "no format is .tsv"),
        ({"output": "x.cvs"}, "no format is .cvs: let --output end with .csv, or give --format"),
        ({"output": "x.jsnl"}, "no format is .jsnl: let --output end with .jsonl"),
        ({"output": "x.parqet"}, "no format is .parqet: let --output end with .parquet"),
        ({"output": ""}, "--output is empty"),
    ],
)
def test_a_contradiction_is_refused(given: dict[str, object], reason: str) -> None:
    with pytest.raises(UsageError) as refused:
        chosen_format(given)
    assert reason in str(refused.value)


def test_a_file_holds_what_its_ending_promises(tmp_path: Path) -> None:
    """The settings' format is weaker than the command line, and the ending is part of that."""
    (tmp_path / "pit_fetch.toml").write_text('format = "html"\n')
    for name in ("a.json", "a.csv", "a.parquet", "a.txt"):
        assert at_pit(tmp_path, demo(ROWS), "--output", name).code == 0
    assert [item["id"] for item in json.loads((tmp_path / "a.json").read_text())["data"]] == ["a", "b"]
    assert (tmp_path / "a.csv").read_text().startswith("available_at,")
    assert (tmp_path / "a.parquet").read_bytes().startswith(b"PAR1")
    assert (tmp_path / "a.txt").read_text().startswith("<!doctype html>")


def test_a_contradiction_asks_nothing_and_writes_nothing(tmp_path: Path) -> None:
    provider = demo(lambda query, context: pytest.fail("asked"))
    left = at_pit(tmp_path, provider, "--output", "a.csv", "--format", "json")
    assert (left.code, left.gap_types, (tmp_path / "a.csv").exists()) == (2, ["config"], False)
