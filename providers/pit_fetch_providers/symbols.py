"""Symbols that a source cannot know, refused before it is asked. Pure.

A source has nothing on a symbol in another program's spelling, which looks like a symbol without news. So what is
certainly no symbol of the source is refused, with the form that it has there. The rest is for the source to know.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from pit_fetch_providers.shared import refuse

# How other programs write a symbol of an exchange in the United States; the group is the symbol itself.
_ELSEWHERE = (
    r"(?:NASDAQ|NYSE|AMEX|NYSEARCA|NYSEAMERICAN|ARCA|BATS|CBOE|OTC|OTCMKTS|XNAS|XNYS|ARCX|US):(.+)",
    r"(.+?)(?:\.US|:US| US| US EQUITY)",
    r"\$(.+)",
    r"[\"'`\u2018-\u201f(\[{<]*([A-Z0-9.^=$-]+)[\"'`\u2018-\u201f)\]}>]*",
)
_PLAIN = r"[A-Z0-9][A-Z0-9.-]{0,11}"
_ISIN = r"[A-Z]{2}[A-Z0-9]{9}[0-9]"
_FILES = (".TXT", ".CSV", ".TSV", ".JSON")
# The first row that a symbol, in capitals, contains names its fault.
_FAULTS = (
    (r"[\s;|,]", "a list has commas between the symbols, and one symbol has no blanks"),
    (rf"\A@|(?:{'|'.join(map(re.escape, _FILES))})\Z", "a file is not read"),
    (rf"\A{_ISIN}\Z", "an ISIN is no symbol"),
)


def check(option: str, names: Iterable[str], form: str, example: str) -> None:
    """Raise ConfigError for a name that is no symbol of the source: its symbols, in capitals, match ``form``.

    >>> check("--tickers", ["MSFT", "NASDAQ:AAPL"], "[A-Z.]+", "AAPL or BRK.B")
    Traceback (most recent call last):
    pit_fetch.errors.ConfigError: --tickers: write AAPL in place of NASDAQ:AAPL.
    """
    for name in map(str.upper, names):
        is_own = re.fullmatch(form, name) is not None
        if is_own and not _may_be_foreign(name):
            continue
        own = _own_spelling(name)
        if own:
            refuse(f"{option}: write {own} in place of {name[:40]}.")
        fault = next((f"{fault}: " for pattern, fault in _FAULTS if re.search(pattern, name)), "")
        if fault or not is_own:
            refuse(f"{option}: {fault}write symbols as in {example}.")


def _may_be_foreign(name: str) -> bool:
    """Return whether a name that a source's form allows may be another program's spelling all the same."""
    is_isin = len(name) == 12 and re.fullmatch(_ISIN, name) is not None
    return is_isin or ":" in name or name.endswith((".US", *_FILES))


def _own_spelling(name: str) -> str:
    """Return the symbol that another program writes as ``name``; "" if that is no other spelling of one."""
    plain = name
    for pattern in _ELSEWHERE:
        match = re.fullmatch(pattern, plain)
        plain = match[1] if match else plain
    return plain if plain != name and re.fullmatch(_PLAIN, plain) else ""
