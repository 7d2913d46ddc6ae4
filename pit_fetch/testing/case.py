"""A provider with its recorded reply, and the outcome of one run of the program on it."""

from __future__ import annotations

import contextlib
import json
import linecache
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from traceback import walk_tb
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from pit_fetch.errors import ExitStatus, PitFetchError
from pit_fetch.provider import Page, Provider, Query, Record, Watermark
from pit_fetch.support.misuse import Misuse
from pit_fetch.support.redaction import redactor
from pit_fetch.testing.inprocess import Left
from pit_fetch.testing.server import Response
from pit_fetch.testing.state import State
from pit_fetch.times import is_aware, parse_rfc3339
from pit_fetch.transport import HttpRequest

Serve = Callable[[bytes, HttpRequest], Response]
Wire = Callable[[HttpRequest, Response], Response]

MICROSECOND = timedelta(microseconds=1)
# The most that is quoted of an exception's text.
_LONGEST = 200


@dataclass(frozen=True)
class Case:
    """A provider with a recorded reply. ``now`` is the wall clock; every recorded record is public by then.

    own_server  the author wrote ``serve``: the kit then makes no pages of its own
    stamp       the field of a record that the author's stamps are in
    state       what the provider's code held before the first run
    """

    provider: Provider
    reply: bytes
    options: Mapping[str, object]
    serve: Serve
    environ: Mapping[str, str]
    secrets: tuple[str, ...]
    now: datetime
    zone: str
    max_requests: int
    own_server: bool
    state: State = field(compare=False)
    stamp: str = "available_at"

    def with_options(self, **options: object) -> Case:
        """Return this case with ``options`` besides its own. An option that is None is left out."""
        merged = {name: value for name, value in {**self.options, **options}.items() if value is not None}
        return replace(self, options=merged)

    def at_leisure(self, max_requests: int) -> Case:
        """Return this case with ``max_requests`` and no deadline, which on a slow host could hide a loop."""
        return replace(self.with_options(timeout=86_400), max_requests=max_requests)


class PublicVersion(NamedTuple):
    """One version of an item, and the instant from which it may be served: the later of its two stamps."""

    id: str
    public_from: datetime


@dataclass(frozen=True)
class ObservedRun(Left):
    """The outcome of one run: what leaves the process, and what only a test (or the audit file) sees.

    yielded  what the provider yields, records and pages and watermarks, before the framework touches it
    raised   what its functions raise
    query    the request as the provider received it; None where the provider was not called
    describe returns what an exception tells the author
    """

    provider: Provider = field(kw_only=True)
    query: Query | None = field(kw_only=True)
    yielded: tuple[Any, ...] = field(kw_only=True)
    raised: tuple[BaseException, ...] = field(kw_only=True)
    printed: str = field(kw_only=True)
    audit: Mapping[str, Any] = field(kw_only=True)
    exchanges: tuple[tuple[HttpRequest, Response], ...] = field(kw_only=True)
    reached_out: tuple[str, ...] = field(kw_only=True)
    consulted: tuple[str, ...] = field(kw_only=True)
    asked_too_often: bool = field(kw_only=True)
    describe: Callable[[BaseException], str] = field(kw_only=True, compare=False)

    @property
    def records(self) -> list[Record]:
        batches = (item.records if isinstance(item, Page) else (item,) for item in self.yielded)
        return [record for batch in batches for record in batch if isinstance(record, Record)]

    @property
    def requests(self) -> list[tuple[str, str, bytes | None]]:
        """The key of each request, in order."""
        return [request_key(request) for request, _ in self.exchanges]

    @property
    def watermarks(self) -> list[datetime]:
        """The instants that were promised, each once, in the order of the promises."""
        return list(dict.fromkeys(item.at for item in self.yielded if isinstance(item, Watermark)))

    @cached_property
    def stamps(self) -> dict[str, datetime]:
        """Each served item's id, and the instant from which it may be served."""
        return {item["id"]: _public_from(item) for item in self.data}

    @cached_property
    def versions(self) -> frozenset[PublicVersion]:
        """Every public version: those that are served, and the older ones that they replace."""
        served = frozenset(PublicVersion(*stamp) for stamp in self.stamps.items())
        query = self.query
        if query is None or self.crash or self.provider.derive(query) is not None:
            return served
        return served.union(
            version
            for record in self.records
            for version in versions_of([record] if record.id else ())
            if version.public_from <= query.now and query.in_window(record) and self.provider.select(query, record)
        )

    @property
    def crash(self) -> str:
        """How the provider failed, and in which line of its own, or an empty string."""
        if self.code != ExitStatus.BUG:
            return ""
        for error in self.raised:
            if not isinstance(error, PitFetchError):
                return self.describe(error)
        return str(self.audit.get("failure") or self.envelope["gaps"][0]["reason"])


def instants(run: ObservedRun, at_most: int = 12) -> list[datetime]:
    """Return the instants at which versions became public, in order; evenly thinned out where there are many."""
    every = sorted({version.public_from for version in run.versions})
    step = max(1, -(-len(every) // at_most))
    return sorted({*every[::step], every[-1]})


def pits_before(run: ObservedRun) -> list[datetime]:
    """Return PITs at which something is not public yet: a microsecond before a version was."""
    return [instant - MICROSECOND for instant in instants(run, at_most=5)]


def middle_pit(run: ObservedRun) -> datetime:
    pits = pits_before(run)
    return pits[len(pits) // 2]


def public_from(record: Record) -> datetime | None:
    """Return the instant from which a record may be served: the later of its two stamps, None without a usable one."""
    stamps = (record.available_at, record.revised_at or record.available_at)
    aware = [stamp for stamp in stamps if is_aware(stamp)]
    return max(aware) if len(aware) == len(stamps) else None


def versions_of(records: Iterable[Record]) -> set[PublicVersion]:
    """Return a version for each record that can be served at some PIT."""
    return {PublicVersion(record.id, stamp) for record in records if (stamp := public_from(record)) is not None}


def request_key(request: HttpRequest) -> tuple[str, str, bytes | None]:
    """Return what a request asks for, so that two of them can be compared."""
    return request.path, json.dumps(params_of(request), sort_keys=True, default=list), request.body


def params_of(request: HttpRequest) -> dict[str, Any]:
    """Return the parameters of a request, those too that stand in its address, where a next page's often stand."""
    return {**dict(parse_qsl(urlsplit(request.url).query)), **request.params}


def body_of(request: HttpRequest) -> object:
    """Return the document that a request sends, None where it sends none."""
    try:
        return json.loads(request.body or b"null")
    except ValueError:
        return None


def substitute(response: Response, requests: Collection[object] | None = None) -> Wire:
    """Return a wire that answers with ``response``: every request, or those whose keys are in ``requests``."""
    return lambda request, made: response if requests is None or request_key(request) in requests else made


def failure(problem: str, advice: str) -> AssertionError:
    """Return the error that tells an author what is wrong and what to do about it."""
    return AssertionError(f"{problem}\n  What to do: {advice}.")


def described(error: BaseException, case: Case) -> str:
    """Return an exception as its author needs it: what it says, and the last line of the author's that led to it."""
    text = redactor(case.secrets)(" ".join(str(error).split()))
    lines = [text if isinstance(error, Misuse) else f"{type(error).__name__}: {text}"[:_LONGEST].rstrip(": ")]
    for frame, number in walk_tb(error.__traceback__):
        module, file = str(frame.f_globals.get("__name__")), frame.f_code.co_filename
        if case.state.authors.wrote(module, file):
            line = linecache.getline(file, number, frame.f_globals).strip()
            lines[1:] = [f"    {_relative(file)}:{number}: {line}"]
    return "\n".join(lines)


def _relative(file: str) -> str:
    """Return a path as short as it is from the folder in which the tests run."""
    with contextlib.suppress(ValueError):  # another drive
        return min(file, os.path.relpath(file), key=len)
    return file


def _public_from(item: Mapping[str, Any]) -> datetime:
    stamps = [parse_rfc3339(item.get(name)) for name in ("available_at", "revised_at")]
    return max((stamp for stamp in stamps if stamp is not None), default=datetime.min.replace(tzinfo=UTC))
