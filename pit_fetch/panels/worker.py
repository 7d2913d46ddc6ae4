"""A subject of a panel, answered in another process, which makes the panel's grid anew from what was asked.

What was asked travels, and nothing else: each process has its own keys, settings and environment. That both would
answer alike is held by the key of the subject, which names all that its cells depend on.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from pit_fetch.errors import PitFetchError
from pit_fetch.panels.cells import Grid, Question, cells_of
from pit_fetch.panels.grid import grid_of
from pit_fetch.panels.parts import Part, part_of
from pit_fetch.panels.universe import Subject
from pit_fetch.support.version import __version__


class Task(NamedTuple):
    """A subject to be answered.

    version  that of the program that asks
    key      what it calls the subject
    now      when it asks, by its own clock
    """

    version: str
    question: Question
    subject: Subject
    key: str
    now: datetime


def answered(task: Task) -> tuple[str, Part] | str:
    """Return a subject's key and answers; or, in a sentence, why this process cannot give those of the asking one."""
    if task.version != __version__:
        return f"a worker has version {__version__} of pit_fetch, and not {task.version}: install the same everywhere"
    try:
        part = _part(task)
    except PitFetchError as error:
        return f"a worker refuses: {str(error).rstrip('.')}"
    except Exception as error:  # noqa: BLE001 - its text could be one of the source, or name a file
        return f"a worker failed: {type(error).__name__}"
    if part is None:
        return (
            "a worker has other data or settings: give all of them the same archive, which nothing records to "
            "meanwhile, and the same PIT_FETCH_ variables"
        )
    return task.key, part


def _part(task: Task) -> Part | None:
    """Return the answers, None if they would be other ones. Raise PitFetchError."""
    grid = _grid(task)
    (subject,) = grid.subjects
    with grid.asking() as asking:
        if asking.key(subject) != task.key:
            return None
        return part_of([*cells_of(subject, asking.ask, lambda: task.now)])


def _grid(task: Task) -> Grid:
    source, options, _ = task.question
    return grid_of(source, task.subject.pits, {name: [value] for name, value in task.subject.over.items()}, options)
