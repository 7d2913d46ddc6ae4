"""Text in UTF-16 or UTF-32, as programs of Windows write it."""

from __future__ import annotations

import json


def to_utf8(text: bytes) -> bytes:
    r"""Return ``text`` in UTF-8; itself unless it is in UTF-16 or UTF-32, which the first characters show.

    >>> to_utf8("{}".encode("utf-16-le")), to_utf8("{}".encode("utf-16")), to_utf8(b"\xef\xbb\xbf{}")
    (b'{}', b'{}', b'\xef\xbb\xbf{}')
    """
    # The first two characters of JSON and of a web page are ASCII, with or without a mark before them.
    encoding = json.detect_encoding(text)
    return text if encoding.startswith("utf-8") else text.decode(encoding, "replace").encode("utf-8", "replace")
