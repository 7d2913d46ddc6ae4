"""The laws on a quick budget; ``make proof`` runs them for long."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.laws.laws import LAWS

# One number is a whole case: a failing one is printed and runs again alone, there is nothing to shrink.
QUICK = settings(max_examples=12, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
# Laws that fill an archive run the command several times for each of their worlds.
FEW = settings(QUICK, max_examples=3)


@pytest.mark.parametrize("law", LAWS)
def test_law(law: str) -> None:
    @(FEW if ": archive " in law else QUICK)
    @given(st.integers(0, 2**32))
    def holds(seed: int) -> None:
        LAWS[law](Random(seed))

    holds()
