"""Whether this machine can seal a run, and what the machine outside of one has."""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pit_fetch.world import sealed
from tests.unit.world.ways_out import WORD

_PROBE = f"import runpy; runpy.run_path({sealed.__file__!r})['enter_namespaces']()"


def _missing() -> str:
    if importlib.util.find_spec("libfaketime") is None:
        return "libfaketime is not installed"
    done = subprocess.run((sys.executable, "-I", "-S", "-c", _PROBE), capture_output=True)
    return "this kernel gives this user no namespaces" if done.returncode else ""


_WHY = _missing()
needs_sealing = pytest.mark.skipif(bool(_WHY), reason=_WHY)


@contextlib.contextmanager
def outside(folder: Path, hidden: Path) -> Iterator[tuple[Path, int]]:
    """Yield a file that says what the machine outside has, all of which answers, and an inherited descriptor."""
    with contextlib.ExitStack() as stack:

        def serve(listener: socket.socket) -> socket.socket:
            stack.enter_context(listener)
            threading.Thread(target=_answer, args=(listener,), daemon=True).start()
            return listener

        def bound(name: str, kind: int = socket.SOCK_STREAM) -> socket.socket:
            each = stack.enter_context(socket.socket(socket.AF_UNIX, kind))
            each.bind(name)
            if kind == socket.SOCK_STREAM:
                each.listen()
            return serve(each)

        udp = stack.enter_context(socket.socket(type=socket.SOCK_DGRAM))
        udp.bind(("127.0.0.1", 0))
        tcp = serve(socket.create_server(("127.0.0.1", 0)))
        # Names of Unix sockets are short, and a test's folder may not be.
        short = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        bound(f"{short}/a")
        bound(f"{short}/d", socket.SOCK_DGRAM)
        with contextlib.chdir(short):
            bound("r")
            (short / "l").symlink_to("a")
            abstract = f"pit-fetch-{short.name}"
            bound(f"\0{abstract}")
            memory = 0x50495400 + os.getpid() % 0xFF
            number = ctypes.CDLL(None).shmget(memory, 100, 0o1600)
            stack.callback(ctypes.CDLL(None).shmctl, number, 0, None)
            run = f"/run/pit-fetch-{short.name}"
            with contextlib.suppress(OSError):
                bound(run)
                stack.callback(os.unlink, run)
            host = {
                "tcp": tcp.getsockname()[1],
                "tcp6": serve(socket.create_server(("::1", 0), family=socket.AF_INET6)).getsockname()[1],
                "udp": serve(udp).getsockname()[1],
                "unix": f"{short}/a",
                "unix_relative": f"{short}/r",
                "unix_link": f"{short}/l",
                "unix_datagrams": f"{short}/d",
                "unix_run": run,
                "unix_abstract": abstract,
                "shm": memory,
                "pid": os.getpid(),
                "hidden": str(hidden),
                "program": sealed.__file__,
                "now": time.time(),
            }
            path = folder / "host.json"
            path.write_text(json.dumps(host))
            connection = stack.enter_context(socket.create_connection(tcp.getsockname()))
            yield path, connection.fileno()


def _answer(listener: socket.socket) -> None:
    with contextlib.suppress(OSError):
        if listener.type == socket.SOCK_DGRAM:
            while True:
                _, sender = listener.recvfrom(100)
                if sender:
                    listener.sendto(WORD, sender)
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=_reply, args=(connection,), daemon=True).start()


def _reply(connection: socket.socket) -> None:
    with contextlib.suppress(OSError), connection:
        connection.recv(100)
        connection.sendall(WORD)
