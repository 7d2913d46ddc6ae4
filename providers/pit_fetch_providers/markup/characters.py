"""Read the characters of a page in whatever encoding it is. Pure."""

from __future__ import annotations

import codecs
import re

_CHARSET = re.compile(rb"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"\s*<\?xml\b[^<>]*?\sencoding\s*=\s*[\"']([\w.:-]+)")
_CHARSET_WITHIN = 4_096
# The encodings that browsers know (WHATWG Encoding Standard), by Python's names. For some of these names they read a
# larger set of characters. Python knows other encodings, which no page is in, and takes minutes for some of them.
_LARGER = {"ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874", "tis-620": "cp874",
           "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949", "big5": "big5hkscs",
           "utf-16": "utf-16-le"}  # fmt: skip
_KNOWN = frozenset({
    *_LARGER.values(), "utf-8", "utf-16-be", "cp866", "koi8-r", "koi8-u", "mac-roman", "mac-cyrillic", "euc_jp",
    "iso2022_jp", *(f"cp125{number}" for number in range(9)),
    *(f"iso8859-{number}" for number in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)),
})  # fmt: skip
# What Python does not know by these names.
_NAMED = {"windows-874": "cp874", "windows-31j": "cp932", "windows-949": "cp949", "unicode": "utf-16-le"}


def decode(body: bytes, declared: str = "") -> str:
    """Return the characters of ``body``: by its mark, its headers, its own words, as UTF-8, or as windows-1252."""
    for mark, name in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if body.startswith(mark):
            return body.decode(name, "replace")
    head = body[:_CHARSET_WITHIN]
    by_headers, by_itself = _CHARSET.search(declared.encode()), _CHARSET.search(head) or _XML_ENCODING.match(head)
    named = (_encoding(found[1].decode().lower()) for found in (by_headers, by_itself) if found is not None)
    encoding = next(filter(None, named), None)
    if encoding is not None:
        # What can be read letter by letter is not in units of two bytes, whatever it says of itself.
        is_in_letters = by_itself is not None and encoding.startswith("utf-16")
        return body.decode("utf-8" if is_in_letters else encoding, "replace")
    try:
        return body.decode()
    except UnicodeDecodeError:
        return body.decode("cp1252", "replace")


def _encoding(name: str) -> str | None:
    """Return the encoding that browsers take a name for, by Python's name; None if they know none."""
    try:
        encoding = codecs.lookup(_NAMED.get(name, name.removeprefix("x-"))).name
    except LookupError:
        return None
    encoding = _LARGER.get(encoding, encoding)
    return encoding if encoding in _KNOWN else None
