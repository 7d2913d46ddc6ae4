"""The text of pages, as the sources that read them share it: cells, depth, what ends where it begins."""

from __future__ import annotations

import re
import time
from itertools import combinations

import pytest
from pit_fetch_providers.markup import depth
from pit_fetch_providers.sec_filings import text as filed
from pit_fetch_providers.wayback import text as captured

from tests.providers.pages import LEFT_OPEN, readings

TABLE = "<table><tr><td>Revenue</td><td>5,234</td><td>4,111</td></tr></table>"
LONG = "Preferred stock, of which 1,000,000 are designated Series A junior participating preferred stock; " * 3


@pytest.mark.parametrize(
    ("row", "text"),
    [
        (f"<td>{LONG}2022</td><td>150</td><td>140</td>", "2022 | 150 | 140"),
        (f"<td><span>{LONG}2022</span></td><td>$</td><td>150</td>", "2022 | $150"),
        (f"<td>{LONG}2022</td><td>—</td>", "2022 | —"),
        (f"<td>4.2</td><td>{LONG}2022)</td><td>001-12345</td>", "2022) | 001-12345"),
        (f"<td>{LONG}2022</td><td>{LONG}7</td><td>8</td>", "stock; 7 | 8"),
        (f"<td><p>{LONG}2022</p></td><td>150</td>", "2022\n\n150"),
        (f"<td><p>{LONG}</p>tail 2022</td><td>150</td>", "tail 2022 | 150"),
        (f"<td>{LONG}<br>2022</td><td>150</td>", "\n2022 | 150"),
    ],
)
def test_a_cell_is_parted_from_the_next_one_however_long_it_is(row: str, text: str) -> None:
    for read in readings(f"<table><tr>{row}</tr></table>"):
        assert text in read.replace("| $ | 150", "| $150")  # which a filing's text joins


@pytest.mark.parametrize("opening", LEFT_OPEN)
@pytest.mark.parametrize("around", ["<p>{}x</p>", "<div>{}x</div>", "<p>{}x", "{}x"])
def test_what_is_left_open_thousands_of_times_hides_nothing_and_parts_cells(opening: str, around: str) -> None:
    for read in readings(around.format(opening) * 9_000 + TABLE):
        assert read.endswith(("Revenue | 5,234 | 4,111", "Revenue\n5,234\n4,111"))


def test_a_hidden_header_of_thousands_of_relationships_hides_itself_alone() -> None:
    hidden = "<ix:header>" + "<ix:relationship fromRefs='f' />" * 30_000 + "</ix:header>"
    page = f"<html><body><div style='display:none'>{hidden}</div><p>Going concern.</p>{TABLE}"
    for start in ("", "<?xml version='1.0'?>"):
        assert filed.of_document(start + page) == "Going concern.\n\nRevenue | 5,234 | 4,111"


@pytest.mark.parametrize("empty", ["<div style='display:none'/>", "<p hidden='hidden'/>", "<ix:header/>", "<title/>"])
def test_what_ends_where_it_begins_hides_nothing_of_a_page_in_xml(empty: str) -> None:
    page = f"<html xmlns='http://www.w3.org/1999/xhtml'><body>{empty}Sales<br/>Costs</body></html>"
    assert filed.of_document(page) == "Sales\nCosts"
    assert captured.read(page.encode(), "application/xhtml+xml", "https://a.example", "text").text == "Sales\nCosts"


def test_a_page_that_has_a_parser_make_millions_of_elements_is_too_large() -> None:
    # Each paragraph repeats all formatting that is left open before it.
    assert depth.is_too_large("".join(f"<font size={size}><p>" for size in range(2_000)))
    assert not depth.is_too_large("<font size=2><p>" * 9_000)
    assert not depth.is_too_large("".join(f"<font size={size}>x</font><p>" for size in range(9_000)))


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<table><tr><td></td><td>-</td></tr><tr><td>Sales</td><td>-</td></tr></table><p>#</p>", "-\nSales | -\n\n#"),
        ("<ul><li><li>a<li>-</ul><p></p>", "- a\n- -"),
        ("<ol><li>a<li value=5>b<li>c</ol>", "1. a\n5. b\n6. c"),
        ("<ol start=3 type=a><li>a<ol type=I><li>b<li>c</ol><li>d</ol>", "c. a\n  I. b\n  II. c\nd. d"),
        ("<ol style='list-style-type: lower-roman'><li>a<li>b</ol>", "i. a\nii. b"),
        ("<ol style='list-style: none'><li>5<li>6</ol>", "5\n6"),
        ("<ol reversed><li>a<li>b</ol>", "2. a\n1. b"),
        ("<ol><li><p>a</p></li><li><div>b</div></li><li></li></ol><p>c</p>", "1. a\n2. b\n\nc"),
        ("<h2></h2><ul><li><p></p></ul><p>b</p>", "b"),
        ("<table><tr><td>x<td><ol><li>5<li>6</ol></table>", "x | 1. 5 2. 6"),
        ("<span style='display:block'>5</span><span style='display: table-cell'>6</span>7", "5\n6\n7"),
        ("<i style='display:inline-block'>5</i><i style='display:inline'>6</i>7", "5 67"),
        ("<i style='display:inline-block'>1.</i>2024 2.<i style='display:inline-flex'></i>5,234", "1. 2024 2. 5,234"),
        ("5,<img src=a>234 5<img src=a>.6 $<img src=a>5. Inc.<img src=a>,", "5, 234 5 .6 $5. Inc.,"),
        ("5<img src=a>6 5<s>4</s>3 con<img src=a>cern", "5 6 5 4 3 concern"),
    ],
)
def test_the_lines_of_a_page(page: str, text: str) -> None:
    for read in readings(page):
        assert read == text


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<ol><li style='list-style:none'>a<li style='list-style-type:square'>b<li>c</ol>", "a\n- b\n3. c"),
        ("<ol><li style='display:block'>a<li>b<li style='display:list-item'>c</ol>", "a\n1. b\n2. c"),
        ("<ol><li style='display:inline'>5</li><li style='display:inline'>6</li></ol>", "5 6"),
        ("<ul style='list-style: decimal inside'><li>a<li>b</ul>", "1. a\n2. b"),
        ("<ol style='list-style-type:decimal-leading-zero'><li>a<li value=10>b</ol>", "01. a\n10. b"),
        ("<ol style='list-style-type:lower-greek' start=24><li>a<li>b</ol>", "\u03c9. a\n\u03b1\u03b1. b"),
        ("<ol type=a style='list-style:lower-roman;list-style:decimal!important'><li>a</ol>", "1. a"),
        ("<ol type=a style='list-style:inherit'><li>a<li type=I>b<li type=disc>c</ol>", "a. a\nII. b\n- c"),
        ("<ol style='list-style:inside'><li>a</ol>", "- a"),
        ("<ol style=\"list-style-type:'(x)'\"><li>a<li type=none>b</ol>", "a\nb"),
        ("<ol style='list-style:url(1.png)'><li>a</ol>", "a"),
        ("<ol style='x-list-style:none;list-style-type:hebrew'><li>a</ol>", "1. a"),
        ("<style>ol, .n { list-style: none }</style><ol><li class=n>a</ol>", "1. a"),
        ("<ul type=none><li>5,234</ul>", "5,234"),
        ("<div style='list-style:none'><li>5,234</div>", "5,234"),
        ("<menu style='list-style:none'><li>5,234</menu><dir><li>a</dir>", "5,234\n- a"),
        ("<ul style='list-style-type:none!important;list-style-type:disc'><li>5,234</ul>", "5,234"),
        ("<ol style='list-style-type:none foo'><li>a</ol><ul style='list-style:none circle'><li>b</ul>", "1. a\n\n- b"),
        ("<ol start=2147483647><li>a</ol>", "2147483647. a"),
        ("<div style='list-style:decimal'><li>5,234<li>6,345</div>", "1. 5,234\n2. 6,345"),
        ("<menu type=none><li>a</menu>", "- a"),
        ("<div style='list-style:decimal'><li>a</li><div><li>b</li></div><li>c</li></div>", "1. a\n- b\n2. c"),
    ],
)
def test_items_have_the_numbers_that_tags_attributes_and_their_own_styles_give_them(page: str, text: str) -> None:
    for read in readings(page):
        assert read == text


@pytest.mark.parametrize(
    "tag", ["nav", "menu", "dir", "dialog open", "option", "listing", "div", "p", "section", "address"]
)
def test_elements_that_a_page_shows_as_lines_are_lines(tag: str) -> None:
    parts = "".join(f"<{tag}>{figure}</{tag.split()[0]}>" for figure in (5, 6))
    assert re.fullmatch("5\n+6", filed.of_document(f"<html><body>{parts}") or "")


ROOTS = ["<html hidden>", "<html style='display:none'>", "<html style='visibility:hidden'>", "<body hidden>",
         "<html><p>5</p><html style='font-size:0'>"]  # fmt: skip


@pytest.mark.parametrize("root", ROOTS)
def test_a_page_that_hides_itself_shows_nothing_as_a_document_and_hides_nothing_as_a_capture(root: str) -> None:
    page = f"{root}<p>Sales of 5,234</p>"
    assert filed.of_document(page, "a.htm") == ""
    assert (captured.read(page.encode(), "text/html", "https://a.example", "text").text or "").endswith("5,234")


TAB = "<span style='display:inline-block;width:36pt'></span>"


# As Chromium shows each of them: what stands apart there has a blank or a line break, and nothing else does.
@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("Item 1<span style='float:right'>12</span>", "Item 1 12"),
        ("<i style='float:left;width:50%'>1,234</i><i style='float:left;width:50%'>567</i>", "1,234 567"),
        ("<i style='float:left;width:9px'>T</i>he <i style='float:left;padding-right:9px'>A</i>cme", "The Acme"),
        ("<span>2024</span><span style='padding-left:40px'>2023</span>", "2024 2023"),
        ("5<span style='margin: 0 3em'>234</span>6", "5 234 6"),
        ("5<span style='margin:0 1px;padding:0 .1em'>2</span>34", "5234"),
        ("$<span style='padding-left:1pt'>5</span> a<i style='letter-spacing:1px'>b</i>c", "$5 abc"),
        ("'Pythons<span style='padding-right:0.2em'>'</span>\"", "'Pythons'\""),
        ("Note 1<span style='position:absolute;left:400px'>5,234</span>", "Note 1 5,234"),
        ("5<span style='position:relative;left:40px'>6</span>", "5 6"),
        ("2024<span style='visibility:hidden'>xx</span>2023", "2024 2023"),
        ("5<div style='visibility:hidden'>x</div>292", "5\n292"),
        ("5<q>6</q>", "5\u201c6\u201d"),
        ("<div style='display:inline'>5</div><div style='display:inline'>6</div>", "56"),
        ("1,234<button>copy</button>567 5<select></select>6", {"1,234 567 5 6", "1,234 copy 567 5 6"}),
        (
            f"-{TAB}5,234 12{TAB}\u00bd 2024{TAB}%{TAB}2023{TAB}% \u0663{TAB}\u0664",
            "- 5,234 12 \u00bd 2024 % 2023 % \u0663 \u0664",
        ),
        (
            "<i style='display:inline-flex;min-width:3%'>-</i>5,234 \u0663<i style='display:inline-block'>\u0664</i>",
            "- 5,234 \u0663 \u0664",
        ),
        ("a<i style='display:inline-block;width:20pt;text-align:right'>$</i>5 -<img width=20>6", "a $5 - 6"),
        ("<i style='float:left'>-</i>5,234 <i style='float:left;min-width:9pt'>-</i>6", "-5,234 - 6"),
        (
            "<i style='display:inline-block;min-width:2em'>Company</i>, a<img width=20>5 a<svg width=0 />b",
            "Company, a 5 ab",
        ),
        (
            "<i style='display:inline-block;width:90pt'>Total net sales and other income</i>5,234",
            "Total net sales and other income 5,234",
        ),
        ("-<i style='display:inline-block;width:6em;text-align:right'>5,234<b hidden>hidden words</b></i>", "- 5,234"),
        ("See <i style='vertical-align:bottom;font-size:6pt'>1.</i>5,234", "See 1. 5,234"),
        ("See <i style='vertical-align:top;font-size:60%'>2.</i>5,234 5<img width=1 hspace=10>6", "See 2. 5,234 5 6"),
        ("5,<input type=hidden>234 12,<img width=0 height=0>345", "5,234 12,345"),
        ("<font style='vertical-align:bottom;font-size:10pt'>5.</font>25% <sup>1.</sup>2024", "5.25% ^1. 2024"),
        ("<i style='vertical-align:top;font-size:60%'>1</i>5,234 <sub>2</sub>6", "1 5,234 2 6"),
        ("5<i style='vertical-align:top;margin-left:9pt'>6</i><i style='vertical-align:bottom;float:right'>7", "5 6 7"),
        ("<style>i {vertical-align:text-top}</style>5<i style='padding-left:9pt'>6</i><i>7</i>", "5 67"),
        ("5,234<sup>1</sup><sup style='padding-left:6px'>2</sup>", "5,234^1 ^2"),
        ("5,234<sup style='margin-right:6px'>1</sup><sup>2</sup>", "5,234^1 ^2"),
        ("5,234<sup style='padding-left:6px'>1</sup>", "5,234^1"),
        ("5<math><msup><mn>10</mn><mn>6</mn></msup></math>", "510^6"),
        ("<ruby>10<rp>(</rp><rt>5</rt><rp>)</rp></ruby> 5<marquee>6</marquee>", "10 5 5 6"),
        ("<math><mtable><mtr><mtd>1</mtd><mtd>2</mtd></mtr><mtr><mtd>3</mtd></mtr></mtable></math>", "1 2 3"),
        ("<math><mn>1</mn><mspace width=1em /><mn>2</mn><msqrt><mn>3</mn></msqrt><mn>4</mn></math>", "1 2 3 4"),
        ("<math><mmultiscripts><mn>5</mn><mn>1</mn><mn>2</mn></mmultiscripts><mn>6</mn></math>", "5 1 2 6"),
        ("<math><mn>5</mn><mphantom><mn>9</mn></mphantom><mn>6</mn></math>", "5 6"),
        ("<math><mfrac><mn>1</mn><mn>2</mn></mfrac><msub><mi>x</mi><mn>3</mn></msub></math>", "1 2x3"),
    ],
)
def test_what_a_page_shows_apart_is_parted_and_nothing_else(page: str, text: str | set[str]) -> None:
    for read in readings(page):
        assert read in ({text} if isinstance(text, str) else text)


# One declaration each, of an element between two figures.
GAPS = ["margin-inline:2em", "margin-inline:0 1em", "padding-inline-start:2em", "margin-inline-end:9px",
        "border-left:10px solid #000", "border:4pt double red", "position:relative;inset:0 0 0 30px",
        "margin-left:calc(1em + 3px)", "margin:0 max(1em, 3px)", "margin-left:1E1px", "padding-left:2vh",
        "margin-left:1vmin", "padding-left:12q", "margin-left:1lh", "margin-left:1ic", "margin-left:1cap",
        "margin-left:2rem", "margin-left:5cqw"]  # fmt: skip
NO_GAPS = ["border-left:10px", "border-left:1px solid", "border:9px none", "padding-left:9foo", "margin-inline:1px",
           "margin-left:9px;all:unset", "inset:0 0 0 30px", "margin-left:1e-1px", "border:solid #999"]  # fmt: skip


@pytest.mark.parametrize("style", [*GAPS, *NO_GAPS])
def test_a_gap_is_read_however_it_is_declared(style: str) -> None:
    for read in readings(f"5<span style='{style}'>6</span>7"):
        assert (read == "567") == (style in NO_GAPS)


# Behind them a browser shows an element that was hidden first, or does not read that it is hidden.
SHOWN = ["display:none;display:block flow", "display:none;display:inline flow-root", "display:none;display:math",
         "display:none;all:initial", "display:none;all:revert", "display:none;display:var(--x,block)",
         "font-size:0;font:inherit", "font-size:0;font:caption", "font-size:12px;font-size:0foo",
         "display:no/**/ne", "display:none\u00a0", "x[;display:none;]", "font-family:&quot;x;display:none",
         "quotes:&quot;\\&quot;;display:none;&quot;", "background:url(it&quot;s.png);quotes:&quot;;display:none&quot;",
         "font-size:0;font-size:2dvh"]  # fmt: skip
UNSEEN = ["display:none;display:block and", "font-size:12px;font-size:0q", "quotes:&quot;/*&quot;;display:none/**/",
          "background:url(it&quot;s.png);display:none", "font-size:0e1px", "display:none\f"]  # fmt: skip


@pytest.mark.parametrize("style", [*SHOWN, *UNSEEN])
def test_what_a_style_says_is_read_as_a_browser_reads_it(style: str) -> None:
    for read in readings(f"<p>1</p><p style='{style}'>5"):
        assert ("5" in read) == (style in SHOWN)


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("5<span style='font-size:0'>9<b>9</b><b style='font-size:9pt'>6</b></span>", "56"),
        ("5<span style='font:0/0 a'>99</span><span style='font:9pt a'>6</span>", "56"),
        ("5<span style='display:/**/none'>99</span>", "5"),
        ("5<span style='DISPLAY : NONE ! important; display:inline'>99</span>", "5"),
        ("<span style='--x-display:none'>5</span><span style='x-visibility:hidden'>6</span>", "56"),
        ("<span style='background:url(display:none)'>5</span><i style=\"quotes:';display:none'\">6</i>", "56"),
        ("<span style='display:none;display:inline'>5</span><i style='display:none;display:no'>6</i>", "5"),
        ("<span style='visibility:hidden'><b style='visibility:visible'>5</b></span>", "5"),
        ("<p>5</p><title>7</title><datalist><option>7</datalist><dialog>7</dialog>", "5"),
        ("<dialog open style='position:static'></dialog><iframe>7</iframe><video>7</video>5", "5"),
        ("<span hidden>7</span><span hidden style='display:inline'>5</span>", "5"),
        ("<table><tr style='visibility:collapse'><td>7<tr><td>5</table>", "5"),
        ("<div popover>7</div><noframes>7</noframes><noembed>7</noembed>5", "5"),
        ("<div popover style='display:inline'>5</div><math><maction><mn>6</mn><mn>7</mn></maction></math>", "56"),
        ("<math><semantics><mn>5</mn><annotation>7</annotation></semantics></math>", "5"),
        # Sheets.
        ("<style>.fn {vertical-align: super; font-size: 60%}</style>5,234<span class=fn>1</span>", "5,234^1"),
        ("<style>.fn {vertical-align: sub}</style>5,234<span class='a fn'>1</span>", "5,234_1"),
        (
            "<style>.h {display:none} i#i {visibility:hidden}</style>5<i class=h>6</i><i id=i>7</i>",
            "567",
        ),
        ("<style>.n {float: right}</style>Item 1<span class=n>12</span>", "Item 1 12"),
        (
            "<style><!-- s.n, i.n.x, #n, x-1 {float: right} --></style>5<i class='x n'>6</i><b id=n>7</b><x-1>8</x-1>",
            "5 6 7 8",
        ),
        ("<style>@media screen, print {.n {float:right}}</style>5<i class=n>6</i>", "5 6"),
        ("<style>@media print {.n {float:right}} @page {.n {float:right}}</style>5<i class=n>6</i>", "56"),
        ("<style media=print>.n {float:right}</style>5<i class=n>6</i>", "56"),
        ("<noscript><style>.n {float:right}</style></noscript>5<i class=n>6</i>", "56"),
        ("<style>.n {float:right} @media (max-width:600px) {.n {float:none}}</style>5<i class=n>6</i>", "5 6"),
        ("<style>.n {float:right} i {float:none}</style>5<i class=n>6</i>", "5 6"),
        ("<style>.n {float:right}</style>5<i class=n style='float:none'>6</i>", "56"),
        ("<style>.n {float:right !important}</style>5<i class=n style='float:none'>6</i>", "5 6"),
        (r"<style>.md\:n {float:right}</style>5<i class='h md:n'>6</i>", "5 6"),
        ("<style>.n {display:block} .x .n {display:inline}</style><i class=n>5</i><i class=n>6</i>", "5\n6"),
        ("<style>.x .n {float:right}</style>5<i class=n>6</i>", "56"),
        ("<style>.n:hover, .n[a], .n::before, .\\6e x {float:right}</style>5<i class='n 6e'>6</i>", "56"),
        ("<style>.n.n {float:right} .n {float:none}</style>5<i class=n>6</i>", "5 6"),
        # Of one rule what is important counts, whatever comes behind it.
        ("<style>.n {float:right!important; float:none}</style>5<i class=n>6</i>", "5 6"),
        ("<style>.n {display:block!important; display:none}</style>5<i class=n>6</i>", "5\n6"),
        # What a rule declares before another one within it, and behind that.
        ("<style>.n {float:right; &:hover {float:none}}</style>5<i class=n>6</i>", "5 6"),
        ("<style>.n {color:red; @media print {x:y} float:right}</style>5<i class=n>6</i>", "5 6"),
        ("<style>.x {color:red; .n {float:right}}</style>5<i class=n>6</i>", "56"),
        ("<style>@layer a {.n {float:right}} @supports (x:y) {.n {float:right}}</style>5<i class=n>6</i>", "56"),
        # The end of a sheet, quotations and addresses.
        ("<style>@media all {.n {float:right</style>5<i class=n>6</i>", "5 6"),
        (r"""<style>.x:before {content:"\""} .n {float:right} .y {content:"/*"}</style>5<i class=n>6</i>""", "5 6"),
        ("<style>.x {content:'/*'} .n {float:right} /* */</style>5<i class=n>6</i>", "5 6"),
        ("<style>.x {background:url(it's.png)} .n {float:right} .y {content:'x'}</style>5<i class=n>6</i>", "5 6"),
        # Names, and how many of them.
        ("<style>.n, #I {float:right}</style>5<i class=N>6</i><b id=i>7</b>", "5 6 7"),
        ("<style>.a,.b,.c,.d,.e,.n {float:right}</style>5<i class='x n e d c b a'>6</i>", "5 6"),
        # A sheet joins nothing that tags part, and what it says of what is inside a line is read.
        (
            "<style>.n {display:inline} @media (min-width:1px) {.n {display:block}}</style><p class=n>5<p class=n>6",
            "5\n\n6",
        ),
        ("<style>.n {display:contents} p {display:ruby}</style><div class=n>5</div><div class=n>6</div>", "5\n6"),
        ("<style>.n {display:block} i.n {display:inline}</style>5<i class=n>6</i>", "56"),
        ("<style>.n {display:inline}</style>5<i class=n hidden>6</i>", "56"),
        ("<style>.n {display:inline !important}</style>5<i class=n style='display:none'>6</i>", "56"),
        # A table in quirks mode.
        ("<div style='font-size:0'>9<table><tr><td>5</table></div>", "5"),
        ("5<table style='font-size:0'><tr><td>9</table>", "5"),
    ],
)
def test_what_a_page_hides_is_no_text_and_what_it_shows_is(page: str, text: str) -> None:
    for read in readings(page):
        assert read == text


@pytest.mark.parametrize(
    ("doctype", "has_quirks"),
    [
        ("", True),
        ("<!DOCTYPE html>", False),
        ("<?xml version='1.0'?><!-- x --><!doctype HTML SYSTEM 'about:legacy-compat'>", False),
        ('<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "x">', False),
        ('<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN">', False),
        ('<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN" "x">', False),
        ('<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">', True),
        ('<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.0 Transitional//EN" "x">', True),
        ('<!DOCTYPE HTML PUBLIC "-//IETF//DTD HTML 2.0//EN">', True),
    ],
)
def test_a_page_without_a_doctype_of_standards_is_read_in_quirks_mode(doctype: str, *, has_quirks: bool) -> None:
    body = "<div style='font-size:0'><table><td>7</table></div><p>5<i class=n>6</i>"
    page = f"{doctype}<html><style>.N {{float:right}}</style>{body}"
    read = captured.read(page.encode(), "text/html", "https://a.example", "text").text
    assert read == filed.of_document(page, "a.htm") == ("7\n\n5 6" if has_quirks else "56")


CLASSES = [first + second for first in "abcdefgh" for second in "01234567"]
SHEETS = {
    "classes": (",".join(f".{a}.{b},p.{a}.{b}" for a, b in combinations(CLASSES, 2)) + "{float:left;margin:1px}",
                "".join(f"<p class='{' '.join(CLASSES[n % 40 :])} x{n}'>5" for n in range(9_000))),
    "blocks": (".a{top:0;" * 99_000, "<p class=a>5" * 9),
    "quotations": ('"\\' * 300_000 + "\n" + "'\\" * 99_000, ""),
    "addresses": ("url( " * 190_000, "<b style='x:" + "url( " * 3_900 + "'>5</b>" * 9),
    "a mark around a mark": ("u{vertical-align:top}", ("<p>" + "<u>" * 900 + "5" + "</u>" * 900) * 60),
    "one class": (",".join([".a"] * 300_000) + "{float:left;" + "top:0;" * 3_000 + "}", "<p class=a>5" * 9_000),
    "many": (",".join(f".a{n}" for n in range(200_000)) + "{float:left;margin:9pt}", "<p class=a9>5" * 9_000),
    "pairs": ("".join(f".a.b{n}{{float:left}}" for n in range(20_000)),
              "".join(f"<p class='a b{n}'>5" for n in range(20_000))),
    "braces": ("{" * 900_000, ""),
    "combinators": ("a " * 500_000 + "{float:left}", ""),
    "nested": ("@media{" * 20_000 + "a{float:left}" * 20_000, ""),
    "digits": ("a{margin-left:" + "1" * 19_000 + "!}" * 2, "<b style='margin-left:" + "1" * 19_000 + "!'>5</b>" * 9),
    "within a drawing": ("", "<svg>" + "<style>" * 20_000 + "5" * 100_000),
    "names": ("".join("." + "é" * n + "!{float:left}" for n in range(399)), ""),
    "comments": ("/*" * 500_000, ""),
    "brackets": ("a" + "([" * 500_000 + "{float:left}", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", SHEETS)
def test_a_hostile_sheet_costs_little(name: str) -> None:
    sheet, body = SHEETS[name]
    begin = time.process_time()
    for read in readings(f"<style>{sheet}</style>{body}<p>end"):
        assert read.endswith("end")
    assert time.process_time() - begin < 20
