"""A request from words and from Python values: what is refused, and that all of its forms are the same request."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pit_fetch.cli.arguments import parse
from pit_fetch.engine.registry import BUNDLED_NAMES, load
from pit_fetch.errors import UsageError
from pit_fetch.pipeline.cursor import format_cursor
from pit_fetch.provider import Field, Host, Operation, Option, Provider, Record
from pit_fetch.request.fetch_request import FetchRequest, from_canonical, from_values
from pit_fetch.request.values import flag_of, format_value

PIT = "2024-02-15T16:00:00-05:00"


def nothing(*_: object) -> list[Record]:
    return []


def demo(*options: Option) -> Provider:
    return Provider(
        name="demo", summary="s", options=options, operations=(Operation(fetch=nothing, parse_reply=nothing),)
    )


ONE_WORD = demo(
    Option("op", "h", positional="one"),
    Option("symbol", "h"),
    Option("horizon", "h", choices=("3month", "6month")),
    Option("min_size", "h", kind="integer", minimum=0),
    Option("since_when", "h", kind="instant"),
    Option("tickers", "h", kind="list"),
    Option("exact", "h", kind="flag"),
)
ALL_WORDS = demo(Option("query", "h", positional="all"), Option("forms", "h", kind="list"))


def request(*words: str, provider: Provider = ONE_WORD, env: Mapping[str, str] | None = None) -> FetchRequest:
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


@pytest.mark.parametrize(
    ("words", "canonical"),
    [
        (("--limit", "007"), "--source demo --limit 7"),
        (("--fields", " title, body"), "--source demo --fields title,body"),
        (("--horizon", "6MONTH"), "--source demo --horizon 6month"),
    ],
)
def test_a_value_is_the_same_request_however_it_was_typed(words: tuple[str, ...], canonical: str) -> None:
    assert request(*words).canonical == canonical


def test_words_are_joined_where_a_provider_takes_them_all() -> None:
    made = request("going concern", "OR", "--forms", "10-K", "--", "x=1", "-bank", provider=ALL_WORDS)
    assert made.options["query"] == "going concern OR x=1 -bank"


def test_a_pit_is_never_a_word() -> None:
    with pytest.raises(UsageError, match="write --pit VALUE"):
        request("going concern", f"PIT={PIT}", provider=ALL_WORDS)


@pytest.mark.parametrize("words", [(), ("going",)])
def test_what_follows_two_dashes_is_words(words: tuple[str, ...]) -> None:
    """The guard reads no options there either."""
    made = request(*words, "--", "--timeout", "5", "--pit=2030-01-01T00:00:00Z", "--", "--fail", provider=ALL_WORDS)
    assert made.options["query"] == " ".join([*words, "--timeout 5 --pit=2030-01-01T00:00:00Z -- --fail"])
    assert (made.timeout, made.pit, made.fail) == (60, None, False)


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        (("--limit", "1", "--limit", "2"), "--limit is given more than once"),
        (("symbl=AAPL",), "symbl=... is not an option of demo (did you mean --symbol?)"),
        (("--zz", "SECRET"), "unrecognized arguments: --zz; see --help"),
        (("--zz=SECRET",), "unrecognized arguments: --zz; see --help"),
        (("--date-from", "2024-02-16", "--date-to", "2024-02-15"), "--date-from is after --date-to"),
        (("--max-chars", "many"), "--max-chars is 0 (no limit) or a whole number of at least 4000"),
        (("--fields", ","), "--fields is empty: give a value or leave it out"),
        (("--input-file", "a.json", "--archive", "a.db"), "--input-file is read instead of an archive"),
        (("--newest", "2"), "this operation has none: give --limit"),
        (("--horizon", "1month"), "--horizon is one of 3month, 6month"),
        (("one", "two"), "demo takes one bare word (op), not 2: write the others as name=VALUE, e.g. symbol=VALUE"),
        (("A", "--op", "B"), "--op is given twice"),
        (("shade=red",), "shade=... is not an option of demo; see --help"),
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
        (PIT, "2024-02-15T20:59:59.999999Z", "after the ceiling"),
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


@pytest.mark.parametrize("text", ["100", "many", "-1", " ", "1e4"])
def test_a_budget_that_cannot_be_names_the_variable_that_sets_it(text: str) -> None:
    with pytest.raises(UsageError, match="PIT_FETCH_MAX_CHARS is 0"):
        request(env={"PIT_FETCH_MAX_CHARS": text})


def test_windows_and_cursors_become_instants() -> None:
    made = request("--pit", PIT, "--date-to", "2024-02-14", "--after", "x@2024-02-13T00:00:00-05:00")
    assert made.after is not None
    assert made.after.instant == datetime(2024, 2, 13, 5, tzinfo=UTC)
    assert made.until == datetime(2024, 2, 15, 5, tzinfo=UTC) - timedelta(microseconds=1)


# Fields.

FIELDS = (Field("title"), Field("body"))


@pytest.mark.parametrize(
    ("operations", "op", "known"),
    [
        ((Operation(fields=FIELDS),), None, True),
        ((Operation(),), None, False),
        ((Operation("one", fields=FIELDS), Operation("two", fields=(Field("value"),))), "one", True),
        ((Operation("one", fields=FIELDS), Operation("two", fields=(Field("value"),))), None, True),
        ((Operation("one", fields=FIELDS), Operation("two")), "two", False),
        ((Operation("one", fields=FIELDS), Operation("two")), None, True),
    ],
)
def test_a_field_that_the_source_does_not_have_is_refused_where_its_fields_are_known(
    operations: tuple[Operation, ...], op: str | None, known: bool
) -> None:
    provider = Provider("demo", "s", operations)
    words = ("--op", op) if op else ()
    for good in ("title", "id,available_at,revised_at,title", "available_at_source"):
        if known:
            assert request(*words, "--fields", good, provider=provider).fields == tuple(good.split(","))
    calls: list[Callable[[], FetchRequest]] = [
        lambda: request(*words, "--fields", "id,titel", provider=provider),
        lambda: from_values({**({"op": op} if op else {}), "fields": ["titel"]}, provider, {}),
    ]
    for call in calls:
        if not known:
            assert "titel" in call().fields
            continue
        with pytest.raises(UsageError, match=r"--fields: titel is not one of title, body.* \(did you mean title\?\)"):
            call()


def test_a_field_of_another_operation_is_refused() -> None:
    operations = (Operation("one", fields=FIELDS), Operation("two", fields=(Field("value"),)))
    provider = Provider("demo", "s", operations)
    with pytest.raises(UsageError, match="--fields: value is not one of title, body"):
        request("--op", "one", "--fields", "value", provider=provider)
    assert request("--op", "two", "--fields", "value", provider=provider).fields == ("value",)


# The command line and Python values make the same requests.


def values(**given: object) -> FetchRequest:
    return from_values(given, ONE_WORD, {})


@pytest.mark.parametrize(
    ("value", "word"),
    [(["Oil, gas"], '"Oil, gas"'), (("A", "B"), "A,B"), ("A,B", "A,B"), ({"B", "A"}, "A,B")],
)
@pytest.mark.parametrize("name", ["tickers", "fields"])
def test_a_list_is_the_word_it_stands_for(value: object, word: str, name: str) -> None:
    made, typed = values(**{name: value}), request(flag_of(name), word)
    assert made == typed
    assert made.canonical == typed.canonical == f"--source demo --{name} {shlex.quote(word)}"


@pytest.mark.parametrize(
    ("name", "value", "fix"),
    [
        ("colour", "red", "colour is not an option of demo"),
        ("ticker", "A", "ticker is not an option of demo (did you mean tickers?)"),
        ("date-from", "2024-02-01", "date-from is not an option of demo (did you mean date_from?)"),
        ("pit", False, "pit takes an ISO 8601 text or a datetime, not a value of type bool"),
        ("pit", True, "pit takes an ISO 8601 text or a datetime"),
        ("pit", "", "this one is empty"),
        ("pit", "2024-02-15", "--pit must be YYYY-MM-DDTHH:MM:SS"),
        ("pit", date(2024, 2, 15), "--pit must be"),
        ("pit", 1_708_030_800, "--pit must be"),
        ("pit", datetime(2024, 2, 15, 16), "pit has no time zone: give it one, with .tz_localize"),  # noqa: DTZ001
        ("pit", [PIT, PIT], "not a value of type list; for several, ask pit_fetch.panel over them"),
        ("symbol", ["A", "B"], "symbol takes a string, not a value of type list; for several, ask pit_fetch.panel"),
        ("pit", PIT.encode(), "pit takes an ISO 8601 text or a datetime, not a value of type bytes"),
        ("date_from", datetime(2024, 2, 15, 16), "date_from has no time zone"),  # noqa: DTZ001
        ("date_to", datetime(2024, 2, 15, 16), "date_to has no time zone"),  # noqa: DTZ001
        ("since_when", datetime(2024, 2, 15, 16), "since_when has no time zone"),  # noqa: DTZ001
        ("symbol", b"AAPL", "symbol takes a string, not a value of type bytes"),
        ("tickers", [["AAPL"]], "tickers takes a string, not a value of type list"),
        ("limit", True, "limit takes a whole number, not a value of type bool"),
        ("max_chars", 100, "--max-chars is 0 (no limit) or a whole number of at least 4000"),
        ("after", "x", "copy one from a truncated gap"),
    ],
)
def test_a_value_that_cannot_be_is_refused(name: str, value: object, fix: str) -> None:
    with pytest.raises(UsageError) as refused:
        values(**{name: value})
    assert fix in str(refused.value)


def test_none_is_not_given() -> None:
    assert values(pit=None, limit=None, tickers=None, exact=None) == values() == request()


def test_a_python_call_is_the_command_line_it_stands_for() -> None:
    pit = datetime.fromisoformat(PIT)
    made = values(pit=pit, op="X", tickers=["A", "B"], exact=True, limit=3, fail=False, input_file=Path("a b"))
    assert made.canonical == f"--source demo --exact --input-file 'a b' --limit 3 --op X --pit {PIT} --tickers A,B"
    assert made.pit == pit


def test_a_python_call_is_under_the_ceiling_too() -> None:
    with pytest.raises(UsageError, match="after the ceiling"):
        from_values({"pit": PIT}, ONE_WORD, {"PIT_FETCH_CEILING": "2024-02-15T15:59:59-05:00"})


def test_an_agent_s_budget_is_the_command_s_and_not_python_s() -> None:
    environ = {"CLAUDECODE": "1"}
    assert (request(env=environ).max_chars, from_values({}, ONE_WORD, environ).max_chars) == (28_000, 0)
    assert from_values({}, ONE_WORD, {"PIT_FETCH_MAX_CHARS": "9000"}).max_chars == 9_000


MOMENTS = st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
# Quotes that are curly are refused on a command line, whoever typed them.
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0‘‚‛“”„‟"), min_size=1, max_size=6).filter(
    # argparse takes -- for itself, even behind a =; a lone = is taken for a slip
    lambda word: word.strip() not in ("", "--", "=")
) | st.sampled_from(["Oil, gas", "-x", "--pit", "a=b", "symbol=B", "pit=x", '"', "'", "a\nb", "—x", "$HOME"])
CURSORS = st.builds(lambda name, at: format_cursor(Record(name, at, {})), WORDS, MOMENTS)
GIVEN: Mapping[str, st.SearchStrategy[Any]] = {
    "pit": MOMENTS | MOMENTS.map(lambda moment: moment.isoformat().replace("+00:00", "Z")),
    "date_from": st.dates(date(1980, 1, 1), date(1989, 1, 1))
    | MOMENTS.map(lambda moment: moment - timedelta(days=40_000)),
    "date_to": st.dates(date(1995, 1, 1), date(2089, 1, 1)),
    "limit": st.integers(1, 999),
    "after": CURSORS,
    "max_pages": st.integers(1, 999),
    "timeout": st.floats(1, 86_400),
    "input_file": WORDS,
    "fields": st.lists(WORDS, min_size=1, max_size=3),
    "format": st.sampled_from(["json", "jsonl", "csv"]),
    "max_chars": st.sampled_from([0, 4_000, 9_999]),
    "op": WORDS,
    "symbol": WORDS | st.integers() | st.dates(),
    "horizon": st.sampled_from(["3month", "6MONTH"]),
    "min_size": st.integers(0, 9),
    "since_when": MOMENTS | st.dates(date(1990, 1, 1), date(2089, 1, 1)),
    "tickers": st.lists(WORDS, min_size=1, max_size=3),
    "exact": st.just(True),
    "pretty": st.just(True),
}


@given(st.fixed_dictionaries({}, optional=GIVEN))
def test_words_and_values_make_the_same_request_and_its_canonical_text_makes_it_again(given: dict[str, Any]) -> None:
    made = values(**given)
    flags = [flag_of(name) for name, value in given.items() if value is True]
    words = [f"{flag_of(name)}={format_value(value)}" for name, value in given.items() if value is not True]
    assert request(*flags, *words) == made
    again = from_canonical(made.canonical, ONE_WORD)
    assert again == parse(shlex.split(made.canonical), ONE_WORD, {})
    # How long it may take and how it is printed are no part of what is asked.
    how = ("timeout", "format", "max_chars", "pretty")
    assert again._replace(**{name: getattr(made, name) for name in how}) == made


@given(st.lists(WORDS, max_size=4), st.sampled_from(sorted(GIVEN)))
def test_whatever_words_are_given_they_make_a_request_or_a_refusal(words: list[str], name: str) -> None:
    try:
        made = request(*words, flag_of(name), *words)
    except UsageError:
        return
    assert parse(shlex.split(made.canonical), ONE_WORD, {}).canonical == made.canonical
    assert from_canonical(made.canonical, ONE_WORD).canonical == made.canonical


def values_of(option: Option) -> st.SearchStrategy[Any]:
    """Values of an option of a bundled source, most of which it takes."""
    if option.kind == "flag":
        return st.just(True)
    texts = WORDS | st.sampled_from(["", "--", "--limit=5", "2024-02-15"])
    if option.choices:
        texts = st.sampled_from(option.choices)
    by_kind = {"integer": st.integers(option.minimum, 999), "instant": MOMENTS, "number": st.integers(1, 60)}
    one_value = by_kind.get(option.kind, texts)
    return st.lists(one_value, min_size=1, max_size=3) if option.kind == "list" or option.repeatable else one_value


@pytest.mark.parametrize("source", BUNDLED_NAMES)
@given(data=st.data())
def test_the_canonical_text_of_a_request_to_a_bundled_source_is_read_back(source: str, data: st.DataObject) -> None:
    provider = load(source)
    common = {name: GIVEN[name] for name in ("pit", "date_from", "date_to", "limit", "after", "max_pages", "fields")}
    own = {option.name: values_of(option) for option in provider.options}
    taken: dict[str, Any] = {}
    for name, value in data.draw(st.fixed_dictionaries({}, optional={**common, **own})).items():
        with contextlib.suppress(UsageError):
            from_values({**taken, name: value}, provider, {})
            taken[name] = value
    made = from_values(taken, provider, {})
    again = from_canonical(made.canonical, provider)
    assert again.canonical == made.canonical
    assert again.options == made.options


def test_a_canonical_text_whose_option_is_gone_is_refused() -> None:
    with pytest.raises(UsageError, match="--gone is not an option of demo"):
        from_canonical("--source demo --gone x", ONE_WORD)


def test_a_part_of_a_host_may_be_an_option_s_value() -> None:
    host = Host("Demo", "https://{lang}.example.com", "PIT_FETCH_DEMO_URL")
    provider = demo(Option("lang", "h", default="en"))._replace(hosts=(host,))
    for options, name in (({}, "en"), ({"lang": "zh-min-nan"}, "zh-min-nan")):
        request = from_values(options, provider, {})
        assert request.provider.hosts[0].url == f"https://{name}.example.com"
        assert from_canonical(request.canonical, provider).provider == request.provider
    for bad in ("evil.example/", "a.b", "a@b", "\u0435n", "{op}"):
        with pytest.raises(UsageError, match="a part of a host's name"):
            from_values({"lang": bad}, provider, {})
