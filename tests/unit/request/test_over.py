"""The values that stand in a file, one a line or in a column."""

from __future__ import annotations

import pytest

from pit_fetch.errors import UsageError
from pit_fetch.request import over


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("^GSPC\n-4\n", ["^GSPC", "-4"]),
        ("\ufeffIBM\r\nAAPL\r\n", ["IBM", "AAPL"]),
        ("oil; gas and coal\n", ["oil; gas and coal"]),
        ("https://example.com/a;b\n", ["https://example.com/a;b"]),
    ],
)
def test_values_of_a_file(text: str, values: list[str]) -> None:
    assert over.from_text(text, "symbol") == values


@pytest.mark.parametrize("heading", ["symbol", "Symbol", "symbols", "ticker", "Tickers"])
def test_a_heading_in_other_words_is_no_value(heading: str) -> None:
    assert over.from_text(f"{heading}\nIBM\n", "symbol") == ["IBM"]
    assert over.from_text(f"name,{heading}\nIntl,IBM\n", "symbol") == ["IBM"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('symbol\n"S0\nS1\n', "a quote is not closed"),
        ("symbol,From,from\nIBM,,\n", "a column stands twice"),
    ],
)
def test_a_file_that_could_mean_something_else_is_refused(text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        over.from_text(text, "symbol")


@pytest.mark.parametrize(
    "text", ["symbol;name\nIBM;A company\n", "IBM\tAAPL\n", "# held\nIBM;BRK.B;^GSPC\n", "IBM;\nAAPL;\n"]
)
def test_values_that_something_else_divides_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="divided by ; or tabs: write one value a line"):
        over.from_text(text, "symbol")
