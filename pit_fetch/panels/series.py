"""The newest items of cells, where one value is wanted of each: those of one series, by the date they are about. Pure.

>>> quarters = [{"end": "2023-09-30", "value": 2}, {"end": "2023-12-31", "value": 3}]
>>> [item["value"] for item in newest_items(quarters, "end", (), 1)]
[3]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pit_fetch.errors import UsageError
from pit_fetch.formats.columns import Column, graded_columns
from pit_fetch.gaps import Code
from pit_fetch.panels.cells import Answer, Grid
from pit_fetch.pipeline.cursor import period_age
from pit_fetch.pipeline.envelope import PlainEnvelope, Provenance


def newest_items(
    items: Sequence[Mapping[str, Any]], period: str, series: Sequence[str], count: int
) -> list[Mapping[str, Any]]:
    """Return the items of the ``count`` newest periods, one of each, or those released last if there is no period.

    Raise UsageError if they are of several series, which it names, or do not show their period.
    """
    named = {name: list(dict.fromkeys(str(item.get(name)) for item in items)) for name in series}
    several = [f"{name} {' and '.join(values[:4])}" for name, values in named.items() if len(values) > 1]
    if several:
        name = next(name for name, values in named.items() if len(values) > 1)
        text = f"there are several series, and one value is wanted: {', '.join(several)}. Choose one by {name}=…"
        raise UsageError(Code.USAGE, text=text)
    if not period:
        return list(items[:count])
    if any(period not in item for item in items):
        raise UsageError(Code.USAGE, text=f"without {period} nothing shows which item is the newest: add it to fields")
    one_each: dict[str, Mapping[str, Any]] = {}
    for item in items:
        one_each.setdefault(str(item[period]), item)  # of several versions the one that was released last
    return [one_each[text] for text in sorted(one_each, key=period_age)][:count]


def newest_columns(
    answers: Sequence[Answer], grid: Grid, fields: Sequence[str], place: int = 0, series: Mapping[str, Any] = {}
) -> list[Column]:
    """Return the ``fields``, typed, of the newest item of each answer, or of the one at another ``place``.

    series  the values of the items that count. Raise UsageError as :func:`newest_items`
    """
    chosen: dict[int, Mapping[str, Any]] = {}  # answers share items
    for answer in answers:
        if id(answer.items) not in chosen:
            items = [item for item in answer.items if all(item.get(name) == value for name, value in series.items())]
            newest = newest_items(items, grid.period, grid.series, place + 1)
            chosen[id(answer.items)] = next(iter(newest[place:]), {})
    rows = [{name: chosen[id(answer.items)].get(name) for name in fields} for answer in answers]
    typed = graded_columns(PlainEnvelope(rows, (), Provenance(kinds=grid.columns)))
    return sorted((column for column in typed if column.name in fields), key=lambda column: fields.index(column.name))
