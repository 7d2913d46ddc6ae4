"""What a test works on: a provider with its recorded reply, and what one run of the program came to."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pit_fetch.errors import ExitStatus
from pit_fetch.provider import Provider
from pit_fetch.testing.transport import Answer, Request
from pit_fetch.times import parse_rfc3339

Serve = Callable[[bytes, Request], Answer]
Wire = Callable[[Request, Answer], Answer]

MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True)
class Case:
    """A provider with a recorded reply. ``now`` is the wall clock; every recorded record is public by then."""

    provider: Provider
    reply: bytes
    options: Mapping[str, object]
    serve: Serve
    environ: Mapping[str, str]
    secrets: tuple[str, ...]
    now: datetime
    zone: str = ""
    max_requests: int = 100


@dataclass(frozen=True)
class Seen:
    """What one run came to: what leaves the process, and what only a test (or the audit file) sees."""

    text: str
    complaint: str
    status: int
    log: str
    printed: str
    audit: Mapping[str, Any]
    records: tuple[Any, ...]
    exchanges: tuple[tuple[Request, Answer], ...]
    sockets: tuple[str, ...]
    asked_too_often: bool

    @property
    def leaves(self) -> tuple[str, str, str, int]:
        """Every byte that leaves the process."""
        return self.text, self.complaint, self.log, self.status

    @property
    def envelope(self) -> dict[str, Any]:
        parsed: dict[str, Any] = json.loads(self.text)
        return parsed

    @property
    def stamps(self) -> dict[str, datetime]:
        """Each served item's id, and the instant from which it may be served: the later of its two stamps."""
        return {item["id"]: _public_from(item) for item in self.envelope["data"]}

    @property
    def gap_types(self) -> set[str]:
        return {gap["type"] for gap in self.envelope["gaps"]}

    @property
    def crash(self) -> str:
        """Where the provider failed, or ""."""
        if self.status != ExitStatus.BUG:
            return ""
        return str(self.audit.get("failure") or self.envelope["gaps"][0]["reason"])


def instants(seen: Seen, at_most: int = 12) -> list[datetime]:
    """The instants at which served items became public, in order; evenly thinned out where there are many."""
    every = sorted(set(seen.stamps.values()))
    step = max(1, -(-len(every) // at_most))
    return sorted({*every[::step], every[-1]})


def is_aware(stamp: object) -> bool:
    return isinstance(stamp, datetime) and stamp.utcoffset() is not None


def failure(what: str, advice: str) -> AssertionError:
    """What is wrong, and what to do about it."""
    return AssertionError(f"{what}\n  What to do: {advice}.")


def _public_from(item: Mapping[str, Any]) -> datetime:
    stamps = [parse_rfc3339(item.get(name)) for name in ("available_at", "revised_at")]
    return max((stamp for stamp in stamps if stamp is not None), default=datetime.min.replace(tzinfo=UTC))
