"""Reading what a source sends: one spoilt row costs itself, and nothing else."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pit_fetch.errors import UpstreamError
from pit_fetch.wire import MAX_DEPTH, lenient_json
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
    "an escape that JSON does not have": b'{"id": 2, "x": "\\x41 ]}"}',
    "an escape that breaks off": b'{"id": 2, "x": "\\u12"}',
    "a value that is missing": b'{"id": 2, "x": , "y": [1 2]}',
    "a word that is no value": b'{"id": 2, "x": None}',
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


def test_a_control_character_in_a_text_stays():
    assert lenient_json(b'[{"a": "one\ntwo\x00"}]', 1) == [{"a": "one\ntwo\x00"}]


def test_brackets_in_texts_are_no_levels():
    deep = b"[" * 60_000 + b"]" * 60_000
    row = b'{"t": "]]}}\\"]"}'
    assert lenient_json(b"[%s, %s, %s]" % (row, deep, row), 1) == [{"t": ']]}}"]'}, None, {"t": ']]}}"]'}]


@pytest.mark.parametrize("body", [b"", b"[", b"{]", b"<html>", b"[1] x", b"[" * 60_000, b'{"a": 1}}'])
def test_a_broken_document_is_an_error(body):
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


@pytest.mark.parametrize("scalar", [b"undefined", b"nan", b"True", b"01", b"-", b"'q'", b'"\\x"', b"two words", b"NaN"])
def test_a_scalar_that_cannot_be_read_is_a_row_that_is_left_out(scalar):
    assert lenient_json(b"[%s, %s, %s]" % (ROW, scalar, ROW), 1) == [json.loads(ROW), None, json.loads(ROW)]
    series = b'{"bars": {"1": %s, "2": %s, "3": %s}}' % (ROW, scalar, ROW)
    assert lenient_json(series, 2) == {"bars": {"1": json.loads(ROW), "2": None, "3": json.loads(ROW)}}


@pytest.mark.parametrize("scalar", [b"undefined", b"nan", b"01", b"'q'", b"NaN", b"9" * 5_000])
def test_a_value_less_deep_than_the_rows_fails_alone_too(scalar):
    """A document may hold rows at several depths: what cannot be read in one must not cost those of another."""
    body = b'{"note": %s, "a": [{"x": %s, "y": 1}, %s], "b": {"rows": [{"z": [%s]}]}}' % (scalar, scalar, scalar, ROW)
    a, b = [{"x": None, "y": 1}, None], {"rows": [{"z": [json.loads(ROW)]}]}
    assert lenient_json(body, 5) == {"note": None, "a": a, "b": b}


@pytest.mark.parametrize("junk", [b"", b"x y", b"5: 6", b'"a" 1', b"1 /* no */", b'null} x, {"z": null'])
def test_rows_at_two_depths_cost_each_other_nothing(junk):
    """Rows that are alone, and rows in a list of their own: what is invalid in one of either costs no other."""
    body = b'{"found": [%s, {"x": %s, "y": 1}, [%s, {"x": %s}], %s]}' % (ROW, junk, ROW, junk, ROW)
    found = lenient_json(body, 3, least=2)["found"]
    assert [one for one in found if one == json.loads(ROW)] == [json.loads(ROW)] * 2
    assert any(isinstance(one, list) and one[0] == json.loads(ROW) for one in found)
    for broken in (body[:-1], body.replace(b"]}", b"}}", 1), body.replace(b'"found": [', b'"found": x ['), body + b"]"):
        with pytest.raises(UpstreamError, match="not valid JSON"):
            lenient_json(broken, 3, least=2)


@pytest.mark.parametrize(
    "late",
    [
        b'{"id": 9, "t": "The 5" disk"}',
        b'{"id": 9, "t": "5" disk"}, %s, {"id": 8, "t": "7" disk"}' % ROW,
        b'{"id": 9, "x": [1, 2}, %s, {"id": 8, "x": 1]}' % ROW,
        b'{"id": 9]',
    ],
)
def test_where_nobody_can_say_where_a_row_ends_the_document_is_broken(late):
    for around in (b"[%s, %s]", b"[%s, %s]"):
        with pytest.raises(UpstreamError, match="not valid JSON"):
            lenient_json(around % (late, ROW), 1)
        with pytest.raises(UpstreamError, match="not valid JSON"):
            lenient_json(around % (ROW, late), 1)


@pytest.mark.parametrize("junk", [b"x", b"\xef\xbb\xbf", b"\xc2\xa0", b"1 2", b'"a" "b"', b":", b"null :", b"x y"])
@pytest.mark.parametrize(
    "between", [b"%(row)s %(junk)s, %(row)s", b"%(row)s, %(junk)s %(row)s", b"%(row)s %(junk)s %(row)s"]
)
def test_what_stands_between_rows_costs_none_of_them(junk, between):
    rows = [json.loads(ROW)] * 2
    assert lenient_json(b"[%s]" % (between % {b"row": ROW, b"junk": junk}), 1) == rows
    labelled = b'{"bars": {"1": %s %s, "2": %s %s}}' % (ROW, junk, ROW, junk)
    assert lenient_json(labelled, 2) == {"bars": dict(zip("12", rows, strict=True))}


def test_a_hole_in_an_array_is_nothing():
    assert lenient_json(b"[,%s,,%s,]" % (ROW, ROW), 1) == [json.loads(ROW)] * 2
    assert lenient_json(b'{"bars": {,"1": %s,, }}' % ROW, 2) == {"bars": {"1": json.loads(ROW)}}


def test_a_row_without_a_label_is_left_out():
    body = b'{"bars": {"1": %s, null: %s, %s, "\\x": %s, 5: %s}}' % ((ROW,) * 5)
    assert lenient_json(body, 2) == {"bars": {"1": json.loads(ROW)}}


@pytest.mark.parametrize("spoilt", [b"", b", NaN: 1"])
def test_a_label_that_stands_twice_costs_the_rows_under_it(spoilt):
    body = b'{"bars": {"2": %s, "1": %s, "2": %s%s}}' % (ROW, ROW, ROW, spoilt)
    assert lenient_json(body, 2) == {"bars": {"2": None, "1": json.loads(ROW)}}
