"""The texts of versions, packed with a dictionary for their stream: articles of one source repeat each other's phrases.

The dictionary is the long texts of the first fetch that has enough of them. Short ones stay as they are, since to
unpack one costs more than it saves; so do all where zstandard is not installed. Pure.

>>> words = '["The company beat estimates of analysts by a wide margin this quarter, as it has for years. %d"]'
>>> dictionary = Dictionary("".join(words % number for number in range(99)).encode())
>>> packed = dictionary.pack(words % 120)
>>> len(packed) < 40, dictionary.unpack(packed) == words % 120
(True, True)
"""

from __future__ import annotations

from collections.abc import Iterable

from pit_fetch.archive.store import bodies
from pit_fetch.archive.store.checksums import DAMAGED_INDEX
from pit_fetch.archive.store.errors import Damaged
from pit_fetch.transport import MAX_BODY_BYTES

# From how many characters on a text is packed.
LONG = 256
# How many bytes of such texts make a dictionary, at least and at most: recorded articles take 297 and 279 bytes of 711.
_ENOUGH, _MOST = 4_096, 16_384
_LEVEL = 9


class Dictionary:
    """Packs and unpacks texts. For one thread."""

    def __init__(self, content: bytes) -> None:
        """Raise Unreadable without zstandard."""
        zstandard = bodies.needed_zstandard()
        self._known = zstandard.ZstdCompressionDict(content, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
        self._known.precompute_compress(level=_LEVEL)
        self._compressor = zstandard.ZstdCompressor(level=_LEVEL, dict_data=self._known)
        self._decompressor = zstandard.ZstdDecompressor(dict_data=self._known)

    def pack(self, text: str) -> bytes:
        packed: bytes = self._compressor.compress(text.encode("utf-8", "surrogatepass"))
        return packed

    def unpack(self, packed: bytes) -> str:
        """Return a text. Raise Damaged."""
        try:
            return bodies.decompress(self._decompressor, packed, MAX_BODY_BYTES).decode("utf-8", "surrogatepass")
        except (Damaged, UnicodeDecodeError) as error:
            raise Damaged(DAMAGED_INDEX) from error


def dictionary_of(texts: Iterable[str]) -> bytes | None:
    """Return the content of a dictionary made of the long texts among these; None if they are too few to make one."""
    content = "".join(text for text in texts if len(text) >= LONG).encode("utf-8", "surrogatepass")
    return content[-_MOST:] if len(content) >= _ENOUGH else None
