"""The table of a page: which columns are in an item's line, which texts below it, and how much of them fits. Pure.

Where many items have many columns, the links give way first, then the longest texts are cut, and the columns that come
last are hidden, and named.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from pit_fetch.formats.columns import Column, is_empty, split_common
from pit_fetch.formats.explanation import FIELDS, explain
from pit_fetch.formats.html_page.marks import GREY
from pit_fetch.formats.html_page.markup import cut, escape, strip_markup
from pit_fetch.pipeline.claims import CLAIMED
from pit_fetch.pipeline.envelope import EVIDENCE, PlainEnvelope
from pit_fetch.provider import ENVELOPE_FIELDS

_LONG = 120  # a text column with a longer text goes below the line
_SHORT = 80  # the most characters of a text in the line
_WIDTHS = (160, 120, 80, 60, 40, 24, 12)  # the same for a headline and a reason, which are never left out

# The bytes of a row and of a link besides their texts; the number of cells by which a column's size is estimated.
_ROW_COST, _LINK_COST, _SAMPLE = 14, 16, 50

_HEADLINES = ("title", "headline", "name")
_LINKS = ("url", "link", "html_url")


class Layout(NamedTuple):
    """The columns in the line of an item, those below it, those that all items share, and the names of the rest."""

    line: Sequence[Column]
    below: Sequence[Column]
    common: Sequence[Column]
    hidden: Sequence[str]
    headline: str = ""
    link: str = ""
    width: int = _WIDTHS[0]


def size(text: str) -> int:
    """Return the bytes that a text takes."""
    return len(text.encode("utf-8", "replace"))


def layout_of(envelope: PlainEnvelope, typed: Sequence[Column], room: float) -> Layout:
    """Return a layout whose line takes about ``room`` bytes: time, verdicts, the headline, the rest, the id."""
    sentences = [explain(item) for item in envelope.data[:_SAMPLE]]
    common, others = split_common([column for column in typed if column.name not in FIELDS])
    by_name = {column.name: column for column in others if column.name == "id" or not all(map(is_empty, column.values))}
    headline = next((name for name in _HEADLINES if name in by_name), "")
    link = next((name for name in _LINKS if name in by_name), "")
    short = (*ENVELOPE_FIELDS, headline, link)
    below = [column for column in by_name.values() if column.name not in short and _longest(column) > _LONG]
    first = [name for name in ("verdict", "change", EVIDENCE, headline) if name in by_name]
    hidden = [name for name in by_name if _repeats_a_stamp(name, by_name)]
    rest = [
        name for name in by_name if name not in (*ENVELOPE_FIELDS, link, *first, *hidden) and by_name[name] not in below
    ]
    last = [name for name in ("revised_at", "first_seen_at", "id") if name in by_name]
    if not headline and link:  # the address is then all that tells items apart
        rest.append(link)
    time = ["available_at"] if "available_at" in by_name else []
    candidates = {name: by_name[name] for name in (*time, *first, *rest, *last)}
    # Where many items have many columns, the links give way first, then the longest texts are cut, and the columns that
    # come last are hidden.
    always = [name for name in ("available_at", *first, "id") if name in candidates]
    address = _cost([str(value) for value in by_name[link].values[:_SAMPLE]]) + _LINK_COST if headline and link else 0
    attempts = [(width, address) for width in _WIDTHS if width >= _SHORT] + [(width, 0) for width in _WIDTHS]
    for width, linked in attempts:
        costs = {
            name: _cost(_cells(column._replace(values=column.values[:_SAMPLE]), width))
            for name, column in candidates.items()
        }
        said = _cost([escape(cut(sentence, width)) for sentence in sentences]) + _ROW_COST if any(sentences) else 0
        left = room - _ROW_COST - linked - said - sum(costs[name] for name in always)
        if left >= 0:
            break
    line = list[Column]()
    for name, column in candidates.items():
        if name in always:
            line.append(column)
        elif left >= costs[name]:
            left -= costs[name]
            line.append(column)
        else:
            hidden.append(name)
    return Layout(line, below, common, hidden, headline, link if linked else "", width)


def _repeats_a_stamp(name: str, by_name: Mapping[str, Column]) -> bool:
    if by_name[name].kind != "instant" or name in ENVELOPE_FIELDS:
        return False
    return any(stamp in by_name and by_name[stamp].values == by_name[name].values for stamp in ENVELOPE_FIELDS)


def _cost(texts: Sequence[str]) -> float:
    return 8 + sum(map(size, texts)) / max(1, len(texts))


def _longest(column: Column) -> int:
    if column.kind in ("number", "integer", "flag", "instant", "date"):
        return 0
    return max(len(value if isinstance(value, str) else json.dumps(value)) for value in column.values)


def table_of(envelope: PlainEnvelope, layout: Layout, count: int, room: int) -> str:
    if not count:
        return '<p id="items" class="empty">No items.</p>'
    heads = "".join(
        f"<th{' class=n' if column.kind in ('number', 'integer') else ''}>{escape(column.name.replace('_', ' '))}"
        for column in layout.line
    )
    cells = list(zip(*(_cells(column, layout.width) for column in layout.line), strict=True))
    classes = list(map(_class, layout.line))
    rows = [_row(envelope.data[index], index, cells[index], classes, layout) for index in range(count)]
    texts = [_below(index, layout) for index in range(count)]
    sentences = [escape(explain(envelope.data[index])) for index in range(count)]
    if sum(map(size, sentences)) > (room - sum(map(size, rows))) * 3 // 4:
        sentences = [escape(cut(explain(envelope.data[index]), layout.width)) for index in range(count)]
    frame = len(_details([("", "")], 1, ""))
    overhead = sum(frame + sum(len(name) + 20 for name, _ in below) for below in texts if below)
    overhead += sum(len(sentence) + frame for sentence in sentences if sentence)
    limit = _limit([len(text) for below in texts for _, text in below], room - sum(map(len, rows)) - overhead)
    lines = "".join(
        f"{row}{_details(below, limit, sentence)}\n"
        for row, below, sentence in zip(rows, texts, sentences, strict=True)
    )
    hidden = f'<p class="hidden">Not shown here: {escape(", ".join(layout.hidden))}.</p>' if layout.hidden else ""
    return (
        f'{_common(layout)}<div class="items" id="items" tabindex="0" role="region" aria-label="Items"><table><thead>'
        f"<tr>{heads}<tbody>\n{lines}</table></div>{hidden}"
    )


def _common(layout: Layout) -> str:
    """Return what all items have in common, once."""
    shown = [
        f"{escape(column.name.replace('_', ' '))} <b>{_cells(column, _WIDTHS[0])[0]}</b>"
        for column in layout.common
        if column.name != "available_at_source"  # which the header names
    ]
    return f'<p class="common">All shown: {", ".join(shown)}</p>' if shown else ""


def _row(item: Mapping[str, Any], index: int, cells: Sequence[str], classes: Sequence[str], layout: Layout) -> str:
    kind = str(item.get("verdict", item.get("change", "")))
    classes_of_row = (kind, "grey" if kind in GREY else "", CLAIMED if item.get(EVIDENCE) == CLAIMED else "")
    names = escape(" ".join(filter(None, classes_of_row)))
    before = item["before"] if isinstance(item.get("before"), dict) and "change" in item else {}
    row = [f'<tr id=i{index} class="{names}">' if names else f"<tr id=i{index}>"]
    for column, text, class_of_cell in zip(layout.line, cells, classes, strict=True):
        if column.name == layout.headline and layout.link:
            text = _link(text, item.get(layout.link))
        if column.name in ("verdict", "change", EVIDENCE):
            text = f"<em>{text}</em>"
        if column.name in before:  # the value that a change replaced
            old = before[column.name]
            text = f"<s>{'none' if old is None else _cell(old, column._replace(kind='any'), _SHORT)}</s> {text}"
        row.append(f"<td{class_of_cell}>{text}")
    return "".join(row)


def _class(column: Column) -> str:
    """Return the class of a column's cells. Short lists and ids stay in one line, so that the rows do not grow."""
    if column.name == "id":
        return " class=id" if _longest(column) <= _ID_IN_ONE_LINE else ' class="id long"'
    if column.kind == "list" and _longest(column) <= _LIST_IN_ONE_LINE:
        return " class=t"
    return _CLASSES.get(column.kind, "")


_ID_IN_ONE_LINE, _LIST_IN_ONE_LINE = 60, 24
_CLASSES = {"number": " class=n", "integer": " class=n", "instant": " class=t", "date": " class=t"}


def _cells(column: Column, width: int) -> list[str]:
    """Return the HTML of a column's cells, numbers with equal decimals, headlines and reasons of at most ``width``."""
    if column.kind == "number":
        texts = (f"{value:.10g}" for value in column.values if value is not None)
        decimals = max((len(text.partition(".")[2]) for text in texts if "e" not in text), default=0)
        return ["" if value is None else _figure_of(value, min(decimals, 6)) for value in column.values]
    return ["" if value is None else _cell(value, column, width) for value in column.values]


def _figure_of(value: float, decimals: int) -> str:
    return f"{value:,.{decimals}f}" if 1e-4 <= abs(value) < 1e15 or not value else f"{value:.10g}"


def _cell(value: Any, column: Column, width: int) -> str:
    if column.kind == "instant" and isinstance(value, datetime):
        text = value.replace(tzinfo=None).isoformat(" ")
        return f"<i>{value:%a}</i> {text}" if column.name == "available_at" else text
    if column.kind == "integer":
        return f"{value:,}"
    if isinstance(value, list) and all(isinstance(part, (str, int, float)) for part in value):
        value = ", ".join(map(str, value))
    text = strip_markup(value if isinstance(value, str) else str(value) if column.kind == "date" else json.dumps(value))
    return escape(cut(text, width if column.name in _HEADLINES else _SHORT))


def _link(text: str, address: object) -> str:
    if isinstance(address, str) and re.fullmatch(r"https?://[^\s\"'<>\x00-\x1f]{1,400}", address):
        return f'<a href="{escape(address)}">{text}</a>'
    return text


def _below(index: int, layout: Layout) -> list[tuple[str, str]]:
    """Return the names and texts of an item that are too long for its line, uncut and not escaped."""
    fields = ((column.name, column.values[index]) for column in layout.below)
    return [(name, value if isinstance(value, str) else json.dumps(value)) for name, value in fields if value]


def _details(texts: Sequence[tuple[str, str]], limit: int, sentence: str) -> str:
    """Return the row below an item's line: its explanation, and its long texts, folded."""
    shown = "".join(f"<p><b>{escape(name)}</b> {_cut_text(text, limit)}" for name, text in texts if limit)
    folded = f"<details><summary>more</summary>{shown}</details>" if shown else ""
    return f"<tr class=more><td colspan=99>{sentence} {folded}" if sentence or folded else ""


def _limit(sizes: Sequence[int], room: int) -> int:
    """Return how much of each text fits, if the short ones are shown whole; 0 if that is too little to be of use."""
    ordered = sorted(sizes)
    for index, size in enumerate(ordered):
        share = room // (len(ordered) - index)
        if size > share:
            return share if share >= 40 else 0  # less than half a line says nothing
        room -= size
    return ordered[-1] if ordered else 0


def _cut_text(text: str, limit: int) -> str:
    """Return the beginning of a text without its markup, escaped, in at most ``limit`` bytes."""
    shown = escape(strip_markup(text[: 2 * limit + 200])).encode()
    if len(shown) <= limit and len(text) <= 2 * limit + 200:
        return shown.decode()
    return re.sub(r"&[#a-z0-9]*$", "", shown[: max(limit - 3, 0)].decode("utf-8", "ignore")).rstrip() + "…"
