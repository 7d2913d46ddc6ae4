"""The text of a captured page: what it holds of pages in the shapes that were recorded, and what it must not."""

from __future__ import annotations

import pytest
from pit_fetch_providers.wayback import text

URL = "https://www.example.gov/reports/fact-sheet"

# In the shape of a federal site of 2018: a banner, navigation and a search outside of <main>, and a footer.
SITE = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Fact Sheet |
 Example Agency</title>
<link rel="canonical" href="/reports/fact-sheet">
<meta property="article:published_time" content="2015-07-06T12:49:17-04:00">
<meta name="DC.date.modified" content="2016-07-18"><meta name="date" content=""><style>p {color: red}</style>
<script>var dataLayer = "tracker";</script></head><body class="html">
<noscript><iframe src="//tags.example.com/ns.html"></iframe></noscript>
<div class="skip-links"><a href="#main-content">Jump to main content</a></div>
<header class="masthead" role="banner"><h1><a href="/">Example Agency</a></h1>
<form action="/search"><label>Search</label><input name="q"><button>Search</button></form></header>
<nav role="navigation"><ul role="menu"><li><a href="/topics">Environmental Topics</a></li></ul></nav>
<section role="main"><h2>Fact   Sheet</h2>
<p>You may need a PDF reader. See the <a href="/home/pdf-files">About PDF page</a>.</p>
<ul><li><a href="documents/sheet.pdf">Fact Sheet (PDF)</a>(1 pg, 46&nbsp;K)<ul><li>Annex</ul></li><li>Second</ul>
<table><tr><th>Gas<th>Value</tr><tr><td><p>Methane</p><td>25</tr></table>
<select><option>Choose</select><p hidden>Unseen</p>
<article><header><h3>News</h3></header><p>Line one<br>Line two</p><pre>a  b
  c</pre></article></section>
<footer role="contentinfo"><a href="/contact">Contact Us</a> Discover.</footer>
<!-- FILE ARCHIVED ON 10:45:00 Aug 08, 2018 AND RETRIEVED FROM THE INTERNET ARCHIVE ON 19:30:00 Jan 23, 2025. -->
</body></html>"""


def read(source: str | bytes, form: text.Form = "text", declared: str = "text/html") -> text.Content:
    return text.read_content(source if isinstance(source, bytes) else source.encode(), declared, URL, form)


def test_the_text_is_that_of_the_main_part() -> None:
    assert read(SITE).text == "\n".join(
        [
            *(
                "Fact Sheet",
                "",
                "You may need a PDF reader. See the About PDF page.",
                "",
                "- Fact Sheet (PDF)(1 pg, 46 K)",
            ),
            *("  - Annex", "- Second", "", "Gas | Value", "Methane | 25", "", "News", "", "Line one", "Line two", ""),
            *("a  b", "  c"),
        ]
    )


def test_markdown_has_headings_and_links() -> None:
    lines = (read(SITE, "markdown").text or "").split("\n")
    assert lines[:3] == [
        *("## Fact Sheet", ""),
        "You may need a PDF reader. See the [About PDF page](https://www.example.gov/home/pdf-files).",
    ]
    assert "- [Fact Sheet (PDF)](https://www.example.gov/reports/documents/sheet.pdf)(1 pg, 46 K)" in lines
    assert "### News" in lines
    hidden = ("tracker", "Jump to", "Example Agency", "Search", "Topics", "Contact", "Choose", "Unseen", "ARCHIVED")
    assert [word for word in hidden if any(word in line for line in lines)] == []


def test_html_is_the_page_as_it_was_captured() -> None:
    assert read(SITE, "html").text == SITE


PRICE = "<html><p>Gr\u00fc\u00dfe \u20ac"


@pytest.mark.parametrize(
    ("source", "declared"),
    [
        (PRICE.encode(), "; charset=utf-8"),
        (PRICE.encode(), ""),
        (PRICE.encode("cp1252"), ""),
        (PRICE.encode("cp1252"), "; charset=ISO-8859-1"),
        (b"<meta charset=windows-1252>" + PRICE.encode("cp1252"), ""),
        (b"<meta http-equiv=Content-Type content='text/html; charset=iso-8859-1'>" + PRICE.encode("cp1252"), ""),
        (b"<?xml version='1.0' encoding='iso-8859-1'?>" + PRICE.encode("cp1252"), ""),
        (PRICE.encode("utf-16"), ""),
        (f"\ufeff{PRICE}".encode(), "; charset=windows-1252"),
        (b"<meta charset=cp1254>" + PRICE.encode("cp1254"), "; charset=no-such-name"),
        (PRICE.encode("utf-16-le"), "; charset=utf-16"),
        (b"<meta charset=utf-16>" + PRICE.encode(), ""),  # of which no letter has two bytes
        # Codecs of Python that are no encodings of pages; the first takes minutes.
        *((PRICE.encode(), f"; charset={name}") for name in ("punycode", "idna", "utf-7", "base64", "rot13", "utf-32")),
    ],
)
def test_a_page_is_read_in_its_own_characters(source: bytes, declared: str) -> None:
    assert read(source, declared=f"text/html{declared}").text == "Gr\u00fc\u00dfe \u20ac"


def test_what_is_no_page() -> None:
    assert read(b"a,b\n1,2", declared="text/csv").text == "a,b\n1,2"
    assert read(b'{"a": 1}', declared="application/json").text == '{"a": 1}'
    assert read(b"\x89PNG", declared="image/png").text is None
    assert read(b"<!doctype html><p>x", declared="text/plain").text == "x"


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<noscript><p>a</p><noscript>JavaScript</noscript></noscript>", True),
        ("<noscript>a</noscript><noscript><b>Enable JavaScript</b></noscript>", True),
        ("<noscript>a</noscript>", False),
    ],
)
def test_what_a_page_says_without_scripts_tells_that_it_needs_one(page: str, expected: bool) -> None:
    assert read(f"<html><body>{page}").needs_script is expected


def test_a_page_of_a_million_tags_is_served_as_it_was_captured_alone() -> None:
    source = SITE + "<p>" * 1_000_000
    assert [read(source, form).text for form in ("text", "markdown", "html")] == [None, None, source]
