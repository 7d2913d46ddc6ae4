"""``--format parquet``: the items as one Parquet file, typed by the declared fields. Needs the extra ``frames``."""

from __future__ import annotations

import io
from typing import Any

from pit_fetch.errors import ConfigError
from pit_fetch.pipeline.envelope import Envelope

try:
    from pyarrow import parquet
except ImportError:
    raise ConfigError("dependency_missing", package="pyarrow", command="python3 -m pip install pyarrow") from None


def render(envelope: Envelope, pretty: bool = False) -> bytes:
    """The file's bytes, whatever ``pretty`` says. The gaps are in the schema's metadata."""
    buffer: Any = io.BytesIO()
    parquet.write_table(envelope.to_arrow(), buffer, compression="zstd")
    written: bytes = buffer.getvalue()
    return written
