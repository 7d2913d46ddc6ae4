"""An ArcadeDB server that speaks Bolt, in a process of its own.

    with serve(["one", "two"]) as server: ...

It is a module to run as well: that is the process.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.neo4j.kglite_engine import FULLTEXT

USER, PASSWORD = "root", "not-a-secret"


@dataclass(frozen=True)
class Server:
    url: str
    auth: tuple[str, str] = (USER, PASSWORD)


@contextmanager
def serve(databases: Sequence[str]) -> Iterator[Server]:
    """A server with these databases, empty but for their full-text indices."""
    bolt, http = _free_port(), _free_port()
    with tempfile.TemporaryDirectory(prefix="arcadedb-") as folder:  # it also writes a log where it works
        command = [sys.executable, str(Path(__file__).resolve()), folder, str(bolt), str(http), *databases]
        with subprocess.Popen(
            command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
        ) as process:  # fmt: skip
            assert process.stdin is not None
            assert process.stdout is not None
            ready = next((line for line in process.stdout if line == "ready\n"), None)
            try:
                if ready is None:
                    raise RuntimeError("ArcadeDB did not start")
                yield Server(f"bolt://127.0.0.1:{bolt}")
            finally:
                process.stdin.close()
                process.wait(30)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def main(folder: str, bolt: str, http: str, *databases: str) -> None:
    import arcadedb_embedded

    plugin = "Bolt:com.arcadedb.bolt.BoltProtocolPlugin"
    config = {"server_plugins": plugin, "bolt_port": int(bolt), "http_port": int(http)}
    server = arcadedb_embedded.create_server(root_path=folder, root_password=PASSWORD, config=config)
    server.start()
    for name in databases:
        database = server.create_database(name)
        for index, (label, text) in FULLTEXT.items():
            for statement in (
                f"CREATE VERTEX TYPE {label}",
                f"CREATE PROPERTY {label}.{text} STRING",
                f"CREATE INDEX {index} ON {label} ({text}) FULL_TEXT",
            ):
                database.command("sql", statement)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.read()
    server.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
