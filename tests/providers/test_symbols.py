"""A symbol that a source cannot know is refused, with the form that it has there; one that it may know is asked for."""

from __future__ import annotations

import re

import pytest
from pit_fetch_providers import bz_news_api, earningscall, symbols, yahoo
from pit_fetch_providers.alphavantage import options as alphavantage
from pit_fetch_providers.edgar import companies

from pit_fetch.provider import ConfigError

FORMS = {
    "benzinga": bz_news_api.TICKER,
    "sec": companies.TICKER,
    "earningscall": earningscall.SYMBOL,
    "yahoo": yahoo.SYMBOL,
    "alphavantage": alphavantage.SYMBOL,
}
LIST = "a list has commas between the symbols, and one symbol has no blanks"
EVERYWHERE = ("AAPL", "aapl", "BRK-B", "A", "3333", "ALL", "APPLE")


@pytest.mark.parametrize("source", FORMS)
@pytest.mark.parametrize("name", EVERYWHERE)
def test_what_may_be_a_symbol_is_for_the_source_to_know(source: str, name: str) -> None:
    symbols.check("symbol", [name], FORMS[source], "AAPL")


@pytest.mark.parametrize(
    ("source", "names"),
    {
        "benzinga": ("$BTC", "$DOGE", "BRK.A", "BRK/A", "TSX:ACB"),
        "sec": ("BRK.B", "BAC-PE"),
        "earningscall": ("BRK.B",),
        "yahoo": ("^GSPC", "EURUSD=X", "CL=F", "VOD.L", "BTC-USD", "005930.KS", "M&M.NS"),
        "alphavantage": ("TSCO.LON", "600104.SHH", "CRYPTO:BTC", "FOREX:USD", "BRK.B"),
    }.items(),
)
def test_a_source_s_own_spellings_pass(source: str, names: tuple[str, ...]) -> None:
    symbols.check("symbol", names, FORMS[source], "AAPL")


@pytest.mark.parametrize("source", FORMS)
@pytest.mark.parametrize(
    "name",
    [
        *("AAPL.US", "aapl.us", "AAPL:US", "NASDAQ:AAPL", "XNAS:AAPL", "US:AAPL", "AAPL US", "AAPL US Equity"),
        *("'AAPL'", '"AAPL', "AAPL'", "[AAPL", "(AAPL)", "{AAPL}", "\u201cAAPL\u201d", "NASDAQ:AAPL.US"),
    ],
)
def test_another_program_s_spelling_is_answered_with_the_symbol(source: str, name: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(f"symbol: write AAPL in place of {name.upper()}.")):
        symbols.check("symbol", ["MSFT", name], FORMS[source], "AAPL")


@pytest.mark.parametrize("source", FORMS)
@pytest.mark.parametrize(
    ("name", "fault"),
    [
        *((name, f"{LIST}: ") for name in ("AAPL MSFT", "Apple Inc.", "AAPL;MSFT", "AAPL|MSFT")),
        ("tickers.csv", "a file is not read: "),
        ("@tickers", "a file is not read: "),
        ("US0378331005", "an ISIN is no symbol: "),
        ("\u0410APL", ""),
        ("*", ""),
        ("AAPL+MSFT", ""),
        ("../x", ""),
    ],
)
def test_what_is_no_symbol_anywhere_is_refused(source: str, name: str, fault: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(f"symbol: {fault}write symbols as in AAPL.")):
        symbols.check("symbol", [name], FORMS[source], "AAPL")


def test_a_long_word_is_not_repeated_whole() -> None:
    with pytest.raises(ConfigError) as refused:
        symbols.check("symbol", ["[" * 9_000 + "AAPL"], FORMS["yahoo"], "AAPL")
    assert len(str(refused.value)) < 100
