"""EarningsCall's list of symbols: which exchanges have one. Pure."""

from __future__ import annotations

# The list names an exchange by its place here (the order of the source's own library).
EXCHANGES = ("NYSE", "NASDAQ", "AMEX", "TSX", "TSXV", "OTC", "LSE", "CBOE", "STO")


def exchanges_of(text: str, symbol: str) -> list[str]:
    """The exchanges that list ``symbol``. A row is tab-separated: the exchange's place, the symbol, a name, …"""
    rows = (line.split("\t") for line in text.splitlines())
    places = {int(row[0]) for row in rows if len(row) > 1 and row[1].upper() == symbol and row[0].isdecimal()}
    return [name for place, name in enumerate(EXCHANGES) if place in places]
