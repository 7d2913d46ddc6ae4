"""Checks of what an answer may not rest on: earlier runs, the hour of the day, the machine, its environment."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from pit_fetch.testing.case import Seen, failure
from pit_fetch.testing.comparison import first_difference
from pit_fetch.testing.interference import before_instants
from pit_fetch.testing.recording import Recording, drop, edited
from pit_fetch.testing.runner import look

# Odd enough that no rounding hides them.
_WAITS = (timedelta(seconds=1, microseconds=1), timedelta(days=40, hours=7, minutes=13))
_ELSEWHERE: Mapping[str, str] = {
    "TZ": "Pacific/Kiritimati", "USER": "kit", "LOGNAME": "kit", "HOME": "/nonexistent", "LANG": "C", "LC_ALL": "C",
    "HOSTNAME": "kit", "PWD": "/", "PYTHONHASHSEED": "1", "DEBUG": "1", "ENV": "test",
}  # fmt: skip


def check_state(recording: Recording) -> None:
    """A run leaves nothing behind that changes the next one: each real call is a process of its own."""
    # In the middle, and before everything: an empty answer has words of its own.
    for pit in dict.fromkeys((_middle(recording), before_instants(recording.seen)[0])):
        _check_state_at(recording, pit)


def _check_state_at(recording: Recording, pit: datetime) -> None:
    case, late = recording.case, recording.late(pit)
    without = edited(case, lambda tree: drop(tree, late))
    asks: dict[str, Callable[[], Seen]] = {
        "at a later PIT": lambda: look(case, case.now),
        "without a PIT": lambda: look(case, None, fresh=False),
        "of a source that said more": lambda: look(case, pit, fresh=False),
    }
    for what, ask in asks.items():
        for reply in (without, case.reply):
            alone = look(case, pit, reply=reply)
            ask()
            after = look(case, pit, reply=reply, fresh=False)
            difference = first_difference(alone, after)
            if difference:
                raise failure(
                    f"at the PIT {pit} the output is another one after a question {what}:\n{difference}", _FORGET
                )
            if len(after.exchanges) < len(alone.exchanges):
                raise failure(
                    f"after a question {what}, the source is asked {len(after.exchanges)} times, and not "
                    f"{len(alone.exchanges)}: the answer rests on a reply to another question",
                    _FORGET,
                )


_FORGET = (
    "keep nothing between runs: no list, dict, set, counter or cache in a module, a class, a default, "
    "or a closure; what is the same for every request can be kept by context.http.get_cached"
)


def check_surroundings(recording: Recording) -> None:
    """The same question has the same answer at any hour and on any machine."""
    case = recording.case
    snapshots = any(record.at_receipt for record in recording.seen.records)
    for pit in {_middle(recording), case.now}:
        here = look(case, pit, watched=True)
        if here.consulted:
            raise failure(
                f"the provider asks {', '.join(here.consulted)}",
                "take the time from query.now (the PIT) or reply.received_at, what a user sets from an Option, a "
                "Credential or a File: nothing else may decide about an answer",
            )
        _same(here, look(case, pit), "again", "draw nothing at random, and iterate over no set")
        with _elsewhere():
            _same(
                here, look(case, pit), "on another machine", "read no environment, no zone and no name of the machine"
            )
        for wait in () if snapshots else _WAITS:
            later = replace(case, now=case.now + wait)
            _same(
                here, look(later, pit), f"{wait} later", "put neither query.started nor reply.received_at into a record"
            )


def _same(here: Seen, there: Seen, where: str, advice: str) -> None:
    difference = first_difference(here, there)
    if difference:
        raise failure(f"the same question, asked {where}, has another answer:\n{difference}", advice)


def _middle(recording: Recording) -> datetime:
    pits = before_instants(recording.seen)
    return pits[len(pits) // 2]


@contextlib.contextmanager
def _elsewhere() -> Iterator[None]:
    before = {name: os.environ.get(name) for name in _ELSEWHERE}
    os.environ.update(_ELSEWHERE)
    _set_zone()
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        _set_zone()


def _set_zone() -> None:
    if hasattr(time, "tzset"):
        time.tzset()
