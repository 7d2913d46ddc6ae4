"""The content of a body that may be compressed. One that breaks off is an error, not a shorter body."""

from __future__ import annotations

from collections.abc import Iterable

from pit_fetch.transport import MAX_BODY_BYTES, TransportError

# What a request accepts. Packages that happen to be installed would widen requests' own list.
ACCEPTED = "gzip, deflate"

# zlib's window bits for each form. A deflate stream may come with zlib's header (RFC 9110) or without.
_FORMS = {"gzip": (31,), "x-gzip": (31,), "deflate": (15, -15)}


def content(chunks: Iterable[bytes], encoding: str) -> bytes:
    """What ``chunks`` hold under the Content-Encoding ``encoding``. Raises TransportError.

    urllib3 would do this as well, but takes a compressed stream that breaks off for a whole one.
    """
    body = _bounded(chunks)
    name = encoding.strip().lower()
    if not body or name in ("", "identity"):
        return body
    if name not in _FORMS:
        raise TransportError("malformed", "it is compressed in a form that was not asked for")
    for bits in _FORMS[name]:
        found = _unpacked(body, bits)
        if found is not None:
            return found
    raise TransportError("malformed", "its compression is broken, or it breaks off")


def _unpacked(body: bytes, bits: int) -> bytes | None:
    """The content of all members, one after another; None if one is broken or not whole."""
    import zlib

    found = b""
    while True:
        member = zlib.decompressobj(bits)
        try:
            found = _bounded((found, member.decompress(body, MAX_BODY_BYTES + 1)))
        except zlib.error:
            return None
        if not member.eof:
            return None
        body = member.unused_data
        if bits != _FORMS["gzip"][0] or not body.startswith(b"\x1f\x8b"):
            return found  # what may follow is padding


def _bounded(chunks: Iterable[bytes]) -> bytes:
    body = bytearray()
    for chunk in chunks:
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise TransportError("too_large")
    return bytes(body)
