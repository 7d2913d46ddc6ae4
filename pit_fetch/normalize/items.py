"""A transformer's output: what each item claims, and which of its texts its page holds. Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pit_fetch.errors import InputError, UpstreamError
from pit_fetch.normalize.saved import Saved, plain_address
from pit_fetch.wire import lenient_json

# The names of fields come from here, and not from the model: a name can tell as much as a value.
TEXTS = ("title", "snippet", "text", "author", "publisher", "section")
LISTS = ("quotes",)

# Models write plain quotation marks and hyphens where a page has others.
_PLAIN = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": "-"})


class Item(NamedTuple):
    """What an item says of itself.

    address  the address that it is of, in its plain form
    page     the file of the saved page; ``file``: that of the sitemap, where it is not the same
    kind, name  the place at which ``claim``, the text of its time of publication, appears
    """

    address: str
    page: str
    kind: str
    name: str
    file: str
    claim: str
    payload: Mapping[str, Any]


def read(body: bytes) -> Iterator[Item | None]:
    """The items of ``body``, an array, or an object with the array ``data``; None for one that is not an item.

    Raises InputError if there is no such array.
    """
    is_array = body.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")
    try:
        document = lenient_json(body, 1 if is_array else 2)
    except UpstreamError:
        raise InputError("items_malformed", problem="they are not valid JSON") from None
    rows = document.get("data") if isinstance(document, dict) else document
    if not isinstance(rows, list):
        raise InputError("items_malformed", problem="they are not a JSON array of objects")
    return (_item(row) if isinstance(row, dict) else None for row in rows)


def _item(row: Mapping[str, Any]) -> Item | None:
    given = row.get("evidence")
    evidence: Mapping[str, Any] = given if isinstance(given, dict) else {}
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
        _text(evidence.get("file")) or page,
        _text(row.get("published_at")) or _text(row.get("published_date")),
        payload,
    )


def quoted(payload: Mapping[str, Any], said: Saved) -> dict[str, Any]:
    """What of ``payload`` the page holds word for word, apart from white space and the forms of quotation marks."""
    words = _bare(said.text)

    def holds(text: object) -> bool:
        return isinstance(text, str) and bool(_bare(text)) and _bare(text) in words

    kept = {name: text for name, text in payload.items() if name in TEXTS and holds(text)}
    lists = {name: [one for one in payload[name] if holds(one)] for name in LISTS if name in payload}
    return kept | {name: some for name, some in lists.items() if some}


def _bare(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).translate(_PLAIN).split())


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""
