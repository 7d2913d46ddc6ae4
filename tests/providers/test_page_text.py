"""The text of pages, a table per rule: lines, cells, lists, what is raised, parted or hidden; and hostile pages."""

from __future__ import annotations

import time

import pytest
from pit_fetch_providers.page_cost import is_costly
from pit_fetch_providers.sec_filings.text import document_text
from pit_fetch_providers.wayback.text import read_content

from tests.providers.pages import readings

LONG = "Preferred stock, of which 1,000,000 are designated Series A junior participating preferred stock; " * 3

LINES = (
    ("<div>One</div><p>Two<br>three</p><p></p>Four", "One\n\nTwo\nthree\n\nFour"),
    ("<p>5,<b>234</b></p><pre>a  b\n  c</pre>", "5,234\n\na  b\n  c"),
    ("<span style='display:block'>5</span><span style='display: table-cell'>6</span>7", "5\n6\n7"),
    ("<div style='display:inline'>5</div><div style='display:inline'>6</div>", "56"),
    ("<i style='display:inline-block'>5</i><i style='display:inline'>6</i>7", "5 67"),
    ("con<img src=a>cern 5<img src=a>6 5<s>4</s>3 $<img src=a>5", "concern 5 6 5 4 3 $5"),
    ("<table><caption>Gas</caption><tr><th>Site<th>Load<tr><td><p>A</p><td>20</table>", "Gas\nSite | Load\nA | 20"),
    ("<table><tr><td></td><td>-</td></tr><tr><td>Sales<td>-</table><p>#</p>", "-\nSales | -\n\n#"),
    # A long cell is a column of the page, and is parted from the next one all the same.
    (f"<table><tr><td>{LONG}2022<td>150<td>140</table>", f"{LONG}2022 | 150 | 140"),
    (f"<table><tr><td><p>{LONG}</p>tail 2022<td>150</table>", f"{LONG.strip()}\n\ntail 2022 | 150"),
)
LISTS = (
    ("<ul><li>a<ul><li>b</ul><li><p>c</p></ul><p>d</p>", "- a\n  - b\n- c\n\nd"),
    ("<ol><li>a<li value=5>b<li hidden>x<li>c</ol>", "1. a\n5. b\n6. c"),
    ("<ol start=3><li>a</ol><li>b", "3. a\n\n- b"),
    ("<table><tr><td>x<td><ol><li>5<li>6</ol></table>", "x | 1. 5 2. 6"),
    # A dash before a figure would be a minus, and a number for a letter would be a figure that the page does not show.
    ("<ul style='list-style: none'><li>5,234</ul><ul><li style='list-style:none'>6</ul>", "5,234\n\n6"),
    ("<ol type=a><li>a</ol><ol style='list-style-type:lower-roman'><li>b</ol>", "- a\n\n- b"),
    ("<ul style='list-style-type:decimal'><li>a<li>b</ul>", "1. a\n2. b"),
)
# As EDGAR's filing agents raise a footnote's mark.
RAISED = (
    "<sup>4</sup>",
    '<sup style="font-size:85%; vertical-align:top">4</sup>',
    "<sup><ix:nonFraction scale='0'>4</ix:nonFraction></sup>",
    "<sup><a href='https://a.example/x'>4</a></sup>",
    "<SPAN STYLE='VERTICAL-ALIGN: SUPER; font-size:60%'>4</SPAN>",
    "<span style='vertical-align:4pt'>4</span>",
    '<font style="font-size:8.5pt; vertical-align:top">4</font>',
    '<font size="1" style="vertical-align:text-top">4</font>',
    '<font style="font-size:5.85pt;position:relative;top:-3.15pt;vertical-align:baseline">4</font>',
)
MARKS = (
    ("$123.4<sup>1</sup> million, up 12%<sup>2</sup>; (5)<sup>3</sup>.", "$123.4^1 million, up 12%^2; (5)^3."),
    ("Sales<sup>(1)(2)</sup> 5<sup>1,2</sup> 6<sup>1</sup>,<sup>2</sup>", "Sales^(1)(2) 5^1,2 6^1,^2"),
    ("5,234<sup>a</sup> 5,234<sup>iv</sup> 5,234<sup>*</sup> 6<sup>\u2020</sup>", "5,234^a 5,234^iv 5,234* 6\u2020"),
    ("<sup>1</sup>Includes<p><sup>1</sup>2023 figures", "^1 Includes\n\n^1 2023 figures"),
    ("a<sup>1</sup>.5 b<sup>1</sup>,234 c<sup>1</sup>. 5", "a^1 .5 b^1 ,234 c^1. 5"),
    ("5,234<sup>&#8203; 1 </sup> m 6<sup>(</sup><sup>1</sup><sup>)</sup>m 5<sup></sup>6", "5,234 ^1 m 6^(1) m 56"),
    ("5,234<sub>4</sub> CO<sub>2</sub> C<sub>6</sub>H<sub>12</sub>", "5,234_4 CO2 C6H12"),
    ("10<sup>6</sup> 10<sup>-3.5</sup> x<sup>n</sup> m<sup>2</sup>/g", "10^6 10^-3.5 x^n m^2/g"),
    ("5<sup>1</sup>/<sub>2</sub>% 5 <sup>1</sup>&frasl;<sub>2</sub>% 7<sup>3/4</sup>%", "5 1/2% 5 1/2% 7 3/4%"),
    ("$1.20<sup>1</sup>/1.30 and 5<sup>note 4</sup>", "$1.20^1/1.30 and 5^note 4"),
    ("1<sup>st</sup> 4<sup>th</sup> A<sup>TM</sup> B<sup>&#174;</sup> C<sup>(R)</sup>", "1st 4th ATM B\u00ae C(R)"),
    # A line that is moved by a point is no mark, but what is raised in it is parted from its figures.
    ("<span style='position:relative;top:-1pt'>Sales 5,234<sup>1</sup> m</span>", "Sales 5,234 1 m"),
    ("$<span style='position:relative;top:-1pt'>5,234</span>", "$5,234"),
    ("5<span style='vertical-align:baseline;top:-2pt'>6</span><span style='vertical-align:0'>7</span>", "567"),
    ("<table><tr><td>a<td><font style='font-size:9pt;vertical-align:top'>12</font></table>", "a | 12"),
    ("<table><tr><td style='vertical-align:super'>3</td><td>4</td></table>", "3 | 4"),
)
GAPS = (
    ("Item 1<span style='float:right'>12</span> <i style='float:left'>T</i>he", "Item 1 12 The"),
    ("<span>Item 1.</span><span style='padding-left:20pt'>Business</span>", "Item 1. Business"),
    ("5<span style='margin: 0 3em'>234</span>6<b style='margin:0;padding-left:0pt'>7</b>", "5 234 67"),
    ("-<span style='display:inline-block;width:36pt'></span>5,234", "- 5,234"),
    ("Note 1<span style='position:absolute;left:400px'>5,234</span>", "Note 1 5,234"),
    ("2024<span style='visibility:hidden'>xx</span>2023", "2024 2023"),
    ("con\u00adcern 5\u200b6", "concern 56"),
    ("<p>\u0645\u06cc\u200c\u062e", "\u0645\u06cc\u200c\u062e"),  # a joiner of letters, in a script that has such
)
HIDDEN = (
    ("5<i hidden>9</i><b style='DISPLAY : NONE ! important'>9</b><b style='x-display:none'>6</b>", "56"),
    ("5<i style='display:none;display:inline'>6</i><i style='display:block;display:none'>9</i>", "56"),
    ("5<b style='font-size:0'>9<b style='font-size:9pt'>6</b></b><i style='font-size:0.5em'>7</i>", "567"),
    ("<b style='font-size:0'>9<b style='font:14px Arial'>5</b>9<font size=2>6</font></b>", "56"),
    ("<b style='font:0/0 a'>9</b><b style='font:700 12px a;font-size:0'>9</b><b style='font:inherit'>5</b>", "5"),
    ("<b style='visibility:hidden'>9<b style='visibility:visible'>5</b><b style='font-size:9pt'>9</b></b>", "5"),
    ("<p>5</p><title>7</title><datalist><option>7</datalist><dialog>7</dialog><template>7</template>", "5"),
    ("<script>7</script><style>7</style><noscript>7</noscript><iframe>7</iframe><video>7</video>5", "5"),
    ("<div style='display:none'><ix:header><ix:hidden>0000320193</ix:hidden></ix:header></div>5", "5"),
)


@pytest.mark.parametrize(("page", "text"), [*LINES, *LISTS, *MARKS, *GAPS, *HIDDEN])
def test_the_text_of_a_page(page: str, text: str) -> None:
    for read in readings(page):
        assert read == text


@pytest.mark.parametrize("raised", RAISED)
def test_a_raised_mark_is_parted_from_its_figure_however_it_is_raised(raised: str) -> None:
    page = f"<html><ix:nonFraction scale='6'>5,234</ix:nonFraction>{raised} million"
    assert document_text(page) == "5,234^4 million"


@pytest.mark.parametrize("empty", ["<div style='display:none'/>", "<ix:header/>", "<title/>"])
def test_what_ends_where_it_begins_hides_nothing_of_a_page_in_xml(empty: str) -> None:
    page = f"<html xmlns='http://www.w3.org/1999/xhtml'><body>{empty}Sales<br/>Costs</body></html>"
    assert document_text(page) == "Sales\nCosts"
    assert read_content(page.encode(), "application/xhtml+xml", "https://a.example", "text").text == "Sales\nCosts"


def test_a_page_that_hides_itself_shows_nothing_as_a_document_and_hides_nothing_as_a_capture() -> None:
    # As behind a dialog that asks for consent.
    page = "<body hidden><p>Sales of 5,234</p>"
    assert document_text(page, "a.htm") == ""
    assert read_content(page.encode(), "text/html", "https://a.example", "text").text == "Sales of 5,234"


# Each took its reader a minute, or gigabytes. None stands for a page that is not read.
HOSTILE = {
    "nested": ("<div>" * 4_000 + "5", "5end"),
    "nested, and ended": ("<ul><li>" * 4_000 + "5" + "</li></ul>" * 4_000, "- 5\n\nend"),
    "nested deeper": ("<div>" * 40_000, None),
    "cells in cells": (("<table><tr><td>" + "x" * 500) * 3_000, "end"),
    "formatting that is repeated": ("".join(f"<font size={n}><p>" for n in range(3_000)), None),
    "one line": ("<sup>5</sup>" * 90_000, "5end"),
    "attributes": ("<p " + " ".join(f"a{n}=1" for n in range(60_000)) + ">", "end"),
    "styles": ("".join(f"<b style='x:{n};{'margin:0;' * 300}'>5</b>" for n in range(900)), "5end"),
    "scripts in a drawing": ("<svg>" + "<script type='application/ld+json'>" * 4_000 + "x" * 1_000_000, "end"),
    "a million tags": ("<p>" * 1_000_000, None),
    "formatting that nests": ("<b>" * 60_000 + "<p>Sales 5</p>" * 60_000, None),
    "cells in a drawing": ("<svg>" + "<td>" * 20_000 + "</zz>" * 20_000, None),
    "end tags that end nothing": ("<span><div></span></div>" * 30_000, None),
    "formatting beyond the third": (("<b>" * 103 + "<div>" + "</b>" * 103 + "</div>") * 300, None),
    "formatting that its block's end leaves": ("".join(f"<div><font size={n}></div>5" for n in range(3_000)), None),
    "a form that ends alone": ("<form><span></form>" * 30_000, None),
    "a style that is none": ("<svg><style>" + "<div>" * 30_000 + "</style></svg>", None),
    "no tag of its own end": ("<svg>" + "<td a=b/>" * 40_000, None),
    "a quotation mark in a drawing's comment": ("<svg><!-- <i a=' -->" + "<td>" * 40_000 + "'>", None),
    "comments in a drawing": ("<svg>" + "<!--" * 300_000, ""),
    "a script in a script": ("<script><!--<script></script></script>" + "<div>" * 30_000 + "-->", None),
    "styles without an end": ("</p><style></p><div>" * 20_000, None),
    "a comment that is ended": ("<!-->" + "<div>" * 30_000 + "-->", None),
    "a quotation mark in a name": ('<p a=b=">' + "<div>" * 30_000 + '">', None),
}
# Pages as they are published, each of 20,000 tags or more, and all of little cost.
SERVED = {
    "1990s": "<table>" + "<tr><td><font size=2>5" * 20_000 + "</table>" + "<p><a name=x>6<ul><li>7</ul>" * 9_000,
    "tables in tables of a bank": "<table><tr><td><div><font size=2>5</font></div></td></tr></table>" * 15_000,
    "a line in formatting": "".join(f"<font size=2 id={n % 40}><br></font>" for n in range(20_000)),
    "ends that cross": "".join(f"<p><font size=2 id={n % 40}>5</p></font>" for n in range(20_000)),
    "Word": "<td><p class=MsoNormal><![if !supportEmptyParas]>&nbsp;<![endif]><o:p></o:p></p></td>" * 9_000,
    "less than": "<div><span>(<1%)</span></div>" * 20_000,
    "comments": "<p><b>5</b><!-- <div> --></p>" * 20_000,
    "a script": "<script>[" + '"<div>5<\\/div>",' * 30_000 + "]</script><script><!--\nd('<b>')\n//--></script>" * 5_000,
    "drawings": "<div><svg><g><path d=x /><path></path></g><title>5</title></svg></div>" * 9_000,
    "tags in attributes": "<a title='<div>' alt=\"<b>\">5</a>" * 20_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_page_costs_little(name: str) -> None:
    body, text = HOSTILE[name]
    begin = time.process_time()
    read = read_content(f"<html><body>{body}<i>end</i>".encode(), "text/html", "https://a.example", "markdown").text
    assert (read and read[-len(text or "") :]) == text
    assert time.process_time() - begin < 3


@pytest.mark.parametrize("name", SERVED)
def test_a_real_page_of_many_tags_is_served(name: str) -> None:
    assert not is_costly(f"<html><body>{SERVED[name]}")
    assert (document_text(f"<html><body>{SERVED[name]}<p>end") or "")[-3:] == "end"
