"""Words are found as people type them, and what is served is the paragraph around them."""

from __future__ import annotations

import time
from unicodedata import name

import pytest
from pit_fetch_providers.sec_filings.text import document_text, find_passages


@pytest.mark.parametrize(
    "sign", "\u00ad\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202c\u2060\u2066\u2069\ufeff", ids=name
)
def test_what_nobody_sees_is_no_text(sign: str) -> None:
    assert document_text(f"<html><p>con{sign}cern &#{ord(sign)}; 5{sign}6") == "concern 56"
    assert document_text(f"con{sign}cern") == "concern"


@pytest.mark.parametrize(
    ("written", "phrase"),
    [
        ("con\u200bcern", "concern"),
        ("concern", "con\u00adcern"),
        ("going\u00a0concern", "going concern"),
        ("going\u2009\n concern", "going concern"),
        ("going concern", "going\u202fconcern"),
        ("significant", "SIGNI\ufb01CANT"),
        ("company's", "company\u2019s"),
        ("\u201cnon\u2011GAAP\u201d", '"non-gaap"'),
        ("2024\u20132025 \u2014 \u22125", "2024-2025 - -5"),
        ("\uff21\uff22\uff23", "abc"),
        ("Nestle\u0301", "nestl\u00e9"),
        ("Nestl\u00e9", "Nestle\u0301"),
        ("\u2039quoted\u203a", "'quoted'"),
        ('"quoted"', "``quoted''"),
        ("STRASSE", "stra\u00dfe"),
        ("\u039f\u0394\u039f\u03a3", "\u03bf\u03b4\u03bf\u03c2"),
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


def test_a_phrase_that_stands_everywhere_costs_little() -> None:
    begin, long = time.process_time(), ("a" + "x" * 98 + " ") * 60_000
    assert len(list(find_passages(long, "a"))) > 4_000  # ten seconds, if each looks through all of the text
    assert time.process_time() - begin < 2
