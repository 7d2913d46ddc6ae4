"""Start a command in its world, answer it, and report once it has ended."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Literal

from pit_fetch.errors import UsageError
from pit_fetch.gaps import Code
from pit_fetch.world import sealed, surroundings
from pit_fetch.world.certificates import Authority
from pit_fetch.world.exchanges import Exchanges, World
from pit_fetch.world.server import Server, address_reply

Network = Literal["sealed", "proxy"]
PROXY_PORT = 3128
_AT_ONCE = 64
_FORWARDED = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
_OF_THE_KERNEL = 0x80  # the terminal, which has sent it to the command, too
_UNSEALED = "--network sealed needs {what}: allow it, or take --network proxy, which a program can go around."


def run_command(
    command: Sequence[str], world: World, network: Network, *, moves_clock: bool, hidden: Sequence[str]
) -> tuple[int, dict[str, Any]]:
    """Run a command to its end. Return its status as :mod:`subprocess` has it, and the report.

    ``hidden`` are files that it must not see. Raise UsageError or ConfigError, before it starts, for what is missing.
    """
    import requests

    runtime = world.runtime
    is_sealed = network == "sealed"
    if is_sealed and (sys.platform != "linux" or platform.machine() not in sealed.MACHINES):
        raise UsageError(Code.USAGE, text=_UNSEALED.format(what="Linux on x86-64 or ARM"))
    clock = surroundings.clock_variables(world.pit, runtime.clock.now()) if moves_clock else {}
    packages = surroundings.environments(command[0], runtime.environ, runtime.folder)
    with tempfile.TemporaryDirectory(prefix="pit_fetch-run-") as private, requests.Session() as session:
        authority = Authority(private)
        bundle = surroundings.write_bundle(private, authority.pem)
        listeners = [] if is_sealed else [socket.create_server(("127.0.0.1", 0))]
        port = PROXY_PORT if is_sealed else listeners[0].getsockname()[1]
        plan = {
            "parent": os.getpid(),
            "sealed": is_sealed,
            "command": command,
            "folder": runtime.folder,
            "ports": sorted({80, 443, PROXY_PORT, *(allowed for _, allowed in world.allowed)}),
            "environ": surroundings.variables(runtime.environ, f"http://127.0.0.1:{port}", bundle, clock),
        }
        if is_sealed:
            plan |= surroundings.sealing(runtime.environ, private, bundle, hidden, packages)
        exchanges = Exchanges(world, session)
        status = _run(plan, listeners, authority, exchanges)
    report = {
        "pit": world.pit.isoformat(),
        "network": network,
        "clock": world.pit.isoformat() if moves_clock else "off",
        "exchanges": exchanges.rows,
        "brought_along": surroundings.brought_along(packages),
    }
    return status, report


def _run(plan: dict[str, Any], listeners: list[socket.socket], authority: Authority, exchanges: Exchanges) -> int:
    # From here on, a thread takes these signals; the program that becomes the command takes the mask off again.
    signal.pthread_sigmask(signal.SIG_BLOCK, _FORWARDED)
    control, other = socket.socketpair()
    with control, other:
        words = (sys.executable, "-I", "-S", sealed.__file__, str(other.fileno()))
        child = subprocess.Popen(words, pass_fds=[other.fileno()])  # noqa: S603
        other.close()
        names = None
        try:
            control.sendall(json.dumps(plan).encode() + b"\n")
            if plan["sealed"]:
                names, *listeners = _sockets_of(control, len(plan["ports"]) + 1)
                control.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)  # the sender's number, as seen from here
                control.send(b"+")
            process = _command_process(control, child)
        except BaseException:
            child.kill()
            child.wait()
            raise
    threading.Thread(target=_forward, args=(process,), daemon=True).start()
    pool = ThreadPoolExecutor(_AT_ONCE)
    try:
        asyncio.run(_serve(Server(authority, exchanges.respond, exchanges.note, pool), listeners, names, child))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # a source that hangs holds up nobody any more
        for each in (*listeners, *([names] if names else ())):
            each.close()
    return child.returncode


def _sockets_of(control: socket.socket, count: int) -> list[socket.socket]:
    """Return the sockets that lie in the command's network: of names, and of connections. Raise UsageError."""
    message, numbers, _, _ = socket.recv_fds(control, 1_000, count)
    if message != b"+":
        what = message[1:].decode(errors="replace") or "a process in new namespaces"
        raise UsageError(Code.USAGE, text=_UNSEALED.format(what=what))
    return [socket.socket(fileno=number) for number in numbers]


def _command_process(control: socket.socket, child: subprocess.Popen[bytes]) -> int:
    """Return the number of the command's process, as this one sees it. Raise UsageError if there is none."""
    message, told, _, _ = control.recvmsg(1_000, socket.CMSG_SPACE(12))
    if message != b"!":
        raise UsageError(Code.USAGE, text=_UNSEALED.format(what=message[1:].decode(errors="replace")))
    return next((struct.unpack("3i", data)[0] for _, kind, data in told if len(data) == 12), child.pid)


def _forward(process: int) -> None:
    """Pass the signals that are sent to this process on to the command."""
    while True:
        received = signal.sigwaitinfo(_FORWARDED)
        if received.si_code != _OF_THE_KERNEL:
            with suppress(ProcessLookupError):
                os.kill(process, received.si_signo)


async def _serve(
    server: Server, listeners: Iterable[socket.socket], names: socket.socket | None, child: subprocess.Popen[bytes]
) -> None:
    """Answer until the command has ended."""
    loop = asyncio.get_running_loop()
    if names is not None:
        names.setblocking(False)
        loop.add_reader(names, _answer_names, names)
    tasks = [asyncio.ensure_future(server.accept(listener)) for listener in listeners]
    ended = asyncio.Event()
    threading.Thread(target=lambda: (child.wait(), loop.call_soon_threadsafe(ended.set)), daemon=True).start()
    await ended.wait()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _answer_names(names: socket.socket) -> None:
    with suppress(BlockingIOError):
        while True:
            question, sender = names.recvfrom(4_096)
            with suppress(OSError):
                names.sendto(address_reply(question), sender)
