"""Every named leak still has its place in the sources: one that does not apply would prove nothing."""

from __future__ import annotations

import pytest

from tests.laws.laws import LAWS
from tests.laws.mutants import MUTANTS, Mutant
from tests.laws.mutate import ROOT, applied


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_applies(mutant: Mutant) -> None:
    assert applied(mutant, (ROOT / mutant.file).read_text()) != (ROOT / mutant.file).read_text()
    assert set(mutant.laws) <= set(LAWS)
