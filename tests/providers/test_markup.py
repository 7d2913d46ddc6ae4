"""The text of pages, as the sources that read them share it: cells, depth, what ends where it begins."""

from __future__ import annotations

import re

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
        ("<ol style='list-style: none'><li>a</ol>", "- a"),
        ("<ol reversed><li>a<li>b</ol>", "2. a\n1. b"),
        ("<ol><li><p>a</p></li><li><div>b</div></li><li></li></ol><p>c</p>", "1. a\n2. b\n\nc"),
        ("<h2></h2><ul><li><p></p></ul><p>b</p>", "b"),
        ("<table><tr><td>x<td><ol><li>5<li>6</ol></table>", "x | 1. 5 2. 6"),
        ("<span style='display:block'>5</span><span style='display: table-cell'>6</span>7", "5\n6\n7"),
        ("<i style='display:inline-block'>5</i><i style='display:inline'>6</i>7", "5 67"),
        ("5<img src=a>6 5<s>4</s>3 con<img src=a>cern", "5 6 5 4 3 concern"),
    ],
)
def test_the_lines_of_a_page(page: str, text: str) -> None:
    for read in readings(page):
        assert read == text


@pytest.mark.parametrize("tag", ["nav", "menu", "dir", "dialog", "option", "listing", "div", "p", "section", "address"])
def test_elements_that_a_page_shows_as_lines_are_lines(tag: str) -> None:
    assert re.fullmatch("5\n+6", filed.of_document(f"<html><body><{tag}>5</{tag}><{tag}>6</{tag}>") or "")
