"""Files that are kept for a while, and rate limits that hosts share."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
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


def test_a_file_that_never_changes_is_kept_for_good(tmp_path: Path) -> None:
    time = Time()
    with serve(lambda request: Response(b"good")) as server:
        for _ in range(3):
            assert client(time, tmp_path, one=server.url).get_cached("one", "/file", {}, math.inf, text) == "good"
            time.now += 9_999 * 24 * HOUR
    assert len(server.requests) == 1


def test_a_kept_file_takes_little_room(tmp_path: Path) -> None:
    environ, body = {"HOME": str(tmp_path)}, b"1000228|HENRY SCHEIN INC|4|20181231\n" * 1_000
    cache.store(environ, "https://a/x", body, 1_700_000_000.0)
    (kept,) = (tmp_path / ".cache/pit_fetch").iterdir()
    assert kept.stat().st_size < len(body) / 10
    assert cache.load(environ, "https://a/x", HOUR, 1_700_000_000.0) == (body, 1_700_000_000.0)


def test_a_file_is_kept_only_if_its_reader_says_so(tmp_path: Path) -> None:
    time = Time()
    with serve(lambda request: Response(b"good")) as server:
        for keep in (lambda text: text != "good", lambda text: text == "good", lambda text: False):
            client(time, tmp_path, one=server.url).get_cached("one", "/file", {}, math.inf, text, keep)
    assert len(server.requests) == 2


def test_the_time_of_a_kept_file_is_its_receipt_s_and_not_the_file_s(tmp_path: Path) -> None:
    environ, now = {"HOME": str(tmp_path)}, 1_700_000_000.25
    cache.store(environ, "https://a/x", b"x", now)
    (kept,) = (tmp_path / ".cache/pit_fetch").iterdir()
    os.utime(kept, (now + 9 * HOUR, now + 9 * HOUR))
    assert cache.load(environ, "https://a/x", HOUR, now + HOUR - 1) == (b"x", now)
    assert cache.load(environ, "https://a/x", HOUR, now + HOUR) is None


@pytest.mark.parametrize(
    "change", [lambda b: b[:-1], lambda b: b + b"y", lambda b: b.replace(b"5.0", b"6.0"), bytes.upper]
)
def test_a_kept_file_that_was_changed_is_none(tmp_path: Path, change: Callable[[bytes], bytes]) -> None:
    environ, now = {"HOME": str(tmp_path)}, 1_700_000_005.0
    cache.store(environ, "https://a/x", b"body", now)
    (kept,) = (tmp_path / ".cache/pit_fetch").iterdir()
    kept.write_bytes(change(kept.read_bytes()))
    assert cache.load(environ, "https://a/x", math.inf, now + 1) is None


def test_a_kept_file_under_another_s_name_is_none(tmp_path: Path) -> None:
    environ, now = {"HOME": str(tmp_path)}, 1_700_000_000.0
    for url in ("https://a/x", "https://a/y"):
        cache.store(environ, url, url.encode(), now)
    one, other = (tmp_path / ".cache/pit_fetch").iterdir()
    one.write_bytes(other.read_bytes())
    assert sorted(cache.load(environ, url, HOUR, now) is None for url in ("https://a/x", "https://a/y")) == [
        False,
        True,
    ]


@pytest.mark.parametrize("plant", ["link", "hard link", "pipe", "folder"])
def test_what_was_planted_for_a_kept_file_is_neither_read_nor_followed(tmp_path: Path, plant: str) -> None:
    environ, now = {"HOME": str(tmp_path)}, 1_700_000_000.0
    cache.store(environ, "https://a/x", b"kept", now)
    (path,) = (tmp_path / ".cache/pit_fetch").iterdir()
    other = tmp_path / "other"
    path.rename(other)
    match plant:
        case "link":
            path.symlink_to(other)
        case "hard link":
            path.hardlink_to(other)
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
    before = other.read_bytes()
    assert cache.load(environ, "https://a/x", HOUR, now) is None
    cache.store(environ, "https://a/x", b"new", now)
    assert other.read_bytes() == before
    assert (cache.load(environ, "https://a/x", HOUR, now) is None) is (plant == "folder")
    assert [name for name in os.listdir(path.parent) if name != path.name] == []


def test_no_name_that_can_be_told_beforehand_is_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environ, now, other = {"HOME": str(tmp_path)}, 1_700_000_000.0, tmp_path / "other"
    cache.store(environ, "https://a/x", b"old", now)
    (path,) = (tmp_path / ".cache/pit_fetch").iterdir()
    other.write_bytes(b"of somebody")
    monkeypatch.setattr(os, "urandom", bytes)
    for name in (f"{path}.{os.getpid()}", f"{path}.{bytes(8).hex()}"):
        os.symlink(other, name)
    cache.store(environ, "https://a/x", b"new", now)
    assert other.read_bytes() == b"of somebody"


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o1777])
def test_a_folder_that_others_may_write_to_is_not_used(tmp_path: Path, mode: int) -> None:
    environ = {"HOME": str(tmp_path)}
    assert cache.folder(environ)
    os.chmod(cache.folder(environ), mode)
    assert cache.folder(environ) == ""


def test_a_folder_of_somebody_else_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / "pit_fetch").symlink_to(tmp_path / "elsewhere")
    assert cache.folder(environ)  # this user's own link to this user's own folder
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert cache.folder(environ) == ""
    (tmp_path / "pit_fetch").unlink()
    (tmp_path / "pit_fetch").mkdir()
    assert cache.folder(environ) == ""


def test_no_two_addresses_share_a_file_and_nobody_else_reads_it(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path)}
    cache.store(environ, "https://a/x", b"x", 1_700_000_000.0)
    assert cache.load(environ, "https://b/x", HOUR, 1_700_000_000.0) is None
    (kept,) = (tmp_path / ".cache/pit_fetch").iterdir()
    assert kept.stat().st_mode & 0o077 == 0


def test_a_clock_that_was_set_back_does_not_keep_a_file_for_ever(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path)}
    cache.store(environ, "https://a/x", b"x", 1_700_000_000.0)
    for seconds in (HOUR, math.inf):
        assert cache.load(environ, "https://a/x", seconds, 1_700_000_000.0 - 10 * HOUR) is None


def test_without_a_folder_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for environ in ({}, {"HOME": str(tmp_path / "file")}):
        cache.store(environ, "https://a/x", b"x", 1_700_000_000.0)
        assert cache.load(environ, "https://a/x", HOUR, 1_700_000_000.0) is None


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
