"""The HTTP client's policy, on a transport in this process: retries, deadline, redirects, hosts, keys, and texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import pytest

from pit_fetch.errors import ConfigError, UpstreamError
from pit_fetch.net import client
from pit_fetch.net.hosts import base_url
from pit_fetch.provider import Bearer, HeaderKey, Host, HttpReply, QueryKey, Rate, Retry
from pit_fetch.testing.inprocess import TestClock
from pit_fetch.testing.server import Answering, App, Response
from pit_fetch.transport import Fault, HttpRequest, RecordingTransport, Transport, TransportError

NOW = datetime(2024, 2, 15, 21, tzinfo=UTC)
KEY = "k-0123456789&abcdef"
BASE = "https://demo.example:8443"


@dataclass
class Demo:
    """A client of one host, whose requests ``app`` answers in this process and in no time."""

    app: App
    clock: TestClock = field(default_factory=lambda: TestClock(NOW))
    auth: Bearer | QueryKey | HeaderKey | None = None
    rate: Rate | None = None
    retry: Retry = field(default_factory=Retry)
    base: str = BASE
    environ: Mapping[str, str] = field(default_factory=dict)
    addresses: list[str] = field(default_factory=list)
    others: tuple[Host, ...] = ()

    def __post_init__(self) -> None:
        self.transport = Answering(self.app, self.clock.now, self.clock.value().sleep)

    def client(self, timeout: float = 30.0, transport: Transport | None = None) -> client.Client:
        return client.Client(
            hosts=(
                Host("Demo", "https://demo.invalid", "DEMO_URL", self.rate, self.auth, retry=self.retry),
                *self.others,
            ),
            credentials={"key": KEY},
            environ={"DEMO_URL": self.base, **self.environ},
            clock=self.clock.value(),
            transport=transport or self.transport,
            timeout=timeout,
            deadline=self.clock.passed + timeout,
            on_request=self.addresses.append,
        )

    def get(self, timeout: float = 30.0, **params: str) -> HttpReply:
        return self.client(timeout).get("Demo", "/path", params, {"Accept": "application/json"})

    @property
    def requests(self) -> list[HttpRequest]:
        return [request for request, _ in self.transport.exchanges]

    def code(self, timeout: float = 30.0) -> str:
        """Return the code of the gap of a GET that fails."""
        with pytest.raises(UpstreamError) as failed:
            self.get(timeout)
        return failed.value.gap.code


def answers(*responses: Response) -> App:
    pending = list(responses)
    return lambda _: pending.pop(0)


@dataclass
class Failing:
    """A transport whose exchanges all end in the same fault."""

    error: TransportError
    tries: int = 0

    def send(self, request: HttpRequest) -> HttpReply:
        self.tries += 1
        raise self.error


# The deadline and retries.


def test_a_reply_is_what_the_host_sent_and_when_it_was_received() -> None:
    demo = Demo(answers(Response(b"x", 404, {"A": "1"})))
    assert demo.get(q="a b") == HttpReply(404, {"A": "1"}, b"x", NOW)
    (asked,) = demo.requests
    assert (asked.method, asked.url, asked.params, asked.body) == ("GET", f"{BASE}/path", {"q": "a b"}, None)
    assert (asked.headers, asked.timeout, demo.addresses) == ({"Accept": "application/json"}, 30.0, [f"{BASE}/path"])


@pytest.mark.parametrize(
    ("retry", "statuses"),
    [
        *((Retry(), [status, 200]) for status in (408, 425, 429, 500, 502, 503, 504)),
        *((Retry(), [status]) for status in (201, 400, 401, 403, 404, 422, 501)),
        (Retry(Retry().statuses | {403}), [403, 500, 404]),
        (Retry({403}), [403, 500]),
        (Retry(frozenset()), [503]),
        (Retry(tries=6), [500] * 5 + [200]),
    ],
)
def test_a_host_s_policy_decides_which_statuses_are_tried_again(retry: Retry, statuses: list[int]) -> None:
    demo = Demo(answers(*[Response(status=status) for status in statuses]), retry=retry)
    assert (demo.get().status, len(demo.requests)) == (statuses[-1], len(statuses))


def test_a_declared_status_that_outlasts_the_tries_does_not_reach_the_provider() -> None:
    demo = Demo(lambda _: Response(b"SECRET", 403), retry=Retry({403}, tries=2, backoff=5.0))
    with pytest.raises(UpstreamError, match="Demo answered with HTTP 403: it refuses access"):
        demo.client().get("Demo", "/", retry_after=lambda reply: pytest.fail("it is for the other statuses"))
    (pause,) = demo.clock.pauses
    assert 5 <= pause <= 10
    once = Demo(lambda _: Response(b"SECRET", 500), retry=Retry(tries=1))
    assert (once.code(), len(once.requests)) == ("http_status", 1)


def test_after_a_429_of_a_host_that_wants_a_pause_no_client_asks_for_as_long(tmp_path: Path) -> None:
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    demo = Demo(answers(Response(b"", 429), Response(b"ok")), rate=Rate(9), retry=Retry(pause=60.0), environ=environ)
    with pytest.raises(UpstreamError, match="asks for fewer requests"):
        demo.get(timeout=30.0)
    with pytest.raises(UpstreamError, match="none for 60 s after a 429"):
        demo.get(timeout=30.0)
    assert len(demo.requests) == 1
    assert demo.get(timeout=90.0).body == b"ok"
    assert 60.0 <= demo.clock.passed < 61.0


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
    demo = Demo(answers(Response(status=429, headers={"retry-after": value}), Response(b"ok")))
    demo.get()
    assert demo.clock.pauses == [pytest.approx(seconds, abs=0.21)]


THROTTLED, FAILED = "Demo asks for fewer requests (HTTP 429)", "Demo answered with HTTP 503"


def test_a_busy_host_is_asked_again_and_its_last_reply_is_returned() -> None:
    def busy(reply: HttpReply) -> float | None:
        return 3.0 if reply.body == b"later" else None

    demo = Demo(answers(Response(b"later"), Response(b"later"), Response(b"ok")))
    assert demo.client().get("Demo", "/", retry_after=busy).body == b"ok"
    assert demo.clock.pauses == [3.0, 3.0]
    never = Demo(lambda _: Response(b"later"))
    assert never.client().get("Demo", "/", retry_after=busy).body == b"later"
    assert len(never.requests) == 4


FAULTS = get_args(Fault)
REASONS = {
    "network": "Demo cannot be reached: check the network",
    "unresolved": "The name demo.example:8443 (Demo) cannot be resolved",
    "refused": "Demo refuses connections at demo.example:8443: check DEMO_URL if it is set",
    "proxy": "check HTTPS_PROXY, HTTP_PROXY and ALL_PROXY, or add demo.example to NO_PROXY.",
    "tls": "No secure connection (TLS) to Demo at demo.example:8443 could be made",
    "certificate": "The certificate that Demo presents at demo.example:8443 is not accepted: in words of the program.",
    "certificate_file": "verifying Demo cannot be read: check the file named by REQUESTS_CA_BUNDLE or CURL_CA_BUNDLE.",
    "malformed": "The source sent an unreadable reply: in words of the program. Try again later",
    "timeout": "Demo did not answer completely before the deadline (--timeout 30): try again later",
    "too_large": "Demo sent a reply larger than 64 MB: narrow the request",
    "unrecorded": "What was recorded holds no reply of Demo",
    "unsendable": "DEMO_URL must be https://HOST",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_states_what_to_check(fault: Fault) -> None:
    failing = Failing(TransportError(fault, "in words of the program"))
    with pytest.raises((UpstreamError, ConfigError)) as failed:
        Demo(answers(), auth=QueryKey("key", "token")).client(transport=failing).get("Demo", "/path", {"q": "word"})
    assert REASONS[fault] in str(failed.value)
    assert failing.tries == 1, "another try was not expected to help"
    assert KEY not in str(failed.value)


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault not in ("timeout", "unsendable")])
def test_what_another_try_may_overcome_is_tried_again(fault: Fault) -> None:
    failing, demo = Failing(TransportError(fault, passing=True)), Demo(answers())
    with pytest.raises(UpstreamError) as failed:
        demo.client(transport=failing).get("Demo", "/path")
    assert (failing.tries, failed.value.gap.code, len(demo.clock.pauses)) == (4, fault, 3)


def test_a_fault_once_the_deadline_has_passed_is_the_deadline_s() -> None:
    demo = Demo(answers())

    class Slow:
        def send(self, request: HttpRequest) -> HttpReply:
            demo.clock.passed += request.timeout
            raise TransportError("network", passing=True)

    client = demo.client(5.0, Slow())
    for _ in range(2):  # and no request is made after it
        with pytest.raises(UpstreamError, match="--timeout 5") as failed:
            client.get("Demo", "/")
        assert failed.value.is_deadline
    assert client.requests_made == 1


def test_a_server_that_hangs_ends_at_the_deadline() -> None:
    demo = Demo(answers(Response(hang=True)))
    assert (demo.code(), demo.clock.passed) == ("timeout", 30)


def test_with_less_patience_an_exchange_that_hangs_fails_alone() -> None:
    demo = Demo(answers(Response(hang=True), Response(hang=True), Response(b"x")))
    client = demo.client(16)
    for passed in (4, 7):
        with pytest.raises(UpstreamError) as failed:
            client.get("Demo", "/path", patience=0.25)
        assert (failed.value.gap.code, failed.value.is_deadline, demo.clock.passed) == ("slow", False, passed)
    assert client.get("Demo", "/path", patience=0.25).body == b"x"


# Redirects.


def redirect(location: str, status: int = 302) -> Response:
    return Response(b"SECRET", status, {"location": location})


@pytest.mark.parametrize("status", sorted(client.REDIRECTS))
@pytest.mark.parametrize("location", ["/other?page=2", f"{BASE}/other?page=2", "other?page=2"])
def test_a_redirect_on_the_same_host_is_followed_and_brings_its_own_query(status: int, location: str) -> None:
    demo = Demo(answers(redirect(location, status), Response(b"ok")))
    assert demo.get(q="a").body == b"ok"
    assert (demo.requests[1].url, demo.requests[1].query) == (f"{BASE}/other?page=2", {})
    assert demo.addresses == [f"{BASE}/path", f"{BASE}/other"]


OTHER_HOSTS = ["https://elsewhere.invalid/", "https://demo.example/", "http://demo.example:8443/", "//demo.example:9/"]
NO_ADDRESSES = ["http://[::1", "http://[", "//[x]/", "https://demo.example:port/", "http://", "ftp://a/"]


@pytest.mark.parametrize("location", [*OTHER_HOSTS, "//user@demo.example:8443/", *NO_ADDRESSES])
def test_a_redirect_that_leads_elsewhere_or_nowhere_is_not_followed(location: str) -> None:
    demo = Demo(answers(redirect(location)))
    assert (demo.code(), len(demo.requests)) == ("redirected", 1)


def test_redirects_come_to_an_end() -> None:
    demo = Demo(lambda _: redirect("/other"))
    assert (demo.code(), len(demo.requests)) == ("redirected", client.MAX_REDIRECTS + 1)


# Paths. One may come from a reply: the address of the next page.

PATHS = ["@evil.example/x", ".evil.example/x", ":444/x", "//evil.example/x", "https://evil.example/", "x", "", "?q=1"]


@pytest.mark.parametrize("path", [*PATHS, "/\ud800"])
@pytest.mark.parametrize("how", ["get", "head", "post", "get_cached"])
def test_what_is_not_a_path_on_the_host_is_not_asked(path: str, how: str, tmp_path: Path) -> None:
    demo = Demo(lambda _: Response(b"ok"), auth=QueryKey("key", "token"), environ={"HOME": str(tmp_path)})
    client = demo.client()
    asks: Mapping[str, Callable[[], object]] = {
        "get": lambda: client.get("Demo", path),
        "head": lambda: client.head("Demo", path),
        "post": lambda: client.post("Demo", path, {}),
        "get_cached": lambda: client.get_cached("Demo", path, 60.0, lambda reply: reply.body),
    }
    with pytest.raises(UpstreamError, match="not a path on Demo") as failed:
        asks[how]()
    assert (failed.value.gap.code, demo.requests, demo.addresses) == ("not_a_path", [], [])
    assert "evil" not in str(failed.value)


# Keys.

AUTHS: Mapping[str, Bearer | QueryKey | HeaderKey] = {
    "bearer": Bearer("key"),
    "query": QueryKey("key", "token"),
    "header": HeaderKey("key", "X-Key"),
}


def key_of(request: HttpRequest) -> list[str]:
    """Return the places in which a server finds the key."""
    seen = {"bearer": request.header("authorization").removeprefix("Bearer "), "header": request.header("x-key")}
    return [place for place, value in {**seen, "query": request.query.get("token")}.items() if value == KEY]


@pytest.mark.parametrize("place", list(AUTHS))
@pytest.mark.parametrize("method", ["get", "post"])
def test_a_declared_key_reaches_the_host_and_stands_in_the_signature_alone(place: str, method: str) -> None:
    demo = Demo(lambda _: Response(b"ok"), auth=AUTHS[place])
    noted: list[HttpRequest] = []
    client = demo.client(transport=RecordingTransport(demo.transport, lambda request, _: noted.append(request)))
    if method == "get":
        client.get("Demo", "/path", {"q": "a"}, {"Accept": "x"})
    else:
        client.post("Demo", "/path", {"q": "a"}, {"q": "a"}, {"Accept": "x"})
    (asked,) = noted
    assert key_of(asked) == [place]
    assert (asked.params, asked.headers["Accept"]) == ({"q": "a"}, "x")
    assert KEY not in repr(asked._replace(signature=type(asked.signature)()))
    assert not any(KEY in line for line in demo.addresses)


@pytest.mark.parametrize("place", list(AUTHS))
def test_a_redirect_keeps_the_key_of_a_header_and_drops_that_of_the_query(place: str) -> None:
    demo = Demo(answers(redirect("/other"), Response(b"ok")), auth=AUTHS[place])
    demo.get(q="a")
    assert [key_of(request) for request in demo.requests] == [[place], [] if place == "query" else [place]]


# HEAD and POST.


@pytest.mark.parametrize("response", [Response(status=500), Response(b"x", cut=0), Response(b"busy")])
@pytest.mark.parametrize(("repeatable", "tries"), [(False, 1), (True, 2)])
def test_a_post_is_repeated_only_where_that_is_declared_harmless(
    response: Response, repeatable: bool, tries: int
) -> None:
    def post() -> HttpReply:
        return demo.client().post(
            "Demo", "/", {}, retry_after=lambda reply: 1.0 if reply.body == b"busy" else None, repeatable=repeatable
        )

    demo = Demo(answers(response, Response(b"ok")), retry=Retry(tries=9))
    if repeatable:
        assert post().body == b"ok"
    elif response.body == b"busy":
        assert post().body == b"busy"
    else:
        with pytest.raises(UpstreamError):
            post()
    assert len(demo.requests) == tries


@pytest.mark.parametrize("status", sorted(client.REDIRECTS))
def test_a_post_is_sent_elsewhere_only_where_the_server_has_not_taken_it(status: int) -> None:
    """RFC 9110, 15.4: 307 and 308 ask for the same request again; after the others it may have been done."""
    demo = Demo(answers(redirect("/other", status), Response(b"ok")))
    client = demo.client()
    if status in (307, 308):
        assert client.post("Demo", "/", {"a": 1}).body == b"ok"
        assert (demo.requests[1].method, demo.requests[1].url, demo.requests[1].body) == (
            "POST",
            f"{BASE}/other",
            b'{"a": 1}',
        )
        return
    with pytest.raises(UpstreamError, match="redirects"):
        client.post("Demo", "/", {"a": 1}, repeatable=True)
    assert len(demo.requests) == 1


# Hosts and rates.


HOST = Host("Demo", "https://demo.invalid", "DEMO_URL")
LOOPBACK = ["http://127.0.0.1:8080", "http://localhost", "http://[::1]:80"]
NOT_HTTPS = ["http://api.example", "http://127.0.0.1.example", "ftp://api.example", "api.example", "https://"]
NOT_BARE = [
    "https://user@api.example",
    "https://api.example/path",
    "https://api.example?x=1",
    "https://api.example:port",
]


@pytest.mark.parametrize("url", ["https://api.example", "https://api.example:8443/", *LOOPBACK])
def test_a_base_url(url: str) -> None:
    assert base_url(HOST, {"DEMO_URL": url}) == url.rstrip("/")


@pytest.mark.parametrize("url", [*NOT_HTTPS, *NOT_BARE])
def test_a_base_url_that_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="DEMO_URL must be"):
        base_url(HOST, {"DEMO_URL": url})


def test_a_host_that_is_not_declared_is_not_asked() -> None:
    demo = Demo(answers())
    with pytest.raises(KeyError):
        demo.client().get("Another", "/")
    assert demo.addresses == []


def test_a_call_that_our_own_limit_ends_names_it_and_takes_no_turn(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "PIT_FETCH_RATE_DEMO_INVALID": "1/50"}
    demo = Demo(lambda _: Response(b"ok"), rate=Rate(100), environ=environ)
    for _ in range(4):
        demo.get(70.0)
        with pytest.raises(UpstreamError) as failed:
            demo.get(40.0)
        assert str(failed.value) == (
            "This machine's own limit for demo.example:8443 (1 request in 50 s) leaves no room before the deadline: "
            "try again later, raise --timeout above 40, or set PIT_FETCH_RATE_DEMO_INVALID."
        )
        assert failed.value.is_deadline
    assert len(demo.requests) == 4
    assert demo.clock.pauses == [pytest.approx(50.0, abs=1.0)] * 3
