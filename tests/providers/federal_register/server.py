"""The Federal Register's documents, by the days of their issues, and the desk of public inspection of a day."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from pit_fetch.testing.server import App, Response, as_json
from pit_fetch.transport import HttpRequest
from tests.loopback.broken import body_of

VARIABLES: dict[str, str] = {}
ZONE = ZoneInfo("America/New_York")
_AGENCIES = [
    {"raw_name": "SECURITIES AND EXCHANGE COMMISSION", "name": "Securities And Exchange Commission", "id": 466}
]


def printed(number: int, day: str, /, **changes: Any) -> dict[str, Any]:
    """Return a document of the issue of ``day``."""
    row = {
        "title": f"Title {number}",
        "type": "Notice",
        "abstract": "A summary.",
        "document_number": f"2024-{number:05}",
    }
    row |= {
        "html_url": f"https://www.federalregister.gov/d/{number}",
        "pdf_url": f"https://www.govinfo.gov/{number}.pdf",
    }
    return {**row, "publication_date": day, "agencies": _AGENCIES, "excerpts": None, **changes}


def filed(number: int, at: datetime, replaced: datetime | None = None, /, **changes: Any) -> dict[str, Any]:
    """Return a document on public inspection, by default with the text that was filed."""
    stamps = (moment.astimezone(ZONE).isoformat(timespec="milliseconds") for moment in (at, replaced or at))
    row = {"document_number": f"2024-{number:05}", "title": f"Title {number}", "type": "Rule", "filing_type": "special"}
    row |= dict(zip(("filed_at", "pdf_updated_at"), stamps, strict=True))
    return {
        **row,
        "pdf_url": f"https://public-inspection.federalregister.gov/{number}.pdf",
        "agencies": _AGENCIES,
        **changes,
    }


def app(rows: Sequence[Any], careless: bool = False) -> App:
    """Return the server of rows, which stand in any order. ``careless``: it ignores days."""
    newest = sorted(rows, key=_published, reverse=True)

    def answer(request: HttpRequest) -> Response:
        query = request.query
        if request.path == "/api/v1/documents.json":
            first = query.get("conditions[publication_date][gte]", "")
            last = query["conditions[publication_date][lte]"]
            found = [row for row in newest if careless or not _published(row) or first <= _published(row) <= last]
            size, page = int(query["per_page"]), int(query["page"])
            found = found[(page - 1) * size : page * size]
        elif request.path == "/api/v1/public-inspection-documents.json":
            found = [row for row in rows if careless or _is_on_desk(row, query["conditions[available_on]"])]
        else:
            return as_json({"status": 404, "message": "Record Not Found"}, 404)
        return Response(body_of({"count": len(rows), "results": found} if found else {"count": 0}))

    return answer


def _published(row: Any) -> str:
    day = row.get("publication_date") if isinstance(row, dict) else ""
    return day if isinstance(day, str) and day[:4].isdigit() and len(day) == 10 else ""


def _is_on_desk(row: Any, day: str) -> bool:
    """Return whether a document lay on the desk of a day: that of its filing and the next one."""
    at = str(row.get("filed_at"))[:10] if isinstance(row, dict) else ""
    try:
        return at <= day <= (datetime.fromisoformat(at) + timedelta(days=1)).date().isoformat()
    except ValueError:
        return True
