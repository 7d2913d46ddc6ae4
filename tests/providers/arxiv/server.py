"""arXiv's ``GET /api/query``: Atom, the latest version of what is searched, any version of what is named."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from xml.sax.saxutils import escape

from pit_fetch.testing.server import App, Response
from pit_fetch.transport import HttpRequest

VARIABLES: dict[str, str] = {}
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<feed xmlns:arxiv="http://arxiv.org/schemas/atom" xmlns="http://www.w3.org/2005/Atom">'


def version(
    number: int, submitted: datetime, n: int = 1, published: datetime | None = None, /, **changes: Any
) -> dict[str, Any]:
    """Return version ``n`` of a paper."""
    updated, first = (at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") for at in (submitted, published or submitted))
    row = {
        "paper": f"2402.{number:05}",
        "version": n,
        "updated": updated,
        "published": first,
        "title": f"Title {number}",
    }
    return {**row, "summary": "An abstract.", "comment": f"{n} pages", **changes}


def feed(rows: Sequence[Any]) -> bytes:
    """Return an Atom feed of versions. What is no version is an entry that cannot be read."""
    return f"{_HEAD}<title>arXiv Query</title>{''.join(map(_entry, rows))}</feed>".encode()


def _entry(row: Any) -> str:
    if not isinstance(row, dict) or "paper" not in row:
        return "<entry><title>nothing</title></entry>"
    fields = "".join(
        f"<{name}>{escape(str(row.get(name)))}</{name}>" for name in ("title", "updated", "published", "summary")
    )
    return (
        f"<entry><id>http://arxiv.org/abs/{row['paper']}v{row['version']}</id>{fields}"
        f'<arxiv:comment>{row["comment"]}</arxiv:comment><arxiv:primary_category term="cs.LG"/>'
        "<author><name>Ada  Lovelace</name></author></entry>"
    )


def error() -> Response:
    entry = "<entry><id>https://arxiv.org/api/errors#x</id><title>Error</title><summary>x</summary></entry>"
    return Response(f"{_HEAD}{entry}</feed>".encode(), 400)


def app(rows: Sequence[Any], careless: bool = False) -> App:
    """Return the server of versions, which stand in any order. ``careless``: it ignores the window."""
    known = [row for row in rows if isinstance(row, dict) and "paper" in row]
    latest = {row["paper"]: row for row in sorted(known, key=lambda row: int(row["version"]))}
    listed = [*latest.values(), *(row for row in rows if row not in known)]
    listed.sort(key=lambda row: str(row.get("published")) if isinstance(row, dict) else "", reverse=True)

    def answer(request: HttpRequest) -> Response:
        query = request.query
        if request.path != "/api/query":
            return Response(b"", 404)
        if "id_list" in query:
            wanted = query["id_list"].split(",")
            found = [row for row in known if f"{row['paper']}v{row['version']}" in wanted]
            found += [row for name, row in latest.items() if name in wanted]
        else:
            first, last = re.findall(r"\[([0-9]+) TO ([0-9]+)\]", query["search_query"])[0]
            found = [row for row in listed if careless or first <= _minute(row) <= last]
        start = int(query.get("start", "0"))
        return Response(feed(found[start : start + int(query["max_results"])]))

    return answer


def _minute(row: Any) -> str:
    return re.sub("[^0-9]", "", str(row.get("published")))[:12] if isinstance(row, dict) else ""
