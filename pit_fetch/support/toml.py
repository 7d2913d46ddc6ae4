"""Parsing of TOML that a user wrote."""

from __future__ import annotations

from typing import Any


class NotToml(ValueError):
    """The text cannot be parsed. The message names the reason, with the line if that is known."""


def parse_toml(text: str) -> dict[str, Any]:
    """Return the table that ``text`` contains. Raise NotToml, whatever is wrong with it."""
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise NotToml(str(error)) from None
    except ValueError:  # Python refuses integers of thousands of digits
        raise NotToml("a number in it is too long") from None
    except RecursionError:
        raise NotToml("it is nested too deeply") from None
