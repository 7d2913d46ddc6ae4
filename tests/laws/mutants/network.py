"""Leaks on the way to a source and back: of keys, by errors, and by the cache."""

from __future__ import annotations

from typing import Any
from urllib.parse import urljoin

from pit_fetch.errors import UpstreamError
from pit_fetch.gaps import Code
from pit_fetch.transport import Signature
from pit_fetch.wire import _UNREADABLE, _Twice, strict_json
from tests.laws.mutants.leak import ANY, fails, in_module

_REDIRECTS = ("sample: redirects",)
_CHILDREN = ("earningscall: partial failure",)


def _key_among_the_parameters(real: Any) -> Any:
    def exchange(client: Any, host: Any, base: Any, request: Any, redirects: Any) -> Any:
        params = {**request.params, **request.signature.params}
        return real(client, host, base, request._replace(params=params, signature=Signature()), redirects)

    return exchange


def _reply_in_the_error(real: Any) -> Any:
    def given_up(host: Any, reply: Any) -> UpstreamError:
        return UpstreamError(Code.HTTP_STATUS, host=reply.body.decode("utf-8", "replace"), status=reply.status)

    return given_up


def _row_in_the_error(real: Any) -> Any:
    def lenient_json(body: bytes, rows: int) -> Any:
        try:
            return real(body, rows)
        except UpstreamError:
            return fails(body.decode("utf-8", "replace"))

    return lenient_json


def _twice_spoils_all(real: Any) -> Any:
    """A label that stands twice makes all of its reply unreadable."""
    return lambda pairs: _UNREADABLE if isinstance(real(pairs), _Twice) else real(pairs)


def _less_deep_spoils_all(real: Any) -> Any:
    """A value that lies less deep than the rows, and cannot be read, makes all of its reply unreadable."""
    return lambda value, rows: fails() if rows and value is _UNREADABLE else real(value, rows)


def _of_some(real: Any) -> Any:
    def children(parents: Any, read: Any, at_once: int = 1, probe: Any = None) -> Any:
        every = list(parents)
        return real(every, read, at_once, probe) if every else iter(())

    return children


_wire = in_module("pit_fetch.wire")
_paging = in_module("pit_fetch.paging")
_client = in_module("pit_fetch.net.client")

MUTANTS = (
    _wire("a label twice spoils a reply", "_object", _twice_spoils_all, ("alphavantage: non-interference",)),
    _client("a key stands among a request's parameters", "Client._exchange", _key_among_the_parameters, ANY),
    _client(
        "a redirect leads to another host",
        "_target",
        lambda real: lambda url, location, base: urljoin(url, location),
        _REDIRECTS,
    ),
    _client(
        "a path from a reply chooses the host",
        "_address",
        lambda real: lambda host, base, path: base + path,
        ("sample: links",),
    ),
    _client(
        "a key that a redirect repeats stays in the address",
        "_redirected",
        lambda real: lambda request, target: request._replace(url=target, params={}, signature=Signature()),
        _REDIRECTS,
    ),
    _client(
        "the last reply before giving up is repeated",
        "_given_up",
        _reply_in_the_error,
        ("bz-news-api: failures", "sec_full_text: failures"),
    ),
    _wire("a reply's text in an error", "lenient_json", _row_in_the_error, ("bz-news-api: failures",)),
    _wire(
        "a row deeper than a stack costs the others", "_without_depths", lambda real: lambda text, levels: text, ANY[:2]
    ),
    _wire(
        "a row less deep than others costs them", "_readable", _less_deep_spoils_all, ("perplexity: non-interference",)
    ),
    _wire(
        "a row with a number that is none costs the others",
        "lenient_json",
        lambda real: lambda body, rows: strict_json(body),
        ANY[:2],
    ),
    _client(
        "an object that does not come ends the fetch",
        "Client._exchange",
        lambda real: (
            lambda client, host, base, request, policy: real(client, host, base, request, policy._replace(patience=1.0))
        ),
        ("sec_full_text: partial failure",),
    ),
    _paging(
        "a child that fails ends the fetch",
        "children",
        lambda real: lambda parents, read, at_once=1, probe=None: real(parents, read, at_once),
        _CHILDREN,
    ),
    _paging("without children there is no probe", "children", _of_some, _CHILDREN),
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
