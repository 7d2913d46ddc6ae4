"""How EarningsCall's replies look to a program as of an instant."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pit_fetch.provider import Asked, HttpReply, Record, Row, UpstreamError, View
from pit_fetch_providers.earningscall import api, calls
from pit_fetch_providers.shared import refuse

_CALL = ("exchange", "symbol", "year", "quarter", "conference_date")
# Today's name of the company, and today's state of the transcript.
_TODAY = {"company_name": "", "transcript_ready": None}


def _record(row: Row, asked: Asked) -> Record | None:
    if not isinstance(row.value, dict):
        return None
    named = {**asked.params, **{name: row.value[name] for name in ("exchange", "symbol") if row.value.get(name)}}
    return calls.call_in(row.value, asked.query, named.get("exchange"), named.get("symbol"))


def _events(asked: Asked, rows: Sequence[Row]) -> dict[str, Any]:
    return {"company_name": "", "events": []}


def _transcript(asked: Asked) -> HttpReply | None:
    """Return the plain text of a call, if it was stored by then. Speakers are named by today's list of them."""
    if asked.params.get("level", "1") != "1":
        refuse("level is 1: further levels name speakers by today's list.")
    query, params = asked.query, asked.params
    stored = api.transcript(asked.context, {**dict.fromkeys(_CALL, ""), **params})
    if stored is None:
        return None
    try:
        call = next(calls.transcripts(stored.body, query, params.get("exchange"), params.get("symbol")))
    except UpstreamError:  # of whatever time it is
        return None
    dated = calls.date_transcript(call, call, stored.at) if call.id else call
    bound = min(query.horizon, query.started)
    if dated.available_at is None or max(dated.available_at, dated.revised_at or dated.available_at) > bound:
        return None
    event = {name: dated.payload[name] for name in _CALL}
    body = json.dumps({"event": event, "text": dated.payload["text"]}, ensure_ascii=False).encode("utf-8", "replace")
    return HttpReply(200, {"content-type": "application/json"}, body, query.started)


VIEWS = (
    View(
        api.HOST.name, "/events", "events", ("events/*",), _record, fields=_CALL, frame=_events,
        nothing=(404, ""),
    ),
    View(api.HOST.name, "/calendar", "calendar", ("*",), _record, fields=(*_CALL, *_TODAY), blank=_TODAY),
    View(api.HOST.name, "/transcript", "transcript", document=_transcript),
)  # fmt: skip
