"""Wikipedia: the text of an article as it stood at an instant, and the revisions that it had.

A revision cannot be changed, so its time is a proof: ``available_at`` is a minute after it. But a title resolves to the
page that has it today. Which page had it then is shown by the log of moves and by the page's own revisions since; what
that does not show is not served.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, NamedTuple

from pit_fetch.gaps import Code
from pit_fetch.paging import follow, newest_first
from pit_fetch.provider import (
    Basis,
    Context,
    Field,
    Operation,
    Option,
    Page,
    Provider,
    Query,
    Record,
    Stage,
    UpstreamError,
)
from pit_fetch.wire import lenient_json
from pit_fetch_providers.shared import CONTACT, UNREADABLE, fields, refuse, with_a_pit
from pit_fetch_providers.wikipedia import api, history, titles, wikitext
from pit_fetch_providers.wikipedia.history import Revision

_PAGE_SIZE = 500
# The year of the first article.
_FIRST = datetime(2001, 1, 1, tzinfo=UTC)
_MOST_REDIRECTS = 3
_HINDSIGHT = (
    "Wikipedia shows what it holds {now}: deleted pages and hidden revisions are missing. A page that was moved to the "
    f"title later is left out if one of its first {history.MOST_LATER:,} revisions after the PIT shows it, and a "
    "revision that was imported later if its number does."
)
_FILE = " A saved reply does not show which page had the title at the PIT, and what was imported."


def fetch(query: Query, context: Context) -> Iterator[Record | Page]:
    """Yield the article as it stood, or the revisions of its page. Raise UpstreamError."""
    if query.operation.name == "article":
        wikitext.require()
        if query.now <= _FIRST:
            return
        yield from _article(_Question(query, context), query.options["title"], None, ())
        return
    if query.horizon <= _FIRST:
        return
    place, until = _place(query, context), _until(query.horizon)
    later = list(place.later)
    if (
        query.horizon < query.now
    ):  # a cursor or --date-to leaves out the newer ones, whose numbers show what is imported
        later += history.following(context, place, until, _until(query.now))
    numbers = history.Numbers(later, place.lowest)

    def page(after: str) -> tuple[list[Record], str | None]:
        found = history.revisions(context, place, until, _PAGE_SIZE, after)
        return [_listed(query, place.pageid, revision, numbers) for revision in found.rows], found.further

    yield from follow(page, "", newest_first)


def _place(query: Query, context: Context) -> history.Place:
    """Return the page that had the title at the PIT; one without a number if there is none."""
    title, until = query.options["title"], _until(query.now)
    place = history.locate(context, title, until)
    newest, _ = history.newest(context, place, until)
    return place if place.had_title(title, newest) else place._replace(pageid=0)


class _Question(NamedTuple):
    query: Query
    context: Context


def _article(
    question: _Question, title: str, reached_at: datetime | None, path: tuple[str, ...]
) -> Generator[Record, None, bool]:
    """Yield the revision that stood, or what it redirects to. Return whether there is one.

    ``path`` holds the titles whose redirects led here, known since ``reached_at``.
    """
    query, context = question
    until, path = _until(query.now), (*path, title)
    place = history.locate(context, title, until)
    revision, further = history.newest(context, place, until, text=True)
    if not place.had_title(title, revision):
        return False
    numbers = history.Numbers(place.later, place.lowest)
    while revision is not None and (public := _public_from(revision, numbers)) is None:
        if further is None:
            return False
        revision, further = history.newest(context, place, until, further, text=True)
    if revision is None or revision.sha1 is None or revision.text is None or public is None:
        return False
    _check(revision)
    public = public if reached_at is None else max(reached_at, public)
    target = titles.normalized_or_none(wikitext.redirect_of(revision.text) or "")
    if target is not None and target not in path and len(path) <= _MOST_REDIRECTS:
        is_shown = yield from _article(question, target, public, path)
        if is_shown:
            return True
    yield _record(query, place.pageid, revision, title, public)
    return True


def read(body: bytes, query: Query) -> Iterator[Record]:
    """Yield the revisions in a saved reply of the API. Raise UpstreamError."""
    document = lenient_json(body, 5)
    result = document.get("query") if isinstance(document, dict) else None
    if not isinstance(result, dict) or not isinstance(result.get("pages"), list):
        raise UpstreamError(Code.MALFORMED, problem="it has no pages (formatversion=2)")
    for pageid, revision in history.read(result):
        if revision is None or revision.sha1 is None:
            yield UNREADABLE
        elif query.operation.name == "revisions":
            yield _listed(query, pageid, revision, history.Numbers())
        elif revision.text is not None:
            wikitext.require()
            yield _record(query, pageid, revision, None, _public_from(revision, history.Numbers()))


def _until(moment: datetime) -> datetime:
    return moment - history.MARGIN


def _public_from(revision: Revision, numbers: history.Numbers) -> datetime | None:
    """Return when a revision counts as public; None if it was entered later than it is stamped."""
    return None if numbers.is_imported(revision) else revision.at + history.MARGIN


def _check(revision: Revision) -> None:
    from hashlib import sha1

    own = sha1((revision.text or "").encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()
    if own != revision.sha1:
        raise UpstreamError(Code.MALFORMED, problem="a text is not that of its revision")


def _record(query: Query, pageid: int, revision: Revision, title: str | None, public: datetime | None) -> Record:
    source = revision.text or ""
    code = wikitext.parse(source)
    payload = {
        "title": title,
        "pageid": pageid,
        "revision": revision.revid,
        **_common(query, revision),
        "links": wikitext.links(code),
        "text": source if query.options["as"] == "wikitext" else wikitext.plain(code),
    }
    return Record(f"{query.options['lang']}:{pageid}@{revision.revid}", public, "provider_metadata", payload)


def _listed(query: Query, pageid: int, revision: Revision | None, numbers: history.Numbers) -> Record:
    public = None if revision is None else _public_from(revision, numbers)
    if revision is None or revision.sha1 is None:  # hidden, which is absence and nothing more
        return UNREADABLE
    payload = {
        "pageid": pageid,
        "revision": revision.revid,
        "parent": revision.parentid,
        **_common(query, revision),
    }
    payload |= {
        "size": revision.size,
        "comment": revision.comment or "",
        "is_minor": revision.is_minor,
        "sha1": revision.sha1,
    }
    return Record(f"{query.options['lang']}:{pageid}@{revision.revid}", public, "provider_metadata", payload)


def _common(query: Query, revision: Revision) -> dict[str, Any]:
    url = f"https://{query.options['lang']}.wikipedia.org/w/index.php?oldid={revision.revid}"
    return {"edited_at": revision.at.strftime("%Y-%m-%dT%H:%M:%SZ"), "url": url}


def derive(query: Query) -> Stage | None:
    return _newest if query.operation.name == "article" else None


def _newest(records: Iterable[Record]) -> Iterator[Record]:
    return islice(records, 1)


def _understood(query: Query) -> Query:
    if query.options["title"] is None:
        return query
    title = titles.read(query.options["title"])
    if title.language and title.language != query.options["lang"]:
        refuse(f"the address is of another Wikipedia: give lang={title.language}.")
    return query._replace(options={**query.options, "title": title.text})


def when_empty(query: Query) -> str:
    """Return how a title and a language are written; from the request alone."""
    return "A title is an article's, such as Apple Inc., and lang the code of its Wikipedia, such as en, de or zh."


def _caveats(query: Query) -> Iterable[str]:
    return with_a_pit(_HINDSIGHT + (_FILE if query.offline else ""))(query)


_ARTICLE = Operation(
    name="article",
    rule="a minute after the time of the revision",
    why="a revision is never changed, and is stamped seconds before others see it",
    needs=("title",),
    takes=("lang", "as"),
    fields=(*fields("title", integer="pageid revision", instant="edited_at"), *fields("url links text")),
    window=None,
    chooses=True,
    basis=(Basis("timestamp", after=timedelta(minutes=1)),),
    normalize_query=_understood,
    caveats=_caveats,
    search_terms="page text extract summary content",
)

PROVIDER = Provider(
    name="wikipedia",
    summary="Wikipedia: articles as they stood, in any language, and their revisions",
    aliases=("wiki",),
    fetch=fetch,
    parse_reply=read,
    derive=derive,
    when_empty=when_empty,
    hosts=(api.HOST,),
    credentials=(CONTACT,),
    options=(
        Option(
            "op",
            "article or revisions",
            choices=("article", "revisions"),
            default="article",
            positional="one",
            metavar="OP",
        ),
        Option(
            "title",
            "the article's title, or its address",
            metavar="TITLE",
            parse=titles.parse,
            search_terms="page name article url query",
        ),
        Option(
            "lang",
            "the language of the Wikipedia",
            default="en",
            metavar="en",
            parse=titles.language,
            search_terms="language wiki locale",
        ),
        Option(
            "as",
            "article: the form of its text",
            choices=("text", "wikitext"),
            default="text",
            search_terms="form output style",
        ),
    ),
    operations=(
        _ARTICLE,
        _ARTICLE._replace(
            name="revisions",
            takes=("lang",),
            fields=(
                *fields(integer="pageid revision parent size", instant="edited_at"),
                *fields("url comment sha1"),
                Field("is_minor", "flag"),
            ),
            window="",
            search_terms="history edits changes",
        ),
    ),
    page_size=_PAGE_SIZE,
    packages=("mwparserfromhell",),
    agents=("wikipedia",),
    search_terms="encyclopedia mediawiki wikimedia",
    help="""\
article serves the revision that stood at the PIT, along the redirects of then; revisions lists those that
there were by then. A long text is continued with --after. There is no search: it would rank by today's text.
""",
)
