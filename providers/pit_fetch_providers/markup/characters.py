"""Read the characters of a page in whatever encoding it is. Pure."""

from __future__ import annotations

import re

_CHARSET = re.compile(rb"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"\s*<\?xml\b[^<>]*?\sencoding\s*=\s*[\"']([\w.:-]+)")
_CHARSET_WITHIN = 4_096
# As browsers read these names (WHATWG Encoding Standard): each means the larger set of characters.
_LARGER = {
    "iso-8859-1": "cp1252", "latin1": "cp1252", "latin-1": "cp1252", "us-ascii": "cp1252", "ascii": "cp1252",
    "iso-8859-9": "cp1254", "iso-8859-11": "cp874", "tis-620": "cp874", "windows-874": "cp874",
    "gb2312": "gb18030", "gbk": "gb18030", "x-gbk": "gb18030", "shift_jis": "cp932", "shift-jis": "cp932",
    "sjis": "cp932", "x-sjis": "cp932", "windows-31j": "cp932", "euc-kr": "cp949", "ks_c_5601-1987": "cp949",
    "big5": "big5hkscs", "x-euc-jp": "euc_jp", "unicode": "utf-16-le", "x-mac-roman": "mac_roman",
}  # fmt: skip


def decode(body: bytes, declared: str = "") -> str:
    """Return the characters of ``body``: by its mark, its headers, its own words, as UTF-8, or as windows-1252."""
    for mark, name in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if body.startswith(mark):
            return body.decode(name, "replace")
    head = body[:_CHARSET_WITHIN]
    by_headers, by_itself = _CHARSET.search(declared.encode()), _CHARSET.search(head) or _XML_ENCODING.match(head)
    found = by_headers or by_itself
    if found is not None:
        name = found[1].decode().lower()
        # What can be read letter by letter is not in units of two bytes, whatever it says of itself.
        name = "utf-8" if by_itself is not None and name.startswith(("utf-16", "utf16", "utf-32", "utf32")) else name
        try:
            return body.decode(_LARGER.get(name, name), "replace")
        except (LookupError, ValueError):  # no such name, or one that means no characters
            pass
    try:
        return body.decode()
    except UnicodeDecodeError:
        return body.decode("cp1252", "replace")
