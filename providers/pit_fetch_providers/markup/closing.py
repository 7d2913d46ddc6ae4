"""Close the elements that XML ends where they begin: HTML would take all that follows for their content. Pure.

>>> closed('<title/><ix:relationship toRefs="n1"/><br/><p/>', is_xml=True)
'<title></title><ix:relationship toRefs="n1"></ix:relationship><br/><p></p>'
>>> closed("<title/><a name=1 /><br/>", is_xml=False)
'<title></title><a name=1 /><br/>'
"""

from __future__ import annotations

import re

from pit_fetch_providers.markup.depth import VOID

_XML = re.compile(r"<\?xml\b|<html\b[^>]*\sxmlns", re.IGNORECASE)
_XML_WITHIN = 4_096
_ANY = re.compile(r"<([A-Za-z][\w:.-]*+)([^<>]*+)(?<=/)>")
# Their text is not read as tags, so that all of a page would be lost.
_RAW = re.compile(r"<(title|script|style|textarea|iframe|noscript)\b([^<>]*+)(?<=/)>", re.IGNORECASE)


def is_xml(source: str) -> bool:
    """Return whether a page says of itself that it is XML."""
    return _XML.search(source[:_XML_WITHIN]) is not None


def closed(source: str, *, is_xml: bool) -> str:
    """Return ``source`` with an end tag for each element that ends where it begins; in HTML for those without tags."""
    return _ANY.sub(_with_its_end, source) if is_xml else _RAW.sub(_with_its_end, source)


def _with_its_end(match: re.Match[str]) -> str:
    return match[0] if match[1].lower() in VOID else f"<{match[1]}{match[2][:-1]}></{match[1]}>"
