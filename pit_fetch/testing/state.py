"""A snapshot of what an author's code remembers, to put it back before each run.

A real command is a process of its own. In a test many runs share one, and what a module, a class, a default,
a closure or a cache keeps of one run could hide, or cause, a difference in the next. A forked child for each run would
need no snapshot, but a test runner has threads, which a fork may leave waiting for ever.
"""

from __future__ import annotations

import gc
import os
import re
import sys
import sysconfig
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from operator import is_
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

from pit_fetch.provider import Provider

_OURS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")
_LIBRARIES = tuple(
    os.path.join(sysconfig.get_path(name), "") for name in ("stdlib", "platstdlib", "purelib", "platlib")
)
# Names of figures that count something else than rows.
_NO_ROWS = re.compile("byte|char|second|milli|micro|timeout|width|year", re.IGNORECASE)
_ATOMS = (str, bytes, int, float, type(None))


class Authors(NamedTuple):
    """The code that a provider's author wrote: its own package, and what is neither pit_fetch's nor a library's."""

    packages: frozenset[str]

    def wrote(self, module: str, file: str) -> bool:
        if module.partition(".")[0] in self.packages:
            return True
        return bool(file) and not file.startswith(("<", _OURS, *_LIBRARIES))

    def wrote_module(self, name: str) -> bool:
        return self.wrote(name, str(getattr(sys.modules.get(name), "__file__", None) or ""))


class State:
    """A snapshot of everything reachable from a provider's functions that can change.

    modules  the author's modules
    figures  whole numbers in the author's code: sizes at which it may act differently
    """

    def __init__(self, provider: Provider) -> None:
        packages = {operation.fetch.__module__.partition(".")[0] for operation in provider.operations}
        self.authors = Authors(frozenset(packages - {"pit_fetch"}))
        self.modules: set[str] = set()
        self.figures: set[int] = set()
        self._resets: list[Callable[[], object]] = []
        met: dict[int, object] = {}  # the objects too, so that no id is used again
        waiting: list[object] = list(provider)
        while waiting:
            thing = waiting.pop()
            if id(thing) not in met and not isinstance(thing, _ATOMS):
                met[id(thing)] = thing
                waiting += self._enter(thing)
        self._met = met

    def reset(self) -> None:
        """Put everything back as it was when the snapshot was taken."""
        for reset in self._resets:
            reset()

    def _enter(self, thing: Any) -> Iterable[object]:
        """Note how ``thing`` is put back. Return what it refers to."""
        match thing:
            case FunctionType():
                return self._function(thing)
            case CellType():
                return self._cell(thing)
            case dict() | list() | set() | deque() | bytearray():
                return self._container(thing)
            case type() | ModuleType():
                return self._namespace(thing)
            case tuple() | frozenset() | MethodType() | staticmethod() | classmethod() | property() | partial():
                return gc.get_referents(thing)
        if callable(getattr(thing, "cache_clear", None)):
            self._resets.append(thing.cache_clear)
        elif self.authors.wrote_module(type(thing).__module__):
            return [getattr(thing, "__dict__", None)]
        return [getattr(thing, "__wrapped__", None)]

    def _function(self, function: FunctionType) -> Iterable[object]:
        if not self.authors.wrote(function.__module__ or "", function.__code__.co_filename):
            return ()
        self.figures |= _figures(function.__code__)
        module = sys.modules.get(function.__module__)
        return [function.__dict__, function.__defaults__, function.__kwdefaults__, function.__closure__, module]

    def _cell(self, cell: CellType) -> Iterable[object]:
        try:
            value = cell.cell_contents
        except ValueError:  # nothing was assigned to it yet
            return ()
        self.figures |= {value} if type(value) is int else set()
        self._resets.append(lambda: setattr(cell, "cell_contents", value))
        return [value]

    def _namespace(self, owner: type | ModuleType) -> Iterable[object]:
        name = owner.__module__ if isinstance(owner, type) else owner.__name__
        if not self.authors.wrote_module(name):
            return ()
        self.modules.add(name)
        # Without the interpreter's own, such as __builtins__.
        names = {name: value for name, value in vars(owner).items() if not name.startswith("__")}
        self.figures |= {value for name, value in names.items() if type(value) is int and not _NO_ROWS.search(name)}

        def reset() -> None:
            for name in [name for name in vars(owner) if not name.startswith("__") and name not in names]:
                delattr(owner, name)
            for name, value in names.items():
                if vars(owner).get(name) is not value:
                    setattr(owner, name, value)

        self._resets.append(reset)
        return names.values()

    def _container(self, container: Any) -> Iterable[object]:
        members = container.copy()

        def reset() -> None:
            if not _is_same(container, members):
                container.clear()
                (container.extend if hasattr(container, "extend") else container.update)(members)

        self._resets.append(reset)
        inside = () if isinstance(container, (set, bytearray)) else container
        return list(inside.values() if isinstance(inside, dict) else inside)


def _is_same(container: Any, members: Any) -> bool:
    """Return whether a container holds the same objects, in the same order."""
    if len(container) != len(members) or not all(map(is_, container, members)):
        return False
    return not isinstance(container, dict) or all(map(is_, container.values(), members.values()))


def _figures(code: CodeType) -> set[int]:
    """Return the whole numbers that a function names."""
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return {constant for constant in code.co_consts if type(constant) is int}.union(*map(_figures, inner))
