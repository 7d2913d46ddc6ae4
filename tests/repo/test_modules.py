"""The shape of the code: packages in layers, no import upwards, no circle, and a page that describes them."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from pit_fetch.engine.registry import BUNDLED_NAMES

ROOT = Path(__file__).parents[2]
SOURCE_ROOTS = {
    "pit_fetch": ROOT,
    "pit_fetch_providers": ROOT / "providers",
    "pit_gate": ROOT / "hooks",
    "pit_guard": ROOT / "hooks",
}
AUTHOR_API = ("provider", "paging", "times", "wire", "tables", "errors", "gaps", "transport")

# What takes milliseconds to import. A source does so where it needs it: an agent starts one for each question.
SLOW = ("asyncio", "dataclasses", "defusedxml", "mwparserfromhell", "requests", "selectolax", "sqlite3", "statistics")

# From the bottom up. A module imports from lower layers, from its own package, and, among the author's API, from its
# neighbours: at any level of its code, and also what only a type checker reads.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("pit_gate", "pit_guard"),
    ("pit_fetch.support",),
    tuple(f"pit_fetch.{name}" for name in AUTHOR_API),
    ("pit_fetch.pipeline", "pit_fetch.runtime"),
    ("pit_fetch.formats", "pit_fetch.normalize", "pit_fetch_providers"),
    ("pit_fetch.courtesy",),
    ("pit_fetch.net", "pit_fetch.request"),
    ("pit_fetch.archive",),
    ("pit_fetch.engine",),
    ("pit_fetch.runs",),
    ("pit_fetch.inspect", "pit_fetch.archive_admin", "pit_fetch.claude_code", "pit_fetch.mcp", "pit_fetch.views"),
    ("pit_fetch.answers",),
    ("pit_fetch.panels", "pit_fetch.instants"),
    ("pit_fetch.world",),
    ("pit_fetch.cli",),
    ("pit_fetch.testing",),
    ("pit_fetch.pytest_plugin",),
    ("pit_fetch.api",),
    ("pit_fetch",),
    ("pit_fetch.__main__",),
)


@cache
def modules() -> dict[str, Path]:
    """Return every module by its name, but for what ``new-provider`` writes elsewhere."""
    names = {}
    for package, root in SOURCE_ROOTS.items():
        for path in (root / f"{package}.py", *(root / package).rglob("*.py")):
            if path.is_file() and "skeleton" not in path.parts:
                names[".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")] = path
    return names


@cache
def imports(module: str) -> frozenset[str]:
    """Return the modules of ours that ``module`` imports anywhere, itself and the packages around it apart."""
    return frozenset(_imports(ast.parse(modules()[module].read_text()))) - {module}


def _imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules())
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "." in node.value:
            yield from (node.value,) if node.value in modules() else ()  # for importlib
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "a relative import hides where it leads"
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield from (name,) if name in modules() else (str(node.module),) if node.module in modules() else ()


def place(module: str) -> tuple[int, str]:
    """Return a module's layer, and the package or module of :data:`LAYERS` that it is in."""
    # The longest name that fits: everything lies in pit_fetch.
    return max(
        (len(room), (level, room))
        for level, rooms in enumerate(LAYERS)
        for room in rooms
        if f"{module}.".startswith(f"{room}.")
    )[1]


@pytest.mark.parametrize("module", modules())
def test_no_module_imports_upwards_or_sideways(module: str) -> None:
    level, room = place(module)
    assert (room == "pit_fetch") == (module == "pit_fetch"), "name its package in LAYERS"
    for other in imports(module):
        other_level, other_room = place(other)
        are_neighbours = room == other_room or {room, other_room} <= set(LAYERS[2])
        assert other_level < level or are_neighbours, f"{module} imports {other}"


@pytest.mark.parametrize("module", [name for name in modules() if name.startswith("pit_fetch_providers.")])
def test_a_source_imports_the_author_api_alone(module: str) -> None:
    assert {name for name in imports(module) if name.startswith("pit_fetch.")} <= set(LAYERS[2])


def test_a_source_imports_no_other_source() -> None:
    sources = {f"pit_fetch_providers.{name.replace('-', '_')}" for name in BUNDLED_NAMES}
    for source in sources:
        parts = [name for name in modules() if name == source or name.startswith(f"{source}.")]
        others = {other for part in parts for other in imports(part)} - set(parts)
        assert not [other for other in others if any(f"{other}.".startswith(f"{name}.") for name in sources)]


@pytest.mark.parametrize("source", BUNDLED_NAMES)
def test_a_source_is_loaded_without_what_is_slow(source: str) -> None:
    code = f"import sys; from pit_fetch.engine import registry; registry.load({source!r}); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "pit_fetch.provider" in loaded
    assert not {*SLOW} & {*loaded}


def test_imports_form_no_circle() -> None:
    # A package is a front door to its modules; what it imports of them is no circle.
    graph = {name: {other for other in imports(name) if not name.startswith(f"{other}.")} for name in modules()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(reversed(error.args[1])))


def test_few_modules_lie_beside_the_packages() -> None:
    beside = {path.stem for path in (ROOT / "pit_fetch").glob("*.py")} - {"__init__"}
    assert beside == {*AUTHOR_API, "api", "answers", "runtime", "pytest_plugin", "__main__"}


def test_the_architecture_page_has_every_package_and_its_purpose() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    for folder in sorted(path.parent for path in (ROOT / "pit_fetch").glob("*/__init__.py")):
        purpose = (ast.get_docstring(ast.parse((folder / "__init__.py").read_text())) or "").partition("\n")[0]
        assert purpose.endswith("."), f"pit_fetch/{folder.name} states its purpose in one sentence"
        assert f"`{folder.name}/` | {purpose.replace('``', '`')}" in page, folder.name


def test_the_architecture_page_names_no_module_that_is_gone() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    words = page.replace("`", " ").replace("(", " ").split()
    paths = [word for word in words if word.endswith(".py") and "/" in word and "NAME" not in word]
    assert len(paths) > 40
    assert [path for path in paths if not ((ROOT / "pit_fetch" / path).is_file() or (ROOT / path).is_file())] == []
