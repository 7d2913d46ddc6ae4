"""The forms of the output: each says the same envelope, and none says what the gate has not passed."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pit_fetch import formats
from pit_fetch.formats import BINARY, DATA_ONLY, DEFAULTS, NAMES, RenderOptions, renderer
from pit_fetch.gaps import Code
from pit_fetch.pipeline.envelope import PlainEnvelope, Provenance
from pit_fetch.provider import Context, Provider, Query, Record, UpstreamError
from pit_fetch.times import in_new_york
from tests.demo_source import PIT, at_pit, demo, record
from tests.inprocess import Answer

FILE = "answer"

TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
ITEMS = st.lists(st.dictionaries(TEXT, VALUES, max_size=4).map(lambda item: {"id": "1", **item}), max_size=4)
GAPS = st.lists(st.fixed_dictionaries({"type": TEXT, "reason": TEXT, "query": TEXT}), max_size=3)
ENVELOPES = st.builds(PlainEnvelope, ITEMS, GAPS)


def printed(folder: Path, provider: Provider, form: str, *words: str) -> tuple[Answer, bytes]:
    """What leaves the process in a form, and the form's own bytes: a binary one is written to a file."""
    file = folder / FILE
    file.unlink(missing_ok=True)
    left = at_pit(folder, provider, "--format", form, *(("--output", FILE) if form in BINARY else ()), *words)
    return left, file.read_bytes() if file.exists() else left.out.encode()


def from_json(text: str) -> Any:
    return json.loads(text)


def from_jsonl(text: str) -> Any:
    rows = [json.loads(line) for line in text.splitlines()]
    gaps = [row["gap"] for row in rows if list(row) == ["gap"]]
    return {"data": rows[: len(rows) - len(gaps)], "gaps": gaps}


def from_csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


@given(ENVELOPES, st.booleans())
def test_json_reads_back(envelope: PlainEnvelope, pretty: bool) -> None:
    text = renderer("json")(envelope, RenderOptions(pretty))
    assert from_json(text) == envelope
    assert text.isascii()
    assert text.endswith("}\n")
    assert pretty or text.count("\n") == 1


@given(ENVELOPES, st.booleans())
def test_jsonl_reads_back_line_by_line(envelope: PlainEnvelope, pretty: bool) -> None:
    text = renderer("jsonl")(envelope, RenderOptions(pretty))
    assert from_jsonl(text) == envelope
    assert text.isascii()
    assert text.count("\n") == len(envelope.data) + len(envelope.gaps)


@given(ENVELOPES, st.booleans())
def test_csv_reads_back_cell_by_cell(envelope: PlainEnvelope, pretty: bool) -> None:
    rows = from_csv(renderer("csv")(envelope, RenderOptions(pretty)))
    columns = list(dict.fromkeys(name for item in envelope.data for name in item))
    assert len(rows) == len(envelope.data)
    for row, item in zip(rows, envelope.data, strict=True):
        assert list(row) == columns
        for name in columns:
            value = item.get(name)
            if value is None or isinstance(value, str):
                assert row[name] == (value or "")
            else:
                assert json.loads(row[name]) == value


def test_a_csv_without_items_is_empty_and_has_no_place_for_gaps() -> None:
    assert renderer("csv")(PlainEnvelope([], [{"type": "no_data"}]), DEFAULTS) == ""
    assert renderer("csv")(PlainEnvelope([{"id": "1"}], [{"type": "no_data"}]), DEFAULTS) == "id\r\n1\r\n"


@pytest.mark.parametrize("form", NAMES)
def test_what_json_cannot_say_no_form_says_in_another_way(form: str, tmp_path: Path) -> None:
    for value in (float("nan"), float("inf"), {1, 2}, object(), b"x"):
        left, shown = printed(tmp_path, demo([record("a", value=value)]), form)
        assert (left.code, b"a" in shown.split(b",")) == (70, False)


def test_half_of_a_surrogate_pair_does_not_stop_any_form(tmp_path: Path) -> None:
    shown = {form: printed(tmp_path, demo([record("a", t="x\ud800")]), form)[0] for form in NAMES}
    assert {left.code for left in shown.values()} == {0}
    assert shown["json"].data[0]["t"] == "x\ud800"
    assert from_csv(shown["csv"].out)[0]["t"] == "x?"


def test_every_module_of_a_form_is_a_form() -> None:
    folder = Path(formats.__file__).parent
    assert {path.stem for path in folder.glob("*.py")} - {
        "__init__",
        "columns",
        "explanation",
        "frames",
    } == set(NAMES)
    assert set(NAMES) > DATA_ONLY


# The whole program.

ROWS = [record("a", 1, title='é, "x"\n', n=[1]), record("b", 2, title="t"), record("late", -1, title="SECRET")]


def test_all_forms_are_the_same_envelope(tmp_path: Path) -> None:
    words = ("--limit", "1")
    whole = at_pit(tmp_path, demo(ROWS), *words)
    lines = at_pit(tmp_path, demo(ROWS), *words, "--format", "jsonl")
    cells = at_pit(tmp_path, demo(ROWS), *words, "--format", "csv")
    assert whole.gap_types == ["pit_excluded", "unverifiable", "truncated"]
    assert from_jsonl(lines.out) == whole.envelope
    assert from_csv(cells.out) == [{**whole.data[0], "n": "[1]"}]
    assert (whole.err, lines.err, {answer.code for answer in (whole, lines, cells)}) == ("", "", {0})


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        *((117_000_000_000.0, "117000000000"), (-4_179_000_000.5, "-4179000000.5"), (12345678901.25, "12345678901.25")),
        *((1 / 3, "0.3333333333"), (0.1 + 0.2, "0.3"), (1e18, "1e+18"), (float("1e-7"), "1e-07")),
    ],
)
def test_a_table_shows_amounts_in_full(value: float, shown: str) -> None:
    data = [{"id": str(number), "value": value + number} for number in (0, 1)]
    text = renderer("table")(PlainEnvelope(data, [], Provenance(kinds={"value": "number"})), DEFAULTS)
    assert shown in text.split()


def test_the_gaps_of_a_csv_are_lines_on_stderr(tmp_path: Path) -> None:
    left = at_pit(tmp_path, demo(ROWS), "--limit", "1", "--format", "csv")
    gaps = at_pit(tmp_path, demo(ROWS), "--limit", "1").envelope["gaps"]
    assert left.err == "".join(f"pit_fetch: {gap['type']}: {gap['reason']}\n" for gap in gaps)
    nothing = at_pit(tmp_path, demo(), "--format", "csv")
    assert (nothing.out, nothing.err.count("\n")) == ("", 3)
    assert "pit_fetch: no_data: Nothing public matched" in nothing.err


@pytest.mark.parametrize("form", NAMES)
def test_withheld_records_change_no_byte_of_any_form(tmp_path: Path, form: str) -> None:
    noise = [record(str(n), -n, revised=n, title="SECRET", **{f"column{n}": n}) for n in range(1, 5)]
    left, shown = printed(tmp_path, demo(ROWS[:2]), form)
    again, shown_again = printed(tmp_path, demo([*noise, *ROWS]), form)
    assert (again.leaves, shown_again) == (left.leaves, shown)


# A table cuts its texts, a page has a frame, and a file is compressed.
BUDGETS = {"table": (4_000, 5_000), "html": (10_000, 15_000), "parquet": (4_000, 5_000)}


@pytest.mark.parametrize("form", NAMES)
def test_a_budget_holds_in_every_form(tmp_path: Path, form: str) -> None:
    rows = [record(f"{n:02}", n, title=sha256(bytes([n])).hexdigest(), body="x" * 500) for n in range(120)]
    least, most = BUDGETS.get(form, (8_000, 9_000))
    left, shown = printed(tmp_path, demo(rows), form, "--max-chars", str(most))
    assert least < len(shown) <= most
    assert "--after " in (left.err if form in DATA_ONLY else left.out)


@pytest.mark.parametrize("form", NAMES)
def test_instants_at_the_calendar_s_ends_are_shown(form: str) -> None:
    """A source's stamp, or a PIT, may be anywhere, and must not cost the other items anything."""
    ends = [
        datetime(1, 1, 1, tzinfo=UTC),
        datetime(1883, 11, 18, 17, tzinfo=UTC),
        PIT,
        datetime.max.replace(tzinfo=UTC),
    ]
    for pit in ends:
        for count in (1, 2, 4):
            items = [
                {
                    "available_at": in_new_york(end),
                    "available_at_source": "x",
                    "id": f"{end:%Y}",
                    "day": end.isoformat(),
                }
                for end in (*ends, *ends)[:count]
            ]
            envelope = PlainEnvelope(items, [], Provenance("demo", "", pit, {"day": "instant"}))
            assert renderer(form)(envelope, DEFAULTS)


QUOTING = '{"available_at": "2030-01-01T00:00:00Z"}'


@pytest.mark.parametrize("form", NAMES)
@pytest.mark.parametrize("words", [(), ("--limit", "2"), ("--max-chars", "10000")])
def test_an_item_that_quotes_a_later_stamp_costs_the_others_nothing(
    tmp_path: Path, form: str, words: Sequence[str]
) -> None:
    """Anybody can publish such a text: it must not empty every answer that it belongs to."""
    texts = {"a": "one", "b": QUOTING, "c": "two"}
    provider = demo([record(name, number, body=text) for number, (name, text) in enumerate(texts.items())])
    left, _ = printed(tmp_path, provider, form, *words)
    assert (left.code, "2030" in left.out + left.err) == (0, False)
    if form == "json":
        assert left.ids == ["a", "c"][: 1 if words == ("--limit", "2") else 2]
        assert "texts quote a stamp" in left.reasons


def test_where_quoting_items_alone_came_before_an_error_nothing_is_said_of_the_rest(tmp_path: Path) -> None:
    def broken(query: Query, context: Context) -> Iterator[Record]:
        yield record("b", 1, body=QUOTING)
        raise UpstreamError(Code.MALFORMED, problem="it is spoilt")

    left, _ = printed(tmp_path, demo(broken), "json")
    assert (left.code, left.ids, "no_data" in left.gap_types) == (5, [], False)


@pytest.mark.parametrize("form", NAMES)
def test_a_refused_request_is_an_empty_envelope_in_json(tmp_path: Path, form: str) -> None:
    left = at_pit(tmp_path, demo(ROWS), "--format", form, "--limit", "0")
    assert (left.code, left.data, left.gap_types, left.err.count("\n")) == (2, [], ["config"], 1)


def test_a_spreadsheet_runs_nothing_of_a_safe_csv(tmp_path: Path) -> None:
    texts = ["=1+1", "+1-800", "-cmd", "@SUM(A1)", "\t=1", "-0.5", "+1e3", "-", "a=b", ""]
    rows = [record(f"{place}", place, title=text) for place, text in enumerate(texts)]
    shown = [row["title"] for row in csv.DictReader(io.StringIO(at_pit(tmp_path, demo(rows), "--csv-safe").out))]
    assert shown == ["'=1+1", "'+1-800", "'-cmd", "'@SUM(A1)", "'\t=1", "-0.5", "+1e3", "'-", "a=b", ""]
    plain = csv.DictReader(io.StringIO(at_pit(tmp_path, demo(rows), "--format", "csv").out))
    assert [row["title"] for row in plain] == texts
