"""Which part of a recorded reply is which record: found by leaving parts out and looking what is missing then."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pit_fetch.testing.case import Case, Seen, Version, failure
from pit_fetch.testing.documents import Path, at, containers, format_of, must_format
from pit_fetch.testing.program import look

MAX_ROWS = 60


@dataclass(frozen=True)
class Row:
    """A part of the reply: the path of the list (or map) that holds it, its key there, and the versions it makes."""

    container: Path
    key: Any
    versions: frozenset[Version]

    @property
    def path(self) -> Path:
        return (*self.container, self.key)


def rows_of(case: Case, seen: Seen) -> list[Row]:
    """The rows of the recorded reply. ``seen`` is the baseline. Raises AssertionError when none can be told."""
    rows: list[Row] = []
    known = format_of(case.reply)
    if known is not None:
        tree, settled = known.decode(case.reply), list[Path]()
        every = sorted(containers(tree), key=lambda path: (len(at(tree, path)) < 2, len(path)))
        for path in every:
            if any(path[: len(one)] == one or one[: len(path)] == path for one in settled):
                continue
            found = list(_effective(case, seen, tree, path))
            if found:
                rows += found
                settled.append(path)
    if not rows:
        raise failure(
            "no part of the recorded reply can be left out so that just its record is missing",
            "record a reply in JSON, XML or CSV with at least two records, shorter than the provider's page, "
            "or override serve(), so that reply is the list of all records and serve() makes pages of it",
        )
    return rows


def edited(case: Case, change: Callable[[Any], None]) -> bytes:
    """The recorded reply after ``change`` on its tree, in place."""
    known = must_format(case.reply)
    tree = known.decode(case.reply)
    change(tree)
    return known.encode(tree)


def drop(tree: Any, rows: Sequence[Row]) -> None:
    """Takes ``rows`` out of ``tree``."""
    for row in sorted(rows, key=lambda row: (str(row.container), row.key), reverse=True):
        del at(tree, row.container)[row.key]


def keys_of(container: Any) -> list[Any]:
    return list(container if isinstance(container, dict) else range(len(container)))[:MAX_ROWS]


def _effective(case: Case, seen: Seen, tree: Any, path: Path) -> Iterator[Row]:
    keys = keys_of(at(tree, path))
    for key in keys:
        row = Row(path, key, frozenset())
        without = look(case, case.now, reply=edited(case, lambda tree, row=row: drop(tree, [row])))  # type: ignore[misc]
        lost = seen.versions - without.versions
        whole = not without.versions and len(keys) > 1
        if lost and not whole and not without.crash and "upstream_error" not in without.gap_types:
            yield Row(path, key, lost)
