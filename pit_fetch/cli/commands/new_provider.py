"""``pit_fetch new-provider NAME [DIR]``: a complete package for a provider, with passing tests.

The package is the folder ``pit_fetch/skeleton``, which works as it is under the name my-source; it
is copied with that name replaced in all its spellings. For a source of another shape, a folder in ``shapes``
replaces its module, its test and its reply.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from pit_fetch.cli.command import CommandResult, Parser, refusal
from pit_fetch.engine import registry

SKELETON = Path(os.path.dirname(os.path.dirname(os.path.dirname(__file__))), "skeleton")

# The shapes of a source, by the option that selects them.
SHAPES = {
    "post": "a search sent with POST",
    "two-step": "a list whose rows each have a page",
    "file": "a local SQLite file",
    "vintages": "figures with every restatement",
}

_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_NEXT = """\
Next, in {home} and in the environment where pit_fetch is installed:
  python3 -m pip install -e . pytest
  python3 -m pytest
  {look}
Then make it yours: {module}/__init__.py says what to ask for and how to date a record,
tests/reply.json is a recorded reply, and docs/provider-guide.md in pit_fetch takes it from here.
"""
# The files of a shape, by the skeleton's that they replace; as texts, so that no tool takes them for modules.
_INSTEAD = {
    "pit_fetch_my_source/__init__.py": "__init__.py.txt",
    "tests/test_my_source.py": "test.py.txt",
    "tests/reply.json": "reply.json",
    "README.md": "README.md",
}
# Two shapes show nothing on a reply alone. Their tests do.
_LOOK = {
    "": "pit_fetch --source {name} --pit 2024-02-15T16:00:00-05:00 --input-file tests/reply.json",
    "two-step": "pit_fetch --source {name} --help",
    "file": "pit_fetch --source {name} --help",
}


def run(argv: Sequence[str], environ: Mapping[str, str], folder: str) -> CommandResult:
    """Write the package and print the next steps. Nothing is overwritten."""
    parser = Parser("new-provider", "Write a package for a new provider, with passing tests.")
    parser.add_argument("name", nargs="?", metavar="NAME", help="name of the source, e.g. federal-register")
    parser.add_argument("dir", nargs="?", metavar="DIR", help="where to write it (default: pit-fetch-NAME)")
    shapes = parser.add_mutually_exclusive_group()
    for shape, text in SHAPES.items():
        shapes.add_argument(f"--{shape}", dest="shape", action="store_const", const=shape, default="", help=text)
    arguments = parser.parse_args(argv)
    problem = _problem_with(arguments.name)
    if problem:
        return refusal(problem)
    home = arguments.dir or f"pit-fetch-{arguments.name}"
    target = Path(folder, home)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        return refusal(f"{home} exists and is not empty: name another folder (nothing written)")
    lines = ""
    for path, content in files(arguments.name, arguments.shape).items():
        file = target / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")
        lines += f"wrote {os.path.join(home, path)}\n"
    texts = {"home": home, "name": arguments.name, "module": f"pit_fetch_{_identifier(arguments.name)}"}
    look = _LOOK.get(arguments.shape, _LOOK[""]).format(**texts)
    return CommandResult(lines + _NEXT.format(look=look, **texts))


def files(name: str, shape: str = "") -> dict[str, str]:
    """Return the package for a source called ``name``: file contents by path."""
    contents = {}
    for path in sorted(SKELETON.rglob("*")):
        inside = path.relative_to(SKELETON).as_posix()
        if path.is_file() and "__pycache__" not in path.parts and not inside.startswith("shapes/"):
            replacement = SKELETON / "shapes" / shape / _INSTEAD.get(inside, "")
            text = (replacement if shape and replacement.is_file() else path).read_text(encoding="utf-8")
            contents[_rename(inside, name)] = _rename(text, name)
    return contents


def _problem_with(name: str | None) -> str:
    if name is None:
        return "new-provider needs a NAME; see pit_fetch new-provider --help"
    if not _NAME.fullmatch(name):
        return f"{name!r} is not a valid source name: use lower-case letters, digits and single hyphens, a letter first"
    if registry.is_bundled(name):
        return f"{name} is the name of a bundled source: choose another"
    return ""


def _rename(text: str, name: str) -> str:
    identifier = _identifier(name)
    for old, new in (
        ("my-source", name),
        ("my_source", identifier),
        ("MY_SOURCE", identifier.upper()),
        ("MySource", "".join(part.capitalize() for part in name.split("-"))),
        ("My Source", " ".join(part.capitalize() for part in name.split("-"))),
    ):
        text = text.replace(old, new)
    return text


def _identifier(name: str) -> str:
    return name.replace("-", "_")
