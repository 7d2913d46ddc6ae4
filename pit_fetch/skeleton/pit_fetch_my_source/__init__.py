"""My Source: announcements, each with the instant of its publication.

``available_at`` is ``published``; ``revised_at`` is ``updated``, since the source serves the latest
text only. Both are RFC 3339 with an offset.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pit_fetch.provider import Context, Field, Host, Operation, Option, Provider, Query, Rate, Record
from pit_fetch.times import parse_rfc3339
from pit_fetch.wire import body_of, rows_in, text

HOST = "My Source"


def fetch(query: Query, context: Context) -> Iterator[Record]:
    """Send one request. It narrows the server's window where there is one; the framework filters again."""
    reply = context.http.get(HOST, "/announcements", {"before": query.horizon.isoformat()})
    body = body_of(reply, HOST)
    if body is not None:
        yield from parse_reply(body, query)


def parse_reply(body: bytes, query: Query) -> Iterator[Record]:
    """Yield the records of one raw reply, ``[row, …]``: one for each row."""
    yield from (_record(row) for row in rows_in(body))


def select(query: Query, record: Record) -> bool:
    """Apply the filters that the server does not apply. The framework applies the window."""
    word = query.options["word"]
    return not word or word.casefold() in record.payload["title"].casefold()


def _record(row: dict[str, Any]) -> Record:
    """Make one announcement. One that cannot be dated has no stamp (None), and the framework withholds it."""
    revised = parse_rfc3339(row.get("updated"))
    return Record(
        id=text(row.get("id")),
        # Without a readable revision stamp the text may be one from after the PIT.
        available_at=None if revised is None else parse_rfc3339(row.get("published")),
        payload={"title": text(row.get("title"))},
        revised_at=revised,
    )


PROVIDER = Provider(
    name="my-source",
    summary="announcements of My Source",
    select=select,
    hosts=(Host(HOST, "https://api.example.com", "PIT_FETCH_MY_SOURCE_URL", Rate(calls=5)),),
    options=(Option("word", "announcements whose title holds this word"),),
    operations=(Operation(fetch=fetch, parse_reply=parse_reply, fields=(Field("title"),)),),
)
