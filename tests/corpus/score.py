"""Score usual ways of filtering by time on the leak corpus: ``make corpus``.

The scores are written to ``scores.toml``, from which ``tests.repo.seal`` writes the tables of the documents.
"""

from __future__ import annotations

import json
import platform
import subprocess
import warnings
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import dateutil
import pandas as pd
from dateutil import parser as dateutil_parser

from pit_fetch import __version__
from tests.laws.claimed import ACCEPTED
from tests.laws.corpus import cases, score

WITH_CLAIMS = "pit_fetch `--evidence claimed`, each of them marked"
SCORES = Path(__file__).with_name("scores.toml")


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
    answers: Mapping[tuple[str, str], list[bool]] = {
        ("text comparison of stamps with jq", jq.removeprefix("jq-")): with_jq(stamped),
        ("pandas, `to_datetime(utc=True)`", pd.__version__): [with_pandas(pair.stamp, pair.pit) for pair in stamped],
        ("python-dateutil, naive as UTC", dateutil.__version__): [
            with_dateutil(pair.stamp, pair.pit) for pair in stamped
        ],
        ("day window, up to the PIT's day", ""): [with_days(pair.stamp, pair.pit) for pair in stamped],
        ("day window, up to the day before", ""): [with_earlier_days(pair.stamp, pair.pit) for pair in stamped],
    }
    accepted = score(cases(), ACCEPTED)
    on_claims = len(accepted.leaks) + len(accepted.claimed)
    scores = [
        ("pit_fetch", __version__, len(own.leaks), own.withheld, len(own.over_drops), own.public),
        (WITH_CLAIMS, __version__, on_claims, accepted.withheld, len(accepted.over_drops), accepted.public),
    ]
    withheld = sum(not pair.public for pair in stamped)
    for (name, version), decisions in answers.items():
        pairs = list(zip(stamped, decisions, strict=True))
        leaked = sum(kept and not pair.public for pair, kept in pairs)
        dropped = sum(pair.public and not kept for pair, kept in pairs)
        scores.append((name, version, leaked, withheld, dropped, len(stamped) - withheld))
    SCORES.write_text(_document(scores), encoding="utf-8")


def _document(scores: Sequence[tuple[str, str, int, int, int, int]]) -> str:
    names = ("approach", "version", "leaked", "withheld", "dropped", "public")
    head = {"measured": f"{datetime.now(UTC):%Y-%m-%d}", "python": platform.python_version(), "cases": len(cases())}
    tables = [_lines(head), *("[[score]]\n" + _lines(dict(zip(names, row, strict=True))) for row in scores)]
    return "# Written by make corpus.\n" + "\n".join(tables)


def _lines(values: Mapping[str, object]) -> str:
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in values.items())


if __name__ == "__main__":
    main()
