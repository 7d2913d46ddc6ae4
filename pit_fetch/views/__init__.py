"""What a program gets for one request under ``pit_fetch run``: the source's reply, as it would have been then."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Literal, NamedTuple

from pit_fetch.provider import Provider
from pit_fetch.runtime import Runtime

Verdict = Literal["viewed", "web", "allowed", "refused"]


class Exchange(NamedTuple):
    """What a program asked: the request as it was intercepted. ``target`` is the path with its query."""

    method: str
    scheme: str
    host: str
    port: int
    target: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""


class Answer(NamedTuple):
    """What the program gets, and for the operator alone: the source, and how many rows were kept and left out."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    verdict: Verdict
    source: str | None = None
    kept: int = 0
    left_out: int = 0


class ViewOptions(NamedTuple):
    """What the operator chose. ``web``: what answers for other pages. ``providers``: the sources; None for all."""

    web: Literal["none", "wayback"] = "none"
    providers: Sequence[Provider] | None = None
    timeout: float = 60.0


def answer(exchange: Exchange, pit: datetime, runtime: Runtime, options: ViewOptions = ViewOptions()) -> Answer:  # noqa: B008
    """Return the answer to ``exchange`` as of ``pit`` (aware). It raises nothing."""
    message = f"Nothing shows what {exchange.host} said then: pit_fetch run --allow lets a host pass."
    body = json.dumps({"error": {"type": "not_viewed", "message": message}}).encode()
    return Answer(403, (("content-type", "application/json"),), body, "refused")


def views_table(options: ViewOptions = ViewOptions()) -> list[dict[str, str]]:  # noqa: B008
    """Return what is understood, for ``pit_fetch run --views``: rows of ``source host path operation rule``."""
    return []
