"""What the tables say of a function: what is asked for, how its rows are dated, what its reply looks like."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Any, NamedTuple

from pit_fetch.provider import Context, Field, FieldKind, Gap, Operation, Page, Query, Record, Watermark
from pit_fetch.provider import Params as Parameters
from pit_fetch.times import NEW_YORK

Row = Mapping[str, Any]
Rule = Callable[[Row, "Answer"], datetime | None]

MINUTES: Mapping[str, int] = {"1min": 1, "5min": 5, "15min": 15, "30min": 30, "60min": 60}

# Market currencies of coins whose bars are the market's own: 350 days, 49 weeks and 11 months in EUR and 100
# bars in USD were recorded, all of them in ticks of 0.01. Other markets are converted at the rate of the fetch.
MARKETS = ("EUR", "USD")


def is_own_market(*names: str | None) -> bool:
    """Whether the prices are the market's own, by what the request or the reply names. A CSV names nothing."""
    markets = [name.upper() for name in names if name]
    return bool(markets) and all(name in MARKETS for name in markets)


class Answer(NamedTuple):
    """One reply in the light of its request, for the rules that date its rows.

    rows      (record_type, row) of those that are on the subject; None for a row that cannot be read
    meta      what comes with the rows, by plain name ("time_zone", "interval", "symbol")
    received  when it came
    """

    function: Function
    query: Query
    rows: Sequence[tuple[str, Row | None]]
    meta: Mapping[str, str]
    received: datetime


class Function(NamedTuple):
    """One function of Alpha Vantage.

    operation   what the framework knows of it. With a PIT its fields are a closed list where rows are dated
    dates       the rule that dates a row: (row, answer) -> when it was public, or None
    records     what makes the records of a reply
    fetch       which requests one fetch makes
    parameters  what a request carries

    zones       of labels, where the reply does not say: of several the latest reading counts
    whole       one request (or one a month) reaches all of the history
    lists       (key of the reply, record_type) of its rows; empty: whatever list or series there is;
                the key "" takes the whole reply as one row
    identity    the columns that tell one row from another; "#" is its place in the reply
    newer       columns that older replies lack: null there
    later       fields that are computed later, or from what comes later: shown without a PIT only
    ours        fields that are written here: never what a reply holds under their names

    What shows that a reply is this function's own:

    series      the key of its bars in JSON; {} stands for the interval
    columns     the columns without which a row is not one of this function's
    header      further columns without which a CSV is not a reply of it; None: it comes as JSON only
    foreign     columns, or keys of a JSON reply, that belong to other functions
    single      one reply is one row, so a row on another subject is another reply
    """

    operation: Operation
    dates: Rule
    records: Callable[[Answer], Iterator[Record]]
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
        """This function with ``changes``, those of its operation among them."""
        own = {name: changes.pop(name) for name in Operation._fields if name in changes}
        return self._replace(operation=self.operation._replace(**own), **changes)

    @property
    def passes(self) -> frozenset[str]:
        """The columns that a dated row shows with a PIT: a name that nobody has looked at may carry what came later."""
        return frozenset(field.name for field in self.operation.fields) - {*self.later, *self.ours}


_PLOTTED = ("close", "value", "price", "adjusted_close")


def fields(text: str = "", date: str = "", number: str = "", integer: str = "", lists: str = "") -> tuple[Field, ...]:
    """Fields by their kinds. The source spells numbers as texts."""
    kinds: Mapping[FieldKind, str] = {"text": text, "date": date, "number": number, "integer": integer, "list": lists}
    return tuple(
        Field(name, kind, is_plotted=name in _PLOTTED) for kind, names in kinds.items() for name in names.split()
    )


SYMBOL = ("symbol",)
