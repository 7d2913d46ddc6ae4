"""The Cypher queries in agents and skills: every fenced ``cypher`` block, with the heading that it appears under."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_HEADING = re.compile(r"#+ (.*)")


class Block(NamedTuple):
    """One query, and its heading."""

    heading: str
    query: str

    @property
    def is_pattern(self) -> bool:
        """Return whether the query takes a PIT; any other is for open mode."""
        return re.search(r"\$pit\b", self.query) is not None

    @property
    def parameters(self) -> frozenset[str]:
        return frozenset(re.findall(r"\$(\w+)", self.query))


def blocks(text: str) -> Iterator[Block]:
    """Yield the queries of one agent or skill, in order."""
    heading, lines = "", list[str]()
    inside = False
    for line in text.split("\n"):
        if inside and line.strip() == "```":
            inside = False
            yield Block(heading, "\n".join(lines))
        elif inside:
            lines.append(line)
        elif line.strip() == "```cypher":
            inside, lines = True, []
        elif match := _HEADING.match(line):
            heading = match[1]
