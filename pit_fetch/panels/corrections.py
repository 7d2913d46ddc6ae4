"""What a text that is no instant and no rule of a panel was probably meant as. Pure. Loaded only where one is refused.

Nothing here is used as an instant: it is what a refusal shows.

>>> rule("Monthly 2024-01 to 2024-03 16:00 [NewYork]")
'monthly 2024-01..2024-03 16:00[America/New_York]'
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pit_fetch.request.timestamp_errors import EXAMPLE, problem, zone_of
from pit_fetch.times import parse_date, parse_pit

_WORDS = {
    "daily": r"daily|every ?day|days?|business",
    "weekly": r"weekly|weeks?",
    "monthly": r"monthly|months?(?:[- ]?ends?)?",
    "sessions": r"(?:trading )?sessions?",
}
_OTHERS = r"hourly|quarterly|quarters?|quarter[- ]?ends?|yearly|annual(?:ly)?|years?|year[- ]?ends?"
_DATE = r"[0-9]{4}(?:-[0-9]{2}(?:-[0-9]{2})?)?(?![0-9:])"
_CLOCK = r"(?<![0-9T-])([0-9]{1,2}):?([0-9]{2})(:[0-9]{2})?\s*([ap]m)?(?![0-9-])"
_DAYS = "mon|tue|wed|thu|fri|sat|sun"


def is_rule(text: str) -> bool:
    """Return whether a text is meant as a rule, and not as an instant."""
    begins = any(re.match(rf"(?i)\W*(?:{words})\b", text) for words in (*_WORDS.values(), _OTHERS))
    return not text.startswith("@") and (begins or ".." in text)


def lacks_rule(text: str) -> bool:
    """Return whether a text asks for instants for which there is no rule, such as quarterly ones."""
    return re.search(rf"(?i)\b(?:{_OTHERS})\b", text) is not None


def rule(text: str) -> str:
    """Return the rule that a text is likely to mean. What it lacks is as in an example."""
    known = (name for name, words in _WORDS.items() if re.search(rf"(?i)\b(?:{words})\b", text))
    frequency, rest = next(known, "monthly"), text
    dates = sorted(date for date in re.findall(_DATE, rest) if _is_date(date)) or ["2024-01", "2024-12"]
    span = f"{_month(dates[0], '01')}..{_month(dates[-1], '12')}"
    if frequency == "sessions":
        exchange = re.search(r"\b(X[A-Z]{3})\b", rest)
        event = re.search(r"(open|close)([+-][0-9]{1,4}(?:min|h))?", rest)
        return f"sessions {exchange[1] if exchange else 'XNYS'} {span} {event[0] if event else 'close'}"
    day = re.search(rf"(?i)\b({_DAYS})[a-z]*\b", rest)
    weekday = f" {day[1].lower() if day else 'fri'}" if frequency == "weekly" else ""
    return f"{frequency}{weekday} {span} {_clock(rest)}{zone(rest)}"


def zone(text: str) -> str:
    """Return the zone at the end of a text as a PIT has it: "Z", an offset or "[Area/City]"; New York's for none."""
    offset = re.search(r"[0-9]\s*(Z|[+-][0-9]{2}:[0-9]{2})\s*$", text)
    if offset and parse_pit(f"2024-01-01T12:00:00{offset[1]}"):
        return offset[1]
    name = re.search(r"\[([^\[\]]*)\]?\s*$|(?:[0-9]|[ap]m)\s+([A-Za-z][\w/ +-]*)\s*$", text)
    named = ((name[1] or name[2] or "") if name else "").strip()
    if named.upper() in ("UTC", "GMT", "Z"):
        return "Z"
    return f"[{zone_of(named) or 'America/New_York'}]"


def listed(words: Sequence[str]) -> str:
    """Return instants as a list with commas between them, each as it was probably meant."""
    texts = [text.strip("[]\"' ") for word in words for text in re.split(r"[,;\s]+", word)]
    texts = [text for text in texts if text]
    if all(parse_pit(text) or parse_date(text) or text.startswith("@") for text in texts):
        return ",".join(text if text.startswith("@") else _closest(text) for text in texts)
    return _closest(" ".join(words))


def _closest(text: str) -> str:
    """Return the instant that a text is, or is closest to, or that of an example."""
    if parse_pit(text):
        return text
    found = re.search(r"[0-9]{4}-\S+[0-9Z\]]", problem(text).rpartition(": ")[2])
    return found[0] if found and parse_pit(found[0]) else EXAMPLE


def _clock(text: str) -> str:
    match = re.search(_CLOCK, re.sub(_DATE, " ", text), re.IGNORECASE)
    if match is None:
        return "16:00"
    hour = int(match[1])
    if match[4]:
        hour = hour % 12 + (12 if match[4].lower() == "pm" else 0)
    return f"{hour:02}:{match[2]}{match[3] or ''}" if hour < 24 and match[2] < "60" else "16:00"


def _is_date(text: str) -> bool:
    return parse_date((text + "-01-01")[: len("2024-01-01")]) is not None


def _month(date: str, month: str) -> str:
    return f"{date}-{month}" if len(date) == len("2024") else date
