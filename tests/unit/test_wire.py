"""Reading what a source sends: an unusable row costs itself and nothing else, and text that is not JSON is refused."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pit_fetch.errors import UpstreamError
from pit_fetch.wire import MAX_DEPTH, MAX_VALUES, lenient_json, limited, read_html, strict_json
from tests.examples import examples

GOOD = b'{"id": 1, "deep": [[{"a": "x"}]], "price": 1.5}'
SPOILT = {
    "NaN": b'{"id": 2, "x": NaN}',
    "Infinity, deep inside": b'{"id": 2, "x": [{"y": -Infinity}]}',
    "a float beyond every float": b'{"id": 2, "x": 1e999}',
    "a key twice": b'{"id": 2, "id": 3}',
    "a key twice, deep inside": b'{"id": 2, "x": [{"y": 1, "y": 1}]}',
    "5,000 digits": b'{"id": 2, "x": ' + b"7" * 5_000 + b"}",
    "nested just too deep": b'{"id": 2, "x": ' + b"[" * MAX_DEPTH + b"]" * MAX_DEPTH + b"}",
    "nested without end": b'{"id": 2, "x": ' + b"[" * 60_000 + b'"]"' + b"]" * 60_000 + b"}",
    "objects nested without end": b'{"x":' * 60_000 + b"1" + b"}" * 60_000,
}


@pytest.mark.parametrize("row", SPOILT.values(), ids=SPOILT)
@pytest.mark.parametrize(
    ("around", "rows", "where"),
    [
        (b"[%s]", 1, lambda value: value),
        (b'{"data": [%s]}', 2, lambda value: value["data"]),
        (b'{"hits": {"hits": [%s]}}', 3, lambda value: value["hits"]["hits"]),
    ],
)
def test_a_spoilt_row_is_none_and_its_neighbours_stay(row, around, rows, where):
    body = around % b", ".join([GOOD, row, GOOD])
    assert where(lenient_json(body, rows)) == [json.loads(GOOD), None, json.loads(GOOD)]


def test_a_bad_byte_becomes_a_replacement_character_and_nothing_else():
    assert lenient_json(b'[{"a": "caf\xe9"}, {"b": "\xe2\x82"}]', 1) == [{"a": "caf\ufffd"}, {"b": "\ufffd"}]


NOT_JSON = {
    "an escape that JSON does not have": b'{"id": 2, "x": "\\x41 ]}"}',
    "an escape that breaks off": b'{"id": 2, "x": "\\u12"}',
    "a value that is missing": b'{"id": 2, "x": , "y": 1}',
    "a missing comma": b'{"id": 2, "y": [1 2]}',
    "a word that is no value": b'{"id": 2, "x": None}',
    "a scalar that is none": b"undefined",
    "a quote inside a text": b'{"id": 9, "t": "The 5" disk"}',
    "two such quotes, and a row between them": b'{"id": 9, "t": "5" disk"}, {"id": 1}, {"id": 8, "t": "7" disk"}',
    "brackets that cross": b'{"id": 9, "x": [1, 2}, {"id": 8, "x": 1]}',
    "brackets that cross, deep down": b"[" * 60_000 + b"]" * 59_999 + b"}",
    "nothing": b"",
    "a word beside it": GOOD + b" x",
    "a comment": GOOD + b" /* no */",
    "a label in an array": b'"a": 1',
}


@pytest.mark.parametrize("row", NOT_JSON.values(), ids=NOT_JSON)
def test_a_row_that_is_not_json_makes_its_reply_unreadable(row):
    """Nobody can say where such a row ends, so that no rule could tell it from its neighbours."""
    for body in (b"[%s, %s]" % (GOOD, row), b"[%s, %s]" % (row, GOOD), b'{"data": {"1": %s, "2": %s}}' % (GOOD, row)):
        with pytest.raises(UpstreamError, match="not valid JSON"):
            lenient_json(body, 1)


DEEP = b"[" * 60_000 + b"]" * 60_000
NOT_DOCUMENTS = [b"", b"[", b"{]", b"<html>", b"[1] x", b'{"a": 1}}', b"[1,]", b"[" * 60_000, b"[%s" % DEEP]


@pytest.mark.parametrize("body", [*NOT_DOCUMENTS, DEEP + b'"' + b'\\"' * 200_000], ids=range(len(NOT_DOCUMENTS) + 1))
def test_a_document_that_is_not_json_is_an_error(body):
    with pytest.raises(UpstreamError, match="not valid JSON"):
        lenient_json(body, 1)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@examples(0.4)
@given(st.lists(JSON, max_size=5), st.lists(st.sampled_from(sorted(SPOILT)), max_size=4))
def test_what_json_can_say_is_read_as_it_stands_whatever_lies_beside_it(values, spoilt):
    texts = [*(json.dumps(value).encode() for value in values), *(SPOILT[name] for name in spoilt)]
    assert lenient_json(b"[%s]" % b",".join(texts), 1) == [*values, *[None] * len(spoilt)]


ROW = b'{"id": 1, "t": "a [b] c"}'


def test_a_label_that_stands_twice_costs_the_rows_under_it():
    body = b'{"bars": {"2": %s, "1": %s, "2": %s}}' % ((ROW,) * 3)
    assert lenient_json(body, 2) == {"bars": {"2": None, "1": json.loads(ROW)}}


@pytest.mark.parametrize("value", [b"[],", b"{},", b'"ab",', b"1,", b"[[]],", b"\n", b"<b>"])
def test_a_reply_of_too_many_values_is_refused_before_it_is_read(value: bytes) -> None:
    body = b"[" + value * (MAX_VALUES // sum(map(value.count, b"[{,\n<")) + 1) + b"1]"
    for read in (
        limited,
        strict_json,
        lambda body: lenient_json(body, 1),
        lambda body: read_html(HTMLParser(), body.decode()),
    ):
        with pytest.raises(UpstreamError, match="more than 4 million values"):
            read(body)
