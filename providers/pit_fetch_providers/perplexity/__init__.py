"""Perplexity: pages that its search finds (``POST /search``), and answers of its models (``POST /v1/agent``).

A page is dated by the later of ``date`` and ``last_updated``. Perplexity serves the page as it reads now:
``date`` alone shows nothing (a page of 2001 was recorded with a text of 2026). An answer is written by a model
that knows what came later, so with a PIT it is never served; the pages that it cites are.
"""

from __future__ import annotations

from collections.abc import Iterator

from pit_fetch.provider import (
    Archiving,
    Bearer,
    Context,
    Credential,
    Dating,
    Host,
    HttpReply,
    Listing,
    Operation,
    Option,
    Provider,
    Query,
    Rate,
    Record,
)
from pit_fetch_providers import search_terms
from pit_fetch_providers.perplexity import pages, request
from pit_fetch_providers.shared import error_document, fields, key_refused, refuse, status_error, views_of, with_a_pit

# Both are one host. The Search API takes 50 requests a second, the Agent API 50 a minute from a new account
# (documentation), so each is counted by itself.
SEARCH = Host(
    "Perplexity",
    "https://api.perplexity.ai",
    "PIT_FETCH_PERPLEXITY_URL",
    Rate(50, 1, "perplexity-search"),
    Bearer("key"),
)
AGENT = SEARCH._replace(name="Perplexity's Agent API", rate=Rate(50, 60, "perplexity-agent"))
KEY = Credential(
    name="key",
    variables=("PERPLEXITY_API_KEY",),
    hint="Keys come from https://console.perplexity.ai.",
)

_DATED = "12:00 UTC of the day after the later of date and last_updated; both are needed"
_WHY = "both are days in a zone that is not documented, and the text is that of the last update (recorded)"
_ENGINE = "Which pages are found is the choice of a search engine, which knows what came after the PIT. "
_MODEL = "Which pages are cited is the choice of a model, which knows what came after the PIT. "
_DATES = "When a page was published and last changed is what Perplexity says of it."


def ask_search(context: Context, body: request.Body) -> bytes:
    """Return the reply of the Search API. Raise UpstreamError and ConfigError."""
    return _checked(context.http.post(SEARCH.name, "/search", body, repeatable=True), SEARCH).body


def ask_agent(context: Context, body: request.Body) -> HttpReply:
    """Return the reply of the Agent API, which costs money, so it is requested once. Raise like :func:`ask_search`."""
    return _checked(context.http.post(AGENT.name, "/v1/agent", body), AGENT)


def _checked(reply: HttpReply, host: Host) -> HttpReply:
    if reply.status == 200:
        return reply
    if reply.status == 401:
        raise key_refused(host, KEY)
    if reply.status == 403 and _kind(reply).endswith("_not_available"):
        # The chat endpoint answers like this since September 2026, with a valid key (recorded).
        refuse(f"{host.name} has retired this endpoint: look for a newer version of this program.")
    raise status_error(reply, host)


def _kind(reply: HttpReply) -> str:
    error = error_document(reply).get("error")
    return str(error.get("type", "")) if isinstance(error, dict) else ""


def fetch_search(query: Query, context: Context) -> Iterator[Record]:
    last = request.last_day(query)
    if query.open_mode or last is not None:
        yield from pages.parse_search(ask_search(context, request.search(query, last)))


def fetch_answer(query: Query, context: Context) -> Iterator[Record]:
    """Yield an answer and the pages that it cites."""
    last = request.last_day(query)
    if query.open_mode or last is not None:
        reply = ask_agent(context, request.agent(query, last))
        yield from pages.parse_answer(reply.body, query, reply.received_at)


def select(query: Query, record: Record) -> bool:
    """Return whether a page passes the filters that its own fields can decide; an answer does."""
    if record.at_receipt:
        return True
    domains, after = query.options["domains"], query.options["after_date"]
    if domains and not pages.is_on(record.id, domains):
        return False
    published = record.payload["date"]
    return after is None or published is None or published >= after


def when_empty(query: Query) -> str:
    """Return the hint that updated pages are withheld; it depends on the request alone."""
    if query.open_mode or query.accepts_claims:
        return ""
    return "Perplexity serves pages as they read now, so with --pit all pages that were updated since are withheld."


_PAGE = fields("url title snippet", date="date last_updated", required="title snippet")
_SEARCH = Operation(
    name="search",
    fetch=fetch_search,
    parse_reply=lambda body, query: pages.parse_search(body),
    dating=Dating(
        rule=_DATED,
        why=_WHY,
        claims="12:00 UTC of the day after date; the text is that of the last update (80 of 108 recorded pages were "
        "updated after their date; one of 2001 has a text of 2026)",
    ),
    needs=("query",),
    takes=("max_results", "mode", "domains", "after_date", "recency"),
    fields=_PAGE,
    period="date",
    archiving=Archiving(reach="some"),
    caveats=with_a_pit(_ENGINE + _DATES),
    normalize=request.check_query,
)
_ANSWER = _SEARCH._replace(
    fetch=fetch_answer,
    parse_reply=lambda body, query: pages.parse_answer(body, query, query.started),
    dating=_SEARCH.dating._replace(
        rule="pages that it cites: as in search; the answer itself is never served with --pit",
        why="a model writes it now, and knows what came later",
    ),
    takes=("domains", "after_date", "recency"),
    # An answer has none of a page's fields, and a page none of an answer's.
    fields=(*fields("record_type answer", lists="citations"), *(field._replace(is_required=False) for field in _PAGE)),
    caveats=with_a_pit(_MODEL + _DATES),
)


PROVIDER = Provider(
    views=views_of(__name__),
    name="perplexity",
    summary="Perplexity: pages of the web, of science and of the SEC; without --pit also its models' answers",
    aliases=("pplx",),
    select=select,
    when_empty=when_empty,
    hosts=(SEARCH, AGENT),
    credentials=(KEY,),
    options=(
        Option(
            "query",
            "what to look for; search: up to five times",
            metavar="TEXT",
            repeatable=True,
            search_terms=search_terms.QUERY,
        ),
        Option("max_results", "search: how many pages to ask for, up to 20", kind="integer", default=20),
        Option("mode", "search: where to look (default web)", choices=("web", "academic", "sec"), metavar="MODE"),
        Option("domains", "pages of these domains only; -example.com excludes one", kind="list", metavar="sec.gov"),
        Option("after_date", "pages first published on or after this day", metavar="YYYY-MM-DD", parse=request.day),
        Option(
            "recency",
            "only pages this recent; not with --pit",
            choices=("hour", "day", "week", "month", "year"),
            metavar="SPAN",
        ),
    ),
    operations=(
        _SEARCH,
        *(_ANSWER._replace(name=name, timeout=request.SECONDS.get(name, _ANSWER.timeout)) for name in request.PRESETS),
    ),
    page_size=request.MOST_RESULTS * request.MOST_QUERIES,
    listing=Listing(search_terms="web sonar"),
    help="""\
search finds pages; ask, reason and research have a model search and answer (low to high effort). With
--pit, an answer is never served, only the pages that it cites. A page counts from the later of its date
and its last update, since its text is that of the last update: most pages of an old PIT are withheld.
""",
)
