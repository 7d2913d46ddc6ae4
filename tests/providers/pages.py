"""Laws of the text of pages, which several sources share: what a page parts is parted in it, however it is built."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from random import Random

from pit_fetch_providers.markup.depth import flattened
from pit_fetch_providers.sec_filings import text as filed
from pit_fetch_providers.wayback import text as captured

_URL = "https://a.example/"


def readings(body: str) -> Iterator[str]:
    """Yield the text of a page, as each source that reads pages has it."""
    page = f"<html><body>{body}</body></html>"
    yield filed.of_document(page) or ""
    for form in ("text", "markdown"):
        yield captured.read(page.encode(), "text/html", _URL, form).text or ""


# Around a cell's words, or between two of them.
_AROUND = ("{}", "{}", "<p>{}</p>", "<div>{}", "<b>{}</b>", "<a href='/x'>{}</a>", "<ul><li>{}</ul>", "<pre>{}</pre>",
           "<font size=1>{}", "<ix:nonFraction>{}</ix:nonFraction>", "<table><tr><td>{}</table>")  # fmt: skip
_BETWEEN = (" ", "<br>", "<p>", " <span>x</span> ", "<img src=x>")


def cells(rng: Random) -> int:
    """A cell of a table is parted from the next one, however long it is and whatever it holds."""
    rows = ["".join(f"<td>{_cell(rng, sign)}" for sign in rng.sample("123456789", rng.randint(2, 5))) for _ in range(3)]
    for text in readings(f"<table><tr>{'<tr>'.join(rows)}</table>"):
        for figure in re.findall(r"[0-9]+", text):
            assert len(set(figure)) == 1, f"cells run together: {figure} in {rows}"
    return 1


def _cell(rng: Random, sign: str) -> str:
    """Return a cell with figures of one sign alone."""
    if rng.random() < 0.2:
        return rng.choice(("", "$", ")", "%", f"({sign}", f"{sign}%"))
    words = [rng.choice(("word ", "of ", "")) + sign * 3 for _ in range(rng.choice((1, 2, 30, 60)))]
    return rng.choice(_AROUND).format(rng.choice(_BETWEEN).join(words))


# What opens and is never ended, or ends where it begins, and what has its end.
_OPENING = ("<div>", "<p>", "<b>", "<font size=1>", "<a name=x>", "<PAGE>", "<span>", "<ul><li>", "<table><tr><td>",
            "<td>", "<tr><td>", "<ix:x />", "<sup>a</sup>", "<h2>", "<section>", "<svg><g /></svg>", "<center>",
            "<option>")  # fmt: skip
_ENDING = ("</div>", "</p>", "</b>", "</font>", "</table>", "</td><td>", "</ul>", "</span>")
_WIDTH = 4


def deep(rng: Random) -> int:
    """Nothing is hidden, and nothing runs together, where a page nests deeper than a parser should be given."""
    pieces = [rng.choice(rng.choice((_OPENING, _OPENING, _ENDING))) for _ in range(rng.choice((5, 20, 60)))]
    page = "<div hidden>" + "<x-1 />" * rng.choice((0, 9)) + "</div>"
    page += "".join(f"{piece}{number:0{_WIDTH}}" for number, piece in enumerate(pieces, 1))
    whole, flat = (_tokens(next(readings(made))) for made in (page, flattened(page, deepest=rng.randint(1, 9))))
    assert {number for run in whole for number in run} <= {number for run in flat for number in run}, f"hidden: {page}"
    assert _joined(flat) <= _joined(whole), f"what runs together: {_joined(flat) - _joined(whole)} in {page}"
    return 1


def _tokens(text: str) -> list[Sequence[str]]:
    """Return each run of digits of a text as the numbers that it is made of."""
    return [re.findall(f".{{{_WIDTH}}}", run) for run in re.findall("[0-9]+", text)]


def _joined(runs: Sequence[Sequence[str]]) -> set[tuple[str, str]]:
    return {pair for run in runs for pair in pairwise(run)}


# Each is left open by its author, and ended by what is around it.
LEFT_OPEN = ("<a name=1>", "<a name=1 />", "<PAGE>", "<ix:nonFraction nil=true />", "<font size=1>", "<br>", "<span />",
             "<table><tr><td><li>x</table>", "<b><i></b></i>", "<ul><li><li></ul>", "<!-- <div> -->")  # fmt: skip


def left_open(rng: Random) -> int:
    """A page may leave open whatever is ended by the element around it, as often as it likes."""
    around = rng.choice((("<p>", ""), ("<p>", "</p>"), ("<div>", "</div>"), ("<table><tr><td>", "</table>")))
    page = "".join(f"{around[0]}{rng.choice(LEFT_OPEN)}x{around[1]}" for _ in range(60))
    assert flattened(page, deepest=20) == page
    return 1


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
    made = {(place, place + len(part)): part for place, part in filed.passages(text, " ".join(phrase))}
    assert all(text[begin:end] == part for (begin, end), part in made.items())
    for begin, end in places:
        assert any(first <= begin and end <= last for first, last in made), f"lost: {begin} {phrase} in {text!r}"
    for first, last in made:
        assert any(first <= begin and end <= last for begin, end in places), f"none: {first} {phrase} in {text!r}"
    assert len({first for first, _ in made}) == len(made), "two passages begin at one place"
    return 1


_BLANKS = (" ", " ", " ", " ", "\n", "\u00a0 ", "  ") * 9 + ("\n\n",)


# What stands above or below its line, beside a figure.
_RAISED = ("<sup>{}</sup>", "<sub>{}</sub>", "<span style='vertical-align:super'>{}</span>", "<sup><i>{}</i></sup>",
           "<font style='font-size:6pt;vertical-align:top'>{}</font>", "<small style='vertical-align:top'>{}</small>",
           "<span style='font:6pt Arial;vertical-align:text-top'>{}</span>",
           "<b style='position:relative;top:-2pt'>{}</b>",
           "<font size=1><span style='vertical-align:top'>{}</span></font>", "<sup>note {}</sup>",
           "<sup>A{}</sup>", "<sup>{}</sup><sup style='padding-left:6px'>4</sup>")  # fmt: skip
# What is a line of its own, or stands between what is beside it.
_PARTING = ("<nav>{}</nav>", "<dialog open>{}</dialog>", "<option>{}</option>", "<menu>{}</menu>", "<div>{}</div>",
            "<span style='display:block'>{}</span>", "<i style='display: table-cell'>{}</i>", "<ol><li>{}</ol>",
            "<b style='display:inline-block'>{}</b>", "<s>{}</s>", "<button>{}</button>", "<img src=a>{}<br>",
            "<label>{}</label>", "<td>{}<td>", "<span style='float:right'>{}</span>",
            "<span style='padding-left:40px'>{}</span><br>", "<i style='margin:0 1em'>{}</i>",
            "<i style='vertical-align:top;margin:0 1em'>{}</i>",
            "<i style='position:absolute;left:9em'>{}</i>", "<i class=Right>{}</i>", "<i class=last>{}</i>",
            "<div class=joined>{}</div>",
            "<i style='visibility:hidden'>9</i>{}<i style='visibility:hidden'>9</i>", "<q>{}</q>")  # fmt: skip


# What a page shows between two signs, and what it does not.
_ROOMS = ("<i style='display:inline-block;width:36pt'></i>", "<i style='display:inline-flex;min-width:3%'></i>",
          "<img src=a width=20>", "<button></button>", "<i style='margin-left:1em'></i>",
          "<i style='display:inline-block;min-width:9pt;text-align:right'></i>")  # fmt: skip
_NO_ROOMS = ("<input type=hidden>", "<img src=a width=1 height=1>", "<i style='float:left'></i>", "<i></i>")


def apart(rng: Random) -> int:
    """Two signs are parted where a page shows a gap between them, and nowhere else."""
    before, behind = (
        rng.choice(("-", "\u2013", "(1)", "12", "$", "15,", "1.", "\u0663")),
        rng.choice(("5,234", "\u00bd", "%")),
    )
    room, no_room = rng.choice(_ROOMS), rng.choice(_NO_ROOMS)
    for text in readings(f"{before}{room}{behind} a{no_room}b"):
        assert text == f"{before} {behind} ab", f"{before}{room}{behind} a{no_room}b is {text!r}"
    begun = "<font style='vertical-align:bottom;font-size:10pt'>5.</font>"
    assert filed.of_document(f"<html><body>{begun}25%") == "5.25%"
    return 1


def parted(rng: Random) -> int:
    """A figure does not run together with what is raised beside it, nor with what a page shows apart from it."""
    whole, beside = rng.choice(("", "33", "3,333", "33.33", "33.")), rng.choice(("7", "77"))
    form, behind = rng.choice(_RAISED + _PARTING), rng.choice(("", " ", "4", " 4"))
    sheet = """<style>.joined { display: contents } .right { float: right !important; float: none; &:hover { top: 0 } }
        .last { float: right</style>"""
    body = f"{sheet}<table><tr><td>{whole}{form.format(beside)}{behind}</table>"
    text = filed.of_document(f"<html><body>{body}") or ""
    for figure in re.findall(r"[0-9]+(?:[.,][0-9]+)*", text.replace("1. ", "")):
        assert len(set(figure) & set("347")) == 1, f"{figure} of {body!r} in {text!r}"
    mark = rng.choice(_RAISED[:1] + _RAISED[2:6]).format(2)
    per = filed.of_document(f"<html><body>$0.50{mark}/4 of a share")
    assert per == "$0.50^2/4 of a share", f"a fraction of what is none: {per!r}"
    head, mark, sign = rng.choice(("2024", "Note 5")), rng.choice(("", "<sup>1</sup>")), rng.choice("$%")
    heading = filed.of_document(f"<html><table><tr><td>Sales<td>{head}{mark}<td>{sign}<td>1999<td>{sign}") or ""
    assert heading.replace("^1", "") == f"Sales | {head} | {sign} | 1999 | {sign}", f"joined: {heading}"
    return 1


# What hides its figure, and what does not, although it may seem to.
_HIDING = ("<i hidden>{}</i>", "<i style='display:none'>{}</i>", "<i style='display:block;display:/**/none'>{}</i>",
           "<i style='display:none!important;display:inline'>{}</i>", "<i style='font-size:0'>{}</i>",
           "<title>{}</title>",
           "<dialog>{}</dialog>", "<datalist>{}</datalist>", "<template>{}</template>",
           "<i style='display:none'><b style='display:inline'>{}</b></i>")  # fmt: skip
_SHOWING = ("{}", "<i style='--x-display:none'>{}</i>", "<i style='display:none;display:inline'>{}</i>",
            "<i style='display:inline;display:nothing'>{}</i>", "<i style='background:url(display:none)'>{}</i>",
            "<i style='visibility:hidden'><b style='visibility:visible'>{}</b></i>", "<i class=perhaps>{}</i>",
            "<i style='font-size:0'><b style='font-size:9pt'>{}</b></i>", "<i class=print>{}</i>",
            "<i class=within>{}</i>", "<i class=gone>{}</i>", "<i class=apart style='float:none'>{}</i>",
            "<i style='padding:0 .1em;margin:0 1px'>{}</i>")  # fmt: skip
_SHEET = """<style>.gone, b#gone { display: none } .on .perhaps { float: right } .apart { float: right }
@media print { .print { float: right } } .none .within { float: right }</style>"""


def hidden(rng: Random) -> int:
    """A figure is what a page shows of it: nothing that it hides is in it, and nothing that it shows is missing."""
    pieces = [(rng.choice(_SHOWING), rng.choice("12345")) for _ in range(rng.randint(1, 5))]
    page = "".join(form.format(digit) + rng.choice(("", rng.choice(_HIDING).format("9"))) for form, digit in pieces)
    shown = "".join(digit for _, digit in pieces)
    for text in readings(f"{_SHEET}<div>{page}</div>"):
        assert text == shown, f"{text!r} for {shown} of {page}"
    return 1


# Lists, and items with a style of their own: whether each has a marker, and is counted.
_LISTS = (("<ol>", "{}. "), ("<ol style='list-style-type:decimal-leading-zero'>", "{:02}. "), ("<ul>", "- "),
          ("<ul style='list-style:decimal'>", "{}. "), ("<ul style='list-style:none'>", ""))  # fmt: skip
_ITEMS = (("<li>", True, True), ("<li style='display:list-item'>", True, True), ("<li hidden>", False, False),
          ("<li style='list-style:none'>", False, True), ("<li style='display:block'>", False, False))  # fmt: skip


def listed(rng: Random) -> int:
    """An item has the number that a page shows before it, or none."""
    (tag, form), expected, number = rng.choice(_LISTS), list[str](), 1
    items = [*rng.choices(_ITEMS, k=rng.randint(0, 12)), _ITEMS[0]]  # for a page that hides all of itself is shown
    for item, has_number, counts in items:
        if item != "<li hidden>":
            expected.append((form.format(number) if has_number else "") + "x")
        number += counts
    page = tag + "".join(f"{item}x</li>" for item, _, _ in items)
    for text in readings(page):
        assert text.split() == " ".join(expected).split(), f"{text!r} for {page}"
    return 1
