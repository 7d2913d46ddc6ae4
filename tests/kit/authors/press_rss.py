"""Press room: an RSS feed, dated by pubDate (GMT), with atom:updated for what was edited."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree

from pit_fetch.gaps import Code
from pit_fetch.provider import (
    Archiving,
    Context,
    Dating,
    Field,
    Host,
    Operation,
    Provider,
    Query,
    Record,
    UpstreamError,
)
from pit_fetch.times import parse_http_date, parse_rfc3339
from pit_fetch.wire import body_of, limited

HOST = "Press room"
UPDATED = "{http://www.w3.org/2005/Atom}updated"


def fetch(query: Query, context: Context) -> Iterator[Record]:
    body = body_of(context.http.get(HOST, "/feed.xml", {}), HOST)
    if body is not None:
        yield from read(body, query)


def read(body: bytes, query: Query) -> Iterator[Record]:
    try:
        channel = ElementTree.fromstring(limited(body)).find("channel")
    except ElementTree.ParseError:
        channel = None
    if channel is None:
        raise UpstreamError(Code.MALFORMED, problem="it is no RSS feed")
    yield from (record(item) for item in channel.findall("item"))


def record(item: ElementTree.Element) -> Record:
    updates = item.findall(UPDATED)
    updated = parse_rfc3339((updates[0].text or "").strip()) if len(updates) == 1 else None
    return Record(
        id=(item.findtext("guid") or "").strip(),
        available_at=None if updates and updated is None else parse_http_date(item.findtext("pubDate")),
        revised_at=updated,
        payload={"title": item.findtext("title") or "", "summary": item.findtext("description") or ""},
    )


PROVIDER = Provider(
    name="kit-press-rss",
    summary="releases of the press room",
    hosts=(Host(HOST, "https://press.example", "PIT_FETCH_KIT_URL"),),
    operations=(
        Operation(
            fetch=fetch,
            parse_reply=read,
            dating=Dating(rule="its pubDate"),
            fields=(Field("title"), Field("summary")),
            archiving=Archiving(reach="newest"),
        ),
    ),
)
