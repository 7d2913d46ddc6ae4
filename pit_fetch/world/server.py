"""HTTP/1.1 and HTTP/2 with the command: connections in, whole requests out, and the replies back.

The command may speak to a proxy (CONNECT, or a whole address in the request), or to what it takes for the host itself:
the first bytes of a connection tell which, and whether it is TLS. The host of a request is the one that it names.
"""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Executor
from typing import NamedTuple
from urllib.parse import urlsplit

import h11
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import (
    DataReceived,
    Event,
    RemoteSettingsChanged,
    RequestReceived,
    StreamEnded,
    StreamReset,
    WindowUpdated,
)

from pit_fetch.views import Exchange
from pit_fetch.world.certificates import Authority

Headers = tuple[tuple[str, str], ...]
MAX_REQUEST_BYTES = 64_000_000
_PART, _MAX_HEAD = 65_536, 65_536
_HEAD_SECONDS = 0.005
_PORTS = {"http": 80, "https": 443}


class Reply(NamedTuple):
    """What is written to the command. A ``body`` of parts is written as they come, without a length."""

    status: int
    headers: Headers
    body: bytes | Iterator[bytes]


Respond = Callable[[Exchange], Reply]
# What is told of a connection that is no request: the host that it named, if any.
Note = Callable[[str], None]


class Server(NamedTuple):
    """Answers connections. ``respond`` blocks, and runs on a thread of ``pool``."""

    authority: Authority
    respond: Respond
    note: Note
    pool: Executor

    async def accept(self, listener: socket.socket) -> None:
        """Answer every connection of a listening socket, until this is cancelled."""
        loop = asyncio.get_running_loop()
        listener.setblocking(False)
        async with asyncio.TaskGroup() as connections:
            while True:
                connection, _ = await loop.sock_accept(listener)
                connections.create_task(self._serve(connection))

    async def _serve(self, connection: socket.socket) -> None:
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            reader, writer = await self._open(connection)
        except (OSError, EOFError, ValueError):  # it went away, or does not trust the run's authority
            connection.close()
            return
        secured = writer.get_extra_info("ssl_object")
        scheme = "https" if secured else "http"
        try:
            if secured and secured.selected_alpn_protocol() == "h2":
                await _Second(self, reader, writer, scheme).run()
            else:
                await self._serve_first(reader, writer, scheme)
        except Exception:  # noqa: BLE001 - whatever a client does, and whatever it meets, is of its connection alone
            writer.transport.abort()
        finally:
            writer.close()

    async def _open(self, connection: socket.socket) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Return the streams of a connection, behind CONNECT and TLS. Raise OSError, EOFError or ValueError."""
        loop, named = asyncio.get_running_loop(), ""
        start = await _peek(connection, 1)
        if start == b"C" and (head := await _peek(connection, _MAX_HEAD, b"\r\n\r\n")).startswith(b"CONNECT "):
            connection.recv(head.index(b"\r\n\r\n") + 4)
            named = head.split()[1].decode("latin-1").rpartition(":")[0].strip("[]")
            await loop.sock_sendall(connection, b"HTTP/1.1 200 Connection established\r\n\r\n")
            start = await _peek(connection, 1)
        context = self.authority.context(named or "localhost") if start == b"\x16" else None
        reader = asyncio.StreamReader()
        protocol = asyncio.StreamReaderProtocol(reader)
        try:
            transport, _ = await loop.connect_accepted_socket(lambda: protocol, connection, ssl=context)
        except OSError:
            self.note(named)
            raise
        return reader, asyncio.StreamWriter(transport, protocol, reader, loop)

    async def ask(self, exchange: Exchange) -> Reply:
        return await asyncio.get_running_loop().run_in_executor(self.pool, self.respond, exchange)

    async def parts(self, body: bytes | Iterator[bytes], write: Callable[[bytes], Awaitable[None]]) -> None:
        """Write a body, part by part."""
        if isinstance(body, bytes):
            await write(body)
            return
        while part := await asyncio.get_running_loop().run_in_executor(self.pool, next, body, b""):
            await write(part)

    async def _serve_first(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, scheme: str) -> None:
        """Serve HTTP/1.1 until either side ends."""
        state = h11.Connection(h11.SERVER, max_incomplete_event_size=_MAX_HEAD)

        async def write(event: h11.Event) -> None:
            writer.write(state.send(event) or b"")
            await writer.drain()

        while True:
            request, body = None, bytearray()
            while not isinstance(event := state.next_event(), h11.EndOfMessage):
                if event is h11.NEED_DATA:
                    if state.they_are_waiting_for_100_continue:
                        await write(h11.InformationalResponse(status_code=100, headers=[]))
                    state.receive_data(await reader.read(_PART))
                elif isinstance(event, h11.Request):
                    request = event
                elif isinstance(event, h11.Data) and len(body) <= MAX_REQUEST_BYTES:
                    body += event.data
                else:  # it is too large, or the client ended
                    return
            if request is None:
                return
            headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers)
            host = next((value for name, value in headers if name == "host"), "")
            target, method = request.target.decode("latin-1"), request.method.decode("latin-1")
            reply = await self.ask(exchange_of(method, scheme, host, target, headers, bytes(body)))
            await write(
                h11.Response(status_code=reply.status, headers=[(name, value) for name, value in reply.headers])
            )
            if method != "HEAD":
                await self.parts(reply.body, lambda part: write(h11.Data(data=part)))
            await write(h11.EndOfMessage())
            if state.our_state is not h11.DONE or state.their_state is not h11.DONE:
                return
            state.start_next_cycle()


class _Second:
    """One connection of HTTP/2: its streams are answered side by side, within the windows that the client grants."""

    def __init__(self, server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, scheme: str) -> None:
        self._server, self._reader, self._writer, self._scheme = server, reader, writer, scheme
        self._state = H2Connection(H2Configuration(client_side=False, header_encoding="latin-1"))
        self._requests: dict[int, tuple[Headers, bytearray]] = {}
        self._granted = asyncio.Event()

    async def run(self) -> None:
        self._state.initiate_connection()
        async with asyncio.TaskGroup() as streams:
            await self._flush()
            while data := await self._reader.read(_PART):
                for event in self._state.receive_data(data):
                    if isinstance(event, StreamEnded):
                        streams.create_task(self._answer(event.stream_id or 0))
                    else:
                        self._take(event)
                await self._flush()
            self._requests.clear()
            self._granted.set()

    def _take(self, event: Event) -> None:
        match event:
            case RequestReceived(stream_id=int(stream), headers=list(headers)):
                self._requests[stream] = tuple((str(name), str(value)) for name, value in headers), bytearray()
            case DataReceived(stream_id=int(stream), data=bytes(data)):
                self._state.acknowledge_received_data(event.flow_controlled_length or 0, stream)
                body = self._requests[stream][1] if stream in self._requests else bytearray()
                body += data
                if len(body) > MAX_REQUEST_BYTES:
                    self._requests.pop(stream)
                    self._state.reset_stream(stream)
            case StreamReset(stream_id=int(stream)):
                self._requests.pop(stream, None)
                self._granted.set()
            case WindowUpdated() | RemoteSettingsChanged():
                self._granted.set()

    async def _flush(self) -> None:
        self._writer.write(self._state.data_to_send())
        await self._writer.drain()

    async def _answer(self, stream: int) -> None:
        if stream not in self._requests:
            return
        headers, body = self._requests[stream]
        pseudo = {name: value for name, value in headers if name.startswith(":")}
        plain = tuple((name, value) for name, value in headers if not name.startswith(":"))
        host = pseudo.get(":authority") or dict(plain).get("host", "")
        method, target = pseudo.get(":method", ""), pseudo.get(":path", "/")
        reply = await self._server.ask(exchange_of(method, self._scheme, host, target, plain, bytes(body)))
        if stream not in self._requests:
            return
        self._state.send_headers(stream, [(":status", str(reply.status)), *((n.lower(), v) for n, v in reply.headers)])
        if method != "HEAD":
            await self._server.parts(reply.body, lambda part: self._write(stream, memoryview(part)))
        if self._requests.pop(stream, None) is not None:
            self._state.end_stream(stream)
            await self._flush()

    async def _write(self, stream: int, left: memoryview) -> None:
        while left and stream in self._requests:
            window = min(self._state.local_flow_control_window(stream), self._state.max_outbound_frame_size)
            if window <= 0:
                self._granted.clear()
                await self._granted.wait()
                continue
            self._state.send_data(stream, bytes(left[:window]))
            left = left[window:]
            await self._flush()


def exchange_of(method: str, scheme: str, host: str, target: str, headers: Headers, body: bytes) -> Exchange:
    """Return the request as it was meant, whatever form it has. Raise ValueError if its host cannot be read.

    >>> exchange_of("GET", "http", "", "http://a.test:81/x?y=1", (), b"")[1:5]
    ('http', 'a.test', 81, '/x?y=1')
    >>> exchange_of("GET", "https", "a.test", "/x", (), b"")[1:5]
    ('https', 'a.test', 443, '/x')
    """
    if whole := re.fullmatch(r"(\w+)://([^/?#]*)(.*)", target):
        scheme, host, target = whole[1].lower(), whole[2], whole[3] or "/"
    named = urlsplit(f"//{host}")
    return Exchange(
        method, scheme, (named.hostname or "").rstrip("."), named.port or _PORTS.get(scheme, 0), target, headers, body
    )


async def _peek(connection: socket.socket, most: int, end: bytes = b"") -> bytes:
    """Return what a connection begins with, without taking it, once it holds ``end``. Raise OSError and EOFError."""
    loop = asyncio.get_running_loop()
    while True:
        try:
            start = connection.recv(most, socket.MSG_PEEK)
        except BlockingIOError:
            ready = asyncio.Event()
            loop.add_reader(connection, ready.set)
            try:
                await ready.wait()
            finally:
                loop.remove_reader(connection)
            continue
        if not start or len(start) == _MAX_HEAD:
            raise EOFError
        if end in start or not start.startswith(b"CONNECT "[: len(start)]):
            return start
        await asyncio.sleep(_HEAD_SECONDS)  # the rest of a head is on its way, and the socket stays readable


def address_reply(question: bytes) -> bytes:
    """Return the reply of a name server for which every name is 127.0.0.1; b"" for what is no question.

    No name is looked up anywhere, so nothing leaves in one.
    """
    end = 12
    while end < len(question) and question[end]:
        end += 1 + question[end]
    if len(question) < end + 5 or question[2] & 0x80:
        return b""
    is_address = question[end + 1 : end + 3] == b"\0\1"
    count = b"\0\1" if is_address else b"\0\0"
    answer = b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\x7f\0\0\1" if is_address else b""
    return question[:2] + b"\x81\x80\0\1" + count + b"\0\0\0\0" + question[12 : end + 5] + answer
