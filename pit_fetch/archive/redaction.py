"""What a secret looks like in the bytes of a body, and those bytes without it.

Sources repeat keys (Alpha Vantage: "We have detected your API key as …"), so they are taken out
before a body is hashed, and nothing that is stored holds one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

from pit_fetch.credentials import MIN_LENGTH_IN_DATA, REDACTED, spellings


def redactor(secrets: Iterable[str]) -> Callable[[bytes], bytes]:
    """A function that replaces every secret in a body: as it is, as a URL and as JSON would write it."""
    found = {
        spelled.encode()
        for secret in secrets
        if len(secret) >= MIN_LENGTH_IN_DATA
        for plain in spellings([secret])
        for spelled in (plain, json.dumps(plain)[1:-1], json.dumps(plain)[1:-1].replace("/", "\\/"))
    }
    longest_first = sorted(found, key=len, reverse=True)

    def redact(body: bytes) -> bytes:
        for spelled in longest_first:
            if spelled in body:
                body = body.replace(spelled, REDACTED.encode())
        return body

    return redact
