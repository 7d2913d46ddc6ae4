"""Worlds that serve the same public rows, and differ in what the reply holds of the late ones. Pure edits of a tree.

A world is a tuple of edits that do not depend on each other. If the output tells of them, the world is halved as long
as one half still shows, to name the edits that matter. Nothing here knows a field by what its author calls it: dates,
ids, figures and texts are recognised by their values.
"""

from __future__ import annotations

import contextlib
import pickle
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from pit_fetch.testing.comparison import CANARY
from pit_fetch.testing.documents import Path, leaves, node_at
from pit_fetch.testing.findings import Change, Findings, ReplyRow, drop, field_of
from pit_fetch.testing.recording import Document
from pit_fetch.testing.source import HEADERS
from pit_fetch.testing.timestamps import floor, postpone


class Edit(NamedTuple):
    """A change of a reply, in words that end "here when they are".

    advice   what to do where it shows, if that does not follow from what shows
    may_add  it puts rows in, or changes what decides how they are dated, so that a row may be public after it
    """

    words: str
    change: Change
    may_add: bool = False
    advice: str = ""


World = tuple[Edit, ...]
Worlds = dict[str, World]

# More than a list that an author cuts to its first hundred.
MANY = 130
_TOTALS = ("X-Total-Count", "X-Total", "X-Total-Results", "X-Result-Count")
# Dates of what is planned, not of what was known.
PLANNED = re.compile(
    r"expir|matur|effective|event|schedul|due|deadline|ex_?div|pay(able|ment)?_?(date|on)|close[sd]?_?(on|date)|"
    r"comment|forecast|horizon|target|next|settle|period|fiscal|ending|record_?date|meeting|conference|vest",
    re.IGNORECASE,
)
GONE = object()


def other_values(value: Any) -> Iterator[Any]:
    """Yield what a source could send in the place of a value: nothing, another type, another value of its own type."""
    yield from (GONE, None, CANARY, [CANARY], {}, float("nan"))
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, (int, float)):
        yield from (value * 1_000 + 7, value + 0.5, str(value))
    elif isinstance(value, str):
        yield from (f"{value} {CANARY}", "")


class LateRows:
    """The worlds of a recording at ``pit``, made of the rows that were not public then."""

    def __init__(self, findings: Findings, pit: datetime) -> None:
        self.findings, self.pit, source = findings, pit, findings.case.source
        pages = source.recording.pages
        # Where pages of the list are asked for by the id of a row, the source has no two rows with one id.
        self.each_id_once = pages is not None and bool(pages.after)
        self.pages = [address.key for address in source.pages]
        # A table that has a key keeps the first of two rows, and a page that is asked for by an id is the first one's.
        self.keeps_first = source.is_made or bool(self.pages) or self.each_id_once
        self.rows = findings.late(pit)
        self.public = [row for row in findings.every if row not in self.rows]
        self.listed = [row for row in self.rows if isinstance(row.key, int)]
        self.ids = id_paths(findings, self.listed)

    def all(self, crowd: int) -> Worlds:
        """Return every world, with ``crowd`` late rows in those that have many."""
        return {**self.basic(), **self.crowded(crowd), **self.mutated(), **self.twins()}

    def quick(self) -> Worlds:
        """Return the worlds that find most."""
        return {**self.basic(), **dict(list(self.crowded(MANY).items())[:1])}

    def basic(self) -> Worlds:
        """Return the worlds that a source most likely has: without the late rows, or with others in their place."""

        def uncounted(tree: Any) -> None:
            self._count(tree, -len(self.rows))
            drop(tree, self.rows)

        def rewritten(tree: Any) -> None:
            for row in self.rows:
                rewrite(self.findings, node_at(tree, row.path), distinct=self.each_id_once)

        def broken(tree: Any) -> None:
            for path, value in (leaf for row in self.rows for leaf in self.findings.leaves_of(row)):
                if _is_text(self.findings, value):
                    _put(tree, path, f"{value} \udcff")

        def unnamed(tree: Any) -> None:
            for path in self._pointers():
                _put(tree, path, None)

        def paged(tree: Any, page: object) -> None:
            for row in self.rows:
                for key in self.pages:
                    _put(tree, (*row.path, key), page)

        def counted(tree: Any) -> None:
            count = 2 * len(self.findings.every) - 1
            last = f"Fri, 16 Feb 2024 09:00:0{count % 2} GMT"
            tree[HEADERS] = {**dict.fromkeys(_TOTALS, str(count)), "ETag": f'"{count}"', "Last-Modified": last}

        edits = [
            Edit("left out", partial(drop, rows=self.rows)),
            Edit("left out, and not counted", uncounted),
            Edit("with other texts and figures", rewritten),
            Edit("named by no other row", unnamed),
            Edit("counted in a header", counted, advice="headers"),
        ]
        if self.findings.case.source.holds_any_byte:
            edits.append(Edit("with bytes that are no UTF-8", broken))
        for event, page in (("is not there", None), ("is empty", {"": {}}), ("fails", Document(b"", status=500))):
            if self.pages:
                words = f"with a page of their own that {event}"
                edits.append(Edit(words, partial(paged, page=page), advice="pages-of-rows"))
        return _single(edits)

    def beside(self) -> Worlds:
        """Return worlds in which late rows changed what the reply holds beside them: later dates, validity."""

        def dates(tree: Any) -> None:
            for path, value in leaves_beside(self.findings, tree):
                instant = floor(value)
                if isinstance(value, str) and instant is not None and instant > self.pit:
                    with contextlib.suppress(ValueError, OverflowError):  # there is no date past the calendar's end
                        _put(tree, path, postpone(value, 3))

        def valid(tree: Any) -> None:
            for row in self.public:
                for path, value in self.findings.dates_of(row):
                    instant = floor(value)
                    if row.pattern(path) in self.findings.validity and instant is not None and instant > self.pit:
                        soon = str(postpone(f"{self.pit:%Y-%m-%d}", 9))
                        _put(tree, path, soon if str(value)[:4] == "9999" else "9999-12-31")

        return _single(
            [
                Edit("followed by later dates beside them", dates),
                Edit("not yet there to end what was valid", valid),
            ]
        )

    def crowded(self, size: int) -> Worlds:
        """Return worlds with ``size`` late rows or more."""
        if not self.listed:
            return {}
        names = _parts(name for row in self.findings.rows for name in row.ids)
        kept = {row: self.ids[row] | _below(row, self.findings.sources(row)) for row in self.listed}

        def crowd(tree: Any, change: Callable[[Any, set[Path], int], Any], size: int, first: bool = False) -> None:
            packed = [(row, pickle.dumps(node_at(tree, row.path))) for row in self.listed]
            copies = [
                change(self._renamed(pickle.loads(body), self.ids[row], number), kept[row], number)  # noqa: S301 - of this process
                for number in range(size // len(self.listed) + 1)
                for row, body in packed
            ]
            self._insert(tree, copies, first)
            self._count(tree, len(copies))

        def scaled(node: Any, kept: set[Path], number: int, factor: int) -> Any:
            """Move every mean, median and quantile: the figures of all copies lie on one side."""
            for path, value in list(leaves(node)):
                is_figure = path and path not in kept and not isinstance(value, bool) and str(value) not in names
                if is_figure and not self.findings.case.source.is_dated(value):
                    with contextlib.suppress(ValueError, TypeError, OverflowError):
                        _put(node, path, type(value)(type(value)(float(value) * factor)))
            return node

        vary = partial(_vary, self.findings)
        edits = [
            Edit(f"many ({size}), at the beginning", partial(crowd, change=vary, size=size, first=True)),
            Edit(f"many ({size}), at the end", partial(crowd, change=vary, size=size)),
        ]
        for factor, words in ((0, "0"), (1_000, "a thousand times as high")):
            change = partial(crowd, change=partial(scaled, factor=factor), size=MANY)
            edits.append(Edit(f"many, all their figures {words}", change))
        if not self.each_id_once:
            words = f"many ({MANY}), of which nothing can be read"
            edits.append(Edit(words, partial(self._insert, nodes=[{}] * MANY, first=False)))
        return _single(edits)

    def mutated(self) -> Worlds:
        """Return worlds with late rows of another form, each of them other in one respect.

        In a list, each is a row besides, so that one world holds them all. Elsewhere each takes the place of a row.
        """
        if not self.listed:
            edits = [
                [
                    Edit(words, partial(_put, path=row.path, value=node), may_add)
                    for words, node, may_add in self._mutants(row, (), 0)
                    if row.container or isinstance(node, dict)
                ]
                for row in self.rows[:6]
            ]
            return {
                f"{turn}": tuple(mine[(turn + place) % len(mine)] for place, mine in enumerate(edits))
                for turn in range(max(map(len, edits), default=0))
            }
        mutants = [
            mutant
            for place, row in enumerate(self.listed[:3])
            for mutant in self._mutants(row, self.ids[row], 900 + 1_000 * place)
        ]
        if not self.each_id_once:
            mutants += [("repeated", node_at(self.findings.tree, row.path), False) for row in self.listed[:3]]
        insert = partial(self._insert, first=True)
        return {
            "of other forms": tuple(
                Edit(words, partial(insert, nodes=[node]), may_add) for words, node, may_add in mutants
            )
        }

    def twins(self) -> Worlds:
        """Return worlds with a copy of each public row under a late one's dates, as a version of it or beside it."""
        public = [row for row in self.findings.rows if row in self.public and row.versions and isinstance(row.key, int)]
        model = next((row for row in self.rows if public and row.container == public[0].container), None)
        if model is None:
            return {}
        dates = {path[len(model.path) :]: value for path, value in self.findings.sources(model).items()}
        ids = id_paths(self.findings, public)
        ways = [] if self.each_id_once else [("later versions of public rows", False, 0)]
        ways += [] if self.keeps_first else [("later versions of public rows, before them", True, 0)]
        if all(ids.values()):  # else an id has several parts, and copies would contradict the rows
            ways += [("rows like public ones", True, 7_000)]
        edits = []
        for words, first, number in ways:
            copies = []
            for row in public:
                node = _copied(node_at(self.findings.tree, row.path))
                for path, value in dates.items():
                    _put(node, path, value)
                copies.append(self._renamed(node, ids[row] if number else (), number))
            change = partial(_insert, container=public[0].container, nodes=copies, first=first)
            edits.append(Edit(f"beside {words}", change, may_add=True))
        return _single(edits)

    def _mutants(self, row: ReplyRow, ids: Collection[Path], number: int) -> Iterator[tuple[str, Any, bool]]:
        """Yield the row with one value changed, in words; whole rows that are none; and rows with other dates."""
        original = node_at(self.findings.tree, row.path)
        # Where pages are asked for by the id of a row, each row has one.
        nothing: tuple[Any, ...] = () if self.each_id_once else (None, CANARY, 5, [], {}, [CANARY])
        yield from ((f"{value!r}", value, False) for value in nothing)
        if not isinstance(original, dict):
            return
        dated = _below(row, self.findings.sources(row)) | _below(row, dict(self.findings.dates_of(row)))
        changes: list[tuple[str, dict[Path, Any]]] = [
            (f"with a field more ({more})", more)
            for more in ({("extra_field",): CANARY}, {("unreadable",): float("nan")})
        ]
        for words, date in (("without their dates", lambda v: None), ("with dates that are none", lambda v: CANARY),
                            ("at the calendar's end", _on_last_day)):  # fmt: skip
            changes.append((words, {path: date(node_at(original, path)) for path in dated if path}))
        for words, values in changes:
            node, number = _copied(original), number + 1
            for path, value in values.items():
                _put(node, path, value)
            yield words, self._renamed(node, ids if self.each_id_once else (), number), False
        fields = [path for path, _ in leaves(original)] + [(name,) for name in original if name not in self.pages]
        for path in dict.fromkeys(path for path in fields if path and path not in dated):
            if any(other[: len(path)] == path for other in dated) or (self.each_id_once and path in ids):
                continue
            for value in other_values(node_at(original, path)):
                node, number = _copied(original), number + 1
                self._renamed(node, {*ids} - {path}, number)
                if value is GONE:
                    with contextlib.suppress(TypeError):  # an element of a list stays
                        node_at(node, path[:-1]).pop(path[-1])
                else:
                    _put(node, path, value)
                words = f"without {field_of(path)}" if value is GONE else f"with {field_of(path)} = {value!r}"
                yield words, node, True

    def _insert(self, tree: Any, nodes: Sequence[Any], first: bool) -> None:
        _insert(tree, self.listed[0].container, nodes, first)

    def _renamed(self, node: Any, paths: Iterable[Path], number: int) -> Any:
        """Return a row under another id, which stands at ``paths``."""
        for path in paths:
            with contextlib.suppress(KeyError, IndexError, TypeError):
                value = node_at(node, path)
                if type(value) is int:
                    _put(node, path, value + 1_000_000 + 10 * number)
                elif _is_text(self.findings, value):
                    _put(node, path, f"{value}x{number}")
        return node

    def _count(self, tree: Any, more: int) -> None:
        """Correct the totals beside the rows for so many rows ``more``."""
        sizes = {len(node_at(self.findings.tree, container)) for container in self.findings.containers}
        for path, value in leaves_beside(self.findings, tree):
            number = int(value) if isinstance(value, str) and value.isdigit() else value
            if type(number) is int and number in sizes:
                _put(tree, path, type(value)(number + more))

    def _pointers(self) -> Iterator[Path]:
        """Yield where public rows name a late one: by the id of its record, or by a value that no other row has.

        Such a value may also be an amount. So a field that names rows by one holds nothing but such values.
        """
        findings, late = self.findings, self.rows
        columns: dict[Path, dict[Path, Any]] = defaultdict(dict)
        rows = {path: row for row in findings.every for path, _ in findings.leaves_of(row)}
        for path, row in rows.items():
            value = findings.value_at(row, path)
            if _may_name(value) and floor(value) is None:
                columns[row.pattern(path)][path] = value
        keys = [column for column in columns.values() if len(column) == len({*column.values()}) == len(findings.every)]
        known = {name for row in self.public for name in row.ids}
        ids = {name for row in late for name in row.ids} - known
        parts = _parts(ids) - _parts(known)
        for column in columns.values():
            names = {
                value
                for key in keys
                if key is not column and {*column.values()} <= {*key.values()}
                for path, value in key.items()
                if rows[path] in late
            }
            # Part of an id is a name where nothing else stands in the field.
            by_part = len(column) > 1 and {str(value) for value in column.values()} <= _parts(ids | known)
            for path, value in column.items():
                words = set(re.split(r"[^\w.-]+", str(value))) if len(str(value)) > 3 else set()
                is_named = value in names or str(value) in ids or words & ids or (by_part and str(value) in parts)
                if rows[path] not in late and is_named:
                    yield path


def say_otherwise(findings: Findings, tree: Any, rows: Sequence[ReplyRow] = ()) -> None:
    """Put other texts and figures into ``rows``, or all, under the same ids and dates."""
    ids = id_paths(findings, findings.every)
    for row in rows or findings.every:
        _vary(findings, node_at(tree, row.path), ids[row] | _below(row, findings.sources(row)), 1)


def leaves_beside(findings: Findings, tree: Any) -> list[tuple[Path, Any]]:
    """Return every scalar beside the rows, with its path. What is in other lists of things is not about the rows.

    Documents that are asked for whatever rows there are come with all that they hold, if nothing of it has a date: it
    is as it stands today.
    """
    main = findings.case.source.main

    def beside(node: Any, path: Path) -> Iterator[tuple[Path, Any]]:
        if path and path in findings.containers:
            return  # not walked through: it may hold thousands of rows
        if isinstance(node, dict):
            for key, child in node.items():
                yield from beside(child, (*path, key))
        elif isinstance(node, list):
            yield from (((*path, key), child) for key, child in enumerate(node) if not isinstance(child, (dict, list)))
        else:
            yield path, node

    found = list(beside({main: tree[main]}, ())) if main in tree else []
    for key in sorted(findings.standing):
        others = [((key, *path), value) for path, value in leaves(tree[key])]
        found += others if all(floor(value) is None for _, value in others) else []
    return found


def nested_additions(findings: Findings, pit: datetime) -> Iterator[tuple[ReplyRow, str, Change]]:
    """Yield, for each list of dated things in a public row, the change that adds one dated later than ``pit``."""
    for row in findings.rows:
        if findings.is_late(row, pit):
            continue
        node = node_at(findings.tree, row.path)
        for place, value in findings.dates_of(row):
            path = place[len(row.path) :]
            if not path or PLANNED.search(str(path[-1])):
                continue
            last = max((number for number, part in enumerate(path) if isinstance(part, int)), default=None)
            if last is not None and path[last] == 0 and isinstance(node_at(node, path[: last + 1]), dict):
                holder = path[:last]
                change = partial(
                    _add_later, findings, holder=(*row.path, *holder), date=path[last + 1 :], value=value, pit=pit
                )
                yield row, ".".join(map(str, holder)), change


def id_paths(findings: Findings, rows: Sequence[ReplyRow]) -> dict[ReplyRow, set[Path]]:
    """Return where each row holds the ids of its records."""
    paths = {
        row: {
            path
            for path, value in leaves(node_at(findings.tree, row.path))
            if value not in ("", None) and str(value) in row.ids
        }
        for row in rows
    }
    shared: set[Path] = set().union(*paths.values())
    return {row: own or shared for row, own in paths.items()}


# --- edits of one node, in place


def _add_later(findings: Findings, tree: Any, holder: Path, date: Path, value: object, pit: datetime) -> None:
    """Add to the list at ``holder`` a copy of its first thing, its ``date`` after ``pit``."""
    things = node_at(tree, holder)
    addition = _copied(things[0])
    rewrite(findings, addition)
    while (instant := floor(value)) is not None and instant <= pit:
        value = postpone(value, 30)
    _put(addition, date, value)
    things.append(addition)


def _insert(tree: Any, container: Path, nodes: Sequence[Any], first: bool) -> None:
    rows = node_at(tree, container)
    place = 0 if first else len(rows)
    rows[place:place] = _copied(nodes)


def _vary(findings: Findings, node: Any, kept: set[Path], number: int) -> Any:
    """Vary texts and figures so that copies sort before and after the originals, whatever the provider sorts by."""
    for path, value in list(leaves(node)):
        if not path or path in kept:
            continue
        if _is_text(findings, value):
            _put(node, path, f"{'!' if number % 2 else '~'}{number} {value}")
        elif isinstance(value, float):
            _put(node, path, value * (1_000 + number) if number % 2 else value / (1_000 + number))
    return node


def rewrite(findings: Findings, node: Any, distinct: bool = False) -> None:
    """Put another value of its type in the place of every scalar in ``node`` that is not a date.

    distinct  what differs from row to row still does
    """
    for path, value in list(leaves(node)):
        if path and distinct and _is_text(findings, value):
            _put(node, path, f"{value} {CANARY}")
        elif path and not findings.case.source.is_dated(value):
            of_its_type = (other for other in other_values(value) if value is not None and type(other) is type(value))
            _put(node, path, next(of_its_type, value))


def _put(node: Any, path: Path, value: Any) -> None:
    with contextlib.suppress(KeyError, IndexError, TypeError):
        node_at(node, path[:-1])[path[-1]] = _copied(value)


def _copied(node: Any) -> Any:
    # Many hundred rows are copied, and copy.deepcopy is several times slower.
    return pickle.loads(pickle.dumps(node)) if isinstance(node, (dict, list)) else node  # noqa: S301 - of this process


def _single(edits: Iterable[Edit]) -> Worlds:
    return {edit.words: (edit,) for edit in edits}


def _below(row: ReplyRow, paths: Iterable[Path]) -> set[Path]:
    """Return the paths inside a row."""
    return {path[len(row.path) :] for path in paths}


def _parts(ids: Iterable[str]) -> set[str]:
    """Return the numbers of three digits or more in ids that hold more than a number."""
    return {number for name in ids for number in re.findall("[0-9]{3,}", name) if number != name}


def _may_name(value: object) -> bool:
    """Return whether a value can be a name: not an amount with a fraction, nor a number that counts a few."""
    return (isinstance(value, str) and len(value) > 2) or (type(value) is int and value >= 100)


def _is_text(findings: Findings, value: Any) -> bool:
    return isinstance(value, str) and not findings.case.source.is_dated(value)


def _on_last_day(value: Any) -> Any:
    return "9999-12-31" + value[10:] if isinstance(value, str) and value[4:5] == "-" else value
