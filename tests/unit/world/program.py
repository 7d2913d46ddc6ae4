"""A program as others write them: it asks in every way of HTTP, and prints what it got as JSON."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
import socket
import ssl
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import httpx
import requests

URL = "https://echo.test"


def body_hash(content: bytes) -> list[Any]:
    return [len(content), hashlib.sha256(content).hexdigest()]


async def streams() -> bool:
    async with httpx.AsyncClient(http2=True, timeout=60) as client:
        replies = await asyncio.gather(*(client.get(f"{URL}/{number}") for number in range(64)))
    return [int(reply.json()["target"][1:]) for reply in replies] == [*range(64)]


def main() -> None:
    shown: dict[str, Any] = {"now": datetime.now(UTC).isoformat()}
    started = time.monotonic()
    time.sleep(0.01)
    shown["a wait"] = time.monotonic() - started
    plain = requests.Session()
    plain.trust_env = False  # no proxy, and the certificates of the package

    def echo(reply: Any) -> Any:
        return reply.json()

    reply = requests.get(
        f"{URL}/a?b=%2F&c=d e", headers={"If-None-Match": '"x"', "Range": "bytes=0-", "X-Own": "1"}, timeout=20
    )
    shown["requests"] = {"status": reply.status_code, "headers": dict(reply.headers), "echo": echo(reply)}
    shown["without variables"] = echo(plain.get(f"{URL}/x", timeout=20))["target"]
    shown["http"] = echo(plain.get("http://echo.test/x", timeout=20))["scheme"]
    shown["a refused host"] = [
        (r := requests.get("https://other.test/x", timeout=20)).status_code,
        r.json(),
        r.headers["x-pit-fetch"],
    ]
    shown["a bug of a view"] = [(r := requests.get(f"{URL}/broken", timeout=20)).status_code, r.json()]
    shown["an address in a query"] = echo(plain.get(f"{URL}/x?url=https://a.test/y", timeout=20))["target"]
    shown["post"] = echo(requests.post(f"{URL}/p", data=b"x" * 300_000, timeout=20))["body"] == "x" * 300_000
    shown["chunked"] = echo(requests.post(f"{URL}/p", data=iter([b"a", b"b" * 70_000]), timeout=20))["body"][:3]
    shown["compressed request"] = requests.post(f"{URL}/p", data=gzip.compress(b"x"), timeout=20).status_code
    raw = requests.get(f"{URL}/a", stream=True, headers={"Accept-Encoding": "gzip"}, timeout=20)
    shown["compressed reply"] = [raw.headers["content-encoding"], gzip.decompress(raw.raw.read())[:1].decode()]
    for name, asked in {
        "a range": "bytes=2-5",
        "the end": "bytes=-4",
        "beyond": "bytes=99999999-",
        "several": "bytes=0-1,4-5",
    }.items():
        r = requests.get(f"{URL}/digits", headers={"Range": asked}, timeout=60)
        shown[name] = [r.status_code, r.headers.get("content-range"), len(r.content), r.content[:8].decode()]
    head = requests.head(f"{URL}/big", headers={"Accept-Encoding": "identity"}, timeout=20)
    shown["HEAD"] = [head.status_code, head.headers["content-length"], len(head.content)]
    shown["50 MB"] = body_hash(requests.get(f"{URL}/big", headers={"Accept-Encoding": "identity"}, timeout=60).content)
    with httpx.Client(http2=True, timeout=60) as client:
        second = client.get(f"{URL}/a")
        shown["HTTP/2"] = [second.http_version, second.json()["headers"]]
        shown["50 MB, HTTP/2"] = body_hash(client.get(f"{URL}/big").content)
        shown["post, HTTP/2"] = client.post(f"{URL}/p", content=b"x" * 300_000).json()["body"] == "x" * 300_000
        shown["HEAD, HTTP/2"] = len(client.head(f"{URL}/big").content)
    shown["64 streams"] = asyncio.run(streams())

    context = ssl.create_default_context()  # once: it takes longer than a request

    def one(number: int) -> int:
        with urllib.request.urlopen(f"{URL}/{number}", timeout=30, context=context) as reply:
            return int(json.loads(reply.read())["target"][1:])

    with ThreadPoolExecutor(64) as pool:
        shown["64 connections"] = sorted(pool.map(one, range(64))) == [*range(64)]
    shown["allowed"] = [requests.get(f"http://localhost:{sys.argv[1]}/v1/models", timeout=20).text]
    r = requests.post(
        f"http://localhost:{sys.argv[1]}/v1/responses",
        json={"model": "m", "tools": [{"type": "web_search"}]},
        timeout=20,
    )
    shown["a web tool"] = [r.status_code, r.json()["error"]["type"]]
    with requests.post(f"http://localhost:{sys.argv[1]}/v1/stream", json={"model": "m"}, stream=True, timeout=20) as r:
        shown["a stream"] = [r.headers["date"], [line.decode() for line in r.iter_lines()]]
    one_side, other_side = socket.socketpair()
    one_side.send(b"own")
    listener = socket.create_server(("127.0.0.1", 0))
    socket.create_connection(listener.getsockname()).send(b"own")
    shown["its own sockets"] = [other_side.recv(3).decode(), listener.accept()[0].recv(3).decode()]
    started = time.perf_counter()
    for _ in range(200):
        plain.get(f"{URL}/x", timeout=20)
    shown["ms a request"] = (time.perf_counter() - started) * 5
    print(json.dumps(shown))


if __name__ == "__main__":
    main()
