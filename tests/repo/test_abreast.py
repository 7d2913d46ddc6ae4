"""What ``.ci/run`` runs two at a time is printed whole and in order, and what fails is seen."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.repo.wheel import ROOT


def abreast(*words: str) -> tuple[int, str]:
    command = [sys.executable, str(ROOT / "tests" / "repo" / "abreast.py"), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.stderr == ""
    return done.returncode, re.sub(r"\(\d+ s\)", "(N s)", done.stdout)


def test_two_run_at_once_and_each_output_is_whole_and_in_order(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")  # the first ends after the second alone
    first = f"echo first; cat {tmp_path}/fifo; echo aloud >&2"
    second = f"echo second; echo told > {tmp_path}/fifo"
    assert abreast("one", first, "two", second, "three", "echo third") == (
        0,
        "\n== one (N s)\nfirst\ntold\naloud\n\n== two (N s)\nsecond\n\n== three (N s)\nthird\n",
    )


def test_a_failure_fails_and_the_others_run_all_the_same() -> None:
    assert abreast("one", "echo wrong; exit 3", "two", "false", "three", "echo right") == (
        1,
        "\n== one (N s)\nwrong\n\n== two (N s)\n\n== three (N s)\nright\n"
        "FAILED with exit status 3: one (echo wrong; exit 3)\nFAILED with exit status 1: two (false)\n",
    )
