"""Keep a page from taking its parser's time and memory: flatten one that nests without end. Pure.

The time a parser takes grows with the square of the depth, and of the number of an element's attributes: 300 kB of
``<div>`` take it a minute. Browsers flatten such pages as well. No text is lost.

>>> flattened("<b>x" + "<div>" * 3 + "y", deepest=2)
'<b>x<div><div>y'
"""

from __future__ import annotations

import re

# Each tag takes 250 bytes of memory: 56 MB of short paragraphs took 2.5 GB, and two minutes. No recorded page or filing
# has more than 32,050.
_MOST_TAGS = 1_000_000
_DEEPEST = 1_000
_LONGEST_TAG, _MOST_ATTRIBUTES = 20_000, 1_000
_TAG = re.compile(r"<(/?)([A-Za-z][^\s/>]*)([^>]*)>?")
# Elements without content, those that the next one ends, and those whose text is not shown on the page.
_UNCOUNTED = frozenset({
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
    "p", "li", "dt", "dd", "option", "optgroup", "tr", "td", "th", "tbody", "thead", "tfoot",
    "html", "head", "body", "script", "style", "textarea", "title",
    "b", "i", "u", "s", "em", "strong", "small", "big", "font", "tt", "code", "nobr", "strike",
})  # fmt: skip


def is_too_large(source: str) -> bool:
    """Return whether a page has more tags than a parser should be given. No page for people has as many."""
    return source.count("<") > _MOST_TAGS


def flattened(source: str, deepest: int = _DEEPEST) -> str:
    """Return ``source`` without the tags of elements that are nested deeper than ``deepest``."""
    depth = dropped = drawings = 0

    def kept(match: re.Match[str]) -> str:
        nonlocal depth, dropped, drawings
        is_end, name, attributes = bool(match[1]), match[2].lower(), match[3]
        tag = match[0]
        if len(tag) > _LONGEST_TAG and len(attributes.split()) > _MOST_ATTRIBUTES:
            tag = f"<{match[1]}{match[2]}>"
        if name in _UNCOUNTED or (drawings and attributes.endswith("/")):
            return tag
        if not is_end:
            if depth >= deepest:
                dropped += 1
                return ""
            depth += 1
            drawings += name == "svg"
        elif dropped:
            dropped -= 1
            return ""
        else:
            depth = max(0, depth - 1)
            drawings = max(0, drawings - (name == "svg"))
        return tag

    return _TAG.sub(kept, source)
