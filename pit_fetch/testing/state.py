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
                if not self.authors.wrote(thing.__module__ or "", thing.__code__.co_filename):
                    return ()
                self.figures |= _figures(thing.__code__)
                module = sys.modules.get(thing.__module__)
                return [thing.__dict__, thing.__defaults__, thing.__kwdefaults__, thing.__closure__, module]
            case CellType():
                try:
                    value = thing.cell_contents
                except ValueError:  # nothing was assigned to it yet
                    return ()
                self.figures |= {value} if type(value) is int else set()
                self._resets.append(lambda: setattr(thing, "cell_contents", value))
                return [value]
            case dict() | list() | set() | deque() | bytearray():
                self._resets.append(partial(_refill, thing, thing.copy()))
                inside = () if isinstance(thing, (set, bytearray)) else thing
                return list(inside.values() if isinstance(inside, dict) else inside)
            case type() | ModuleType():
                name = thing.__module__ if isinstance(thing, type) else thing.__name__
                if not self.authors.wrote_module(name):
                    return ()
                self.modules.add(name)
                names = _names(thing)
                self.figures |= {one for name, one in names.items() if type(one) is int and not _NO_ROWS.search(name)}
                self._resets.append(partial(_rename, thing, names))
                return names.values()
            case tuple() | frozenset() | MethodType() | staticmethod() | classmethod() | property() | partial():
                return gc.get_referents(thing)
        if callable(getattr(thing, "cache_clear", None)):
            self._resets.append(thing.cache_clear)
        elif self.authors.wrote_module(type(thing).__module__):
            return [getattr(thing, "__dict__", None)]
        return [getattr(thing, "__wrapped__", None)]


def _refill(container: Any, members: Any) -> None:
    """Put the members back into a container, unless it holds the same objects in the same order."""
    is_same = len(container) == len(members) and all(map(is_, container, members))
    if is_same and isinstance(container, dict):
        is_same = all(map(is_, container.values(), members.values()))
    if not is_same:
        container.clear()
        (container.extend if hasattr(container, "extend") else container.update)(members)


def _names(owner: type | ModuleType) -> dict[str, Any]:
    """Return what a class or a module names, without the interpreter's own, such as __builtins__."""
    return {name: value for name, value in vars(owner).items() if not name.startswith("__")}


def _rename(owner: type | ModuleType, names: dict[str, Any]) -> None:
    """Put the names of a class or a module back."""
    for name in _names(owner).keys() - names:
        delattr(owner, name)
    for name, value in names.items():
        if vars(owner).get(name) is not value:
            setattr(owner, name, value)


def _figures(code: CodeType) -> set[int]:
    """Return the whole numbers that a function names."""
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return {constant for constant in code.co_consts if type(constant) is int}.union(*map(_figures, inner))
