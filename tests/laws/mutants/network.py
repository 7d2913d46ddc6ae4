"""Leaks of the way to a source and back: where keys go, what an error repeats, what is kept."""

from __future__ import annotations

from typing import Any
from urllib.parse import urljoin

from pit_fetch.errors import UpstreamError
from pit_fetch.transport import Signature
from pit_fetch.wire import _UNREADABLE, _Twice, strict_json
from tests.laws.mutants.leak import ANY, fails, in_module

_REDIRECTS = ("sample: redirects",)


def _key_among_the_parameters(real: Any) -> Any:
    def exchange(client: Any, host: Any, base: Any, request: Any) -> Any:
        params = {**request.params, **request.signature.params}
        return real(client, host, base, request._replace(params=params, signature=Signature()))

    return exchange


def _reply_in_the_error(real: Any) -> Any:
    def given_up(host: Any, reply: Any) -> UpstreamError:
        return UpstreamError("http_status", host=reply.body.decode("utf-8", "replace"), status=reply.status)

    return given_up


def _row_in_the_error(real: Any) -> Any:
    def loads(text: str, rows: int, least: int) -> Any:
        try:
            return real(text, rows, least)
        except UpstreamError:
            return fails(text)

    return loads


def _twice_spoils_all(real: Any) -> Any:
    """A label that stands twice makes all of its reply unreadable."""
    return lambda pairs: _UNREADABLE if isinstance(real(pairs), _Twice) else real(pairs)


def _words_beside_spoil_all(real: Any) -> Any:
    """A word beside a row makes the whole reply one that cannot be read."""

    def end(slot: Any) -> None:
        if slot._words and slot._has_row:
            raise UpstreamError("malformed", problem="it is not valid JSON")
        real(slot)

    return end


_wire = in_module("pit_fetch.wire")
_client = in_module("pit_fetch.net.client")

MUTANTS = (
    _wire("a label twice spoils a reply", "_object", _twice_spoils_all, ("alphavantage: non-interference",)),
    _wire(
        "a word beside a row spoils a reply", "_Slot._end", _words_beside_spoil_all, ("bz-news-api: non-interference",)
    ),
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
    _wire("a reply's text in an error", "_loads_row_by_row", _row_in_the_error, ("bz-news-api: failures",)),
    _wire(
        "a row that is not JSON costs the others",
        "_loads_row_by_row",
        lambda real: lambda text, rows, least: fails(),
        ANY[:2],
    ),
    _wire(
        "a row less deep than others costs them",
        "_loads_row_by_row",
        lambda real: lambda text, rows, least: real(text, rows, rows),
        ("perplexity: non-interference",),
    ),
    _wire(
        "a row with a number that is none costs the others",
        "lenient_json",
        lambda real: lambda body, rows, least=None: strict_json(body),
        ANY[:2],
    ),
    _client(
        "what dates nothing is kept",
        "Client.get_cached",
        lambda real: lambda client, host, path, seconds, decode, keep=None: real(client, host, path, seconds, decode),
        ANY[3:],
    ),
)
