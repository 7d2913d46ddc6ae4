"""Named leaks: mistakes that were made, or could be. The laws must see every one of them.

To add a leak, add a row to a module beside this one, or to ``mutants`` in a source's folder: a name, the public
function (or constant) that it replaces, its replacement, and the laws that ought to see it first (the others follow).
"""

from __future__ import annotations

from tests.laws.mutants import (
    archive,
    claims,
    command,
    cypher,
    enforcement,
    gate,
    guard,
    instants,
    mcp,
    network,
    panels,
    parts,
    pipeline,
    times,
    views,
)
from tests.laws.mutants.leak import Mutant
from tests.providers import modules
from tests.unit.normalize import mutants as normalized

__all__ = ["MUTANTS", "Mutant"]

MUTANTS: tuple[Mutant, ...] = (
    *pipeline.MUTANTS,
    *claims.MUTANTS,
    *parts.MUTANTS,
    *command.MUTANTS,
    *network.MUTANTS,
    *enforcement.MUTANTS,
    *mcp.MUTANTS,
    *instants.MUTANTS,
    *times.MUTANTS,
    *gate.MUTANTS,
    *guard.MUTANTS,
    *cypher.MUTANTS,
    *(mutant for source in modules("mutants").values() for mutant in source.MUTANTS),
    *normalized.MUTANTS,
    *archive.MUTANTS,
    *panels.MUTANTS,
    *views.MUTANTS,
)
