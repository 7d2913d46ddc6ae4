"""What a capture should say, beside what it got: which later questions it does not answer, and what it missed. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from pit_fetch.provider import Query, Window
from pit_fetch.request.fetch_request import UNLIMITED, FetchRequest
from pit_fetch.request.values import flag_of
from pit_fetch.times import format_for_people


def notes(request: FetchRequest, query: Query, refusal: str) -> Iterator[str]:
    """Yield a sentence for each way in which later questions are not answered as one may think.

    ``refusal`` is why the same request is refused with a PIT, or "".
    """
    provider = request.provider
    if UNLIMITED not in (request.limit, request.max_pages) or request.limit != request.max_pages:
        yield "With a limit, it answers for no time before the capture."
    elif query.chooses:
        yield _chosen(query)
    if refusal:
        yield f"With --pit the same question is refused: {refusal}"
    same = [
        flag_of(option.name)
        for option in provider.options
        if option.affects_records
        and (option.kind == "list" or option.repeatable)
        and len(query.options[option.name] or ()) > 1
    ]
    if query.operation.window is Window.BY_ASKING:
        same += [flag_of("date_from"), flag_of("date_to")]
    if same:
        yield (
            f"It answers only questions with the same {' and '.join(same)}: for others, make a request of each of them."
        )
    own = provider.when_captured(query)
    if own:
        yield own


def _chosen(query: Query) -> str:
    """Return the note on a request that leaves a choice, with the options that leave none."""
    options = " or ".join(query.operation.chooses_unless)
    unless = f", unless it gives {options}" if options else ""
    return f"A fetch reads only what is wanted at its PIT: it answers for no time before the capture{unless}."


def hole(query: Query, last: datetime | None) -> str:
    """Return what is missing since the ``last`` capture of a request, if it looks back less far than that; else ""."""
    earliest = query.operation.earliest(query)
    if last is None or earliest is None or earliest <= last:
        return ""
    hours = (query.started - last).total_seconds() / 3600
    return (
        f"The last capture was {hours:.0f} hours ago, and this one looks back to {format_for_people(earliest)}: what "
        "came in between is missing. Let it look back further, and run it with --again."
    )
