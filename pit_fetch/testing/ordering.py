"""Checks of what a provider says of its records as a whole: in which order they come, and which versions there are."""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise

from pit_fetch.gaps import gap
from pit_fetch.provider import Page
from pit_fetch.testing import edits
from pit_fetch.testing.case import Case, failure, is_aware
from pit_fetch.testing.documents import at
from pit_fetch.testing.interference import before_instants
from pit_fetch.testing.recording import Recording, Row, drop, edited, keys_of
from pit_fetch.testing.runner import look
from pit_fetch.transport import HttpRequest


def check_order(case: Case) -> None:
    """The order of pages is the one that they promise."""
    seen = look(case, case.now)
    for page in seen.yielded:  # before the baseline, which would only say that nothing came of a broken order
        if isinstance(page, Page) and page.order is not None:
            _check_page(page)
    if gap("order_broken").reason in seen.reasons:
        raise failure("records come that are newer than what was promised of them", _ORDER)
    if not all(is_aware(moment) for moment in seen.watermarks):
        raise failure("a Watermark is naive", "give it an aware instant, from a function of pit_fetch.times")


def check_watermarks(recording: Recording) -> None:
    """No watermark rests on a record that may be withheld."""
    if recording.seen.watermarks:
        _check_watermarks(recording)


def check_versions(recording: Recording) -> None:
    """Every version of an item is yielded, so that the newest one that was public at the PIT can be chosen."""
    case, seen, tree = recording.case, recording.seen, recording.tree
    alone: dict[str, set[datetime]] = {}
    for container in dict.fromkeys(row.container for row in recording.rows):
        rows = [Row(container, key, frozenset()) for key in keys_of(at(tree, container))]
        for kept in rows:
            others = [row for row in rows if row is not kept]
            only = look(case, case.now, reply=edited(case, lambda tree, others=others: drop(tree, others)))  # type: ignore[misc]
            for item, stamp in only.versions:
                alone.setdefault(item, set()).add(stamp)
    for item, stamps in alone.items():
        yielded = {version.public_from for version in seen.versions if version.id == item}
        if len(yielded) < len(stamps):
            hidden = min(stamps - yielded)
            raise failure(
                f"of item {item!r} the reply holds {len(stamps)} versions, and {len(yielded)} are yielded: not the one "
                f"that was public from {hidden} on",
                "yield every version as a record of its own, under one id: the framework serves the newest one that "
                "was public at the PIT, and a choice made before that rests on versions that may be late",
            )
    _check_declared(recording)


def _check_declared(recording: Recording) -> None:
    """Whoever asks for what was known at the horizon says that there are versions: --after moves it back.

    Page two of an answer would otherwise bring the superseded versions of what stood on page one.
    """
    case, seen = recording.case, recording.seen
    items = sorted(version.id for version in seen.versions)
    several = next((item for item, next_one in pairwise(items) if item == next_one), None)
    if several is None or seen.query is None or seen.query.operation.versions:
        return
    # The same PIT, continued below what comes last.
    last, stamp = min(seen.stamps.items(), key=lambda one: one[1])
    below = look(case.asking(after=f"{last}@{stamp.isoformat()}"), case.now)
    if [_asked(one) for one, _ in below.exchanges] != [_asked(one) for one, _ in seen.exchanges]:
        raise failure(
            f"item {several!r} has several versions, and what the source is asked for moves with --after: continued, "
            "an answer would bring superseded versions back",
            "declare Operation(versions=True): query.horizon is then the PIT, whatever part of the answer is wanted",
        )


def _asked(request: HttpRequest) -> tuple[str, str, bytes | None]:
    return request.path, str(sorted(request.params.items())), request.body


_ORDER = (
    "give a page an order (paging.newest_first) only where the source sorts by the stamp that you yield as "
    "available_at, from page to page without an exception; where it does not, leave it out. For slices of time yield "
    "a Watermark after each"
)


def _check_page(page: Page) -> None:
    """A page may end after any of its rows, so the promise has to hold for what follows each of them."""
    dated = [record for record in page.records if is_aware(record.available_at)]
    stamps = [record.available_at for record in dated if record.available_at is not None]
    oldest = stamps[0] if stamps else None
    for record, stamp in zip(dated, stamps, strict=True):
        if page.order is not None and oldest is not None and stamp > page.order(oldest):
            raise failure(
                f"record {record.id!r} ({stamp}) comes after one of {oldest}, and the page promises another order",
                _ORDER,
            )
        oldest = stamp if oldest is None else min(oldest, stamp)


def _check_watermarks(recording: Recording) -> None:
    case = recording.case
    for pit in before_instants(recording.seen):
        expected = recording.seen_at(pit).watermarks
        for what, change in edits.quick(recording, recording.late(pit)).items():
            promised = look(case, pit, reply=edited(case, change)).watermarks
            if promised != expected:
                moved = min(set(promised) ^ set(expected), default=None)
                raise failure(
                    f"a Watermark ({moved}) rests on records that were not public at {pit}: it is another one when "
                    f"they are {what}",
                    "take Watermark.at from the request alone (the first instant of the slice that was asked for), "
                    "never from a record's stamp",
                )
