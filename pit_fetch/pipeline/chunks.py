"""Chunks of an item whose texts are longer than an answer may be. No character is lost. Pure.

The texts of an item form one sequence, the shortest first, so that title and address come before a long body. A chunk
is a stretch of that sequence, together with every field that is not a text. Each text, joined across the chunks, is
whole.

>>> item = {"id": "a", "body": "one two three", "score": 5}
>>> first = chunk(item, None, 9, ("id",))
>>> first.item
{'id': 'a', 'body': 'one two ', 'score': 5}
>>> first.next
ChunkStart(field='body', offset=8, checksum='a485b9ea')
>>> chunk(item, first.next, 9, ("id",))
Chunk(item={'id': 'a', 'body': 'three', 'score': 5}, next=None)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

# A chunk ends after a space or a line break if there is one among its last characters, else after another character
# that is no part of a word, a number or a stamp.
_LOOK_BACK = 200
_IN_A_STAMP = "-+:."
# What may surround a JSON document.
_BLANKS = "\ufeff \t\r\n"

IsRefused = Callable[[str], bool]


class ChunkStart(NamedTuple):
    """Where an item continues: at a character of one of its texts. All shorter texts have been delivered.

    checksum  a digest of what has been delivered of this text; "" if that is not known. A text that has changed since
              must not be joined to the chunks of the old one
    """

    field: str
    offset: int
    checksum: str = ""


class Chunk(NamedTuple):
    """A part of an item, and where the next one begins; None if it is the last."""

    item: dict[str, Any]
    next: ChunkStart | None = None


def remaining_size(item: Mapping[str, Any], start: ChunkStart | None, fixed_fields: Collection[str]) -> int:
    """Return the number of characters of text from ``start`` on. Every chunk carries the ``fixed_fields``."""
    return sum(map(len, _texts(item, start, fixed_fields).values()))


def chunk(
    item: Mapping[str, Any],
    start: ChunkStart | None,
    room: int,
    fixed_fields: Collection[str],
    is_refused: IsRefused = lambda text: False,
) -> Chunk:
    """Return the chunk that begins at ``start`` (None: at the beginning) and has at most ``room`` characters of text.

    An item that cannot be resumed at ``start`` begins anew: nothing is lost if its texts have changed. A piece of a
    text of which ``is_refused`` is true ends one character earlier.
    """
    texts = _texts(item, start, fixed_fields)
    pieces: dict[str, str] = {}
    end: ChunkStart | None = None
    for name, text in texts.items():
        pieces[name] = _piece(text, room, is_refused)
        if len(pieces[name]) < len(text):
            skipped = len(item[name]) - len(text)
            offset = skipped + len(pieces[name])
            end = ChunkStart(name, offset, _checksum(item[name][:offset]))
            if not pieces[name]:
                del pieces[name]
            break
        room -= len(text)
    fields = {
        name: pieces.get(name, value)
        for name, value in item.items()
        if not _is_text(name, value, fixed_fields) or name in pieces
    }
    return Chunk(fields, end)


def is_resumable(item: Mapping[str, Any], start: ChunkStart, fixed_fields: Collection[str]) -> bool:
    """Return whether ``item`` can be resumed at ``start``: its text up to there has not changed since."""
    text = item.get(start.field)
    if not _is_text(start.field, text, fixed_fields) or not isinstance(text, str) or start.offset > len(text):
        return False
    return not start.checksum or start.checksum == _checksum(text[: start.offset])


def _checksum(text: str) -> str:
    from hashlib import sha256

    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _texts(item: Mapping[str, Any], start: ChunkStart | None, fixed_fields: Collection[str]) -> dict[str, str]:
    """Return the texts from ``start`` on, in the order of the sequence."""
    texts = {name: value for name, value in item.items() if _is_text(name, value, fixed_fields)}
    names = sorted(texts, key=lambda name: (len(texts[name]), name))
    if start is None or not is_resumable(item, start, fixed_fields):
        return {name: texts[name] for name in names}
    rest = {name: texts[name] for name in names[names.index(start.field) :]}
    return {**rest, start.field: rest[start.field][start.offset :]}


def _is_text(name: str, value: object, fixed_fields: Collection[str]) -> bool:
    return isinstance(value, str) and name not in fixed_fields


def _piece(text: str, room: int, is_refused: IsRefused) -> str:
    """Return the beginning of ``text``, or all of it, in at most ``room`` characters."""
    piece = text if len(text) <= room else _cut_between_words(text[:room])
    # A stretch of a text can be a JSON document although the text is none. Without its last bracket it is none, either.
    return piece.rstrip(_BLANKS)[:-1] if is_refused(piece) else piece


def _cut_between_words(text: str) -> str:
    last = range(len(text) - 1, max(1, len(text) - _LOOK_BACK) - 1, -1)
    ends = [index for index in last if not (text[index].isalnum() or text[index] in _IN_A_STAMP)]
    end = next((index for index in ends if text[index].isspace()), next(iter(ends), None))
    return text if end is None else text[: end + 1]
