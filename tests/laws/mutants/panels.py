"""Leaks of a panel: a cell that sees another's instant, and a universe that looks ahead."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from pit_fetch.archive.store.microseconds import from_micros
from pit_fetch.gaps import GapType
from pit_fetch.panels.cells import Cell, Grid
from pit_fetch.panels.universe import Member
from pit_fetch.pipeline.envelope import PlainEnvelope
from tests.laws.mutants.leak import Mutant
from tests.laws.plant import Make

_MEMBERS = "pit_fetch.panels.universe:members"
_CELLS = ("alphavantage: panel", "bz-news-api: panel", "sec_full_text: panel")
_UNIVERSE = ("panel: universe",)
_STATES = ("panel: states",)
_DISTURBED = ("panel: disturbed",)
_LIMITS = ("panel: limits",)
_AHEAD = ("panel: instants ahead",)


def _as_of_the_last(real: Any) -> Any:
    def cells(subject: Any, *given: Any) -> Iterator[Cell]:
        late = subject._replace(pits=[max(subject.pits)] * len(subject.pits))
        for pit, cell in zip(subject.pits, real(late, *given), strict=True):
            yield cell._replace(pit=pit)

    return cells


def _with_the_best_status(real: Any) -> Any:
    def cells(subject: Any, *given: Any) -> Iterator[Cell]:
        answered = [*real(subject, *given)]
        is_ever = any(cell.status == "ok" for cell in answered)
        yield from (cell._replace(status="ok") if is_ever else cell for cell in answered)

    return cells


def _from_the_start(real: Any) -> Any:
    return lambda member, instant: real(member._replace(since=None), instant)


def _to_the_end(real: Any) -> Any:
    return lambda member, instant: real(member._replace(until=None), instant)


def _by_the_day_in_utc(real: Any) -> Any:
    return lambda member, instant: real(
        member, datetime(instant.year, instant.month, instant.day, 17, tzinfo=instant.tzinfo)
    )


def _whoever_is_named(real: Any) -> Any:
    return lambda name, value, read: [Member(member.value) for member in real(name, value, read)]


def _read_as(old: str, new: str) -> Make:
    """A universe's file is read with ``new`` in the place of ``old`` in its header."""

    def make(real: Any) -> Any:
        def members(name: str, value: Any, read: Any) -> Any:
            return real(name, value, lambda path: re.sub(rf"\b{old}\b", new, read(path), count=1))

        return members

    return make


def _once_answered(real: Any) -> Any:
    return lambda summary, now: summary.is_whole


def _unless_settled(real: Any) -> Any:
    return lambda pit, now: True


def _of_any_state(real: Any) -> Any:
    return lambda request, subject, state, environ: real(request, subject, (), environ)


def _whatever_limit(real: Any) -> Any:
    return lambda envelope: real(PlainEnvelope(envelope.data, envelope.gaps))


def _unless_cut(real: Any) -> Any:
    return lambda envelope: [gap for gap in real(envelope) if gap["type"] != GapType.TRUNCATED]


def _opened_anew(real: Any) -> Any:
    def read(archives: Any, path: str) -> Any:
        archives.close()
        return real(archives, path)

    return read


def _as_far_as_it_comes(real: Any) -> Any:
    def work_once(grid: Grid, work: Any) -> Any:
        with grid.session() as session:
            return work(session._replace(check=lambda: None))

    return work_once


def _begun_already(real: Any) -> Any:
    return lambda held, instant, *bounds: real(held, instant + _DAY, *bounds)


def _never_over(real: Any) -> Any:
    return lambda held, valid, *given: real(held, [each._replace(stop=None) for each in valid], *given)


def _of_the_last_instant(real: Any) -> Any:
    return lambda sweep, pit: real(sweep, max(pit, from_micros(sweep._last)))


def _all_captured(real: Any) -> Any:
    return lambda capture, wanted, at: wanted.until


_DAY = 86_400_000_000
_SWEPT = ("sample: panel swept", "alphavantage: panel swept", "bz-news-api: panel swept")
MUTANTS = (
    Mutant("panel: a sweep runs a day ahead", "pit_fetch.archive.held:HeldRecords.at", _begun_already, _SWEPT),
    Mutant("panel: nothing is replaced in a sweep", "pit_fetch.archive.held:HeldRecords.__init__", _never_over, _SWEPT),
    Mutant(
        "panel: a sweep goes on to its last instant",
        "pit_fetch.archive.sweep:ArchiveSweep.held_at",
        _of_the_last_instant,
        _SWEPT,
    ),
    Mutant(
        "panel: all was captured in a sweep", "pit_fetch.archive.captures:CaptureSweep.covered", _all_captured, _SWEPT
    ),
    Mutant("panel: a cell is asked as of the last", "pit_fetch.panels.cells:cells_of", _as_of_the_last, _CELLS),
    Mutant(
        "panel: a status is that of a later cell",
        "pit_fetch.panels.cells:cells_of",
        _with_the_best_status,
        _CELLS,
    ),
    Mutant(
        "panel: who comes later was always there",
        "pit_fetch.panels.universe:Member.belongs",
        _from_the_start,
        _UNIVERSE,
    ),
    Mutant("panel: who leaves stays", "pit_fetch.panels.universe:Member.belongs", _to_the_end, _UNIVERSE),
    Mutant("panel: a day is that of UTC", "pit_fetch.panels.universe:Member.belongs", _by_the_day_in_utc, _UNIVERSE),
    Mutant("panel: a universe's days are not read", _MEMBERS, _whoever_is_named, _UNIVERSE),
    Mutant("panel: From is not from", _MEMBERS, _read_as("From", "other"), _UNIVERSE),
    Mutant(
        "panel: a provisional answer counts",
        "pit_fetch.panels.answered_subjects:Summary.counts",
        _once_answered,
        _AHEAD,
    ),
    Mutant("panel: what was kept is of any state", "pit_fetch.panels.grid:key_of", _of_any_state, _STATES),
    Mutant(
        "panel: an archive is opened anew in its midst",
        "pit_fetch.archive.archived:OpenArchives.open_archive",
        _opened_anew,
        _DISTURBED,
    ),
    Mutant(
        "panel: it ends where a writer disturbs it",
        "pit_fetch.panels.output:ask_consistently",
        _as_far_as_it_comes,
        _DISTURBED,
    ),
    Mutant("panel: whatever cut a cell, a limit did", "pit_fetch.panels.cells:lacking_gaps", _unless_cut, _LIMITS),
    Mutant("panel: a limit of one's own is a lack", "pit_fetch.panels.cells:status_of", _whatever_limit, _LIMITS),
    Mutant("panel: every instant has come", "pit_fetch.panels.cells:has_come", _unless_settled, _AHEAD),
)
