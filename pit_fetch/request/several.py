"""Explain how to ask for several values of an option that takes one: a panel. Loaded only to refuse a list. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from pit_fetch.provider import Option, Provider


def over(reason: str, given: Mapping[str, object], provider: Provider) -> str:
    """Return the list that is to blame for a refusal, as ``--over`` takes it ("cik=1,2"); "" if there is none.

    ``reason`` is that of the refusal, which names the option. ``given`` are the options of the request.
    """
    words = re.findall("[a-z_]+", reason.replace("--", " ").replace("-", "_"))
    named = (option for option in provider.options if option.name in words)
    lists = {option.name: _listed(option, given.get(option.name)) for option in named}
    return next((f"{name}={shlex.quote(text)}" for name, text in lists.items() if text), "")


def _listed(option: Option, value: object) -> str:
    """Return a value that is a list where the option takes one, without blanks; else ""."""
    takes_one = option.kind not in ("list", "flag") and not option.repeatable and option.positional != "all"
    parts = [part.strip() for part in value.split(",")] if takes_one and isinstance(value, str) else []
    return ",".join(parts) if len(parts) > 1 and all(parts) else ""


def advice(reason: str, given: Mapping[str, object], provider: Provider, pit: str) -> str:
    """Return the sentence that a refused fetch ends with, "" or with a blank before it. ``pit`` is its PIT, or ""."""
    asked = over(reason, given, provider)
    instant = pit or "2024-02-15T16:00:00-05:00"
    command = f"pit_fetch panel --source {provider.name} --pits {instant} --over {asked} ..."
    return f"; for several, ask a panel: {command}" if asked else ""
