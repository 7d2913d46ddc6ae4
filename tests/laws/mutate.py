"""Applies each named leak to a copy of the sources and asks the laws. A survivor is a law, or a world, that is missing.

    python -m tests.laws.mutate [part of a name]

Each mutant runs in a process of its own, two at a time. Prints which law killed it, and the score;
exit status 1 when one survived. A change whose text is not there exactly once is an error.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from tests.laws.mutants import MUTANTS, Mutant

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("pit_fetch", "providers", "hooks", "tests")
# How many cases of each law: the expected ones first, then of all others fewer.
CASES_EXPECTED, CASES_OTHER = 600, 15
SURVIVED, KILLED = "survived", 3


def main(part: str = "") -> int:
    began = time.monotonic()
    chosen = [mutant for mutant in MUTANTS if part in mutant.name]
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
    with ThreadPoolExecutor(2) as pool:
        verdicts = list(pool.map(_verdict, chosen))
    for mutant, verdict in zip(chosen, verdicts, strict=True):
        print(f"{'SURVIVED' if verdict == SURVIVED else 'killed':<9} {mutant.name}  [{verdict}]")
    _check_unchanged({verdict for verdict in verdicts if verdict != SURVIVED})
    killed = sum(verdict != SURVIVED for verdict in verdicts)
    print(f"mutation score: {killed} of {len(chosen)} named leaks killed, {time.monotonic() - began:.0f} s")
    return 0 if killed == len(chosen) else 1


def _check_unchanged(killers: Set[str]) -> None:
    """The cases that killed hold where nothing is changed: or a wrong law would score as a good one."""
    from tests.laws.laws import LAWS

    for killer in sorted(killers):
        law, _, case = killer.rpartition(", case ")
        LAWS[law](Random(int(case)))


def applied(mutant: Mutant, text: str) -> str:
    """``text`` with the leak in it. Raises ValueError when its place is not there exactly once."""
    if text.count(mutant.old) != 1:
        raise ValueError(f"{mutant.name}: its text stands {text.count(mutant.old)} times in {mutant.file}")
    return text.replace(mutant.old, mutant.new)


def _verdict(mutant: Mutant) -> str:
    with TemporaryDirectory(prefix="mutant-") as folder:
        for name in SOURCES:
            shutil.copytree(ROOT / name, Path(folder, name), ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
        path = Path(folder, mutant.file)
        path.write_text(applied(mutant, path.read_text()))
        roots = os.pathsep.join(str(Path(folder, name)) for name in (".", "providers", "hooks"))
        done = subprocess.run(
            [sys.executable, "-m", "tests.laws.mutate", "--judge", *mutant.laws],
            cwd=folder,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": roots, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
    if done.returncode not in (0, KILLED):  # the change broke the program as a whole, which shows nothing
        raise RuntimeError(f"{mutant.name}: {done.stderr[-500:]}")
    return done.stdout.strip()


def judge(expected: Sequence[str]) -> int:
    """In the copy: runs the laws until one is broken, and names it."""
    import pit_fetch
    from tests.laws.laws import LAWS

    assert Path(pit_fetch.__file__).is_relative_to(Path.cwd()), "the copy is not what runs"
    others = [law for law in LAWS if law not in expected]
    for laws, cases in ((expected, CASES_EXPECTED), (others, CASES_OTHER)):
        for case in range(cases):
            for law in laws:
                try:
                    LAWS[law](Random(case))
                except Exception:  # noqa: BLE001 - a crash is seen, too
                    print(f"{law}, case {case}")
                    return KILLED
    print(SURVIVED)
    return 0


if __name__ == "__main__":
    sys.exit(judge(sys.argv[2:]) if sys.argv[1:2] == ["--judge"] else main(*sys.argv[1:2]))
