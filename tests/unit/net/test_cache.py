"""Files that are kept for a while, and rate limits that hosts share."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pit_fetch.errors import UpstreamError
from pit_fetch.net import cache
from pit_fetch.net.client import Client
from pit_fetch.provider import Host, HttpReply, Rate
from pit_fetch.testing.inprocess import TestClock
from pit_fetch.testing.server import Answering, App, Response
from tests.unit.net.exchanges import NOW, plant

HOUR = 3600.0
Decode = Callable[[HttpReply], str]
Keep = Callable[[str], bool]


def client(clock: TestClock, folder: Path, app: App, *names: str) -> tuple[Client, Answering]:
    """A client of hosts that share a rate, as a process of its own would have it; and what it asked."""
    transport = Answering(app, clock.now)
    made = Client(
        hosts=tuple(Host(name, f"https://{name}.example", name.upper(), Rate(4, 1.0, "shared")) for name in names),
        credentials={},
        environ={"HOME": str(folder)},
        clock=clock.value(),
        transport=transport,
        timeout=60,
        deadline=clock.passed + 60,
        on_request=lambda url: None,
    )
    return made, transport


@dataclass
class Reader:
    """Reads one file again and again, each time in a process of its own, as far as the cache is concerned."""

    folder: Path
    app: App
    clock: TestClock = field(default_factory=lambda: TestClock(NOW))
    asked: int = 0

    def read(
        self, seconds: float = HOUR, decode: Decode | None = None, keep: Callable[[str], bool] | None = None
    ) -> str:
        made, transport = client(self.clock, self.folder, self.app, "one")
        try:
            return made.get_cached("one", "/file", seconds, decode or text, keep)
        finally:
            self.asked += len(transport.exchanges)


def text(reply: HttpReply) -> str:
    if reply.status != 200 or reply.body == b"bad":
        raise UpstreamError("malformed", problem="it is bad")
    return reply.body.decode()


def test_a_kept_file_is_asked_for_again_when_it_is_old(tmp_path: Path) -> None:
    bodies = iter([b"bad", b"first", b"second"])
    reader = Reader(tmp_path, lambda request: Response(next(bodies)))
    with pytest.raises(UpstreamError):
        reader.read()
    answers = []
    for pause in (0, HOUR / 2, HOUR):
        reader.clock.passed += pause
        answers.append(reader.read())
    assert (answers, reader.asked) == (["first", "first", "second"], 3)


def test_a_kept_reply_has_the_receipt_of_its_fetch(tmp_path: Path) -> None:
    reader = Reader(tmp_path, lambda request: Response(b"good"))
    receipts = []
    for _ in range(2):
        reader.read(decode=lambda reply: receipts.append(reply.received_at) or "")  # type: ignore[func-returns-value]
        reader.clock.passed += HOUR / 2
    assert receipts == [NOW, NOW]


@pytest.mark.parametrize("damage", [b"", b"bad"])
def test_a_kept_file_that_is_damaged_is_asked_for_again(tmp_path: Path, damage: bytes) -> None:
    reader = Reader(tmp_path, lambda request: Response(b"good"))
    assert [reader.read() for _ in range(2)] == ["good", "good"]
    (kept,) = (tmp_path / ".cache/pit_fetch").glob("file-*")
    kept.write_bytes(damage)
    assert (reader.read(), reader.asked) == ("good", 2)


def test_a_file_that_never_changes_is_kept_for_good(tmp_path: Path) -> None:
    reader = Reader(tmp_path, lambda request: Response(b"good"))
    for _ in range(3):
        assert reader.read(math.inf) == "good"
        reader.clock.passed += 9_999 * 24 * HOUR
    assert reader.asked == 1


def test_a_file_is_kept_only_if_its_reader_says_so(tmp_path: Path) -> None:
    reader = Reader(tmp_path, lambda request: Response(b"good"))
    for keep in (lambda text: text != "good", lambda text: text == "good", lambda text: False):
        reader.read(math.inf, keep=keep)
    assert reader.asked == 2


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
    first, second = (tmp_path / ".cache/pit_fetch").iterdir()
    first.write_bytes(second.read_bytes())
    loaded = [cache.load(environ, url, HOUR, now) for url in ("https://a/x", "https://a/y")]
    assert sum(reply is None for reply in loaded) == 1


@pytest.mark.parametrize("kind", ["link", "hard link", "pipe", "folder"])
def test_what_was_planted_for_a_kept_file_is_neither_read_nor_followed(tmp_path: Path, kind: str) -> None:
    environ, now = {"HOME": str(tmp_path)}, 1_700_000_000.0
    cache.store(environ, "https://a/x", b"kept", now)
    (path,) = (tmp_path / ".cache/pit_fetch").iterdir()
    other = tmp_path / "other"
    path.rename(other)
    plant(kind, path, other)
    before = other.read_bytes()
    assert cache.load(environ, "https://a/x", HOUR, now) is None
    cache.store(environ, "https://a/x", b"new", now)
    assert other.read_bytes() == before
    assert (cache.load(environ, "https://a/x", HOUR, now) is None) is (kind == "folder")
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
    names, clock = ("one", "two", "three"), TestClock(NOW)
    for place in range(5):  # each in a process of its own, as far as the limit is concerned
        assert clock.pauses == []
        client(clock, tmp_path, lambda _: Response(b"{}"), *names)[0].get(names[place % 3], "/")
    assert clock.pauses == [pytest.approx(1.0)]
    assert len([name for name in os.listdir(tmp_path / ".cache/pit_fetch") if name.startswith("rate-")]) == 1
