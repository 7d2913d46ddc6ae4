"""Leaks of views: one for each kind of trace that a reply can keep of what was left out."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from pit_fetch.provider import Asked, HttpReply, View
from tests.laws.mutants.leak import Mutant
from tests.laws.plant import Make

_P = "pit_fetch_providers"


def _each(change: Callable[[View], View]) -> Make:
    """Return the leak that changes every view of a source."""
    return lambda real: tuple(change(view) for view in real)


def _all(asked: Asked) -> tuple[int, None]:
    return 0, None


def _as_asked(asked: Asked) -> Generator[HttpReply, int, None]:
    yield asked.get()


def _with_rest(view: View) -> View:
    """Return a view that keeps what the source says beside the rows."""
    frame = view.frame
    return view if frame is None else view._replace(frame=lambda asked, rows: {**frame(asked, rows), **_beside(asked)})


def _beside(asked: Asked) -> dict[Any, Any]:
    return {name: value for name, value in asked.rest.items() if not isinstance(value, dict)}


def _meta(view: View) -> View:
    frame = view.frame
    return view if frame is None else view._replace(frame=lambda asked, rows: {**frame(asked, rows), **asked.rest})


def _list(name: str, target: str, change: Callable[[View], View], law: str) -> Mutant:
    return Mutant(f"views: {name}", f"{_P}.{target}.views:VIEWS", _each(change), (f"{law}: views",))


MUTANTS = (
    Mutant(
        "views: rows of later pass",
        "pit_fetch.pipeline.select:visibility",
        lambda real: lambda record, cutoff: "public",
        ("bz-news-api: views", "sec_facts: views"),
    ),
    Mutant(
        "views: fields that know later stay",
        "pit_fetch.views.forms:edited",
        lambda real: lambda form, text, fields, blank, header="": text,
        ("sec_facts: views", "alphavantage: views"),
    ),
    Mutant(
        "views: the source's headers pass",
        "pit_fetch.views:KEPT_HEADERS",
        lambda real: (*real, "etag"),
        ("wayback: views", "sec_filings: views"),
    ),
    _list(
        "a page keeps the holes of later rows",
        "bz_news_api",
        lambda view: view._replace(ask=_as_asked, page=_all),
        "bz-news-api",
    ),
    _list("a total counts later rows", "fred", _with_rest, "fred"),
    _list("the source is asked for today", "fred", lambda view: view._replace(ask=_as_asked), "fred"),
    _list("the newest label stays", "alphavantage", _meta, "alphavantage"),
    _list("adjusted closes stay", "alphavantage", lambda view: view._replace(blank={}), "alphavantage"),
    _list("frame stays on the last version of a fact", "sec_facts", lambda view: view._replace(fields=()), "sec_facts"),
    _list("concepts of later filings keep their place", "sec_facts", _meta, "sec_facts"),
    _list("the names of today stay", "sec_filings", _with_rest, "sec_filings"),
    _list(
        "a list ends where its first file does", "sec_filings", lambda view: view._replace(ask=_as_asked), "sec_filings"
    ),
    _list(
        "hits keep the order of today's relevance",
        "sec_full_text",
        lambda view: view._replace(order=None),
        "sec_full_text",
    ),
    _list(
        "hits name companies as they are today", "sec_full_text", lambda view: view._replace(blank={}), "sec_full_text"
    ),
    _list("a stream says how many there are", "yahoo", _with_rest, "yahoo"),
)
