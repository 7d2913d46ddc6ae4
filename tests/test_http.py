"""The HTTP client against a loopback server: retries, deadline, caps, redirects, hosts."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st

from pit_fetch import http
from pit_fetch.errors import ConfigError, UpstreamError
from pit_fetch.provider import Host, Rate, Reply
from pit_fetch.unreachable import explain
from pit_fetch.world import Clock
from tests.loopback.server import App, Request, Response, serve

NOW = datetime(2024, 2, 15, 21, tzinfo=UTC)


class Slept(list[float]):
    """A clock whose sleeps pass at once and are remembered."""

    def clock(self) -> Clock:
        start = time.monotonic()
        return Clock(lambda: NOW, lambda: time.monotonic() - start + sum(self), lambda: 1000.0 + sum(self), self.append)


def client(url: str, slept: Slept, timeout: float = 70.0, **environ: str) -> http.Client:
    return http.Client(
        hosts=(Host("Demo", "https://demo.invalid", "DEMO_URL", Rate(100)),),
        environ={"DEMO_URL": url, **environ},
        clock=slept.clock(),
        timeout=timeout,
        deadline=sum(slept) + timeout,
        on_request=lambda _: None,
    )


def get(app: App, slept: Slept | None = None, timeout: float = 30.0, override: Callable[[str], str] = str) -> Reply:
    slept = Slept() if slept is None else slept
    with serve(app) as server:
        asking = client(override(server.url), slept, timeout)
        return asking.get("Demo", "/path", {"q": "a b"}, {"Accept": "application/json"})


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


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        ("junk", 0.2),
        ("-5", 0.2),
        ("", 0.2),
        ("7.5", 0.2),
        ("\xb2", 0.2),
        ("Thu, 15 Feb 2024 21:00:09 GMT", 9.0),
        ("Thu, 15 Feb 2024 16:00:09 -0500", 9.0),
        ("Thu, 15 Feb 2024 20:00:00 GMT", 0.2),
        ("Thu, 99 Feb 2024 20:00:00 GMT", 0.2),
    ],
)
def test_retry_after_is_honoured(value: str, seconds: float) -> None:
    slept = Slept()
    get(answers(Response(status=429, headers={"Retry-After": value}), Response(b"ok")), slept)
    assert slept[0] == pytest.approx(seconds, abs=0.21)


def test_a_retry_after_beyond_the_deadline_gives_up_at_once() -> None:
    slept = Slept()
    with pytest.raises(UpstreamError) as failed:
        get(answers(Response(status=429, headers={"Retry-After": "3600"})), slept)
    assert (failed.value.gap.code, slept) == ("throttled_wait", [])


@pytest.mark.parametrize(
    ("status", "value", "said"),
    [
        (429, "3600", "Demo asks for fewer requests (HTTP 429) and to wait 3600 seconds: try again then."),
        (500, "3600", "Demo answered with HTTP 500 and asks to wait 3600 seconds: try again then."),
        (
            503,
            "Thu, 15 Feb 2024 22:00:00 GMT",
            "Demo answered with HTTP 503 and asks to wait 3600 seconds: try again then.",
        ),
        (503, "9" * 3_000, "Demo answered with HTTP 503 and asks to wait 86400 seconds: try again then."),
        (
            503,
            "Thu, 15 Feb 9999 22:00:00 GMT",
            "Demo answered with HTTP 503 and asks to wait 86400 seconds: try again then.",
        ),
        (503, "SECRET", "Demo answered with HTTP 503."),
        (429, "", "Demo asks for fewer requests (HTTP 429): try again later."),
    ],
)
def test_the_wait_that_a_server_asks_for_is_told_as_a_number(status: int, value: str, said: str) -> None:
    with pytest.raises(UpstreamError) as failed:
        get(answers(*[Response(status=status, headers={"Retry-After": value})] * http.MAX_TRIES))
    assert str(failed.value) == said


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


@pytest.mark.parametrize(
    "location",
    [
        "http://[::1",
        "http://[",
        "//[x]/",
        "http://127.0.0.1:port/",
        "https://",
        "ftp://a/",
    ],
)
def test_a_redirect_that_leads_nowhere_is_one_that_is_not_followed(location: str) -> None:
    assert code_of(answers(Response(status=302, headers={"Location": location}))) == "redirected"


@given(st.text(st.characters(codec="latin-1"), max_size=20))
def test_any_location_is_an_address_of_the_host_or_none(text: str) -> None:
    base = "http://127.0.0.1:80"
    for location in (text, f"{base}/{text}", f"//{text}", f"http://{text}"):
        target = http._target(f"{base}/path", location, base)
        assert target is None or urlsplit(target).netloc == "127.0.0.1:80"
        assert isinstance(http._can_be_asked(target or urljoin(base, "x")), bool)


def test_no_error_holds_the_url_or_what_the_server_said() -> None:
    with pytest.raises(UpstreamError) as failed:
        get(answers(*[Response(b"SECRET", 500)] * http.MAX_TRIES))
    assert str(failed.value) == "Demo answered with HTTP 500."


def unreachable(url: str, monkeypatch: pytest.MonkeyPatch, **environ: str) -> str:
    """What is said of a host at ``url`` that cannot be asked, in a process with these variables."""
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(UpstreamError) as failed:
        get(answers(), override=lambda _: url)
    return str(failed.value)


def no_such_name(*_: Any) -> Any:
    raise socket.gaierror(socket.EAI_NONAME, "SECRET")


def test_what_stands_between_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert unreachable("http://127.0.0.1:9", monkeypatch) == (
        "Demo refuses the connection at 127.0.0.1:9: check DEMO_URL if it is set, or try again later."
    )
    proxy = (
        "The proxy on the way to Demo lets nothing through: check HTTPS_PROXY, HTTP_PROXY and ALL_PROXY, "
        "or name demo.invalid in NO_PROXY."
    )
    for address in ("http://user:SECRET@127.0.0.1:9", "http://[::1", "socks5://127.0.0.1:9"):
        assert unreachable("https://demo.invalid", monkeypatch, HTTPS_PROXY=address) == proxy
    assert unreachable("https://demo.invalid", monkeypatch, REQUESTS_CA_BUNDLE="/no/such/file") == (
        "The certificates to check Demo by cannot be read: check the file that REQUESTS_CA_BUNDLE or "
        "CURL_CA_BUNDLE names."
    )
    monkeypatch.setattr(socket, "getaddrinfo", no_such_name)
    assert unreachable("https://demo.invalid", monkeypatch) == (
        "The name demo.invalid (Demo) cannot be resolved: check the network and its DNS, or try again later."
    )


def test_a_host_name_that_cannot_be_is_the_setting_s_fault() -> None:
    with pytest.raises(ConfigError, match="DEMO_URL must be"):
        get(answers(), override=lambda _: "https://a..b")


def test_a_certificate_that_is_not_accepted_is_named_and_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(Path(__file__).parent / "loopback" / "self_signed.pem")
    slept = Slept()
    with (
        serve(lambda _: Response(b"ok"), context) as server,
        pytest.raises(
            UpstreamError, match=r"127\.0\.0\.1:\d+ is not accepted: it is self-signed; .*REQUESTS_CA_BUNDLE"
        ),
    ):
        client(server.url.replace("http:", "https:"), slept).get("Demo", "/")
    assert slept == []


def test_a_server_without_tls_is_no_matter_of_the_network() -> None:
    with pytest.raises(UpstreamError, match=r"No secure connection \(TLS\) to Demo"):
        get(answers(), override=lambda url: url.replace("http:", "https:"))


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (10, "has expired"),
        (9, "not valid yet"),
        (62, "another host name"),
        (20, "who issued it"),
        (99, "OpenSSL's code 99"),
    ],
)
def test_what_is_wrong_with_a_certificate(code: int, said: str) -> None:
    cause = ssl.SSLCertVerificationError("SECRET")
    cause.verify_code = code
    error = requests.exceptions.SSLError("SECRET")
    error.__context__ = cause
    told = str(explain(error, Host("Demo", "https://demo.invalid", "DEMO_URL"), "https://demo.invalid"))
    assert said in told
    assert "SECRET" not in told


def test_a_body_whose_compression_is_broken_is_no_matter_of_the_network() -> None:
    assert code_of(answers(Response(b"no gzip", headers={"Content-Encoding": "gzip"}))) == "malformed"


def test_a_call_that_our_own_limit_ends_names_it_and_takes_no_turn(tmp_path: Path) -> None:
    slept = Slept()
    environ = {"HOME": str(tmp_path), "PIT_FETCH_RATE_DEMO_INVALID": "1/50"}
    with serve(lambda _: Response(b"ok")) as server:
        host = urlsplit(server.url).netloc
        for _ in range(4):
            client(server.url, slept, 70.0, **environ).get("Demo", "/")
            with pytest.raises(UpstreamError) as failed:
                client(server.url, slept, 40.0, **environ).get("Demo", "/")
            assert str(failed.value) == (
                f"This machine's own limit of 1 request in 50 s for {host} leaves no turn before the deadline: "
                "try again later, give --timeout more than 40, or set PIT_FETCH_RATE_DEMO_INVALID."
            )
            assert failed.value.is_deadline
    assert len(server.requests) == 4
    assert list(slept) == [pytest.approx(50.0, abs=1.0)] * 3


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
