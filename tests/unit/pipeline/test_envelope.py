"""The envelope: its shape, its budget, what is left out of it, and the gate's word on it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pit_fetch.formats import RenderOptions, renderer
from pit_fetch.formats import json as as_json
from pit_fetch.gaps import Code, Gap, gap
from pit_fetch.pipeline.budget import SizedEnvelope, fit_to_budget
from pit_fetch.pipeline.cursor import parse_cursor, position
from pit_fetch.pipeline.envelope import EnvelopeOptions, PlainEnvelope, build, entries, is_quoting, judge
from pit_fetch.provider import ENVELOPE_FIELDS, Record
from pit_fetch.request.options import MIN_MAX_CHARS
from pit_fetch.support.redaction import redactor

PIT = datetime(2024, 2, 15, 21, tzinfo=UTC)
# A table cuts its texts, a page has a frame of its own, and a Parquet file is compressed: see test_formats.py.
FORMS = ("json", "jsonl", "csv")
GAPS = [gap(Code.LATE, pit="Thursday"), gap(Code.UNDATED)]
VIEW = EnvelopeOptions("--source x", pit=PIT)


def record(number: int, **payload: Any) -> Record:
    return Record(f"id-{number:03}", PIT - timedelta(minutes=number), payload)


def fitted(
    records: Sequence[Record],
    gaps: Sequence[Gap] = (),
    budget: int = 0,
    form: str = "json",
    pretty: bool = False,
    view: EnvelopeOptions = VIEW,
) -> SizedEnvelope:
    render = renderer(form)
    shown = entries(records, view)
    return fit_to_budget(shown, gaps, view, lambda envelope: render(envelope, RenderOptions(pretty)), budget)


def item(source: Record, view: EnvelopeOptions = VIEW) -> dict[str, Any]:
    return build([source], [], view).data[0]


def test_the_shape() -> None:
    revised = Record(
        "7", PIT - timedelta(hours=1), {"title": "é", "n": [1, None]}, PIT, available_at_source="edgar_accepted"
    )
    made = build([revised], GAPS[:1], VIEW)
    expected: dict[str, Any] = {
        "data": [
            {
                "available_at": "2024-02-15T15:00:00-05:00",
                "available_at_source": "edgar_accepted",
                "revised_at": "2024-02-15T16:00:00-05:00",
                "id": "7",
                "title": "é",
                "n": [1, None],
            }
        ],
        "gaps": [{"type": "pit_excluded", "reason": GAPS[0].reason, "query": "--source x"}],
    }
    assert made == expected
    assert list(made.data[0]) == list(expected["data"][0])
    text = fitted([revised], GAPS[:1]).text
    assert (json.loads(text), text.isascii(), text[-2:]) == (expected, True, "}\n")


def test_an_envelope_is_a_dict_of_data_and_gaps() -> None:
    made = PlainEnvelope([{"id": "1"}], [{"type": "no_data"}])
    assert isinstance(made, dict)
    assert made == {"data": [{"id": "1"}], "gaps": [{"type": "no_data"}]}
    assert list(made) == ["data", "gaps"]
    assert (made.data is made["data"], made.gaps is made["gaps"]) == (True, True)
    assert json.loads(json.dumps(made)) == made
    assert PlainEnvelope() == {"data": [], "gaps": []}


def test_a_payload_cannot_replace_a_stamp() -> None:
    shown = item(record(1, available_at="2001-01-01T00:00:00Z", available_at_source="x", id="other"))
    assert shown == {
        "available_at": "2024-02-15T15:59:00-05:00",
        "available_at_source": "provider_metadata",
        "id": "id-001",
    }


def test_forbidden_keys_are_left_out_at_any_depth_in_pit_mode_only() -> None:
    source = record(1, daily_return=1, a=[{"b": {"Hourly_Stock": 2, "c": 3}}], t=({"daily_return": 1},))
    fields = {key: value for key, value in item(source).items() if key not in ENVELOPE_FIELDS}
    assert fields == {"a": [{"b": {"c": 3}}], "t": [{}]}
    assert judge(fitted([source], GAPS).text, PIT) is None
    assert item(source, EnvelopeOptions())["daily_return"] == 1


def test_fields_keep_the_stamps() -> None:
    shown = item(record(1, title="t", body="b"), VIEW._replace(fields=("title", "absent")))
    assert set(shown) == {"available_at", "available_at_source", "id", "title"}


def test_an_undated_item_of_open_mode_says_so() -> None:
    assert item(record(1)._replace(available_at=None), EnvelopeOptions())["available_at"] is None


def test_secrets_are_redacted_in_data_and_in_gaps() -> None:
    secrets = ("k-123456789&x", "demo")
    view = VIEW._replace(query="--q demo", clean=redactor(secrets), clean_data=redactor(secrets, 12))
    source = record(1, url="u?key=k-123456789%26x", k=["k-123456789&x"], t="a demo", d={"k-123456789&x": 1})
    made = build([source._replace(id="k-123456789&x")], GAPS[:1], view)
    (shown,) = made.data
    assert (shown["url"], shown["k"], shown["t"]) == ("u?key=[redacted]", ["[redacted]"], "a demo")
    assert (shown["id"], shown["d"]) == ("[redacted]", {"[redacted]": 1})
    assert made.gaps[0]["query"] == "--q [redacted]"
    assert item(record(1, **{"k-123456789&x": 1, "demo": 2}), view).items() >= {"[redacted]": 1, "demo": 2}.items()


@given(
    st.lists(st.integers(1, 900), max_size=30),
    st.integers(MIN_MAX_CHARS, 12_000),
    st.sampled_from(FORMS),
    st.booleans(),
)
def test_a_budget_keeps_the_most_items_that_fit_from_the_front_and_says_how_to_continue(
    sizes: list[int], budget: int, form: str, pretty: bool
) -> None:
    records = [record(number, body="x" * size) for number, size in enumerate(sizes)]
    gaps = [*GAPS, gap(Code.LIMIT, limit=50, cursor="c")]
    made = fitted(records, gaps, budget, form, pretty)
    whole = fitted(records, gaps, 0, form, pretty)
    assert made.text == renderer(form)(made.envelope, RenderOptions(pretty))
    assert len(made.text) <= budget
    assert made.envelope.data == whole.envelope.data[: made.record_count]
    if made.record_count == len(records):
        assert made == whole
        return
    assert len(whole.text) > budget
    # The next one, with the cursor behind it, does not fit any more: with one item alone there is no cut at all.
    cut = [*GAPS, gap(Code.MAX_CHARS, max_chars=budget, cursor=f"id-{made.record_count:03}@2024-02-15T15:00:00-05:00")]
    if made.record_count + 1 < len(records):
        assert len(fitted(records[: made.record_count + 1], cut, 0, form, pretty).text) > budget
    reason = next(gap["reason"] for gap in made.envelope.gaps if gap["type"] == "truncated")
    parsed = parse_cursor(reason.split("--after ")[1])
    assert parsed is not None
    assert parsed.position == position(records[made.record_count - 1])


def test_the_envelope_is_written_a_few_times_and_not_once_for_each_item() -> None:
    written = []

    def write(envelope: PlainEnvelope) -> str:
        written.append(len(envelope.data))
        return as_json.render(envelope)

    shown = entries((record(n, body="x" * 100) for n in range(1_000)), VIEW)
    made = fit_to_budget(shown, GAPS, VIEW, write, MIN_MAX_CHARS)
    assert 10 < made.record_count < 30
    assert len(written) <= 11


def test_an_item_that_is_too_large_alone_is_continued_from_part_to_part() -> None:
    long = record(1, title="t", teaser="y" * 5_000, body="x" * 9_000, tags=["a", "b"], none=None)
    records, start, joined = [long, record(2, title="u")], None, {"title": "", "teaser": "", "body": ""}
    for number in range(1, 9):  # noqa: B007 - how many parts it takes
        made = fitted(records, GAPS, MIN_MAX_CHARS, view=VIEW._replace(start=start))
        item, *others = made.envelope.data
        assert len(made.text) <= MIN_MAX_CHARS
        assert (item["id"], item["tags"], item["none"]) == ("id-001", ["a", "b"], None)
        joined = {name: text + item.get(name, "") for name, text in joined.items()}
        if made.envelope.gaps[-1]["type"] != "truncated":
            break
        resumed = parse_cursor(made.envelope.gaps[-1]["reason"].split("--after ")[1])
        assert resumed is not None
        assert (made.record_count, resumed.position) == (1, position(long))
        start = resumed.within
    assert [other["id"] for other in others] == ["id-002"]
    assert (number, joined) == (5, {"title": "t", "teaser": "y" * 5_000, "body": "x" * 9_000})


def test_what_is_no_text_cannot_be_continued_and_is_left_out() -> None:
    records = [record(1, title="t", numbers=list(range(2_000)), body="x" * 9_000), record(2)]
    made = fitted(records, GAPS, MIN_MAX_CHARS)
    assert (made.record_count, len(made.text) <= MIN_MAX_CHARS) == (1, True)
    assert (made.envelope.data[0]["title"], made.envelope.data[0]["numbers"]) == ("t", None)
    assert len(made.envelope.data[0]["body"]) > 2_000
    assert "(numbers)" in made.envelope.gaps[-1]["reason"]
    assert "--after id-001@2024-02-15T15:59:00-05:00/body/" in made.envelope.gaps[-2]["reason"]
    alone = fitted([record(1, numbers=list(range(2_000)))], GAPS, MIN_MAX_CHARS)
    assert [gap["type"] for gap in alone.envelope.gaps] == ["pit_excluded", "unverifiable", "truncated"]


@pytest.mark.parametrize("form", FORMS)
def test_an_item_that_fits_in_no_way_is_left_out(form: str) -> None:
    made = fitted([record(1)._replace(id="x" * 9_000)], GAPS, MIN_MAX_CHARS, form)
    assert (made.record_count, made.envelope.data) == (0, [])
    assert len(made.text) <= MIN_MAX_CHARS


def test_the_gate_judges_the_json() -> None:
    late = Record("1", PIT + timedelta(microseconds=1), {})
    nested = record(1, note={"available_at": "2024-02-16T00:00:00Z"})
    for refused in (late, nested, record(1)._replace(revised_at=PIT + timedelta(microseconds=1))):
        assert judge(fitted([refused]).text, PIT) == "PIT_VIOLATION_GT_CUTOFF"
        assert judge(fitted([refused]).text, None) is None
    assert judge(fitted([record(1)]).text, PIT) is None


LATE = "2024-02-16T00:00:00Z"


@pytest.mark.parametrize(
    ("changed", "quoting"),
    [
        ({"body": f'{{"available_at": "{LATE}"}}'}, True),
        ({"body": f"\ufeff \n{json.dumps(json.dumps({'Revised_At': LATE}))}"}, True),
        ({"tags": ["x", f'[{{"revised_at": "{LATE}"}}]']}, True),
        ({"body": '{"daily_return": 1}'}, True),
        ({"body": '{"available_at": "2024-02-01T00:00:00Z"}'}, False),
        ({"body": f'note: {{"available_at": "{LATE}"}}'}, False),
        ({"note": {"available_at": LATE}}, False),
    ],
)
def test_what_an_item_quotes_is_not_its_own(changed: dict[str, Any], quoting: bool) -> None:
    assert is_quoting(item(record(1, **changed)), PIT) is quoting
    assert not is_quoting(item(record(1)._replace(revised_at=PIT + timedelta(seconds=1))), PIT)


def test_an_envelope_holds_plain_json_values_alone() -> None:
    made = build([], [gap(Code.LIMIT, limit=1, cursor="x")], EnvelopeOptions())
    assert {type(value) for row in made.gaps for value in row.values()} == {str}
