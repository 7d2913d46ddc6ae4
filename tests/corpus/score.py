"""Score usual ways of filtering by time on the leak corpus: ``make corpus``."""

from __future__ import annotations

import json
import subprocess
import warnings
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import dateutil
import pandas as pd
from dateutil import parser as dateutil_parser

from pit_fetch import __version__
from tests.laws.corpus import cases, score


class Question(NamedTuple):
    """One record of the corpus, its case's PIT, and the answer."""

    stamp: Any
    pit: str
    public: bool


def questions() -> list[Question]:
    """Return the records that have a stamp to look at; error replies, which have no record, are left out."""
    return [
        Question(item["stamp"], case["pit"], item["public"])
        for case in cases()
        for item in case["items"]
        if case["class"] != "error"
    ]


def with_jq(pairs: Sequence[Question]) -> list[bool]:
    """Compare ``.stamp <= $pit``: time stamps as text."""
    lines = "\n".join(json.dumps({"stamp": pair.stamp, "pit": pair.pit}) for pair in pairs)
    done = subprocess.run(["jq", "-c", ".stamp <= .pit"], input=lines, capture_output=True, text=True, check=True)
    return [line == "true" for line in done.stdout.split()]


def with_pandas(stamp: Any, pit: str) -> bool:
    moment = pd.to_datetime(stamp, utc=True, errors="coerce")
    return bool(moment <= pd.Timestamp(pit))


def with_dateutil(stamp: Any, pit: str) -> bool:
    """Read a stamp without an offset as UTC, and drop one that cannot be parsed."""
    try:
        moment = dateutil_parser.parse(stamp)
        return bool(moment.replace(tzinfo=moment.tzinfo or UTC) <= dateutil_parser.parse(pit))
    except (ValueError, TypeError, OverflowError):
        return False


def with_days(stamp: Any, pit: str) -> bool:
    """Keep a record whose date is the PIT's or an earlier one: ``date_to`` of many an API."""
    try:
        return bool(dateutil_parser.parse(stamp).date() <= dateutil_parser.parse(pit).date())
    except (ValueError, TypeError, OverflowError):
        return False


def with_earlier_days(stamp: Any, pit: str) -> bool:
    """Keep a record whose date is before the PIT's."""
    try:
        return bool(dateutil_parser.parse(stamp).date() < dateutil_parser.parse(pit).date())
    except (ValueError, TypeError, OverflowError):
        return False


def main() -> None:
    warnings.simplefilter("ignore")
    stamped = questions()
    own = score(cases())
    jq = subprocess.run(["jq", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    answers: Mapping[str, list[bool]] = {
        f"text comparison ({jq})": with_jq(stamped),
        f"pandas {pd.__version__}, to_datetime(utc=True)": [with_pandas(pair.stamp, pair.pit) for pair in stamped],
        f"python-dateutil {dateutil.__version__}, naive as UTC": [
            with_dateutil(pair.stamp, pair.pit) for pair in stamped
        ],
        "day window, up to the PIT's day": [with_days(pair.stamp, pair.pit) for pair in stamped],
        "day window, up to the day before": [with_earlier_days(pair.stamp, pair.pit) for pair in stamped],
    }
    withheld = sum(not pair.public for pair in stamped)
    public = len(stamped) - withheld
    print(f"{len(cases())} cases, {own.withheld + own.public} records; {len(stamped)} of them have a stamp: ", end="")
    print(f"{withheld} were not public, {public} were. {datetime.now(UTC):%Y-%m-%d}\n")
    print("| approach | leaked | of | dropped though public | of |\n|---|---|---|---|---|")
    print(f"| pit_fetch {__version__} | {len(own.leaks)} | {own.withheld} | {len(own.over_drops)} | {own.public} |")
    for name, decisions in answers.items():
        pairs = list(zip(stamped, decisions, strict=True))
        leaked = sum(k and not pair.public for pair, k in pairs)
        dropped = sum(pair.public and not k for pair, k in pairs)
        print(f"| {name} | {leaked} | {withheld} | {dropped} | {public} |")


if __name__ == "__main__":
    main()
