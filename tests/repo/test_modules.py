"""The shape of the code: no module imports, however late, a module that imports it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = {"pit_fetch": ROOT / "pit_fetch", "pit_fetch_providers": ROOT / "providers" / "pit_fetch_providers"}


@cache
def modules(package: str) -> dict[str, Path]:
    """By name, without the package itself, which is a front door to all of them, and what it installs elsewhere."""
    folder = PACKAGES[package]
    found = {}
    for path in folder.rglob("*.py"):
        words = [package, *path.relative_to(folder).with_suffix("").parts]
        if "skeleton" not in words:
            found[".".join(words).removesuffix(".__init__")] = path
    del found[package]
    return found


def imported(tree: ast.AST, known: Collection[str]) -> Iterator[str]:
    """What a module imports of ``known``, at any level; what only a type checker reads does not count."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield from (name,) if name in known else (str(node.module),) if node.module in known else ()
        else:
            yield from imported(node, known)


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_form_no_circle(package: str) -> None:
    known = modules(package)
    graph = {name: set(imported(ast.parse(path.read_text()), known)) - {name} for name, path in known.items()}
    assert len(graph) > 20
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(reversed(error.args[1])))
