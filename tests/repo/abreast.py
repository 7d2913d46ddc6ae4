"""Run shell commands two at a time, and print each one's output whole, in the order in which they are given.

    python tests/repo/abreast.py TITLE COMMAND [TITLE COMMAND]...

Every command runs, whatever becomes of the others. Exit status 1 when one of them fails.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

AT_ONCE = 2


class Ran(NamedTuple):
    output: bytes
    code: int
    seconds: float


def run(command: str) -> Ran:
    begun = time.monotonic()
    done = subprocess.run(
        command, shell=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    return Ran(done.stdout, done.returncode, time.monotonic() - begun)


def main(words: Sequence[str]) -> int:
    titles, commands, failed = words[::2], words[1::2], list[str]()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for title, command, ran in zip(titles, commands, pool.map(run, commands), strict=True):
            print(f"\n== {title} ({ran.seconds:.0f} s)", flush=True)
            sys.stdout.buffer.write(ran.output)
            sys.stdout.flush()
            if ran.code != 0:
                failed.append(f"FAILED with exit status {ran.code}: {title} ({command})")
    print("\n".join(failed), end="\n" if failed else "", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
