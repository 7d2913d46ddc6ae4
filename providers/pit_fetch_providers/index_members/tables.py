"""Read the table of an index's members in the wikitext of its list. Pure.

>>> source = '''{| class="wikitable" id="constituents"
... ! Symbol
... ! [[Company|Security]] !! CIK
... |-
... |{{NyseSymbol|MMM}}
... |[[3M]]||0000066740
... |}'''
>>> members(source)["MMM"]
Member(symbol='MMM', name='3M', sector='', cik='0000066740')
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

# Of the template of an exchange, the text of a link, or by itself. Once an editor wrote "RVTY (Previously PKI)".
_SYMBOL = re.compile(r"(?:\{\{[^{}|]*\|\s*|\[https?://\S+\s+|)([A-Z]{1,5}(?:[.-][A-Z]{1,2})?)(?![A-Za-z0-9])")
_LINK = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
_NOISE = re.compile(r"<ref[^<>]*/>|<ref[^<>]*>[^<]*</ref>|<!--[^-]*-->|<[^<>]*>|\{\{[^{}]*\}\}")
_ATTRIBUTES = re.compile(r"\s*[a-z]+\s*=\s*\"[^\"|]*\"\s*\|(?!\|)")
_COLUMNS = {"symbol": ("symbol",), "name": ("security", "company"), "sector": ("sector",), "cik": ("cik",)}


class Member(NamedTuple):
    """A row of the table; "" for a column that it does not have. ``cik`` has ten digits."""

    symbol: str
    name: str
    sector: str
    cik: str


def members(source: str) -> Mapping[str, Member]:
    """Return the rows of the first table with a column of symbols, by symbol; none if there is no such table."""
    for table in re.findall(r"^\{\|.*?^\|\}", source, re.MULTILINE | re.DOTALL):
        head, *rows = re.split(r"^\|-.*$", table, flags=re.MULTILINE)
        if not any(line.startswith("!") for line in head.splitlines()) and rows:
            head, *rows = rows
        places = _places([_plain(cell).lower() for cell in _cells(head, "!")])
        if "symbol" in places:
            made = (_member(list(_cells(row, "|")), places) for row in rows)
            return {member.symbol: member for member in made if member is not None}
    return {}


def _places(titles: list[str]) -> dict[str, int]:
    """Return in which column each field stands, by the words of the heads."""
    found = {
        name: [place for place, title in enumerate(titles) if any(word in title for word in words)]
        for name, words in _COLUMNS.items()
    }
    return {name: places[0] for name, places in found.items() if places}


def _cells(row: str, mark: str) -> Iterator[str]:
    for line in row.splitlines():
        if line.startswith(mark) and not line.startswith(("|}", "|+")):
            yield from (_ATTRIBUTES.sub("", cell, count=1).strip() for cell in line[1:].split(mark * 2))


def _plain(cell: str) -> str:
    return " ".join(_NOISE.sub("", _LINK.sub(r"\1", cell)).split())


def _member(cells: list[str], places: Mapping[str, int]) -> Member | None:
    found = {name: cells[place] if place < len(cells) else "" for name, place in places.items()}
    symbol = _SYMBOL.match(found["symbol"])
    digits = re.sub(r"[^0-9]", "", _NOISE.sub("", found.get("cik", "")))
    if symbol is None:
        return None
    named = {name: _plain(found.get(name, "")) for name in ("name", "sector")}
    return Member(symbol[1], **named, cik=digits.zfill(10) if 0 < len(digits) <= 10 else "")
