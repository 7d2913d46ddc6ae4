"""Writes the tables in the guard that follow from other files: ``python -m tests.repo.seal``.

The bundled agents and their options come from the providers, the shipped patterns from the files that agents read.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path

from pit_fetch.engine import registry
from pit_fetch.request.values import flag_of
from pit_fetch.support.bundled import load
from tests.neo4j.patterns import PATTERNS

GUARD = Path(__file__).resolve().parents[2] / "hooks" / "pit_guard.py"

guard = load("pit_guard")


def digests() -> Mapping[str, str]:
    """Return the digest of each pattern, by the pattern's name."""
    return {name: guard.pattern_digest(block.query) for name, block in PATTERNS.items()}


def sealed(text: str) -> str:
    """Return the guard's ``text`` with its tables as they should be."""
    providers = [registry.load(name) for name in registry.BUNDLED_NAMES]
    options = {flag_of(option.name).removeprefix("--") for provider in providers for option in provider.options}
    tables = {
        "ADAPTERS": _wrapped(agent for provider in providers for agent in provider.agents),
        "SOURCE_OPTIONS": _wrapped(options),
        "SHIPPED_PATTERNS": [f'"{digest}",  # {name.partition(":")[0]}' for name, digest in digests().items()],
    }
    for name, lines in tables.items():
        before, opening, rest = text.partition(f"\n{name} = frozenset(\n    {{\n")
        _, closing, after = rest.partition("    }\n)")
        assert closing, f"{name} is not in the guard"
        text = "".join((before, opening, *(f"        {line}\n" for line in lines), closing, after))
    return text


def _wrapped(names: Iterable[str]) -> list[str]:
    return textwrap.wrap(", ".join(f'"{name}"' for name in sorted(names)) + ",", 112, break_on_hyphens=False)


def main() -> None:
    GUARD.write_text(sealed(GUARD.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
