"""JSON-RPC messages over a pair of binary streams, one a line: the transport below the SDK.

The SDK's own reads lines of any length, answers nothing to a line that it cannot parse, and ends with a text that it
cannot encode.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import BinaryIO, NamedTuple

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import ErrorData, JSONRPCError, jsonrpc_message_adapter

from pit_fetch.errors import UpstreamError
from pit_fetch.mcp.lines import Beginning, lines
from pit_fetch.wire import strict_json

MAX_LINE_BYTES = 4_000_000
# So many answers may wait for a client that does not read. Then nothing more is read from it, until it does.
MAX_WAITING = 64
_LOOK_SECONDS = 0.02

_TOO_LONG = JSONRPCError(jsonrpc="2.0", id=None, error=ErrorData(code=-32600, message="Message too long"))


class Wire(NamedTuple):
    """A pair of binary streams to another program, and the longest line that is read from it."""

    source: BinaryIO
    sink: BinaryIO
    max_line_bytes: int = MAX_LINE_BYTES


class Streams(NamedTuple):
    """The SDK's ends of a wire."""

    incoming: MemoryObjectReceiveStream[SessionMessage | Exception]
    outgoing: MemoryObjectSendStream[SessionMessage]


def take_standard_streams() -> Wire:
    """Return this process's own standard streams, and leave nothing behind at their descriptors.

    Whatever prints from now on, a library in C included, reaches neither the client nor a log.
    """
    wire = Wire(os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb", buffering=0))
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    os.close(nowhere)
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - as long as the process
    return wire


@asynccontextmanager
async def messages(wire: Wire) -> AsyncIterator[Streams]:
    """Open a wire. It ends when the other program closes its end, or can no longer be written to."""
    to_reader, incoming = anyio.create_memory_object_stream[SessionMessage | Exception]()
    outgoing, from_writer = anyio.create_memory_object_stream[SessionMessage]()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_read, wire, to_reader, outgoing.clone())
        tasks.start_soon(_write, wire, from_writer, tasks.cancel_scope)
        yield Streams(incoming, outgoing)
        tasks.cancel_scope.cancel()


async def _read(
    wire: Wire,
    messages: MemoryObjectSendStream[SessionMessage | Exception],
    answers: MemoryObjectSendStream[SessionMessage],
) -> None:
    incoming = lines(wire.source, wire.max_line_bytes)
    async with messages, answers:
        while (line := await anyio.to_thread.run_sync(next, incoming, None, abandon_on_cancel=True)) is not None:
            while answers.statistics().tasks_waiting_send > MAX_WAITING:
                await anyio.sleep(_LOOK_SECONDS)
            if isinstance(line, Beginning):
                await answers.send(SessionMessage(_TOO_LONG))
                continue
            try:
                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValueError:
                await answers.send(SessionMessage(_refusal(line)))
                continue
            await messages.send(SessionMessage(message))


def _refusal(line: bytes) -> JSONRPCError:
    """Return the error for a line that is no message, with its id if it has one: a client waits for that."""
    try:
        message = strict_json(line)
    except UpstreamError:
        return JSONRPCError(jsonrpc="2.0", id=None, error=ErrorData(code=-32700, message="Parse error"))
    number = message.get("id") if isinstance(message, dict) else None
    known = number if isinstance(number, (int, str)) and not isinstance(number, bool) else None
    return JSONRPCError(jsonrpc="2.0", id=known, error=ErrorData(code=-32600, message="Invalid request"))


async def _write(wire: Wire, messages: MemoryObjectReceiveStream[SessionMessage], scope: anyio.CancelScope) -> None:
    async with messages:
        async for message in messages:
            try:
                await anyio.to_thread.run_sync(_send, wire.sink, encode(message), abandon_on_cancel=True)
            except (OSError, ValueError):
                scope.cancel()


def encode(message: SessionMessage) -> bytes:
    """Return the line of a message, in ASCII and spelt as envelopes are."""
    return json.dumps(message.message.model_dump(by_alias=True, exclude_unset=True)).encode() + b"\n"


def _send(sink: BinaryIO, line: bytes) -> None:
    left = memoryview(line)
    while left:
        left = left[sink.write(left) or 0 :]
    sink.flush()
