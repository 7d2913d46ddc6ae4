"""Read a transformer's output: the claims of each item, and the texts that its page really contains. Pure.

>>> item, none = parse_items(b'[{"url": "https://example.com/a", "title": "Sales rose"}, {"title": "of no page"}]')
>>> item.address, item.payload, none
('https://example.com/a', {'title': 'Sales rose'}, None)
>>> page = SavedPage(texts=("In May, sales rose. Sales rose 4%.",))
>>> keep_quoted({"title": "Sales rose", "snippet": "Sales fell"}, page)
{'title': 'Sales rose'}
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from pit_fetch.errors import InputError, UpstreamError
from pit_fetch.gaps import Code
from pit_fetch.normalize.saved import SavedPage, plain_address
from pit_fetch.wire import lenient_json

# The names of fields come from here, and not from the model: a name can tell as much as a value.
TEXTS = ("title", "snippet", "text", "author", "publisher", "section")
LISTS = ("quotes",)
_SHOWN = ("text", *LISTS)  # What else an item has may stand in a page's labels alone.

# Models write plain quotation marks and hyphens where a page has others.
_PLAIN = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": "-"})

# "4%" is no part of "14%", nor "can" of "can't"; a number is whole with its sign and its digits' marks. Scripts that
# part no words are read letter by letter: Thai to Burmese and Khmer, Chinese, Japanese. A mark is a word.
_LETTER = "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
_WORD = re.compile(rf"{_LETTER}|[+-]?\d+(?:[.,]\d+)*|(?:(?!{_LETTER})\w)+(?:'[tT]\b)?|[^\w\s]")
_EDGE = "\n"
# Marks on one letter, and other signs. Normalizing takes a time that grows with the square of their number.
_SIGNS = re.compile(r"[^\w\s\x00-\x7f]{31,}")
_MOST_MARKS = 30


class Item(NamedTuple):
    """The claims of an item."""

    address: str  # in its plain form
    page: str  # the file of the saved page
    kind: str  # with ``name``, the place at which ``claim`` appears
    name: str
    claim: str  # the text of its time of publication
    payload: Mapping[str, Any]


def parse_items(body: bytes) -> Iterator[Item | None]:
    """Yield the items of ``body``, an array, or an object with the array ``data``; None for one that is not an item.

    Raise InputError if there is no such array.
    """
    is_array = body.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")
    try:
        document = lenient_json(body, 1 if is_array else 2)
    except UpstreamError:
        raise InputError(Code.ITEMS_MALFORMED, problem="they are not valid JSON") from None
    rows = document.get("data") if isinstance(document, dict) else document
    if not isinstance(rows, list):
        raise InputError(Code.ITEMS_MALFORMED, problem="they are not a JSON array of objects")
    return (_item(row) if isinstance(row, dict) else None for row in rows)


def _item(row: Mapping[str, Any]) -> Item | None:
    evidence: Any = row.get("evidence")
    evidence = evidence if isinstance(evidence, dict) else {}
    address = plain_address(row.get("url"))
    if address is None:
        return None
    page = _text(row.get("page"))
    payload = {name: row[name] for name in TEXTS if _text(row.get(name))}
    payload |= {name: row[name] for name in LISTS if isinstance(row.get(name), list)}
    return Item(
        address,
        page,
        _text(evidence.get("kind")),
        _text(evidence.get("name")).casefold(),
        _text(row.get("published_at")) or _text(row.get("published_date")),
        payload,
    )


def keep_quoted(payload: Mapping[str, Any], page: SavedPage) -> dict[str, Any]:
    """Return the texts of ``payload`` that the page contains word for word, apart from space and quotation marks.

    A text and a quote are shown by the page. A label of the page will do for a title, an author and the like.
    """

    def holds(name: str, text: object) -> bool:
        words = _words(text) if isinstance(text, str) else _EDGE
        texts = page.texts if name in _SHOWN else (*page.texts, *page.labels)
        return words != _EDGE and any(words in reading for reading in _readings(texts))

    texts = {name: text for name, text in payload.items() if name in TEXTS and holds(name, text)}
    lists = {name: [entry for entry in payload[name] if holds(name, entry)] for name in LISTS if name in payload}
    return texts | {name: entries for name, entries in lists.items() if entries}


@lru_cache(maxsize=4)  # several items often are of one page
def _readings(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(_words(text) for text in texts)


def _words(text: str) -> str:
    """Return the words of ``text``, each between two edges: a text that begins or ends within a word is not found."""
    words = _WORD.findall(unicodedata.normalize("NFKC", _SIGNS.sub(_parted, text)).translate(_PLAIN))
    return _EDGE.join(("", *words, "")) if words else _EDGE


def _parted(signs: re.Match[str]) -> str:
    """Return the signs, with a joiner after every 30 if marks are among them (Unicode's stream-safe format)."""
    text = signs[0]
    if not any(map(unicodedata.combining, text)):
        return text
    return "\u034f".join(text[start : start + _MOST_MARKS] for start in range(0, len(text), _MOST_MARKS))


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""
