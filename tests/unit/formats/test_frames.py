"""Envelopes as frames and tables: each column is what its field was declared to mean, and nothing is lost."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, date, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pit_fetch
import pit_fetch.errors
from pit_fetch.answers import Envelope
from pit_fetch.formats.columns import columns
from pit_fetch.pipeline.envelope import Provenance
from pit_fetch.provider import FieldKind
from tests.demo_source import at_pit, demo, record

pytestmark = pytest.mark.skipif(not all(map(find_spec, ("pandas", "pyarrow"))), reason="needs the extra frames")

AT = {"available_at": "2024-02-15T15:59:00-05:00", "available_at_source": "provider_metadata", "id": "1"}
KINDS: dict[str, FieldKind] = {
    "close": "number", "volume": "integer", "date": "date", "seen": "instant", "open": "flag", "tags": "list",
    "about": "object", "title": "text",
}  # fmt: skip
FULL = {
    **AT, "close": "182.5", "volume": "1200", "date": "2024-02-14", "seen": "Wed, 14 Feb 2024 16:00:00 -0500",
    "open": "true", "tags": ["a"], "about": {"x": [1]}, "title": "t", "more": 7,
}  # fmt: skip


def envelope(*items: dict[str, Any], kinds: dict[str, FieldKind] = KINDS) -> Envelope:
    return Envelope(items, [{"type": "no_data", "reason": "r", "query": "q"}], Provenance("demo", "q", None, kinds))


@pytest.mark.parametrize(
    ("kind", "values", "read", "values_read"),
    [
        ("number", ["1.50", "-2e3", 3, None], "number", [1.5, -2000.0, 3.0, None]),
        ("number", ["None", "-", ".", "", "nan"], "number", [None] * 5),
        ("number", ["1.5", "12%"], "any", ["1.5", "12%"]),
        ("number", ["1_000"], "any", ["1_000"]),
        ("number", [True], "any", [True]),
        ("number", ["1e999"], "any", ["1e999"]),
        ("integer", ["1200", 5, "None"], "integer", [1200, 5, None]),
        ("integer", ["1200", "0.5"], "number", [1200.0, 0.5]),
        ("integer", [2**64], "number", [float(2**64)]),
        ("date", ["2024-02-15", "None"], "date", [date(2024, 2, 15), None]),
        ("date", ["2024-02-30"], "any", ["2024-02-30"]),
        ("instant", ["2024-02-15T21:00:00Z"], "instant", [datetime(2024, 2, 15, 21, tzinfo=UTC)]),
        ("instant", ["2024-02-15 16:00:00"], "any", ["2024-02-15 16:00:00"]),
        ("flag", [True, "FALSE"], "flag", [True, False]),
        ("flag", ["yes"], "any", ["yes"]),
        ("text", ["007", None], "text", ["007", None]),
        ("text", [7], "any", [7]),
        ("list", [["a"], []], "list", [["a"], []]),
        (None, [1, 2.5], "number", [1.0, 2.5]),
        (None, ["1", "2"], "text", ["1", "2"]),
        (None, [1, "2"], "any", [1, "2"]),
        (None, [None], "any", [None]),
    ],
)
def test_a_column_is_what_its_field_means_or_stays_as_it_is(
    kind: FieldKind | None, values: list[Any], read: str, values_read: list[Any]
) -> None:
    typed = columns([{**AT, "x": value} for value in values], {} if kind is None else {"x": kind})
    assert (typed[-1].name, typed[-1].kind, typed[-1].values) == ("x", read, values_read)


def test_the_columns_come_in_the_declared_order() -> None:
    names = [column.name for column in columns([{"z": 1, **FULL}], KINDS)]
    assert names == ["available_at", "available_at_source", "id", *KINDS, "z", "more"]


def test_a_frame_is_typed() -> None:
    frame = envelope(FULL, {**AT, "id": "2"}).to_df()
    types = {name: str(dtype) for name, dtype in frame.dtypes.items()}
    assert types == {
        "available_at": "datetime64[us, America/New_York]", "available_at_source": "object", "id": "object",
        "close": "float64", "volume": "Int64", "date": "datetime64[s]", "seen": "datetime64[us, America/New_York]",
        "open": "boolean", "tags": "object", "about": "object", "title": "object", "more": "Int64",
    }  # fmt: skip
    assert frame.loc[0, "about"] == {"x": [1]}
    assert frame.loc[0, "available_at"] == datetime(2024, 2, 15, 20, 59, tzinfo=UTC)
    assert frame.loc[1, ["close", "volume", "date"]].isna().all()
    assert frame.attrs["gaps"][0]["type"] == "no_data"


def test_a_frame_has_the_index_that_is_asked_for() -> None:
    full = envelope(FULL)
    assert full.to_df(index="available_at").index.name == "available_at"
    assert full.to_df(index=["title", "date"]).index.names == ["title", "date"]
    with pytest.raises(KeyError):
        full.to_df(index="nothing")
    with pytest.raises(KeyError, match="nothing is not a column: there are available_at, "):
        full.to_df(index=["title", "nothing"])


def test_an_empty_frame_has_the_declared_columns() -> None:
    frame, full = envelope().to_df(), envelope(FULL).to_df()
    assert len(frame) == 0
    assert {name: frame.dtypes[name] for name in ("close", "volume", "date", "available_at")} == {
        name: full.dtypes[name] for name in ("close", "volume", "date", "available_at")
    }


def test_stamps_of_any_year_fit() -> None:
    frame = envelope({**AT, "available_at": "1602-03-20T00:00:00Z"}, {**AT, "available_at": "9998-01-01T00:00:00Z"})
    assert list(frame.to_df()["available_at"].dt.tz_convert("UTC").dt.year) == [1602, 9998]


def test_a_table_is_typed_and_keeps_the_gaps() -> None:
    table = envelope(FULL).to_arrow()
    types = {field.name: str(field.type) for field in table.schema}
    assert types["available_at"] == "timestamp[us, tz=America/New_York]"
    assert (types["close"], types["volume"], types["date"]) == ("double", "int64", "date32[day]")
    assert types["tags"].startswith("list<")
    assert table.to_pylist()[0]["about"] == {"x": [1]}
    assert json.loads(table.schema.metadata[b"pit_fetch"])["gaps"][0]["type"] == "no_data"


@pytest.mark.parametrize(
    "values",
    [
        [{"x": 1}, {"x": "a"}],
        [["a"], [1]],
        ["a", 1],
        [{"x": "\ud800"}, 1],
        [{}, {}],
        [[{}], []],
        [{"x": {}}, {"x": {}}],
    ],
)
def test_values_of_different_shapes_or_of_none_are_json_in_a_table(values: list[Any]) -> None:
    column = envelope(*({**AT, "x": value} for value in values)).to_arrow()["x"].to_pylist()
    assert [json.loads(text) for text in column] == values


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@given(st.lists(_VALUES, max_size=4), st.sampled_from([None, *sorted({*KINDS.values()})]))
def test_any_values_become_a_frame_and_a_table(values: list[Any], kind: FieldKind | None) -> None:
    made = envelope(*({**AT, "x": value} for value in values), kinds={} if kind is None else {"x": kind})
    assert len(made.to_df()) == made.to_arrow().num_rows == len(values)


def test_a_parquet_file_reads_back_as_the_table(tmp_path: Path) -> None:
    from pyarrow import parquet

    rows = [record("a", 1, title="t", n=[1]), record("b", 2, title="u", n=[])]
    for words in ((), ("--archive", str(tmp_path / "a.sqlite"))):
        left = at_pit(tmp_path, demo(rows), "--format", "parquet", "--output", "x.parquet", *words)
        assert (left.code, left.out, left.err.count("\n")) == (0, "", 2)
    table = parquet.read_table(tmp_path / "x.parquet")
    assert table.column("title").to_pylist() == ["t", "u"]
    assert json.loads(table.schema.metadata[b"pit_fetch"])["source"] == "demo"


def test_a_plain_call_imports_neither_package(tmp_path: Path) -> None:
    (tmp_path / "reply.json").write_text("[]")
    code = (
        "import sys, pit_fetch; pit_fetch.fetch('benzinga', pit='2024-02-15T16:00:00Z', input_file='reply.json')\n"
        "print({'pandas', 'pyarrow', 'numpy', 'tomllib', 'requests', 'html'} & set(sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, cwd=tmp_path, env={})
    assert ran.stdout == b"set()\n"


def test_without_the_packages_the_reason_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.delitem(sys.modules, "pit_fetch.formats.parquet", raising=False)
    with pytest.raises(pit_fetch.errors.ConfigError, match="pip install pandas"):
        envelope(FULL).to_df()
    left = at_pit(tmp_path, demo([record("a")]), "--format", "parquet", "--output", "x")
    assert (left.data, left.gap_types) == ([], ["config"])
    assert "pip install pyarrow" in left.err
