"""What each intercepted request gets: a view, an allowed host's own reply, or a refusal. And the rows of the report.

A request that reaches a view is the plain one: nothing in it depends on what a client keeps from an earlier reply, and
the reply is compressed, cut and shortened only here.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import threading
from collections.abc import Callable, Iterator, Set
from datetime import datetime, timedelta
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from pit_fetch import views
from pit_fetch.errors import UsageError
from pit_fetch.gaps import Code
from pit_fetch.runs import AGENT_VARIABLE, DEFAULT_RUN, EXCHANGE, RECORD_VARIABLE, RUN_VARIABLE, STEP_VARIABLE
from pit_fetch.runs.record import Entry, Record
from pit_fetch.runtime import Runtime
from pit_fetch.support.version import __version__
from pit_fetch.times import in_new_york
from pit_fetch.views import Answer, Exchange, ViewOptions, refused
from pit_fetch.world.model_tools import web_tool
from pit_fetch.world.server import Reply

if TYPE_CHECKING:
    from requests import Session

# With these a server answers by what it holds now ("not modified since"), or by a part of it.
_CONDITIONS = frozenset(
    {"if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range", "range", "accept-encoding"}
)
# Of one connection, RFC 9110 7.6.1.
_HOP_BY_HOP = frozenset(
    {"connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer",
     "transfer-encoding", "upgrade", "http2-settings"}
)  # fmt: skip
_SECRET = re.compile(r"([?&][^=&]*(?:key|token|secret|passw|sign|auth|cred)[^=&]*=)[^&]*", re.IGNORECASE)
_RANGE = re.compile(r"bytes=(\d*)-(\d*)")
_CONNECT_SECONDS, _READ_SECONDS = 30.0, 900.0
_PART, _WEB_PORTS, _MAX_PORT = 65_536, (80, 443), 65_535
_NO_SOCKETS = "WebSockets have no view: what they bring is of now. Ask for the same over HTTP."
_NOT_ALLOWED = (
    "{what} looks at today's web for the model: leave it out of the request, and give the model tools that ask through "
    "this run."
)
_UNREAD = "The body is compressed, so that its tools cannot be seen: send it plain."
_UNREACHED = "The allowed host {host} cannot be reached."


def parse_allowed(text: str) -> set[tuple[str, int]]:
    """Return the hosts of a comma-separated list, with their ports. Raise UsageError for what is none.

    >>> sorted(parse_allowed("api.openai.com, localhost:11434"))
    [('api.openai.com', 80), ('api.openai.com', 443), ('localhost', 11434)]
    """
    allowed: set[tuple[str, int]] = set()
    for part in filter(None, map(str.strip, text.split(","))):
        match = re.fullmatch(r"([\w.-]+)(?::([1-9]\d{0,4}))?", part)
        if match is None or int(match[2] or 0) > _MAX_PORT:
            raise UsageError(Code.USAGE, text="--allow takes hosts, as in api.openai.com,localhost:11434")
        allowed.update((match[1].lower(), port) for port in ((int(match[2]),) if match[2] else _WEB_PORTS))
    return allowed


class World(NamedTuple):
    """As of when, and how requests are answered. ``now``: the command's clock. ``allowed``: hosts that pass."""

    pit: datetime
    now: Callable[[], datetime]
    runtime: Runtime
    options: ViewOptions
    allowed: Set[tuple[str, int]] = frozenset()


class Exchanges:
    """Answers requests on any thread, and keeps a row of each for the operator."""

    def __init__(self, world: World, session: Session) -> None:
        self._world, self._session = world, session
        self._lock = threading.Lock()
        self.rows: list[dict[str, Any]] = []

    def note(self, host: str) -> None:
        """Keep a row of a connection that ended before its request: its client does not trust the run's authority."""
        self._keep(Exchange("CONNECT", "https", host, 443, ""), 0, refused("", ""))

    def respond(self, exchange: Exchange) -> Reply:
        """Return the reply to a request. It raises nothing."""
        headers = {name.lower(): value for name, value in exchange.headers}
        if "websocket" in headers.get("upgrade", "").lower() or exchange.method == "CONNECT":
            answer = refused("not_viewed", _NO_SOCKETS)
        elif (exchange.host.lower(), exchange.port) in self._world.allowed:
            problem = _problem(exchange, headers)
            if problem is None:
                return self._pass(exchange)
            answer = refused("not_allowed", problem)
        else:
            answer = self._view(exchange)
        now = self._world.now()
        reply = _written(exchange.method, headers, answer, now)
        self._keep(exchange, reply.status, answer)
        if path := self._world.runtime.environ.get(RECORD_VARIABLE):
            with Record(path) as record:
                record.append(_entry(exchange, answer, self._world))
        return reply

    def _view(self, exchange: Exchange) -> Answer:
        method = "GET" if exchange.method == "HEAD" else exchange.method  # whose length is that of what GET gets
        plain = tuple((n, v) for n, v in exchange.headers if n.lower() not in _CONDITIONS | _HOP_BY_HOP)
        asked = exchange._replace(method=method, headers=plain)
        try:
            return views.answer(asked, self._world.pit, self._world.runtime, self._world.options)
        except Exception as error:  # noqa: BLE001 - whatever fails shows nothing
            return refused("not_viewed", f"This request cannot be answered ({type(error).__name__}).")

    def _pass(self, exchange: Exchange) -> Reply:
        """Ask an allowed host, and pass its reply on as it comes."""
        import requests

        host = f"[{exchange.host}]" if ":" in exchange.host else exchange.host
        url = f"{exchange.scheme}://{host}:{exchange.port}{exchange.target}"
        sent: dict[str, str] = {}
        for name, value in ((name.lower(), value) for name, value in exchange.headers):
            if name not in (*_HOP_BY_HOP, "content-length"):
                sent[name] = f"{sent[name]}; {value}" if name == "cookie" and name in sent else value
        seconds = (_CONNECT_SECONDS, _READ_SECONDS)
        try:
            prepared = requests.Request(exchange.method, url, data=exchange.body or None).prepare()
            prepared.url = url  # as the program wrote it, not quoted anew
            prepared.headers.update(sent)
            settings = self._session.merge_environment_settings(url, {}, True, None, None)
            reply = self._session.send(prepared, allow_redirects=False, timeout=seconds, **settings)
        except requests.RequestException:
            answer = refused("not_viewed", _UNREACHED.format(host=exchange.host))
            self._keep(exchange, 502, answer)
            return _written(exchange.method, {}, answer._replace(status=502), self._world.now())
        headers = tuple((n, v) for n, v in reply.raw.headers.items() if n.lower() not in _HOP_BY_HOP)
        self._keep(exchange, reply.status_code, Answer(reply.status_code, (), b"", "allowed", None, 0, 0))
        return Reply(reply.status_code, headers, _parts(reply.raw))

    def _keep(self, exchange: Exchange, status: int, answer: Answer) -> None:
        row = {
            "method": exchange.method,
            "host": exchange.host,
            "path": exchange.target.partition("?")[0],  # a query may hold a key
            "status": status,
            "verdict": answer.verdict,
            "source": answer.source,
            "kept": answer.kept,
            "left_out": answer.left_out,
        }
        with self._lock:
            self.rows.append(row)


def _entry(exchange: Exchange, answer: Answer, world: World) -> Entry:
    """Return the entry of the record, without the values of keys."""
    environ, target = world.runtime.environ, _SECRET.sub(r"\1***", exchange.target)
    return Entry(
        run=environ.get(RUN_VARIABLE) or DEFAULT_RUN,
        step=environ.get(STEP_VARIABLE) or None,
        agent=environ.get(AGENT_VARIABLE) or None,
        pit=in_new_york(world.pit),
        at=in_new_york(world.runtime.clock.now()),
        source=answer.source or exchange.host,
        request=f"{exchange.method} {exchange.scheme}://{exchange.host}{target}",
        form={"shape": EXCHANGE},
        kept=[],
        sha256=hashlib.sha256(answer.body).hexdigest(),
        shown=answer.body,
        version=__version__,
    )


def _parts(raw: Any) -> Iterator[bytes]:
    """Yield a body as it comes, compressed or not as it is."""
    yield from raw.stream(_PART, decode_content=False)


def _problem(exchange: Exchange, headers: dict[str, str]) -> str | None:
    if exchange.body and headers.get("content-encoding", "identity") != "identity":
        return _UNREAD
    kind = headers.get("content-type", "application/json")
    tool = web_tool(exchange.host, exchange.target.partition("?")[0], exchange.body, kind)
    return None if tool is None else _NOT_ALLOWED.format(what=tool)


def _written(method: str, asked: dict[str, str], answer: Answer, now: datetime) -> Reply:
    """Return an answer as the client asked for it: compressed, in part, or its head alone."""
    status, body = answer.status, answer.body
    names = ("content-length", "content-encoding", "date", "x-pit-fetch", *_HOP_BY_HOP)
    headers = [(name, value) for name, value in answer.headers if name.lower() not in names]
    headers.append(("date", format_datetime(now.replace(microsecond=0), usegmt=True)))
    headers.append(("x-pit-fetch", answer.verdict))
    part = _RANGE.fullmatch(asked.get("range", "")) if status == 200 and "if-range" not in asked else None
    if part is not None:
        chosen = _part_of(len(body), *part.groups())
        total = len(body)
        if chosen is None:
            status, body = 416, b""
            headers.append(("content-range", f"bytes */{total}"))
        elif chosen:
            status, body = 206, body[chosen.start : chosen.stop]
            headers.append(("content-range", f"bytes {chosen.start}-{chosen.stop - 1}/{total}"))
    elif body and "gzip" in asked.get("accept-encoding", ""):
        body = gzip.compress(body, 1, mtime=0)
        headers += [("content-encoding", "gzip"), ("vary", "accept-encoding")]
    if status >= 200 and status not in (204, 304):
        headers.append(("content-length", str(len(body))))
    return Reply(status, tuple(headers), body if status not in (204, 304) else b"")


def _part_of(length: int, first: str, last: str) -> range | None:
    """Return the part of a body that a range names: empty for none that is meant, None for one beyond the end.

    >>> _part_of(10, "2", "4"), _part_of(10, "", "3"), _part_of(10, "12", "")
    (range(2, 5), range(7, 10), None)
    """
    if not first:
        return range(max(0, length - int(last)), length) if last and int(last) else range(0)
    if int(first) >= length:
        return None
    return range(int(first), min(int(last) + 1 if last else length, length))


def moving_clock(pit: datetime, monotonic: Callable[[], float]) -> Callable[[], datetime]:
    """Return a clock that stands at ``pit`` now, and moves."""
    start = monotonic()
    return lambda: pit + timedelta(seconds=monotonic() - start)
