"""The values of ``over``, of which each makes a request of its own: from a list or a file, and combined. Pure.

>>> from_text("# watched\\nIBM\\n\\nAAPL\\n", "symbol"), from_text("name,symbol\\nApple,AAPL\\n", "symbol")
(['IBM', 'AAPL'], ['AAPL'])
>>> [*each({"symbol": ["IBM", "AAPL"], "op": ["EARNINGS"]})]
[{'symbol': 'IBM', 'op': 'EARNINGS'}, {'symbol': 'AAPL', 'op': 'EARNINGS'}]
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product
from typing import Any

from pit_fetch.errors import UsageError
from pit_fetch.gaps import Code

_FORM = "write one value a line, or a CSV file with a column {}"
# Symbols and names; words of a sentence and addresses have semicolons of their own.
_OTHERWISE_DIVIDED = re.compile(r"\t|^[\w.^=-]*(?:;[\w.^=-]*)+$")

# Returns the text of a file that the list names. Raises OSError, UnicodeDecodeError or UsageError.
ReadFile = Callable[[str], str]


def from_text(text: str, name: str) -> list[str]:
    """Return the values of an option in a file, each once: one a line or, in CSV, the column of the option's name.

    Raise UsageError if there is no value, or no such column.
    """
    values = (row.get(name) for row in rows(text, name))
    return list(dict.fromkeys(filter(None, values))) or _none()


def rows(text: str, name: str) -> list[dict[str, str]]:
    """Return the rows of a file by the names of its columns; without a first line that names them, ``name`` alone.

    ``Symbol``, ``symbols`` and ``Ticker`` head a column of symbols as well, for example. Blank lines and those that
    begin with ``#`` are skipped. Raise UsageError for several columns without ``name``, and for what other programs put
    between values.
    """
    lines = [line.strip() for line in text.lstrip("\ufeff").splitlines()]
    lines = [line for line in lines if line and not line.startswith("#")]
    if any(map(_OTHERWISE_DIVIDED.search, lines)):
        raise _refused(f"its values are divided by ; or tabs: {_FORM.format(name)}, with commas between its columns")
    try:
        cells = [[cell.strip() for cell in row] for row in csv.reader(lines, strict=True)]
    except csv.Error:
        raise _refused(f"a quote is not closed, or stands within a value: {_FORM.format(name)}") from None
    if cells and name not in cells[0]:
        cells[0] = [name if _is_heading(cell, name) else cell for cell in cells[0]]
    if cells and len(cells[0]) > 1 and name not in cells[0]:
        raise _refused(f"it has no column {name}: {_FORM.format(name)}")
    head, *body = cells if cells and name in cells[0] else [[name], *cells]
    if len({column.casefold() for column in head}) < len(head):
        raise _refused("a column stands twice in its first line")
    return [dict(zip(head, [*row, *[""] * len(head)], strict=False)) for row in body]


def _is_heading(cell: str, name: str) -> bool:
    """Return whether a cell of the first line is the option's name in other words: ``Ticker`` for ``tickers``."""
    words = {cell.casefold().removesuffix("s"), name.casefold().removesuffix("s")}
    return len(words) == 1 or words == {"symbol", "ticker"}


def each(over: Mapping[str, Iterable[Any]]) -> Iterator[dict[str, Any]]:
    """Yield the options of each request: every combination of the values, the last name varying fastest."""
    for values in product(*over.values()):
        yield dict(zip(over, values, strict=True))


def listed(name: str, value: object, read: ReadFile) -> list[Any]:
    """Return the values of an option in ``over``: a list, or ``@FILE``. Raise UsageError."""
    if isinstance(value, str) and value.startswith("@"):
        return from_file(name, value, read)
    if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
        raise _refused(f'over: {name} is a list of values, or "@FILE" with one a line')
    return list(value) or _none(f"over: {name}: ")


def from_file(name: str, value: str, read: ReadFile, parse: Callable[[str, str], list[Any]] = from_text) -> list[Any]:
    """Return what ``parse`` makes of the file that ``@FILE`` names. Raise UsageError, which names the file."""
    file = value.removeprefix("@")
    try:
        return parse(read(file), name)
    except UnicodeDecodeError:
        problem = "it is not UTF-8"
    except OSError as error:
        problem = error.strerror or "it cannot be read"
    except UsageError as error:
        problem = error.gap.reason
    raise _refused(f"{name}: {file}: {problem}")


def _none(where: str = "") -> list[Any]:
    raise _refused(f"{where}it has no value")


def _refused(text: str) -> UsageError:
    return UsageError(Code.USAGE, text=text)
