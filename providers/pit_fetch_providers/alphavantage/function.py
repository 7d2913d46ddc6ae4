"""What the tables say of a function: what it needs, how its rows are dated, what its reply looks like."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import tzinfo
from typing import Literal, NamedTuple

from pit_fetch.times import NEW_YORK

# How a reply's rows are dated: five ways by row, then available when fetched, then not at all.
Rule = Literal["bar", "earnings", "article", "declared", "day", "next_day", "snapshot", "unverifiable"]
Period = Literal["", "intraday", "day", "week", "month"]

MINUTES: Mapping[str, int] = {"1min": 1, "5min": 5, "15min": 15, "30min": 30, "60min": 60}

# Market currencies of coins whose bars are the market's own: 350 days, 49 weeks and 11 months in EUR and 100
# bars in USD were recorded, all of them in ticks of 0.01. Other markets are converted at the rate of the fetch.
MARKETS = ("EUR", "USD")


class Function(NamedTuple):
    """One function.

    rule       how its rows are dated
    how, why   the same in words, and the reason with its source: --help and the docs show them
    needs      options without which there is no request; takes: the others that it knows
    period     what one bar spans; weekends: traded, too
    zones      of its labels, where the reply does not say: of several the latest reading counts
    whole      one request (or one a month) reaches all of the history
    date       the column with the row's own date, which --date-from and --date-to compare
    lists      (key of the reply, record_type) of its rows; empty: whatever list or series there is;
               the key "" takes the whole reply as one row
    identity   the columns that tell one row from another; "#" is its place in the reply
    newer      columns that older replies lack: null there

    What shows that a reply is this function's own, and what of it is served with a PIT:

    series     the key of its bars in JSON; {} stands for the interval
    columns    the columns without which a row is not one of this function's
    header     further columns without which a CSV is not a reply of it; None: it comes as JSON only
    foreign    columns, or keys of a JSON reply, that belong to other functions
    passes     further columns that are served with a PIT, where rows are dated; no other is
    single     one reply is one row, so a row on another subject is another reply
    """

    name: str
    rule: Rule
    how: str
    why: str
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    period: Period = ""
    zones: tuple[tzinfo, ...] = (NEW_YORK,)
    weekends: bool = False
    whole: bool = True
    date: str = ""
    lists: tuple[tuple[str, str], ...] = ()
    identity: tuple[str, ...] = ()
    newer: tuple[str, ...] = ()
    series: str = ""
    columns: tuple[str, ...] = ()
    header: tuple[str, ...] | None = None
    foreign: tuple[str, ...] = ()
    passes: tuple[str, ...] = ()
    single: bool = False


EQUITY = ("symbol",)
SNAPSHOT = Function("", "snapshot", "when it is fetched", "the reply is the state of the day on which it is asked for")
UNVERIFIABLE = Function("", "unverifiable", "not at all", "")
