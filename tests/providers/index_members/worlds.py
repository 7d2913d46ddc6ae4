"""Worlds of an index: later revisions of its list, and spoilt ones; the newest that is a list stood."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random
from typing import Any

from tests.laws.worlds import Case
from tests.providers.dated import Rows
from tests.providers.index_members import server as wiki

_MARGIN = timedelta(minutes=1)
_SIZES = {"pit_fetch_providers.index_members:LEAST": 3, "pit_fetch_providers.index_members:MOST": 8}
_MEMBERS = ("AAPL", "MSFT", "BRK.B", "MMM", "PANW")


def _row(number: int, public: datetime, revised: datetime | None, text: str) -> dict[str, Any]:
    # A later list has another member, whose name is not to be seen.
    named = _MEMBERS[: 3 + number % 3]
    source = wiki.wikitext(named, text[:30])
    return wiki.revision(number, public - _MARGIN, source.replace("AAPL Inc.", text[:30]))


LISTS = Rows(
    source="index_members",
    words=("sp500",),
    app=wiki.app,
    row=_row,
    ids=lambda row: [],
    stamps=("timestamp",),
    texts=("slots", "revid", "sha1"),
    sizes=[_SIZES],
)


def make(rng: Random, most: int = 4) -> Case:
    case = LISTS.make(rng, most)
    words = list(case.words)
    for option in ("--date-from", "--date-to"):  # a list of then has no dates to choose by
        while option in words:
            del words[words.index(option) : words.index(option) + 2]
    return case._replace(words=tuple(words), immutable=False)


def undisturbed(rng: Random) -> Case:
    """Return a world with one revision: a later one takes the place of the one before it."""
    case = LISTS.undisturbed(rng)
    row = LISTS.row(1, LISTS.floor(case.moment - timedelta(days=3)), None, "Text")
    return case._replace(worlds=(wiki.app([row]),))


LAWS = dict(LISTS.laws)
