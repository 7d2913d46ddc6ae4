"""EarningsCall's symbols, lists of calls, calendar and transcripts, and its errors."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from pit_fetch.testing.server import App, Response
from pit_fetch.times import parse_rfc3339
from pit_fetch.transport import HttpRequest
from tests.loopback.broken import body_of

KEY = "ec-0123456789abcdef"
VARIABLES = {"ECALL_API_KEY": KEY}
EXCHANGES = ("NYSE", "NASDAQ", "AMEX", "TSX", "TSXV", "OTC", "LSE", "CBOE", "STO")
# Recorded for a transcript that does not exist, with 404 and with 403.
NO_SUCH_KEY = (
    b'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>NoSuchKey</Code><Message>The specified key does not exist.'
    b"</Message><Key>404.html</Key></Error>"
)
MISSING = Response(NO_SUCH_KEY, 404)
FORBIDDEN = Response(NO_SUCH_KEY, 403)
NOT_IN_PLAN = Response(b"", 403, {"X-Plan-Name": "basic"})


class Call(NamedTuple):
    """One call. ``text`` None: there is no transcript; ``own_date`` is the date of the call in its transcript, or False
    if that is a text alone.

    ``stored`` is the transcript's Last-Modified: "" an hour after the call, None that of a reply without one.
    """

    year: Any
    quarter: Any
    starts: Any
    text: Any = None
    own_date: Any = None
    symbol: str = "MSFT"
    exchange: str = "NASDAQ"
    stored: str | None = ""

    @property
    def event(self) -> dict[str, Any]:
        return {"year": self.year, "quarter": self.quarter, "conference_date": self.starts}

    @property
    def headers(self) -> dict[str, str]:
        """Return the headers of its transcript."""
        stored = http_date(parse_rfc3339(self.starts)) if self.stored == "" else self.stored
        return {} if stored is None else {"Last-Modified": stored}

    @property
    def reply(self) -> dict[str, Any]:
        """Return the transcript, plain (level 1)."""
        if self.own_date is False:
            return {"text": self.text}
        return {"event": {**self.event, "conference_date": self.own_date or self.starts}, "text": self.text}


def http_date(starts: datetime | None, after: timedelta = timedelta(hours=1)) -> str | None:
    """Return an instant after a call in the header's form."""
    return None if starts is None else f"{starts.astimezone(UTC) + after:%a, %d %b %Y %H:%M:%S} GMT"


def app(calls: Sequence[Any], key: str = KEY, listed: Collection[tuple[str, str]] | None = None) -> App:
    """Return the server of ``calls``; one that is not a Call stands in every list as it is.

    ``listed`` are exchanges and symbols, as today's list has them (default: those of the calls).
    """

    def answer(request: HttpRequest) -> Response:
        query = request.query
        if query.get("apikey") != key:
            return Response(f"unknown key {query.get('apikey')}".encode(), 401)
        own = [call for call in calls if isinstance(call, Call)]
        if request.path == "/symbols-v2.txt":
            # The list of everybody's companies is never empty, whatever calls there are.
            places = ((call.exchange, call.symbol) for call in own) if listed is None else listed
            names = sorted({(0, "ZZZZ"), *((EXCHANGES.index(exchange), symbol) for exchange, symbol in places)})
            return Response("\n".join(f"{place}\t{symbol}\tA Company\t1\t2" for place, symbol in names).encode())
        if request.path == "/calendar":
            day = f"{int(query['year']):04}-{int(query['month']):02}-{int(query['day']):02}"
            rows = [_row(call) if isinstance(call, Call) else call for call in calls]
            return _raw([row for row in rows if _is_on(row, day)])
        subject = query.get("exchange"), query.get("symbol")
        entries = [call for call in calls if not isinstance(call, Call) or (call.exchange, call.symbol) == subject]
        if request.path == "/events":
            if not any(isinstance(entry, Call) for entry in entries):
                return MISSING
            events = [entry.event if isinstance(entry, Call) else entry for entry in entries]
            return _raw({"company_name": "A Company", "events": events})
        if request.path == "/transcript":
            period = query.get("year"), query.get("quarter")
            matching = [
                entry
                for entry in entries
                if isinstance(entry, Call) and (str(entry.year), str(entry.quarter)) == period
            ]
            if not matching or matching[0].text is None:
                return MISSING
            return _raw(matching[0].reply, matching[0].headers)
        return MISSING

    return answer


def _row(call: Call) -> dict[str, Any]:
    about = {"exchange": call.exchange, "symbol": call.symbol, "company_name": "A Company"}
    return {**about, **call.event, "transcript_ready": call.text is not None}


def _is_on(row: Any, day: str) -> bool:
    starts = parse_rfc3339(row.get("conference_date")) if isinstance(row, dict) else None
    return starts is None or starts.astimezone(ZoneInfo("America/New_York")).date().isoformat() == day


def _raw(document: Any, headers: Mapping[str, str] = {}) -> Response:
    return Response(body_of(document), 200, {"Content-Type": "text/plain", **headers})
