"""How a body is packed: zlib, or zstandard with the previous vintage of the same reply as its dictionary.

Replies to one request hardly differ from one day to the next, so the previous one is the best
dictionary there is (docs/adr/0013). Without the extra ``archive`` everything still works, with zlib.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from pit_fetch.archive.store.errors import ArchiveError, Unreadable

PLAIN, ZLIB, ZSTD = "plain", "zlib", "zstd"
# A body whose dictionary has a dictionary is unpacked through all of them: so many at most. The next one goes back to
# where they began: of 120 vintages of a series, that keeps 58 to 81 % less than a body that stands alone each time.
DEEPEST = 16
_LEVEL_ZLIB, _LEVEL_ZSTD = 6, 12
_SMALL = 64


class Packed(NamedTuple):
    """``data`` in a ``coding``; ``with_base``: it needs the body that was its dictionary."""

    coding: str
    data: bytes
    with_base: bool = False


def pack(body: bytes, base: bytes | None = None) -> Packed:
    """``body``, as small as what is installed makes it. ``base`` is the previous vintage of it."""
    if len(body) < _SMALL:
        return Packed(PLAIN, body)
    zstandard = _zstandard()
    if zstandard is None:
        import zlib

        return Packed(ZLIB, zlib.compress(body, _LEVEL_ZLIB))
    compressor = zstandard.ZstdCompressor(
        dict_data=None if base is None else _dictionary(zstandard, base),
        compression_params=zstandard.ZstdCompressionParameters.from_level(
            _LEVEL_ZSTD, source_size=len(body), dict_size=len(base or b""), window_log=_window(body, base)
        ),
    )
    return Packed(ZSTD, compressor.compress(body), base is not None)


def unpack(packed: Packed, base: bytes | None, size: int) -> bytes:
    """The body again, of length ``size``. Raises ArchiveError if it is damaged, or zstandard is needed and missing."""
    if packed.coding == PLAIN:
        return packed.data
    try:
        if packed.coding == ZLIB:
            import zlib

            return zlib.decompress(packed.data)
        zstandard = _zstandard()
        if zstandard is None:
            raise Unreadable("it is packed with zstandard, which is missing (python3 -m pip install zstandard)")
        dictionary = None if base is None else _dictionary(zstandard, base)
        body: bytes = zstandard.ZstdDecompressor(dict_data=dictionary, max_window_size=1 << 31).decompress(
            packed.data, max_output_size=size
        )
    except ArchiveError:
        raise
    except Exception as error:  # zlib.error and zstandard's own
        raise ArchiveError("it is damaged: a body cannot be unpacked") from error
    return body


def _window(body: bytes, base: bytes | None) -> int:
    """As many bits as reach back over all of the dictionary."""
    return min(max((len(body) + len(base or b"")).bit_length(), 10), 27)


def _dictionary(zstandard: Any, base: bytes) -> Any:
    return zstandard.ZstdCompressionDict(base, dict_type=zstandard.DICT_TYPE_RAWCONTENT)


def _zstandard() -> Any:
    try:
        import zstandard
    except ImportError:
        return None
    return zstandard
