"""Laws of the text of pages, which several sources share: its figures are those that the page shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from pit_fetch_providers.sec_filings.text import document_text, find_passages
from pit_fetch_providers.wayback.text import read_content

_FIGURE = re.compile(r"[0-9]+(?:[.,][0-9]+)*")


def readings(body: str) -> Iterator[str]:
    """Yield the text of a page, as each source that reads pages has it."""
    page = f"<html><body>{body}</body></html>"
    yield document_text(page) or ""
    for form in ("text", "markdown"):
        yield read_content(page.encode(), "text/html", "https://a.example/", form).text or ""


class Shown(NamedTuple):
    """A piece of a page, and what a browser shows of it: a blank stands for whatever parts figures."""

    source: str
    text: str


_WORDS = ("5,234", "12", "1.", ".5", ",000", "7", "(3)", "%", "$", " ", " of ", "word " * 60)
_LEAVES = (*(Shown(words, words) for words in _WORDS), Shown("<a href='/x'>of 5,234 m</a>", "of 5,234 m"),
           Shown("<p>12</p>", " 12 "))  # fmt: skip
# Around what stands in a line, with what a browser shows before it and behind it.
_INLINE = (("<b>{}</b>", ""), ("<ix:nonFraction scale='6'>{}</ix:nonFraction>", ""),
           ("<span style='font-size:9pt'>{}</span>", ""), ("<div style='display:inline'>{}</div>", ""),
           ("<s>{}</s>", " "), ("<label>{}</label>", " "), ("<span style='float:right'>{}</span>", " "),
           ("<span style='display:inline-block'>{}</span>", " "), ("<i style='margin:0 1em'>{}</i>", " "),
           ("<i style='padding-left:9px;padding-right:9px'>{}</i>", " "))  # fmt: skip
_BLOCKS = ("<div>{}</div>", "<section>{}</section>", "<blockquote>{}</blockquote>", "<pre>{}</pre>",
           "<span style='display:block'>{}</span>", "<ul><li>x {}</ul>", "<center>{}</center>")  # fmt: skip
_HIDING = ("<i hidden>{}</i>", "<span style='display: none'>{}</span>", "<span style='font-size:0'>{}</span>",
           "<template>{}</template>", "<ix:header>{}</ix:header>", "<title>{}</title>")  # fmt: skip
_RAISED = ("<sup>{}</sup>", "<sub>{}</sub>", "<span style='vertical-align:super'>{}</span>",
           "<font style='position:relative;top:-3.15pt'>{}</font>", "<span style='vertical-align:-2pt'>{}</span>",
           "<sup><i>{}</i></sup>")  # fmt: skip
_SEPARATE = ("<img src=a>", "<br>", "<i style='visibility:hidden'>9</i>", "<iframe>9</iframe>")


def figures(rng: Random) -> int:
    """The figures of a text are those that its page shows, in its order: none is lost, split or joined."""
    page = _pieces(rng, deepest=4)
    for text in readings(f"<p>x</p>{page.source}"):
        assert _FIGURE.findall(text) == _FIGURE.findall(page.text), f"{text!r} of {page.source!r}"
    return 1


def _pieces(rng: Random, deepest: int) -> Shown:
    pieces = [_piece(rng, deepest - 1) for _ in range(rng.randint(1, 4))]
    return Shown("".join(piece.source for piece in pieces), "".join(piece.text for piece in pieces))


def _piece(rng: Random, deepest: int) -> Shown:
    kind = rng.choice(("words", "words", "inline", "block", "raised", "hidden", "separate", "table", "list"))
    if kind == "raised":
        # A word behind it: what follows it at once may be another part of it.
        figure = rng.choice(("4", "12", "(3)", "a"))
        return Shown(f"{rng.choice(_RAISED).format(figure)}<b></b>of", f" {figure} of")
    if kind == "separate":
        return Shown(rng.choice(_SEPARATE), " ")
    if kind == "words" or deepest <= 0:
        return rng.choice(_LEAVES)
    within = _pieces(rng, deepest)
    match kind:
        case "inline":
            form, beside = rng.choice(_INLINE)
            return Shown(form.format(within.source), f"{beside}{within.text}{beside}")
        case "block":
            return Shown(rng.choice(_BLOCKS).format(within.source), f" {within.text} ")
        case "hidden":
            return Shown(rng.choice(_HIDING).format("9"), "")
        case "list":
            return Shown(f"<ol><li>x {within.source}<li>x</ol>", f" 1. x {within.text} 2. x ")
    cells = [_pieces(rng, deepest) for _ in range(rng.randint(1, 3))]
    source = "".join(f"<td>{cell.source}</td>" for cell in cells)
    return Shown(f"<table><tr>{source}</tr></table>", f" {' '.join(cell.text for cell in cells)} ")


# What is typed for what may be shown. A word's letters are of no size.
_SHOWN = {
    "going": ("going", "Going", "go\u00ading"),
    "first": ("first", "\ufb01rst", "FIRST"),
    "strasse": ("stra\u00dfe", "Strasse", "STRASSE"),
    "'s": ("'s", "\u2019s", "\u2039s"),
    '"a"': ('"a"', "\u201ca\u201d", "``a''"),
    "1/2": ("1/2", "1\u20442"),
    "...": ("...", "\u2026"),
}
_OTHERS = ("x", "gone", "fir", "\u00bd", "5\u00b2", "yyyyyyyyyyyy")


def passages(rng: Random) -> int:
    """Each place of a phrase is whole in a passage, and each passage has one, as a search word by word says."""
    phrase = [rng.choice(list(_SHOWN)) for _ in range(rng.choice((1, 2, 2, 3)))]
    words = [rng.choice((*phrase, *phrase, *_OTHERS)) for _ in range(rng.choice((3, 40, 400, 900)))]
    text, spans = "", list[tuple[int, int]]()  # where each word stands
    for word in words:
        shown = rng.choice(_SHOWN.get(word, (word,)))
        spans.append((len(text), len(text) + len(shown)))
        text += shown + rng.choice(_BLANKS)
    starts = [at for at in range(len(words) - len(phrase) + 1) if words[at : at + len(phrase)] == phrase]
    places = [(spans[at][0], spans[at + len(phrase) - 1][1]) for at in starts]
    made = {(place, place + len(part)): part for place, part in find_passages(text, " ".join(phrase))}
    assert all(text[begin:end] == part for (begin, end), part in made.items())
    for begin, end in places:
        assert any(first <= begin and end <= last for first, last in made), f"lost: {begin} {phrase} in {text!r}"
    for first, last in made:
        assert any(first <= begin and end <= last for begin, end in places), f"none: {first} {phrase} in {text!r}"
    assert len({first for first, _ in made}) == len(made), "two passages begin at one place"
    return 1


_BLANKS = (" ", " ", " ", " ", "\n", "\u00a0 ", "  ") * 9 + ("\n\n",)
