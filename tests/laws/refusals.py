"""Laws of servers that refuse: what fails alike in worlds that agree on what was public leaves the same bytes.

A request that is made for withheld records alone must not show when it fails. Either it is made whatever the source
holds, or its failure is not reported. A list has no such way out: how many pages are read depends on how many rows are
withheld. So a quota can show that there are some, and this is how often it does in the worlds of the laws:

    python -m tests.laws.quotas --cases 2000
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from random import Random
from typing import NamedTuple
from urllib.parse import urlsplit

from pit_fetch.testing.inprocess import Left
from pit_fetch.testing.server import App, Response
from pit_fetch.transport import HttpRequest
from tests.laws.worlds import SECRETS, Case, run
from tests.worlds import same_bytes

# Whether the last of these requests continues a list, or is about one of its rows: how many such requests there are,
# and what each brings, depends on withheld rows as well.
Continues = Callable[[Sequence[HttpRequest]], bool]

FAILURES: Mapping[str, Response] = {
    **{f"HTTP {status}": Response(b"<html>Sorry</html>", status) for status in (403, 429, 500)},
    "cut off": Response(b"[", cut=1),
    "slow": Response(hang=True),
}
EXHAUSTED = (Response(b"", 429), Response(b'{"message": "Too many requests"}', 429, {"Retry-After": "3600"}))
_NUMBER = re.compile(r"[0-9]+")


def never(asked: Sequence[HttpRequest]) -> bool:
    """Return that no request depends on withheld rows."""
    return False


def one_of_each(kind: Callable[[HttpRequest], object]) -> Continues:
    """Return the rule that the first request of each ``kind`` is made in every world, and any other is not."""
    return lambda asked: kind(asked[-1]) in {kind(request) for request in asked[:-1]}


def endpoint_of(request: HttpRequest) -> str:
    """Return the path, whatever numbers are in it."""
    return _NUMBER.sub("#", request.path)


class Requests(NamedTuple):
    """What the laws have to know of a source's requests.

    continues     which of them withheld rows may cause
    endpoint      which endpoint a request is for
    is_chosen     whether a list chose the object of a request: today's list of symbols, say. In another world it may
                  have chosen another object, which does not fail
    notices       what the source answers when a quota is used up, besides HTTP 429
    """

    continues: Continues = never
    endpoint: Callable[[HttpRequest], str] = endpoint_of
    is_chosen: Callable[[Case, HttpRequest], bool] = lambda case, request: False
    notices: Sequence[Response] = ()


class Target(NamedTuple):
    """What fails: a host, one method there, an endpoint, or one object, with its parameters."""

    kind: str
    name: str


def targets(request: HttpRequest, requests: Requests) -> tuple[Target, ...]:
    """Return what can fail of which ``request`` is a part."""
    host = urlsplit(request.url).netloc
    which = repr((host, request.path, sorted(request.params.items()), request.body))
    return (
        Target("host", host),
        Target("method", f"{request.method} {host}"),
        Target("endpoint", host + requests.endpoint(request)),
        Target("object", which),
    )


class Recorded:
    """A server that records what it is asked."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.asked: list[HttpRequest] = []

    def __call__(self, request: HttpRequest) -> Response:
        self.asked.append(request)
        return self.app(request)


class Limited(Recorded):
    """A server that answers ``left`` more requests, and every further one with ``notice``."""

    def __init__(self, app: App, left: int, notice: Response) -> None:
        super().__init__(app)
        self.left, self.notice = left, notice

    def __call__(self, request: HttpRequest) -> Response:
        answer = super().__call__(request)
        self.left -= 1
        return answer if self.left >= 0 else self.notice

    def reads_on(self, continues: Continues) -> bool:
        """Return whether a request was made that withheld rows may cause."""
        return any(continues(self.asked[:number]) for number in range(1, len(self.asked) + 1))


def partial_failure(case: Case, rng: Random, requests: Requests) -> int:
    """A host, a method, an endpoint or an object that fails alike in all worlds leaves the same bytes.

    It may have worked for the call before: then the cache holds what that has left. Not so for one page of a list, nor
    for one object that is chosen.
    """
    every = set[Target]()
    for app in case.worlds:
        recorded = Recorded(app)
        run(case, recorded)
        for number, request in enumerate(recorded.asked, 1):
            is_shared = not (requests.is_chosen(case, request) or requests.continues(recorded.asked[:number]))
            every |= {target for target in targets(request, requests) if target.kind != "object" or is_shared}
    if not every:
        return 0
    kind = rng.choice(sorted({target.kind for target in every}))
    target = rng.choice(sorted(target for target in every if target.kind == kind))
    answer, before = FAILURES[rng.choice(sorted(FAILURES))], rng.random() < 0.5

    def ask(app: App) -> Left:
        if before:
            run(case, app, now=case.moment + timedelta(days=899))

        def failing(request: HttpRequest) -> Response:
            return answer if target in targets(request, requests) else app(request)

        return run(case, failing, keep_files=before)

    same_bytes(ask, case.worlds, SECRETS)
    return len(case.worlds) - 1


def quota(case: Case, rng: Random, requests: Requests) -> int:
    """With so many requests left, and none after that, this call and the next one leave the same bytes in all worlds.

    A world in which it ends, and which has read on for the sake of withheld rows, is left out: see SECURITY.md.
    """
    left, notice = rng.randrange(2 * most_requests(case) + 1), rng.choice([*EXHAUSTED, *requests.notices])
    answers: list[tuple[Left, Left]] = []
    for app in case.worlds:
        first = Limited(app, left, notice)
        answer = run(case, first)
        second = Limited(app, first.left, notice)
        both = answer, run(case, second)
        if second.left >= 0 or not (first.reads_on(requests.continues) or second.reads_on(requests.continues)):
            answers.append(both)
    for call in zip(*answers, strict=True):
        same_bytes(lambda left: left, call, SECRETS)
    return max(0, len(answers) - 1)


def most_requests(case: Case) -> int:
    """Return how many requests the case needs, in the world that needs most."""
    recorded = [Recorded(app) for app in case.worlds]
    for app in recorded:
        run(case, app)
    return max(len(app.asked) for app in recorded)
