"""Wikipedia's API: pages with their histories, the log of moves, and its errors, which come with HTTP 200."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha1
from typing import Any, NamedTuple

from pit_fetch.testing.server import App, Response
from pit_fetch.transport import HttpRequest
from tests.loopback.broken import body_of

VARIABLES = {"PIT_FETCH_CONTACT": "tests@example.com"}
ALL = ("text", "comment")
LAG = Response(b'{"error":{"code":"maxlag","info":"Waiting: 0.1 seconds lagged.","lag":0.10323,"type":"db"}}')


class Revision(NamedTuple):
    """One revision. ``hidden``: what of it was hidden since; ``extra`` takes the place of fields of its reply."""

    revid: Any
    at: Any
    text: str = "'''Acme''' is a company."
    comment: str = ""
    parentid: int = 0
    hidden: Collection[str] = ()
    extra: Mapping[str, Any] = {}

    def row(self, with_text: bool) -> dict[str, Any]:
        encoded = self.text.encode("utf-8", "surrogatepass")
        made: dict[str, Any] = {"revid": self.revid, "parentid": self.parentid, "timestamp": self.at}
        made |= {"minor": " moved page " in self.comment, "size": len(encoded)}
        made |= {"commenthidden": True} if "comment" in self.hidden else {"comment": self.comment}
        made |= {"sha1hidden": True} if "text" in self.hidden else {"sha1": sha1(encoded).hexdigest()}
        main: dict[str, Any] = {"contentmodel": "wikitext", "contentformat": "text/x-wiki"}
        main |= {"texthidden": True} if "text" in self.hidden else {"content": self.text}
        return made | ({"slots": {"main": main}} if with_text else {}) | dict(self.extra)


@dataclass
class Page:
    """A page under its title of today. ``revisions`` in any order; one that is not a Revision is served as it is."""

    pageid: int
    title: str
    revisions: Sequence[Any] = ()
    ns: int = 0


class Move(NamedTuple):
    """An entry in the log of moves."""

    at: str
    title: str
    target: str
    pageid: int
    ns: int = 0

    def row(self, number: int) -> dict[str, Any]:
        return {
            "logid": number, "ns": self.ns, "title": self.title, "pageid": self.pageid, "logpage": self.pageid,
            "type": "move", "action": "move", "timestamp": self.at,
            "params": {"target_ns": 0, "target_title": self.target},
        }  # fmt: skip


@dataclass
class Wiki:
    """``moves`` are in the order in which they were made."""

    pages: Sequence[Page] = ()
    moves: Sequence[Move] = ()
    hosts: list[str] = field(default_factory=list)


def spelled(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def app(wiki: Wiki) -> App:
    def answer(request: HttpRequest) -> Response:
        query = request.query
        if request.path != "/w/api.php" or query.get("action") != "query":
            return Response(b"<html>", 404)
        wiki.hosts.append(request.host)
        result: dict[str, Any] = {"pages": [page(wiki, query)]}
        document: dict[str, Any] = {"batchcomplete": True, "query": result}
        if "logevents" in query.get("list", ""):
            result["logevents"] = events(wiki, query)
        if "allrevisions" in query.get("list", ""):
            result["allrevisions"] = of_all_pages(wiki, query)
        rows = result["pages"][0].get("revisions", ())
        if query.get("prop") == "revisions" and rows:
            further = rows[int(query["rvlimit"]) :]
            if further:
                document["continue"] = {"rvcontinue": str(_number(query) + int(query["rvlimit"])), "continue": "||"}
            result["pages"][0]["revisions"] = rows[: int(query["rvlimit"])]
        return Response(body_of(document), 200, {"Content-Type": "application/json; charset=utf-8"})

    return answer


def page(wiki: Wiki, query: Mapping[str, Any]) -> dict[str, Any]:
    found = next((page for page in wiki.pages if page.title == query["titles"]), None)
    if found is None:
        return {"ns": 0, "title": query["titles"], "missing": True}
    is_newer, start = query.get("rvdir") == "newer", query.get("rvstart", "")
    with_text = "content" in query.get("rvprop", "")
    dated = [row for row in found.revisions if isinstance(row, Revision) and isinstance(row.at, str)]
    dated.sort(key=lambda row: (row.at, str(row.revid)), reverse=not is_newer)
    rows: list[Any] = [row.row(with_text) for row in dated if (row.at >= start if is_newer else row.at <= start)]
    rows += [row for row in found.revisions if not isinstance(row, Revision) and is_newer]
    shown = {"pageid": found.pageid, "ns": found.ns, "title": found.title}
    return {**shown, "revisions": rows[_number(query) :]} if rows[_number(query) :] else shown


def _number(query: Mapping[str, Any]) -> int:
    return int(query.get("rvcontinue", "0"))


def events(wiki: Wiki, query: Mapping[str, Any]) -> list[dict[str, Any]]:
    moves = sorted((move.at, number, move) for number, move in enumerate(wiki.moves))
    rows = [move.row(number) for at, number, move in moves if move.title == query["letitle"] and at >= query["lestart"]]
    return rows[: int(query["lelimit"])]


def of_all_pages(wiki: Wiki, query: Mapping[str, Any]) -> list[dict[str, Any]]:
    rows = [
        (row.at, {"pageid": page.pageid, "ns": page.ns, "title": page.title, "revisions": [row.row(with_text=False)]})
        for page in wiki.pages
        for row in page.revisions
        if isinstance(row, Revision) and isinstance(row.at, str) and row.at >= query["arvstart"]
    ]
    return [row for _, row in sorted(rows, key=lambda row: row[0])[: int(query["arvlimit"])]]
