"""Redaction of secrets in texts and in the bytes of a body, by value. Pure.

>>> redactor(["s3cret/key"])("https://example.com?key=s3cret%2Fkey")
'https://example.com?key=[redacted]'
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable

REDACTED = "[redacted]"
# A shorter text stands in ordinary words and in the requests themselves: redacted, they would be other requests. So a
# secret key of fewer characters is refused, and any other is redacted from all that is recorded or served.
SHORTEST_SECRET = 8
# An escape of one byte in a URL, and of one character in JSON, where none is needed.
_PERCENT = re.compile(rb"%([0-9A-Fa-f]{2})")
_ESCAPE = re.compile(rb"\\u00([0-9A-Fa-f]{2})")


def redactor(secrets: Iterable[str], min_length: int = 1) -> Callable[[str], str]:
    """Return a function that replaces every secret in a text, both in plain and in URL-encoded form.

    Secrets shorter than ``min_length`` characters are left alone.
    """
    replaced = spellings(secret for secret in secrets if len(secret) >= min_length)
    if not replaced:
        return str

    def redact(text: str) -> str:
        for spelling in replaced:
            if spelling in text:
                text = text.replace(spelling, REDACTED)
        return text

    return redact


def spellings(secrets: Iterable[str]) -> list[str]:
    """Return each secret in plain and in URL-encoded form (``%2B`` and ``%2b``), the longest first."""
    secrets = list(secrets)
    if not secrets:
        return []
    from urllib.parse import quote, quote_plus  # imported here, since many fetches have no secret

    forms = {form for secret in secrets for form in (quote(secret, safe=""), quote_plus(secret))}
    small = {re.sub("%..", lambda escape: escape[0].lower(), form) for form in forms}
    return sorted({*secrets, *forms, *small}, key=len, reverse=True)


def body_redactor(secrets: Iterable[str]) -> Callable[[bytes], bytes]:
    """Return a function that replaces every secret in a body: in plain, and however a URL, JSON or HTML may escape it.

    Sources repeat keys in their replies (Alpha Vantage: "We have detected your API key as …").

    >>> body_redactor(["AV01/2345+6789"])(b'{"Information": "your API key as AV01%2F2345%2B6789"}')
    b'{"Information": "your API key as [redacted]"}'
    """
    from html import escape

    long_enough = [secret for secret in secrets if len(secret) >= SHORTEST_SECRET]
    plain = {
        spelled.encode()
        for spelling in spellings(long_enough)
        for text in (spelling, escape(spelling), escape(spelling, quote=False))
        for spelled in (text, json.dumps(text)[1:-1], json.dumps(text)[1:-1].replace("/", "\\/"))
    }
    longest_first = sorted(plain, key=len, reverse=True)
    escaped = re.compile(
        b"|".join(b"".join(map(_any_spelling, secret)) for secret in sorted(long_enough, key=len, reverse=True))
    )

    def redact(body: bytes) -> bytes:
        for spelled in longest_first:
            if spelled in body:
                body = body.replace(spelled, REDACTED.encode())
        # The full pattern is slow, so it runs only on a body that is known to contain a secret.
        if any(secret.encode() in _unescaped(body) for secret in long_enough):
            body = escaped.sub(REDACTED.encode(), body)
        return body

    return redact


def _unescaped(body: bytes) -> bytes:
    body = _ESCAPE.sub(lambda match: chr(int(match[1], 16)).encode(), body).replace(b"\\/", b"/")
    return _PERCENT.sub(lambda match: bytes([int(match[1], 16)]), body)


def _any_spelling(character: str) -> bytes:
    """Return a pattern for one character of a secret: the character, or any escape of it."""
    encoded = character.encode()
    percent = b"".join(b"%%%02X" % byte for byte in encoded)
    utf16 = character.encode("utf-16-be").hex()
    escaped = "".join(f"\\u{utf16[place : place + 4]}" for place in range(0, len(utf16), 4)).encode()
    either = b"|".join(b"(?i:%s)" % re.escape(escape) for escape in (percent, escaped))
    return b"(?:\\\\?%s|%s)" % (re.escape(encoded), either)
