"""Whatever reads a text of others takes a time that grows with its length, not with its square, and does not crash."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime
from html.parser import HTMLParser
from time import process_time
from typing import Any

import pytest
from pit_fetch_providers.bz_news_api.articles import mentions
from pit_fetch_providers.edgar import daily_index
from pit_fetch_providers.edgar.header import parse_header, parse_index_page
from pit_fetch_providers.sec_filings import text as filed
from pit_fetch_providers.sec_full_text import filings
from pit_fetch_providers.wayback import text as captured
from pit_fetch_providers.wikipedia import wikitext
from pit_fetch_providers.yahoo import earnings

from pit_fetch.errors import UpstreamError
from pit_fetch.formats import csv, html, table
from pit_fetch.formats.columns import columns
from pit_fetch.normalize import items, saved
from pit_fetch.normalize.saved import SavedPage
from pit_fetch.pipeline.chunks import chunk
from pit_fetch.pipeline.cursor import parse_cursor
from pit_fetch.pipeline.envelope import PlainEnvelope, Provenance
from pit_fetch.provider import Query
from pit_fetch.support.bundled import gate
from pit_fetch.wire import lenient_json, read_html, unescape

PIT = datetime(2024, 2, 15, 21, tzinfo=UTC)
ITEM = {"available_at": "2024-02-15T16:00:00-05:00", "available_at_source": "provider_metadata", "id": "1"}
QUERY = Query(PIT, PIT, PIT, None, None, PIT, 50, {"symbol": None})
ACCESSION = "0001209191-18-064398"
HEADER = f"<SEC-HEADER>x : 20180102\nACCESSION NUMBER: {ACCESSION}\nFILED AS OF DATE: 20180102\n%s\n</SEC-HEADER>"
INDEX = '<div class="infoHead">Filing Date</div><div class="info">%s</div><div class="infoHead">Accepted</div>'
DAILY = "Description:           Daily Index of EDGAR Dissemination Feed\nLast Data Received:    Dec 31, 2018\n%s"
EARNINGS = "<table><tr><th>Earnings Date</th></tr><tr><td>%s</td></tr></table>"


CALL = "pit_fetch --pit 2024-02-15T21:00:00Z"
NOTICE = "Shell cwd was reset to "
NAME = "COMPANY CONFORMED NAME: "
LINKED = b'<script type="application/ld+json">%s</script>'
MARKUP = (
    *("</", "<a ", '<a b="', "<!--", "<!--x>", "<![if x>", "<![CDATA[x>", "<p>< ", "<script>", "</script "),
    *(
        '<a itemprop="datePublished">',
        "<i hidden>",
        "updated 1 ",
        "Updated AM ",
        "<p data-a=updated:1>",
        "<script>updated:",
    ),
)
# Openings without an end, or whose ends cross; together with as many ends, what is nested deeply.
WIKITEXT = (
    *("{{a|", "[[a|", "{{a|[[b|", "{{{a|b}}", "[http://a ", "<b>", '<b a="', "<!--", "\n{|\n|"),
    *("{{a|[[b|}}", "'''''a'' "),
)
ENDS = {"{{a|": "}}", "[[a|": "]]", "<b>": "</b>", "\n{|\n|": "\n|}"}


def _with_ends(text: str) -> str:
    """Half of a text of one piece, and the ends of what that opens."""
    piece = next((piece for piece in ENDS if text.startswith(piece * 2)), "")
    return text[: len(text) // 2] + ENDS.get(piece, "") * (len(text) // 2 // len(piece or "x"))


def _captured(text: str) -> object:
    return captured.read_content(_bytes("<html><title>" + text), "text/html", "https://a.example/", "text")


def _hook(command: str, stderr: str = "") -> dict[str, Any]:
    response = {"stdout": "{}", "stderr": stderr, "interrupted": False}
    return {"tool_name": "Bash", "tool_input": {"command": command}, "tool_response": response}


def _envelope(text: str) -> PlainEnvelope:
    return PlainEnvelope([{**ITEM, "title": text, "n": text}], [], Provenance(kinds={"n": "number"}))


def _article(text: str) -> Mapping[str, Any]:
    return {"title": text, "teaser": "", "body": text, "tags": [], "channels": []}


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


# What reads a text, and what in particular it could read again and again.
READERS: Mapping[str, tuple[Callable[[str], object], Sequence[str]]] = {
    "the gate": (
        lambda text: gate.check(json.dumps({"data": [{**ITEM, "text": text}], "gaps": []}), PIT),
        ('{"a":', "{}", '["a",', '["'),
    ),
    "the gate's hook, stderr": (lambda text: gate.respond(_hook(CALL, text + "x")), ("\n",)),
    "the gate's hook, a notice": (lambda text: gate.respond(_hook(CALL, f"{NOTICE}{text}\nx")), ("\n",)),
    "the gate's hook, parameters": (lambda text: gate.named_pits({"params": "{pit" + text}), ("pit ",)),
    "a chunk": (lambda text: chunk({"text": text}, None, len(text) // 2, (), lambda piece: piece[:1] == "["), ()),
    "a cursor": (parse_cursor, ("%41", "@", "/")),
    "JSON": (lambda text: lenient_json(_bytes(text), 1), ("[1,", '[{"a":', "-")),
    "JSON, in a text": (lambda text: lenient_json(json.dumps([text]).encode(), 1), ()),
    "references": (lambda text: unescape("&#" + text), ("&", "&#x", "&amp")),
    "HTML": (lambda text: read_html(HTMLParser(), "&#" + text), MARKUP),
    "a saved page": (lambda text: saved.page_of(_bytes(text)), ("HTTP/1.1 200\n\n", *MARKUP)),
    "a page in punycode": (lambda text: saved.page_of(b"<meta charset=punycode>" + _bytes(text)), ("a-b",)),
    "JSON-LD": (lambda text: saved.page_of(LINKED % _bytes(text)), (";  ", "// ", '{"datePublished":')),
    "deep JSON-LD": (lambda text: saved.page_of(LINKED % _deep(text)), ()),
    "a quotation": (
        lambda text: items.keep_quoted({"text": text}, SavedPage(texts=("x" + text,))),
        ("a'", "+1", "\ufdfa"),
    ),
    "a table": (lambda text: table.render(_envelope(text)), ()),
    "a page": (lambda text: html.render(_envelope("<p>" + text)), MARKUP),
    "a CSV": (lambda text: csv.render(_envelope(text)), ('"',)),
    "a number": (lambda text: columns([{"n": text + "x"}], {"n": "number"}), ("1.", "9,")),
    "keywords": (lambda text: mentions(_article("&#" + text), ("oil prices", "gas")), ("oil ", *MARKUP)),
    "an EDGAR header": (lambda text: parse_header(_bytes(HEADER % text), ACCESSION), ("\nCOMPANY CONFORMED NAME:  ",)),
    "an EDGAR header, a name": (lambda text: parse_header(_bytes(HEADER % f"{NAME}x{text}x"), ACCESSION), ("\t",)),
    "an EDGAR header, as HTML": (lambda text: parse_header(_bytes("<html>" + HEADER % text), ACCESSION), ("&",)),
    "an EDGAR index page": (
        lambda text: parse_index_page(_bytes(INDEX % text), ACCESSION),
        ('id="secNum">', 'id="secNum"', '<div class="infoHead"> Filing Date </div> <div class="info"> '),
    ),
    "an EDGAR daily index": (lambda text: daily_index.parse(_bytes(DAILY % text), date(2018, 12, 31)), ("|20181231 ",)),
    "an EDGAR name": (lambda text: list(filings.filings([{"_id": "a:b", "_source": _source(text)}])), ("  (A", "  (")),
    "an article": (lambda text: wikitext.plain_text(wikitext.parse(text)), WIKITEXT),
    "an article, closed": (lambda text: wikitext.plain_text(wikitext.parse(_with_ends(text))), [*ENDS]),
    "an article's links": (lambda text: wikitext.links(wikitext.parse(text)), ("[http://a ", "[[http://a")),
    "a captured page": (_captured, ("<div>", "<table><tr><td>", "<a href=", "<b><p>", *MARKUP)),
    "a captured body": (lambda text: _captured("</title>" + text), ("<div>", "<table>", "<a href=", "<b><p>", *MARKUP)),
    "a filing": (
        lambda text: filed.document_text("<?xml?><html><body>" + text),
        ("<div>", "<sup>1</sup>", "<td>", "<x />", "<font size=1><p>", "<ol><li>", "<select><title>", *MARKUP),
    ),
    "a phrase": (lambda text: [*filed.find_passages(text, "a a")], ("a ", "``", "\ufb01")),
    "a page of earnings": (
        lambda text: earnings.parse(_bytes(EARNINGS % text), QUERY, QUERY.started),
        ("<td>", *MARKUP),
    ),
}
ANY = (" ", "x", "1", "&#9", "\ud800", "\u0315\u0300", "<", "[", '"\\"')
SMALL, TIMES = 3_000, 8


def _deep(text: str) -> bytes:
    """Values within the time of a time, of a time, and so on."""
    values = json.dumps([text[start : start + 40] for start in range(0, len(text), 40)]).encode()
    return b'{"datePublished": ' * 300 + values + b"}" * 300


def _source(text: str) -> dict[str, Any]:
    return {"adsh": ACCESSION, "form": "8-K", "file_date": "2018-01-02", "ciks": ["1"], "display_names": [text]}


def _seconds(read: Callable[[str], object], text: str, tries: int = 3) -> float:
    spent = []
    for _ in range(tries):
        began = process_time()
        with suppress(UpstreamError):
            read(text)
        spent.append(process_time() - began)
    return min(spent)


@pytest.mark.parametrize("name", READERS)
def test_a_text_is_read_in_a_time_that_grows_with_its_length(name: str) -> None:
    read, own = READERS[name]
    for piece in (*ANY, *own):
        short = piece * (SMALL // len(piece))
        large = _seconds(read, short * TIMES, 1)
        # The square would be 64 times as much. What takes next to no time is not worth a second look.
        if large > 0.02 and large > 3 * TIMES * _seconds(read, short):
            large = _seconds(read, short * TIMES)
            assert large < 3 * TIMES * _seconds(read, short), f"{piece!r}: {large:.1f} s"
