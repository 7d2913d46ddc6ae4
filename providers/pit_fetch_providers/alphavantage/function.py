"""What the tables say of a function: what to ask for, how its rows are dated, how its reply is recognized."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Any, NamedTuple

from pit_fetch.provider import Archiving, Context, Dating, Gap, Operation, Page, Params, Query, Record, Watermark
from pit_fetch.times import NEW_YORK

Row = Mapping[str, Any]
# (row, reply) -> an instant, such as the one from which the row was public, or None.
Rule = Callable[[Row, "FunctionReply"], datetime | None]
Stream = Iterator[Record | Page | Watermark | Gap]

SYMBOL = ("symbol",)
MINUTES: Mapping[str, int] = {"1min": 1, "5min": 5, "15min": 15, "30min": 30, "60min": 60}

# Market currencies of coins whose bars are the market's own: 350 days, 49 weeks and 11 months in EUR and 100
# bars in USD were recorded, all of them in ticks of 0.01. Other markets are converted at the rate of the fetch.
MARKETS = ("EUR", "USD")


def is_own_market(*names: str | None) -> bool:
    """Return whether the prices are the market's own, by the names in the request or the reply. A CSV names none."""
    markets = [name.upper() for name in names if name]
    return bool(markets) and all(name in MARKETS for name in markets)


class FunctionReply(NamedTuple):
    """A reply together with its request, for the rules that date its rows."""

    function: Function
    query: Query
    rows: Sequence[tuple[str, Row | None]]  # (record_type, row) on the subject; None for a row that cannot be read
    meta: Mapping[str, str]  # the meta data beside the rows, by plain name ("time_zone", "interval", "symbol")
    received: datetime


class Function(NamedTuple):
    """One function of Alpha Vantage. If its rows are dated, its fields are a closed list with a PIT."""

    operation: Operation
    dates: Rule
    records: Callable[[FunctionReply], Iterator[Record]]
    fetch: Callable[[Function, Query, Context], Stream]
    parameters: Callable[[Query], Params]
    zones: tuple[tzinfo, ...] = (NEW_YORK,)  # of labels, if the reply names none; of several, the latest reading counts
    ends: Rule | None = None  # when the interval of a row is over, if it has one and its rule does not show it
    # (key in the reply, record_type) of its rows; empty: any list or series in it; the key "" takes the whole reply as
    # one row.
    lists: tuple[tuple[str, str], ...] = ()
    identity: tuple[str, ...] = ()  # the columns that tell one row from another; "#" is its place in the reply
    newer: tuple[str, ...] = ()  # columns that older replies lack: null there
    later: tuple[str, ...] = ()  # fields that are computed later, or from later data: shown without a PIT only
    # Fields that are written here: a reply's values under these names are left out.
    ours: tuple[str, ...] = ("record_type",)

    # The rest shows that a reply is this function's own.
    series: str = ""  # the key of its bars in JSON; {} stands for the interval
    columns: tuple[str, ...] = ()  # the columns without which a row is not one of this function's
    # Further columns without which a CSV is not a reply of it; None: it comes as JSON only.
    header: tuple[str, ...] | None = None
    foreign: tuple[str, ...] = ()  # columns, or keys of a JSON reply, that belong to other functions
    single: bool = False  # one reply is one row, so a row on another subject is another reply

    def but(self, **changes: Any) -> Function:
        """Return this function with ``changes``, to its operation as well."""
        operation = self.operation
        for part in (Dating, Archiving, Operation):
            names = {*part._fields} - {*Function._fields}
            own = {name: changes.pop(name) for name in names if name in changes}
            if own and part is Dating:
                own = {"dating": operation.dating._replace(**own)}
            elif own and part is Archiving:
                own = {"archiving": operation.archiving._replace(**own)}
            operation = operation._replace(**own)
        return self._replace(operation=operation, **changes)

    @property
    def passes(self) -> frozenset[str]:
        """Return the columns that a dated row shows with a PIT. A column not listed may carry later data."""
        return frozenset(field.name for field in self.operation.fields) - {*self.later, *self.ours}
