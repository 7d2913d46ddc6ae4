"""Worlds of GDELT: links of later batches, more of them than a reply has."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from pit_fetch.testing.server import Response
from tests.laws.refusals import Requests
from tests.providers.dated import Rows
from tests.providers.gdelt import server as gdelt

_BATCH = timedelta(minutes=15)


def _batch(moment: datetime) -> datetime:
    """Return the last whole quarter of an hour."""
    return moment.replace(minute=moment.minute // 15 * 15, second=0, microsecond=0)


def _row(number: int, public: datetime, revised: datetime | None, text: str) -> dict[str, Any]:
    return gdelt.article(number, public - _BATCH, title=text, domain=text[:30])


def _ids(row: dict[str, Any]) -> list[str]:
    seen = datetime.strptime(row["seendate"], "%Y%m%dT%H%M%S%z").strftime("%Y-%m-%dT%H:%M:%SZ")
    return [f"{seen}/{row['url'].replace('Example.com:443', 'example.com')}"]


NEWS = Rows(
    source="gdelt",
    words=("oil",),
    app=gdelt.app,
    row=_row,
    ids=_ids,
    stamps=("seendate",),
    texts=("title", "url", "domain", "language"),
    floor=_batch,
    rounded=lambda moment: _batch(moment) + _BATCH,
    choices={"domain": [("--domain", "example.com")], "lang": [("--source-lang", "english")]},
    failures=[[Response(gdelt.SENTENCE), Response(b"The specified phrase is too short.")]],
)
make, undisturbed, claimed, LAWS = NEWS.make, NEWS.undisturbed, NEWS.claimed, NEWS.laws
REQUESTS = Requests(lambda asked: len(asked) > 1)
