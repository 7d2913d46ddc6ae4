"""What a test works on: a provider with its recorded reply, and what one run of the program came to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, NamedTuple, TypeGuard

from pit_fetch.errors import ExitStatus
from pit_fetch.provider import Page, Provider, Query, Record, Watermark
from pit_fetch.request.fetch_request import FetchRequest
from pit_fetch.testing.inprocess import Left
from pit_fetch.testing.server import Response
from pit_fetch.testing.state import State
from pit_fetch.times import parse_rfc3339
from pit_fetch.transport import HttpRequest

Serve = Callable[[bytes, HttpRequest], Response]
Wire = Callable[[HttpRequest, Response], Response]

MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True)
class Case:
    """A provider with a recorded reply. ``now`` is the wall clock; every recorded record is public by then.

    own_server  the author wrote ``serve``: the kit then makes no pages of its own
    state       what the provider's code held before the first run
    requests    the command lines that were parsed already
    """

    provider: Provider
    reply: bytes
    options: Mapping[str, object]
    serve: Serve
    environ: Mapping[str, str]
    secrets: tuple[str, ...]
    now: datetime
    zone: str = ""
    max_requests: int = 100
    own_server: bool = False
    state: State | None = field(default=None, compare=False)
    requests: dict[Any, FetchRequest] = field(default_factory=dict, compare=False, repr=False)

    def asking(self, **options: object) -> Case:
        """The same with other options; None takes one out."""
        kept = {name: value for name, value in {**self.options, **options}.items() if value is not None}
        return replace(self, options=kept)


class Version(NamedTuple):
    """One version of an item, and the instant from which it may be served: the later of its two stamps."""

    id: str
    public_from: datetime


@dataclass(frozen=True)
class Seen(Left):
    """What one run came to: what leaves the process, and what only a test (or the audit file) sees.

    yielded  what the provider yields, records and pages and watermarks, before the framework touches it
    query    the request as the provider saw it; None where it was not asked
    """

    provider: Provider = field(kw_only=True)
    query: Query | None = field(kw_only=True)
    yielded: tuple[Any, ...] = field(kw_only=True)
    printed: str = field(kw_only=True)
    audit: Mapping[str, Any] = field(kw_only=True)
    exchanges: tuple[tuple[HttpRequest, Response], ...] = field(kw_only=True)
    reached_out: tuple[str, ...] = field(kw_only=True)
    consulted: tuple[str, ...] = field(kw_only=True)
    asked_too_often: bool = field(kw_only=True)

    @property
    def records(self) -> list[Record]:
        pages = (one.records if isinstance(one, Page) else (one,) for one in self.yielded)
        return [one for page in pages for one in page if isinstance(one, Record)]

    @property
    def watermarks(self) -> list[datetime]:
        """Each instant that was promised, once, in the order of the promises."""
        return list(dict.fromkeys(one.at for one in self.yielded if isinstance(one, Watermark)))

    @cached_property
    def stamps(self) -> dict[str, datetime]:
        """Each served item's id, and the instant from which it may be served."""
        return {item["id"]: _public_from(item) for item in self.data}

    @cached_property
    def versions(self) -> frozenset[Version]:
        """Every version that was public: those that are served, and the older ones that they hide."""
        served = frozenset(Version(*one) for one in self.stamps.items())
        query = self.query
        if query is None or self.crash or self.provider.derive(query) is not None:
            return served
        hidden = {
            Version(one.id, stamp): one
            for one in self.records
            if one.id and (stamp := public_from(one)) is not None and stamp <= query.now
        }
        wanted = (
            version
            for version, one in hidden.items()
            if version not in served and query.in_window(one) and self.provider.select(query, one)
        )
        return served.union(wanted)

    @property
    def crash(self) -> str:
        """Where the provider failed, or ""."""
        if self.code != ExitStatus.BUG:
            return ""
        return str(self.audit.get("failure") or self.envelope["gaps"][0]["reason"])


def instants(seen: Seen, at_most: int = 12) -> list[datetime]:
    """The instants at which versions became public, in order; evenly thinned out where there are many."""
    every = sorted({version.public_from for version in seen.versions})
    step = max(1, -(-len(every) // at_most))
    return sorted({*every[::step], every[-1]})


def is_aware(stamp: object) -> TypeGuard[datetime]:
    return isinstance(stamp, datetime) and stamp.utcoffset() is not None


def public_from(record: Record) -> datetime | None:
    """The instant from which a record may be served: the later of its two stamps; None where nothing shows it."""
    stamps = (record.available_at, record.revised_at or record.available_at)
    aware = [stamp for stamp in stamps if is_aware(stamp)]
    return max(aware) if len(aware) == len(stamps) else None


def failure(what: str, advice: str) -> AssertionError:
    """What is wrong, and what to do about it."""
    return AssertionError(f"{what}\n  What to do: {advice}.")


def _public_from(item: Mapping[str, Any]) -> datetime:
    stamps = [parse_rfc3339(item.get(name)) for name in ("available_at", "revised_at")]
    return max((stamp for stamp in stamps if stamp is not None), default=datetime.min.replace(tzinfo=UTC))
