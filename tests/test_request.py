"""The command line as a request: what is refused, and that both call forms are one."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest

from pit_fetch.errors import UsageError
from pit_fetch.provider import Option, Provider, Record
from pit_fetch.request import Request, argv_of, parse

PIT = "2024-02-15T16:00:00-05:00"


def nothing(*_: object) -> list[Record]:
    return []


def demo(*options: Option) -> Provider:
    return Provider(name="demo", summary="s", fetch=nothing, read=nothing, options=options)


ONE = demo(
    Option("op", "h", positional="one"),
    Option("symbol", "h"),
    Option("horizon", "h", choices=("3month", "6month")),
    Option("min_size", "h", kind="integer", minimum=0),
    Option("since_when", "h", kind="instant"),
    Option("tickers", "h", kind="list"),
    Option("exact", "h", kind="flag"),
)
ALL = demo(Option("query", "h", positional="all"), Option("forms", "h", kind="list"))


def request(*words: str, provider: Provider = ONE, env: Mapping[str, str] | None = None) -> Request:
    return parse(["--source", "demo", *words], provider, env or {})


@pytest.mark.parametrize(
    "words",
    [
        ("EARNINGS", "symbol=AAPL", "--limit", "5"),
        ("--limit", "5", "EARNINGS", "symbol=AAPL"),
        ("EARNINGS", "--limit=5", "SYMBOL=AAPL"),
        ("--op", "EARNINGS", "--symbol", "AAPL", "--limit", "5"),
        ("op=EARNINGS", "--symbol=AAPL", "--limit", "5"),
    ],
)
def test_all_call_forms_are_one_request(words: tuple[str, ...]) -> None:
    made = request(*words)
    assert (made.options["op"], made.options["symbol"], made.limit) == ("EARNINGS", "AAPL", 5)
    assert made.canonical == "--source demo --limit 5 --op EARNINGS --symbol AAPL"


def test_values_by_kind() -> None:
    options = request(
        "--horizon=6MONTH", "--min-size", "0", "--since-when", "2024-02-15", "--tickers", " A, B,,", "exact=true"
    ).options
    assert options == {
        "op": None,
        "symbol": None,
        "horizon": "6month",
        "min_size": 0,
        "since_when": datetime(2024, 2, 15, 5, tzinfo=UTC),
        "tickers": ("A", "B"),
        "exact": True,
    }


def test_a_code_is_the_same_request_however_it_was_typed() -> None:
    codes = demo(Option("symbol", "h", upper=True))
    assert request("symbol=ibm", provider=codes) == request("--symbol", "IBM", provider=codes)


def test_bare_words_are_refused_where_no_option_takes_them() -> None:
    with pytest.raises(UsageError, match="demo takes no bare words: write --name VALUE or name=VALUE; see --help"):
        request("word", provider=demo())


def test_a_timeout_may_be_a_fraction() -> None:
    assert request("--timeout", "2.5").timeout == 2.5


def test_fields_are_a_list() -> None:
    assert request("--fields", "title, body").fields == ("title", "body")


def test_words_are_joined_where_a_provider_takes_them_all() -> None:
    made = request("going concern", "OR", "x=1", "--forms", "10-K", "--", "-bank", provider=ALL)
    assert made.options["query"] == "going concern OR x=1 -bank"


def test_a_pit_is_never_a_word() -> None:
    with pytest.raises(UsageError, match="write --pit VALUE"):
        request("going concern", f"PIT={PIT}", provider=ALL)


@pytest.mark.parametrize("words", [(), ("going",)])
def test_what_follows_two_dashes_is_words(words: tuple[str, ...]) -> None:
    """The guard reads no options there either."""
    made = request(*words, "--", "--timeout", "5", "--pit=2030-01-01T00:00:00Z", "--", "--fail", provider=ALL)
    assert made.options["query"] == " ".join([*words, "--timeout 5 --pit=2030-01-01T00:00:00Z -- --fail"])
    assert (made.timeout, made.pit, made.fail) == (60, None, False)


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        (("--limit", "0"), "--limit is a whole number of at least 1"),
        (("--limit", "ten"), "--limit is a whole number of at least 1"),
        (("--limit", "-1"), "--limit"),
        (("--limit", "1", "--limit", "2"), "--limit is given more than once"),
        (("--lmit", "1"), "unrecognized arguments: --lmit (did you mean --limit?); see --help"),
        (("symbl=AAPL",), "symbl=... is not an option of demo (did you mean --symbol?)"),
        (("--zz", "SECRET"), "unrecognized arguments: --zz; see --help"),
        (("--zz=SECRET",), "unrecognized arguments: --zz; see --help"),
        (("--timeout", "0"), "--timeout is a number of seconds above 0"),
        (("--timeout", "soon"), "--timeout is a number of seconds above 0"),
        (("--timeout", "nan"), "--timeout is a number of seconds above 0"),
        (("--date-from", "last week"), "--date-from is YYYY-MM-DD"),
        (("--date-from", "2024-02-16", "--date-to", "2024-02-15"), "--date-from is after --date-to"),
        (("--after", "x"), "copy it from the truncated gap"),
        (("--max-chars", "100"), "at least 4000"),
        (("--fields", ","), "--fields is a comma-separated list"),
        (("--horizon", "1month"), "--horizon is one of 3month, 6month"),
        (("--symbol", ""), "--symbol is empty"),
        (("--tickers", ","), "--tickers is a comma-separated list"),
        (("A", "B"), "demo takes one bare word (op), not 2: write the others as name=VALUE, e.g. symbol=VALUE"),
        (("A", "--op", "B"), "given twice"),
        (("pit=2024-02-15T16:00:00Z",), "write --pit VALUE"),
        (("colour=red",), "colour=... is not an option of demo; see --help"),
        (("exact=maybe",), "exact= takes true or false"),
        (("--pit",), "--pit needs a value: write --pit VALUE"),
    ],
)
def test_what_is_refused_names_the_fix(words: tuple[str, ...], fix: str) -> None:
    with pytest.raises(UsageError) as refused:
        request(*words)
    assert fix in str(refused.value)
    assert "SECRET" not in str(refused.value)


@pytest.mark.parametrize("pit", ["2024-02-15", "2024-02-15 16:00:00Z", "2024-02-15T16:00:00", "now", "", " " + PIT])
def test_a_bad_pit_is_never_open_mode(pit: str) -> None:
    with pytest.raises(UsageError) as refused:
        request("--pit", pit)
    assert refused.value.gap.type == "invalid_pit"


def test_a_second_pit_is_refused_and_an_abbreviated_one_too() -> None:
    for words in (("--pit", PIT, "--pit", PIT), ("--pi", PIT), ("--pi=" + PIT,)):
        with pytest.raises(UsageError):
            request(*words)


@pytest.mark.parametrize(
    ("pit", "ceiling", "problem"),
    [
        (PIT, PIT, ""),
        ("2024-02-15T15:59:59.9999999-05:00", PIT, ""),
        (PIT, "2024-02-15T20:59:59.999999Z", "after PIT_FETCH_CEILING"),
        (None, PIT, "every call needs a --pit"),
        (PIT, "soon", "PIT_FETCH_CEILING must be"),
        (PIT, "", "PIT_FETCH_CEILING must be"),
    ],
)
def test_the_ceiling(pit: str | None, ceiling: str, problem: str) -> None:
    words, env = (("--pit", pit) if pit else ()), {"PIT_FETCH_CEILING": ceiling}
    if not problem:
        assert request(*words, env=env).pit is not None
        return
    with pytest.raises(UsageError) as refused:
        request(*words, env=env)
    assert (problem in str(refused.value), refused.value.gap.type) == (True, "invalid_pit")


@pytest.mark.parametrize(
    ("words", "env", "budget"),
    [
        ((), {}, 0),
        ((), {"CLAUDECODE": "1"}, 28_000),
        ((), {"CLAUDECODE": "1", "PIT_FETCH_MAX_CHARS": "9000"}, 9_000),
        ((), {"PIT_FETCH_MAX_CHARS": "0", "CLAUDECODE": "1"}, 0),
        (("--max-chars", "5000"), {"PIT_FETCH_MAX_CHARS": "9000"}, 5_000),
        (("--max-chars", "0"), {"CLAUDECODE": "1"}, 0),
    ],
)
def test_where_the_budget_comes_from(words: tuple[str, ...], env: Mapping[str, str], budget: int) -> None:
    assert request(*words, env=env).max_chars == budget


def test_a_python_call_is_the_command_line_it_stands_for() -> None:
    pit = datetime.fromisoformat(PIT)
    argv = argv_of("demo", pit, {"op": "X", "tickers": ["A", "B"], "exact": True, "limit": 3, "fail": False})
    made = parse(argv, ONE, {})
    assert made.canonical == f"--source demo --exact --limit 3 --op X --pit {PIT} --tickers A,B"
    assert made.pit == pit
    with pytest.raises(UsageError):
        argv_of("demo", pit.replace(tzinfo=None), {})


def test_windows_and_cursors_become_instants() -> None:
    made = request("--pit", PIT, "--date-to", "2024-02-14", "--after", "x@2024-02-13T00:00:00-05:00")
    assert made.after_instant == datetime(2024, 2, 13, 5, tzinfo=UTC)
    assert made.until == datetime(2024, 2, 15, 5, tzinfo=UTC) - timedelta(microseconds=1)
