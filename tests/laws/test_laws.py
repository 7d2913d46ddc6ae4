"""The laws on a quick budget; ``make proof`` runs them for long."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.examples import examples
from tests.laws.laws import LAWS
from tests.laws.naming import together

# One number is a whole case: a failing one is printed and runs again alone, there is nothing to shrink.
WHOLE = (Phase.explicit, Phase.reuse, Phase.generate)


def _budget(law: str) -> settings:
    # The laws that see most of the named leaks get more. Those that fill an archive run the command several times
    # for each of their worlds, and every source has them.
    most = law.endswith((": non-interference", ": failures"))
    return settings(examples(0.2 if most else 0.03 if ": archive " in law else 0.08), phases=WHOLE)


def _is_shown_elsewhere(law: str) -> bool:
    """The laws of the archive are the same for every source, and the sample is one."""
    return ": archive " in law and not law.startswith("sample: ")


@pytest.mark.parametrize(
    "law", [pytest.param(law, marks=[pytest.mark.thorough] if _is_shown_elsewhere(law) else []) for law in LAWS]
)
def test_law(law: str) -> None:
    @_budget(law)
    @given(st.integers(0, 2**32))
    def holds(seed: int) -> None:
        LAWS[law](Random(seed))

    holds()


def test_no_law_takes_the_place_of_another() -> None:
    assert together({"a": 1}, {"b": 2}) == {"a": 1, "b": 2}
    with pytest.raises(ValueError, match="two laws have the name b"):
        together({"a": 1, "b": 2}, {"b": 2})
