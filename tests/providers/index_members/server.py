"""Wikipedia's revisions of a list, newest first, down from an instant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha1
from typing import Any

from pit_fetch.testing.server import App, Response, as_json
from pit_fetch.transport import HttpRequest
from tests.loopback.broken import body_of

CONTACT = "tests@example.com"
VARIABLES = {"PIT_FETCH_CONTACT": CONTACT}
_HEAD = '{| class="wikitable" id="constituents"\n|-\n! [[Ticker symbol|Symbol]]\n! Security !! GICS Sector !! CIK\n'


def wikitext(symbols: Sequence[str], note: str = "") -> str:
    """Return a list, with the templates of two exchanges and plain cells, and a table of changes behind it."""
    forms = ("{{NyseSymbol|%s}}", "{{NasdaqSymbol|%s}}", "%s")
    rows = (
        f"|-\n|{forms[n % 3] % symbol}\n|[[Company {symbol}|{symbol} Inc.]]||Industrials||{n + 66740:010}\n"
        for n, symbol in enumerate(symbols)
    )
    changes = '{| class="wikitable" id="changes"\n! Date !! Added\n|-\n|June 20, 2023||ZZZ\n|}\n'
    return f"The list {note}.\n{_HEAD}{''.join(rows)}|}}\n\n{changes}"


def revision(number: int, at: datetime, source: str, /, **changes: Any) -> dict[str, Any]:
    digest = sha1(source.encode(), usedforsecurity=False).hexdigest()
    stamp = at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    slots = {"main": {"contentmodel": "wikitext", "contentformat": "text/x-wiki", "content": source}}
    return {"revid": number, "parentid": number - 1, "timestamp": stamp, "sha1": digest, "slots": slots, **changes}


def reply(rows: Sequence[Any]) -> Mapping[str, Any]:
    page = {"pageid": 2676045, "ns": 0, "title": "List of S&P 500 companies"}
    return {"query": {"pages": [{**page, "revisions": list(rows)} if rows else {**page, "missing": True}]}}


def app(rows: Sequence[Any], careless: bool = False) -> App:
    """Return the server of revisions, which stand in any order. ``careless``: it ignores the beginning."""
    newest = sorted(rows, key=_stamp, reverse=True)

    def answer(request: HttpRequest) -> Response:
        query = request.query
        if request.path != "/w/api.php" or CONTACT not in (request.header("User-Agent") or ""):
            return as_json({}, 403)
        found = [row for row in newest if careless or _stamp(row) <= query["rvstart"]]
        return Response(body_of(reply(found[: int(query["rvlimit"])])))

    return answer


def _stamp(row: Any) -> str:
    return str(row.get("timestamp")) if isinstance(row, dict) else ""
