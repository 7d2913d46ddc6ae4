"""What a secret looks like in the bytes of a body, and those bytes without it.

Sources repeat keys (Alpha Vantage: "We have detected your API key as …"), so they are taken out
before a body is hashed, and nothing that is stored holds one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable

from pit_fetch.support.redaction import MIN_LENGTH_IN_DATA, REDACTED, spellings

# One byte as a URL, or one character as JSON, may write it without need.
_PERCENT = re.compile(rb"%([0-9A-Fa-f]{2})")
_ESCAPE = re.compile(rb"\\u00([0-9A-Fa-f]{2})")


def redactor(secrets: Iterable[str]) -> Callable[[bytes], bytes]:
    """A function that replaces every secret in a body: as it is, and however a URL or JSON may write it."""
    wanted = [secret for secret in secrets if len(secret) >= MIN_LENGTH_IN_DATA]
    plain = {
        spelled.encode()
        for spelling in spellings(wanted)
        for spelled in (spelling, json.dumps(spelling)[1:-1], json.dumps(spelling)[1:-1].replace("/", "\\/"))
    }
    longest_first = sorted(plain, key=len, reverse=True)
    odd = re.compile(b"|".join(b"".join(map(_any_spelling, one)) for one in sorted(wanted, key=len, reverse=True)))

    def redact(body: bytes) -> bytes:
        for spelled in longest_first:
            if spelled in body:
                body = body.replace(spelled, REDACTED.encode())
        if wanted and any(secret.encode() in _unescaped(body) for secret in wanted):
            body = odd.sub(REDACTED.encode(), body)
        return body

    return redact


def _unescaped(body: bytes) -> bytes:
    """The body without needless escapes. It costs next to nothing where there are none; the full pattern is slow."""
    body = _ESCAPE.sub(lambda found: chr(int(found[1], 16)).encode(), body).replace(b"\\/", b"/")
    return _PERCENT.sub(lambda found: bytes([int(found[1], 16)]), body)


def _any_spelling(character: str) -> bytes:
    """One character of a secret: itself, or any escape of it."""
    encoded = character.encode()
    percent = b"".join(b"%%%02X" % byte for byte in encoded)
    utf16 = character.encode("utf-16-be").hex()
    escaped = "".join(f"\\u{utf16[place : place + 4]}" for place in range(0, len(utf16), 4)).encode()
    either = b"|".join(b"(?i:%s)" % re.escape(one) for one in (percent, escaped))
    return b"(?:\\\\?%s|%s)" % (re.escape(encoded), either)
