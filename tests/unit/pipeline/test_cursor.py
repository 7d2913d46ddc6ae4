"""Cursors: what a fetch prints to continue from, and what it accepts."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from pit_fetch.pipeline.chunks import ChunkStart
from pit_fetch.pipeline.cursor import format_cursor, parse_cursor, position
from pit_fetch.provider import Record


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "@",
        "@receipt",
        "receipt",
        "@2024-02-15T16:00:00Z",
        "a@yesterday",
        "a@2024-02-15",
        "a@receipt,",
        "a@receipt,soon",
        "a@receipt,2024-03-31,2024-06-30",
        "a@,soon",
        "%ff@",
        "a@/%ff/3",
    ],
)
def test_what_is_not_a_cursor(text: str) -> None:
    assert parse_cursor(text) is None


@pytest.mark.parametrize(
    ("text", "within"),
    [
        ("a@2024-02-15T15:00:00-05:00", None),
        ("a@2024-02-15T15:00:00-05:00/text/12", ChunkStart("text", 12)),
        ("a%2Fb@receipt/a%20b%40/0", ChunkStart("a b@", 0)),
        ("a@receipt/text/7/0123abcd", ChunkStart("text", 7, "0123abcd")),
        ("a@/text/5", ChunkStart("text", 5)),
    ],
)
def test_a_cursor_leads_into_an_item(text: str, within: ChunkStart | None) -> None:
    cursor = parse_cursor(text)
    assert cursor is not None
    assert cursor.within == within


@pytest.mark.parametrize(
    ("period", "text"),
    [
        ("2024-03-31", "a@receipt,2024-03-31"),
        ("2024-03-28 15:55:00", "a@receipt,2024-03-28%2015%3A55%3A00"),
        ("2024-03-28T15:55:00+09:00", "a@receipt,2024-03-28T15%3A55%3A00%2B09%3A00"),
        ("soon", "a@receipt"),
        ("", "a@receipt"),
    ],
)
def test_a_cursor_holds_the_period(period: str, text: str) -> None:
    record = Record("a", datetime(2024, 2, 15, tzinfo=UTC), {}, at_receipt=True, period=period)
    cursor = parse_cursor(text)
    assert (format_cursor(record), cursor and cursor.position) == (text, position(record))


@pytest.mark.parametrize(
    "rest",
    [
        *("/", "/text", "/text/", "//5", "/text/-1", "/text/5/6", "/text/x", "/text/" + "9" * 13),
        *("/text/5/0123abcd/", "/text/5/0123ABCD", "/text/5/0123abcde", "/text/5/"),
    ],
)
def test_half_a_place_is_no_cursor(rest: str) -> None:
    assert parse_cursor(f"a@2024-02-15T15:00:00-05:00{rest}") is None


@pytest.mark.parametrize(
    "id", ["x" * 5_000, "x" * 5_000 + "y", "\U0001f600" * 200, "https://example.com/?q=" + "%" * 300]
)
def test_a_cursor_is_short_however_long_an_id_is(id: str) -> None:  # noqa: A002 - as the envelope calls it
    record = Record(id, datetime(2024, 2, 15, tzinfo=UTC), {})
    cursor = parse_cursor(format_cursor(record))
    assert cursor is not None
    assert cursor.position == position(record)
    assert len(format_cursor(record)) < 900
    assert position(record) != position(record._replace(id=id + "z"))
