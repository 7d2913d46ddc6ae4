"""How small an archive keeps vintages: replies to the same requests, some months apart.

    python -m tests.repo.vintages FOLDER

FOLDER holds the later replies in folders of any name, and the earlier ones beside each under the same
name with a date at its end: ``quotes/IBM.json`` and ``quotes_2025-11-08/IBM.json`` are a pair. Each later
reply is packed with the earlier one as its dictionary, as the archive does, and unpacked again.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pit_fetch.archive.store import bodies

_DATED = re.compile(r"(.+)_\d{4}-\d{2}-\d{2}")


class Sizes(NamedTuple):
    """In bytes. ``raw`` and ``packed`` are of the later replies alone, ``both`` and ``kept`` of the pairs."""

    raw: int
    packed: int
    both: int
    kept: int


def pairs(folder: Path) -> Iterator[tuple[bytes, bytes]]:
    """The earlier and the later reply of each pair, in the order of their names."""
    for dated in sorted(folder.iterdir()):
        name = _DATED.fullmatch(dated.name)
        for earlier in sorted(dated.rglob("*")) if name else ():
            later = folder / name[1] / earlier.relative_to(dated) if name else earlier
            if earlier.is_file() and later.is_file():
                yield earlier.read_bytes(), later.read_bytes()


def measure(found: Sequence[tuple[bytes, bytes]]) -> Sizes:
    """Raises ValueError if a body does not come out as it went in."""
    raw = packed = both = kept = 0
    for earlier, later in found:
        first, second = bodies.pack(earlier), bodies.pack(later, earlier)
        base = earlier if second.with_base else None
        if later == earlier:
            second = bodies.Packed(bodies.PLAIN, b"")  # a body is kept once
        elif bodies.unpack(second, base, len(later)) != later or bodies.unpack(first, None, len(earlier)) != earlier:
            raise ValueError("a body came out of its packing changed")
        raw, packed = raw + len(later), packed + len(second.data)
        both, kept = both + len(earlier) + len(later), kept + len(first.data) + len(second.data)
    return Sizes(raw, packed, both, kept)


def main(folder: str) -> int:
    found = list(pairs(Path(folder)))
    if not found:
        print(f"{folder}: no pairs of vintages")
        return 1
    sizes = measure(found)
    print(f"{len(found)} pairs, {sizes.both:,} bytes raw")
    print(f"later replies  {sizes.raw:,} -> {sizes.packed:,} bytes: {sizes.raw / sizes.packed:.1f}x smaller")
    print(f"whole pairs    {sizes.both:,} -> {sizes.kept:,} bytes: {sizes.both / sizes.kept:.1f}x smaller")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
