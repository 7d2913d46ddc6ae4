"""The law of views: in worlds that agree on what was public, a program gets the same bytes, whatever it asks.

What a program may ask is what a fetch asks of the same source, with a PIT and without one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, MutableSequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any
from urllib.parse import urlencode, urlsplit

from pit_fetch.cli.arguments import parse
from pit_fetch.engine.fetch import collect
from pit_fetch.engine.progress import Progress
from pit_fetch.errors import PitFetchError
from pit_fetch.testing.comparison import CANARY, holds
from pit_fetch.testing.inprocess import unhurried
from pit_fetch.testing.server import App, Response
from pit_fetch.transport import HttpReply, HttpRequest, RecordingTransport
from pit_fetch.views import Answer, Exchange, ViewOptions, answer
from pit_fetch.views.table import endpoints, find
from tests.laws.worlds import SECRETS, Case, operation_of, provider_of, surroundings

_MOST = 12


class _Ordered(Random):
    """Chance, but rows that are mixed stand in one order: a source keeps its own among those of one instant."""

    def shuffle(self, x: MutableSequence[Any]) -> None:
        x[:] = sorted(x, key=repr)


def law(make: Callable[[Random], Case], evidence: str = "proved") -> Callable[[Random], int]:
    """Return the law on the cases of ``make``, which are of one source, where the operator grants ``evidence``."""

    def holds_in(rng: Random) -> int:
        case = make(_Ordered(rng.random()))
        asked = [each for each in dict.fromkeys(asks(case, case.worlds[-1])) if is_judged(case, each)]
        for exchange in rng.sample(asked, min(len(asked), _MOST)):
            same_answers(case, exchange, evidence)
        return len(case.worlds)

    return holds_in


def is_judged(case: Case, exchange: Exchange) -> bool:
    """Return whether the worlds agree on the answer: they do on what their own operation shows."""
    endpoint, _ = find(endpoints((provider_of(case),)), exchange, "wayback")
    return endpoint is None or endpoint.is_web or endpoint.operation.name == operation_of(case).name


def same_answers(case: Case, exchange: Exchange, evidence: str = "proved") -> Answer:
    """Ask in each world. Return the answer of the first; raise AssertionError if another one differs."""
    # The first world was put in order by another hand: that of chance, before rows were mixed.
    worlds = [traced(app, place) for place, app in enumerate(case.worlds)][1:]
    first, *others = (view(case, app, exchange, evidence) for app in worlds)
    for place, other in enumerate(others, 2):
        assert _visible(other) == _visible(first), (
            f"{exchange.target}: world {place}: {_visible(other)}; first: {_visible(first)}"
        )
    shown = repr(first[:3])
    assert holds(repr(exchange), CANARY) or not holds(shown, CANARY), f"a canary: {shown}"
    assert not any(secret in shown for secret in SECRETS), "a key"
    return first


def _visible(given: Answer) -> tuple[object, ...]:
    """Return all that a program can see. Worlds write the same row with other blanks, which tell nothing."""
    try:
        body: object = json.loads(given.body, object_pairs_hook=list, parse_float=str, parse_int=str)
    except ValueError:
        body = given.body
    return given.status, given.headers, repr(body)


def traced(app: App, world: int) -> App:
    """Return the source with what else may tell of later rows: headers, a key of the reply, the names of today."""

    def answer(request: HttpRequest) -> Response:
        response = app(request)
        trace = f"{CANARY} {world}"
        headers = {"ETag": f'"{world}"', "Age": str(world), "X-Total-Count": str(world), "Expires": str(world)}
        body = re.sub(rb"(?i)\bof today\b", trace.encode(), response.body)
        body = re.sub(rb'\A\{(?="(?!error|chart|Error|Note|Inf))', f'{{"trace": "{trace}", '.encode(), body)
        return replace(response, body=body, headers={**headers, **response.headers})

    return answer


def view(case: Case, app: App, exchange: Exchange, evidence: str = "proved") -> Answer:
    """Return the answer of the source's views in one world."""
    options = ViewOptions("wayback", evidence, providers=(unhurried(provider_of(case)),))
    with surroundings(case, app) as runtime:
        return answer(exchange, case.moment, runtime, options)


def asks(case: Case, app: App) -> Iterator[Exchange]:
    """Yield the requests of a fetch in one world, with a PIT and without one."""
    for pit in (("--pit", case.pit), ()):
        exchanges: list[tuple[HttpRequest, HttpReply]] = []
        with surroundings(case, app) as runtime:
            recording = RecordingTransport(runtime.transport, partial(_note, exchanges))
            runtime = runtime._replace(transport=recording)
            with suppress(PitFetchError):
                asked = parse(("--source", case.source, *pit, *case.words), provider_of(case), runtime.environ)
                collect(asked, runtime, Progress())
        yield from (exchange_of(*exchange) for exchange in exchanges)
    if case.source == "wayback":  # whose view is that of the page itself
        host, _, rest = asked.options["url"].partition("/")
        yield Exchange("GET", "https", host, 443, f"/{rest}", (("User-Agent", "Program"),))


def _note(exchanges: list[tuple[HttpRequest, HttpReply]], *exchange: Any) -> None:
    exchanges.append(exchange)


def exchange_of(request: HttpRequest, reply: HttpReply) -> Exchange:
    """Return a request as a program sends it, with its key; one for a table says so."""
    parts = urlsplit(request.url)
    is_table = parts.path == "/query" and reply.body[:1] not in (b"", b"{", b"[")
    query = urlencode([*request.query.items(), *([("datatype", "csv")] if is_table else ())], doseq=True)
    target = parts.path + (f"?{query}" if query else "")
    headers = tuple(request.sent_headers.items())
    return Exchange(request.method, parts.scheme, parts.hostname or "", 443, target, headers, request.body or b"")
