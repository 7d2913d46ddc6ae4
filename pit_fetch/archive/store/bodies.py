"""Pack and unpack bodies: with zlib, or with zstandard and the previous reply to the same request as dictionary.

Replies to one request hardly differ from one day to the next, so the previous one is the best dictionary there is
(docs/adr/0015). Without the extra ``archive``, that is without zstandard, zlib does the work. Pure.

>>> body = b'{"close": "182.50"}' * 99
>>> packed = pack(body)
>>> len(packed.data) < len(body) / 10, unpack(packed, None, len(body)) == body
(True, True)
"""

from __future__ import annotations

import zlib
from typing import Any, NamedTuple

from pit_fetch.archive.store.errors import ArchiveError, Unreadable, damaged

PLAIN, ZLIB, ZSTD = "plain", "zlib", "zstd"
# A body is unpacked through its dictionary, that one's dictionary, and so on: at most so many. The next body begins
# again with the first of the chain: 120 vintages of a series take 58 to 81 % less than with one that stands alone.
DEEPEST = 16
_LEVEL_ZLIB, _LEVEL_ZSTD = 6, 12
_SMALL = 64


class Packed(NamedTuple):
    """A packed body. ``with_base``: unpacking needs the body that was its dictionary."""

    coding: str
    data: bytes
    with_base: bool = False


def pack(body: bytes, base: bytes | None = None) -> Packed:
    """Pack ``body`` as small as the installed packages can. ``base`` is its previous vintage."""
    if len(body) < _SMALL:  # so short a text does not become shorter
        return Packed(PLAIN, body)
    zstandard = _zstandard()
    if zstandard is None:  # zlib has dictionaries as well, but of 32 kB at most: a body is larger
        return Packed(ZLIB, zlib.compress(body, _LEVEL_ZLIB))
    reach = len(body) + len(base or b"")
    parameters = zstandard.ZstdCompressionParameters.from_level(
        _LEVEL_ZSTD,
        source_size=len(body),
        dict_size=len(base or b""),
        window_log=min(max(reach.bit_length(), 10), 27),  # in bits: back over all of the dictionary
    )
    compressor = zstandard.ZstdCompressor(dict_data=_dictionary(zstandard, base), compression_params=parameters)
    return Packed(ZSTD, compressor.compress(body), base is not None)


def unpack(packed: Packed, base: bytes | None, size: int) -> bytes:
    """Return the body, of at most ``size`` bytes. Raise Damaged, or Unreadable if zstandard is needed and missing.

    No more than ``size`` is unpacked: a megabyte of damage may stand for gigabytes.
    """
    if packed.coding == PLAIN:
        return packed.data
    try:
        if packed.coding == ZLIB:
            member = zlib.decompressobj()
            body: bytes = member.decompress(packed.data, size + 1)
            if len(body) > size or not member.eof:
                raise damaged("a body cannot be unpacked")
            return body
    except zlib.error as error:
        raise damaged("a body cannot be unpacked") from error
    if packed.coding != ZSTD:
        raise damaged("how a body is packed is not known")
    zstandard = needed_zstandard()
    decompressor = zstandard.ZstdDecompressor(dict_data=_dictionary(zstandard, base), max_window_size=1 << 31)
    return decompress(decompressor, packed.data, size)


def decompress(decompressor: Any, data: bytes, size: int) -> bytes:
    """Return what a frame holds, at most ``size`` bytes. Raise Damaged."""
    try:
        # It would unpack what the frame states, whatever is asked for; -1 is a frame that states nothing.
        if 0 <= needed_zstandard().frame_content_size(data) <= size:
            body: bytes = decompressor.decompress(data, max_output_size=size)
            return body
    except ArchiveError:
        raise
    except Exception as error:  # zstandard's own
        raise damaged("a body cannot be unpacked") from error
    raise damaged("a body cannot be unpacked")


def _dictionary(zstandard: Any, base: bytes | None) -> Any:
    return None if base is None else zstandard.ZstdCompressionDict(base, dict_type=zstandard.DICT_TYPE_RAWCONTENT)


def needed_zstandard() -> Any:
    """Return the package. Raise Unreadable without it."""
    zstandard = _zstandard()
    if zstandard is None:
        from pit_fetch.support.install import install_command

        raise Unreadable(f"it is packed with zstandard, which is missing ({install_command('zstandard')})")
    return zstandard


def has_zstandard() -> bool:
    return _zstandard() is not None


def _zstandard() -> Any:
    try:
        import zstandard
    except ImportError:
        return None
    return zstandard
