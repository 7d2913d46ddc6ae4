"""Every close that is served, divided as Yahoo divides it, by every plausible factor: each must come back.

``python -m tests.providers.yahoo.closes`` tries all of them, and prints what it tried.
"""

from __future__ import annotations

import sys
import time
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations_with_replacement
from math import prod

from pit_fetch_providers.yahoo import traded

_COMMON = (2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 20.0, 25.0, 30.0, 50.0, 1.5, 1.25, 1.1, 1.281, 0.5, 0.1, 0.125, 0.04)


def factors() -> Sequence[float]:
    """Return by how much splits may have divided: whole numbers, one for many, and those that follow each other."""
    several = chain.from_iterable(combinations_with_replacement(_COMMON, count) for count in (1, 2, 3))
    whole = chain(range(1, 501), range(510, 2_000, 37), (1_999, 2_000))
    reverse = (1 / many for many in (*range(2, 101), 250, 500, 1_000, 25_000, 1_000_000))
    made = {*map(float, whole), *reverse, *(prod(ratios) for ratios in several)}
    return sorted(factor for factor in made if factor <= traded.MOST_DIVIDED)


def wrong(steps: Iterable[int], factor: float) -> Iterator[int]:
    """Yield those ``steps`` of half a cent that do not come back; of those that are not served, those that do."""
    steps = list(steps)
    shown = array("f", [round(step / traded.STEPS / factor, 6) for step in steps])
    close = traded.close
    for step, adjusted in zip(steps, shown, strict=True):
        is_served = traded.LEAST <= step <= traded.MOST
        if close(adjusted, factor) != (step / traded.STEPS if is_served else None):
            yield step


if __name__ == "__main__":
    begun, all_steps = time.monotonic(), range(1, traded.MOST + 2_000)
    chosen = factors()[:: int(sys.argv[1]) if len(sys.argv) > 1 else 1]
    lost = {factor: count for factor in chosen if (count := sum(1 for _ in wrong(all_steps, factor)))}
    took = time.monotonic() - begun
    print(f"{len(all_steps):,} prices by {len(chosen):,} factors: {len(lost)} factors lose one, {took:.0f} s", lost)
    sys.exit(bool(lost))
