"""The network of a run with an archive."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from pit_fetch.archive.store import schema
from pit_fetch.transport import HttpReply, HttpRequest, Signature, TransportError
from pit_fetch.world.archived import ArchivedTransport

PIT = datetime(2024, 2, 15, 21, tzinfo=UTC)
NOW = datetime(2026, 11, 29, 1, 2, 3, 456_000, tzinfo=UTC)
KEY = "a-key-of-the-program"
SIGNED = Signature({"token": KEY})
ASKED = [
    HttpRequest("GET", "https://a.test/x", {"q": ["1", "2"]}, signature=SIGNED),
    HttpRequest("GET", "https://a.test/missing", signature=SIGNED),
    HttpRequest("POST", "https://a.test/x", body=b'{"q": 1}', signature=SIGNED),
]


class Source:
    """A source that tells each request from another, and repeats its key."""

    def send(self, request: HttpRequest) -> HttpReply:
        status = 404 if request.path == "/missing" else 200
        return HttpReply(status, {"Content-Type": "text/x", "Set-Cookie": "s=1"}, f"{request!r} {KEY}".encode(), NOW)


def network(path: Path, *, offline: bool = False) -> ArchivedTransport:
    return ArchivedTransport(None if offline else Source(), str(path), PIT, NOW)


def test_the_archive_replies_as_the_source_did_but_for_keys(tmp_path: Path) -> None:
    recording = network(tmp_path / "a.db")
    live = [recording.send(request) for request in ASKED]
    recording.finish(0)
    assert recording.problem == ""
    replaying = network(tmp_path / "a.db", offline=True)
    for request, reply in zip(ASKED, live, strict=True):
        again = replaying.send(request._replace(signature=Signature({"token": "another"})))
        assert (again.status, again.received_at, again.headers) == (reply.status, NOW, {"Content-Type": "text/x"})
        assert again.body == reply.body.replace(KEY.encode(), b"[redacted]")
    assert KEY.encode() not in (tmp_path / "a.db").read_bytes()


def test_what_was_never_recorded_is_no_reply(tmp_path: Path) -> None:
    schema.open_to_write(str(tmp_path / "a.db")).close()
    with pytest.raises(TransportError) as raised:
        network(tmp_path / "a.db", offline=True).send(ASKED[0])
    assert raised.value.fault == "unrecorded"


def test_an_archive_that_fails_costs_no_reply(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_text("no archive")
    recording = network(tmp_path / "a.db")
    assert recording.send(ASKED[0]).status == 200
    assert recording.problem
    recording.finish(0)
