"""The plain text of an article's source, its redirect and its links. Pure.

mwparserfromhell parses. Templates are not expanded, since they would be today's: an infobox is shown as the values that
it is given, and another one as ``templates`` knows it, or as its own source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pit_fetch.errors import ConfigError
from pit_fetch.gaps import Code
from pit_fetch_providers.page_text import BACK, LOWERED, RAISED, look_of, mark_runs, strip_invisible
from pit_fetch_providers.wikipedia import nesting, templates

if TYPE_CHECKING:
    from mwparserfromhell.nodes import Node, Tag, Template
    from mwparserfromhell.wikicode import Wikicode

_REDIRECT = re.compile(r"\s*#\w+\s*:?\s*\[\[\s*:?([^\]|#\n]+)")
# A template with so many named values is a table of them, at the start of a line or behind a few blanks.
_FEWEST_VALUES = 3
_LONGEST_INDENT = 20
_SILENT_TAGS = frozenset({"ref", "references", "gallery", "templatestyles", "timeline", "score", "imagemap", "graph",
                          "mapframe", "section", "syntaxhighlight"})  # fmt: skip
# Formulas, which only their own source shows.
_FORMULAS = frozenset({"math", "chem", "ce"})
_LINES = frozenset(
    {
        "p",
        "div",
        "blockquote",
        "center",
        "table",
        "tr",
        "caption",
        "ul",
        "ol",
        "dl",
        "pre",
        "poem",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
    }
)
# What is struck out stands beside what takes its place.
_STRUCK = frozenset({"s", "del", "strike"})
_SHIFTS = {"sup": RAISED, "sub": LOWERED}
_BULLETS = {"li": "- ", "dd": "  ", "dt": ""}
# Pictures and categories, as the largest Wikipedias call them.
_ASIDE = re.compile(
    r"\s*(?:file|image|datei|bild|fichier|archivo|imagen|immagine|file|bestand|afbeelding|plik|grafika|ficheiro|imagem"
    r"|файл|изображение|файл|ファイル|画像|文件|图像|파일|category|kategorie|catégorie|categoría|categoria|kategoria|категория"
    r"|категорія|カテゴリ|分类|分類|분류)\s*:",
    re.IGNORECASE,
)
# Stands where something is left out, and where a template begins and ends. It is no character, and the figures that
# stand on both sides of it do not run together.
_SEAM = "\ufdd6"
_BETWEEN = re.compile(f"(?:(?<=[0-9])|(?<=[0-9][.,])){_SEAM}+(?=[.,]?[0-9])")
_LINE = "\n"
_BULLET = re.compile(r"^(?:- +)+")
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
    text = _without_seams(nesting.restored(_text(code.nodes)))
    lines = (
        _BULLET.sub("- ", mark_runs(_unquoted(line)).rstrip().removesuffix(" |").rstrip()) for line in text.split("\n")
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


def _without_seams(text: str) -> str:
    return _BETWEEN.sub(" ", text).replace(_SEAM, "") if _SEAM in text else text


def _text(nodes: Iterable[Node]) -> str:
    written = ""
    for node in nodes:
        before = written[-_LONGEST_INDENT:].rpartition("\n")[2].replace(_SEAM, "")
        written += "".join(_said(node, is_at_start=not before.strip()))
    return written


def _said(node: Any, is_at_start: bool) -> Iterator[str]:
    match type(node).__name__:
        case "Text":
            yield strip_invisible(str(node.value))
        case "HTMLEntity":
            yield strip_invisible(node.normalize())
        case "Heading":
            yield f"\n{_code(node.title).strip()}\n"
        case "Wikilink":
            if _ASIDE.match(str(node.title)):
                yield _SEAM
            else:
                yield _code(node.text) if node.text is not None else str(node.title).lstrip(":")
        case "ExternalLink":
            yield _code(node.title) if node.title is not None else str(node.url)
        case "Tag":
            yield _tag(node)
        case "Template":
            yield _template(node, is_at_start)
        case "Argument":  # of a page that is a template, too: a reader of the page sees its default
            yield str(node) if node.default is None else _code(node.default)


def _code(code: Wikicode | None) -> str:
    return "" if code is None else _text(code.nodes)


def _tag(tag: Tag) -> str:
    name = str(tag.tag).strip().lower()
    look = look_of("span", _style(tag))
    if name in _SILENT_TAGS or look.is_gone or False in (look.is_visible, look.has_size):
        return _SEAM
    if name in _FORMULAS:
        return " ".join(str(tag).split())
    if name in ("br", "hr"):
        return "\n"
    inner = "" if tag.contents is None else _text(tag.contents.nodes)
    if name in _BULLETS:
        return _BULLETS[name] if tag.self_closing else f"\n{_BULLETS[name]}{inner}\n"
    if name in ("td", "th"):
        return f"{inner.strip()} | "
    if name in _STRUCK:
        return f"{_SEAM}{inner}{_SEAM}"
    if name in _LINES and (name == "tr" or not tag.wiki_markup):  # whose tables begin a line
        return f"\n{inner}{'' if name == 'tr' else _LINE}"
    shift = _SHIFTS.get(name) or look.shift
    return f"{shift}{inner}{BACK}" if shift else f"{look.before}{inner}{look.behind}"


def _style(tag: Tag) -> str:
    return str(tag.get("style").value or "") if tag.has("style") else ""


def _template(template: Template, is_at_start: bool) -> str:
    written = str(template.name)
    name = " ".join((_code(template.name) if "<" in written else written).replace("_", " ").split())
    if not name or templates.is_unsaid(name):
        return _SEAM
    values, named = _parameters(template)
    is_box = "infobox" in name.lower() or len(named) >= _FEWEST_VALUES
    if is_at_start and named and is_box:
        return "\n".join([name, *_rows(values, named), ""])
    return f"{_SEAM}{templates.shown(name, values, named)}{_SEAM}"


def _parameters(template: Template) -> tuple[list[str], dict[str, str]]:
    """Return a template's values by place, be their numbers written or not, and those by name."""
    values, named = list[str](), dict[str, str]()
    for param in template.params:
        name, value = str(param.name).strip(), _without_seams(_code(param.value)).strip()
        if param.showkey and name != str(len(values) + 1):
            named[name] = value
        else:
            values.append(value)
    return values, named


def _rows(values: Iterable[str], named: Mapping[str, str]) -> Iterator[str]:
    for key, value in (*((str(place), value) for place, value in enumerate(values, 1)), *named.items()):
        if value:
            yield f"{key}: {' '.join(value.split())}"
