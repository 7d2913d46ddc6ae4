"""The history of the page that had a title at an instant: which page that was, and its revisions.

A title resolves to today's page. So the log of moves leads from the title to where its page is now, and the page's own
revisions after the instant show under which titles it was before: a page that got the title later is not it.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from pit_fetch.provider import Context
from pit_fetch.times import delayed, parse_rfc3339
from pit_fetch_providers.wikipedia import api, titles

# A revision is stamped before it is committed, and copies of the database lag seconds behind.
MARGIN = timedelta(seconds=60)
MOST_MOVES = 5
# Of the revisions after the instant, the first so many are searched for moves, so many in each request.
MOST_LATER = 5_000
LATER_ROWS = 500
# Entries of the log from before a bug was mended (T59084) hold the number of the redirect that a move left behind.
_NUMBERED = datetime(2014, 1, 1, tzinfo=UTC)
# Stamps and numbers of revisions were recorded in another order by four seconds.
_DISORDER = timedelta(minutes=10)
# In 2005, what was then a page's newest revision got a new number.
_IN_ORDER = datetime(2006, 1, 1, tzinfo=UTC)
_META = "ids|timestamp|size|sha1|flags|comment"
# A move leaves a revision without a change, whose comment links to both titles, in whatever language. So does a
# protection, which names the page first.
_MOVE = re.compile(r"\[\[\s*:?([^\]|\n]+)\]\].*?\[\[\s*:?([^\]|\n]+)\]\]", re.DOTALL)


class Revision(NamedTuple):
    """One revision. ``sha1`` and ``comment`` are None where they are hidden, and ``text`` if it was not asked for."""

    revid: int
    parentid: int
    at: datetime
    sha1: str | None
    size: int | None
    comment: str | None
    is_minor: bool
    text: str | None = None

    def may_repeat(self, before: Revision | None) -> bool:
        """Return whether this revision may hold what ``before`` held, as a move's does. Sizes are never hidden."""
        if before is None:
            return True
        if before.sha1 is None or self.sha1 is None:  # without a size, or with 0 in its place, that is not known
            return not (before.size and self.size) or before.size == self.size
        return before.sha1 == self.sha1


class Place(NamedTuple):
    """Where an article may have been at an instant: the number of its page, today's title, the revisions since.

    ``later`` holds None for a revision that is unreadable. The page left the title that was asked for at ``left_at``,
    as the log shows; None if it did not, or if the log does not number the page. ``lowest`` is the lowest number that
    any page's revision got soon after the instant.

    Without a page, ``pageid`` is 0. It is then asked for its revisions all the same: whether there is one may rest on
    what was written later, and so must not decide which requests are made.
    """

    pageid: int
    title: str
    later: tuple[Revision | None, ...] = ()
    left_at: datetime | None = None
    lowest: float = math.inf

    def had_title(self, title: str, newest: Revision | None) -> bool:
        """Return whether the page had ``title`` when ``newest`` was its newest revision."""
        name = self.title if self.left_at is None else title
        for before, revision in reversed(list(zip((newest, *self.later), self.later, strict=False))):
            if revision is None or (self.left_at is not None and revision.at > self.left_at):
                continue
            if not revision.may_repeat(before):
                continue
            if revision.comment is None and revision.is_minor and revision.at != self.left_at:
                return False  # as a move's is, and from which title is hidden
            match = _MOVE.search(revision.comment or "")
            source, target = map(titles.normalized_or_none, match.groups()) if match is not None else (None, None)
            # An edit's summary may name two pages, too: no article ever was a category.
            if source is not None and target == name and not source.startswith("Category:"):
                name = source
        return name == title


class Numbers:
    """Tells, of revisions from the newest on, which were entered later than their stamps say.

    A revision gets its number when it is entered. If its number is above that of a later revision, it was entered
    after that one.
    """

    def __init__(self, later: Iterable[Revision | None] = (), lowest: float = math.inf) -> None:
        self.lowest = lowest
        self.near = deque[Revision]()  # too near in time to be compared with
        known = (revision for revision in later if revision is not None)
        for revision in sorted(known, key=lambda revision: revision.at, reverse=True):
            self._compare(revision)

    def is_imported(self, revision: Revision) -> bool:
        """Return whether ``revision`` was entered after a later one. Revisions must be given newest first."""
        self._compare(revision)
        return revision.revid > self.lowest

    def _compare(self, revision: Revision) -> None:
        while self.near and self.near[0].at - revision.at > _DISORDER:
            self.lowest = min(self.lowest, self.near.popleft().revid)
        self.near.append(revision)


class Revisions(NamedTuple):
    """Some revisions, None for one that is unreadable, and where the older ones begin."""

    rows: tuple[Revision | None, ...]
    further: str | None


class _Move(NamedTuple):
    """A move: from which namespace, where to, and the number of the page; None if the log does not number it.

    ``entry`` is its place in the log: of moves in one second, as scripts make them, the numbers show the order.
    """

    namespace: Any
    target: str
    entry: tuple[datetime, float]
    pageid: int | None


def locate(context: Context, title: str, until: datetime) -> Place:
    """Return the place to which the moves after ``until`` lead from ``title``. Raise UpstreamError."""
    current, since = title, (until, math.inf)
    moves: list[_Move] = []
    while len(moves) <= MOST_MOVES:
        result = api.query(context, _placing_request(current, until, since[0]))
        move = first_move(result.get("logevents"), current, since)
        if move is None:
            return _describe_place(context, result, current, until, moves)
        moves.append(move)
        current, since = move.target, move.entry
    return Place(0, current)


def _describe_place(
    context: Context, result: Mapping[str, Any], title: str, until: datetime, moves: Sequence[_Move]
) -> Place:
    """Return the place of the page that has ``title`` today, to which ``moves`` led, by the ``result`` about it."""
    page = _find_page(result, title)
    numbers = {move.pageid for move in moves}
    if page is None or not numbers <= {None, page["pageid"]}:
        return Place(0, title)
    if (moves[0].namespace if moves else page["ns"]) != 0:  # that of then: drafts become articles, and articles drafts
        return Place(0, title)
    left_at = moves[0].entry[0] if moves and None not in numbers else None
    later = tuple(_read_later(context, result, title, until, left_at))
    lowest = lowest_number(result.get("allrevisions")) if until >= _IN_ORDER else math.inf
    return Place(page["pageid"], page["title"], later, left_at, lowest)


def _read_later(
    context: Context, result: Mapping[str, Any], title: str, until: datetime, left_at: datetime | None
) -> Iterator[Revision | None]:
    """Yield the revisions after ``until``, oldest first, as far as they show moves to the title that was asked for."""
    for remaining in reversed(range(MOST_LATER // LATER_ROWS)):
        page = _find_page(result, title)
        rows = [] if page is None else list(_parse_rows(page.get("revisions")))
        yield from (row for row in rows if row is None or row.at > until)
        further = _next_position(result)
        is_left = left_at is not None and any(row is not None and row.at >= left_at for row in rows)
        if further is None or is_left or remaining == 0:
            return
        result = api.query(context, {**_newer_request(title, until), "rvcontinue": further})


def revisions(
    context: Context, place: Place, until: datetime, limit: int, after: str = "", *, text: bool = False
) -> Revisions:
    """Return the revisions at or before ``until``, newest first, ``limit`` at a time. Raise UpstreamError."""
    params = {
        "prop": "revisions", "titles": place.title, "rvdir": "older", "rvstart": spelled(until), "rvlimit": str(limit),
        "rvslots": "main", "rvprop": f"{_META}|content" if text else _META,
    }  # fmt: skip
    result = api.query(context, {**params, **({"rvcontinue": after} if after else {})})
    page = _find_page(result, place.title)
    if page is None or page["pageid"] != place.pageid:
        return Revisions((), None)
    rows = (row for row in _parse_rows(page.get("revisions")) if row is None or row.at <= until)
    return Revisions(tuple(rows), _next_position(result))


def following(context: Context, place: Place, moment: datetime, until: datetime) -> list[Revision]:
    """Return the first revisions after ``moment`` that were made by ``until``. Raise UpstreamError."""
    result = api.query(context, _newer_request(place.title, moment))
    page = _find_page(result, place.title)
    rows = [] if page is None or page["pageid"] != place.pageid else list(_parse_rows(page.get("revisions")))
    return [row for row in rows if row is not None and moment < row.at <= until]


def newest(
    context: Context, place: Place, until: datetime, after: str = "", *, text: bool = False
) -> tuple[Revision | None, str | None]:
    """Return the newest revision at or before ``until``, and where the older ones begin. Raise UpstreamError.

    The revision is None if there is none, or if it is unreadable.
    """
    found = revisions(context, place, until, 1, after, text=text)
    return found.rows[0] if found.rows else None, found.further


def saved_revisions(result: Mapping[str, Any]) -> Iterator[tuple[int, Revision | None]]:
    """Yield the revisions of a saved reply, each with the number of its page."""
    pages = result.get("pages")
    for page in pages if isinstance(pages, list) else ():
        if isinstance(page, dict) and type(page.get("pageid")) is int:
            yield from ((page["pageid"], row) for row in _parse_rows(page.get("revisions")))


def _placing_request(title: str, until: datetime, since: datetime) -> Mapping[str, str]:
    """Return the request for the moves away from ``title`` since ``since``, and for revisions after ``until``.

    Of the moves, the first few: they may be of one second. Of all pages, the next revisions: for their numbers.
    """
    return {
        **_newer_request(title, until), "list": "logevents|allrevisions", "letype": "move", "letitle": title,
        "ledir": "newer",
        "lestart": spelled(since), "lelimit": "10", "leprop": "ids|title|type|timestamp|details",
        "arvdir": "newer", "arvstart": spelled(until + _DISORDER), "arvlimit": "50", "arvprop": "ids|timestamp",
    }  # fmt: skip


def _newer_request(title: str, until: datetime) -> Mapping[str, str]:
    """Return the request for the revisions after ``until`` of the page that has ``title`` today."""
    return {
        "titles": title, "prop": "revisions", "rvdir": "newer", "rvstart": spelled(until), "rvlimit": str(LATER_ROWS),
        "rvslots": "main", "rvprop": _META,
    }  # fmt: skip


def _next_position(result: Mapping[str, Any]) -> str | None:
    """Return where the list of revisions in a reply goes on; None if it ends there."""
    further = result["continue"].get("rvcontinue") if isinstance(result["continue"], dict) else None
    return further if isinstance(further, str) else None


def first_move(events: Any, title: str, since: tuple[datetime, float]) -> _Move | None:
    """Return the first move away from ``title`` after the entry ``since`` of the log."""
    for event in events if isinstance(events, list) else ():
        if not isinstance(event, dict) or event.get("title") != title:
            continue
        at, params = _parse_stamp(event.get("timestamp")), event.get("params")
        number, page = event.get("logid"), event.get("logpage")
        target = params.get("target_title") if isinstance(params, dict) else None
        if at is None or type(number) is not int or type(page) is not int or not isinstance(target, str):
            continue
        if (at, number) > since:
            name = titles.normalized_or_none(target) or target
            return _Move(event.get("ns"), name, (at, number), page if at >= _NUMBERED else None)
    return None


def lowest_number(pages: Any) -> float:
    """Return the lowest number in a list of revisions of all pages; infinity if it is empty.

    The list begins soon after an instant. Revisions entered then have higher numbers than all that were entered by that
    instant. Those imported since have higher ones still.
    """
    rows = [page.get("revisions") for page in pages if isinstance(page, dict)] if isinstance(pages, list) else []
    return min((row.revid for revisions in rows for row in _parse_rows(revisions) if row is not None), default=math.inf)


def _find_page(result: Mapping[str, Any], title: str) -> dict[str, Any] | None:
    """Return the page of a reply that answers about ``title``; None if there is none."""
    pages = result.get("pages")
    names = {title}
    for entry in result.get("normalized") or () if isinstance(result.get("normalized"), list) else ():
        if isinstance(entry, dict) and entry.get("from") == title:
            names.add(str(entry.get("to")))
    for page in pages if isinstance(pages, list) else ():
        is_page = isinstance(page, dict) and isinstance(page.get("title"), str) and type(page.get("pageid")) is int
        if is_page and page["title"] in names:
            return {"ns": None, **page}
    return None


def _parse_rows(rows: Any) -> Iterator[Revision | None]:
    for row in rows if isinstance(rows, list) else ():
        yield parse_revision(row) if isinstance(row, dict) else None


def parse_revision(row: Mapping[str, Any]) -> Revision | None:
    """Return a revision; None if it cannot be read."""
    at, slots = _parse_stamp(row.get("timestamp")), row.get("slots")
    main = slots.get("main") if isinstance(slots, dict) else None
    text = main.get("content") if isinstance(main, dict) else None
    if at is None or type(row.get("revid")) is not int:
        return None
    parentid, size, sha1, comment = (row.get(name) for name in ("parentid", "size", "sha1", "comment"))
    return Revision(
        revid=row["revid"],
        parentid=parentid if type(parentid) is int else 0,
        at=at,
        sha1=sha1 if isinstance(sha1, str) else None,
        size=size if type(size) is int else None,
        comment=comment if isinstance(comment, str) else None,
        is_minor=row.get("minor") is True,
        text=text if isinstance(text, str) else None,
    )


def _parse_stamp(stamp: Any) -> datetime | None:
    """Return the instant of a stamp; None for one that cannot be read, or that ends the calendar."""
    moment = parse_rfc3339(stamp)
    return None if delayed(moment, MARGIN) is None else moment


def spelled(moment: datetime) -> str:
    """Return an instant as Wikipedia writes it: ``2020-01-01T00:00:00Z``."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
