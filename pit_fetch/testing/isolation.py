"""Checks of what an answer may not rest on: earlier runs, the hour of the day, the machine, its environment."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

from pit_fetch.testing import edits
from pit_fetch.testing.case import ObservedRun, failure, middle_pit, pits_before
from pit_fetch.testing.comparison import first_difference
from pit_fetch.testing.recording import RecordedReply, drop, edited
from pit_fetch.testing.runner import observe

# Odd enough that no rounding hides them.
_WAITS = (timedelta(seconds=1, microseconds=1), timedelta(days=40, hours=7, minutes=13))
_ELSEWHERE: Mapping[str, str] = {
    "TZ": "Pacific/Kiritimati", "USER": "kit", "LOGNAME": "kit", "HOME": "/nonexistent", "LANG": "C", "LC_ALL": "C",
    "HOSTNAME": "kit", "PWD": "/", "PYTHONHASHSEED": "1", "DEBUG": "1", "ENV": "test",
}  # fmt: skip
_FORGET = (
    "keep nothing between runs: no list, dict, set, counter or cache in a module, a class, a default, "
    "or a closure; what is the same for every request can be kept by context.http.get_cached"
)


def check_state(recording: RecordedReply) -> None:
    """Check that a run leaves nothing behind that changes the next one: each real call is a process of its own."""
    # In the middle, and before everything: an empty answer has words of its own.
    for pit in dict.fromkeys((middle_pit(recording.baseline), pits_before(recording.baseline)[0])):
        _check_state_at(recording, pit)


def _check_state_at(recording: RecordedReply, pit: datetime) -> None:
    case = recording.case
    without = edited(case, partial(drop, rows=recording.late(pit)))
    otherwise = edited(case, partial(edits.say_otherwise, recording))
    questions: dict[str, Callable[[], ObservedRun]] = {
        "at a later PIT": lambda: observe(case, case.now),
        "without a PIT": lambda: observe(case, None, fresh=False),
        "of a source that said more": lambda: observe(case, pit, fresh=False),
        "of a source that said otherwise": lambda: observe(case, case.now, reply=otherwise),
    }
    for question, ask in questions.items():
        for reply in (without, case.reply):
            alone = observe(case, pit, reply=reply)
            ask()
            after = observe(case, pit, reply=reply, fresh=False)
            if difference := first_difference(alone, after):
                raise failure(
                    f"at the PIT {pit} the output is another one after a question {question}:\n{difference}", _FORGET
                )
            if len(after.exchanges) < len(alone.exchanges):
                raise failure(
                    f"after a question {question}, the source is asked {len(after.exchanges)} times, and not "
                    f"{len(alone.exchanges)}: the answer rests on a reply to another question",
                    _FORGET,
                )


def check_surroundings(recording: RecordedReply) -> None:
    """Check that a question has one answer, at any hour and on any machine."""
    case = recording.case
    snapshots = any(record.at_receipt for record in recording.baseline.records)
    for pit in {middle_pit(recording.baseline), case.now}:
        here = observe(case, pit, watched=True)
        if here.consulted:
            raise failure(
                f"the provider asks {', '.join(here.consulted)}",
                "take the time from query.now (the PIT) or reply.received_at, what a user sets from an Option, a "
                "Credential or a File: nothing else may decide about an answer",
            )
        _check_same(here, observe(case, pit), "again", "draw nothing at random, and iterate over no set")
        with _elsewhere():
            there = observe(case, pit)
        _check_same(here, there, "on another machine", "read no environment, no zone and no name of the machine")
        for wait in () if snapshots else _WAITS:
            later = observe(replace(case, now=case.now + wait), pit)
            _check_same(here, later, f"{wait} later", "put neither query.started nor reply.received_at into a record")


def _check_same(here: ObservedRun, there: ObservedRun, where: str, advice: str) -> None:
    if difference := first_difference(here, there):
        raise failure(f"the same question, asked {where}, has another answer:\n{difference}", advice)


@contextlib.contextmanager
def _elsewhere() -> Iterator[None]:
    """Run the block in the environment of another machine, in another zone."""
    before = dict(os.environ)
    os.environ.update(_ELSEWHERE)
    _set_zone()
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
        _set_zone()


def _set_zone() -> None:
    if hasattr(time, "tzset"):
        time.tzset()
