"""``pit_fetch.as_of_join``: the rows of a frame of one's own, each with what was public at its own instant."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from pit_fetch import answers
from pit_fetch.archive_admin.operators import require_operator
from pit_fetch.engine.real_runtime import real_runtime
from pit_fetch.errors import GapError, UsageError
from pit_fetch.formats.columns import Column
from pit_fetch.formats.frames import to_arrow_array, to_series
from pit_fetch.gaps import Code
from pit_fetch.panels.cells import STATUS, Cell, Grid, ask_consistently, cells_of
from pit_fetch.panels.grid import subjects_grid
from pit_fetch.panels.panel import Panel, find_problem
from pit_fetch.panels.series import newest_columns
from pit_fetch.panels.universe import Subject
from pit_fetch.provider import ENVELOPE_FIELDS
from pit_fetch.request.operations import candidate_operations, series_fields
from pit_fetch.request.values import format_value
from pit_fetch.times import is_aware

AVAILABLE = "available_at"


class Wanted(NamedTuple):
    """What each row is given: these fields of the newest periods' items, under names with a suffix."""

    fields: Sequence[str]
    newest: int
    suffix: str

    def name(self, field: str, place: int) -> str:
        """Return the column of a field of the newest period (``place`` 0), or of one before it."""
        return f"{field}{self.suffix}" if place == 0 else f"{field}{self.suffix}_{place + 1}"


def as_of_join(
    frame: Any, source: str, on: str, by: Mapping[str, str], wanted: Wanted, check: int, options: answers.Options
) -> Any:
    """Return the frame with its new columns: see :func:`pit_fetch.as_of_join`. Raise UsageError, GapError."""
    runtime = real_runtime()
    require_operator(runtime, "as_of_join")
    asked = _questions(frame, on, by)
    grid, series = _grid(source, asked, dict(options), wanted)
    cells = ask_consistently(
        grid, lambda session: [cell for each in grid.subjects for cell in cells_of(each, session.answers, grid.now)]
    )
    if problem := find_problem(cells):
        warnings.warn(problem, stacklevel=3)
    by_question = {(_key(cell.over), cell.pit): cell for cell in cells}
    rows = [by_question[_key(over), pit] for over, pit in asked]
    made = _new_columns(rows, grid, series, wanted)
    taken = [column.name for column in made if column.name in frame.columns]
    if taken:
        raise UsageError(Code.USAGE, text=f"the frame has a column {taken[0]}: give a suffix")
    if check and (differing := Panel(grid).check(check)):
        text = (
            f"{len(differing):,} of {check:,} cells differ from single fetches. The first of them: {differing[0].pit}"
        )
        raise GapError(differing[0].envelope, [text])
    return _with_columns(frame, made)


def _questions(frame: Any, on: str, by: Mapping[str, str]) -> list[tuple[Mapping[str, Any], datetime]]:
    """Return what each row asks. Raise UsageError, which names the row."""
    missing = [name for name in (on, *by) if name not in frame.columns]
    if missing:
        raise UsageError(Code.USAGE, text=f"the frame has no column {missing[0]}")
    asked: list[tuple[Mapping[str, Any], datetime]] = []
    for place, (moment, *subject) in enumerate(zip(*(_values(frame[name]) for name in (on, *by)), strict=True)):
        if not is_aware(moment):
            raise UsageError(
                Code.USAGE, text=f"row {place}: {on} is no instant with a time zone: {moment}. Localize the column"
            )
        if any(value is None or value != value for value in subject):
            raise UsageError(Code.USAGE, text=f"row {place} has no {next(iter(by))}")
        asked.append((dict(zip(by.values(), subject, strict=True)), moment.astimezone(UTC)))
    return asked


def _values(series: Any) -> list[Any]:
    """Return the values of a column of pandas or Polars, instants as plain ones, to the microsecond before them."""
    values = series.to_list()
    plain = (value.to_pydatetime(warn=False) if hasattr(value, "to_pydatetime") else value for value in values)
    return [value if value == value else None for value in plain]


def _key(over: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(map(format_value, over.values()))


def _grid(
    source: str, asked: Sequence[tuple[Mapping[str, Any], datetime]], options: dict[str, Any], wanted: Wanted
) -> tuple[Grid, dict[str, Any]]:
    """Return the grid of the rows' questions, and the values that choose among series."""
    runtime = real_runtime()
    provider = runtime.find(source)
    (operation, *others) = candidate_operations(provider, options)
    known = {option.name for option in provider.all_options}
    names = [name for name in series_fields(operation) if name in options and name not in known and not others]
    series = {name: options.pop(name) for name in names}
    unknown = [name for name in wanted.fields if name not in {*ENVELOPE_FIELDS, *(f.name for f in operation.fields)}]
    if operation.fields and not others and unknown:
        text = f"{unknown[0]} is no field of the items: {', '.join(field.name for field in operation.fields)}"
        raise UsageError(Code.USAGE, text=text)
    if operation.period:
        options["newest"] = wanted.newest
    pits: dict[tuple[str, ...], tuple[Mapping[str, Any], set[datetime]]] = {}
    for over, pit in asked:
        pits.setdefault(_key(over), (over, set()))[1].add(pit)
    subjects = [Subject(over, sorted(moments)) for over, moments in pits.values()]
    if not subjects:
        raise UsageError(Code.USAGE, text="the frame has no rows")
    return subjects_grid(source, subjects, options, runtime), series


def _new_columns(rows: Sequence[Cell], grid: Grid, series: Mapping[str, Any], wanted: Wanted) -> list[Column]:
    own = [name for name in grid.columns if name not in (*ENVELOPE_FIELDS, *grid.series)]
    fields = [*(wanted.fields or own), *(() if AVAILABLE in wanted.fields else (AVAILABLE,))]
    answers_given = [cell.answer for cell in rows]
    made = [
        column._replace(name=wanted.name(column.name, place))
        for place in range(wanted.newest)
        for column in newest_columns(answers_given, grid, fields, place, series)
    ]
    return [*made, Column(f"{STATUS}{wanted.suffix}", "text", [cell.status for cell in rows])]


def _with_columns(frame: Any, made: Sequence[Column]) -> Any:
    """Return a frame of the kind that it was given as, with more columns."""
    if type(frame).__module__.partition(".")[0] == "polars":
        import polars

        arrays = {column.name: to_arrow_array(column) for column in made}
        return frame.with_columns([polars.Series(name, polars.from_arrow(array)) for name, array in arrays.items()])
    return frame.assign(**{column.name: to_series(column).set_axis(frame.index) for column in made})
