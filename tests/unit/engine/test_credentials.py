"""Credentials: the order of their origins, and values that never get out."""

from __future__ import annotations

from pathlib import Path

import pytest

from pit_fetch.engine.credentials import known_secrets, lookup, resolve
from pit_fetch.errors import ConfigError
from pit_fetch.provider import Credential, Operation, Provider
from pit_fetch.support.redaction import redactor
from tests.conftest import Foreign

KEY = Credential("key", ("FIRST_KEY", "SECOND_KEY"), hint="Get one.")


def provider(credential: Credential) -> Provider:
    return Provider(
        name="p",
        summary="",
        credentials=(credential,),
        operations=(Operation(fetch=lambda *_: (), parse_reply=lambda *_: ()),),
    )


@pytest.mark.parametrize(
    ("environ", "env_file", "found"),
    [
        ({"FIRST_KEY": "a", "SECOND_KEY": "b"}, "FIRST_KEY=c", ("FIRST_KEY", "a")),
        ({"FIRST_KEY": " ", "SECOND_KEY": " b "}, "FIRST_KEY=c", ("SECOND_KEY", "b")),
        ({}, "SECOND_KEY=d\nFIRST_KEY='c c'", ("FIRST_KEY", "c c")),
        ({}, "export SECOND_KEY=d # why", ("SECOND_KEY", "d")),
        ({"HOME": "/h"}, "FIRST_KEY=${HOME}", ("FIRST_KEY", "${HOME}")),
        ({}, "OTHER=x", ("", "")),
        ({}, None, ("", "")),
    ],
)
def test_the_environment_first_then_the_env_file(
    tmp_path: Path, environ: dict[str, str], env_file: str | None, found: tuple[str, str]
) -> None:
    (tmp_path / ".env").write_text(env_file or "")
    assert lookup(KEY, environ, str(tmp_path)) == found


@pytest.mark.parametrize(
    "line",
    [
        *(
            "SECOND_KEY: secret",
            "SECOND_KEY:secret",
            "SECOND_KEY secret",
            "- SECOND_KEY: 'secret'",
            '"SECOND_KEY": "secret",',
        ),
        *(
            "set SECOND_KEY=secret",
            "setenv SECOND_KEY secret",
            '$env:SECOND_KEY = "secret"',
            "export SECOND_KEY: secret",
        ),
    ],
)
def test_a_variable_in_the_form_of_another_file_is_told(tmp_path: Path, line: str) -> None:
    (tmp_path / ".env").write_text(f"# keys\n{line}\n")
    with pytest.raises(ConfigError, match="names SECOND_KEY in line 2") as refused:
        lookup(KEY, {}, str(tmp_path))
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    "line", ["SECOND_KEY=", "SECOND_KEY= # none", "SECOND_KEY=''", "SECOND_KEY", "# SECOND_KEY: a", "SECOND_KEY_2: a"]
)
def test_a_variable_without_a_value_is_not_set(tmp_path: Path, line: str) -> None:
    (tmp_path / ".env").write_text(line)
    assert lookup(KEY, {}, str(tmp_path)) == ("", "")


def test_another_user_s_env_file_is_not_followed(tmp_path: Path, foreign: Foreign) -> None:
    inner = tmp_path / "mine"
    inner.mkdir()
    (tmp_path / ".env").write_text("FIRST_KEY=planted-0123456789")
    foreign(tmp_path / ".env")
    with pytest.raises(ConfigError, match="is not followed, since it belongs to another user") as refused:
        lookup(KEY, {}, str(inner))
    assert str(tmp_path / ".env") in str(refused.value)
    assert lookup(KEY, {"FIRST_KEY": "a"}, str(inner)) == ("FIRST_KEY", "a")
    assert known_secrets(provider(KEY), {}, str(inner)) == ()
    (inner / ".env").write_text("SECOND_KEY=b")  # the nearest one counts alone
    assert lookup(KEY, {}, str(inner)) == ("SECOND_KEY", "b")


def test_a_missing_one_names_the_variables_and_where_to_get_it() -> None:
    with pytest.raises(ConfigError, match=r"p needs FIRST_KEY or SECOND_KEY: set it .* Get one"):
        resolve(provider(KEY), {}, "/")


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("secret-value", "it contains no e-mail address"),
        ("secret\x1b@value", "it contains control characters"),
        ("secret\u20ac@value", "it contains characters that a request's header"),
        ("secret\xe9@value", None),
    ],
)
def test_a_malformed_one_names_its_variable_and_is_not_repeated(value: str, problem: str | None) -> None:
    picky = KEY._replace(check=lambda value: None if "@" in value else "it contains no e-mail address.")
    if problem is None:
        assert resolve(provider(picky), {"FIRST_KEY": value}, "/") == {"key": value}
        return
    with pytest.raises(ConfigError, match=f"FIRST_KEY cannot be used: {problem}") as refused:
        resolve(provider(picky), {"FIRST_KEY": value}, "/")
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ('"0123456789"', "it has quotes around it."),
        ("\u201c0123456789\u201d", "it has quotes around it."),
        ("FIRST_KEY=0123456789", "it begins with FIRST_KEY= once more."),
        *(
            (text, "it is a placeholder for a key.")
            for text in ("YOUR_API_KEY", "your-key-here", "<key>", "${FIRST_KEY}")
        ),
    ],
)
def test_a_value_that_was_not_copied_as_it_is_is_not_sent(value: str, problem: str) -> None:
    with pytest.raises(ConfigError) as refused:
        resolve(provider(KEY), {"FIRST_KEY": value}, "/")
    assert f"FIRST_KEY cannot be used: {problem} Get one." in str(refused.value)
    assert "0123456789" not in str(refused.value)


@pytest.mark.parametrize("value", ["$ecret0123", "a'b'c'd'", "yourself", "x" * 20, "SECOND_KEY=x"])
def test_an_unusual_key_is_a_key(value: str) -> None:
    assert resolve(provider(KEY), {"FIRST_KEY": value}, "/") == {"key": value}


def test_a_short_text_is_no_key_unless_the_source_publishes_it() -> None:
    """Redacted, it would change the words and the requests that it is a part of."""
    published = KEY._replace(public=("demo",))
    assert resolve(provider(published), {"FIRST_KEY": "demo"}, "/") == {"key": "demo"}
    with pytest.raises(ConfigError, match="FIRST_KEY cannot be used: it has fewer than 8 characters"):
        resolve(provider(published), {"FIRST_KEY": "IBM"}, "/")
    assert known_secrets(provider(published), {"FIRST_KEY": "demo"}, "/") == ()
    assert known_secrets(provider(published), {"FIRST_KEY": "IBM"}, "/") == ()


def test_what_must_not_get_out_is_known_whatever_else_is_missing(tmp_path: Path) -> None:
    agent = Credential("agent", ("AGENT",), secret=False)
    several = Provider("p", "", credentials=(KEY, agent, Credential("b", ("OTHER_KEY",))))
    environ = {"FIRST_KEY": "a secret\x1b", "AGENT": "Company"}
    assert known_secrets(several, environ, "/") == ("a secret\x1b",)
    (tmp_path / ".env").write_bytes(b"\xff\xfe")
    assert known_secrets(several, environ, str(tmp_path)) == ("a secret\x1b",)


@pytest.mark.parametrize(
    ("secrets", "text", "redacted"),
    [
        (("k+/=1",), "a k+/=1 b k%2B%2F%3D1 c k%2b%2f%3d1", "a [redacted] b [redacted] c [redacted]"),
        (("ab", "abc"), "abc ab", "[redacted] [redacted]"),
        ((), "nothing", "nothing"),
    ],
)
def test_redaction_is_by_value(secrets: tuple[str, ...], text: str, redacted: str) -> None:
    assert redactor(secrets)(text) == redacted
