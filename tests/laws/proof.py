"""The long run: every law, over and over, until so many pairs are compared or the time is up.

    python -m tests.laws.proof --pairs 100000 --seconds 3600

Prints what it ran. Exit status 1 when a law was broken; its case alone is run again with

    python -m tests.laws.proof --case "bz-news-api: non-interference" 17
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from itertools import count, islice
from random import Random, SystemRandom
from typing import NamedTuple

from tests.laws.laws import LAWS

# The law that the others only complete is run so many times as often; the cases of Neo4j compare fewer pairs, and the
# patterns are to be compared in a tenth of all pairs.
WEIGHT, NEO4J_WEIGHT = 6, 50


class Ran(NamedTuple):
    """Per law: cases, pairs of worlds compared in them (none for the gate's and the command's), seconds."""

    cases: Counter[str]
    pairs: Counter[str]
    seconds: dict[str, float]
    broken: tuple[str, ...]


def work(start: int, pairs: int, seconds: float, share: float = 0) -> Ran:
    """Runs the laws in turn from case ``start`` on. The first turn begins at this ``share`` of the laws."""
    cases, ran, spent = Counter[str](), Counter[str](), dict.fromkeys(LAWS, 0.0)
    until = time.monotonic() + seconds
    turns = [law for law in LAWS for _ in range(_weight(law))]
    begin = int(share * len(turns))
    for number in count(start):
        for place, law in islice(enumerate(turns), begin if number == start else 0, None):
            began = time.monotonic()
            if began > until or ran.total() >= pairs:
                return Ran(cases, ran, spent, ())
            case = number * len(turns) + place
            try:
                ran[law] += LAWS[law](Random(case))
            except Exception as error:  # noqa: BLE001 - whatever it is, the case has to be named
                return Ran(cases, ran, spent, (f"{law}: case {case}: {type(error).__name__}: {str(error)[:500]}",))
            cases[law] += 1
            spent[law] += time.monotonic() - began
    raise AssertionError


def _weight(law: str) -> int:
    if not law.endswith(": non-interference"):
        return 1
    return NEO4J_WEIGHT if law.startswith("neo4j") else WEIGHT


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=3_600)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--start", type=int, default=SystemRandom().randrange(2**40), help="the first case")
    parser.add_argument("--case", nargs=2, metavar=("LAW", "NUMBER"))
    given = parser.parse_args()
    if given.case:
        LAWS[given.case[0]](Random(int(given.case[1])))
        return 0
    start, began = given.start, time.monotonic()
    with ProcessPoolExecutor(given.workers) as pool:
        jobs = [
            # Each begins elsewhere: then few pairs reach the last laws, too.
            pool.submit(work, start + n * 10**9, given.pairs // given.workers + 1, given.seconds, n / given.workers)
            for n in range(given.workers)
        ]
        parts = [job.result() for job in jobs]
    cases = sum((part.cases for part in parts), Counter[str]())
    pairs = sum((part.pairs for part in parts), Counter[str]())
    spent = {law: sum(part.seconds[law] for part in parts) for law in LAWS}
    for law in LAWS:
        print(f"{law:<34} {cases[law]:>8} cases {pairs[law]:>8} pairs {spent[law]:>8.1f} s")
    total = f"{cases.total():>8} cases {pairs.total():>8} pairs {time.monotonic() - began:>8.1f} s"
    print(f"{'all':<34} {total}, from case {start}")
    broken = [text for part in parts for text in part.broken]
    for text in broken:
        print(f"BROKEN {text}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
