"""An item whose texts are longer than an answer may be: delivered in parts that lose no character. Pure.

The texts of an item form one sequence, the shortest first, so that title and address come before a long
body. A part is a stretch of it, and carries everything of the item that is not a text. Each text, joined
across the parts, is whole.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

# A part ends after a space or a line break if there is one among its last characters, else after another sign that no
# word and no stamp holds: the gate would refuse half a stamp.
_LOOK_BACK = 200
_IN_A_STAMP = "-+:."


class ChunkStart(NamedTuple):
    """Where an item goes on: at a character of one of its texts. All shorter texts have been delivered.

    ``behind`` is a digest of what of this text has been delivered; "" if that is not known. If the text is
    another one now, a part of it would be joined to a part of the other.
    """

    field: str
    offset: int
    behind: str = ""


class Chunk(NamedTuple):
    """A part of an item, and where the next one begins; None if it is the last."""

    item: dict[str, Any]
    next: ChunkStart | None = None


def remaining_size(item: Mapping[str, Any], start: ChunkStart | None, kept: Collection[str]) -> int:
    """How many characters of text are left from ``start`` on. The fields ``kept`` belong to every part."""
    texts = _texts(item, start, kept)
    return sum(map(len, texts.values()))


def chunk(item: Mapping[str, Any], start: ChunkStart | None, room: int, kept: Collection[str]) -> Chunk:
    """The part that begins at ``start`` (None: at the beginning) and has at most ``room`` characters of text.

    A place that the item does not have is its beginning: nothing is lost if its texts have changed.
    """
    texts = _texts(item, start, kept)
    pieces: dict[str, str] = {}
    end: ChunkStart | None = None
    for name, text in texts.items():
        pieces[name] = text if len(text) <= room else _ending_well(text[:room])
        if len(pieces[name]) < len(text):
            skipped = len(item[name]) - len(text)
            offset = skipped + len(pieces[name])
            end = ChunkStart(name, offset, _digest(item[name][:offset]))
            if not pieces[name]:
                del pieces[name]
            break
        room -= len(text)
    shown = {
        name: pieces.get(name, value)
        for name, value in item.items()
        if not _is_text(name, value, kept) or name in pieces
    }
    return Chunk(shown, end)


def is_resumable(item: Mapping[str, Any], place: ChunkStart, kept: Collection[str]) -> bool:
    """Whether ``item`` can go on at ``place``: the text up to there is what was delivered."""
    text = item.get(place.field)
    if not _is_text(place.field, text, kept) or not isinstance(text, str) or place.offset > len(text):
        return False
    return not place.behind or place.behind == _digest(text[: place.offset])


def _digest(text: str) -> str:
    from hashlib import sha256

    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _texts(item: Mapping[str, Any], start: ChunkStart | None, kept: Collection[str]) -> dict[str, str]:
    """The texts from ``start`` on, in the order of the sequence."""
    every = {name: value for name, value in item.items() if _is_text(name, value, kept)}
    names = sorted(every, key=lambda name: (len(every[name]), name))
    if start is None or not is_resumable(item, start, kept):
        return {name: every[name] for name in names}
    rest = {name: every[name] for name in names[names.index(start.field) :]}
    return {**rest, start.field: rest[start.field][start.offset :]}


def _is_text(name: str, value: object, kept: Collection[str]) -> bool:
    return isinstance(value, str) and name not in kept


def _ending_well(text: str) -> str:
    last = range(len(text) - 1, max(1, len(text) - _LOOK_BACK) - 1, -1)
    ends = [place for place in last if not (text[place].isalnum() or text[place] in _IN_A_STAMP)]
    end = next((place for place in ends if text[place].isspace()), next(iter(ends), None))
    return text if end is None else text[: end + 1]
