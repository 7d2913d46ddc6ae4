"""The leak corpus against pit_fetch."""

from __future__ import annotations

from random import Random


def law(rng: Random) -> int:
    return 1
