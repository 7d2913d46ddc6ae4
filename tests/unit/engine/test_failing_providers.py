"""A provider that fails: an author is told what its code asks for, and an answer with a PIT says nothing of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pit_fetch.errors import UpstreamError
from pit_fetch.gaps import Code, gap
from pit_fetch.provider import Bearer, Context, Host, Query, Record
from pit_fetch.support.misuse import Misuse, redact_address
from pit_fetch.testing.server import Response
from tests.demo_source import ask as ask_demo
from tests.demo_source import at_pit, demo, nobody, record

SECRET = "withheld-words"
Use = Callable[[Context], object]
KEYED = Host("Demo", "https://demo.example", "DEMO_URL", auth=Bearer("token"))
PLAIN = KEYED._replace(auth=None)

MISTAKES: dict[str, tuple[Use, Host, str]] = {
    "an undeclared host": (
        lambda context: context.http.get("Other", f"/{SECRET}", {"key": SECRET}),
        PLAIN,
        "Other is no declared host: Provider.hosts has Demo.",
    ),
    "an address": (
        lambda context: context.http.get(f"https://user:{SECRET}@other.example:444/{SECRET}?key={SECRET}", "/"),
        PLAIN,
        "other.example is no declared host: Provider.hosts has Demo.",
    ),
    "a credential of a host": (
        lambda context: context.http.get("Demo", "/"),
        KEYED,
        "token is no declared credential: Provider.credentials has none.",
    ),
    "a credential": (
        lambda context: context.credentials["token"],
        PLAIN,
        "token is no declared credential: Provider.credentials has none.",
    ),
    "a file": (
        lambda context: context.file("items.db"),
        PLAIN,
        "items.db is no declared file: Provider.credentials has none.",
    ),
    "a status for a code": (
        lambda context: UpstreamError(402),  # type: ignore[arg-type]
        PLAIN,
        "402 is an HTTP status, and no code: write Code.HTTP_STATUS, host=HOST, status=402",
    ),
    "a text for a code": (
        lambda context: UpstreamError(SECRET),  # type: ignore[arg-type]
        PLAIN,
        "a text stands where a code of pit_fetch.gaps.Code belongs: write Code.MALFORMED,",
    ),
    "a code without its words": (
        lambda context: UpstreamError(Code.HTTP_STATUS, status=402),
        PLAIN,
        'Code.HTTP_STATUS needs host=…, too: its text is "{host} answered with HTTP {status}',
    ),
}


def failing(use: Use, host: Host) -> Any:
    def records(query: Query, context: Context) -> Iterator[Record]:
        yield record("a")
        use(context)

    return demo(records, hosts=(host,))


@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_author_is_told_what_the_code_asks_for(tmp_path: Path, mistake: str) -> None:
    use, host, words = MISTAKES[mistake]
    left = ask_demo(tmp_path, failing(use, host), app=nobody)
    assert words in left.reasons
    assert words in left.audit["failure"]
    assert f"{Path(__file__).name}:" in left.audit["failure"]
    assert (left.code, left.data) == (70, [])
    assert SECRET not in left.out + left.err + str(left.audit["failure"])


@pytest.mark.parametrize("mistake", MISTAKES)
def test_with_a_pit_the_answer_says_nothing_of_it(tmp_path: Path, mistake: str) -> None:
    """A provider may follow what a withheld record says."""
    use, host, words = MISTAKES[mistake]
    left = at_pit(tmp_path, failing(use, host))
    assert left.envelope["gaps"][-1]["reason"] == (
        "The provider demo failed; nothing it returned was used. See the audit file (PIT_FETCH_AUDIT)."
    )
    assert words in left.audit["failure"]


def test_another_exception_keeps_its_text_to_itself(tmp_path: Path) -> None:
    def use(context: Context) -> object:
        raise ValueError(SECRET)

    left = ask_demo(tmp_path, failing(use, PLAIN))
    assert "(ValueError)" in left.reasons
    assert left.audit["failure"].startswith("ValueError at ")
    assert SECRET not in str(left.audit) + left.out + left.err


def test_what_a_status_means_there_is_told(tmp_path: Path) -> None:
    def use(context: Context) -> object:
        status = context.http.get("Demo", "/").status
        raise UpstreamError(Code.HTTP_STATUS, host="Demo", status=status, problem="the plan is over")

    left = at_pit(tmp_path, failing(use, PLAIN), app=lambda request: Response(b"", 402))
    assert "Demo answered with HTTP 402 (the plan is over): it does not accept the request;" in left.reasons


def test_an_error_in_a_saved_reply_is_told(tmp_path: Path) -> None:
    def parse_reply(body: bytes, query: Query) -> Iterator[Record]:
        raise UpstreamError(Code.CREDENTIAL_REFUSED, host="Demo", variables="DEMO_KEY")
        yield

    (tmp_path / "reply.json").write_bytes(b"{}")
    left = at_pit(tmp_path, demo(parse_reply=parse_reply), "--input-file", str(tmp_path / "reply.json"))
    assert "it is an error of the source (Demo refused the credential: check DEMO_KEY). Save a reply" in left.reasons


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Widget News", "Widget News"),
        ("https://api.example.com/v1/items?key=abc", "api.example.com"),
        ("https://user:key@api.example.com:8443", "api.example.com"),
        ("api.example.com/v1", "api.example.com"),
        ("key=abc", "an address"),
        ("?key=abc", "an address"),
        ("https://[", "an address"),
        ("a\x1b[2Jb", "a?[2Jb"),
        ("x" * 90, "x" * 60),
    ],
)
def test_of_an_address_the_host_alone_is_told(text: str, shown: str) -> None:
    assert redact_address(text) == shown


def test_each_reason_is_a_member_under_its_own_name() -> None:
    """So that an error can name the member to write."""
    members = {name: value for name, value in vars(Code).items() if not name.startswith("_")}
    assert {name: value.upper() for name, value in members.items()} == {name: name for name in members}


def test_a_code_that_is_none_is_a_key_error() -> None:
    with pytest.raises(Misuse) as caught:
        gap("no_such_code")  # type: ignore[arg-type]
    assert isinstance(caught.value, KeyError)
