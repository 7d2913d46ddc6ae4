"""sec_full_text without a process and a socket: the loopback server's function answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pit_fetch_providers.edgar import client

from pit_fetch.testing.server import App, Response, as_json
from pit_fetch.transport import HttpRequest
from tests import provider_harness
from tests.provider_harness import Fetched
from tests.providers.sec_full_text import server as sec
from tests.providers.sec_full_text.server import Filing

PIT = "2024-02-15T16:00:00-05:00"


def ask(app: App | Sequence[Filing], **options: Any) -> Fetched:
    """Fetch at the PIT. Options are those of the Python call, and of the harness."""
    answering = app if callable(app) else sec.app(app)
    return provider_harness.ask("sec_full_text", answering, **{"query": "concern", "pit": PIT, **options})


def app_finding(hits: Sequence[Any], filings: Sequence[Filing], **reply: Any) -> App:
    """Return the server of ``filings`` whose search finds ``hits``, whatever the request."""
    rest = sec.app(filings)
    return lambda request: as_json(sec.reply(hits, **reply)) if "search-index" in request.path else rest(request)


def searches(fetched: Fetched) -> list[HttpRequest]:
    return [request for request in fetched.requests if "search-index" in request.path]


def failing_from(app: App, is_first: Callable[[str], bool], response: Response) -> App:
    """Return ``app`` whose www.sec.gov fails as a whole, from the first path on of which ``is_first`` is true."""
    failed = [False]

    def answer(request: HttpRequest) -> Response:
        failed[0] = failed[0] or is_first(request.path)
        return response if failed[0] and request.host == client.WWW else app(request)

    return answer


def always(path: str) -> bool:
    return True


def no_index(path: str) -> Response | None:
    return sec.MISSING if "daily-index" in path else None
