"""A company's list in the worlds of EDGAR's sources: it is cut elsewhere once more has been filed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from random import Random

from pit_fetch.testing.server import App, Response, as_json
from pit_fetch.transport import HttpRequest
from tests.laws.worlds import NEW_YORK, Case
from tests.providers.sec_full_text import server as sec

# How a file of the list fails: as a whole, as if it were gone, as a refusal, in what it says, or in its rows.
_FAILURES = (
    sec.MAINTENANCE,
    sec.NO_SUCH_KEY,
    sec.BLOCKED,
    Response(b""),
    Response(b'{"accessionNumber": ['),
    Response(b"{}"),
    as_json({"accessionNumber": [sec.number(1)], "filingDate": [], "acceptanceDateTime": ["2024-02-14T12:00:00.000Z"]}),
)


def day_of(moment: datetime) -> str:
    """Return the day of New York: what was filed later cannot have been public at ``moment``."""
    return moment.astimezone(NEW_YORK).date().isoformat()


def is_cut_off(path: str) -> bool:
    """Return whether a request is for a file of older filings that may hold one of before the PIT.

    In another world these stand elsewhere in the list, so that nothing fails there.
    """
    match = sec.LIST.fullmatch(path)
    return match is not None and 0 < int(match[2] or 0) < sec.LATER


def without_older_files(app: App, rng: Random) -> App:
    """Return ``app`` with a failure in the place of each file of older filings."""
    return _failing(app, rng.choice(_FAILURES), lambda part: part > 0)


def without_later_files(case: Case, rng: Random) -> Case:
    """Return the case with a failure in the place of each file that holds later filings alone."""
    reply = rng.choice(_FAILURES)
    return case._replace(worlds=tuple(_failing(app, reply, lambda part: part > sec.LATER) for app in case.worlds))


def _failing(app: App, reply: Response, fails: Callable[[int], bool]) -> App:
    """Return ``app`` with ``reply`` in the place of the files of the list whose number ``fails``."""

    def answer(request: HttpRequest) -> Response:
        match = sec.LIST.fullmatch(request.path)
        return reply if match is not None and fails(int(match[2] or 0)) else app(request)

    return answer
