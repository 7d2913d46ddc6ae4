"""Who was in an index, by the revision of Wikipedia's list that stood: the proof of a sight, and not of a membership.

Editors follow an effective day by up to five days, and are ahead of it where a deal closes. Once they applied an
announcement two weeks early, and undid it a day later (recorded: 68 changes of the S&P 500 in two years). A revision is
never changed, so an undo after the PIT is not known at the PIT.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from hashlib import sha1
from itertools import takewhile
from typing import Any, NamedTuple

from pit_fetch.gaps import Code
from pit_fetch.provider import (
    Archiving,
    Basis,
    Context,
    Dating,
    HeaderKey,
    Host,
    Listing,
    Operation,
    Option,
    Provider,
    Query,
    Rate,
    Record,
    Stage,
    UpstreamError,
)
from pit_fetch.times import in_new_york, parse_rfc3339
from pit_fetch.wire import body_of, lenient_json
from pit_fetch_providers.index_members.tables import Member, members
from pit_fetch_providers.shared import CONTACT, fields, key_refused, utc_seconds, with_a_pit

HOST = Host(
    "Wikipedia",
    "https://en.wikipedia.org",
    "PIT_FETCH_WIKIPEDIA_URL",
    Rate(5, 1, "wikipedia"),
    HeaderKey(CONTACT.name, "User-Agent", "pit_fetch/{version} ({value})"),
)
TITLES = {"sp500": "List of S&P 500 companies"}
# A list with fewer rows, or more, or with so many other names than the one before it, is an edit that went wrong.
LEAST, MOST, MOST_CHANGED = 490, 515, 15
# How many revisions are looked at, down from the PIT.
REVISIONS = 20
# From the stamp of a revision to its readers.
MARGIN = timedelta(minutes=1)


class Sight(NamedTuple):
    """The members of one revision."""

    revision: int
    at: datetime
    members: Mapping[str, Member]


def fetch(query: Query, context: Context) -> Iterator[Record]:
    """Yield the members in the newest revision that is a list of the index."""
    last = min(query.horizon, query.started)
    if last.year < 2001:
        return
    asked = {"action": "query", "format": "json", "formatversion": "2", "prop": "revisions", "rvslots": "main"}
    asked |= {"titles": TITLES[query.options["index"]], "rvprop": "ids|timestamp|sha1|content", "rvdir": "older"}
    asked |= {"rvlimit": str(REVISIONS), "rvstart": utc_seconds(last - MARGIN)}
    listings = [listing for listing in read_listings(context, asked) if listing.at <= last - MARGIN]
    listings.sort(key=lambda listing: (listing.at, listing.revision), reverse=True)  # a second may have several
    for place, listing in enumerate(listings):
        if is_plausible(listing, listings[place + 1] if place + 1 < len(listings) else None):
            yield from (_record(query.options["index"], listing, member) for member in listing.members.values())
            return


def read_listings(context: Context, asked: Mapping[str, str]) -> Iterator[Sight]:
    """Yield the revisions of the list that can be read, newest first."""
    reply = context.http.get(HOST.name, "/w/api.php", asked)
    if reply.status == 403:  # a page, for an agent that it does not accept
        raise key_refused(HOST, CONTACT)
    document = lenient_json(body_of(reply, HOST.name, ()) or b"", rows=5)
    found = document.get("query") if isinstance(document, dict) and "error" not in document else None
    pages = found.get("pages") if isinstance(found, dict) else None
    if not isinstance(pages, list):
        raise UpstreamError(Code.MALFORMED, problem="it has no pages")
    page = pages[0] if pages and isinstance(pages[0], dict) else {}
    # Of a title that had no page by then, there are no revisions.
    rows = page.get("revisions", [])
    if not isinstance(rows, list):
        raise UpstreamError(Code.MALFORMED, problem="it has no revisions")
    for row in rows:
        listing = listing_of(row) if isinstance(row, dict) else None
        if listing is not None:
            yield listing


def listing_of(row: Mapping[str, Any]) -> Sight | None:
    """Return the members in a revision; None for one that is hidden, damaged, or without a table of them."""
    at, number, slots = parse_rfc3339(row.get("timestamp")), row.get("revid"), row.get("slots")
    main = slots.get("main") if isinstance(slots, dict) else None
    source = main.get("content") if isinstance(main, dict) else None
    if at is None or type(number) is not int or not isinstance(source, str):
        return None
    digest = sha1(source.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()
    found = members(source) if digest == row.get("sha1") else {}
    return Sight(number, at, found) if found else None


def is_plausible(listing: Sight, before: Sight | None) -> bool:
    """Return whether a revision is a list of the index, and not the trace of an edit that went wrong.

    >>> one, two = ({f"A{n}": Member(f"A{n}", "", "", "") for n in range(size)} for size in (500, 520))
    >>> at = datetime(2024, 2, 15)
    >>> is_plausible(Sight(2, at, one), Sight(1, at, two)), is_plausible(Sight(2, at, one), Sight(1, at, one))
    (False, True)
    """
    changed = 0 if before is None else len(listing.members.keys() ^ before.members.keys())
    return LEAST <= len(listing.members) <= MOST and changed <= MOST_CHANGED


def _record(index: str, listing: Sight, member: Member) -> Record:
    payload = {"index": index, **member._asdict(), "revision": listing.revision, "seen_at": in_new_york(listing.at)}
    return Record(f"{index}:{member.symbol}@{listing.revision}", listing.at + MARGIN, payload)


def derive(query: Query) -> Stage:
    """Return the stage that keeps the members of the newest revision: of all that an archive holds, one stood."""

    def newest(records: Iterator[Record]) -> Iterator[Record]:
        first = next(records, None)
        if first is not None:
            yield first
            yield from takewhile(lambda record: record.payload["revision"] == first.payload["revision"], records)

    return newest


PROVIDER = Provider(
    name="index_members",
    summary="who was in the S&P 500, by the revision of Wikipedia's list that stood",
    derive=derive,
    hosts=(HOST,),
    credentials=(CONTACT,),
    options=(Option("index", "the index", default="sp500", choices=tuple(TITLES), positional="one"),),
    operations=(
        Operation(
            fetch=fetch,
            dating=Dating(
                rule="a minute after the revision of the list that stood",
                why="a revision is never changed; it follows an effective day by up to five days",
                basis=(Basis("timestamp", after=MARGIN),),
            ),
            fields=(*fields("index symbol name sector cik", integer="revision", instant="seen_at", required="symbol"),),
            window="",
            archiving=Archiving(chooses=True),
            caveats=with_a_pit(
                "Wikipedia's list has a change within about five days of its effective day, and a few days before it "
                "where a deal closes. CIKs are as editors wrote them."
            ),
        ),
    ),
    page_size=600,
    listing=Listing(search_terms="sp500 constituents universe membership"),
    help="""\
Each item is a member, in the newest revision by the PIT that lists between 490 and 515 companies. --limit 600
gets all of them. There are no weights, and no dates of joining: those are edited later.
""",
)
