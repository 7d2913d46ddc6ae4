"""The plain text of an article's source, its redirect and its links. Pure.

mwparserfromhell reads the source. Templates are not expanded, since they would be today's: an infobox is shown as the
values that it is given, some templates as what they have shown for years, and any other one as its own source, so that
no value of it is taken for another.

>>> plain_text(parse("'''Acme''' is {{nowrap|5 km}} from [[Ohio]],{{sfn|Doe}} {{height|ft=6}} and 10<sup>6</sup> t."))
'Acme is 5 km from Ohio, {{height|ft=6}} and 10^6 t.'
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from pit_fetch.errors import ConfigError
from pit_fetch.gaps import Code

if TYPE_CHECKING:
    from mwparserfromhell.nodes import Node, Tag, Template
    from mwparserfromhell.wikicode import Wikicode

_REDIRECT = re.compile(r"\s*#\w+\s*:?\s*\[\[\s*:?([^\]|#\n]+)")

# For each opening without an end the parser reads on to the end of the source: 12 kB of "{{a|" take it a minute. So
# many openings times characters take some seconds.
_MOST_STEPS = 10_000_000
_TOKEN = re.compile(
    r"(?P<opening>\{\{|\{\||\[\[|\[(?=https?://|//)|<!--)|(?P<closing>\}\}|\|\}|\]\]|\]|-->)"
    r"|<(?P<slash>/?)(?P<tag>[a-z][\w-]*)(?:[^<>]*>)?",
    re.IGNORECASE,
)
_ARGUMENT = re.compile(r"\{\{\{|\}\}\}")
_OPENINGS = {"}}": "{{", "|}": "{|", "]]": "[[", "]": "[", "-->": "<!--"}
# It reads such a link in two ways, and each link within one in twice as many.
_DOUBLE_LINK = re.compile(r"\[\[(?:https?:)?//", re.IGNORECASE)
_MOST_DOUBLE_LINKS = 10

# A template with so many named values is a table of them, at the start of a line or behind a few blanks.
_FEWEST_VALUES = 3
_LONGEST_INDENT = 20
_SILENT_TAGS = frozenset({"ref", "references", "gallery", "templatestyles", "timeline", "score", "imagemap", "graph",
                          "mapframe", "section", "syntaxhighlight"})  # fmt: skip
# Formulas, which only their own source shows.
_FORMULAS = frozenset({"math", "chem", "ce"})
_BLOCKS = frozenset({"p", "div", "blockquote", "center", "table", "caption", "ul", "ol", "dl", "pre", "poem", "h1",
                     "h2", "h3", "h4", "h5", "h6"})  # fmt: skip
# What is lowered, or struck out beside what takes its place.
_APART = frozenset({"sub", "s", "del", "strike"})
_BULLETS = {"li": "- ", "dd": "  ", "dt": ""}
_HIDDEN = re.compile(r"(?<![\w-])display\s*:\s*none", re.IGNORECASE)
# Pictures and categories, as the largest Wikipedias call them.
_ASIDE = re.compile(
    r"\s*(?:file|image|datei|bild|fichier|archivo|imagen|immagine|bestand|afbeelding|plik|grafika|ficheiro|imagem"
    r"|файл|изображение|ファイル|画像|文件|图像|파일|category|kategorie|catégorie|categoría|categoria|kategoria|категория"
    r"|категорія|カテゴリ|分类|分類|분류)\s*:",
    re.IGNORECASE,
)

# Notes, sources, remarks to readers and layout: they say nothing of the subject. Each is a whole name: with further
# words it is another template, as "end" and "end date" are.
_UNSAID = re.compile(
    r"cite .*|citation|sfn[a-z]*|efn[a-z-]*|refn|ref|reflist|notelist|r|rp|harv[a-z]*|main(?: article)?|see also"
    r"|further(?: information)?|about|for|redirect(?:-.*)?|hatnote|distinguish|other uses?(?: of)?|other people"
    r"|short description|use \w+ (?:dates|english)|pp(?:-.*)?|good article|featured article|authority control"
    r"|defaultsort|portal.*|commons.*|clear|toc.*|citation needed|cn|fact|by whom|when|who|which|flag ?icon|images?"
    r"|multiple image|col-.*|div col.*|end|navbox.*|sister.*|webarchive|dead link|cbignore|anchor|internetquelle"
    r"|literatur|einzelnachweise|lien web|ouvrage|article(?: détaillé)?|cita .*|cita|normdaten|autorité|refbegin|refend"
    r"|italic title|(?:defaultsort|displaytitle|sortierung|#tag):.*",
    re.IGNORECASE,
)
# What some templates have shown for years: a sign, or the value at a place. Of any other, its own source is shown.
_SIGNS = {
    **dict.fromkeys(("ndash", "–"), "–"),
    **dict.fromkeys(("mdash", "—"), "—"),
    **dict.fromkeys(("snd", "spaced ndash"), " – "),
    "nbsp": "\N{NBSP}",
    "sic": "[sic]",
    "!": "|",
}
_PLACES = {**dict.fromkeys(("nowrap", "small", "abbr", "plainlist"), 0), "lang": 1}

# Stands where something is left out or begins. It is no character, and no figure runs on across it.
_SEAM = "\ufdd6"
_SEAM_IN_FIGURE = re.compile(f"(?:(?<=[0-9])|(?<=[0-9][.,])){_SEAM}+(?=[.,]?[0-9])")
# Soft hyphens, zero-width spaces, marks of direction and of byte order.
_INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
_BULLET = re.compile(r"^(?:- +)+")
_QUOTES = re.compile("''+")
_BLANK_LINES = re.compile(r"\n\s*\n\s*")


def require_parser() -> None:
    """Raise ConfigError if the parser is not installed, before anything is asked."""
    try:
        import mwparserfromhell  # noqa: F401
    except ImportError:
        raise ConfigError(Code.DEPENDENCY_MISSING, package="mwparserfromhell") from None


def redirect_target(source: str) -> str | None:
    """Return the title to which the page is a redirect; None if it is an article. The word for it is the language's."""
    match = _REDIRECT.match(source)
    return match[1].strip() if match else None


def parse(source: str) -> Wikicode:
    """Return an article's source, parsed; as one text if too much of it is opened and never closed."""
    import mwparserfromhell
    from mwparserfromhell.nodes import Text
    from mwparserfromhell.wikicode import Wikicode

    limit = _MOST_STEPS // max(len(source), 1)
    if has_unclosed(source, limit) or len(_DOUBLE_LINK.findall(source)) > _MOST_DOUBLE_LINKS:
        return Wikicode([Text(source)])
    # Quotes that cross brackets cost the parser the square of their number, and MediaWiki reads them line by line.
    return mwparserfromhell.parse(source, skip_style_tags=True)


def has_unclosed(source: str, limit: int) -> bool:
    """Return whether more than ``limit`` brackets, tags and comments of a source have no end.

    >>> has_unclosed("{{a|[[b]]}} <ref>c</ref>", 0), has_unclosed("{{a|[[b}}", 0), has_unclosed("<b <i>", 1)
    (False, True, True)
    """
    from mwparserfromhell.definitions import is_single

    # An argument that ends as a template, as in "{{{a|b}}", is read to the end of the source before it is one.
    arguments = 0
    for match in _ARGUMENT.finditer(source):
        arguments = arguments + 1 if match[0] == "{{{" else max(0, arguments - 1)
    if arguments > limit:
        return True
    count, openings = 0, list[str]()
    for match in _TOKEN.finditer(source):
        token, tag = match[0], (match["tag"] or "").lower()
        if tag and not token.endswith(">"):
            count += 1
        elif match["opening"]:
            openings.append(token)
        elif tag and not match["slash"] and not token.endswith("/>") and not is_single(tag):
            openings.append(tag)
        elif (opening := _OPENINGS.get(token, tag)) in openings:
            while openings.pop() != opening:
                count += 1
        if count + len(openings) > limit + 100 or count > limit:  # articles nest some ten
            return True
    return count + len(openings) > limit


def plain_text(code: Wikicode) -> str:
    """Return the text of an article, with the values of its infobox."""
    text = _INVISIBLE.sub("", _without_seams(_render(code.nodes)))
    lines = (_BULLET.sub("- ", _without_quotes(line).rstrip().removesuffix(" |").rstrip()) for line in text.split("\n"))
    return _BLANK_LINES.sub("\n\n", "\n".join(lines)).strip()


def links(code: Wikicode) -> str:
    """Return the addresses outside of Wikipedia that an article names, one a line, each once."""
    urls = (str(link.url).strip() for link in code.filter_external_links())
    return "\n".join(dict.fromkeys(url for url in urls if url.startswith(("http://", "https://"))))


def _without_quotes(line: str) -> str:
    """Return a line without the quotes that stand for bold and italic type, as MediaWiki counts them."""
    widths = [len(quotes) for quotes in _QUOTES.findall(line)]
    is_bold_left, is_italic_left = (sum(width in (kind, 5) for width in widths) % 2 for kind in (3, 2))
    if is_bold_left and is_italic_left:  # an apostrophe before italics, as in French
        line = re.sub("(?<!')'''(?!')", "'", line, count=1)
    return _QUOTES.sub(lambda quotes: "'" * (1 if len(quotes[0]) == 4 else max(len(quotes[0]) - 5, 0)), line)


def _without_seams(text: str) -> str:
    return _SEAM_IN_FIGURE.sub(" ", text).replace(_SEAM, "") if _SEAM in text else text


def _render(nodes: Iterable[Node]) -> str:
    text = ""
    for node in nodes:
        line = text[-_LONGEST_INDENT:].rpartition("\n")[2].replace(_SEAM, "")
        text += _render_node(node, is_at_start=not line.strip())
    return text


def _render_node(node: Any, is_at_start: bool) -> str:
    match type(node).__name__:
        case "Text":
            return str(node.value)
        case "HTMLEntity":
            return str(node.normalize())
        case "Heading":
            return f"\n{_render_code(node.title).strip()}\n"
        case "Wikilink" if _ASIDE.match(str(node.title)):
            return _SEAM
        case "Wikilink":
            return str(node.title).lstrip(":") if node.text is None else _render_code(node.text)
        case "ExternalLink":
            return str(node.url) if node.title is None else _render_code(node.title)
        case "Tag":
            return _render_tag(node)
        case "Template":
            return _render_template(node, is_at_start)
        case "Argument":  # of a page that is a template, too: a reader of the page sees its default
            return str(node) if node.default is None else _render_code(node.default)
    return ""


def _render_code(code: Wikicode | None) -> str:
    return "" if code is None else _render(code.nodes)


def _render_tag(tag: Tag) -> str:
    name = str(tag.tag).strip().lower()
    if name in _SILENT_TAGS or (tag.has("style") and _HIDDEN.search(str(tag.get("style").value))):
        return _SEAM
    if name in _FORMULAS:
        return " ".join(str(tag).split())
    if name in ("br", "hr"):
        return "\n"
    text = _render_code(tag.contents)
    if name in _BULLETS:
        return _BULLETS[name] if tag.self_closing else f"\n{_BULLETS[name]}{text}\n"
    if name in ("td", "th"):
        return f"{text.strip()} | "
    if name == "tr":
        return f"\n{text}"
    if name == "sup":  # a power or a note, but for the end of a word, as in 1st
        return f"{'' if len(text) > 1 and text.isalpha() else '^'}{text}{_SEAM}"
    if name in _APART:
        return f"{_SEAM}{text}{_SEAM}"
    if name in _BLOCKS and not tag.wiki_markup:  # whose tables begin a line
        return f"\n{text}\n"
    return text


def _render_template(template: Template, is_at_start: bool) -> str:
    # Articles write remarks behind a template's name.
    written = _render_code(template.name) if "<" in str(template.name) else str(template.name)
    name = " ".join(written.replace("_", " ").split())
    if not name or _UNSAID.fullmatch(name):
        return _SEAM
    values, named = _parameters(template)
    if is_at_start and named and ("infobox" in name.lower() or len(named) >= _FEWEST_VALUES):
        rows = [*((str(place), value) for place, value in enumerate(values, 1)), *named.items()]
        return "\n".join([name, *(f"{key}: {' '.join(value.split())}" for key, value in rows if value), ""])
    shown = _shown(name.lower(), values)
    if shown is None:
        parts = (name, *values, *(f"{key}={value}" for key, value in named.items()))
        shown = "{{" + "|".join(" ".join(part.split()) for part in parts) + "}}"
    return f"{_SEAM}{shown}{_SEAM}"


def _parameters(template: Template) -> tuple[list[str], dict[str, str]]:
    """Return a template's values by place, be their numbers written or not, and those by name."""
    values, named = list[str](), dict[str, str]()
    for param in template.params:
        name, value = str(param.name).strip(), _without_seams(_render_code(param.value)).strip()
        if param.showkey and name != str(len(values) + 1):
            named[name] = value
        else:
            values.append(value)
    return values, named


def _shown(name: str, values: Sequence[str]) -> str | None:
    """Return what a template shows of its values; None if that is not known."""
    place = _PLACES.get(name)
    if place is not None and len(values) > place:
        return values[place]
    return None if values else _SIGNS.get(name)
