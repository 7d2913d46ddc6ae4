"""sec_full_text without a process and a socket: a client that asks the loopback server's function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

from pit_fetch_providers.sec_full_text import PROVIDER, fetch

from pit_fetch.errors import UpstreamError
from pit_fetch.gaps import Gap
from pit_fetch.http import Client
from pit_fetch.pit import Page, Tally, in_order, public, take
from pit_fetch.provider import Context, Query, Record, Reply, Watermark
from pit_fetch.times import parse_pit, window_end, window_start
from tests.loopback import sec
from tests.loopback.sec import Filing
from tests.loopback.server import App, Request, Response, as_json

PIT = "2024-02-15T16:00:00-05:00"
NOW = datetime(2026, 11, 1, tzinfo=UTC)


class Asked:
    """What one fetch came to, and what it asked for."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.page, self.tally = Page(), Tally()
        self.gaps: list[str] = []
        self.error: UpstreamError | None = None

    @property
    def ids(self) -> list[str]:
        return [record.id for record in self.page.kept]

    @property
    def items(self) -> list[tuple[Any, ...]]:
        return [(one.id, one.available_at, one.source, dict(one.payload)) for one in self.page.kept]

    def paths(self, part: str) -> list[str]:
        return [request.path for request in self.requests if part in request.path]


def client(app: App, requests: list[Request]) -> Client:
    def get(host: str, path: str, params: Any = None, headers: Any = None, busy: Any = None) -> Reply:
        request = Request(path, dict(params or {}), dict(headers or {}))
        for _ in range(2):  # as the real client, but for the pauses
            requests.append(request)
            response = app(request)
            reply = Reply(response.status, response.headers, response.body, NOW)
            if response.status not in (429, 500, 503) and (busy is None or busy(reply) is None):
                return reply
        if response.status != 200:
            raise UpstreamError("http_status", host=host, status=response.status)
        return reply

    def get_cached(
        host: str, path: str, headers: Any, seconds: float, decode: Callable[[Reply], Any], keep: Any = None
    ) -> Any:
        return decode(get(host, path, headers=headers))

    return cast(Client, SimpleNamespace(get=get, get_cached=get_cached))


def question(pit: str | None = PIT, limit: int = 50, since: str = "", until: str = "", **options: Any) -> Query:
    moment = parse_pit(pit) if pit else None
    now, last = moment or NOW, window_end(until) if until else None
    return Query(
        now=now,
        started=NOW,
        pit=moment,
        since=window_start(since) if since else None,
        until=last,
        horizon=min(now, last or now),
        limit=limit,
        options={option.name: options.get(option.name, option.default) for option in PROVIDER.options},
    )


def ask(app: App | Sequence[Filing], request: Query | None = None, cap: int = 1000, **options: Any) -> Asked:
    """A fetch through the whole pipeline. Options are the provider's, and ``pit``, ``limit``, ``since``, ``until``."""
    asked = Asked()
    query = request or question(**{"query": "concern", **options})
    context = Context(client(app if callable(app) else sec.app(app), asked.requests), {"user_agent": sec.USER_AGENT})

    def records() -> Iterable[Record | Watermark]:
        try:
            for one in fetch(query, context):
                if isinstance(one, Gap):
                    asked.gaps.append(one.code)
                else:
                    yield one
        except UpstreamError as error:
            asked.error = error

    ordered = in_order(public(records(), lambda: query.pit, asked.tally), PROVIDER.newest_first)
    take(ordered, asked.page, after=None, cap=cap, limit=query.limit, select=lambda record: True)
    return asked


def found(hits: Sequence[Any], filings: Sequence[Filing], **reply: Any) -> App:
    """The server of ``filings`` whose search finds ``hits``, whatever it is asked for."""
    rest = sec.app(filings)
    return lambda request: as_json(sec.reply(hits, **reply)) if "search-index" in request.path else rest(request)


def no_index(path: str) -> Response | None:
    return sec.MISSING if "daily-index" in path else None
