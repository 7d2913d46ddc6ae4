"""The shape of the tables: what to ask for, how the rows of a function are dated, how its reply is recognized."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Any, NamedTuple

from pit_fetch.provider import Context, Field, FieldKind, Gap, Operation, Page, Query, Record, Watermark
from pit_fetch.provider import Params as Parameters
from pit_fetch.times import NEW_YORK

Row = Mapping[str, Any]
Rule = Callable[[Row, "FunctionReply"], datetime | None]

MINUTES: Mapping[str, int] = {"1min": 1, "5min": 5, "15min": 15, "30min": 30, "60min": 60}

# Market currencies of coins whose bars are the market's own: 350 days, 49 weeks and 11 months in EUR and 100
# bars in USD were recorded, all of them in ticks of 0.01. Other markets are converted at the rate of the fetch.
MARKETS = ("EUR", "USD")


def is_own_market(*names: str | None) -> bool:
    """Return whether the prices are the market's own, by the names in the request or the reply. A CSV names none."""
    markets = [name.upper() for name in names if name]
    return bool(markets) and all(name in MARKETS for name in markets)


class FunctionReply(NamedTuple):
    """A reply together with its request, as the rules need it that date its rows.

    rows (record_type, row) of the rows on the subject; None for a row that cannot be read meta the meta data beside
    the rows, by plain name ("time_zone", "interval", "symbol") received the instant of receipt
    """

    function: Function
    query: Query
    rows: Sequence[tuple[str, Row | None]]
    meta: Mapping[str, str]
    received: datetime


class Function(NamedTuple):
    """One function of Alpha Vantage.

    operation its declaration to the framework. If rows are dated, its fields are a closed list with a PIT dates the
    rule that dates a row: (row, reply) -> the instant from which it was public, or None records makes the records of
    a reply fetch sends the requests of a fetch parameters makes the parameters of a request

    zones       of labels, if the reply names none; of several, the latest reading counts
    whole       one request (or one a month) reaches all of the history
    lists       (key in the reply, record_type) of its rows; empty: any list or series in it;
                the key "" takes the whole reply as one row
    identity    the columns that tell one row from another; "#" is its place in the reply
    newer       columns that older replies lack: null there
    later       fields that are computed later, or from later data: shown without a PIT only
    ours        fields that are written here: a reply's values under these names are left out

    The rest shows that a reply is this function's own:

    series the key of its bars in JSON; {} stands for the interval columns the columns without which a row is not one
    of this function's header further columns without which a CSV is not a reply of it; None: it comes as JSON only
    foreign columns, or keys of a JSON reply, that belong to other functions single one reply is one row, so a row on
    another subject is another reply
    """

    operation: Operation
    dates: Rule
    records: Callable[[FunctionReply], Iterator[Record]]
    fetch: Callable[[Function, Query, Context], Iterator[Record | Page | Watermark | Gap]]
    parameters: Callable[[Query], Parameters]
    zones: tuple[tzinfo, ...] = (NEW_YORK,)
    whole: bool = True
    lists: tuple[tuple[str, str], ...] = ()
    identity: tuple[str, ...] = ()
    newer: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    ours: tuple[str, ...] = ("record_type",)
    series: str = ""
    columns: tuple[str, ...] = ()
    header: tuple[str, ...] | None = None
    foreign: tuple[str, ...] = ()
    single: bool = False

    def but(self, **changes: Any) -> Function:
        """Return this function with ``changes``, to its operation as well."""
        own = {name: changes.pop(name) for name in Operation._fields if name in changes}
        return self._replace(operation=self.operation._replace(**own), **changes)

    @property
    def passes(self) -> frozenset[str]:
        """Return the columns that a dated row shows with a PIT. A column not listed may carry later data."""
        return frozenset(field.name for field in self.operation.fields) - {*self.later, *self.ours}


_PLOTTED = ("close", "value", "price", "adjusted_close")


def fields(text: str = "", date: str = "", number: str = "", integer: str = "", lists: str = "") -> tuple[Field, ...]:
    """Return fields by their kinds. The source writes numbers as texts."""
    kinds: Mapping[FieldKind, str] = {"text": text, "date": date, "number": number, "integer": integer, "list": lists}
    return tuple(
        Field(name, kind, is_plotted=name in _PLOTTED) for kind, names in kinds.items() for name in names.split()
    )


SYMBOL = ("symbol",)
