"""``--format table``: the items as lines of text for a person at a terminal, then the gaps worth reading. Pure.

>>> items = [{"id": "a", "title": "Acme rises", "close": 182.5}, {"id": "b", "title": "Bolt falls", "close": 9.25}]
>>> print(render(PlainEnvelope(items)), end="")
title       close  id
----------  -----  --
Acme rises  182.5  a
Bolt falls   9.25  b
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Sequence
from datetime import datetime
from itertools import compress
from typing import Any

from pit_fetch.formats import DEFAULTS, RenderOptions
from pit_fetch.formats.columns import Column, columns, is_empty, split_common
from pit_fetch.formats.explanation import FIELDS, explain
from pit_fetch.gaps import Code
from pit_fetch.pipeline.envelope import PlainEnvelope
from pit_fetch.provider import ENVELOPE_FIELDS
from pit_fetch.support.terminal import escape_unprintable
from pit_fetch.support.wording import counted
from pit_fetch.times import format_for_people

WIDTH = 120  # without a terminal
# Of an envelope in short: what fits on a screen, with the prompt.
_ITEMS, _TABLE_LINES, _GAPS = 8, 13, 5
_SEPARATOR = "  "
# The widths at which a text and a headline are cut. What is left of the line goes to the texts that are cut.
_TEXT, _HEADLINE = 28, 64
# The most characters of a text that all items have.
_COMMON = 160
_INDENT = "    "
_FIRST = ("verdict", "change", "evidence", "title", "headline", "name", "company_names")
_CONSTANT = frozenset({Code.LATE.type.value, Code.UNDATED.template, Code.UNDATED_UNLESS_CLAIMED.template})


def render(envelope: PlainEnvelope, options: RenderOptions = DEFAULTS) -> str:
    """Return lines of at most ``options.width`` characters. Columns that do not fit are named below.

    What all items have in common comes first. An explanation of an item stands below its line, uncut.
    """
    if not envelope.data:
        return "No items.\n" + _gaps(envelope)
    lines, hidden = lines_of(envelope, options.width or WIDTH)
    return "\n".join(lines) + "\n" + not_shown(hidden, "json") + _gaps(envelope)


def not_shown(hidden: Sequence[str], complete: str) -> str:
    """Return the line that names the hidden columns, and a ``complete`` format; "" for none."""
    if not hidden:
        return ""
    return f"\nNot shown: {', '.join(hidden)} (--fields chooses, --format {complete} has everything)\n"


def lines_of(envelope: PlainEnvelope, width: int, leading: Sequence[str] = ()) -> tuple[list[str], list[str]]:
    """Return the items as lines of at most ``width`` characters, and the names of the columns that do not fit.

    The ``leading`` columns stand first. They say what was asked for, and a row with nothing else has no item.
    """
    if not envelope.data:
        return [], []
    typed = [column for column in columns(envelope.data, envelope.provenance.kinds) if column.name not in FIELDS]
    common, others = _split_common(typed, leading)
    plotted = envelope.provenance.plotted
    shown, hidden = _fit(_order(others, leading), width, plotted)
    if any(column.right for column in hidden):  # a figure is worth more than the weekday and the zone of New York
        shown, hidden = _fit(_order(others, leading, short=True), width, plotted)
    heads = (column.head.rjust(column.width) if column.right else column.head.ljust(column.width) for column in shown)
    shared = [_describe_common(column) for column in common if column.name != "available_at_source"]
    lines = _wrap(f"All items: {', '.join(shared)}", width) if shared else []
    lines += [_SEPARATOR.join(heads).rstrip(), _SEPARATOR.join("-" * column.width for column in shown)]
    for row, item in enumerate(envelope.data):
        lines.append(_SEPARATOR.join(_pad(column.cells[row], column) for column in shown).rstrip())
        lines += _wrap(escape_unprintable(explain(item)), width, _INDENT)
    return lines, [column.head for column in hidden]


def brief(envelope: PlainEnvelope, width: int) -> str:
    """Return an envelope in short, as an interactive Python shows it: at most 23 lines of ``width`` characters."""
    shown = type(envelope)(envelope.data[:_ITEMS], [], envelope.provenance)
    table, hidden = lines_of(shown, width)
    lines = [f"<Envelope: {counted(len(envelope.data), 'item')}{_question(envelope)}>", *table[:_TABLE_LINES]]
    lines += ["…"] if len(table) > _TABLE_LINES else []
    more = len(envelope.data) - len(shown.data)
    lines += [f"… and {more:,} more in .data"] if more else []
    lines += [f"not shown: {', '.join(hidden)}"] if hidden else []
    lines += [f"{gap['type']}: {escape_unprintable(str(gap['reason']))}" for gap in envelope.gaps[:_GAPS]]
    left = len(envelope.gaps) - _GAPS
    lines += [f"… and {counted(left, 'gap')} more in .gaps"] if left > 0 else []
    return "\n".join(line if len(line) <= width else line[: width - 1] + "…" for line in lines)


def _question(envelope: PlainEnvelope) -> str:
    source, _, pit, *_ = envelope.provenance
    return (f" of {source}" if source else "") + (f" as of {format_for_people(pit)}" if pit else "")


def _split_common(typed: Sequence[Column], leading: Sequence[str]) -> tuple[list[Column], list[Column]]:
    """Return the columns with one value for all items, of whatever was asked, and the others."""
    own = [column for column in typed if column.name not in leading]
    is_item = [not all(map(is_empty, row)) for row in zip(*(column.values for column in own), strict=True)]
    common, _ = split_common([column._replace(values=[*compress(column.values, is_item)]) for column in own])
    names = {column.name for column in common}
    return common, [column for column in typed if column.name not in names]


def _wrap(text: str, width: int, indent: str = "") -> list[str]:
    """Return the lines of a text. A word that is longer than a line is broken."""
    from textwrap import wrap

    return wrap(text, max(width, 20), initial_indent=indent, subsequent_indent=indent or _INDENT)


def _describe_common(column: Column) -> str:
    """Return the name and the value of a column that is the same for all items."""
    text = escape_unprintable(_text(column.values[0], column))
    return f"{column.name} {text if len(text) <= _COMMON else text[: _COMMON - 1] + '…'}"


class _TextColumn:
    """A column as text.

    width    the width that it gets; ``wanted`` is the one that it would take
    telling  it says what an item is, and is there in any case
    is_name  it does so since the ids are made of it
    """

    telling = is_name = False

    def __init__(self, column: Column, short: bool = False) -> None:
        self.head = column.name
        self.right, self.is_date = column.kind in ("number", "integer"), column.kind == "date"
        self.cells = [escape_unprintable(_text(value, column, short)) for value in column.values]
        self.wanted = max(_length(self.head), *map(_length, self.cells))
        most = self.wanted if self.right or self.is_date or column.kind == "instant" else _TEXT
        self.width = min(self.wanted, _HEADLINE if self.head in _FIRST else max(most, len(self.head)))

    @property
    def is_cut(self) -> bool:
        return self.width < self.wanted


def _order(typed: Sequence[Column], leading: Sequence[str], short: bool = False) -> list[_TextColumn]:
    """Return time first, then what the item is, its short fields, its id, and long texts last; no empty columns.

    A text that the ids are made of stands before them, since it says the same in fewer words.
    """
    by_name = {column.name: _TextColumn(column, short) for column in typed if not all(map(is_empty, column.values))}
    ids = by_name.get("id")
    if ids and any(column.cells == ids.cells for column in by_name.values() if column is not ids):
        del by_name["id"]  # it repeats another column
    first = [name for name in (*leading, "available_at", *_FIRST) if name in by_name]
    fields = [name for name in by_name if name not in (*ENVELOPE_FIELDS, *first)]
    instants = {column.name for column in typed if column.kind == "instant"}
    texts = [name for name in fields if name not in instants and not name.endswith("url")]
    narrow = [name for name in texts if not by_name[name].is_cut]
    names = [name for name in texts if ids and name not in narrow and _are_parts(by_name[name].cells, ids.cells)]
    for name in (*leading, *_FIRST, *names):
        if name in by_name:
            by_name[name].telling = True
    for name in names:
        by_name[name].is_name, by_name[name].width = True, min(by_name[name].wanted, _HEADLINE)
    last = [name for name in (*narrow, *names, "id", "revised_at", "first_seen_at", *fields) if name in by_name]
    return [by_name[name] for name in dict.fromkeys((*first, *last))]


def _are_parts(cells: Sequence[str], ids: Sequence[str]) -> bool:
    """Return whether the ids are made of these cells, among others."""
    return all(cell and cell in id_ for cell, id_ in zip(cells, ids, strict=True))


def _fit(
    candidates: Sequence[_TextColumn], width: int, wanted: Sequence[str]
) -> tuple[list[_TextColumn], list[_TextColumn]]:
    """Return the columns that fit, the texts among them widened to fill the line, and the columns that do not.

    Those that say what an item is go first, with the ``wanted`` ones. Names come after figures and their dates.
    """
    has_figures = any(column.right for column in candidates)
    has_names = any(column.is_name for column in candidates)

    def rank(column: _TextColumn) -> int:
        if (column.telling and not column.is_name) or column.head in wanted:
            return 0
        if not has_names or column.right or (has_figures and column.is_date):
            return 1
        return 2 if column.is_name else 3

    shown, left = [candidates[0]], width - candidates[0].width
    for column in sorted(candidates[1:], key=rank):
        if column.telling:  # however narrow the terminal
            column.width = min(column.width, max(left - len(_SEPARATOR), len(column.head)))
        if column.width + len(_SEPARATOR) <= left or column.telling:
            shown.append(column)
            left -= column.width + len(_SEPARATOR)
    for column in sorted(shown, key=lambda column: not column.telling):
        more = max(min(left, column.wanted - column.width), 0)
        column.width, left = column.width + more, left - more
    return sorted(shown, key=candidates.index), [column for column in candidates if column not in shown]


def _text(value: Any, column: Column, short: bool = False) -> str:
    if value is None:
        return ""
    if column.kind == "instant" and isinstance(value, datetime):
        if short:
            return value.replace(tzinfo=None).isoformat(" ").removesuffix(":00")
        day = f"{value:%a} " if column.name == "available_at" else ""
        return f"{day}{value.replace(tzinfo=None).isoformat(' ')} {value:%Z}"
    if column.kind == "number":
        return f"{value:.{10 if abs(value) < 1e8 else 15}g}"  # amounts in full, quotients rounded
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return ", ".join(value)
    if isinstance(value, str):
        return " ".join(value[: 8 * _HEADLINE].split())  # no more of a body of megabytes than a cell can show
    return str(value) if column.kind in ("integer", "date") else json.dumps(value)


def _pad(text: str, column: _TextColumn) -> str:
    if _length(text) > column.width:
        while text and _length(text) > column.width - 1:
            text = text[: -max(1, (_length(text) - column.width + 1) // 2)]
        text += "…"
    blank = " " * (column.width - _length(text))
    return blank + text if column.right else text + blank


def _length(text: str) -> int:
    if text.isascii():
        return len(text)
    # Some scripts take two columns for a character, and an accent by itself takes none.
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(unicodedata.combining(char) > 0 for char in text)


def _gaps(envelope: PlainEnvelope) -> str:
    # Two gaps are in every answer with a PIT, and state nothing about this one.
    gaps = [gap for gap in envelope.gaps if not {gap["type"], gap["reason"]} & _CONSTANT]
    return "".join(f"\n{gap['type']}: {escape_unprintable(str(gap['reason']))}\n" for gap in gaps)
