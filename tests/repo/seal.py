"""Write the guard's table of shipped patterns from the files that agents read: ``python -m tests.repo.seal``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from pit_fetch.support.bundled import load
from tests.neo4j.patterns import PATTERNS

GUARD = Path(__file__).resolve().parents[2] / "hooks" / "pit_guard.py"
TABLE = re.compile(r"(SHIPPED_PATTERNS = frozenset\(\n    \{\n)(.*?)(    \}\n\))", re.DOTALL)

guard = load("pit_guard")


def digests() -> Mapping[str, str]:
    """Return the digest of each pattern, by its name."""
    return {name: guard.pattern_digest(block.query) for name, block in PATTERNS.items()}


def main() -> None:
    text = GUARD.read_text(encoding="utf-8")
    lines = (f'        "{digest}",  # {name.partition(":")[0]}\n' for name, digest in digests().items())
    table = "".join(lines)
    GUARD.write_text(TABLE.sub(lambda match: match[1] + table + match[3], text), encoding="utf-8")


if __name__ == "__main__":
    main()
