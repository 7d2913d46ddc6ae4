"""What a fetch without a PIT is worth in an archive: all that it had, or what it shows and nothing for gone."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from pit_fetch.archive import rederive
from pit_fetch.archive.interpreted import interpret
from pit_fetch.archive.store import microseconds
from pit_fetch.archive.store.journal import Exchange, FetchEntry
from pit_fetch.errors import UpstreamError
from pit_fetch.provider import Context, Host, Operation, Provider, Query, Record
from pit_fetch.request.fetch_request import from_values
from pit_fetch.wire import rows_in

LIST, DATES = "https://filings.example/list", "https://filings.example/dates"
SEEN = datetime(2026, 6, 1, tzinfo=UTC)
DATE = datetime(2026, 5, 1, tzinfo=UTC)


def read(body: bytes, query: Query) -> Iterator[Record]:
    """Yield rows without a date, as a list of today has them."""
    for row in rows_in(body):
        yield Record(row["id"], None, "edgar_accepted", {"form": row["form"]})


def fetch(query: Query, context: Context) -> Iterator[Record]:
    """Yield the list; with a PIT, no letters, and of the rest what has a date: whatever else is said to have none."""
    for record in read(context.http.get("Filings", "/list").body, query):
        if query.pit is None:
            yield record._replace(available_at=DATE if record.payload["form"] == "8-K" else None)
        elif record.payload["form"] != "letter":
            try:
                context.http.get("Filings", "/dates", {"id": record.id})
            except UpstreamError:
                continue
            yield record._replace(available_at=DATE)


PROVIDER = Provider(
    "filings",
    "a list that shows no dates",
    fetch,
    read,
    hosts=(Host("Filings", "https://filings.example", "PIT_FETCH_FILINGS_URL"),),
    operations=(Operation(),),
)


def asked(url: str, answer: Any, **params: str) -> Exchange:
    return Exchange(microseconds.to_micros(SEEN), "GET", url, params, None, 200, {}, json.dumps(answer).encode())


@pytest.mark.parametrize(
    ("forms", "dated", "made", "has_every_item"),
    [
        (["10-K"], [], ["0"], True),  # each reply by itself shows what the fetch had
        (["8-K"], ["0"], ["0"], True),
        (["8-K", "8-K"], ["0"], [], False),  # to date the other one, a fetch with a PIT would have asked for more
        (["8-K", "letter"], ["0"], ["0"], False),  # a fetch with a PIT leaves letters out
    ],
)
def test_it_is_all_that_the_fetch_had_or_takes_nothing_for_gone(
    forms: Sequence[str], dated: Sequence[str], made: Sequence[str], has_every_item: bool
) -> None:
    moment = microseconds.to_micros(SEEN)
    request = from_values({}, PROVIDER, {})
    recorded = interpret(
        FetchEntry(moment, "live", "filings", "0", "", {}, request.canonical, None), lambda name: PROVIDER
    )
    exchanges = [asked(LIST, [{"id": str(place), "form": form} for place, form in enumerate(forms)])]
    exchanges += [asked(DATES, {}, id=name) for name in dated]

    derived = rederive.rederive(recorded, exchanges)

    assert ([one.record.id for one in derived.received], derived.has_every_item) == (made, has_every_item)
