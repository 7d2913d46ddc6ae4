"""A server of one source in this process."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from pit_fetch.engine.settings_files import Settings
from pit_fetch.mcp.answers import Answer
from pit_fetch.mcp.calls import Runtimes, Server, answer
from pit_fetch.mcp.instant import make_instant
from pit_fetch.mcp.tools import name_of, tools_for
from pit_fetch.provider import Provider
from pit_fetch.runtime import Runtime
from pit_fetch.testing.inprocess import TestClock
from pit_fetch.testing.server import Answering
from tests.demo_source import PIT_TEXT, nobody
from tests.inprocess import NOW


def server_of(provider: Provider, environ: Mapping[str, str] = {}, **settings: Any) -> Server:
    """Return the server of ``provider``, which asks nobody."""
    clock = TestClock(NOW)
    transport = Answering(nobody, clock.now)
    runtime = Runtime(environ, "/", clock.value(), transport, lambda _: provider, lambda _: b"")
    instant = make_instant(PIT_TEXT, None, environ)
    return Server(tools_for([provider], PIT_TEXT), instant, Settings(environ, settings), Runtimes(lambda: runtime))


def call(provider: Provider, tool: str = "", **arguments: Any) -> Answer:
    """Return the answer of a tool, if not another is named of that of ``provider``."""
    return answer(server_of(provider), tool or name_of(provider), arguments, threading.Event())
