"""The command without a process: the same bytes, a clock that is told what time it is, and no real pause."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pit_fetch.engine import run
from pit_fetch.log import Log
from pit_fetch.registry import load
from pit_fetch.request import parse
from pit_fetch.world import Clock, World

NOW = datetime(2026, 6, 1, 16, 0, tzinfo=UTC)


@dataclass
class Answer:
    """What would leave the process, and what the operator's audit file says."""

    text: str
    complaint: str
    status: int
    audit: dict[str, Any]
    pauses: list[float] = field(default_factory=list)

    @property
    def envelope(self) -> dict[str, Any]:
        parsed: dict[str, Any] = json.loads(self.text)
        return parsed

    @property
    def data(self) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = self.envelope["data"]
        return items

    @property
    def ids(self) -> list[str]:
        return [item["id"] for item in self.data]

    @property
    def gap_types(self) -> list[str]:
        return [gap["type"] for gap in self.envelope["gaps"]]

    @property
    def reasons(self) -> str:
        return "\n".join(gap["reason"] for gap in self.envelope["gaps"])

    @property
    def leaves(self) -> tuple[str, str, int]:
        """Every byte that leaves the process."""
        return self.text, self.complaint, self.status


def fetch(
    folder: Path,
    *words: str,
    env: Mapping[str, str] | None = None,
    body: bytes = b"",
    now: datetime = NOW,
) -> Answer:
    """Runs ``words`` in ``folder`` at ``now``. ``body`` is the standard input; a pause only moves the clock."""
    passed, pauses = 0.0, []

    def sleep(seconds: float) -> None:
        nonlocal passed
        passed += seconds
        pauses.append(seconds)

    def wall() -> datetime:
        return now + timedelta(seconds=passed)

    path = folder / "audit.jsonl"
    path.unlink(missing_ok=True)
    environ = {"PIT_FETCH_AUDIT": str(path), **(env or {})}
    clock = Clock(wall, lambda: passed, lambda: passed, sleep)
    world = World(environ, str(folder), clock, lambda: body)
    source = words[words.index("--source") + 1]
    request = parse(list(words), load(source), environ)
    outcome = run(request, world, Log(), list(words))
    return Answer(outcome.text, outcome.complaint, int(outcome.status), json.loads(path.read_text()), pauses)
