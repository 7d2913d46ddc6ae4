"""Text in a page: escaped, cut and, where an article comes as HTML, without its markup. Pure.

Only what is certainly a tag is removed. A "<" in a text is far more often an inequality, and a page that drops the text
between "<10%" and ">20%" misquotes the source.

>>> strip_markup("<p>Net sales &amp; margin</p> rose")
'Net sales & margin rose'
>>> strip_markup("margins of <10% and >20%")
'margins of <10% and >20%'
"""

from __future__ import annotations

import html
import re

_NAMES = (
    "a|abbr|address|article|aside|b|blockquote|body|br|button|caption|center|cite|code|col|colgroup|dd|del|details|div"
    "|dl|dt|em|embed|figcaption|figure|font|footer|form|h[1-6]|head|header|hr|html|i|iframe|img|input|ins|label|li|link"
    "|main|mark|meta|nav|object|ol|p|path|picture|pre|q|s|section|small|source|span|strike|strong|sub|summary|sup|svg"
    "|table|tbody|td|tfoot|th|thead|time|title|tr|u|ul|video|wbr"
)
# A word behind a name is an attribute if it has a value, or is one of the few that need none: "<b and c>" is not a tag.
_ATTRIBUTE = (
    r"""\s++(?:[\w:.-]++\s*+=\s*+(?:"[^"<>]*+"|'[^'<>]*+'|[^\s"'<>]++)|(?:allowfullscreen|async|controls|hidden)\b)"""
)
_TAG = re.compile(rf"</?(?:{_NAMES})(?:{_ATTRIBUTE})*+\s*+/?>", re.IGNORECASE)
# A text is HTML if it has an end tag, or a tag that needs none. "A<B>C" has neither.
_HTML = re.compile(rf"</(?:{_NAMES})\s*+>|<(?:br|hr|img|li|p)(?:{_ATTRIBUTE})*+\s*+/?>", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")  # "?a=1&copy=2" has none
# A browser would not show these either. One that was cut off reaches to the end.
_UNSEEN = re.compile(r"<(script|style)\b[^<>]*+>.*?(?:</\1\s*+>|\Z)|<!--.*?(?:-->|\Z)", re.IGNORECASE | re.DOTALL)


def strip_markup(text: str) -> str:
    """Return ``text`` without markup, entities and runs of blanks; a text that is not HTML keeps its "<"."""
    if "<" in text and _HTML.search(text):
        text = _TAG.sub(" ", _UNSEEN.sub(" ", text))
    if "&" in text:
        text = _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)
    return " ".join(text.split())


def escape(text: str) -> str:
    """Return ``text`` as HTML shows it, without what cannot be seen."""
    if not text.isprintable():
        text = "".join(char for char in text if char.isprintable() or char == "\n")
    return html.escape(text)


def cut(text: str, limit: int) -> str:
    """Return at most ``limit`` characters of ``text``."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
