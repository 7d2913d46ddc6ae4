"""Files that are kept for a while, and rate limits that hosts share."""

from __future__ import annotations

import os
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pit_fetch import cache
from pit_fetch.errors import UpstreamError
from pit_fetch.http import Client
from pit_fetch.provider import Host, Rate, Reply
from pit_fetch.world import Clock
from tests.loopback.server import Request, Response, serve

HOUR = 3600.0


class Time:
    """A clock that only a sleep moves."""

    def __init__(self) -> None:
        self.now, self.pauses = datetime.now(UTC).timestamp() + 1, list[float]()

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds

    @property
    def clock(self) -> Clock:
        return Clock(lambda: datetime.fromtimestamp(self.now, UTC), lambda: self.now, lambda: self.now, self.sleep)


def client(time: Time, folder: Path, **urls: str) -> Client:
    hosts = tuple(Host(name, "https://example.com", name.upper(), Rate(4, 1.0, "shared")) for name in urls)
    environ = {"HOME": str(folder), **{name.upper(): url for name, url in urls.items()}}
    return Client(hosts, environ, time.clock, timeout=60, deadline=time.now + 60, on_request=lambda url: None)


def text(reply: Reply) -> str:
    if reply.status != 200 or reply.body == b"bad":
        raise UpstreamError("malformed", problem="it is bad")
    return reply.body.decode()


def test_a_kept_file_is_asked_for_again_when_it_is_old(tmp_path: Path) -> None:
    bodies = iter([b"bad", b"first", b"second"])
    time = Time()
    with serve(lambda request: Response(next(bodies))) as server:
        with pytest.raises(UpstreamError):
            client(time, tmp_path, one=server.url).get_cached("one", "/file", {}, HOUR, text)
        answers = []
        for pause in (0, HOUR / 2, HOUR):
            time.now += pause
            answers.append(client(time, tmp_path, one=server.url).get_cached("one", "/file", {}, HOUR, text))
    assert answers == ["first", "first", "second"]
    assert len(server.requests) == 3


@pytest.mark.parametrize("damage", [b"", b"bad"])
def test_a_kept_file_that_is_damaged_is_asked_for_again(tmp_path: Path, damage: bytes) -> None:
    def strict(reply: Reply) -> str:
        if not reply.body:
            raise UpstreamError("malformed", problem="it is empty")
        return text(reply)

    time = Time()
    with serve(lambda request: Response(b"good")) as server:
        for _ in range(2):
            assert client(time, tmp_path, one=server.url).get_cached("one", "/file", {}, HOUR, strict) == "good"
        (kept,) = (tmp_path / ".cache/pit_fetch").glob("file-*")
        kept.write_bytes(damage)
        assert client(time, tmp_path, one=server.url).get_cached("one", "/file", {}, HOUR, strict) == "good"
    assert len(server.requests) == 2


def test_no_two_addresses_share_a_file_and_nobody_else_reads_it(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path)}
    cache.store(environ, "https://a/x", b"x")
    assert cache.load(environ, "https://b/x", HOUR, datetime.now(UTC).timestamp() + 1) is None
    (kept,) = (tmp_path / ".cache/pit_fetch").iterdir()
    assert kept.stat().st_mode & 0o077 == 0


def test_a_clock_that_was_set_back_does_not_keep_a_file_for_ever(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path)}
    cache.store(environ, "https://a/x", b"x")
    assert cache.load(environ, "https://a/x", HOUR, datetime.now(UTC).timestamp() - 10 * HOUR) is None


def test_without_a_folder_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for environ in ({}, {"HOME": str(tmp_path / "file")}):
        cache.store(environ, "https://a/x", b"x")
        assert cache.load(environ, "https://a/x", HOUR, datetime.now(UTC).timestamp()) is None


def test_hosts_of_one_bucket_are_counted_together(tmp_path: Path) -> None:
    def app(request: Request) -> Response:
        return Response(b"{}")

    time = Time()
    with ExitStack() as stack:
        urls = {name: stack.enter_context(serve(app)).url for name in ("one", "two", "three")}
        for place in range(5):  # each in a process of its own, as far as the limit is concerned
            assert time.pauses == []
            client(time, tmp_path, **urls).get(["one", "two", "three"][place % 3], "/")
    assert time.pauses == [pytest.approx(1.0)]
    assert len([name for name in os.listdir(tmp_path / ".cache/pit_fetch") if name.startswith("rate-")]) == 1
