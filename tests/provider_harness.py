"""A provider through the whole pipeline, or the whole command, in this process."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from pit_fetch.engine import registry
from pit_fetch.engine.fetch import collect
from pit_fetch.engine.progress import Progress
from pit_fetch.errors import ConfigError
from pit_fetch.gaps import Gap
from pit_fetch.pipeline.select import Selection, Withheld
from pit_fetch.provider import Record
from pit_fetch.request.fetch_request import from_values
from pit_fetch.runtime import Runtime
from pit_fetch.testing.inprocess import TestClock, unhurried
from pit_fetch.testing.server import Answering, App, Response
from pit_fetch.transport import HttpRequest
from tests import inprocess
from tests.laws.worlds import VARIABLES

NOW = datetime(2026, 11, 1, tzinfo=UTC)


class Fetched(NamedTuple):
    """The records and gaps of one fetch, and the requests that it sent."""

    selection: Selection
    withheld: Withheld
    requests: list[HttpRequest]

    @property
    def records(self) -> list[Record]:
        return list(self.selection.records)

    @property
    def ids(self) -> list[str]:
        return [record.id for record in self.records]

    @property
    def items(self) -> list[tuple[Any, ...]]:
        return [(made.id, made.available_at, made.available_at_source, dict(made.payload)) for made in self.records]

    @property
    def gaps(self) -> list[str]:
        """The codes of all gaps but caveats and errors."""
        return [gap.code for gap in self.selection.gaps if gap.code != "caveat" and gap.type != "upstream_error"]

    @property
    def caveats(self) -> list[str]:
        return [gap.reason for gap in self.selection.gaps if gap.code == "caveat"]

    @property
    def error(self) -> Gap | None:
        return next((gap for gap in self.selection.gaps if gap.type == "upstream_error"), None)

    @property
    def error_code(self) -> str:
        return "" if self.error is None else self.error.code

    def paths(self, part: str) -> list[str]:
        return [request.path for request in self.requests if part in request.path]


def instead(app: App, response: Response, *paths: str) -> App:
    """Return ``app`` with ``response`` to the requests for ``paths``."""
    return lambda request: response if request.path in paths else app(request)


def ask(source: str, app: App, *, now: datetime = NOW, folder: str = "/", body: bytes = b"", **options: Any) -> Fetched:
    """Fetch from ``source`` at ``now``, answered by ``app``, or read ``body`` where there is one.

    The cache is in ``folder``, unless that is "/". An option whose value is () is left out. Raise ConfigError.
    """
    clock, provider = TestClock(now), unhurried(registry.load(source))
    transport = Answering(app, clock.now, clock.value().sleep)
    environ = {**VARIABLES, **({"HOME": folder} if folder != "/" else {})}
    runtime = Runtime(environ, folder, clock.value(), transport, lambda _: provider, lambda _: body)
    values = {name: value for name, value in options.items() if value != ()}
    request = from_values({**values, **({"input_file": "-"} if body else {})}, provider, environ)
    collected = collect(request, runtime, Progress())
    if transport.error is not None:
        raise transport.error
    assert not collected.failure, collected.failure
    for gap in collected.selection.gaps:
        if gap.type == "config":
            raise ConfigError(gap.code, **gap.params)
    return Fetched(collected.selection, collected.withheld, [request for request, _ in transport.exchanges])


def run_command(
    source: str,
    folder: Path,
    app: App,
    *words: str,
    now: datetime = inprocess.NOW,
    env: Mapping[str, str] | None = None,
) -> inprocess.Answer:
    """Run the command on ``source`` at ``now``, answered by ``app``, with every source's key in the environment."""
    transport = Answering(app, lambda: now)
    return inprocess.fetch(
        folder, "--source", source, *words, env={**VARIABLES, **(env or {})}, now=now, transport=transport
    )
