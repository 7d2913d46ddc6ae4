"""What recorded runs are held against: the archive, which is asked every request again, and one another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from pit_fetch.engine.progress import Progress
from pit_fetch.engine.report import FetchResult
from pit_fetch.engine.run import run
from pit_fetch.errors import InputError, PitFetchError, UsageError
from pit_fetch.formats import Text
from pit_fetch.gaps import Code
from pit_fetch.request.audience import CEILING_VARIABLE
from pit_fetch.request.fetch_request import FetchRequest, from_canonical
from pit_fetch.runs import EXCHANGE, RECORD_VARIABLE
from pit_fetch.runs.record import Entry, bytes_of
from pit_fetch.runtime import Environment, Runtime

# The text that is shown of a result, in the shape of the entry.
Show = Callable[[Entry, FetchRequest, FetchResult], Text]


class Verification(NamedTuple):
    """How the calls of a run are answered today, by the archive alone.

    calls           how many there are
    same            how many of them get the same bytes
    different       those that get others
    not_answerable  those that the archive, or a source that is no longer installed, does not answer
    """

    calls: int
    same: int
    different: Sequence[dict[str, Any]]
    not_answerable: Sequence[dict[str, Any]]


def verify(calls: Sequence[Entry], runtime: Runtime, archive: str, show: Show) -> Verification:
    """Ask each request of a run again, of the archive at a path alone, and compare the bytes."""
    different, not_answerable = [], []
    for call in calls:
        try:
            request, result = _ask_again(call, runtime, archive)
        except PitFetchError as error:
            not_answerable.append({**_name(call), "reason": error.gap.reason})
            continue
        if bytes_of(show(call, request, result)) == call.shown:
            continue
        missing = next((gap for gap in result.gaps if gap.code.is_uncaptured), None)
        if missing is None and result.is_failure:
            missing = next(gap for gap in result.gaps if gap.is_failure)
        if missing is not None:
            not_answerable.append({**_name(call), "reason": missing.reason})
        else:
            different.append(_name(call))
    return Verification(len(calls), len(calls) - len(different) - len(not_answerable), different, not_answerable)


def _ask_again(call: Entry, runtime: Runtime, archive: str) -> tuple[FetchRequest, FetchResult]:
    """Return a call and the archive's answer to it. Raise PitFetchError if it cannot be asked any more."""
    if call.form["shape"] == EXCHANGE:
        raise UsageError(Code.USAGE, text="a program asked this: run it again")
    # A ceiling decides what is refused.
    bound = {CEILING_VARIABLE: call.pit} if call.form["is_bound"] and call.pit is not None else {}
    environ = Environment({**runtime.environ, RECORD_VARIABLE: "", **bound})
    request = from_canonical(call.request, runtime.find(call.source))
    form = {name: value for name, value in call.form.items() if name in request._fields}
    if request.input_file == "-":
        raise InputError(Code.INPUT_UNREADABLE, problem="standard input is not recorded")
    request = request._replace(**form, archive=archive, offline=not request.input_file)
    return request, run(request, runtime._replace(environ=environ), Progress(), ())


def differences(one: Sequence[Entry], other: Sequence[Entry]) -> Iterator[dict[str, Any]]:
    """Yield what differs between two runs: calls of one alone, and the same question with another answer.

    Calls belong together by step, agent and request, and repeated ones by their order: agents that run side by side
    have none.
    """
    paired: dict[tuple[str, ...], tuple[list[Entry], list[Entry]]] = defaultdict(lambda: ([], []))
    for side, calls in enumerate((one, other)):
        for call in calls:
            paired[call.step or "", call.agent or "", call.request][side].append(call)
    for pair in paired.values():
        for first, second in zip_longest(*pair):
            known = first or second
            if first is None or second is None or first.sha256 != second.sha256:
                change = "only in the second" if first is None else "only in the first" if second is None else "answer"
                yield {**_name(known), "change": change, "calls": [each and each.call for each in (first, second)]}


def _name(call: Entry) -> dict[str, Any]:
    return {"call": call.call, "step": call.step, "agent": call.agent, "request": call.request}
