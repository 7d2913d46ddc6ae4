"""Files that the cache holds for a while, and rate limits that hosts share."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pit_fetch.errors import UpstreamError
from pit_fetch.gaps import Code
from pit_fetch.net import cache
from pit_fetch.net.cache import Place, Stored
from pit_fetch.net.client import Client
from pit_fetch.provider import Host, HttpReply, Rate
from pit_fetch.testing.inprocess import TestClock
from pit_fetch.testing.server import Answering, App, Response

HOUR = 3600.0
NOW = datetime(2024, 2, 15, 21, tzinfo=UTC)


def client(clock: TestClock, folder: Path, app: App, *names: str) -> tuple[Client, Answering]:
    """Return a client of hosts that share a rate, as in a process of its own, and its transport."""
    transport = Answering(app, clock.now)
    made = Client(
        hosts=tuple(
            Host(name, f"https://{name}.example", name.upper(), Rate(4, 1.0, "shared")) for name in names or ("one",)
        ),
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
    requests: int = 0

    def read(
        self,
        seconds: float = HOUR,
        decode: Callable[[HttpReply], str] | None = None,
        keep: Callable[[str], bool] | None = None,
    ) -> str:
        made, transport = client(self.clock, self.folder, self.app)
        try:
            return made.get_cached("one", "/file", seconds, decode or text, keep)
        finally:
            self.requests += len(transport.exchanges)


def text(reply: HttpReply) -> str:
    if reply.status != 200 or reply.body == b"bad":
        raise UpstreamError(Code.MALFORMED, problem="it is bad")
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
    assert (answers, reader.requests) == (["first", "first", "second"], 3)


def test_a_file_is_kept_only_if_its_reader_says_so(tmp_path: Path) -> None:
    reader = Reader(tmp_path, lambda request: Response(b"good"))
    for keep in (lambda text: text != "good", lambda text: text == "good", lambda text: False):
        reader.read(math.inf, keep=keep)
    assert reader.requests == 2


# A stored file, without a client.

URL, RECEIPT = Place("https://a/x"), 1_700_000_005.25
OTHER = Place("https://a/y")
BODY = Stored({"Last-Modified": "Thu, 15 Feb 2024 21:00:00 GMT"}, b"body", RECEIPT)


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path)}


@pytest.fixture
def stored(environ: dict[str, str], tmp_path: Path) -> Path:
    cache.store(environ, URL, BODY)
    (path,) = (tmp_path / ".cache/pit_fetch").iterdir()
    return path


def test_of_files_stored_up_to_a_number_the_newest_stay(environ: dict[str, str], tmp_path: Path) -> None:
    places = [Place(f"https://a/{number}", 8) for number in range(20)]
    cache.store(environ, URL, BODY)
    known = set(tmp_path.rglob("file-*"))
    for age, place in enumerate(places):
        cache.store(environ, place, BODY)
        for path in set(tmp_path.rglob("file-*")) - known:
            os.utime(path, (age, age))
            known.add(path)
        assert len([*tmp_path.rglob("file-*")]) <= 9
    assert [place for place in places if cache.load(environ, place, math.inf, RECEIPT)] == places[-8:]
    assert cache.load(environ, URL, math.inf, RECEIPT)


CHANGES = [lambda body: body[:-1], lambda body: body + b"y", lambda body: body.replace(b"5.25", b"6.25"), bytes.upper]


@pytest.mark.parametrize("change", [*CHANGES, lambda body: b"", lambda body: b"x"])
def test_a_file_that_was_changed_is_none(
    environ: dict[str, str], stored: Path, change: Callable[[bytes], bytes]
) -> None:
    stored.write_bytes(change(stored.read_bytes()))
    assert cache.load(environ, URL, math.inf, RECEIPT + 1) is None


def test_a_file_is_that_of_its_address_and_this_user_s(environ: dict[str, str], stored: Path) -> None:
    assert stored.stat().st_mode & 0o077 == 0
    assert cache.load(environ, OTHER, HOUR, RECEIPT) is None
    body = stored.read_bytes()
    cache.store(environ, OTHER, BODY._replace(body=b"another"))
    (other,) = (path for path in stored.parent.iterdir() if path != stored)
    other.write_bytes(body)
    assert cache.load(environ, URL, HOUR, RECEIPT) == BODY
    assert cache.load(environ, OTHER, HOUR, RECEIPT) is None


@pytest.mark.parametrize("plant", ["link", "hard link", "pipe", "folder"])
def test_what_was_planted_for_a_file_is_neither_read_nor_followed(
    environ: dict[str, str], stored: Path, tmp_path: Path, plant: str
) -> None:
    other = stored.rename(tmp_path / "other")
    match plant:
        case "link":
            stored.symlink_to(other)
        case "hard link":
            stored.hardlink_to(other)
        case "pipe":
            os.mkfifo(stored)
        case "folder":
            stored.mkdir()
    before = other.read_bytes()
    assert cache.load(environ, URL, HOUR, RECEIPT) is None
    cache.store(environ, URL, BODY._replace(body=b"new"))
    assert other.read_bytes() == before
    assert (cache.load(environ, URL, HOUR, RECEIPT) is None) is (plant == "folder")
    assert [name for name in os.listdir(stored.parent) if name != stored.name] == []


def test_no_name_that_can_be_foreseen_is_written_to(
    environ: dict[str, str], stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.write_bytes(b"of another")
    monkeypatch.setattr(os, "urandom", bytes)
    for name in (f"{stored}.{os.getpid()}", f"{stored}.{bytes(8).hex()}"):
        os.symlink(other, name)
    cache.store(environ, URL, BODY._replace(body=b"new"))
    assert other.read_bytes() == b"of another"


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o1777])
def test_a_folder_that_others_may_write_to_is_not_used(environ: dict[str, str], mode: int) -> None:
    assert cache.folder(environ)
    os.chmod(cache.folder(environ), mode)
    assert cache.folder(environ) == ""


def test_a_folder_of_another_user_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / "pit_fetch").symlink_to(tmp_path / "elsewhere")
    assert cache.folder(environ)  # this user's own link to this user's own folder
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert cache.folder(environ) == ""
    (tmp_path / "pit_fetch").unlink()
    (tmp_path / "pit_fetch").mkdir()
    assert cache.folder(environ) == ""


def test_without_a_folder_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for environ in ({}, {"HOME": str(tmp_path / "file")}):
        cache.store(environ, URL, BODY)
        assert cache.load(environ, URL, HOUR, RECEIPT) is None
