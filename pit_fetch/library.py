"""The program as a library: a call in Python in, an envelope out."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from pit_fetch import config
from pit_fetch.engine import run
from pit_fetch.envelope import Again, Envelope, View, of
from pit_fetch.errors import PitFetchError, UsageError
from pit_fetch.log import Log
from pit_fetch.request import of_values
from pit_fetch.world import World, real_world


def fetch(source: str, options: Mapping[str, object], on_gap: str = "raise", world: World | None = None) -> Envelope:
    """See :func:`pit_fetch.fetch`."""
    if on_gap not in ("raise", "keep"):
        raise UsageError("usage", text="on_gap is raise or keep")
    # An iterator is used up by one call, and the next page asks again.
    options = {name: list(value) if isinstance(value, Iterator) else value for name, value in options.items()}
    world = real_world() if world is None else world
    try:
        settings = config.read(world.environ, world.folder)
        world = world._replace(environ=settings.environ)
        request = of_values(options, world.find(source), world.environ, settings.options)
        if request.output:
            raise UsageError("usage", text="output is an option of the command line: write what fetch returns")
        request = request._replace(format="json", pretty=False)  # an envelope has no form yet
        answer = run(request, world, Log(), shlex.split(request.canonical)).envelope
    except PitFetchError as error:
        if on_gap == "raise":
            raise
        return of([], [error.gap], View())
    answer.asked = answer.asked._replace(again=Again(source, {**options, "on_gap": on_gap}))
    return answer if on_gap == "keep" else answer.raise_for_gaps()


def sources(world: World | None = None) -> list[dict[str, Any]]:
    """See :func:`pit_fetch.sources`."""
    from pit_fetch.listings import described
    from pit_fetch.registry import listings

    world = real_world() if world is None else world
    return [described(listing, world.environ, world.folder) for listing in listings()]
