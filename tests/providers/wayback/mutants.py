"""Leaks of wayback: stamps that are too early, the nearest capture, what a withheld capture uses up, its errors."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from pit_fetch.errors import UpstreamError
from pit_fetch.gaps import Code
from pit_fetch.times import parse_date, parse_http_date
from tests.laws.mutants.leak import Mutant, fails, in_module
from tests.laws.plant import Make

_HERE = "pit_fetch_providers.wayback"
_index, _api = in_module(f"{_HERE}.index"), in_module(f"{_HERE}.api")
_capture, _page = in_module(f"{_HERE}.capture"), in_module(f"{_HERE}.page")
_text = in_module(f"{_HERE}.text")
_WORLDS, _FAILURES, _PARTIAL = (
    ("wayback: non-interference",),
    ("wayback: failures",),
    ("wayback: partial failure",),
)


def _nearest(real: Any) -> Any:
    """Read whatever capture the archive leads to."""

    def read(self: Any, row: Any) -> Any:
        from pit_fetch_providers.wayback import api, capture, index

        found = real(self, row)
        if found is not None:
            return found
        reply = self.context.http.get(api.CAPTURES.name, f"/web/{row.timestamp}id_/{row.url}")
        moment = parse_http_date(reply.header(api.MEMENTO))
        if moment is None:
            return None
        nearest = capture.read_capture(reply, row._replace(captured_at=moment), self.query.options["as"])
        return nearest and nearest._replace(row=row, public_from=index.public_from(row.captured_at))

    return read


def _withheld_counts(real: Any) -> Any:
    def read(self: Any, row: Any) -> Any:
        found = real(self, row)
        if found is not None and (found.public_from is None or found.public_from > self.query.horizon):
            self.tries -= 1
        return found

    return read


def _by_the_stamp_alone(real: Any) -> Any:
    from pit_fetch_providers.wayback.index import public_from

    return lambda reply, row, content: public_from(row.captured_at)


def _first_dates(real: Any) -> Any:
    def head(*given: Any) -> Any:
        content = real(*given)
        return content._replace(stated=tuple(filter(None, (content.published, content.modified))))

    return head


def _a_day_before(real: Any) -> Any:
    def is_after(moment: Any, stated: str) -> Any:
        day = parse_date(stated[:10])
        _before = None if day is None else day - timedelta(days=1)
        return real(moment, stated)

    return is_after


def _what_can_be_read(real: Any) -> Any:
    def proven(reply: Any, row: Any, content: Any) -> Any:
        headers = {
            name: value
            for name, value in reply.headers.items()
            if not name.startswith("x-archive-orig") or parse_http_date(value) is not None
        }
        return real(reply._replace(headers=headers), row, content)

    return proven


def _blocked_is_an_error(real: Any) -> Any:
    def index(context: Any, params: Any) -> Any:
        from pit_fetch_providers.wayback import api

        reply = context.http.get(api.INDEX.name, "/cdx/search/cdx", params)
        if reply.status == 403:
            raise UpstreamError(Code.HTTP_STATUS, host=api.INDEX.name, status=403)
        return real(context, params)

    return index


def _without_a_probe(real: Any) -> Any:
    def fetch(query: Any, context: Any) -> Any:
        from pit_fetch_providers.wayback import page

        yield from page.Search(query, context).show(query.options["url"], None, ())

    return fetch


def _strict(real: Any) -> Any:
    return lambda line: row if (row := real(line)) is not None else fails("a line of the index")


def _counts_early(real: Any) -> Any:
    def indexed(key: Any, recorded: Any, *rest: Any) -> Any:
        operation = recorded.query.operation._replace(
            archiving=recorded.query.operation.archiving._replace(chooses=False)
        )
        return real(key, recorded._replace(query=recorded.query._replace(operation=operation)), *rest)

    return indexed


def _constant(value: Any) -> Make:
    return lambda real: value


def _echoed(real: Any) -> Any:
    return lambda reply, host: real(reply, host._replace(name=reply.body.decode("utf-8", "replace")))


def _returns(value: Any) -> Make:
    return lambda real: lambda *given: value


def _by_status_alone(real: Any) -> Callable[..., Any]:
    def get(client: Any, host: str, *given: Any, **named: Any) -> Any:
        reply = real(client, host, *given, **named)
        if reply.status in (429, 503):
            raise UpstreamError(Code.HTTP_STATUS, host=host, status=reply.status)
        return reply

    return get


MUTANTS = (
    _index("wayback: a capture is public when its request begins", "MARGIN", _constant(timedelta(0)), _WORLDS),
    _page("wayback: the nearest capture takes the place of one", "Search.fetch_capture", _nearest, _WORLDS),
    _capture("wayback: a capture's stamp is always right", "public_instant", _by_the_stamp_alone, _WORLDS),
    _capture(
        "wayback: an unreadable date of the origin counts for nothing", "public_instant", _what_can_be_read, _WORLDS
    ),
    _capture("wayback: a page may be later than its capture", "is_after", _returns(False), _WORLDS),
    _text("wayback: only the first date of a page can be later", "stated_facts", _first_dates, _WORLDS),
    _capture("wayback: a date of the year 1 fails the page", "is_after", _a_day_before, _WORLDS),
    _capture("wayback: any skew of the origin's clock will do", "MOST_SKEW", _constant(timedelta(days=9_999)), _WORLDS),
    _page("wayback: a withheld capture uses up a try", "Search.fetch_capture", _withheld_counts, _WORLDS),
    _page("wayback: captures are asked for only if there are some", "fetch", _without_a_probe, _PARTIAL),
    _api(
        "wayback: a capture that is not compressed as it says is an error", "UNREADABLE_CODES", lambda real: (), _WORLDS
    ),
    _api("wayback: a site that was blocked since is an error", "index", _blocked_is_an_error, _FAILURES),
    _api("wayback: the error's text is echoed", "status_error", _echoed, _FAILURES),
    _index("wayback: an unreadable line fails the index", "parse_row", _strict, _WORLDS),
    Mutant(
        "wayback: an archived 503 is a failure of the archive",
        "pit_fetch.net.client:Client.get",
        _by_status_alone,
        _WORLDS,
    ),
    Mutant(
        "wayback: what a capture chose counts at every instant",
        "pit_fetch.archive.archived:as_indexed",
        _counts_early,
        ("wayback: captured later",),
    ),
    Mutant(
        "wayback: an archive keeps no evidence",
        "pit_fetch.archive.rederive:dating_headers",
        _returns(()),
        ("wayback: archive offline",),
    ),
)
