"""Words are found as people type them, and what is served is the paragraph around them."""

from __future__ import annotations

import time
from unicodedata import name

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pit_fetch_providers.sec_filings.text import document_text, find_passages, fold


@pytest.mark.parametrize(
    "sign", "\u00ad\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202c\u2060\u2066\u2069\ufeff", ids=name
)
def test_what_nobody_sees_is_no_text(sign: str) -> None:
    assert document_text(f"<html><p>con{sign}cern &#{ord(sign)}; 5{sign}6") == "concern 56"
    assert document_text(f"con{sign}cern") == "concern"


@pytest.mark.parametrize(
    ("written", "phrase"),
    [
        ("con\u00adcern", "concern"),
        ("con\u200bcern", "concern"),
        ("concern", "con\u00adcern"),
        ("going\u00a0concern", "going concern"),
        ("going\u2009\n concern", "going concern"),
        ("going concern", "going\u202fconcern"),
        ("signi\ufb01cant o\ufb00er", "significant offer"),
        ("significant", "SIGNI\ufb01CANT"),
        ("company\u2019s", "company's"),
        ("company's", "company\u2019s"),
        ("\u201cnon\u2011GAAP\u201d", '"non-gaap"'),
        ("2024\u20132025 \u2014 \u22125", "2024-2025 - -5"),
        ("wait\u2026", "wait..."),
        ("\uff21\uff22\uff23", "abc"),
        ("Nestle\u0301", "nestl\u00e9"),
        ("Nestl\u00e9", "Nestle\u0301"),
        ("\u2039quoted\u203a", "'quoted'"),
        ("``quoted''", '"quoted"'),
        ('"quoted"', "``quoted''"),
        ("Stra\u00dfe", "STRASSE"),
        ("STRASSE", "stra\u00dfe"),
        ("\u039f\u0394\u039f\u03a3", "\u03bf\u03b4\u03bf\u03c2"),
        ("5 1\u20442%", "5 1/2%"),
        ("5 1/2%", "5 1\u22152%"),
    ],
)
def test_words_are_found_as_people_type_them(written: str, phrase: str) -> None:
    shown = f"\ufb03 \u2026\n\nBefore \ufb03 {written} behind.\n\nOther."
    paragraph = shown.split("\n\n")[1] if "\n\n" not in written else written
    assert list(find_passages(shown, phrase)) == [(shown.index(paragraph), paragraph)]


@pytest.mark.parametrize(
    ("written", "phrase"), [("5\u00b2", "52"), ("5\u00bd", "51/2"), ("going. concern", "going concern")]
)
def test_what_is_not_the_same_is_not_found(written: str, phrase: str) -> None:
    assert list(find_passages(written, phrase)) == []


@given(st.text(st.sampled_from("ab \u00ad\u200b\ufb03\u2026\u2019\u00e9\u00a0\u00b2\U0001f600"), max_size=30))
def test_each_place_of_a_folded_text_is_one_of_what_is_shown(shown: str) -> None:
    whole = fold(shown)
    places = [whole.shown(place, place + 1)[0] for place in range(len(whole.text))]
    assert whole.text == "".join(fold(sign).text for sign in shown)
    assert places == [place for place, sign in enumerate(shown) for _ in fold(sign).text]


def test_a_passage_is_a_paragraph_or_a_part_of_one() -> None:
    long = "x " * 2_000 + "going concern" + " y" * 2_000
    assert [made.text for made in find_passages("One.\n\nA going concern.\n\nTwo.", "going concern")] == [
        "A going concern."
    ]
    (made,) = find_passages(long, "going concern")
    assert "going concern" in made.text
    assert len(made.text) == 1_500
    assert list(find_passages("going concern. " * 9, "going concern")) == [(0, "going concern. " * 9)]


def test_a_phrase_that_stands_everywhere_costs_little() -> None:
    begin, long = time.process_time(), ("a" + "x" * 98 + " ") * 60_000
    assert len(list(find_passages(long, "a"))) > 4_000  # ten seconds, if each looks through all of the text
    assert time.process_time() - begin < 2
