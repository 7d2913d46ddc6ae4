"""What ``pit_fetch panel`` says of the table that it has written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pit_fetch.cli.command import CommandResult
from pit_fetch.errors import ExitStatus
from pit_fetch.panels.cells import LACKING, Cell
from pit_fetch.panels.check import Check
from pit_fetch.panels.output import WriteReport
from pit_fetch.request.values import format_value
from pit_fetch.support.wording import truncate
from pit_fetch.times import in_new_york


def result_of(written: WriteReport, whole: int, file: str, *, is_kept: bool, fail: bool) -> CommandResult:
    """Return what the command prints and ends with: the table itself, if it is not ``is_kept`` in a file."""
    lacking = sum(written.statuses.get(status, 0) for status in LACKING)
    is_found = lacking or (fail and written.statuses.get("not_captured"))
    status, complaint = (ExitStatus.FOUND if is_found else ExitStatus.OK), ""
    if lacking:
        first = next(written.reasons[status] for status in LACKING if status in written.reasons)
        complaint = f"{lacking:,} of {whole:,} cells failed, or are incomplete. The first of them: {first}"
        if is_kept and not written.is_whole:
            complaint += " The same command asks again for what failed"
    if not written.is_written:
        return CommandResult("", status, f"Nothing was written. {complaint}")
    notes = tuple(_cell_notes(written, whole))
    if written.check:
        notes = (*notes, _check_note(written.check))
        status = status if written.check.is_passed else ExitStatus.FOUND
    if is_kept:
        return CommandResult("", status, complaint, notes=notes)
    with open(file, encoding="utf-8", newline="") as table:
        return CommandResult(table.read(), status, complaint, exact=True, notes=notes)


def _cell_notes(written: WriteReport, whole: int) -> Iterator[str]:
    """Yield how many cells are empty, apart from those that failed, or lack what is yet to be published."""
    nothing, uncaptured = (written.statuses.get(status, 0) for status in ("nothing_public", "not_captured"))
    if nothing:
        first = written.reasons["nothing_public"]
        yield f"{nothing:,} of {whole:,} cells have nothing public. The first of them: {first}"
    if uncaptured == whole:
        yield (
            "no cell was ever captured, so the table has no answer. pit_fetch archive info shows what the archive "
            "holds. Capture what is missing (docs/capture.md), or leave out --offline"
        )
    elif uncaptured:
        yield f"{uncaptured:,} of {whole:,} cells were never captured, which says nothing of them: see docs/coverage.md"
    if written.provisional:
        yield (
            f"{written.provisional:,} of {whole:,} cells are of instants that had not come when they were asked, so "
            "their answers are provisional. The same command asks again once they have"
        )


def _check_note(check: Check) -> str:
    """Return what came of a check, with no more of a cell than what it asks."""
    if check.problem:
        return f"No cell was checked: {check.problem}"
    same = check.cells - len(check.differing) - len(check.unchecked)
    found = [f"{same:,} of {check.cells:,} cells are as single fetches answer"]
    if check.differing:
        found.append(f"These are not: {_name_cells(check.differing)}")
    if check.unchecked:
        found.append(f"{len(check.unchecked):,} could not be checked: {_name_cells(check.unchecked)}")
        found.append(f"The first of them: {check.reason}")
    return ". ".join(found)


def _name_cells(cells: Sequence[Cell]) -> str:
    return "; ".join(
        " ".join(
            [in_new_york(cell.pit), *(f"{name}={truncate(format_value(value))}" for name, value in cell.over.items())]
        )
        for cell in cells
    )
