"""Write what follows from other files, in the guard and in the README: ``python -m tests.repo.seal``.

The bundled agents and their options come from the providers, the shipped patterns from the files that agents read, and
the README's help from the program.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from pit_fetch.engine import registry
from pit_fetch.provider import Option
from pit_fetch.request.options import COMMON_OPTIONS
from pit_fetch.request.values import flag_of
from pit_fetch.support.bundled import load
from tests.neo4j.patterns import PATTERNS

ROOT = Path(__file__).resolve().parents[2]
GUARD, README = ROOT / "hooks" / "pit_guard.py", ROOT / "README.md"

guard = load("pit_guard")


def digests() -> Mapping[str, str]:
    """Return the digest of each pattern, by the pattern's name."""
    return {name: guard.pattern_digest(block.query) for name, block in PATTERNS.items()}


def sealed_readme(text: str) -> str:
    """Return the README's ``text`` with the help that the program prints."""
    words, env = [sys.executable, "-m", "pit_fetch", "--help"], {**os.environ, "COLUMNS": "100"}
    shown = subprocess.run(words, env=env, capture_output=True, text=True, check=True).stdout
    before, opening, rest = text.partition("<!-- help -->\n```text\n")
    _, closing, after = rest.partition("```\n<!-- /help -->")
    assert closing, "the README has no block for the help"
    return "".join((before, opening, shown, closing, after))


def sealed_guard(text: str) -> str:
    """Return the guard's ``text`` with its tables as they should be."""
    providers = [registry.load(name) for name in registry.BUNDLED_NAMES]
    options = [option for provider in providers for option in provider.options]
    flags = {_name(option) for option in (*COMMON_OPTIONS, *options) if option.kind == "flag"}
    tables = {
        "ADAPTERS": _wrapped(agent for provider in providers for agent in provider.agents),
        "SOURCE_OPTIONS": _wrapped(set(map(_name, options))),
        "FLAGS": _wrapped(flags & {*guard.COMMON_OPTIONS, *map(_name, options)}),
        "SOURCES": _wrapped(registry.known_names()),
        "SHIPPED_PATTERNS": [f'"{digest}",  # {name.partition(":")[0]}' for name, digest in digests().items()],
    }
    for name, lines in tables.items():
        before, opening, rest = text.partition(f"\n{name} = frozenset(\n    {{\n")
        _, closing, after = rest.partition("    }\n)")
        assert closing, f"{name} is not in the guard"
        text = "".join((before, opening, *(f"        {line}\n" for line in lines), closing, after))
    return text


def _name(option: Option) -> str:
    return flag_of(option.name).removeprefix("--")


def _wrapped(names: Iterable[str]) -> list[str]:
    return textwrap.wrap(", ".join(f'"{name}"' for name in sorted(names)) + ",", 112, break_on_hyphens=False)


SEALED: Mapping[Path, Callable[[str], str]] = {GUARD: sealed_guard, README: sealed_readme}


def main() -> None:
    for path, sealed in SEALED.items():
        path.write_text(sealed(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
