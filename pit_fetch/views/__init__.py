"""What a program gets for one request under ``pit_fetch run``: the source's reply, as it would have been then.

:func:`answer` finds the :class:`~pit_fetch.provider.View` of the request, asks the source with the program's own key,
and takes out of the reply every row that a fetch would withhold. Only the rows that stay, and what the view makes
around them, reach the program: a header, a total or a size of the source's may tell of what was left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple

from pit_fetch.errors import PitFetchError, UpstreamError
from pit_fetch.gaps import Code
from pit_fetch.pipeline.select import visibility
from pit_fetch.provider import Asked, Provider, Record, Row, View
from pit_fetch.runtime import Runtime
from pit_fetch.views import forms
from pit_fetch.views.table import ask_source, endpoints, find

__all__ = ["Answer", "Exchange", "ViewOptions", "answer", "views_table"]

Verdict = Literal["viewed", "web", "allowed", "refused"]
_TYPES = {"json": "application/json; charset=utf-8", "csv": "text/csv", "xml": "text/xml; charset=utf-8"}
KEPT_HEADERS = ("content-type", "memento-datetime", "set-cookie", "location")
# The source has no such thing: which it says of what it did not have yet, too.
_MISSING = (400, 404)


class Exchange(NamedTuple):
    """What a program asked: the request as it was intercepted. ``target`` is the path with its query."""

    method: str
    scheme: str
    host: str
    port: int
    target: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""


class Answer(NamedTuple):
    """What the program gets, and for the operator alone: the source, and how many rows were kept and left out."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    verdict: Verdict
    source: str | None = None
    kept: int = 0
    left_out: int = 0


class ViewOptions(NamedTuple):
    """What the operator chose.

    web        what answers for other pages
    evidence   as PIT_FETCH_EVIDENCE has it, in the place of that variable; "" for it
    providers  the sources; None for all
    timeout    seconds for all requests of one answer
    """

    web: Literal["none", "wayback"] = "none"
    evidence: str = ""
    providers: Sequence[Provider] | None = None
    timeout: float = 60.0


class _Viewed(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes
    kept: int = 1
    left_out: int = 0


def answer(exchange: Exchange, pit: datetime, runtime: Runtime, options: ViewOptions = ViewOptions()) -> Answer:  # noqa: B008
    """Return the answer to ``exchange`` as of ``pit`` (aware). What cannot be answered is refused, never raised."""
    table = endpoints(options.providers)
    endpoint, problem = find(table, exchange, options.web)
    if endpoint is None:
        return refused("not_viewed", problem)
    source = endpoint.provider.name
    try:
        asked = ask_source(endpoint, exchange, pit, runtime, options)
        viewed = _viewed(endpoint.view, asked, pit)
    except UpstreamError as error:
        return _failed(source, error)
    except PitFetchError as error:
        return refused("not_viewed", error.gap.reason, source)
    except Exception as error:  # noqa: BLE001 - of whatever a view stumbles over, nothing may reach the program
        return _error(502, "upstream_error", f"The view of {source} failed ({type(error).__name__}).", source, "viewed")
    if viewed is None:
        return refused("not_viewed", f"{exchange.host} had nothing to show at this address then.", source, 404)
    kept = [(name.lower(), value) for name, value in viewed.headers.items() if name.lower() in KEPT_HEADERS]
    verdict: Verdict = "web" if endpoint.is_web else "viewed"
    body = b"" if exchange.method == "HEAD" else viewed.body
    headers = (*kept, ("x-pit-fetch", "viewed"))
    return Answer(viewed.status, headers, body, verdict, source, viewed.kept, viewed.left_out)


def refused(kind: str, message: str, source: str | None = None, status: int = 403) -> Answer:
    """Return the refusal of a request, with the line that names the fix."""
    return _error(status, kind, message, source, "refused")


def views_table(options: ViewOptions = ViewOptions()) -> list[dict[str, str]]:  # noqa: B008
    """Return what is understood, for ``pit_fetch run --views``: rows of ``source host path operation rule``."""
    return [endpoint.row for endpoint in endpoints(options.providers)]


def _failed(source: str, error: UpstreamError) -> Answer:
    # The reason repeats nothing of the source's, and no address.
    status = error.gap.params.get("status")
    return _error(status if isinstance(status, int) else 502, "upstream_error", error.gap.reason, source, "viewed")


def _error(status: int, kind: str, message: str, source: str | None, verdict: Verdict) -> Answer:
    body = json.dumps({"error": {"type": kind, "message": message}}).encode()
    headers = (("content-type", "application/json"), ("x-pit-fetch", verdict))
    return Answer(status, headers, body, verdict, source)


def _viewed(view: View, asked: Asked, pit: datetime) -> _Viewed | None:
    """Return what the program gets; None where the endpoint had no such document then. Raise PitFetchError."""
    if view.document is not None:
        reply = view.document(asked)
        return None if reply is None else _Viewed(reply.status, reply.headers, reply.body, int(reply.status < 400))
    skipped, most = view.page(asked)
    rows, rest, left_out = _public_rows(view, asked, pit, None if most is None else skipped + most)
    total, rows = len(rows), rows[skipped:] if most is None else rows[skipped : skipped + most]
    headers = {"content-type": _TYPES[view.form]}
    if not rows and view.nothing is not None:
        status, nothing = view.nothing
        body = nothing if isinstance(nothing, str) else forms.join("json", nothing, ())
        return _Viewed(status, headers, forms.encoded(body), 0, left_out)
    asked = asked._replace(rest=rest, total=total)
    frame = view.frame(asked, rows) if view.frame else rest if view.form == "csv" else forms.empty(view.rows[0])

    def written(row: Row) -> Row:
        blank = view.blank(row, asked) if callable(view.blank) else view.blank
        return row._replace(text=forms.edited(view.form, row.text, view.fields, blank, rest))

    if view.form == "csv":
        frame = forms.edited("csv", frame, view.fields, {}, rest)
    return _Viewed(200, headers, forms.encoded(forms.join(view.form, frame, map(written, rows))), len(rows), left_out)


def _public_rows(view: View, asked: Asked, pit: datetime, wanted: int | None) -> tuple[list[Row], Any, int]:
    """Return the rows that were public, up to ``wanted``, the rest of the first reply, and how many were left out."""
    rows: list[Row] = []
    rest: Any = None
    left_out, seen = 0, set[tuple[str, str]]()
    replies = _read_replies(view, asked)
    if view.order is not None:
        every = list(replies)
        sort = view.order
        ordered = sorted(((row, dated) for dated, read in every for row in read), key=lambda each: sort(each[0]))
        replies = iter([(dated, [row]) for row, dated in ordered])
        rest = every[0][0].rest if every else None
    for dated, read in replies:
        rest = dated.rest if rest is None else rest
        cutoff = min(pit, dated.received_at or pit)
        found: list[tuple[str, str]] = []
        for row in read:
            record = _record(view, row, dated)
            if record is None or visibility(record, cutoff) != "public":
                left_out += 1
            elif (record.id, row.text) not in seen:  # a page shifts while another one is read
                rows.append(row)
                found.append((record.id, row.text))
        seen.update(found)
        if wanted is not None and len(rows) >= wanted:
            break
    return rows, rest, left_out


def _record(view: View, row: Row, asked: Asked) -> Record | None:
    """Return the record of a row. One that cannot be read, which may be of later, has none: it costs itself alone."""
    try:
        return None if row.value is None else view.record(row, asked)
    except (AttributeError, LookupError, TypeError, ValueError):
        return None


def _read_replies(view: View, asked: Asked) -> Iterator[tuple[Asked, list[Row]]]:
    """Yield the rows of each reply, with the request and the rest of that reply. Raise UpstreamError."""
    replies = view.ask(asked)
    reply, is_first = next(replies, None), True
    while reply is not None:
        if reply.status in _MISSING and is_first and view.nothing is not None:
            return
        if reply.status != 200:
            raise UpstreamError(Code.HTTP_STATUS, host=view.host, status=reply.status)
        rows, rest = forms.split(view.form, forms.decoded(reply.body), view.rows)
        yield asked._replace(rest=rest, received_at=reply.received_at), rows
        is_first = False
        try:
            reply = replies.send(len(rows))
        except StopIteration:
            return
