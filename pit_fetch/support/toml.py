"""TOML that somebody wrote: what it says, or why it cannot be read, whatever is wrong with it."""

from __future__ import annotations

from typing import Any


class NotToml(ValueError):
    """The text cannot be read; the message says why, with the line where that is known."""


def table_of(text: str) -> dict[str, Any]:
    """The table of a text. Raises NotToml."""
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise NotToml(str(error)) from None
    except ValueError:  # Python reads no number of thousands of digits
        raise NotToml("a number in it is too long") from None
    except RecursionError:
        raise NotToml("it is nested too deeply") from None
