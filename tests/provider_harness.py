"""A provider through the whole pipeline, in this process: what it keeps, what it says, and what it asks for."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, NamedTuple

from pit_fetch.engine import registry
from pit_fetch.engine.progress import Log
from pit_fetch.engine.run import collect
from pit_fetch.errors import ConfigError
from pit_fetch.gaps import Gap
from pit_fetch.pipeline.select import Selection, WithheldCounts
from pit_fetch.provider import Record
from pit_fetch.request.fetch_request import of_values
from pit_fetch.runtime import Runtime
from pit_fetch.testing.inprocess import TestClock, unhurried
from pit_fetch.testing.server import Answering, App
from pit_fetch.transport import HttpRequest
from tests.laws.worlds import VARIABLES

NOW = datetime(2026, 11, 1, tzinfo=UTC)


class Asked(NamedTuple):
    """What one fetch came to, and what it asked for."""

    selection: Selection
    withheld: WithheldCounts
    requests: list[HttpRequest]

    @property
    def kept(self) -> list[Record]:
        return list(self.selection.records)

    @property
    def ids(self) -> list[str]:
        return [record.id for record in self.kept]

    @property
    def items(self) -> list[tuple[Any, ...]]:
        return [
            (record.id, record.available_at, record.available_at_source, dict(record.payload)) for record in self.kept
        ]

    @property
    def gaps(self) -> list[str]:
        """The codes of what was said on the way, but for statements on the request and errors."""
        return [gap.code for gap in self.selection.gaps if gap.code != "caveat" and gap.type != "upstream_error"]

    @property
    def caveats(self) -> list[str]:
        return [gap.reason for gap in self.selection.gaps if gap.code == "caveat"]

    @property
    def error(self) -> Gap | None:
        return next((gap for gap in self.selection.gaps if gap.type == "upstream_error"), None)

    def paths(self, part: str) -> list[str]:
        return [request.path for request in self.requests if part in request.path]


def ask(source: str, app: App, *, now: datetime = NOW, folder: str = "/", body: bytes = b"", **options: Any) -> Asked:
    """A fetch of ``source`` at ``now``, answered by ``app``, or from ``body`` where there is one.

    The cache is in ``folder``, where there is one. Raises ConfigError.
    """
    clock, provider = TestClock(now), unhurried(registry.load(source))
    transport = Answering(app, clock.now)
    environ = {**VARIABLES, **({"HOME": folder} if folder != "/" else {})}
    runtime = Runtime(environ, folder, clock.value(), transport, lambda _: provider, lambda _: body)
    given = {name: value for name, value in options.items() if value != ()}
    request = of_values({**given, **({"input_file": "-"} if body else {})}, provider, environ)
    collected = collect(request, runtime, Log())
    if transport.error is not None:
        raise transport.error
    assert not collected.failure, collected.failure
    for gap in collected.selection.gaps:
        if gap.type == "config":
            raise ConfigError(gap.code, **gap.params)
    return Asked(collected.selection, collected.withheld, [request for request, _ in transport.exchanges])
