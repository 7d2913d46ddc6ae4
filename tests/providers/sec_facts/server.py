"""data.sec.gov's companyfacts, beside the filings that report them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from pit_fetch.testing.server import App, Response
from pit_fetch.transport import HttpRequest
from tests.providers.sec_full_text import server as sec
from tests.providers.sec_full_text.server import APPLE, Filing

VARIABLES = sec.VARIABLES


class Reported(NamedTuple):
    """A fact as a filing reports it. Without a ``start`` it is an instant."""

    filing: Filing
    concept: str
    end: str
    value: Any
    start: str = ""
    unit: str = "USD"
    taxonomy: str = "us-gaap"


def row(reported: Reported, **changes: Any) -> dict[str, Any]:
    """Return a row in the shape of the wire, but for ``frame``, which depends on the rows beside it."""
    start = {"start": reported.start} if reported.start else {}
    filing = reported.filing
    return {
        **start,
        "end": reported.end,
        "val": reported.value,
        "accn": filing.accession,
        "fy": 2024,
        "fp": "FY",
        "form": filing.form,
        "filed": filing.day,
        **changes,
    }


def document(facts: Iterable[Reported], cik: int | str = APPLE, raw: Sequence[Any] = ()) -> dict[str, Any]:
    """Return a companyfacts reply. ``raw`` rows stand among those of the first concept, as they are."""
    taxonomies: dict[str, Any] = {}
    for fact in facts:
        concepts = taxonomies.setdefault(fact.taxonomy, {})
        described = concepts.setdefault(fact.concept, {"label": f"{fact.concept} of today", "units": {}})
        described["units"].setdefault(fact.unit, []).append(row(fact))
    for rows in _lists(taxonomies):
        # The last version of a fact carries its frame: only it tells that none follows.
        last = {(entry.get("start"), entry["end"]): entry for entry in rows}
        for entry in last.values():
            entry["frame"] = f"CY{entry['end'][:4]}"
    if raw:
        first = next(_lists(taxonomies), None)
        if first is None:
            taxonomies["us-gaap"] = {"NetIncomeLoss": {"units": {"USD": (first := [])}}}
        first.extend(raw)
    return {"cik": cik, "entityName": "Apple Inc. of today", "facts": taxonomies}


def _lists(taxonomies: dict[str, Any]) -> Any:
    return (rows for concepts in taxonomies.values() for c in concepts.values() for rows in c["units"].values())


def app(
    facts: Sequence[Reported],
    *,
    raw: Sequence[Any] = (),
    others: Sequence[Filing] = (),
    body: bytes | None = None,
    **options: Any,
) -> App:
    """Return the SEC's hosts. ``others`` are filings without facts; ``options`` are those of :func:`sec.app`."""
    filings = list(dict.fromkeys([*(fact.filing for fact in facts), *others]))
    rest = sec.app(filings, **options)
    document_of = json.dumps(document(facts, raw=raw)).encode() if body is None else body

    def answer(request: HttpRequest) -> Response:
        if re.fullmatch(f"/api/xbrl/companyfacts/CIK{APPLE:010d}\\.json", request.path):
            return Response(document_of) if facts or raw or body is not None else sec.NO_SUCH_KEY
        return rest(request)

    return answer
