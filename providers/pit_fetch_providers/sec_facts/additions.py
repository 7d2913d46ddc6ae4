"""Tell whether a period and the one that follows it make up what is reported of both together. Pure.

Where they do not, one of them has figures of another basis, although no filing reports it anew: MRVL's expenses of the
first quarter of 2022 were 235.7 million and those of the second 211.7, but 432.4 those of the half year.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations, product

from pit_fetch.provider import Record
from pit_fetch_providers.sec_facts.cells import total
from pit_fetch_providers.sec_facts.periods import DAY, Span
from pit_fetch_providers.sec_facts.rounding import ROUNDING, zeros
from pit_fetch_providers.sec_facts.versions import age

# A period and a longer one of one beginning, and the first versions that show that what is between disagrees.
Contradiction = tuple[Span, Span, tuple[Record, ...]]


def contradictions(
    first: Mapping[Span, Mapping[str, Record]], together: Iterable[Span], name: str
) -> list[Contradiction]:
    """Return the contradictions among periods that begin ``together``, that first which was there first.

    ``first`` has what the first filing with the line reports of each period, under each of its names. Names can be of
    two measures: where ``name``, that of the sum, has all amounts, it alone counts. Else any that add up will do.
    """
    found = list[Contradiction]()
    for part, whole in combinations(sorted(together), 2):
        rest = first.get(Span(part.end + DAY, whole.end))
        if rest is not None:
            every = (first[part], rest, first[whole])
            of_name = [[of_span[name]] for of_span in every if name in of_span]
            chosen = of_name if len(of_name) == len(every) else [[*of_span.values()] for of_span in every]
            if not any(_adds_up(*(version.payload["value"] for version in three)) for three in product(*chosen)):
                found.append((part, whole, tuple(next(iter(of_span.values())) for of_span in every)))
    return sorted(found, key=lambda one: max(map(age, one[-1])))


def _adds_up(part: int | float, rest: int | float, whole: int | float) -> bool:
    """Return whether two amounts are a third one, but for what the finest of them was rounded by."""
    finest = min((zeros(amount) for amount in (part, rest, whole) if amount), default=0)
    return abs(total([part, rest, -whole])) <= max(2 * 10.0**finest, ROUNDING * abs(whole))
