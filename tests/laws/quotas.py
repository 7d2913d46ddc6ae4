"""How often a quota shows, in the worlds of the laws, that rows were withheld: the figures in SECURITY.md.

    python -m tests.laws.quotas [source] --cases 2000

Each pair is a world of public records and one with more, with so many requests left and none after that. Once with the
sizes of the laws, pages of a few rows, and once with the sources' own.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from random import Random

from pit_fetch.testing.server import Response
from tests.laws import refusals
from tests.laws.laws import WORLDS, requests_of
from tests.laws.refusals import EXHAUSTED, Limited
from tests.laws.worlds import Case, run


def differing(case: Case, rng: Random, notices: Sequence[Response]) -> tuple[int, int]:
    """Return how many pairs there are, and how many of them a quota tells apart."""
    left, notice = rng.randrange(refusals.most_requests(case) + 1), rng.choice([*notices])
    plain, *others = (run(case, Limited(app, left, notice)) for app in case.worlds)
    return len(others), sum(other.leaves != plain.leaves for other in others)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("source", nargs="?", default="")
    parser.add_argument("--cases", type=int, default=2_000)
    given = parser.parse_args()
    for source, worlds in WORLDS.items():
        if given.source not in source:
            continue
        counts = Counter[str]()
        for number in range(given.cases):
            for sizes in ("small", "own"):
                rng = Random(number)
                case = worlds.make(rng)
                case = case if sizes == "small" else case._replace(sizes={})
                pairs, differ = differing(case, rng, (*EXHAUSTED, *requests_of(worlds).notices))
                counts.update({f"{sizes} pairs": pairs, f"{sizes} differ": differ})
        figures = (f"{counts[f'{sizes} differ']} of {counts[f'{sizes} pairs']}" for sizes in ("small", "own"))
        print(f"{source:<16}", "   own sizes: ".join(figures), flush=True)


if __name__ == "__main__":
    main()
