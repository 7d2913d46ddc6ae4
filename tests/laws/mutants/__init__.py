"""Named leaks: what was, or could be, done wrong. The laws must see every one of them.

To add one, add a row to the room of its module: a name, the function (or constant) that it replaces,
what it does instead, and the laws that ought to see it first (the others run after them).
"""

from __future__ import annotations

from tests.laws.mutants import archive, command, cypher, gate, guard, network, parts, pipeline, times
from tests.laws.mutants.leak import Mutant
from tests.providers.alphavantage import mutants as alphavantage
from tests.providers.bz_news_api import mutants as bz
from tests.providers.earningscall import mutants as earningscall
from tests.providers.fred import mutants as fred
from tests.providers.perplexity import mutants as perplexity
from tests.providers.sec_full_text import mutants as sec
from tests.providers.yahoo import mutants as yahoo
from tests.unit.normalize import mutants as normalized

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
    *archive.MUTANTS,
)
