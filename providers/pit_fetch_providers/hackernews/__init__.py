"""Hacker News: posts by Algolia's search (``search_by_date``), and single items by Firebase.

A post appears when it is created. Titles and texts are edited by authors for hours and by moderators at any time.
``updated_at`` of a hit is when Algolia's index was last written: one that was not written after the PIT is what it held
then. Firebase has no such stamp, so its texts are claims.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from pit_fetch.paging import by_time
from pit_fetch.provider import (
    Context,
    Dating,
    Gap,
    Host,
    Listing,
    Operation,
    Option,
    Page,
    Provider,
    Query,
    Rate,
    Record,
)
from pit_fetch.times import delayed, in_new_york, parse_rfc3339, parse_unix
from pit_fetch.wire import body_of, record_in, rows_in, text
from pit_fetch_providers import search_terms
from pit_fetch_providers.shared import fields, refuse, texts_in, with_a_pit

SEARCH = Host(
    "Hacker News search", "https://hn.algolia.com", "PIT_FETCH_HACKERNEWS_URL", Rate(calls=10_000, seconds=3600)
)
ITEMS = Host("Hacker News", "https://hacker-news.firebaseio.com", "PIT_FETCH_HACKERNEWS_ITEMS_URL", Rate(calls=20))
# A query has at most 1,000 hits, whatever the page: so the next window ends with the oldest one.
HITS = 200
# From the creation of a post to its place in the index.
MARGIN = timedelta(minutes=1)
TYPES = ("story", "comment", "poll", "job", "ask_hn", "show_hn")


def search(query: Query, context: Context) -> Iterator[Page | Gap]:
    """Yield the posts of the window, newest first."""

    def read(until: datetime) -> list[Record]:
        bounds = [f"created_at_i<={int((until - MARGIN).timestamp())}"]
        bounds += [] if query.since is None else [f"created_at_i>={int((query.since - MARGIN).timestamp())}"]
        asked = {"hitsPerPage": str(HITS), "numericFilters": ",".join(bounds), "query": query.options["query"] or ""}
        asked |= {"tags": tags} if (tags := ",".join(_tags(query))) else {}
        return read_hits(context, asked, query)

    if query.horizon.year > 2000:
        yield from by_time(read, query.horizon, size=HITS)


def _tags(query: Query) -> Iterator[str]:
    kind, author, story = (query.options[name] for name in ("type", "author", "story"))
    yield from filter(None, (kind, author and f"author_{author}", story and f"story_{story}"))


def read_hits(context: Context, asked: Mapping[str, str], query: Query) -> list[Record]:
    """Return the posts of one request."""
    body = body_of(context.http.get(SEARCH.name, "/api/v1/search_by_date", asked), SEARCH.name, ())
    return list(parse_hits(body or b"", query))


def parse_hits(body: bytes, query: Query) -> Iterator[Record]:
    """Yield the posts of one raw reply."""
    return map(hit, rows_in(body, "hits"))


def hit(row: Mapping[str, Any]) -> Record:
    """Return one post: undated without ``updated_at``. Scores, counts and the story's title are as of the fetch."""
    created, updated = delayed(parse_unix(row.get("created_at_i")), MARGIN), parse_rfc3339(row.get("updated_at"))
    numbers = {name: text(row[name]) or None for name in ("story_id", "parent_id") if name in row}
    texts = texts_in(row, "author", "title", "url", "story_text", "comment_text", "created_at")
    return Record(
        text(row.get("objectID")),
        created if updated else None,
        {**texts, **numbers, "type": _type(row.get("_tags"))},
        updated if created else None,
        claimed_at=created,
    )


def _type(tags: Any) -> str | None:
    return next((tag for tag in tags if tag in TYPES), None) if isinstance(tags, list) else None


def items(query: Query, context: Context) -> Iterator[Record]:
    """Yield the items that the request names."""
    for number in query.options["ids"]:
        yield from read_item(context, number, query)


def read_item(context: Context, number: str, query: Query) -> list[Record]:
    """Return one item; none for a number that none has."""
    body = body_of(context.http.get(ITEMS.name, f"/v0/item/{number}.json"), ITEMS.name)
    return [] if body is None else list(parse_item(body, query))


def parse_item(body: bytes, query: Query) -> Iterator[Record]:
    """Yield the item of one raw reply, which is null where there is none."""
    if body.strip() != b"null":
        yield item(record_in(body))


def item(row: Mapping[str, Any]) -> Record:
    """Return one item. Of one that was deleted nothing says when, so it is undated."""
    created = delayed(parse_unix(row.get("time")), MARGIN)
    payload = {**texts_in(row, "type", "by", "title", "url", "text"), "parent": text(row.get("parent")) or None}
    payload["time"] = in_new_york(created - MARGIN) if created else None
    return Record(text(row.get("id")), None, payload, claimed_at=None if row.get("deleted") else created)


def _numbered(query: Query) -> Query:
    if not all(number.isdecimal() and number.isascii() for number in query.options["ids"]):
        refuse("ids are numbers, such as 8863")
    return query


_TEXTS = "titles and texts may have been edited since, by authors or moderators, and removed items are absent"
PROVIDER = Provider(
    name="hackernews",
    summary="Hacker News: posts by words, type, author or story, and single items",
    aliases=("hacker-news", "hn"),
    hosts=(SEARCH, ITEMS),
    options=(
        Option("query", "posts with these words", search_terms=search_terms.QUERY),
        Option("type", "posts of this type", choices=TYPES),
        Option("author", "posts of this user"),
        Option("story", "what belongs to this story, by its number", kind="integer", metavar="8863"),
        Option("ids", "the items with these numbers", kind="list", metavar="8863,8864"),
    ),
    operations=(
        Operation(
            "search",
            fetch=search,
            parse_reply=parse_hits,
            dating=Dating(
                rule="a minute after created_at, and by updated_at, the last write of the index",
                why="a post is public when it is created; a hit not written after the PIT is what Algolia held",
                claims=f"a minute after created_at; {_TEXTS}",
            ),
            takes=("query", "type", "author", "story"),
            fields=fields("type author title url story_text comment_text story_id parent_id", instant="created_at"),
            caveats=with_a_pit(
                "Words are looked up in the index of the day of the fetch, also with slips of the pen and as beginnings "
                "of words. Removed posts are absent. A bulk write of the index takes the proof from all older posts."
            ),
        ),
        Operation(
            "item",
            fetch=items,
            parse_reply=parse_item,
            dating=Dating(
                rule="nothing proves what an item said",
                why="all fields but id, type, by and time are subject to change, without a stamp (documented)",
                claims=f"a minute after time; {_TEXTS}",
            ),
            needs=("ids",),
            fields=fields("type by title url text parent", instant="time"),
            normalize=_numbered,
        ),
    ),
    page_size=HITS,
    listing=Listing(search_terms="ycombinator algolia"),
    help="""\
search: available_at is a minute after created_at, revised_at the last write of the index (updated_at).
Scores, numbers of comments, ranks and the front page are of today and never served.
""",
)
