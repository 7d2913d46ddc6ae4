"""One rule for an option's value: from a word and from a Python value alike, a table for each kind."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pit_fetch.errors import UsageError
from pit_fetch.provider import Option
from pit_fetch.request.values import flag_of, format_value, parse_value, plain_value, strip_invisible

NEW_YORK = ZoneInfo("America/New_York")
NOON = datetime(2024, 2, 15, 12, tzinfo=UTC)

TEXT = Option("symbol", "h")
CODE = Option("symbol", "h", uppercase=True)
CHOICE = Option("horizon", "h", choices=("3month", "6month"))
OUTPUT = Option("outputsize", "h", choices=("full", "compact"), synonyms={"all": "full"})
WORD_FLAG = Option("adjusted", "h", choices=("true", "false"))
LIST = Option("date_list", "h", kind="list")
CODES = Option("tickers", "h", kind="list", uppercase=True)
FORMS = Option("sizes", "h", kind="list", choices=("small", "large"), synonyms={"big": "large"})
INTEGER = Option("limit", "h", kind="integer")
FROM_ZERO = Option("limit", "h", kind="integer", minimum=0)
NUMBER = Option("timeout", "h", kind="number")
INSTANT = Option("date_from", "h", kind="instant")
FLAG = Option("exact", "h", kind="flag")
TEXTS = Option("query", "h", repeatable=True)
MODES = Option("modes", "h", kind="list", choices=("Web", "SEC"))
READ = Option("month", "h", parse=lambda text: ("read", text))


class Column:
    """What an ndarray, a Series and an Index have in common; with two dimensions, an array or a frame."""

    def __init__(self, *parts: object, ndim: int = 1) -> None:
        self.parts, self.ndim = parts, ndim

    def __iter__(self) -> Iterator[object]:
        return iter(self.parts)

    def __bool__(self) -> bool:
        raise ValueError("the truth value of an array with more than one element is ambiguous")


GOOD: list[tuple[Option, object, object]] = [
    (TEXT, " AAPL ", "AAPL"),
    # What comes along when a text is copied.
    (TEXT, "\u00a0AAPL\u200b ", "AAPL"),
    (TEXT, "oil\u00a0prices and\u00ad\u202fgas", "oil prices and gas"),
    (LIST, "AAPL,\u00a0MSFT\ufeff,\u200b", ("AAPL", "MSFT")),
    (LIST, ["AAPL\u200e"], ("AAPL",)),
    (TEXT, "\u65e5\u672c \u00e9", "\u65e5\u672c \u00e9"),
    (TEXT, "@handle", "@handle"),
    (READ, "2024-01\u200b", ("read", "2024-01")),
    (TEXT, "a,b", "a,b"),
    (TEXT, 320193, "320193"),
    (TEXT, 1.5, "1.5"),
    (TEXT, Path("/tmp/x"), "/tmp/x"),
    (TEXT, date(2024, 2, 15), "2024-02-15"),
    (TEXT, NOON, "2024-02-15T12:00:00+00:00"),
    (CODE, "ibm", "IBM"),
    (CHOICE, "6MONTH", "6month"),
    (OUTPUT, "all", "full"),
    (WORD_FLAG, False, "false"),
    (WORD_FLAG, "true", "true"),
    (LIST, " A, B,,", ("A", "B")),
    (LIST, '"Oil, gas",B', ("Oil, gas", "B")),
    (LIST, '5" disk', ('5" disk',)),
    (LIST, ["Oil, gas"], ("Oil, gas",)),
    (LIST, ("b", "a"), ("b", "a")),
    (LIST, {"b", "a"}, ("a", "b")),
    (LIST, {"b": 1, "a": 2}.keys(), ("b", "a")),
    (LIST, (name for name in "ba"), ("b", "a")),
    (LIST, Column("b", "a"), ("b", "a")),
    (LIST, [320193, 7], ("320193", "7")),
    (CODES, "ibm, msft", ("IBM", "MSFT")),
    (FORMS, "SMALL,big", ("small", "large")),
    (FORMS, ["SMALL", "big"], ("small", "large")),
    (MODES, "sec,WEB", ("SEC", "Web")),
    (TEXTS, "oil, gas", ("oil, gas",)),  # a string is one of its values, whatever is in it
    (TEXTS, ["oil, gas", " coal "], ("oil, gas", "coal")),
    (TEXTS, ("a", "a"), ("a", "a")),
    (TEXTS, {"b", "a"}, ("a", "b")),
    (TEXTS, Column("a", "b"), ("a", "b")),
    (TEXTS, 7, ("7",)),
    (INTEGER, "5", 5),
    (INTEGER, 5, 5),
    (FROM_ZERO, 0, 0),
    (NUMBER, "2.5", 2.5),
    (NUMBER, 2, 2.0),
    (NUMBER, 86_400, 86_400.0),
    (INSTANT, "2024-02-15", datetime(2024, 2, 15, 5, tzinfo=UTC)),
    (INSTANT, date(2024, 2, 15), datetime(2024, 2, 15, 5, tzinfo=UTC)),
    (INSTANT, "1708030800", datetime(2024, 2, 15, 21, tzinfo=UTC)),
    (INSTANT, 1_708_030_800, datetime(2024, 2, 15, 21, tzinfo=UTC)),
    (INSTANT, NOON, NOON),
    (INSTANT, NOON.astimezone(NEW_YORK), NOON),
    (FLAG, True, True),
    (FLAG, "False", False),
    (READ, " 2024-02 ", ("read", " 2024-02 ")),  # a rule of its own says what blanks mean
    (READ, 2024, ("read", "2024")),
]

BAD: list[tuple[Option, object, str]] = [
    (TEXT, "", "--symbol is empty: give a value or leave it out"),
    (TEXT, "  ", "--symbol is empty"),
    (TEXT, b"AAPL", "symbol takes a string, not a value of type bytes"),
    (TEXT, ["AAPL"], "symbol takes a string, not a value of type list"),
    (TEXT, Column("A", "B"), "symbol takes a string"),
    (TEXT, True, "symbol takes a string"),
    (TEXT, math.nan, "symbol is nan: a value is missing"),
    (TEXT, math.inf, "symbol takes a string"),
    (TEXT, datetime(2024, 2, 15), "symbol has no time zone: give it one"),  # noqa: DTZ001
    (CHOICE, "1month", "--horizon is one of 3month, 6month"),
    (LIST, "", "--date-list is empty: give a value or leave it out"),
    (LIST, ",", "--date-list is empty: give a value or leave it out"),
    (LIST, [], "date_list needs at least one value"),
    (LIST, '"A, B', "--date-list has an unclosed double quote"),
    (LIST, b"AB", "date_list takes one or more strings, not a value of type bytes"),
    (LIST, Column("A", "B", ndim=2), "date_list takes one or more strings, not a value of type Column"),
    (LIST, {"a": 1}, "date_list takes one or more strings"),
    (LIST, [Column("A", "B")], "date_list takes a string"),
    (LIST, ["A", None], "date_list takes a string, not a value of type NoneType"),
    (LIST, ["A", math.nan], "date_list is nan: a value is missing"),  # a gap in a Series
    (LIST, ["A", ""], "--date-list is empty"),
    (FORMS, "small,medium", "--sizes is a comma-separated list of small, large"),
    (TEXTS, [], "--query is empty"),
    (TEXTS, ["a", ""], "--query is empty"),
    (TEXTS, {"a": 1}, "query takes a string, not a value of type dict"),
    (TEXTS, [["a"]], "query takes a string, not a value of type list"),
    (TEXT, "@symbols.txt", "--symbol does not read a file (@): write its values here"),
    (READ, "@months.txt", "--month does not read a file (@)"),
    (TEXT, "\u00ad", "--symbol is empty"),
    (LIST, "a,@b.csv", "--date-list does not read a file (@)"),
    (INTEGER, "all", "at least 1: for everything, write a large one, such as 1000000"),
    (FROM_ZERO, "Unlimited", "at least 0: for everything, write a large one"),
    (INTEGER, "0", "--limit is a whole number of at least 1"),
    (INTEGER, "-1", "--limit is a whole number"),
    (INTEGER, "5.0", "--limit is a whole number"),
    (INTEGER, "٥", "--limit is a whole number"),
    (INTEGER, "1" * 13, "--limit is a whole number"),
    (INTEGER, 5.5, "--limit is a whole number"),
    (INTEGER, True, "limit takes a whole number, not a value of type bool"),
    (NUMBER, "0", "--timeout is a number of seconds, above 0 and up to 86400"),
    (NUMBER, "nan", "--timeout is a number of seconds"),
    (NUMBER, math.inf, "timeout"),
    (NUMBER, 86_400.5, "--timeout is a number of seconds"),
    (NUMBER, "soon", "--timeout is a number of seconds"),
    (INSTANT, "last week", "--date-from is YYYY-MM-DD (a New York day), a full timestamp with offset"),
    (INSTANT, "1708030800000", "not milliseconds"),
    (INSTANT, datetime(2024, 2, 15, 16), "date_from has no time zone: give it one, with .tz_localize"),  # noqa: DTZ001
    (INSTANT, False, "date_from takes an ISO 8601 text or a datetime"),
    (FLAG, 1, "exact takes true or false"),
    (FLAG, "yes", "exact takes true or false"),
    (FLAG, None, "exact takes true or false"),
]


def described(value: object) -> str:
    return value.kind if isinstance(value, Option) else type(value).__name__


@pytest.mark.parametrize(("option", "value", "expected"), GOOD, ids=described)
def test_what_a_value_means(option: Option, value: object, expected: object) -> None:
    made = parse_value(option, value)
    assert (made, type(made)) == (expected, type(expected))


@pytest.mark.parametrize(("option", "value", "fix"), BAD, ids=described)
def test_what_is_refused_and_how_to_mend_it(option: Option, value: object, fix: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_value(option, value)
    assert fix in str(refused.value)


def test_flags() -> None:
    assert flag_of("date_from") == "--date-from"


WORDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=6).filter(
    lambda word: bool(strip_invisible(word).strip())
)
AWARE = st.datetimes(
    datetime(1990, 1, 1),  # noqa: DTZ001
    datetime(2090, 1, 1),  # noqa: DTZ001
    timezones=st.sampled_from([UTC, NEW_YORK]),
).filter(lambda moment: moment == moment.astimezone(UTC))


@pytest.mark.parametrize("option", [LIST, CODES])
@given(
    parts=st.lists(WORDS | st.sampled_from(["Oil, gas", '"', 'a"b', "a\nb", "a\r\nb", "\\", "-x", "a=b"]), min_size=1)
)
def test_a_list_is_spelt_as_a_word_that_reads_as_the_same_list(option: Option, parts: list[str]) -> None:
    made = parse_value(option, parts)
    assert parse_value(option, format_value(made)) == made


@given(
    st.one_of(
        st.tuples(st.just(TEXT), WORDS | st.integers() | AWARE | st.dates()),
        st.tuples(st.just(INTEGER), st.integers(1, 10**12 - 1)),
        st.tuples(st.just(NUMBER), st.floats(0.001, 86_400)),
        st.tuples(st.just(INSTANT), AWARE | st.dates(date(1990, 1, 1), date(2090, 1, 1))),
        st.tuples(st.just(FLAG), st.booleans()),
    )
)
def test_a_value_and_its_word_mean_the_same(pair: tuple[Option, Any]) -> None:
    option, value = pair
    assert parse_value(option, format_value(value)) == parse_value(option, value)


@pytest.mark.parametrize(
    "value",
    [
        Fraction(1, 2),
        timedelta(1),
        1j,
        ...,
        None,
        len,
        Exception,
        {1: 2},
        object(),
        [[]],
        b"",
        bytearray(),
        memoryview(b""),
    ],
    ids=described,
)
@pytest.mark.parametrize("option", [TEXT, TEXTS, LIST, INTEGER, NUMBER, INSTANT, FLAG, READ], ids=described)
def test_a_value_of_another_type_is_refused(option: Option, value: object) -> None:
    with pytest.raises(UsageError):
        parse_value(option, value)


def test_what_a_frame_has_is_what_it_plainly_means() -> None:
    numpy, pandas = pytest.importorskip("numpy"), pytest.importorskip("pandas")
    day, midnight = numpy.datetime64("2024-02-15"), pandas.Timestamp("2024-02-15")
    rows = [
        (INTEGER, numpy.int64(5), 5), (TEXT, ["AAPL"], "AAPL"), (TEXT, numpy.array([320193]), 320193),
        (INSTANT, day, "2024-02-15"), (INSTANT, day.astype("datetime64[ns]"), "2024-02-15"),
        (INSTANT, midnight, "2024-02-15"), (LIST, numpy.array([1, 2]), [1, 2]),
        (TEXT, numpy.float64(320193), 320193), (INTEGER, 5.0, 5), (LIST, [7.0], [7]), (TEXT, 1.5, 1.5),
    ]  # fmt: skip
    plain = [plain_value(option, value) for option, value, _ in rows]
    assert list(map(repr, plain)) == [repr(expected) for _, _, expected in rows]
    for missing in (pandas.NaT, pandas.NA, numpy.datetime64("NaT"), numpy.float64("nan")):
        with pytest.raises(UsageError, match="a value is missing; leave such rows out"):
            plain_value(INSTANT, missing)


@pytest.mark.parametrize("make", ["array", "Series", "Index", "Categorical"])
def test_a_column_of_a_frame_is_a_list_and_not_a_text(make: str) -> None:
    pandas = pytest.importorskip("pandas")
    column = getattr(pandas, make)(["A", "B"])
    assert parse_value(LIST, column) == parse_value(LIST, pandas.Series(column).to_numpy()) == ("A", "B")
    for option, value in ((TEXT, column), (LIST, pandas.DataFrame({"A": column})), (INSTANT, pandas.NaT)):
        with pytest.raises(ValueError, match=r"takes|is missing"):
            parse_value(option, value)
