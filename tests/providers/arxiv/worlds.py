"""Worlds of arXiv: papers that were announced later, and later versions of others; all of them are claims."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random
from typing import Any

from pit_fetch_providers.arxiv import MARGIN, announced

from tests.laws.refusals import Requests
from tests.laws.worlds import CANARY, Case
from tests.providers.arxiv import server as arxiv
from tests.providers.dated import Rows

_DAY = timedelta(days=1)


def _submitted(public: datetime) -> datetime:
    """Return the last noon in UTC of which the claim is at ``public`` or before it."""
    at = (public - MARGIN).replace(hour=12, minute=0, second=0, microsecond=0)
    while (announced(at) or at) + MARGIN > public:
        at -= _DAY
    return at


def _claimed(public: datetime) -> datetime:
    return (announced(_submitted(public)) or public) + MARGIN


def _later(moment: datetime) -> datetime:
    """Return the first instant after ``moment`` at which a submission counts."""
    at = moment
    while _claimed(at) <= moment:
        at += _DAY
    return _claimed(at)


def _row(number: int, public: datetime, revised: datetime | None, text: str) -> dict[str, Any]:
    return arxiv.version(number, _submitted(public), title=text, summary=text)


PAPERS = Rows(
    source="arxiv",
    words=("cat:cs.LG",),
    app=arxiv.app,
    row=_row,
    ids=lambda row: [],
    stamps=("updated", "published"),
    texts=("title", "summary"),
    floor=_claimed,
    rounded=_later,
    sizes=[{"pit_fetch_providers.arxiv:PAGE_SIZE": size} for size in (2, 7, 100)],
    failures=[[arxiv.error()]],
    most=timedelta(days=15),
)
make, undisturbed, LAWS = PAPERS.make, PAPERS.undisturbed, dict(PAPERS.laws)


def claimed(rng: Random) -> Case:
    """Return worlds in which other papers were announced later, or public ones got a later version."""
    case = PAPERS.claimed(rng)
    public, worlds = (
        [PAPERS.row(n, PAPERS.floor(case.moment - n * _DAY), None, "x") for n in range(1, rng.choice((2, 5)))],
        [],
    )
    for number in range(4):
        late = _submitted(_later(case.moment))
        newer = [
            arxiv.version(int(row["paper"][-5:]), late, 2, datetime.fromisoformat(row["published"]), title=CANARY)
            for row in (public if number else ())
            if rng.random() < 0.5
        ]
        noise = [PAPERS.row(900 + n, _later(case.moment), None, CANARY) for n in range(number * rng.choice((0, 2)))]
        worlds.append(arxiv.app(rng.sample([*public, *newer, *noise], len(public) + len(newer) + len(noise))))
    return case._replace(worlds=tuple(worlds))


REQUESTS = Requests(lambda asked: len(asked) > 1)
