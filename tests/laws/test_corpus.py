"""The leak corpus is what its tables say, and pit_fetch leaks nothing of it and keeps what was public."""

from __future__ import annotations

import tomllib

import pytest

from tests.corpus import families
from tests.laws import corpus
from tests.laws.claimed import ACCEPTED


@pytest.mark.parametrize("source", families.FILES)
def test_the_data_are_the_tables_cases(source: str) -> None:
    written = (families.FOLDER / f"{source}.json").read_text(encoding="utf-8")
    assert written == families.document(source), "run python -m tests.corpus.families"


@pytest.mark.thorough
def test_the_printed_scores_are_those_of_the_program() -> None:
    printed = tomllib.loads((families.FOLDER / "scores.toml").read_text(encoding="utf-8"))["score"]
    for row, words in zip(printed, ((), ACCEPTED), strict=False):
        found = corpus.score(corpus.cases(), words)
        leaked = found.leaks if not words else [*found.leaks, *found.claimed]
        counts = (len(leaked), found.withheld, len(found.over_drops), found.public)
        assert counts == (row["leaked"], row["withheld"], row["dropped"], row["public"]), (leaked, found.over_drops)


def test_every_case_says_why_and_ids_are_unique() -> None:
    cases = corpus.cases()
    assert all(case["why"] and case["class"] and case["items"] for case in cases)
    assert len({case["id"] for case in cases}) == len(cases)
