"""Plants a leak: puts another function, or another constant, in the place of a real one, wherever that is held.

A leak is named by what it replaces and written as a function of the real thing, so an honest
rewording of the source does not break it. A target that is gone, or that is called differently by
now, is an error; and so is a leak that fails of itself, which would show nothing.
"""

from __future__ import annotations

import ast
import inspect
import os
import sys
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from inspect import Parameter
from types import FunctionType, GeneratorType, ModuleType
from typing import Any, NamedTuple

from pit_fetch.support.bundled import load

Make = Callable[[Any], Any]

# What a leak raises when it no longer fits what it replaces. Whatever else it raises is a part of it.
_MISTAKES = (AttributeError, LookupError, NameError, TypeError)
_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
_HOOKS = ("pit_gate", "pit_guard")


class Place(NamedTuple):
    """What a target names: ``real``, which its module or a class in it holds as ``name``."""

    module: ModuleType
    name: str
    real: Any


def find(target: str) -> Place:
    """The place of "module:name" or "module:Class.name". Raises AttributeError when there is none."""
    module_name, _, path = target.partition(":")
    # The hooks are loaded by their place on disk, as the program itself does it.
    module = load(module_name) if module_name in _HOOKS else import_module(module_name)
    owner: Any = module
    *parents, name = path.split(".")
    for parent in parents:
        owner = getattr(owner, parent)
    return Place(module, name, getattr(owner, name))


def leak_at(place: Place, make: Make) -> Any:
    """What ``make`` makes of what is there. Raises TypeError when it cannot be called as the real function is."""
    real = _function(place.real)
    if real is None:
        fake = make(place.real)
        if fake == place.real:
            raise TypeError("it is what it was")
        return fake
    fake = make(_copied(real))
    for given, named in _calls(real):
        inspect.signature(fake).bind(*given, **named)
    return fake


def plant(target: str, make: Make) -> list[str]:
    """Puts ``make(real)`` in the place of ``target``, for good. Returns a list that fills with the leak's own mistakes.

    Raises AttributeError when nothing of that name is there, and TypeError when the leak does not fit.
    """
    place, mistakes = find(target), list[str]()
    fake, real = leak_at(place, make), _function(place.real)
    if real is None:
        for module, name in _holders(place):
            setattr(module, name, fake)
        return mistakes
    # The code itself is swapped: tables, values and other modules hold the function, and not its name.
    real.__code__ = _planted.__code__
    real.__defaults__, real.__kwdefaults__ = None, {"_leak": _watched(fake, mistakes)}
    getattr(place.real, "cache_clear", lambda: None)()
    return mistakes


def _function(real: Any) -> FunctionType | None:
    """The function itself, without what a decorator has put around it; None for a constant."""
    bare = getattr(real, "__wrapped__", real)
    return bare if isinstance(bare, FunctionType) else None


def _planted(*given: Any, _leak: Callable[..., Any], **named: Any) -> Any:
    return _leak(*given, **named)


def _copied(real: FunctionType) -> FunctionType:
    copy = FunctionType(real.__code__, real.__globals__, real.__name__, real.__defaults__, real.__closure__)
    copy.__kwdefaults__ = real.__kwdefaults__
    return copy


def _calls(real: FunctionType) -> Iterator[tuple[list[None], Mapping[str, None]]]:
    """Arguments as the function takes them: all of them, and those alone that it needs."""
    parameters = inspect.signature(real).parameters.values()
    for all_of_them in (True, False):
        needed = [parameter for parameter in parameters if all_of_them or parameter.default is parameter.empty]
        given = [None for parameter in needed if parameter.kind in _POSITIONAL]
        yield given, {parameter.name: None for parameter in needed if parameter.kind is Parameter.KEYWORD_ONLY}


def _watched(fake: Callable[..., Any], mistakes: list[str]) -> Callable[..., Any]:
    """``fake``, whose own mistakes are noted: those that are raised where it is written, and not in what it calls."""
    watch = partial(_noting, os.path.dirname(inspect.getfile(fake)), mistakes)

    def iterated(iterator: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
        with watch():
            return (yield from iterator)

    def call(*given: Any, **named: Any) -> Any:
        with watch():
            result = fake(*given, **named)
        return iterated(result) if isinstance(result, GeneratorType) else result

    return call


@contextmanager
def _noting(folder: str, mistakes: list[str]) -> Iterator[None]:
    try:
        yield
    except _MISTAKES as error:
        last = error.__traceback__
        while last is not None and last.tb_next is not None:
            last = last.tb_next
        file = last.tb_frame.f_code.co_filename if last is not None else ""
        # Where the last step is the call itself, the leak does not take what it was given.
        if last is not None and (file == __file__ or os.path.dirname(file) == folder):
            mistakes.append(f"{type(error).__name__}: {error} ({file}:{last.tb_lineno})")
        raise


def _holders(place: Place) -> Iterator[tuple[ModuleType, str]]:
    """Where a constant is held: in its own module and in those that have imported it, under whatever name.

    Another module's constant of the same name can be the same object, where it is a small number.
    """
    yield place.module, place.name
    for module in list(sys.modules.values()):
        if isinstance(module, ModuleType) and module is not place.module:
            held = [name for name, value in list(vars(module).items()) if value is place.real]
            for name in set(held) & _imported(module, place.name) if held else ():
                yield module, name


def _imported(module: ModuleType, name: str) -> set[str]:
    """The names under which a module has imported ``name`` from another."""
    source = inspect.getsource(module) if str(getattr(module, "__file__", "")).endswith(".py") else ""
    if name not in source:
        return set()
    imports = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)]
    return {alias.asname or alias.name for node in imports for alias in node.names if alias.name == name}
