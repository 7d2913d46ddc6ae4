"""Writes the table of shipped patterns in the guard from the files that agents read: ``python -m tests.repo.seal``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from pit_fetch.support.bundled import load
from tests.neo4j.patterns import PATTERNS

GUARD = Path(__file__).resolve().parents[2] / "hooks" / "pit_guard.py"
TABLE = re.compile(r"(SHIPPED_PATTERNS = frozenset\(\n    \{\n)(.*?)(    \}\n\))", re.DOTALL)

guard = load("pit_guard")


def digests() -> Mapping[str, str]:
    """The digest of each pattern, by its name."""
    return {name: guard.pattern_digest(block.query) for name, block in PATTERNS.items()}


def lines(sealed: Mapping[str, str]) -> Iterable[str]:
    return (f'        "{digest}",  # {name.partition(":")[0]}\n' for name, digest in sealed.items())


def main() -> None:
    text = GUARD.read_text(encoding="utf-8")
    table = "".join(lines(digests()))
    GUARD.write_text(TABLE.sub(lambda match: match[1] + table + match[3], text), encoding="utf-8")


if __name__ == "__main__":
    main()
