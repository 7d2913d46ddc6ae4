"""Other worlds that serve the same public rows: what a source could say of those that are late. Pure edits of a tree.

Nothing here knows a field by what its author calls it: dates, names, figures and texts are told by their values.
"""

from __future__ import annotations

import contextlib
import copy
import pickle
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from pit_fetch.testing.comparison import CANARY
from pit_fetch.testing.documents import Path, at
from pit_fetch.testing.recording import Recording, Row, dates_of, drop, leaves, pattern_of
from pit_fetch.testing.timestamps import floor, later

Change = Callable[[Any], None]

# More than a list that somebody cuts to its first hundred, and the most that a test adds.
MANY = 130
MOST = 1_100
# How worlds are named that add rows, whose stamps the source may take from elsewhere too.
TWIN = "beside rows that are "
# What a row can turn out to be.
_NO_ROWS: tuple[Any, ...] = (None, CANARY, 5, [], {}, [CANARY])
_COUNTS = re.compile(r"count|total|hits|found|results|items|records|rows|pages|size|length|num", re.IGNORECASE)
_TELLING = re.compile(r"more|next|last|latest|final|complete|partial|truncat|end", re.IGNORECASE)
_RANKS = re.compile(r"rank|position|place|index|order$", re.IGNORECASE)
# Dates that tell what is planned, and not what was known.
PLANNED = re.compile(
    r"expir|matur|effective|event|schedul|due|deadline|ex_?div|pay(able|ment)?_?(date|on)|close[sd]?_?(on|date)|"
    r"comment|forecast|horizon|target|next|settle|period|fiscal|ending|record_?date|meeting|conference|vest",
    re.IGNORECASE,
)


def worlds(recording: Recording, late: Sequence[Row], pit: datetime) -> Mapping[str, Change]:
    """Worlds at ``pit``, each a change of the recorded reply, by what is said of the ``late`` rows in it."""
    return {**few(recording, late), **_many(recording, late, many(recording)), **_shapes(recording, late, pit)}


def quick(recording: Recording, late: Sequence[Row]) -> Mapping[str, Change]:
    """The worlds that find most."""
    return {**few(recording, late), **dict(list(_many(recording, late, MANY).items())[:1])}


def left_out(late: Sequence[Row]) -> dict[str, Change]:
    """The world that says least."""
    return {"left out": lambda tree: drop(tree, late)}


def flags(recording: Recording) -> list[Path]:
    """Where a flag beside the rows tells, by its name, whether there are more of them."""
    inside = {row.container for row in recording.every}
    return [
        path
        for path, value in leaves(recording.tree)
        if isinstance(value, bool) and not _below(path, inside) and _TELLING.search(str(path[-1]))
    ]


def few(recording: Recording, late: Sequence[Row]) -> dict[str, Change]:
    """What a source is most likely to say otherwise: without the late rows, or with others."""

    def uncounted(tree: Any) -> None:
        _tell_less(recording, tree, late)
        drop(tree, late)

    def moved(tree: Any) -> None:
        taken = [(row, at(tree, row.path)) for row in late]
        drop(tree, late)
        for row, value in taken:
            _add(tree, row, value)

    return {
        **left_out(late),
        "left out, and not counted": uncounted,
        "moved to the end": moved,
        "rewritten": each(late, _rewritten),
        "with other figures": each(late, _refigured),
        "without their values": each(late, _emptied),
    }


def _many(recording: Recording, late: Sequence[Row], size: int) -> dict[str, Change]:
    lists = [row for row in late if isinstance(row.key, int)]
    if not lists:
        return {}
    ids = _names(recording, lists)
    models = [(row, _variable(at(recording.tree, row.path), ids[row])) for row in lists]

    def several(tree: Any, first: bool) -> None:
        container = at(tree, lists[0].container)
        packed = [pickle.dumps(at(tree, row.path)) for row in lists]
        made = [
            _varied(_renamed(pickle.loads(node), ids[row], number), variable, number)  # noqa: S301 - of this process
            for number in range(size // len(lists) + 1)
            for node, (row, variable) in zip(packed, models, strict=True)
        ]
        place = 0 if first else len(container)
        container[place:place] = made

    return {
        "many, at the beginning": lambda tree: several(tree, True),
        "many, at the end": lambda tree: several(tree, False),
    }


def many(recording: Recording) -> int:
    """How many rows are many: more than any size that the author's code names, if each costs no request."""
    state = recording.case.state
    if state is None or len(recording.seen.exchanges) > len(recording.rows):
        return MANY
    return max([MANY, *(figure + 20 for figure in state.figures if figure <= MOST - 20)])


def _shapes(recording: Recording, late: Sequence[Row], pit: datetime) -> dict[str, Change]:
    found: dict[str, Change] = {}
    for value in _NO_ROWS if all(row.container for row in late) else ({},):
        found[f"{value!r}"] = _replaced(late, value)
    found["without their dates"] = each(late, _undated)
    found["with dates that are none"] = each(late, lambda node: _dates(node, lambda value: CANARY))
    found["at the calendar's end"] = each(late, lambda node: _dates(node, _last_day))
    found["unreadable (a NaN in each)"] = each(late, lambda node: _set(node, "unreadable", float("nan")))
    found["with a field more"] = each(late, lambda node: _set(node, "extra_field", CANARY))
    found["with fractions"] = each(late, _fractions)
    found["with their figures as texts"] = each(late, lambda node: _figures(node, str))
    for name in _fields(recording, late):
        for what, value in (("null", None), ("a list", [CANARY]), ("a text", CANARY)):
            found[f"with {what} as {name}"] = each(late, _field(name, value))
        found[f"without {name}"] = each(late, _field(name, _GONE))
    found |= _twins(recording, late, pit)
    lists = [row for row in late if isinstance(row.key, int)]
    if lists:
        found["repeated"] = lambda tree: at(tree, lists[0].container).extend(
            copy.deepcopy(at(tree, row.path)) for row in lists * 2
        )
    return found


def beside(recording: Recording, late: Sequence[Row], pit: datetime) -> dict[str, Change]:
    """What a reply says beside its rows, where that tells of late ones: later dates, and ranks."""
    inside = {row.container for row in recording.every}

    def dates(tree: Any) -> None:
        for path, value in list(leaves(tree)):
            moment = floor(value)
            if isinstance(value, str) and moment is not None and moment > pit and not _below(path, inside):
                with contextlib.suppress(ValueError, OverflowError):  # there is no date past the calendar's end
                    at(tree, path[:-1])[path[-1]] = later(value, 3)

    def ranks(tree: Any) -> None:
        for container in inside:
            rows = at(tree, container)
            for row in rows if isinstance(rows, list) else ():
                for name in row if isinstance(row, dict) else ():
                    if _RANKS.search(name) and type(row[name]) is int:
                        row[name] += len(late)

    def valid(tree: Any) -> None:
        for row in recording.every:
            for path, value in dates_of(recording, row):
                moment = floor(value)
                if (
                    pattern_of(row, path) in recording.validity
                    and moment is not None
                    and moment > pit
                    and row not in late
                ):
                    _put(tree, path, "9999-12-31" if str(value)[:4] != "9999" else str(later(f"{pit:%Y-%m-%d}", 9)))

    return {
        "followed by later dates beside them": dates,
        "counted in the ranks of the others": ranks,
        "not yet there to end what was valid": valid,
    }


def nested(recording: Recording, pit: datetime) -> Iterator[tuple[Row, str, Change]]:
    """For public rows that hold lists of dated things: one more in it, which is later than ``pit``."""
    for row in recording.rows:
        if recording.is_late(row, pit):
            continue
        node = at(recording.tree, row.path)
        for path, value in leaves(node):
            if not isinstance(value, str) or floor(value) is None or PLANNED.search(str(path[-1])):
                continue
            lists = [n for n in range(len(path)) if isinstance(path[n], int)]
            holder = path[: lists[-1]] if lists else ()
            if lists and path[lists[-1]] == 0 and isinstance(at(node, path[: lists[-1] + 1]), dict):
                yield (
                    row,
                    ".".join(map(str, holder)),
                    _one_more((*row.path, *holder), path[lists[-1] + 1 :], value, pit),
                )


def _one_more(holder: Path, date: Path, value: str, pit: datetime) -> Change:
    def change(tree: Any) -> None:
        things = at(tree, holder)
        made = copy.deepcopy(things[0])
        _rewritten(made)
        text = value
        while (moment := floor(text)) is not None and moment <= pit:
            text = str(later(text, 30))
        at(made, date[:-1])[date[-1]] = text
        things.append(made)

    return change


def each(rows: Sequence[Row], change: Callable[[Any], None]) -> Change:
    def changed(tree: Any) -> None:
        for row in rows:
            change(at(tree, row.path))

    return changed


def _replaced(rows: Sequence[Row], value: Any) -> Change:
    def change(tree: Any) -> None:
        for row in rows:
            at(tree, row.container)[row.key] = copy.deepcopy(value)

    return change


def _twins(recording: Recording, late: Sequence[Row], pit: datetime) -> dict[str, Change]:
    """Late rows that say what public ones say: a copy of each public row, under the dates of a late one."""
    public = [
        row for row in recording.rows if not recording.is_late(row, pit) and isinstance(row.key, int) and row.versions
    ]
    model = next((row for row in late if public and row.container == public[0].container), None)
    if model is None:
        return {}
    dates = {
        path[len(model.path) :]: value
        for path, value in dates_of(recording, model)
        if pattern_of(model, path) in recording.basis
    }
    ids = _names(recording, public)

    def twins(tree: Any, first: bool, renamed: bool) -> None:
        made = []
        for row in public:
            node = copy.deepcopy(at(tree, row.path))
            for path, value in dates.items():
                if path:
                    _put(node, path, value)
            made.append(_renamed(node, ids[row], 7_000) if renamed else node)
        container = at(tree, public[0].container)
        place = 0 if first else len(container)
        container[place:place] = made

    again = {TWIN + "later versions of public ones": lambda tree: twins(tree, False, False)}
    if not all(ids.values()):  # an id of several parts: the copies would contradict the rows that they are made of
        return again
    return {
        **again,
        TWIN + "like public ones, at the end": lambda tree: twins(tree, False, True),
        TWIN + "like public ones, at the beginning": lambda tree: twins(tree, True, True),
    }


def _names(recording: Recording, rows: Sequence[Row]) -> dict[Row, set[Path]]:
    """Where each row says its records' ids."""
    found: dict[Row, set[Path]] = {}
    for row in rows:
        ids = {version.id for version in row.versions}
        node = at(recording.tree, row.path)
        found[row] = {path for path, value in leaves(node) if value not in ("", None) and str(value) in ids}
    shared = set().union(*found.values()) if found else set()
    return {row: paths or shared for row, paths in found.items()}


def _renamed(node: Any, paths: set[Path], number: int) -> Any:
    for path in paths:
        try:
            value = at(node, path)
        except (KeyError, IndexError, TypeError):
            continue
        if isinstance(value, int) and not isinstance(value, bool):
            _put(node, path, value + 1_000_000 + 10 * number)
        elif isinstance(value, str) and floor(value) is None:
            _put(node, path, f"{value}x{number}")
    return node


def _variable(node: Any, paths: set[Path]) -> dict[Path, str | float]:
    """The texts and figures that can be others without another stamp or another id."""
    return {
        path: value
        for path, value in leaves(node)
        if path
        and path not in paths
        and (isinstance(value, float) or (isinstance(value, str) and floor(value) is None))
    }


def _varied(node: Any, variable: Mapping[Path, str | float], number: int) -> Any:
    """Other texts and figures, so that the rows are many in whatever order somebody puts them: before and after."""
    for path, value in variable.items():
        if isinstance(value, str):
            _put(node, path, f"{'!' if number % 2 else '~'}{number} {value}")
        else:
            _put(node, path, value * (1_000 + number) if number % 2 else value / (1_000 + number))
    return node


def _tell_less(recording: Recording, tree: Any, late: Sequence[Row]) -> None:
    """Counts beside the rows, as the source gives them when the late rows do not exist."""
    inside = {row.container for row in recording.every}
    sizes = {len(at(tree, container)) for container in inside}
    for path, value in list(leaves(tree)):
        if _below(path, inside) or isinstance(value, bool):
            continue
        text = isinstance(value, str) and value.isdigit()
        number = int(value) if isinstance(value, int) or text else 0
        name = next((part for part in reversed(path) if isinstance(part, str)), "")
        if number >= len(late) and (number in sizes or (_COUNTS.search(".".join(map(str, path)) or name))):
            at(tree, path[:-1])[path[-1]] = str(number - len(late)) if text else number - len(late)


def _below(path: Path, containers: set[Path]) -> bool:
    return any(path[: len(one)] == one for one in containers if one)


def _add(tree: Any, row: Row, value: Any) -> None:
    container = at(tree, row.container)
    if isinstance(container, list):
        container.append(value)
    else:
        container[row.key] = value


def _scalars(node: Any, change: Callable[[Any], Any]) -> None:
    """Every scalar in ``node`` that is not a date, through ``change``."""
    for path, value in list(leaves(node)):
        if path and (floor(value) is None or isinstance(value, int)) and value is not None:
            _put(node, path, change(value))


def _rewritten(node: Any) -> None:
    _scalars(node, lambda value: f"{value} {CANARY}" if isinstance(value, str) else value)


def _refigured(node: Any) -> None:
    _figures(node, lambda value: value * 1_000 + 7)
    _scalars(node, lambda value: not value if isinstance(value, bool) else value)


def _fractions(node: Any) -> None:
    _figures(node, lambda value: value + 0.5)


def _emptied(node: Any) -> None:
    _scalars(node, lambda value: None if isinstance(value, str) or not _may_be_stamp(value) else value)


def _figures(node: Any, change: Callable[[Any], Any]) -> None:
    def figure(value: Any) -> Any:
        is_figure = isinstance(value, (int, float)) and not isinstance(value, bool) and not _may_be_stamp(value)
        return change(value) if is_figure else value

    _scalars(node, figure)


def _undated(node: Any) -> None:
    _dates(node, lambda value: None)


def _dates(node: Any, change: Callable[[Any], Any]) -> None:
    for path, value in list(leaves(node)):
        if path and floor(value) is not None:
            _put(node, path, change(value))


def _last_day(value: Any) -> Any:
    return "9999-12-31" + value[10:] if isinstance(value, str) and value[4:5] == "-" else value


def _may_be_stamp(value: Any) -> bool:
    return floor(value) is not None


_GONE = object()


def _fields(recording: Recording, late: Sequence[Row]) -> list[str]:
    """The fields of late rows that hold no date: what a source can leave out or change without moving a stamp."""
    names: dict[str, None] = {}
    dated = {pattern_of(row, path)[:1] for row in recording.every for path, _ in dates_of(recording, row)}
    for row in late[:3]:
        node = at(recording.tree, row.path)
        names.update((name, None) for name in (node if isinstance(node, dict) else ()) if (name,) not in dated)
    return list(names)[:14]


def _field(name: str, value: Any) -> Callable[[Any], None]:
    def change(node: Any) -> None:
        if isinstance(node, dict):
            if value is _GONE:
                node.pop(name, None)
            else:
                node[name] = copy.deepcopy(value)

    return change


def _set(node: Any, name: str, value: Any) -> None:
    if isinstance(node, dict):
        node[name] = value


def _put(node: Any, path: Path, value: Any) -> None:
    try:
        at(node, path[:-1])[path[-1]] = value
    except (KeyError, IndexError, TypeError):
        return
