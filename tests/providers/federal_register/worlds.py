"""Worlds of the Federal Register: documents of later issues, filed later, or with a text that was replaced later."""

from __future__ import annotations

from datetime import datetime, time, timedelta
from random import Random
from typing import Any

from tests.laws.refusals import Requests
from tests.laws.worlds import Case
from tests.providers.dated import Rows
from tests.providers.federal_register import server as register
from tests.providers.federal_register.server import ZONE

_DAY, _MARGIN = timedelta(days=1), timedelta(minutes=5)


def _noon(moment: datetime) -> datetime:
    """Return the last noon in New York that is not after ``moment``."""
    local = moment.astimezone(ZONE)
    return datetime.combine(local.date() - (_DAY if local.time() < time(12) else timedelta(0)), time(12), ZONE)


def _next_noon(moment: datetime) -> datetime:
    return datetime.combine(_noon(moment).date() + _DAY, time(12), ZONE)


def _printed(number: int, public: datetime, revised: datetime | None, text: str) -> dict[str, Any]:
    return register.printed(number, public.astimezone(ZONE).date().isoformat(), title=text)


def _filed(number: int, public: datetime, revised: datetime | None, text: str) -> dict[str, Any]:
    return register.filed(number, public - _MARGIN, revised and max(revised, public), title=text)


def _on_weekday(moment: datetime) -> datetime:
    """Return the last instant of a desk's hours that is not after ``moment``."""
    local = moment.astimezone(ZONE).replace(microsecond=0)
    if local.time() < time(8, 50):
        local = datetime.combine(local.date() - _DAY, time(16, 20), ZONE)
    while local.weekday() > 4:
        local = datetime.combine(local.date() - _DAY, time(16, 20), ZONE)
    return local


def _next_on_weekday(moment: datetime) -> datetime:
    local = moment.astimezone(ZONE)
    while local.weekday() > 4 or local.time() < time(8, 50):
        same_day = local.weekday() <= 4
        local = datetime.combine(local.date() + (timedelta(0) if same_day else _DAY), time(8, 50), ZONE)
    return local


PRINTED = Rows(
    source="federal_register",
    words=("documents",),
    app=register.app,
    row=_printed,
    ids=lambda row: [f"{row['document_number']}@{row['publication_date']}"],
    stamps=("publication_date",),
    texts=("title", "type", "agencies", "document_number"),
    floor=_noon,
    rounded=_next_noon,
    choices={"type": [("--type", "notice")], "term": [("--term", "oil")]},
    sizes=[{"pit_fetch_providers.federal_register:PAGE_SIZE": size} for size in (2, 5, 200)],
)
FILED = Rows(
    source="federal_register",
    words=("public_inspection",),
    app=lambda rows, careless: register.app(rows),
    row=_filed,
    ids=lambda row: [row["document_number"]],
    stamps=("filed_at", "pdf_updated_at"),
    texts=("title", "type", "agencies", "document_number"),
    revised=True,
    floor=_on_weekday,
    rounded=_next_on_weekday,
    most=timedelta(days=9),
)


def make(rng: Random, most: int = 4) -> Case:
    return rng.choice((PRINTED, FILED)).make(rng, most)


def undisturbed(rng: Random) -> Case:
    return rng.choice((PRINTED, FILED)).undisturbed(rng)


LAWS = PRINTED.laws
REQUESTS = Requests(lambda asked: asked[-1].query.get("page", "1") != "1")
