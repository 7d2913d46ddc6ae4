"""Leaks on the way to a source and back: of keys, by errors, and by the cache."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urljoin

from pit_fetch.errors import UpstreamError
from pit_fetch.gaps import Code
from pit_fetch.net.client import REDIRECTS, signature
from pit_fetch.transport import HttpRequest
from pit_fetch.wire import strict_json
from tests.laws.mutants.leak import ANY, fails, in_module
from tests.laws.plant import Make

_REDIRECTS = ("sample: redirects",)
_CHILDREN = ("earningscall: partial failure",)


def _key_among_the_parameters(real: Any) -> Any:
    def get(client: Any, host: Any, path: Any, params: Any = None, *given: Any, **named: Any) -> Any:
        declared = next(known for known in client.hosts if known.name == host)
        return real(
            client, host, path, {**(params or {}), **signature(declared, client.credentials).params}, *given, **named
        )

    return get


class _Following:
    """A transport that follows redirects by itself, as HTTP libraries do."""

    def __init__(self, transport: Any) -> None:
        self._transport = transport

    def send(self, request: Any) -> Any:
        reply = self._transport.send(request)
        location = reply.header("Location")
        if reply.status not in REDIRECTS or not location:
            return reply
        return self._transport.send(request._replace(url=urljoin(request.url, location), params={}))


def _by_the_library(real: Any) -> Any:
    def begin(client: Any, *given: Any, **named: Any) -> None:
        real.__init__(client, *given, **named)
        client.transport = _Following(client.transport)

    return type("Client", (real,), {"__init__": begin})


def _wherever_a_path_leads(real: Any) -> Any:
    def get(client: Any, host: Any, path: Any, *given: Any, **named: Any) -> Any:
        try:
            return real(client, host, path, *given, **named)
        except UpstreamError as error:
            if error.gap.code != Code.NOT_A_PATH:
                raise
            declared = next(known for known in client.hosts if known.name == host)
            return client.transport.send(HttpRequest("GET", declared.url + path))

    return get


def _reply_in_the_error(real: Any) -> Any:
    def get(client: Any, *given: Any, **named: Any) -> Any:
        transport, bodies = client.transport, list[str]()

        def send(request: Any) -> Any:
            reply = transport.send(request)
            bodies.append(reply.body.decode("utf-8", "replace"))
            return reply

        client.transport = type("Keeping", (), {"send": staticmethod(send)})
        try:
            return real(client, *given, **named)
        except UpstreamError as error:
            if error.gap.code != Code.HTTP_STATUS or not bodies:
                raise
            raise UpstreamError(Code.HTTP_STATUS, host=bodies[-1], status=error.gap.params["status"]) from None
        finally:
            client.transport = transport

    return get


def _row_in_the_error(real: Any) -> Any:
    def lenient_json(body: bytes, rows: int) -> Any:
        try:
            return real(body, rows)
        except UpstreamError:
            return fails(body.decode("utf-8", "replace"))

    return lenient_json


def _without_repeated_names(pairs: Any) -> Any:
    return dict(pairs) if len(dict(pairs)) == len(pairs) else fails()


def _readable_whole(**how: Any) -> Make:
    """A reply of which a part cannot be read is unreadable."""

    def make(real: Any) -> Any:
        def lenient_json(body: bytes, rows: int) -> Any:
            try:
                json.loads(body, **how)
            except RecursionError:
                fails()
            except ValueError:
                pass
            return real(body, rows)

        return lenient_json

    return make


def _patiently(real: Any) -> Any:
    def get(client: Any, *given: Any, patience: float = 1.0, **named: Any) -> Any:
        return real(client, *given, **named)

    return get


def _of_some(real: Any) -> Any:
    def children(parents: Any, read: Any, at_once: int = 1, probe: Any = None) -> Any:
        every = list(parents)
        return real(every, read, at_once, probe) if every else iter(())

    return children


_wire = in_module("pit_fetch.wire")
_paging = in_module("pit_fetch.paging")
_client = in_module("pit_fetch.net.client")

MUTANTS = (
    _wire(
        "a label twice spoils a reply",
        "lenient_json",
        _readable_whole(object_pairs_hook=_without_repeated_names),
        ("alphavantage: non-interference",),
    ),
    _wire("a row deeper than a stack costs the others", "lenient_json", _readable_whole(), ANY[:2]),
    _wire("a reply's text in an error", "lenient_json", _row_in_the_error, ("bz-news-api: failures",)),
    _wire(
        "a row with a number that is none costs the others",
        "lenient_json",
        lambda real: lambda body, rows: strict_json(body),
        ANY[:2],
    ),
    _client("a key stands among a request's parameters", "Client.get", _key_among_the_parameters, ANY),
    _client("redirects are followed wherever they lead", "Client", _by_the_library, _REDIRECTS),
    _client("a path from a reply chooses the host", "Client.get", _wherever_a_path_leads, ("sample: links",)),
    _client(
        "the last reply before giving up is repeated",
        "Client.get",
        _reply_in_the_error,
        ("bz-news-api: failures", "sec_full_text: failures"),
    ),
    _client(
        "an object that does not come ends the fetch", "Client.get", _patiently, ("sec_full_text: partial failure",)
    ),
    _paging(
        "a child that fails ends the fetch",
        "children",
        lambda real: lambda parents, read, at_once=1, probe=None: real(parents, read, at_once),
        _CHILDREN,
    ),
    _paging("without children there is no probe", "children", _of_some, _CHILDREN),
    in_module("pit_fetch.net.clocks")(
        "a clock that is behind says when a reply was received",
        "receipt",
        lambda real: lambda reply, host: reply.received_at,
        ("sample: clock behind", "sample: mcp clock behind"),
    ),
    _client(
        "what dates nothing is kept",
        "Client.get_cached",
        lambda real: (
            lambda client, host, path, seconds, decode, keep=None, *more, **named: real(
                client, host, path, seconds, decode, None, *more, **named
            )
        ),
        ANY[3:],
    ),
)
