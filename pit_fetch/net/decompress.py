"""Decompress a body. One that breaks off is an error, not a shorter body."""

from __future__ import annotations

from collections.abc import Iterable

from pit_fetch.transport import MAX_BODY_BYTES, TransportError

# The Accept-Encoding of a request. Packages that happen to be installed would widen requests' own list.
ACCEPTED = "gzip, deflate"

# zlib's window bits for each form. A deflate stream may come with zlib's header (RFC 9110) or without.
_FORMS = {"gzip": (31,), "x-gzip": (31,), "deflate": (15, -15)}


def content(chunks: Iterable[bytes], encoding: str) -> bytes:
    """Return the content of ``chunks``, which have the Content-Encoding ``encoding``. Raise TransportError."""
    # urllib3 would do this as well, but takes a compressed stream that breaks off for a whole one.
    body = _join_bounded(chunks)
    # Several header lines are joined by commas, and one may be empty: the Internet Archive sends such replies.
    name = encoding.strip(" ,\t").lower()
    if not body or name in ("", "identity"):
        return body
    if name not in _FORMS:
        raise TransportError("malformed", "it is compressed in a form that was not asked for")
    for bits in _FORMS[name]:
        unpacked = _unpack(body, bits)
        if unpacked is not None:
            return unpacked
    raise TransportError("malformed", "its compression is broken, or it breaks off")


def _unpack(body: bytes, bits: int) -> bytes | None:
    """Return the content of all members, one after another, or None if one is broken or incomplete."""
    import zlib

    content = b""
    while True:
        member = zlib.decompressobj(bits)
        try:
            content = _join_bounded((content, member.decompress(body, MAX_BODY_BYTES + 1)))
        except zlib.error:
            return None
        if not member.eof:
            return None
        body = member.unused_data
        if bits != _FORMS["gzip"][0] or not body.startswith(b"\x1f\x8b"):
            return content  # anything that follows is padding


def _join_bounded(chunks: Iterable[bytes]) -> bytes:
    """Return the chunks as one body. Raise TransportError if it is too large."""
    body = bytearray()
    for chunk in chunks:
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise TransportError("too_large")
    return bytes(body)
