"""How a front of the program writes what a message names as the command line does. Pure.

>>> in_python("--date-from is after --date-to: swap them")
'date_from is after date_to: swap them'
>>> in_python("To ask about each of them: --over symbol=A,B")
"To ask about each of them: over={'symbol': ['A', 'B']}"
"""

from __future__ import annotations

import re
from collections.abc import Callable

# A command stays as it is: its options are typed in a shell.
_NAMES = re.compile(r"pit_fetch(?: [^\s;,()]+)+|--(?P<name>[a-z][a-z-]*)(?: (?P<value>[A-Z]{2,}|[0-9]+|claimed)\b)?")
_PANEL = re.compile(r"pit_fetch panel --source \S+ --pits \S+ (--over \S+) \.\.\.")
_IN_PYTHON = {
    "--pit EARLIER --pit LATER": "pits=(EARLIER, LATER)",
    "write a large one, such as 1000000": "give None",
}
_OVER = re.compile(r"--over (\w+)=(\S+)")


def reword(text: str, write: Callable[[str], str]) -> str:
    """Return a message with each option, whose name has underscores, as ``write`` returns it."""

    def written(match: re.Match[str]) -> str:
        value = f"={match['value']}" if match["value"] else ""
        return write(match["name"].replace("-", "_")) + value if match["name"] else match[0]

    return _NAMES.sub(written, text)


def in_python(text: str) -> str:
    """Return a message as it is said to a caller in Python."""
    text = _PANEL.sub(r"pit_fetch.panel with \1", text)
    for shell, python in _IN_PYTHON.items():
        text = text.replace(shell, python)
    text = _OVER.sub(lambda over: f"over={{'{over[1]}': {over[2].split(',')}}}", text)
    return reword(text, lambda name: "pit_fetch.sources()" if name == "help" else name)
