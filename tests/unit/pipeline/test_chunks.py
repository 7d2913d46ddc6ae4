"""Parts of an item: no character is lost, whatever the texts and however much room there is."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pit_fetch.pipeline.chunks import Chunk, ChunkStart, chunk, remaining_size

KEPT = ("id",)
ITEM: dict[str, Any] = {"id": "x", "body": "one two three", "n": 5, "title": "T", "list": ["a"], "none": None}


def all_parts(item: dict[str, Any], rooms: list[int]) -> list[Chunk]:
    chunks, start = [], None
    for number in range(10_000):
        chunks.append(chunk(item, start, rooms[number % len(rooms)], KEPT))
        start = chunks[-1].next
        if start is None:
            return chunks
    raise AssertionError("it never ends")


VALUES = st.text(max_size=40) | st.integers() | st.none() | st.lists(st.text(max_size=3), max_size=2)
ITEMS = st.dictionaries(st.text(max_size=3), VALUES, max_size=5)


@given(ITEMS, st.lists(st.integers(1, 50), min_size=1, max_size=3))
def test_texts_joined_are_whole_and_everything_else_is_in_each_part(item: dict[str, Any], rooms: list[int]) -> None:
    parts = all_parts({**item, "id": "name"}, rooms)
    for name, value in item.items():
        if name == "id":
            continue
        if isinstance(value, str):
            assert "".join(part.item.get(name, "") for part in parts) == value
        else:
            assert [part.item[name] for part in parts] == [value] * len(parts)
    assert [part.item["id"] for part in parts] == ["name"] * len(parts)
    texts = [[value for name, value in part.item.items() if isinstance(value, str) and name != "id"] for part in parts]
    assert max(len("".join(pieces)) for pieces in texts) <= 50


@given(ITEMS, st.integers(1, 50))
def test_the_size_is_what_is_left(item: dict[str, Any], room: int) -> None:
    start, total = None, remaining_size(item, None, KEPT)
    while total:
        made = chunk(item, start, room, KEPT)
        delivered = total if made.next is None else total - remaining_size(item, made.next, KEPT)
        assert 0 < delivered <= room
        total, start = total - delivered, made.next


def plain(made: Chunk) -> Chunk:
    """A part without the digest in its place."""
    return made._replace(next=made.next and made.next._replace(checksum=""))


def test_short_texts_come_first_and_a_part_ends_after_a_space() -> None:
    rest = {"id": "x", "n": 5, "list": ["a"], "none": None}
    assert plain(chunk(ITEM, None, 6, KEPT)) == Chunk({**rest, "title": "T", "body": "one "}, ChunkStart("body", 4))
    assert plain(chunk(ITEM, ChunkStart("body", 4), 6, KEPT)) == Chunk({**rest, "body": "two "}, ChunkStart("body", 8))
    assert chunk(ITEM, ChunkStart("body", 8), 6, KEPT) == Chunk({**rest, "body": "three"}, None)
    assert plain(chunk(ITEM, None, 1, KEPT)) == Chunk({**rest, "title": "T"}, ChunkStart("body", 0))
    assert chunk(ITEM, None, 99, KEPT) == Chunk(ITEM, None)


@given(st.text("ab,:=", max_size=9), st.integers(1, 400))
def test_a_part_does_not_end_within_a_stamp(before: str, room: int) -> None:
    stamp = "2024-07-15T16:00:00.123456+00:00"
    text = f"{before}available_at:{stamp}," * 20
    ended = chunk({"body": text}, None, room, ()).item.get("body", "")
    cut = [index for index in range(len(text)) if text.startswith(stamp, index) and index < len(ended)]
    assert room < 60 or all(ended[index:].startswith(stamp) for index in cut)


def test_a_place_at_the_end_has_nothing_left_and_one_past_it_is_not_there() -> None:
    assert chunk(ITEM, ChunkStart("body", 13), 99, KEPT).item["body"] == ""
    assert chunk(ITEM, ChunkStart("body", 14), 99, KEPT) == Chunk(ITEM, None)


@given(st.text(max_size=40), st.text(max_size=40), st.integers(1, 20))
def test_a_text_that_has_changed_is_not_joined_to_what_it_was(before: str, now: str, room: int) -> None:
    first = chunk({"id": "x", "body": before}, None, room, KEPT)
    if first.next is not None:
        rest = chunk({"id": "x", "body": now}, first.next, 99, KEPT).item["body"]
        delivered = first.item.get("body", "")
        assert rest == now[len(delivered) :] if now.startswith(delivered) else rest == now
