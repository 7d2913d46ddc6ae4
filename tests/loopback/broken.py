"""Values that no encoder writes, for the rows of any source: a value "spoilt: NAME" is served as these bytes.

Each leaves its reply one that is read. A reply that is not JSON is refused as a whole, whichever row made it so.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

SPOILT = {
    "NaN": b"NaN",
    "infinity": b"[-Infinity]",
    "digits": b"7" * 5_000,
    "depth": b"[" * 3_000 + b"]" * 3_000,
    "bytes": b'"caf\xe9 \xff"',
    "control": b'"a\x00\nb"',
    "surrogate": b'"\\ud800"',
    "twice": b'{"a": 1, "a": 2}',
}
# Those that leave a row readable.
_HARMLESS = frozenset({"bytes", "control", "surrogate"})


def spoilt(name: str) -> str:
    """Return the value that is served as the bytes of that name."""
    return f"spoilt: {name}"


def wreck(rng: Random, *, is_fatal: bool = False) -> str:
    """Return a value that is served as any of them; ``is_fatal``: as one that makes its row unreadable."""
    return spoilt(rng.choice([name for name in SPOILT if not (is_fatal and name in _HARMLESS)]))


def body_of(document: Any) -> bytes:
    """Return ``document`` as JSON, with the spoilt values in it."""
    return with_wrecks(json.dumps(document).encode())


def with_wrecks(body: bytes) -> bytes:
    if b'"spoilt: ' in body:
        for name, raw in SPOILT.items():
            body = body.replace(b'"spoilt: %s"' % name.encode(), raw)
    return body
