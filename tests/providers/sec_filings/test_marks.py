"""What is raised or lowered in a document is parted from its figures, and words are found as people type them."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pit_fetch_providers.markup.folding import folded
from pit_fetch_providers.sec_filings import text


def read(source: str) -> str | None:
    return text.of_document(f"<html><body>{source}")


@pytest.mark.parametrize(
    "raised",
    [
        "<sup>4</sup>",
        '<sup style="font-size:85%; vertical-align:top">4</sup>',
        "<sup><ix:nonFraction scale='0'>4</ix:nonFraction></sup>",
        "<ix:nonFraction style='vertical-align:super'>4</ix:nonFraction>",
        "<sup><a href='#note'>4</a></sup>",
        "<a href='#note'><sup>4</sup></a>",
        "<sup><span style='vertical-align:super'>4</span></sup>",
        "<span style='vertical-align:super;font-size:60%'>4</span>",
        "<SPAN STYLE='VERTICAL-ALIGN: SUPER'>4</SPAN>",
        "<span style='vertical-align:4pt'>4</span>",
        "<span style='vertical-align:.3em'>4</span>",
        "<span style='vertical-align:30%'>4</span>",
        '<font style="font-size:8.5pt; vertical-align:top">4</font>',
        '<font size="1" style="vertical-align:text-top">4</font>',
        '<font style="font-size:5.85pt;position:relative;top:-3.15pt;vertical-align:baseline">4</font>',
        "<b style='position:relative;bottom:.3em'>4</b>",
        "<span style='font: 6pt Times New Roman; vertical-align: top'>4</span>",
        "<small style='vertical-align: top'>4</small>",
        "<small><span style='vertical-align: top'>4</span></small>",
        "<font size=1><b><span style='vertical-align: top'>4</span></b></font>",
    ],
)
def test_a_raised_mark_is_parted_from_its_figure_however_it_is_raised(raised: str) -> None:
    assert read(f"<ix:nonFraction scale='6'>5,234</ix:nonFraction>{raised} million") == "5,234^4 million"


@pytest.mark.parametrize(
    "lowered",
    [
        "<sub>4</sub>",
        "<span style='vertical-align:sub'>4</span>",
        "<span style='vertical-align:-2pt'>4</span>",
        "<span style='position:relative;top:2pt'>4</span>",
        "<font size=1 style='vertical-align:bottom'>4</font>",
    ],
)
def test_a_lowered_figure_is_parted_from_the_one_before_it(lowered: str) -> None:
    assert read(f"<p>5,234{lowered} million") == "5,234_4 million"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("$123.4<sup>1</sup> million, up 12%<sup>2</sup>; (5)<sup>3</sup>.", "$123.4^1 million, up 12%^2; (5)^3."),
        ("Sales<sup>(1)(2)</sup> 5<sup>1,2</sup> 6<sup>1</sup>,<sup>2</sup>", "Sales^(1)(2) 5^1,2 6^1,^2"),
        ("5,234<sup>a</sup> 5,234<sup>(b)</sup> 5,234<sup>iv</sup>", "5,234^a 5,234^(b) 5,234^iv"),
        ("5,234<sup>*</sup> EPS<sup>(*)</sup> 6<sup>\u2020</sup>", "5,234* EPS(*) 6\u2020"),
        ("<sup>1</sup>Includes<p><sup>1</sup>2023 figures", "^1 Includes\n\n^1 2023 figures"),
        ("a<sup>1</sup>.5 b<sup>1</sup>,234 c<sup>1</sup>. 5", "a^1 .5 b^1 ,234 c^1. 5"),
        ("5,234<sup>&#8203; 1 </sup> m 6<sup> 2</sup>m", "5,234 ^1 m 6 ^2 m"),
        ("5,234<sup>1</sup><sup>2</sup>", "5,234^12"),
        ("2,000<sup>2023</sup>", "2,000^2023"),
        ("5,234<sup>1<br>2</sup>34", "5,234^1\n2 34"),
        ("<pre>5,234<sup>1</sup>\n6,000<sup>2</sup></pre>", "5,234^1\n6,000^2"),
        ("5<sup>1</sup>/<sub>2</sub>% 5 <sup>1</sup>&frasl;<sub>2</sub>%", "5 1/2% 5 1/2%"),
        ("7<sup>3/4</sup>% 5<sup>1</sup>/2% 5<sup>1/</sup><sub>2</sub>%", "7 3/4% 5 1/2% 5 1/2%"),
        ("<sup>1</sup>/<sub>2</sub> of 5-<sup>1</sup>/<sub>2</sub>%", "1/2 of 5-1/2%"),
        ("$1.20<sup>1</sup>/1.30 and m<sup>2</sup>/g", "$1.20^1/1.30 and m^2/g"),
        ("5<sup>1</sup>/2 years, 5<sup>1 </sup>/ 2 years", "5 1/2 years, 5 1/2 years"),
        ("$0.50<sup>1</sup>/2 shares, 12.5<sup>3</sup>/4", "$0.50^1/2 shares, 12.5^3/4"),
        ("10<sup>6</sup> 10<sup>-3.5</sup> 10<sup>\u22126</sup> x<sup>n</sup>", "10^6 10^-3.5 10^\u22126 x^n"),
        ("CO<sub>2</sub> C<sub>6</sub>H<sub>12</sub> SO<sub>4</sub><sup>2-</sup>", "CO2 C6H12 SO4^2-"),
        ("1<sup>st</sup> 2<sup>nd</sup> 3<sup>RD</sup> 4<sup>th</sup>", "1st 2nd 3RD 4th"),
        ("5<sup>A1</sup> 5<sup>note 4</sup> Sales<sup>unaudited</sup>", "5^A1 5^note 4 Sales^unaudited"),
        ("2<sup>\u00e8me</sup> 5<sup>er</sup> n<sup>os</sup>", "2\u00e8me 5er nos"),
        ("A<sup>TM</sup> B<sup>&#174;</sup> C<sup>(R)</sup> D<sup>SM</sup>", "ATM B\u00ae C(R) DSM"),
        ("US<sup>$</sup>5 $<sup>5</sup>99", "US$5 $5 99"),
        ("5<sup></sup>6 <sup> </sup>a", "56 a"),
        # A line that is moved by a point is no mark, but what is raised in it is one.
        ("<span style='position:relative;top:-1pt'>Sales 5,234<sup>1</sup> m</span>", "Sales 5,234^1 m"),
        ("$<span style='position:relative;top:-1pt'>5,234</span>", "$5,234"),
        ("5<span style='vertical-align:baseline;top:-2pt'>6</span><span style='vertical-align:0'>7</span>", "567"),
        ("<table><tr><td>a<td><font style='font-size:9pt;vertical-align:top'>12</font></table>", "a | 12"),
        ("<table><tr><td>(3</td><td>)<sup>1</sup></td><td>4</td><td>%<sup>2</sup></td></table>", "(3)^1 | 4%^2"),
        ("<table><tr><td style='vertical-align:super'>3</td><td>4</td></table>", "3 | 4"),
    ],
)  # fmt: skip
def test_what_is_raised_or_lowered(source: str, expected: str) -> None:
    assert read(source) == expected


_RAISING = (
    "<sup>{}</sup>",
    "<sub>{}</sub>",
    "<sup><i>{}</i></sup>",
    "<span style='vertical-align:super'>{}</span>",
    "<b style='position:relative;top:-2pt'>{}</b>",
)
_BESIDE = st.text("1234.,%)$/ a", max_size=4).flatmap(lambda words: st.sampled_from([words, f"<b>{words}</b>"]))
_MARKS = st.tuples(st.sampled_from(_RAISING), st.text("5678(),", min_size=1, max_size=3)).map(
    lambda mark: mark[0].format(mark[1])
)


@given(st.lists(st.one_of(_BESIDE, _MARKS), max_size=8))
def test_no_figure_of_the_line_holds_a_digit_from_above_or_below_it(pieces: list[str]) -> None:
    for figure in re.findall(r"[0-9]+(?:[.,][0-9]+)*", read("".join(pieces)) or ""):
        assert not (set(figure) & set("1234") and set(figure) & set("5678")), pieces


INVISIBLE = "\u00ad\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202c\u2060\u2066\u2069\ufeff"


@pytest.mark.parametrize("sign", INVISIBLE, ids=unicodedata.name)
def test_what_nobody_sees_is_no_text(sign: str) -> None:
    assert read(f"<p>con{sign}cern &#{ord(sign)}; 5{sign}6") == "concern 56"
    assert text.of_document(f"con{sign}cern") == "concern"


def test_joiners_stay_in_scripts_that_are_written_with_them() -> None:
    assert (
        read("<p>\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645")
        == "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
    )


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
    assert list(text.passages(shown, phrase)) == [(shown.index(paragraph), paragraph)]


@pytest.mark.parametrize(
    ("written", "phrase"), [("5\u00b2", "52"), ("5\u00bd", "51/2"), ("going. concern", "going concern")]
)
def test_what_is_not_the_same_is_not_found(written: str, phrase: str) -> None:
    assert list(text.passages(written, phrase)) == []


@given(st.text(st.sampled_from("ab \u00ad\u200b\ufb03\u2026\u2019\u00e9\u00a0\u00b2\U0001f600"), max_size=30))
def test_each_place_of_a_folded_text_is_one_of_what_is_shown(shown: str) -> None:
    whole = folded(shown)
    places = [whole.shown(place, place + 1)[0] for place in range(len(whole.text))]
    assert whole.text == "".join(folded(sign).text for sign in shown)
    assert places == [place for place, sign in enumerate(shown) for _ in folded(sign).text]
