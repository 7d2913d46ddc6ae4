"""The HTTP client against a loopback server: retries, deadline, caps, redirects, hosts."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from pit_fetch import http
from pit_fetch.errors import ConfigError, UpstreamError
from pit_fetch.provider import Host, Reply
from pit_fetch.world import Clock
from tests.loopback.server import App, Request, Response, serve

NOW = datetime(2024, 2, 15, 21, tzinfo=UTC)


class Slept(list[float]):
    """A clock whose sleeps pass at once and are remembered."""

    def clock(self) -> Clock:
        start = time.monotonic()
        return Clock(lambda: NOW, lambda: time.monotonic() - start + sum(self), lambda: 0.0, self.append)


def get(app: App, slept: Slept | None = None, timeout: float = 30.0, override: Callable[[str], str] = str) -> Reply:
    slept = Slept() if slept is None else slept
    with serve(app) as server:
        client = http.Client(
            hosts=(Host("Demo", "https://demo.invalid", "DEMO_URL"),),
            environ={"DEMO_URL": override(server.url)},
            clock=slept.clock(),
            timeout=timeout,
            deadline=timeout,
            on_request=lambda _: None,
        )
        return client.get("Demo", "/path", {"q": "a b"}, {"Accept": "application/json"})


def answers(*responses: Response) -> App:
    pending = list(responses)
    return lambda _: pending.pop(0)


def code_of(app: App, timeout: float = 30.0) -> str:
    with pytest.raises(UpstreamError) as failed:
        get(app, timeout=timeout)
    return failed.value.gap.code


def test_a_reply_is_complete_and_has_its_receipt() -> None:
    seen: list[Request] = []

    def app(request: Request) -> Response:
        seen.append(request)
        return Response(b"x" * 200_000, 404)

    reply = get(app)
    assert (reply.status, len(reply.body), reply.received_at) == (404, 200_000, NOW)
    assert (seen[0].path, seen[0].query, seen[0].headers["User-Agent"]) == ("/path", {"q": "a b"}, "pit_fetch")


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504])
def test_these_are_tried_again(status: int) -> None:
    assert get(answers(Response(status=status), Response(b"ok"))).body == b"ok"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_these_are_the_provider_s_to_read(status: int) -> None:
    assert get(answers(Response(status=status))).status == status


def test_a_body_that_breaks_off_is_asked_for_again_as_a_whole() -> None:
    assert get(answers(Response(b"0123456789", cut=4), Response(b"0123456789"))).body == b"0123456789"


def test_pauses_grow() -> None:
    slept = Slept()
    assert get(answers(*[Response(status=500)] * 3, Response(b"ok")), slept).body == b"ok"
    assert 0.2 <= slept[0] <= 0.4 <= slept[1] <= 0.8 <= slept[2] <= 1.6


@pytest.mark.parametrize(("value", "seconds"), [("7", 7.0), ("junk", 0.2), ("-5", 0.2)])
def test_retry_after_is_honoured(value: str, seconds: float) -> None:
    slept = Slept()
    get(answers(Response(status=429, headers={"Retry-After": value}), Response(b"ok")), slept)
    assert slept[0] == pytest.approx(seconds, abs=0.21)


def test_a_retry_after_beyond_the_deadline_gives_up_at_once() -> None:
    slept = Slept()
    with pytest.raises(UpstreamError) as failed:
        get(answers(Response(status=429, headers={"Retry-After": "3600"})), slept)
    assert (failed.value.gap.code, slept) == ("throttled", [])


def test_failures() -> None:
    assert code_of(answers(*[Response(status=500)] * http.MAX_TRIES)) == "http_status"
    assert code_of(answers(*[Response(b"0123", cut=2)] * http.MAX_TRIES)) == "network"
    assert code_of(answers(Response(hang=True)), timeout=0.2) == "timeout"


def test_a_body_above_the_cap_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MAX_BODY_BYTES", 100_000)
    assert code_of(answers(Response(b"x" * 100_001))) == "too_large"


def test_redirects_are_followed_to_the_same_host_only() -> None:
    here = Response(status=302, headers={"Location": "/other"})
    away = Response(status=302, headers={"Location": "https://elsewhere.invalid/"})
    assert get(answers(here, Response(b"ok"))).body == b"ok"
    assert code_of(answers(away)) == "redirected"
    assert code_of(answers(*[here] * 9)) == "redirected"


def test_no_error_holds_the_url_or_what_the_server_said() -> None:
    with pytest.raises(UpstreamError) as failed:
        get(answers(*[Response(b"SECRET", 500)] * http.MAX_TRIES))
    assert str(failed.value) == "Demo answered with HTTP 500."


def test_a_refused_connection_is_the_network() -> None:
    with pytest.raises(UpstreamError) as failed:
        get(answers(), override=lambda _: "http://127.0.0.1:9")
    assert failed.value.gap.code == "network"


@pytest.mark.parametrize(
    ("url", "good"),
    [
        ("https://api.example", True),
        ("https://api.example:8443/", True),
        ("http://127.0.0.1:8080", True),
        ("http://localhost", True),
        ("http://[::1]:80", True),
        ("http://api.example", False),
        ("http://127.0.0.1.example", False),
        ("https://user@api.example", False),
        ("https://api.example/path", False),
        ("https://api.example?x=1", False),
        ("https://api.example:port", False),
        ("ftp://api.example", False),
        ("api.example", False),
        ("https://", False),
    ],
)
def test_base_urls(url: str, good: bool) -> None:
    host = Host("Demo", "https://demo.invalid", "DEMO_URL")
    if good:
        assert http.base_url(host, {"DEMO_URL": url}) == url.rstrip("/")
        return
    with pytest.raises(ConfigError, match="DEMO_URL must be"):
        http.base_url(host, {"DEMO_URL": url})


def test_a_netrc_is_not_sent(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("default login someone password something\n")
    monkeypatch.setenv("NETRC", str(netrc))
    seen: list[Request] = []

    def app(request: Request) -> Response:
        seen.append(request)
        return Response(b"ok")

    get(app)
    assert "Authorization" not in seen[0].headers
