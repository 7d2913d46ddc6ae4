"""A source without a network, for tests of what the framework does with the records of any."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from pit_fetch.provider import Context, Gap, Page, Provider, Query, Record, Watermark
from pit_fetch.testing.server import Answering, App, Response
from pit_fetch.times import parse_rfc3339
from tests.inprocess import NOW, Answer, fetch

PIT_TEXT = "2024-02-15T16:00:00-05:00"
PIT: datetime = parse_rfc3339(PIT_TEXT) or NOW
AT_PIT = ("--source", "demo", "--pit", PIT_TEXT)

Stream = Iterable[Record | Page | Gap | Watermark]


def record(name: str, minutes: float = 1, revised: float | None = None, **payload: Any) -> Record:
    """A record that is so many minutes older than the PIT; a late one has fewer than none."""
    revision = None if revised is None else PIT - timedelta(minutes=revised)
    return Record(name, PIT - timedelta(minutes=minutes), payload, revision)


def demo(records: Stream | Callable[[Query, Context], Stream] = (), **changes: Any) -> Provider:
    """A provider that yields ``records``, or what that function makes of its query and its client."""

    def given(query: Query, context: Context) -> Iterator[Record | Page | Gap | Watermark]:
        yield from records(query, context) if callable(records) else records

    parse_reply = changes.pop("parse_reply", lambda body, query: given(query, None))  # type: ignore[arg-type]
    made = Provider(**{"name": "demo", "summary": "a source", "page_size": 1_000, **changes})
    return change_operations(made, fetch=given, parse_reply=parse_reply)


def nobody(request: object) -> Response:
    raise AssertionError("nobody is to be asked")


def ask(folder: Path, provider: Provider, *words: str, app: App = nobody, **given: Any) -> Answer:
    """What leaves the process when ``provider`` is asked; ``words`` stand behind ``--source demo``."""
    now = given.get("now", NOW)
    transport = given.pop("transport", None) or Answering(app, lambda: now)
    return fetch(folder, "--source", "demo", *words, provider=provider, transport=transport, **given)


def at_pit(folder: Path, provider: Provider, *words: str, **given: Any) -> Answer:
    """The same as of the PIT."""
    return ask(folder, provider, "--pit", PIT_TEXT, *words, **given)


def change_operations(provider: Provider, **changes: Any) -> Provider:
    """Return the provider with ``changes`` to each of its operations."""
    return provider._replace(operations=tuple(operation._replace(**changes) for operation in provider.operations))
