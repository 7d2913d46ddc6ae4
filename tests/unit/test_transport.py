"""The seam to the network: what a request and a reply tell of themselves, recorded exchanges, and their replay."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

from pit_fetch.testing.server import Answering, Response
from pit_fetch.transport import (
    HttpReply,
    HttpRequest,
    RecordingTransport,
    ReplayingTransport,
    Signature,
    Transport,
    TransportError,
    as_texts,
    identity,
)

NOW = datetime(2024, 2, 15, 21, tzinfo=UTC)
SECRET = "k-0123456789abcdef"
SIGNED = Signature({"token": SECRET}, {"Authorization": f"Bearer {SECRET}"})
ASKED = HttpRequest("GET", "https://API.example/items", {"q": "a b"}, {"Accept": "application/json"}, signature=SIGNED)


def reply(body: bytes) -> HttpReply:
    return HttpReply(200, {}, body, NOW)


def test_a_request_shows_what_the_host_sees() -> None:
    assert (ASKED.host, ASKED.path) == ("api.example", "/items")
    assert ASKED.query == {"q": "a b", "token": SECRET}
    assert ASKED.sent_headers == {"Accept": "application/json", "Authorization": f"Bearer {SECRET}"}
    assert (ASKED.header("authorization"), ASKED.header("x-none")) == (f"Bearer {SECRET}", "")


@pytest.mark.parametrize("name", ["Retry-After", "retry-after", "RETRY-AFTER"])
def test_a_header_is_found_whatever_its_case(name: str) -> None:
    received = HttpReply(200, {"rEtRy-AfTeR": "7"}, b"", NOW)
    assert (received.header(name), received.header("Retry")) == ("7", "")


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (ASKED._replace(signature=Signature()), True),
        (ASKED._replace(signature=Signature({"token": "another"})), True),
        (ASKED._replace(headers={}), True),
        (ASKED._replace(timeout=1.0), True),
        (ASKED._replace(params={"q": ("a b",)}), True),
        (ASKED._replace(params={"q": ["a", "b"]}), False),
        (ASKED._replace(params={}), False),
        (ASKED._replace(url="https://API.example/other"), False),
        (ASKED._replace(method="POST"), False),
        (ASKED._replace(body=b"{}"), False),
    ],
)
def test_keys_headers_and_time_are_no_part_of_a_request_s_identity(other: HttpRequest, same: bool) -> None:
    assert (identity(other) == identity(ASKED)) is same
    assert (identity(other._replace(params=dict(other.params))) == identity(other)) is True
    assert SECRET not in repr(identity(other))


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        *(("a b", "a b"), ("", ""), (20, "20"), (0.5, "0.5"), (True, "true"), (date(2024, 2, 15), "2024-02-15")),
        *((("a", 5), ["a", "5"]), (["a"], ["a"]), (iter(("a", "b")), ["a", "b"]), ((), [])),
    ],
)
def test_a_parameter_of_any_type_is_a_text_from_here_on(value: Any, sent: object) -> None:
    assert as_texts({"name": value}) == {"name": sent}


def test_a_replay_answers_in_the_order_of_the_recording_and_repeats_the_last_reply() -> None:
    other = ASKED._replace(url="https://api.example/other")
    replay = ReplayingTransport([(ASKED, reply(b"1")), (other, reply(b"x")), (ASKED, reply(b"2"))])
    keyless = ASKED._replace(signature=Signature(), timeout=3.0)
    requests = (keyless, other, ASKED, keyless, other)
    assert [replay.send(request).body for request in requests] == [b"1", b"x", b"2", b"2", b"x"]


def test_what_was_never_recorded_fails_as_such() -> None:
    with pytest.raises(TransportError) as failed:
        ReplayingTransport([(ASKED, reply(b"1"))]).send(ASKED._replace(params={"q": "c"}))
    assert (failed.value.fault, failed.value.passing) == ("unrecorded", False)


def test_a_recording_holds_the_exchanges_that_completed_and_is_replayed_as_it_was() -> None:
    responses = iter([Response(b"late", 503), Response(hang=True), Response(b"ok", headers={"A": "1"})])
    server = Answering(lambda _: next(responses), lambda: NOW)
    recorded: list[tuple[HttpRequest, HttpReply]] = []
    recorder: Transport = RecordingTransport(server, lambda *exchange: recorded.append(exchange))
    replies = [recorder.send(ASKED)]
    with pytest.raises(TransportError):
        recorder.send(ASKED)
    replies.append(recorder.send(ASKED))
    assert replies == [HttpReply(503, {}, b"late", NOW), HttpReply(200, {"A": "1"}, b"ok", NOW)]
    assert recorded == [(ASKED, reply) for reply in replies]
    replay = ReplayingTransport(recorded)
    assert [replay.send(ASKED) for _ in replies] == replies
