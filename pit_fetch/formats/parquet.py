"""``--format parquet``: the items as one Parquet file, typed by the declared fields. Needs the extra ``frames``."""

from __future__ import annotations

import io
from typing import Any

from pit_fetch.errors import ConfigError
from pit_fetch.formats import DEFAULTS, RenderOptions
from pit_fetch.formats.frames import to_arrow
from pit_fetch.gaps import Code
from pit_fetch.pipeline.envelope import PlainEnvelope

try:
    from pyarrow import parquet
except ImportError:
    raise ConfigError(Code.DEPENDENCY_MISSING, package="pyarrow") from None


def render(envelope: PlainEnvelope, options: RenderOptions = DEFAULTS) -> bytes:
    """Return the bytes of the file. The gaps are in the metadata of its schema."""
    buffer: Any = io.BytesIO()
    parquet.write_table(to_arrow(envelope), buffer, compression="zstd")
    written: bytes = buffer.getvalue()
    return written
