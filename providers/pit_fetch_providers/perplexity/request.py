"""The requests that make sense to Perplexity, and the bodies that carry them. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from pit_fetch.errors import UsageError
from pit_fetch.gaps import Code
from pit_fetch.provider import Query
from pit_fetch.times import parse_date
from pit_fetch_providers.shared import refuse

# The Agent API's names for how much effort a model makes (migration guide: sonar is fast, sonar-reasoning-pro
# medium, sonar-deep-research high).
PRESETS: Mapping[str, str] = {"ask": "fast", "reason": "medium", "research": "high"}
# The highest effort reads dozens of pages and takes minutes; the others answer within the usual time.
SECONDS: Mapping[str, float] = {"research": 480.0}
MOST_QUERIES, MOST_RESULTS, MOST_DOMAINS = 5, 20, 20

# A domain, a part of one, or a host with the beginning of a path; another form would match no page.
_DOMAIN = re.compile(r"-?\.?\w[\w-]*(?:\.[\w-]+)*(?:/\S*)?")

# A day is over everywhere on Earth at 12:00 UTC of the next one.
HALF_A_DAY, DAY = timedelta(hours=12), timedelta(days=1)

Body = Mapping[str, Any]


def day(text: str) -> str:
    """Return the value of --after-date. Raise UsageError."""
    if parse_date(text) is None:
        raise UsageError(Code.USAGE, text="--after-date is YYYY-MM-DD")
    return text


def check_query(query: Query) -> Query:
    """Return the query if Perplexity can answer it. Raise ConfigError otherwise."""
    options, name = query.options, query.operation.name
    queries = options["query"] or ()
    if len(queries) > (MOST_QUERIES if name == "search" else 1):
        most = f"up to {MOST_QUERIES} queries" if name == "search" else "one query"
        refuse(f"{name} takes {most}: give --query {'less often' if name == 'search' else 'once'}.")
    if options["max_results"] > MOST_RESULTS:
        refuse(f"--max-results is at most {MOST_RESULTS}.")
    if len(options["domains"] or ()) > MOST_DOMAINS:
        refuse(f"--domains takes up to {MOST_DOMAINS} domains.")
    if not all(_DOMAIN.fullmatch(name) for name in options["domains"] or ()):
        refuse("--domains takes names such as sec.gov, .gov or example.com/news, without https:// and without *.")
    if options["recency"] and not query.open_mode:
        refuse("--recency counts back from now: with --pit, use --after-date or --date-from.")
    if options["recency"] and options["after_date"]:
        refuse("--recency and --after-date exclude each other: leave one out.")
    return query


def last_day(query: Query) -> date | None:
    """Return the last day that was over everywhere at the PIT (and at --date-to); None in open mode, or without one.

    A cursor does not narrow it: a narrower search would find other pages, and not continue this one.
    """
    if query.pit is None:
        return None
    try:
        return (min(query.now, query.started, query.until or query.now) - HALF_A_DAY).date() - DAY
    except OverflowError:
        return None


def search(query: Query, last: date | None) -> Body:
    """Return the body for the Search API."""
    options = query.options
    queries = options["query"]
    body = {"query": queries[0] if len(queries) == 1 else list(queries), "max_results": options["max_results"]}
    if options["mode"]:
        body["search_mode"] = options["mode"]
    return {**body, **_filters(query, last)}


def agent(query: Query, last: date | None) -> Body:
    """Return the body for the Agent API, in which searching is a tool that has to be named."""
    tool: dict[str, Any] = {"type": "web_search"}
    filters = _filters(query, last)
    if filters:
        tool["filters"] = filters
    return {"preset": PRESETS[query.operation.name], "input": query.options["query"][0], "tools": [tool]}


def _filters(query: Query, last: date | None) -> dict[str, Any]:
    """Return the filters of the search. Both dates end with ``last``, so that no later page takes a place.

    Whether "before" includes the day itself is not documented: if it does not, pages of that day are missing.
    """
    options = query.options
    filters: dict[str, Any] = {}
    if options["domains"]:
        filters["search_domain_filter"] = list(options["domains"])
    if options["after_date"]:
        filters["search_after_date_filter"] = spelled(date.fromisoformat(options["after_date"]))
    if options["recency"]:
        filters["search_recency_filter"] = options["recency"]
    if last is not None:
        filters["search_before_date_filter"] = spelled(last)
        if not query.accepts_claims:  # by a claim a page counts from its date, whenever it was updated
            filters["last_updated_before_filter"] = spelled(last)
    return filters


def spelled(day: date) -> str:
    return f"{day.month}/{day.day}/{day.year}"
