"""The laws on a quick budget; ``make proof`` runs them for long."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.laws.laws import LAWS

# One number is a whole case: a failing one is printed and runs again alone, there is nothing to shrink.
QUICK = settings(max_examples=5, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
# The laws that see most of the named leaks first.
MORE = settings(QUICK, max_examples=12)
# Laws that fill an archive run the command several times for each of their worlds, and every source has them.
FEW = settings(QUICK, max_examples=2)


def _budget(law: str) -> settings:
    if ": archive " in law:
        return FEW
    return MORE if law.endswith((": non-interference", ": failures")) else QUICK


@pytest.mark.parametrize("law", LAWS)
def test_law(law: str) -> None:
    @_budget(law)
    @given(st.integers(0, 2**32))
    def holds(seed: int) -> None:
        LAWS[law](Random(seed))

    holds()
