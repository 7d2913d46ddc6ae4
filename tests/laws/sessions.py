"""The law of the guard in ordinary sessions: a command that calls the wrapper is judged, a mention is left alone."""

from __future__ import annotations

import os
import subprocess
from itertools import chain
from random import Random

from tests.corpus.session_commands import CALLS, MENTIONS
from tests.laws.shell import CEILING, sandbox, verdict

LAUNCHERS = ("bash", "dash", "env", "ionice", "nice", "nohup", "setsid", "sh", "stdbuf", "timeout", "xargs")
_CALLS, _MENTIONS = ([*chain.from_iterable(families.values())] for families in (CALLS, MENTIONS))
_TRIED = 40


def started(command: str) -> list[str]:
    """Return the files of the wrapper that bash starts in ``command``."""
    place = sandbox(*LAUNCHERS)
    place.repair()
    try:
        calls = place.run(command).calls
    except subprocess.TimeoutExpired:  # a loop without end
        return []
    return [call[0] for call in calls if os.path.basename(call[0]) in ("pit_fetch", "pit_fetch.py")]


def law(rng: Random) -> int:
    """Calls and mentions, as people and agents write them."""
    for command in rng.sample(_CALLS, _TRIED):
        assert verdict(command, CEILING) is not None, f"{command!r} is left alone"
    for command in rng.sample(_MENTIONS, _TRIED):
        assert verdict(command, CEILING) is None, f"{command!r} is judged"
    return 0
