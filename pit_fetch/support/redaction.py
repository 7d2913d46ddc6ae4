"""Redaction of secrets in text, by value. Pure.

>>> redactor(["s3cret/key"])("https://example.com?key=s3cret%2Fkey")
'https://example.com?key=[redacted]'
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

REDACTED = "[redacted]"
# A shorter text stands in ordinary words and in the requests themselves: redacted, they would be other requests. So a
# secret key of fewer characters is refused, and any other is redacted from all that is recorded or served.
SHORTEST_SECRET = 8


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
    """Return each secret in plain and in URL-encoded form, the longest first."""
    secrets = list(secrets)
    if not secrets:
        return []
    from urllib.parse import quote, quote_plus  # imported here, since many fetches have no secret

    forms = {form for secret in secrets for form in (secret, quote(secret, safe=""), quote_plus(secret))}
    return sorted(forms, key=len, reverse=True)
