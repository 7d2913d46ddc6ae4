"""arXiv (``GET /api/query``): papers, each version as a version of one item, on a claim.

``published`` and ``updated`` are when a submitter clicked, and not when the public saw the version. That was at an
announcement, which the API does not date, and moderation may hold a paper (one of 2014 for 24 days). So nothing here
proves a time. The claim is the first announcement that was possible, and a week.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING

from pit_fetch.gaps import Code
from pit_fetch.paging import follow
from pit_fetch.provider import (
    Archiving,
    Context,
    Dating,
    Host,
    Operation,
    Option,
    Page,
    Provider,
    Query,
    Rate,
    Record,
    UpstreamError,
)
from pit_fetch.times import NEW_YORK, delayed, parse_rfc3339, wall_clock
from pit_fetch.wire import body_of
from pit_fetch_providers import search_terms
from pit_fetch_providers.shared import UNREADABLE, fields, parse_xml, refuse, utc_seconds, with_a_pit

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

HOST = Host("arXiv", "https://export.arxiv.org", "PIT_FETCH_ARXIV_URL", Rate(calls=1, seconds=3))
PAGE_SIZE = 100
LOOKBACK = timedelta(days=30)
# What moderation usually takes at most, by arXiv's own account, and the holidays, which defer an announcement.
MARGIN = timedelta(days=7)
_DAY, _FRIDAY, _LAST_YEAR = timedelta(days=1), 4, 9999
_NUMBER = r"[0-9]{4}\.[0-9]{4,5}|[a-z-]+(?:\.[A-Z]{2})?/[0-9]{7}"
_VERSION = re.compile(rf"https?://arxiv\.org/abs/({_NUMBER})v([1-9][0-9]{{0,2}})")
# A well-formed id that no paper has (recorded).
NOBODY = "0000.0000v1"


def fetch(query: Query, context: Context) -> Iterator[Page]:
    """Yield the papers of the window, and the versions before the latest of each.

    Versions are asked for whatever the papers are: a request that one of them alone causes would tell of it.
    """
    named = query.options["ids"]
    wanted = {"id_list": ",".join(named)} if named else _search(query)

    def page(start: int) -> tuple[list[Record], int | None]:
        found = read_feed(context, {**wanted, "start": str(start), "max_results": str(PAGE_SIZE)})
        known = [made for made in found if made.id]
        older = [f"{made.id}v{number}" for made in known for number in range(1, made.payload["version"])]
        older = older or [f"{made.id}v1" for made in known[:1]] or [NOBODY]
        records = list(found)
        for first in range(0, len(older), PAGE_SIZE):
            part = older[first : first + PAGE_SIZE]
            records += read_feed(context, {"id_list": ",".join(part), "max_results": str(PAGE_SIZE)})
        return records, start + PAGE_SIZE if len(found) == PAGE_SIZE else None

    if named or _window(query)[0] < _window(query)[1]:
        yield from follow(page, 0)


def _window(query: Query) -> tuple[datetime, datetime]:
    """Return the first and the last submission that is asked for."""
    end = min(query.now, query.started, query.until or query.now)
    first = query.since or delayed(end, -LOOKBACK) or end
    return first, end


def _search(query: Query) -> dict[str, str]:
    first, last = (re.sub("[^0-9]", "", utc_seconds(moment))[:12] for moment in _window(query))
    parts = [f"({query.options['query']})"] if query.options["query"] else []
    parts += [f"cat:{query.options['category']}"] if query.options["category"] else []
    parts.append(f"submittedDate:[{first} TO {last}]")
    return {"search_query": " AND ".join(parts), "sortBy": "submittedDate", "sortOrder": "descending"}


def read_feed(context: Context, asked: Mapping[str, str]) -> list[Record]:
    """Return the papers of one reply."""
    reply = context.http.get(HOST.name, "/api/query", asked)
    if reply.status == 400:
        raise UpstreamError(Code.BAD_CALL, host=HOST.name)
    return list(papers(body_of(reply, HOST.name, ()) or b""))


def parse_reply(body: bytes, query: Query) -> Iterator[Record]:
    """Yield the papers of one raw reply."""
    yield from papers(body)


def papers(body: bytes) -> Iterator[Record]:
    """Yield the papers of an Atom feed. An error is a feed with one entry, too."""
    root = parse_xml(body.decode("utf-8", "replace"))
    if root is None or not root.tag.endswith("}feed"):
        raise UpstreamError(Code.MALFORMED, problem="it is not an Atom feed")
    for entry in root.iterfind("{*}entry"):
        if "/api/errors" in _text(entry, "id"):
            raise UpstreamError(Code.BAD_CALL, host=HOST.name)
        yield paper(entry)


def paper(entry: Element) -> Record:
    """Return one version. Of what changes without a version, only the authors and the first category are served."""
    named, submitted = _VERSION.fullmatch(_text(entry, "id")), parse_rfc3339(_text(entry, "updated"))
    if named is None:
        return UNREADABLE
    category = entry.find("{*}primary_category")
    payload = {
        "title": _text(entry, "title"),
        "summary": _text(entry, "summary"),
        "authors": [" ".join((name.text or "").split()) for name in entry.iterfind("{*}author/{*}name")],
        "category": None if category is None else category.get("term"),
        "version": int(named[2]),
        "published": _text(entry, "published") or None,
        "updated": _text(entry, "updated") or None,
        "url": f"https://arxiv.org/abs/{named[1]}v{named[2]}",
    }
    claimed = delayed(announced(submitted), MARGIN) if submitted and parse_rfc3339(payload["published"]) else None
    return Record(named[1], None, payload, claimed_at=claimed)


def _text(entry: Element, name: str) -> str:
    return " ".join((entry.findtext(f"{{*}}{name}") or "").split())


def announced(submitted: datetime) -> datetime | None:
    """Return the first announcement after a submission: 20:00 New York, of what came in by 14:00 of a weekday.

    What came in by Friday at 14:00 is announced on Sunday. None at the end of the calendar.
    """
    if submitted.year >= _LAST_YEAR:
        return None
    local = submitted.astimezone(NEW_YORK)
    day = local.date() + (_DAY if local.time() >= time(14) else timedelta(0))
    while day.weekday() > _FRIDAY:
        day += _DAY
    day += 2 * _DAY if day.weekday() == _FRIDAY else timedelta(0)
    return wall_clock(datetime.combine(day, time(20)), NEW_YORK)


def select(query: Query, record: Record) -> bool:
    """Return whether a paper was submitted in the window; one that is named always is wanted."""
    published = parse_rfc3339(record.payload.get("published"))
    first, last = _window(query)
    return bool(query.options["ids"]) or published is None or first <= published <= last


def when_empty(query: Query) -> str:
    """Return that only the default window was searched; from the request alone."""
    if query.offline or query.since is not None or query.options["ids"]:
        return ""
    return f"Only papers of the {LOOKBACK.days} days before the end of the window were searched: use --date-from."


def _normalize(query: Query) -> Query:
    options = query.options
    if not (query.offline or options["ids"] or options["query"] or options["category"]):
        refuse("arxiv needs a query, a category or ids: arxiv query='ti:transformers', category=cs.LG, ids=1706.03762")
    if not all(re.fullmatch(_NUMBER, name) for name in options["ids"] or ()):
        refuse("ids are numbers of papers, such as 1706.03762 or hep-th/9901001, without a version")
    return query


PROVIDER = Provider(
    name="arxiv",
    summary="arXiv: papers by words, category or number, in the version of then",
    select=select,
    when_empty=when_empty,
    hosts=(HOST,),
    options=(
        Option(
            "query",
            "words, or fields as in ti:word, au:name, abs:word, with AND, OR, ANDNOT",
            positional="all",
            search_terms=search_terms.QUERY,
        ),
        Option("category", "papers of this category", metavar="cs.LG", search_terms="cat subject"),
        Option("ids", "the papers with these numbers", kind="list", metavar="1706.03762"),
    ),
    operations=(
        Operation(
            fetch=fetch,
            parse_reply=parse_reply,
            dating=Dating(
                rule="nothing proves when a version was announced",
                why="published and updated are submissions, and moderation may hold a paper for days (documented)",
                claims="a week after the first announcement that was possible: 20:00 New York, Sunday to Thursday, of "
                "what came in by 14:00; authors and category may have been corrected since",
            ),
            fields=(
                *fields("title summary category url", lists="authors", integer="version", required="title"),
                *fields(instant="published updated"),
            ),
            window="select",
            caveats=with_a_pit(
                "arXiv does not publish the times of announcements, and a paper may be held longer than is assumed. "
                "Words are looked up in the latest version of a paper."
            ),
            normalize=_normalize,
            archiving=Archiving(
                versions=True, earliest=lambda query: None if query.options["ids"] else _window(query)[0]
            ),
            timeout=300,
        ),
    ),
    page_size=PAGE_SIZE,
    help="""\
Each item is a paper, in the newest version that counts. It is served on a claim alone (--evidence claimed),
or as an archive saw it. --date-from and --date-to compare published, the submission of the first version;
without --date-from, 30 days are searched. One request in three seconds is allowed.
""",
)
