"""Load the modules that ship with this package: the gate and the bundled providers.

They are found by this package's own location on disk, never through ``sys.path``: with ``python -m`` or ``python -c``
that path starts with the working directory, and a ``pit_gate.py`` there must not replace the real one.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from types import ModuleType
from typing import TYPE_CHECKING

__all__ = ["gate", "load"]

# A wheel installs them beside the package, a checkout keeps them in folders of their own.
_HOME = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
_ROOTS = [_HOME, os.path.join(_HOME, "providers"), os.path.join(_HOME, "hooks")]


def load(name: str) -> ModuleType:
    """Return the top-level module ``name`` that ships with this package. Raise ImportError if it is missing."""
    spec = PathFinder.find_spec(name, _ROOTS)
    if spec is None or spec.loader is None:
        raise ImportError(f"{name} is missing beside pit_fetch: reinstall it")
    loaded = sys.modules.get(name)
    if loaded is not None and getattr(loaded, "__file__", None) == spec.origin:
        return loaded
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


if TYPE_CHECKING:
    import pit_gate as gate
else:
    gate = load("pit_gate")
