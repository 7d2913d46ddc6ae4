"""The tests of each bundled source in a folder of its own: suite, rules, fetches, server, worlds of the laws, leaks."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from pit_fetch.engine.registry import BUNDLED_NAMES


def folder_of(name: str) -> str:
    """Return the folder of a bundled source."""
    return name.replace("-", "_")


def modules(name: str) -> dict[str, ModuleType]:
    """Return the module ``name`` of every bundled source's folder, by the source."""
    return {source: import_module(f"{__name__}.{folder_of(source)}.{name}") for source in BUNDLED_NAMES}
