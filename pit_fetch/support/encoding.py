"""The characters of a text: in UTF-16 or UTF-32, as programs of Windows write it, and of a web page. Pure."""

from __future__ import annotations

import codecs
import json
import re

_CHARSET = re.compile(rb"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"\s*<\?xml\b[^<>]*?\sencoding\s*=\s*[\"']([\w.:-]+)")
_HEAD = 4_096
_BYTE_ORDER_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
# The encodings that browsers know (WHATWG Encoding Standard), by Python's names. For some of these names they read a
# larger set of characters. Python knows other encodings, which no page is in, and takes minutes for some of them.
_LARGER = {"ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874", "tis-620": "cp874",
           "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949", "big5": "big5hkscs",
           "utf-16": "utf-16-le"}  # fmt: skip
_ENCODINGS = frozenset({
    *_LARGER.values(), "utf-8", "utf-16-be", "cp866", "koi8-r", "koi8-u", "mac-roman", "mac-cyrillic", "euc_jp",
    "iso2022_jp", *(f"cp125{number}" for number in range(9)),
    *(f"iso8859-{number}" for number in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)),
})  # fmt: skip
# What Python does not know by these names.
_ALIASES = {"windows-874": "cp874", "windows-31j": "cp932", "windows-949": "cp949", "unicode": "utf-16-le"}


def to_utf8(text: bytes) -> bytes:
    r"""Return ``text`` in UTF-8; itself unless it is in UTF-16 or UTF-32, which the first characters show.

    >>> to_utf8("{}".encode("utf-16-le")), to_utf8("{}".encode("utf-16")), to_utf8(b"\xef\xbb\xbf{}")
    (b'{}', b'{}', b'\xef\xbb\xbf{}')
    """
    # The first two characters of JSON and of a web page are ASCII, with or without a mark before them.
    encoding = json.detect_encoding(text)
    return text if encoding.startswith("utf-8") else text.decode(encoding, "replace").encode("utf-8", "replace")


def decode_page(body: bytes, content_type: str = "") -> str:
    r"""Return the characters of a web page, as browsers read it.

    The first of these counts that names an encoding: its byte order mark, its Content-Type, and its own declaration.
    Otherwise it is in UTF-8, or else in windows-1252. A byte that stands for no character becomes U+FFFD.

    >>> decode_page(b"<meta charset=latin1><p>5\x80"), decode_page(b"<p>5\xe2\x82\xac"), decode_page(b"<p>5\x80")
    ('<meta charset=latin1><p>5€', '<p>5€', '<p>5€')
    """
    for mark, name in _BYTE_ORDER_MARKS:
        if body.startswith(mark):
            return body.decode(name, "replace")
    head = body[:_HEAD]
    declared = (_CHARSET.search(content_type.encode()), _CHARSET.search(head) or _XML_ENCODING.match(head))
    encoding = next(filter(None, (_encoding(found[1].decode().lower()) for found in declared if found is not None)), "")
    # The tags of a page in units of two bytes have a zero in each, whatever a page says of itself.
    if encoding and (b"\0" in head or not encoding.startswith("utf-16")):
        return body.decode(encoding, "replace")
    try:
        return body.decode()
    except UnicodeDecodeError:
        return body.decode("cp1252", "replace")


def _encoding(name: str) -> str | None:
    """Return Python's name of an encoding that browsers know; None for any other one."""
    try:
        encoding = codecs.lookup(_ALIASES.get(name, name.removeprefix("x-"))).name
    except LookupError:
        return None
    encoding = _LARGER.get(encoding, encoding)
    return encoding if encoding in _ENCODINGS else None
