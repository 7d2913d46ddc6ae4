"""Decodes what providers send. Pure; raises UpstreamError("malformed") in words of our own."""

from __future__ import annotations

import json
from typing import Any

from pit_fetch.errors import UpstreamError


def strict_json(body: bytes) -> Any:
    """The JSON document in ``body`` (UTF-8, with or without a mark). NaN and Infinity are no JSON."""

    def constant(name: str) -> Any:
        raise ValueError(name)

    try:
        return json.loads(body.decode("utf-8-sig"), parse_constant=constant)
    except (ValueError, RecursionError):
        raise UpstreamError("malformed", problem="it is no JSON document") from None
