"""Which view answers a request, and the request as that view sees it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from pit_fetch.errors import UpstreamError, UsageError
from pit_fetch.gaps import Code
from pit_fetch.pipeline.claims import CLAIMED
from pit_fetch.provider import (
    Asked,
    Bearer,
    Context,
    HeaderKey,
    Host,
    Operation,
    Option,
    Provider,
    Query,
    QueryKey,
    View,
)
from pit_fetch.request.evidence import VARIABLE, operator_grade
from pit_fetch.runtime import Runtime
from pit_fetch.support.misuse import Declared
from pit_fetch.wire import strict_json

if TYPE_CHECKING:
    from pit_fetch.views import Exchange, ViewOptions

# A server may read these as another folder.
_DOTS = re.compile(r"(?:^|/|%2f|%5c|\\)(?:\.|%2e){1,2}(?:/|%2f|%5c|\\|$)", re.IGNORECASE)
_PORTS = {"http": 80, "https": 443}
# A view with it answers for all hosts, where the operator chose its source for the rest of the web.
ANY_HOST = "(?P<site>.+)"
# Headers that may hold a key or a session: they go to the source alone, and no page is asked of an archive with them.
_SECRET_HEADERS = ("authorization", "cookie", "proxy-authorization", "x-api-key", "api-key")
_SECRET_PARAMETER = re.compile(
    r"(?:^|[?&])[^=&]*(?:key|token|secret|passw|signature|auth|credential)[^=&]*=", re.IGNORECASE
)


class Endpoint(NamedTuple):
    """A view of a source. ``at`` is a regular expression of the hosts that a program asks for it."""

    provider: Provider
    view: View
    at: str

    @property
    def operation(self) -> Operation:
        named = (each for each in self.provider.operations if each.name == self.view.operation)
        return next(named, self.provider.operations[0])

    @property
    def is_web(self) -> bool:
        return self.view.at == ANY_HOST

    @property
    def row(self) -> dict[str, str]:
        params = "&".join(f"{name}={values[0]}" for name, values in self.view.params.items() if values[0])
        operation = self.operation
        return {
            "source": self.provider.name,
            "host": re.sub(r"\\|\(\?P<(\w+)>[^)]*\)", lambda found: f"{{{found[1]}}}" if found[1] else "", self.at),
            "path": self.view.path + (f"?{params}" if params else ""),
            "operation": operation.name,
            "rule": self.view.rule or operation.dating.rule,
        }


def endpoints(providers: Sequence[Provider] | None) -> Sequence[Endpoint]:
    """Return the views of ``providers``; None for all sources."""
    return _all_endpoints() if providers is None else tuple(_endpoints(providers))


@cache  # a program makes thousands of requests, and the sources of a process are always the same
def _all_endpoints() -> Sequence[Endpoint]:
    from pit_fetch.engine.registry import listings

    return tuple(_endpoints(listing.provider for listing in listings() if listing.provider is not None))


def _endpoints(providers: Iterable[Provider]) -> Iterator[Endpoint]:
    for provider in providers:
        hosts = {host.name: _named_hosts(host) for host in provider.hosts}
        with suppress(Exception):  # a plugin whose views are broken fails alone: its hosts are refused
            yield from [Endpoint(provider, view, view.at or hosts[view.host]) for view in provider.views()]


def _named_hosts(host: Host) -> str:
    """Return a regular expression of the hosts that ``host`` declares: an option's value may be a part of the name."""
    return re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[a-z0-9-]+)", re.escape(urlsplit(host.url).netloc))


def find(table: Iterable[Endpoint], exchange: Exchange, web: str) -> tuple[Endpoint | None, str]:
    """Return the view that answers ``exchange``, or None with the reason and the fix."""
    path, _, query = exchange.target.partition("?")
    host = exchange.host.lower().rstrip(".")
    method = "GET" if exchange.method == "HEAD" else exchange.method
    params = _params(query)
    of_host = [each for each in table if not each.is_web and re.fullmatch(each.at, host)]
    is_usual = exchange.port == _PORTS.get(exchange.scheme) and not _DOTS.search(path)
    if is_usual:
        for each in of_host:
            chosen = all(params.get(name) in values for name, values in each.view.params.items())
            if each.view.method == method and chosen and re.fullmatch(each.view.path, path):
                return each, ""
    is_secret = any(name.lower() in _SECRET_HEADERS for name, _ in exchange.headers) or _SECRET_PARAMETER.search(
        f"?{query}"
    )
    page = next((each for each in table if each.is_web and each.provider.name == web), None)
    if page is not None and is_usual and method == "GET" and not is_secret:
        return page, ""
    where = f"{method} {path} on {exchange.host}" if of_host else exchange.host
    names = ", ".join(sorted({each.provider.name for each in of_host}))
    fix = f"pit_fetch run --views lists what {names} answers" if of_host else "pit_fetch run --allow lets a host pass"
    page_fix = "" if page is not None else ", and --web wayback shows pages as they were"
    return None, f"Nothing shows what {where} said then: {fix}{page_fix}."


def ask_source(endpoint: Endpoint, exchange: Exchange, pit: datetime, runtime: Runtime, options: ViewOptions) -> Asked:
    """Return the request as the view sees it. Raise UsageError, ConfigError and UpstreamError."""
    from pit_fetch.net.client import Client
    from pit_fetch.net.clocks import ClockedTransport

    provider, view, operation = endpoint.provider, endpoint.view, endpoint.operation
    path, _, query = exchange.target.partition("?")
    where, what = re.fullmatch(endpoint.at, exchange.host.lower().rstrip(".")), re.fullmatch(view.path, path)
    named = {**(where.groupdict() if where else {}), **(what.groupdict() if what else {})}
    named = {name: unquote(value) for name, value in named.items() if value is not None}
    headers = {name.lower(): value for name, value in exchange.headers}
    params, keys = _params(query), _keys(provider, _params(query), headers)
    hosts = tuple(_signed(host, named, keys) for host in provider.hosts)
    own = {name: value for name, value in params.items() if name not in _key_parameters(provider)}
    values = {option.name: option.default for option in provider.all_options}
    values |= {option.name: _value(option, {**own, **named}) or option.default for option in provider.all_options}
    granted = {VARIABLE: options.evidence} if options.evidence else runtime.environ
    names = (provider.name, *provider.aliases)
    now = runtime.clock.now()
    asked_of = Query(
        now=pit, started=now, pit=pit, since=None, until=None, horizon=pit, limit=1_000, options=values,
        operation=operation,
        accepts_claims=bool(operation.dating.claims) and operator_grade(granted, names) == CLAIMED,
    )  # fmt: skip
    client = Client(
        hosts=hosts,
        credentials=Declared("credential", "Provider.credentials", keys),
        environ=runtime.environ,
        clock=runtime.clock,
        transport=ClockedTransport(runtime.transport),
        timeout=options.timeout,
        deadline=runtime.clock.monotonic() + options.timeout,
        on_request=lambda address: None,
    )
    return Asked(view.host, asked_of, Context(client, keys), path, own, named, _document(exchange.body), memo={})


def _params(query: str) -> dict[str, str]:
    return dict(parse_qsl(query, keep_blank_values=True))


def _key_parameters(provider: Provider) -> frozenset[str]:
    return frozenset(host.auth.parameter for host in provider.hosts if isinstance(host.auth, QueryKey))


def _keys(provider: Provider, params: Mapping[str, str], headers: Mapping[str, str]) -> dict[str, str]:
    """Return the program's own key of each credential that a host declares, where it gave one."""
    keys = {each.name: "" for each in provider.credentials}
    for host in provider.hosts:
        match host.auth:
            case QueryKey(credential, parameter):
                keys[credential] = params.get(parameter, "")
            case HeaderKey(credential, header):
                keys[credential] = headers.get(header.lower(), "")
            case Bearer(credential):
                keys[credential] = headers.get("authorization", "").removeprefix("Bearer ")
    return keys


def _signed(host: Host, named: Mapping[str, str], keys: Mapping[str, str]) -> Host:
    """Return the host as the program names and authenticates it, with its own words; without a key if it gave none."""
    auth = host.auth if host.auth is not None and keys[host.auth.credential] else None
    auth = HeaderKey(auth.credential, auth.header) if isinstance(auth, HeaderKey) else auth
    url = host.url.format_map(named) if "{" in host.url and named else host.url
    return host._replace(url=url, auth=auth)


def _value(option: Option, given: Mapping[str, str]) -> object:
    text = given.get(option.name)
    if text is None or option.kind in ("instant", "number"):
        return None
    if option.kind == "list":
        return tuple(filter(None, text.split(",")))
    return text.upper() if option.uppercase else text


def _document(body: bytes) -> object:
    try:
        return strict_json(body) if body else None
    except UpstreamError:
        raise UsageError(Code.USAGE, text="the body of the request is not JSON.") from None
