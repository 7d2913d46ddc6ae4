"""Turn calls and their transcripts into records, dated by the day of the call. Pure.

>>> str(noon_after(datetime(2024, 2, 15, 22, 30, tzinfo=UTC)))
'2024-02-16 17:00:00+00:00'
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, time, timedelta
from typing import Any

from pit_fetch.gaps import Code
from pit_fetch.provider import Query, Record, UpstreamError
from pit_fetch.times import NEW_YORK, in_new_york, parse_rfc3339, wall_clock
from pit_fetch.wire import check_rows, lenient_json, rows_in
from pit_fetch_providers.earningscall import api
from pit_fetch_providers.shared import UNREADABLE, new_york_day


def company_calls(body: bytes, query: Query, exchange: str | None, symbol: str | None) -> Iterator[Record]:
    """Yield the calls of a company. The list does not name it: ``exchange`` and ``symbol`` are those of the request."""
    for event in rows_in(body, "events"):
        yield call_in(event, query, exchange, symbol)


def day_calls(body: bytes, query: Query) -> Iterator[Record]:
    """Yield the calls of a day, of all companies. A row that does not name its company is unreadable."""
    rows = list(rows_in(body))
    check_rows(rows, "conference_date")
    for row in rows:
        exchange, symbol = row.get("exchange"), row.get("symbol")
        is_named = isinstance(exchange, str) and isinstance(symbol, str) and exchange and symbol
        yield call_in(row, query, exchange, symbol) if is_named else UNREADABLE


def transcripts(
    body: bytes, query: Query, exchange: str | None, symbol: str | None, asked: Record | None = None
) -> Iterator[Record]:
    """Yield the transcript of a reply, or of each of an array of replies.

    One that holds a text alone is of the call that was ``asked`` for. In a file it is of none.
    """
    reply = lenient_json(body, 1 if body.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[") else 2)
    replies = reply if isinstance(reply, list) else [reply]
    calls = [_transcript_call(part, query, exchange, symbol, asked) for part in replies]
    if calls.count(None) == len(calls) and any(part is not None for part in replies):
        raise UpstreamError(Code.MALFORMED, problem="it has no event and no text")
    for part, call in zip(replies, calls, strict=True):
        if call is None or not call.id:
            yield UNREADABLE
        else:
            yield call._replace(payload={**call.payload, "text": part["text"]}, claimed_at=call.available_at)


def date_transcript(transcript: Record, call: Record, stored: datetime | None) -> Record:
    """Return ``transcript`` if it is that of ``call``, with the latest of its times as its last revision.

    Both name the time of the call, and the order of the list follows its own. ``stored`` is when the text was stored.
    There is no claim where the transcript names a later day than the list, or was stored before the call.
    """
    if transcript.id != call.id:
        return UNREADABLE
    if transcript.available_at is None or call.available_at is None:
        return unproven(transcript)._replace(claimed_at=None)
    is_later = transcript.available_at > call.available_at
    is_claimable = not is_later and (stored is None or credible(call, stored) is not None)
    changed = max(transcript.available_at, stored or call.available_at)
    dated = transcript._replace(
        available_at=call.available_at,
        revised_at=changed if changed > call.available_at else None,
        claimed_at=call.available_at if is_claimable else None,
    )
    return unproven(dated) if credible(call, stored) is None else dated


def may_be_on(call: Record, day: str) -> bool:
    """Return whether a call is on ``day`` by its own offset, by New York or by UTC.

    Which of them the source lists by is unknown. A call whose time cannot be read may be on any day.
    """
    stamp = call.payload["conference_date"]
    moment = parse_rfc3339(stamp)
    return moment is None or day in (str(stamp).strip()[:10], f"{moment:%Y-%m-%d}", in_new_york(moment)[:10])


def credible(call: Record, stored: datetime | None) -> datetime | None:
    """Return ``stored`` if it can be true: a text stored before the call was not its transcript."""
    moment = parse_rfc3339(call.payload["conference_date"])
    return None if moment is None or stored is None or stored < moment else stored


def is_wanted(call: Record, stored: datetime | None, query: Query) -> bool:
    """Return whether the transcript of a call would be served, so that it is a failure if it cannot be read."""
    at = credible(call, stored)
    is_claimed = query.accepts_claims and (stored is None or at is not None)
    return query.open_mode or is_claimed or (at is not None and at <= query.now)


def unproven(transcript: Record) -> Record:
    """Return ``transcript`` undated: nothing proves that it was public at a PIT."""
    return transcript._replace(available_at=None, revised_at=None)


def order(call: Record) -> tuple[bool, datetime, int, int, str]:
    """Return a value that is greater for a later call; a call without a readable date comes before all others."""
    at, payload = call.available_at, call.payload
    return at is not None, at or datetime.min.replace(tzinfo=UTC), payload["year"], payload["quarter"], call.id


def company(call: Record) -> tuple[str, str]:
    return call.payload["exchange"], call.payload["symbol"]


def _transcript_call(
    reply: Any, query: Query, exchange: str | None, symbol: str | None, asked: Record | None
) -> Record | None:
    """Return the call of a transcript; None if the reply is none."""
    if not isinstance(reply, dict) or not isinstance(reply.get("text"), str):
        return None
    event = reply.get("event")
    if event is None:
        return asked
    return call_in(event, query, exchange, symbol) if isinstance(event, dict) else None


def call_in(row: Mapping[str, Any], query: Query, exchange: object, symbol: object) -> Record:
    year, quarter = row.get("year"), row.get("quarter")
    names = [name for name in (exchange, symbol) if isinstance(name, str)]
    if type(year) is not int or type(quarter) is not int or _is_on_another(row, symbol):
        return UNREADABLE
    moment = parse_rfc3339(row.get("conference_date"))
    subject = {"exchange": exchange, "symbol": symbol, "year": year, "quarter": quarter}
    payload = {**subject, "conference_date": row.get("conference_date")}
    match query.operation.name:
        case "calendar" if query.open_mode:
            payload["transcript_ready"] = row.get("transcript_ready")  # today's state
        case "slides":
            payload |= {"slides_url": api.address("slides", subject), "audio_url": api.address("audio", subject)}
    return Record(
        ":".join((*names, f"{year}Q{quarter}")),
        None if moment is None else noon_after(moment),
        payload,
        # No field has a date then. Fiscal quarters are in order by their months, whichever those are.
        period="" if moment else f"{year:04}-{3 * quarter:02}-01",
    )


def _is_on_another(row: Mapping[str, Any], symbol: object) -> bool:
    """Return whether a row names another company. Those of a company's list need not name one."""
    named = row.get("symbol")
    return isinstance(symbol, str) and isinstance(named, str) and named.upper() != symbol.upper()


def noon_after(moment: datetime) -> datetime | None:
    """Return the UTC instant of noon, New York, of the day after the one there at ``moment``."""
    try:
        return wall_clock(datetime.combine(new_york_day(moment) + timedelta(days=1), time(12)), NEW_YORK)
    except OverflowError:
        return None
