"""The functions of Alpha Vantage, one row each, and how the rows of their replies are dated.

To add a function, add a row to one of the tables: bars, dated by row, snapshots, unverifiable. What it
needs is the rule that shows when its rows were public, and the reason; a function without such a rule
is unverifiable, and nothing of it is served with a PIT.
"""

from __future__ import annotations

from collections.abc import Mapping

from pit_fetch_providers.alphavantage import table_bars, table_dated, table_snapshots, table_unverifiable
from pit_fetch_providers.alphavantage.function import Function

_TABLES = (table_bars, table_dated, table_snapshots, table_unverifiable)

FUNCTIONS: Mapping[str, Function] = {row.operation.name: row for table in _TABLES for row in table.ROWS}
