"""The functions of Alpha Vantage, one row each, and how the rows of their replies are dated.

To add a function, add a row to one of the tables: bars, dated by row, snapshots, unverifiable. What it
needs is the rule that shows when its rows were public, and the reason; a function without such a rule
is ``unverifiable``, and nothing of it is served with a PIT.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pit_fetch_providers.alphavantage import table_bars, table_dated, table_snapshots, table_unverifiable
from pit_fetch_providers.alphavantage.function import MINUTES, Function, Rule

__all__ = ["FUNCTIONS", "MINUTES", "Function", "by_rule", "help_text"]

_TABLES = (table_bars, table_dated, table_snapshots, table_unverifiable)

FUNCTIONS: Mapping[str, Function] = {row.name: row for table in _TABLES for row in table.ROWS}

# Habits of callers: other words for a function.
SYNONYMS: Mapping[str, str] = {"ESTIMATES": "EARNINGS_ESTIMATES", "CALENDAR": "EARNINGS_CALENDAR"}

_TITLES: tuple[tuple[str, tuple[Rule, ...]], ...] = (
    (
        "Dated by row: --pit serves what was public",
        ("bar", "earnings", "declared", "day", "next_day", "article"),
    ),
    ("Snapshots: public when they are fetched, so not at all for a PIT in the past", ("snapshot",)),
    ("Unverifiable: nothing is served with --pit", ("unverifiable",)),
)  # fmt: skip


def by_rule() -> Iterator[tuple[str, list[Function]]]:
    """The functions under the titles of --help and of the docs."""
    for title, rules in _TITLES:
        yield title, [row for row in FUNCTIONS.values() if row.rule in rules]


def help_text() -> str:
    """The table as plain ASCII text for --help: each function with its rule, and what it needs."""
    width = max(len(name) for name in FUNCTIONS)
    lines = []
    for title, rows in by_rule():
        lines.append(f"{title}:")
        for row in rows:
            says = row.how if row.rule not in ("snapshot", "unverifiable") else row.rule
            needs = f" (needs {', '.join(row.needs)})" if row.needs else ""
            lines.append(f"  {row.name:<{width}}  {says}{needs}")
    return "\n".join(lines) + "\n"
