"""The plain text of an article's source, its redirect and its links. Pure.

mwparserfromhell parses. Templates are not expanded, since they would be today's: an infobox is shown as the values that
it is given, and what stands in a sentence (a quantity, a date) as its parameters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pit_fetch.errors import ConfigError
from pit_fetch.gaps import Code
from pit_fetch_providers.markup.marks import BACK, LOWERED, RAISED, resolved, visible
from pit_fetch_providers.wikipedia import nesting

if TYPE_CHECKING:
    from mwparserfromhell.nodes import Node, Tag, Template
    from mwparserfromhell.wikicode import Wikicode

_REDIRECT = re.compile(r"\s*#\w+\s*:?\s*\[\[\s*:?([^\]|#\n]+)")
# Notes, sources, remarks to readers and layout: they say nothing of the subject.
_UNSAID = re.compile(
    r"(?:cite|citation|sfn|efn|refn|ref|reflist|notelist|r|rp|harv\w*|main|see also|further|about|for|redirect|hatnote"
    r"|distinguish|other uses?|short description|use \w+ (?:dates|english)|pp(?:-.*)?|good article|featured article"
    r"|authority control|defaultsort|portal.*|commons.*|clear|toc.*|citation needed|cn|fact|by whom|when|who|which"
    r"|flag ?icon|increase|decrease|steady|increasenegative|decreasepositive|coord|images?|multiple image|col-.*"
    r"|div col.*|end|navbox.*|sister.*|webarchive|dead link|cbignore|anchor|internetquelle|literatur|einzelnachweise"
    r"|lien web|ouvrage|article|cita .*|cita|normdaten|autorité)(?: .*)?",
    re.IGNORECASE,
)
# A template with so many named values is a table of them, at the start of a line or behind a few blanks.
_FEWEST_VALUES = 3
_LONGEST_INDENT = 20
_SILENT_TAGS = frozenset({"ref", "references", "gallery", "templatestyles", "timeline", "score", "imagemap", "math",
                          "chem", "graph", "mapframe", "section", "syntaxhighlight"})  # fmt: skip
_SHIFTS = {"sup": RAISED, "sub": LOWERED}
_SHIFTING = {**_SHIFTS, "superscript": RAISED, "subscript": LOWERED}
# A fraction's numbers are those of its whole, above and below its line, each but the last can be missing.
_FRACTIONS = frozenset({"frac", "fraction", "sfrac"})
_POWERS_OF_TEN = {"e": "×10", "10^": "10"}
_BULLETS = {"li": "- ", "dd": "  ", "dt": ""}
# Pictures and categories, as the largest Wikipedias call them.
_ASIDE = re.compile(
    r"\s*(?:file|image|datei|bild|fichier|archivo|imagen|immagine|file|bestand|afbeelding|plik|grafika|ficheiro|imagem"
    r"|файл|изображение|файл|ファイル|画像|文件|图像|파일|category|kategorie|catégorie|categoría|categoria|kategoria|категория"
    r"|категорія|カテゴリ|分类|分類|분류)\s*:",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^(?:- *)+")
_QUOTES = re.compile("''+")
_BLANKS = re.compile(r"\n\s*\n\s*")


def require() -> None:
    """Raise ConfigError if the parser is not installed, before anything is asked."""
    try:
        import mwparserfromhell  # noqa: F401
    except ImportError:
        raise ConfigError(Code.DEPENDENCY_MISSING, package="mwparserfromhell") from None


def redirect_of(source: str) -> str | None:
    """Return the title to which the page is a redirect; None if it is an article. The word for it is the language's."""
    match = _REDIRECT.match(source)
    return match[1].strip() if match else None


def parse(source: str) -> Wikicode:
    """Return an article's source, parsed. Of the largest articles (2 MB) this takes seconds."""
    import mwparserfromhell

    # Quotes that cross brackets cost the parser the square of their number, and MediaWiki reads them line by line.
    return mwparserfromhell.parse(nesting.closed(source), skip_style_tags=True)


def plain(code: Wikicode) -> str:
    """Return the text of an article, with the values of its infobox."""
    text = nesting.restored(_text(code.nodes))
    lines = (
        _BULLET.sub("- ", resolved(_unquoted(line)).rstrip().removesuffix(" |").rstrip()) for line in text.split("\n")
    )
    return _BLANKS.sub("\n\n", "\n".join(lines)).strip()


def links(code: Wikicode) -> str:
    """Return the addresses outside of Wikipedia that an article names, one a line, each once."""
    urls = (nesting.restored(str(link.url)).strip() for link in code.filter_external_links())
    return "\n".join(dict.fromkeys(url for url in urls if url.startswith(("http://", "https://"))))


def _unquoted(line: str) -> str:
    """Return a line without the quotes that stand for bold and italic type, as MediaWiki counts them."""
    widths = [len(quotes) for quotes in _QUOTES.findall(line)]
    is_bold_left, is_italic_left = (sum(width in (kind, 5) for width in widths) % 2 for kind in (3, 2))
    if is_bold_left and is_italic_left:  # an apostrophe before italics
        line = re.sub("(?<!')'''(?!')", "'", line, count=1)
    return _QUOTES.sub(lambda quotes: "'" * (1 if len(quotes[0]) == 4 else max(len(quotes[0]) - 5, 0)), line)


def _text(nodes: Iterable[Node]) -> str:
    written = ""
    for node in nodes:
        before = written[-_LONGEST_INDENT:].rpartition("\n")[2]
        written += "".join(_said(node, is_at_start=not before.strip()))
    return written


def _said(node: Any, is_at_start: bool) -> Iterator[str]:
    match type(node).__name__:
        case "Text":
            yield visible(str(node.value))
        case "HTMLEntity":
            yield visible(node.normalize())
        case "Heading":
            yield f"\n{_code(node.title).strip()}\n"
        case "Wikilink":
            if not _ASIDE.match(str(node.title)):
                yield _code(node.text) if node.text is not None else str(node.title).lstrip(":")
        case "ExternalLink":
            yield _code(node.title) if node.title is not None else str(node.url)
        case "Tag":
            yield _tag(node)
        case "Template":
            yield _template(node, is_at_start)


def _code(code: Wikicode | None) -> str:
    return "" if code is None else _text(code.nodes)


def _tag(tag: Tag) -> str:
    name = str(tag.tag).strip().lower()
    if name in _SILENT_TAGS:
        return ""
    if name in ("br", "hr"):
        return "\n"
    inner = "" if tag.contents is None else _text(tag.contents.nodes)
    if name in _BULLETS and tag.self_closing:
        return _BULLETS[name]
    if name in _SHIFTS:
        return f"{_SHIFTS[name]}{inner}{BACK}"
    if name in ("td", "th"):
        return f"{inner.strip()} | "
    return f"\n{inner}" if name == "tr" else inner


def _template(template: Template, is_at_start: bool) -> str:
    name = " ".join(str(template.name).replace("_", " ").split())
    if not name or name.startswith("#") or _UNSAID.fullmatch(name):
        return ""
    named = [param for param in template.params if param.showkey]
    is_box = "infobox" in name.lower() or len(named) >= _FEWEST_VALUES
    if is_at_start and named and is_box:
        values = ((str(param.name).strip(), " ".join(_code(param.value).split())) for param in named)
        return "\n".join([name, *(f"{key}: {value}" for key, value in values if value), ""])
    unnamed = [_code(param.value).strip() for param in template.params if not param.showkey]
    return _raised(name.lower(), unnamed) or " ".join(filter(None, unnamed))


def _raised(name: str, values: list[str]) -> str:
    """Return what a template shows that raises or lowers its values; "" for any other."""
    if name in _SHIFTING and values:
        return f"{_SHIFTING[name]}{values[0]}{BACK}"
    if name in _POWERS_OF_TEN and values:
        return f"{_POWERS_OF_TEN[name]}{RAISED}{values[0]}{BACK}"
    if name in _FRACTIONS and 1 <= len(values) <= 3:
        *whole, above, below = ["1", *values] if len(values) == 1 else values
        return f"{''.join(whole)}{RAISED}{above}{BACK}/{LOWERED}{below}{BACK}"
    return ""
