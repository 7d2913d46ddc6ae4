"""The command without a process: the same bytes, with a clock that is set, and no real pause."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pit_fetch.net.requests_transport import RequestsTransport
from pit_fetch.provider import Provider
from pit_fetch.testing.inprocess import Left, TestClock, run
from pit_fetch.transport import Transport

NOW = datetime(2026, 6, 1, 16, 0, tzinfo=UTC)


@dataclass(frozen=True)
class Answer(Left):
    """What would leave the process, and what the operator's audit file says."""

    audit: dict[str, Any] = field(default_factory=dict)
    pauses: list[float] = field(default_factory=list)

    @property
    def text(self) -> str:
        return self.out

    @property
    def complaint(self) -> str:
        return self.err

    @property
    def status(self) -> int:
        return self.code


def fetch(
    folder: Path,
    *words: str,
    env: Mapping[str, str] | None = None,
    body: bytes = b"",
    now: datetime = NOW,
    transport: Transport | None = None,
    provider: Provider | None = None,
    **more: Any,
) -> Answer:
    """Run the command line ``words`` in ``folder`` at ``now``. ``body`` is the standard input. A pause moves the clock.

    ``provider`` takes the place of the source that is named. ``more`` is for the runtime, such as an alarm.
    """
    clock, path = TestClock(now), folder / "audit.jsonl"
    path.unlink(missing_ok=True)
    left = run(
        words,
        transport=transport or RequestsTransport(clock.now),
        clock=clock.value(),
        environ={"PIT_FETCH_AUDIT": str(path), **(env or {})},
        folder=folder,
        stdin=body,
        provider=provider,
        **more,
    )
    audit = json.loads(path.read_text().splitlines()[-1]) if path.exists() else {}
    return Answer(left.out, left.err, left.code, audit=audit, pauses=clock.pauses)
