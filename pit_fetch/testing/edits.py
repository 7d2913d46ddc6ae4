"""Worlds that serve the same public rows, and differ in what the reply holds of the late ones. Pure edits of a tree.

Nothing here knows a field by what its author calls it: dates, names, figures and texts are recognised by their values.
"""

from __future__ import annotations

import contextlib
import copy
import pickle
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from pit_fetch.testing.comparison import CANARY
from pit_fetch.testing.documents import Path, leaves, node_at
from pit_fetch.testing.recording import RecordedReply, ReplyRow, dates_of, drop, pattern_of
from pit_fetch.testing.timestamps import floor, postpone

Change = Callable[[Any], None]

# More than a list that an author cuts to its first hundred, and the most that a test adds.
MANY = 130
MOST = 1_100
# The names of worlds that add rows begin with this: the stamps of such rows may rest on something else, too.
TWIN = "beside rows that are "
# What a row can turn out to be.
_NO_ROWS: tuple[Any, ...] = (None, CANARY, 5, [], {}, [CANARY])
_COUNTS = re.compile(r"count|total|hits|found|results|items|records|rows|pages|size|length|num", re.IGNORECASE)
_TELLING = re.compile(r"more|next|last|latest|final|complete|partial|truncat|end", re.IGNORECASE)
_RANKS = re.compile(r"rank|position|place|index|order$", re.IGNORECASE)
# Dates of what is planned, not of what was known.
PLANNED = re.compile(
    r"expir|matur|effective|event|schedul|due|deadline|ex_?div|pay(able|ment)?_?(date|on)|close[sd]?_?(on|date)|"
    r"comment|forecast|horizon|target|next|settle|period|fiscal|ending|record_?date|meeting|conference|vest",
    re.IGNORECASE,
)
_GONE = object()


def all_worlds(recording: RecordedReply, late: Sequence[ReplyRow], pit: datetime) -> Mapping[str, Change]:
    """Return every world at ``pit``, each a change of the recorded reply in what it holds of the ``late`` rows."""
    crowded = _crowded_worlds(recording, late, _crowd_size(recording))
    return {**basic_worlds(recording, late), **crowded, **_odd_worlds(recording, late, pit)}


def quick_worlds(recording: RecordedReply, late: Sequence[ReplyRow]) -> Mapping[str, Change]:
    """Return the worlds that find most."""
    return {**basic_worlds(recording, late), **dict(list(_crowded_worlds(recording, late, MANY).items())[:1])}


def flags_beside(recording: RecordedReply) -> list[Path]:
    """Return where a flag beside the rows means, by its name, that there are more of them, or no more."""
    return [
        path
        for path, value in _leaves_beside(recording, recording.tree)
        if isinstance(value, bool) and _TELLING.search(str(path[-1]))
    ]


def basic_worlds(recording: RecordedReply, late: Sequence[ReplyRow]) -> dict[str, Change]:
    """Return the worlds that a source most likely has: without the late rows, or with others in their place."""

    def uncounted(tree: Any) -> None:
        _count_less(recording, tree, late)
        drop(tree, late)

    def moved(tree: Any) -> None:
        values = [node_at(tree, row.path) for row in late]
        drop(tree, late)
        for row, value in zip(late, values, strict=True):
            container = node_at(tree, row.container)
            if isinstance(container, list):
                container.append(value)
            else:
                container[row.key] = value

    return {
        "left out": partial(drop, rows=late),
        "left out, and not counted": uncounted,
        "moved to the end": moved,
        "rewritten": _each(late, _rewrite),
        "with other figures": _each(late, _refigure),
        "without their values": _each(
            late,
            # Numbers that may be stamps stay, or rows would be undated and not late.
            lambda row: _change_values(row, lambda v: None if isinstance(v, str) or floor(v) is None else v),
        ),
    }


def _crowded_worlds(recording: RecordedReply, late: Sequence[ReplyRow], size: int) -> dict[str, Change]:
    """Return worlds with ``size`` late rows or more."""
    listed = _in_lists(late)
    if not listed:
        return {}
    ids = _id_paths(recording, listed)
    variable = {row: _variable(node_at(recording.tree, row.path), ids[row]) for row in listed}

    def several(tree: Any, first: bool) -> None:
        # Pickled once: many hundred copies are made, and copy.deepcopy is several times slower.
        packed = {row: pickle.dumps(node_at(tree, row.path)) for row in listed}
        copies = [
            _vary(_rename(pickle.loads(packed[row]), ids[row], number), variable[row], number)  # noqa: S301 - of this process
            for number in range(size // len(listed) + 1)
            for row in listed
        ]
        _insert(node_at(tree, listed[0].container), copies, first)

    return {"many, at the beginning": partial(several, first=True), "many, at the end": partial(several, first=False)}


def _crowd_size(recording: RecordedReply) -> int:
    """Return how many rows are many: more than any size that the author's code names, if each costs no request."""
    if len(recording.baseline.exchanges) > len(recording.rows):
        return MANY
    return max([MANY, *(figure + 20 for figure in recording.case.state.figures if figure <= MOST - 20)])


def _odd_worlds(recording: RecordedReply, late: Sequence[ReplyRow], pit: datetime) -> dict[str, Change]:
    """Return worlds in which late rows have another form, or repeat public ones."""
    worlds: dict[str, Change] = {}
    for value in _NO_ROWS if all(row.container for row in late) else ({},):
        worlds[f"{value!r}"] = partial(_replace_rows, rows=late, value=value)
    for label, change in {
        "without their dates": lambda row: _change_dates(row, lambda value: None),
        "with dates that are none": lambda row: _change_dates(row, lambda value: CANARY),
        "at the calendar's end": lambda row: _change_dates(row, _on_last_day),
        "unreadable (a NaN in each)": _set_field("unreadable", float("nan")),
        "with a field more": _set_field("extra_field", CANARY),
        "with fractions": lambda row: _change_figures(row, lambda value: value + 0.5),
        "with their figures as texts": lambda row: _change_figures(row, str),
    }.items():
        worlds[label] = _each(late, change)
    for name in _undated_fields(recording, late):
        for label, value in (("null", None), ("a list", [CANARY]), ("a text", CANARY)):
            worlds[f"with {label} as {name}"] = _each(late, _set_field(name, value))
        worlds[f"without {name}"] = _each(late, _set_field(name, _GONE))
    worlds |= _twins(recording, late, pit)
    listed = _in_lists(late)
    if listed:
        worlds["repeated"] = lambda tree: node_at(tree, listed[0].container).extend(
            copy.deepcopy(node_at(tree, row.path)) for row in listed * 2
        )
    return worlds


def worlds_beside(recording: RecordedReply, late: Sequence[ReplyRow], pit: datetime) -> dict[str, Change]:
    """Return worlds in which late rows changed what the reply holds beside them: later dates, ranks, validity."""

    def dates(tree: Any) -> None:
        for path, value in _leaves_beside(recording, tree):
            instant = floor(value)
            if isinstance(value, str) and instant is not None and instant > pit:
                with contextlib.suppress(ValueError, OverflowError):  # there is no date past the calendar's end
                    _put(tree, path, postpone(value, 3))

    def ranks(tree: Any) -> None:
        for container in recording.containers:
            rows = node_at(tree, container)
            for row in rows if isinstance(rows, list) else ():
                for name in row if isinstance(row, dict) else ():
                    if _RANKS.search(name) and type(row[name]) is int:
                        row[name] += len(late)

    def valid(tree: Any) -> None:
        for row in recording.every:
            for path, value in dates_of(recording, row) if row not in late else ():
                instant = floor(value)
                if pattern_of(row, path) in recording.validity and instant is not None and instant > pit:
                    last = str(value)[:4] == "9999"
                    _put(tree, path, str(postpone(f"{pit:%Y-%m-%d}", 9)) if last else "9999-12-31")

    return {
        "followed by later dates beside them": dates,
        "counted in the ranks of the others": ranks,
        "not yet there to end what was valid": valid,
    }


def nested_additions(recording: RecordedReply, pit: datetime) -> Iterator[tuple[ReplyRow, str, Change]]:
    """Yield, for each list of dated things in a public row, the change that adds one dated later than ``pit``."""
    for row in recording.rows:
        if recording.is_late(row, pit):
            continue
        node = node_at(recording.tree, row.path)
        for path, value in leaves(node):
            if not isinstance(value, str) or floor(value) is None or PLANNED.search(str(path[-1])):
                continue
            last = max((place for place, part in enumerate(path) if isinstance(part, int)), default=None)
            if last is not None and path[last] == 0 and isinstance(node_at(node, path[: last + 1]), dict):
                holder = path[:last]
                change = partial(_add_later, holder=(*row.path, *holder), date=path[last + 1 :], value=value, pit=pit)
                yield row, ".".join(map(str, holder)), change


def _add_later(tree: Any, holder: Path, date: Path, value: str, pit: datetime) -> None:
    """Add to the list at ``holder`` a copy of its first thing, its ``date`` after ``pit``."""
    things = node_at(tree, holder)
    addition = copy.deepcopy(things[0])
    _rewrite(addition)
    while (instant := floor(value)) is not None and instant <= pit:
        value = str(postpone(value, 30))
    _put(addition, date, value)
    things.append(addition)


def _twins(recording: RecordedReply, late: Sequence[ReplyRow], pit: datetime) -> dict[str, Change]:
    """Return worlds with a copy of each public row under the dates of a late one."""
    public = [row for row in _in_lists(recording.rows) if not recording.is_late(row, pit) and row.versions]
    model = next((row for row in late if public and row.container == public[0].container), None)
    if model is None:
        return {}
    dates = {
        path[len(model.path) :]: value
        for path, value in dates_of(recording, model)
        if pattern_of(model, path) in recording.basis and path != model.path
    }
    ids = _id_paths(recording, public)

    def twins(tree: Any, first: bool, renamed: bool) -> None:
        copies = []
        for row in public:
            node = copy.deepcopy(node_at(tree, row.path))
            for path, value in dates.items():
                _put(node, path, value)
            copies.append(_rename(node, ids[row], 7_000) if renamed else node)
        _insert(node_at(tree, public[0].container), copies, first)

    worlds: dict[str, Change] = {TWIN + "later versions of public ones": partial(twins, first=False, renamed=False)}
    if all(ids.values()):  # else an id has several parts, and the copies would contradict the rows that they copy
        worlds[TWIN + "like public ones, at the end"] = partial(twins, first=False, renamed=True)
        worlds[TWIN + "like public ones, at the beginning"] = partial(twins, first=True, renamed=True)
    return worlds


def _in_lists(rows: Sequence[ReplyRow]) -> list[ReplyRow]:
    return [row for row in rows if isinstance(row.key, int)]


def _insert(container: list[Any], rows: list[Any], first: bool) -> None:
    place = 0 if first else len(container)
    container[place:place] = rows


def _each(rows: Sequence[ReplyRow], change: Callable[[Any], object]) -> Change:
    def change_rows(tree: Any) -> None:
        for row in rows:
            change(node_at(tree, row.path))

    return change_rows


def _replace_rows(tree: Any, rows: Sequence[ReplyRow], value: Any) -> None:
    for row in rows:
        node_at(tree, row.container)[row.key] = copy.deepcopy(value)


def _id_paths(recording: RecordedReply, rows: Sequence[ReplyRow]) -> dict[ReplyRow, set[Path]]:
    """Return where each row holds the ids of its records."""
    paths: dict[ReplyRow, set[Path]] = {}
    for row in rows:
        ids = {version.id for version in row.versions}
        node = node_at(recording.tree, row.path)
        paths[row] = {path for path, value in leaves(node) if value not in ("", None) and str(value) in ids}
    shared = set().union(*paths.values())
    return {row: own or shared for row, own in paths.items()}


def _rename(node: Any, paths: set[Path], number: int) -> Any:
    for path in paths:
        with contextlib.suppress(KeyError, IndexError, TypeError):
            value = node_at(node, path)
            if type(value) is int:
                _put(node, path, value + 1_000_000 + 10 * number)
            elif _is_undated_text(value):
                _put(node, path, f"{value}x{number}")
    return node


def _variable(node: Any, paths: set[Path]) -> dict[Path, str | float]:
    """Return the texts and figures of a row that can change while its stamp and its id, at ``paths``, stay."""
    return {
        path: value
        for path, value in leaves(node)
        if path and path not in paths and (isinstance(value, float) or _is_undated_text(value))
    }


def _vary(node: Any, variable: Mapping[Path, str | float], number: int) -> Any:
    """Vary texts and figures so that copies sort before and after the originals, whatever the provider sorts by."""
    for path, value in variable.items():
        if isinstance(value, str):
            _put(node, path, f"{'!' if number % 2 else '~'}{number} {value}")
        else:
            _put(node, path, value * (1_000 + number) if number % 2 else value / (1_000 + number))
    return node


def _count_less(recording: RecordedReply, tree: Any, late: Sequence[ReplyRow]) -> None:
    """Lower the counts beside the rows to what the source gives when the late rows do not exist."""
    sizes = {len(node_at(tree, container)) for container in recording.containers}
    for path, value in _leaves_beside(recording, tree):
        # A page's id counts no pages.
        if isinstance(value, bool) or str(path[-1]).lower().endswith("id"):
            continue
        is_text = isinstance(value, str) and value.isdigit()
        number = int(value) if isinstance(value, int) or is_text else 0
        if number >= len(late) and (number in sizes or _COUNTS.search(".".join(map(str, path)))):
            _put(tree, path, str(number - len(late)) if is_text else number - len(late))


def _leaves_beside(recording: RecordedReply, tree: Any) -> list[tuple[Path, Any]]:
    """Return every scalar outside the rows, with its path."""
    containers = recording.containers
    return [
        (path, value)
        for path, value in leaves(tree)
        if not any(path[: len(container)] == container for container in containers if container)
    ]


def _rewrite(node: Any) -> None:
    _change_values(node, lambda value: f"{value} {CANARY}" if isinstance(value, str) else value)


def _refigure(node: Any) -> None:
    _change_figures(node, lambda value: value * 1_000 + 7)
    _change_values(node, lambda value: not value if isinstance(value, bool) else value)


def _change_values(node: Any, change: Callable[[Any], Any]) -> None:
    """Put every scalar in ``node`` that is not a date through ``change``."""
    for path, value in list(leaves(node)):
        if path and (floor(value) is None or isinstance(value, int)) and value is not None:
            _put(node, path, change(value))


def _change_figures(node: Any, change: Callable[[Any], Any]) -> None:
    _change_values(node, lambda value: change(value) if _is_figure(value) else value)


def _is_undated_text(value: Any) -> bool:
    return isinstance(value, str) and floor(value) is None


def _is_figure(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and floor(value) is None


def _change_dates(node: Any, change: Callable[[Any], Any]) -> None:
    for path, value in list(leaves(node)):
        if path and floor(value) is not None:
            _put(node, path, change(value))


def _on_last_day(value: Any) -> Any:
    return "9999-12-31" + value[10:] if isinstance(value, str) and value[4:5] == "-" else value


def _undated_fields(recording: RecordedReply, late: Sequence[ReplyRow]) -> list[str]:
    """Return the fields of late rows that hold no date: a source can omit or change them without moving a stamp."""
    dated = {pattern_of(row, path)[:1] for row in recording.every for path, _ in dates_of(recording, row)}
    nodes = [node_at(recording.tree, row.path) for row in late[:3]]
    names = dict.fromkeys(name for node in nodes if isinstance(node, dict) for name in node)
    return [name for name in names if (name,) not in dated][:14]


def _set_field(name: str, value: Any) -> Callable[[Any], None]:
    """Return the change that sets a field of a row, or removes it where ``value`` is ``_GONE``."""

    def change(node: Any) -> None:
        if isinstance(node, dict) and value is _GONE:
            node.pop(name, None)
        elif isinstance(node, dict):
            node[name] = copy.deepcopy(value)

    return change


def _put(node: Any, path: Path, value: Any) -> None:
    with contextlib.suppress(KeyError, IndexError, TypeError):
        node_at(node, path[:-1])[path[-1]] = value
