"""The leak corpus is what its tables say, and pit_fetch leaks nothing of it and keeps what was public."""

from __future__ import annotations

import pytest

from tests.corpus import families
from tests.laws import corpus

MOST_OVER_DROPS = 0.02


@pytest.mark.parametrize("source", families.FILES)
def test_the_data_are_the_tables_cases(source: str) -> None:
    written = (families.FOLDER / f"{source}.json").read_text(encoding="utf-8")
    assert written == families.document(source), "run python -m tests.corpus.families"


@pytest.mark.thorough
def test_nothing_leaks_and_little_is_dropped() -> None:
    found = corpus.score(corpus.cases())
    assert len(corpus.cases()) >= 200
    assert found.leaks == []
    assert len(found.over_drops) <= MOST_OVER_DROPS * found.public, found.over_drops


def test_every_case_says_why_and_ids_are_unique() -> None:
    cases = corpus.cases()
    assert all(case["why"] and case["class"] and case["items"] for case in cases)
    assert len({case["id"] for case in cases}) == len(cases)
