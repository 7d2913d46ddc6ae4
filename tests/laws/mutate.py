"""Plants each named leak in a process of its own and asks the laws. A survivor is a law, or a world, that is missing.

    python -m tests.laws.mutate [part of a name] [--seconds N] [--seed N]

Two at a time. Prints which law killed each, and the score; exit status 1 when one survived. A leak
that no longer fits the program, or that fails of itself, is an error. With ``--seconds``, as many as
begin in that time, chosen at random, or by a seed.
"""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence, Set
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from random import Random

from pit_fetch.engine import registry
from tests.laws.laws import LAWS
from tests.laws.mutants import MUTANTS, Mutant
from tests.laws.plant import plant
from tests.memory_folder import in_memory, scratch

AT_ONCE = 2
# How many cases of each law: the expected ones first, then of all others fewer.
CASES_EXPECTED, CASES_OTHER = 600, 15
SECONDS = 600
SURVIVED = "survived"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("part", nargs="?", default="")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--seed", type=int)
    given, began = parser.parse_args(), time.monotonic()
    named = [mutant for mutant in MUTANTS if given.part in mutant.name]
    waiting = named if given.seconds == float("inf") else Random(given.seed).sample(named, len(named))
    for name in registry.BUNDLED_NAMES:  # once, and not in every process
        registry.load(name)
    verdicts = _verdicts(waiting, began + given.seconds)
    for name, verdict in verdicts.items():
        print(f"{'SURVIVED' if verdict == SURVIVED else 'killed':<9} {name}  [{verdict}]")
    killers = [verdict for verdict in verdicts.values() if verdict != SURVIVED]
    _check_unchanged(set(killers))
    judged = f"{len(verdicts)} named leaks" + (f", a sample of {len(named)}" if len(verdicts) < len(named) else "")
    print(f"mutation score: {len(killers)} of {judged}, killed in {time.monotonic() - began:.0f} s")
    return 0 if verdicts and len(killers) == len(verdicts) else 1


def _check_unchanged(killers: Set[str]) -> None:
    """The cases that killed hold where nothing is changed: or a wrong law would score as a good one."""
    for killer in sorted(killers):
        law, _, case = killer.rpartition(", case ")
        LAWS[law](Random(int(case)))


def _verdicts(chosen: Sequence[Mutant], until: float) -> Mapping[str, str]:
    """What killed each of the mutants that began in time, by name. Raises RuntimeError when one could not be judged."""
    context, verdicts = get_context("fork"), dict[str, str]()
    waiting, running = list(reversed(chosen)), dict[Connection, tuple[Mutant, BaseProcess]]()
    with scratch("mutants-") as folder:
        while running or (waiting and time.monotonic() < until):
            while waiting and len(running) < AT_ONCE and time.monotonic() < until:
                mutant = waiting.pop()
                here, there = context.Pipe(duplex=False)
                process = context.Process(target=_judge, args=(mutant, there, folder))
                process.start()
                there.close()
                running[here] = mutant, process
            ready = wait([*running])
            for here in [connection for connection in running if connection in ready]:
                mutant, judge = running.pop(here)
                with here, contextlib.suppress(EOFError):
                    verdicts[mutant.name] = here.recv()
                judge.join()
                if mutant.name not in verdicts:
                    raise RuntimeError(f"{mutant.name}: not judged (exit status {judge.exitcode})")
    return {mutant.name: verdicts[mutant.name] for mutant in chosen if mutant.name in verdicts}


def _judge(mutant: Mutant, report: Connection, folder: str) -> None:
    """In the process of one mutant: asks the laws until one is broken, and reports which."""
    signal.alarm(SECONDS)  # a leak that runs for ever shows nothing
    tempfile.tempdir = tempfile.mkdtemp(dir=folder)
    in_memory.cache_clear()
    mistakes = plant(mutant.target, mutant.make)
    verdict = _killer(mutant.laws)
    if mistakes:
        sys.exit(f"{mutant.name}: {mistakes[0]}")
    report.send(verdict)


def _killer(expected: Sequence[str]) -> str:
    others = [law for law in LAWS if law not in expected]
    for laws, cases in ((expected, CASES_EXPECTED), (others, CASES_OTHER)):
        for case in range(cases):
            for law in laws:
                try:
                    LAWS[law](Random(case))
                except Exception:  # noqa: BLE001 - a crash is seen, too
                    return f"{law}, case {case}"
    return SURVIVED


if __name__ == "__main__":
    sys.exit(main())
