"""What an author's code remembers between runs: found, put back, and so proved to be what a run begins with.

A real command is a process of its own. In a test many runs share one, and what a module, a class, a default,
a closure or a cache keeps of one run could hide, or cause, a difference in the next.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections import deque
from collections.abc import Callable, Collection
from itertools import chain
from operator import is_
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

from pit_fetch.provider import Provider

_OURS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")
_LIBRARIES = tuple(
    os.path.join(path, "")
    for path in {*(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))}
)

Undo = Callable[[], None]


class Authors(NamedTuple):
    """Which code is a provider's author's: its own package, wherever it is installed, and what is not a library."""

    packages: frozenset[str]

    def wrote(self, module: str, file: str) -> bool:
        if module.partition(".")[0] in self.packages:
            return True
        return bool(file) and not file.startswith(("<", _OURS, *_LIBRARIES))

    def wrote_module(self, name: str) -> bool:
        return self.wrote(name, str(getattr(sys.modules.get(name), "__file__", None) or ""))


def authors_of(provider: Provider) -> Authors:
    modules = {function.__module__.partition(".")[0] for function in (provider.fetch, provider.parse_reply)}
    return Authors(frozenset(modules - {"pit_fetch"}))


class State:
    """What is reachable from a provider's functions and can change, as it was when this was made."""

    def __init__(self, provider: Provider) -> None:
        self.authors = authors_of(provider)
        self._undo: list[Undo] = []
        # What can change in place: how it is put back, and what it holds, in live views.
        self._puts: list[Callable[[], object]] = []
        self._views: list[Collection[object]] = []
        self._met: set[int] = set()
        self._kept: list[object] = []  # so that no id is used again
        self.modules: set[str] = set()
        self.figures: set[int] = set()
        waiting: list[object] = list(provider)
        while waiting:
            one = waiting.pop()
            if id(one) in self._met:
                continue
            self._met.add(id(one))
            self._kept.append(one)
            waiting += self._enter(one)
        self._sizes = [len(view) for view in self._views]
        self._members = list(chain.from_iterable(self._views))

    def reset(self) -> None:
        """Puts everything back."""
        for undo in self._undo:
            undo()
        if not self._holds_the_same():
            for put in self._puts:
                put()

    def _holds_the_same(self) -> bool:
        """Whether everything still holds the very same things, looked at in one go: it is asked before each run."""
        if list(map(len, self._views)) != self._sizes:
            return False
        return all(map(is_, chain.from_iterable(self._views), self._members))

    def _enter(self, one: object) -> list[object]:
        """Notes how ``one`` is put back. Returns what it holds."""
        match one:
            case FunctionType():
                return self._function(one)
            case MethodType():
                return [one.__func__, one.__self__]
            case dict():
                return self._container(one, dict(one), lambda held: _refill(one, one.update, held), one.values())
            case list():
                return self._container(one, list(one), lambda held: one.__setitem__(slice(None), held), one)
            case set():
                return self._container(one, set(one), lambda held: _refill(one, one.update, held), ())
            case deque():
                return self._container(one, list(one), lambda held: _refill(one, one.extend, held), one)
            case bytearray():
                return self._container(one, bytes(one), lambda held: one.__setitem__(slice(None), held), ())
            case tuple() | frozenset():
                return list(one)
            case type():
                return self._class(one)
            case ModuleType():
                return self._module(one.__name__)
        if callable(getattr(one, "cache_clear", None)):
            self._undo.append(one.cache_clear)  # type: ignore[attr-defined]
            return [getattr(one, "__wrapped__", None)]
        return self._instance(one)

    def _function(self, one: FunctionType) -> list[object]:
        if not self.authors.wrote(one.__module__ or "", one.__code__.co_filename):
            return []
        self.figures |= _figures(one.__code__)
        held: list[object] = [one.__dict__, one.__defaults__, one.__kwdefaults__]
        for cell in one.__closure__ or ():
            try:
                value = cell.cell_contents
            except ValueError:
                continue
            held.append(value)
            self._undo.append(lambda cell=cell, value=value: setattr(cell, "cell_contents", value))  # type: ignore[misc]
        held += self._module(one.__module__)
        return held

    def _module(self, name: str) -> list[object]:
        if name in self.modules or not self.authors.wrote_module(name):
            return []
        self.modules.add(name)
        names = vars(sys.modules[name])
        held = {key: value for key, value in names.items() if not key.startswith("__")}
        self._views += [names, names.values()]
        self._puts.append(lambda: _put_back(names, held))
        self.figures |= {value for value in held.values() if type(value) is int}
        return list(held.values())

    def _class(self, one: type) -> list[object]:
        if not self.authors.wrote_module(one.__module__):
            return []
        held = {key: value for key, value in vars(one).items() if not key.startswith("__")}

        def undo() -> None:
            for key, value in held.items():
                if vars(one).get(key) is not value:
                    setattr(one, key, value)

        self._undo.append(undo)
        return [getattr(value, "__func__", getattr(value, "fget", value)) for value in held.values()]

    def _instance(self, one: object) -> list[object]:
        names = getattr(one, "__dict__", None)
        if not isinstance(names, dict) or not self.authors.wrote_module(type(one).__module__):
            return [one.__wrapped__] if hasattr(one, "__wrapped__") else []
        return [names]

    def _container(self, one: Any, held: Any, put: Callable[[Any], object], values: Any) -> list[object]:
        self._views += [one, one.values()] if isinstance(one, dict) else [one]
        self._puts.append(lambda: put(held))
        return [value for value in values if not isinstance(value, (str, bytes, int, float, type(None)))]


def _figures(code: CodeType) -> set[int]:
    """The whole numbers that a function names: among them the sizes at which it does something else."""
    inner = (one for one in code.co_consts if isinstance(one, CodeType))
    return {one for one in code.co_consts if type(one) is int}.union(*map(_figures, inner))


def _refill(one: Any, fill: Callable[[Any], object], held: Any) -> None:
    one.clear()
    fill(held)


def _put_back(names: dict[str, Any], held: dict[str, Any]) -> None:
    for key in [key for key in names if not key.startswith("__") and key not in held]:
        del names[key]
    for key, value in held.items():
        if names.get(key) is not value:
            names[key] = value
