"""Hints for people: what to ask instead of what was refused, and why an answer may be empty."""

from __future__ import annotations

from pit_fetch.gaps import Code, Gap, gap
from pit_fetch.provider import Query
from pit_fetch.request.audience import is_for_an_agent
from pit_fetch.request.fetch_request import FetchRequest
from pit_fetch.request.operations import compares_publication, serves_nothing
from pit_fetch.runtime import Runtime
from pit_fetch.times import in_new_york, on_new_york_clock

# No source has much from before this year, so that an answer without items may be owed to a mistyped one.
EARLY_YEAR = 1990


def with_advice(refused: Gap, request: FetchRequest, runtime: Runtime) -> Gap:
    """Return the gap of a request that is refused. If a list is to blame, whoever may ask a panel is told so."""
    if refused.code is not Code.USAGE or request.capture or is_for_an_agent(runtime.environ):
        return refused
    from pit_fetch.courtesy.panels import advice

    pit = in_new_york(request.pit) if request.pit else ""
    text = advice(refused.reason, request.options, request.provider, pit)
    return gap(Code.USAGE, text=f"{refused.reason.rstrip('.')}{text}") if text else refused


def when_empty(request: FetchRequest, query: Query) -> str:
    """Return the hint for an answer without items. It depends on the request and the clock alone."""
    if serves_nothing(query):
        return ""
    # Of another date than that of publication it would not be true: a forecast is of a day to come.
    is_late = query.since is not None and query.since > query.now
    if is_late and compares_publication(query.operation):
        end = "now" if query.pit is None else "the PIT"
        return f"--date-from is after {end}: nothing from then on {'is' if query.pit is None else 'was'} public."
    # The query's own bounds are kept away from the ends of the calendar.
    for name, bound in (("--date-to", request.until), ("The PIT", request.pit)):
        if bound is not None and (year := on_new_york_clock(bound).year) < EARLY_YEAR:
            return f"{name} is in the year {year}: check it."
    return request.provider.when_empty(query)
