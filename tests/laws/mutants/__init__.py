"""Named leaks: what was, or could be, done wrong. The laws must see every one of them.

To add one, add a row to the room of its module: a name, the function (or constant) that it replaces,
what it does instead, and the laws that ought to see it first (the others run after them).
"""

from __future__ import annotations

from tests.laws.mutants import (
    alphavantage,
    bz,
    command,
    cypher,
    earningscall,
    fred,
    gate,
    guard,
    memory,
    network,
    normalized,
    parts,
    perplexity,
    pipeline,
    sec,
    times,
    yahoo,
)
from tests.laws.mutants.leak import Mutant

__all__ = ["MUTANTS", "Mutant"]

MUTANTS: tuple[Mutant, ...] = (
    *pipeline.MUTANTS,
    *parts.MUTANTS,
    *command.MUTANTS,
    *network.MUTANTS,
    *times.MUTANTS,
    *gate.MUTANTS,
    *guard.MUTANTS,
    *cypher.MUTANTS,
    *bz.MUTANTS,
    *alphavantage.MUTANTS,
    *sec.MUTANTS,
    *fred.MUTANTS,
    *perplexity.MUTANTS,
    *earningscall.MUTANTS,
    *yahoo.MUTANTS,
    *normalized.MUTANTS,
    *memory.MUTANTS,
)
