"""How a panel's instants and subjects are written, and how a list is asked for: what a refusal shows. Pure.

>>> example_rule("weekly 2024")
'weekly fri 2024-01..2024-12 16:00[America/New_York]'
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence

from pit_fetch.courtesy.timestamps import EXAMPLE
from pit_fetch.provider import Option, Provider

_RULES = {
    "monthly": "monthly 2024-01..2024-12 16:00[America/New_York]",
    "weekly": "weekly fri 2024-01..2024-12 16:00[America/New_York]",
    "daily": "daily 2024-01..2024-12 16:00[America/New_York]",
    "sessions": "sessions XNYS 2024-01..2024-12 close",
}
# For these there is no rule.
_OTHERS = ("hourly", "quarterly", "yearly", "annual")
_PITS = f"--pits '{_RULES['monthly']}'"
LINE = f"pit_fetch panel --source sec_facts {_PITS} --over cik=320193,789019 concept=EarningsPerShareDiluted"


def is_rule(text: str) -> bool:
    """Return whether a text is meant as a rule, and not as an instant."""
    return text.casefold().startswith((*_RULES, *_OTHERS)) or (".." in text and not text.startswith("@"))


def example_rule(text: str) -> str:
    """Return an example of the rule that a text is likely to mean."""
    return next((rule for name, rule in _RULES.items() if name in text.casefold()), _RULES["monthly"])


def mistake(argv: Sequence[str], provider: Provider) -> str:
    """Return what is wrong with a panel without ``--pits``, or with several words where an option takes one; or ""."""
    operations = "|".join(re.escape(operation.name) for operation in provider.operations if operation.name) or "(?!)"
    names = [word.partition("=")[0] for word in argv]
    if "--pit" in names:
        return "a panel has --pits, with commas between its instants, in the place of --pit"
    for place, (name, word) in enumerate(zip(names, argv, strict=True)):
        following = "".join(argv[place + (1 if "=" in word else 2) :][:1])
        is_value = not re.match(rf"-|[A-Za-z][\w-]*=|(?:{operations}|)\Z", following, re.IGNORECASE)
        if name == "--over" and is_value:
            return "--over takes one word: write --over NAME=A,B or NAME=@FILE"
        if name == "--pits" and is_value:
            return f"--pits takes one word: instants with commas between them, or a rule in quotes: {_PITS}"
    return "" if "--pits" in names else f"a panel needs --pits INSTANTS: write {_PITS}"


def over_list(reason: str, given: Mapping[str, object], provider: Provider) -> str:
    """Return the list that is to blame for a refusal, as ``--over`` takes it ("cik=1,2"); "" if there is none.

    ``reason`` is that of the refusal, which names the option. ``given`` are the options of the request.
    """
    words = re.findall("[a-z_]+", reason.replace("--", " ").replace("-", "_"))
    named = (option for option in provider.all_options if option.name in words)
    lists = {option.name: _as_list(option, given.get(option.name)) for option in named}
    return next((f"{name}={shlex.quote(text)}" for name, text in lists.items() if text), "")


def _as_list(option: Option, value: object) -> str:
    """Return a value that is a list where the option takes one, without blanks; else ""."""
    takes_one = option.kind not in ("list", "flag") and not option.repeatable and option.positional != "all"
    parts = [part.strip() for part in value.split(",")] if takes_one and isinstance(value, str) else []
    return ",".join(parts) if len(parts) > 1 and all(parts) else ""


def advice(reason: str, given: Mapping[str, object], provider: Provider, pit: str) -> str:
    """Return the sentence that a refused fetch ends with, "" or with a blank before it. ``pit`` is its PIT, or ""."""
    asked = over_list(reason, given, provider)
    command = f"pit_fetch panel --source {provider.name} --pits {pit or EXAMPLE} --over {asked} ..."
    return f"; for several, ask a panel: {command}" if asked else ""
