"""Wikipedia: the text of an article as it stood at an instant, and the revisions that it had.

A revision cannot be changed, so its time is a proof: ``available_at`` is a minute after it. But a title resolves to the
page that has it today. Which page had it then is shown by the log of moves and by the page's own revisions since; what
that does not show is not served.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha1
from itertools import islice
from typing import Any

from pit_fetch.errors import UpstreamError
from pit_fetch.gaps import Code
from pit_fetch.paging import follow
from pit_fetch.provider import (
    Archiving,
    Basis,
    Context,
    Dating,
    Field,
    Listing,
    Operation,
    Option,
    Page,
    Provider,
    Query,
    Record,
    Stage,
)
from pit_fetch.wire import lenient_json
from pit_fetch_providers.shared import CONTACT, UNREADABLE, fields, refuse, views_of, with_a_pit
from pit_fetch_providers.wikipedia import api, history, titles, wikitext
from pit_fetch_providers.wikipedia.history import Revision

_PAGE_SIZE = 500
# The year of the first article.
_FIRST = datetime(2001, 1, 1, tzinfo=UTC)
_MOST_REDIRECTS = 3
_HINDSIGHT = (
    "Wikipedia shows what it holds on the day of the fetch: deleted pages and hidden revisions are missing. A page "
    f"that was moved to the title later is left out if one of its first {history.MOST_LATER:,} revisions after the PIT "
    "shows it, and a revision that was imported later if its number does."
)
_FILE = " A saved reply does not show which page had the title at the PIT, and what was imported."


def fetch_revisions(query: Query, context: Context) -> Iterator[Page]:
    """Yield the revisions of the page. Raise UpstreamError."""
    if query.horizon <= _FIRST:
        return
    place, until, now = _find_page(query, context), _stamped_by(query.horizon), _stamped_by(query.now)
    later = list(place.later)
    if until < now:  # a cursor or --date-to leaves out the newer ones, whose numbers show what is imported
        later += history.following(context, place, until, now)
    numbers = history.Numbers(later, place.lowest)

    def page(after: str) -> tuple[list[Record], str | None]:
        found = history.revisions(context, place, until, _PAGE_SIZE, after)
        return [_list_revision(query, place.pageid, revision, numbers) for revision in found.rows], found.further

    yield from follow(page, "", newest_first=True)


def _find_page(query: Query, context: Context) -> history.Place:
    """Return the page that had the title at the PIT; one without a number if there is none."""
    title, until = query.options["title"], _stamped_by(query.now)
    place = history.locate(context, title, until)
    newest, _ = history.newest(context, place, until)
    return place if place.had_title(title, newest) else place._replace(pageid=0)


def fetch_article(query: Query, context: Context) -> Iterator[Record]:
    """Yield the revision that stood, or what it redirected to, known since both were there. Raise UpstreamError."""
    wikitext.require_parser()
    if query.now <= _FIRST:
        return
    title: str | None = query.options["title"]
    found, path = list[Record](), list[str]()
    while title is not None and title not in path and len(path) <= _MOST_REDIRECTS:
        path.append(title)
        standing = standing_revision(query, context, title)
        if standing is None:
            break
        pageid, revision, public = standing
        public = max(public, found[-1].available_at or public) if found else public
        found.append(_article_record(query, pageid, revision, title, public))
        title = titles.normalized_or_none(wikitext.redirect_target(revision.text or "") or "")
    yield from found[-1:]


def standing_revision(query: Query, context: Context, title: str) -> tuple[int, Revision, datetime] | None:
    """Return the page that had ``title``, its revision that stood, and since when that was public."""
    until = _stamped_by(query.now)
    place = history.locate(context, title, until)
    revision, further = history.newest(context, place, until, text=True)
    if not place.had_title(title, revision):
        return None
    numbers = history.Numbers(place.later, place.lowest)
    while revision is not None and numbers.is_imported(revision) and further is not None:
        revision, further = history.newest(context, place, until, further, text=True)
    if revision is None or revision.sha1 is None or revision.text is None or numbers.is_imported(revision):
        return None
    if sha1(revision.text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest() != revision.sha1:
        raise UpstreamError(Code.MALFORMED, problem="a text is not that of its revision")
    return place.pageid, revision, revision.at + history.MARGIN


def parse_reply(body: bytes, query: Query) -> Iterator[Record]:
    """Yield the revisions in a saved reply of the API. Raise UpstreamError."""
    document = lenient_json(body, 5)
    result = document.get("query") if isinstance(document, dict) else None
    if not isinstance(result, dict) or not isinstance(result.get("pages"), list):
        raise UpstreamError(Code.MALFORMED, problem="it has no pages (formatversion=2)")
    for pageid, revision in history.saved_revisions(result):
        if query.operation.name == "revisions" or revision is None or revision.sha1 is None:
            yield _list_revision(query, pageid, revision, history.Numbers())
        elif revision.text is not None:
            wikitext.require_parser()
            yield _article_record(query, pageid, revision, None, revision.at + history.MARGIN)


def _stamped_by(moment: datetime) -> datetime:
    """Return the latest stamp of a revision that counts as public at ``moment``."""
    return moment - history.MARGIN


def _article_record(query: Query, pageid: int, revision: Revision, title: str | None, public: datetime) -> Record:
    source = revision.text or ""
    code = wikitext.parse(source)
    text = source if query.options["as"] == "wikitext" else wikitext.plain_text(code)
    identity = {"title": title, "pageid": pageid, "revision": revision.revid}
    return _record(query, public, identity, revision, {"links": wikitext.links(code), "text": text})


def _list_revision(query: Query, pageid: int, revision: Revision | None, numbers: history.Numbers) -> Record:
    is_imported = revision is not None and numbers.is_imported(revision)
    if revision is None or revision.sha1 is None:  # hidden, which is absence and nothing more
        return UNREADABLE
    identity = {"pageid": pageid, "revision": revision.revid, "parent": revision.parentid}
    details = {
        "size": revision.size,
        "comment": revision.comment or "",
        "is_minor": revision.is_minor,
        "sha1": revision.sha1,
    }
    return _record(query, None if is_imported else revision.at + history.MARGIN, identity, revision, details)


def _record(
    query: Query, public: datetime | None, identity: dict[str, Any], revision: Revision, details: dict[str, Any]
) -> Record:
    language = query.options["lang"]
    url = f"https://{language}.wikipedia.org/w/index.php?oldid={revision.revid}"
    payload = {**identity, "edited_at": history.spelled(revision.at), "url": url, **details}
    return Record(f"{language}:{identity['pageid']}@{revision.revid}", public, payload)


def derive(query: Query) -> Stage | None:
    """Return the stage that keeps the newest revision: of all that an archive holds, one stood."""
    return (lambda records: islice(records, 1)) if query.operation.name == "article" else None


def _normalize(query: Query) -> Query:
    if query.options["title"] is None:
        return query
    title = titles.parse_title(query.options["title"])
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
    fetch=fetch_article,
    parse_reply=parse_reply,
    dating=Dating(
        rule="a minute after the time of the revision",
        why="a revision is never changed, and is stamped seconds before others see it",
        basis=(Basis("timestamp", after=timedelta(minutes=1)),),
    ),
    needs=("title",),
    takes=("lang", "as"),
    fields=(*fields("title", integer="pageid revision", instant="edited_at"), *fields("url links text")),
    window="",
    archiving=Archiving(chooses=True),
    normalize=_normalize,
    caveats=_caveats,
    search_terms="page text extract summary content",
)


PROVIDER = Provider(
    views=views_of(__name__),
    name="wikipedia",
    summary="Wikipedia: articles as they stood, in any language, and their revisions",
    aliases=("wiki",),
    derive=derive,
    when_empty=when_empty,
    hosts=(api.HOST,),
    credentials=(CONTACT,),
    options=(
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
            fetch=fetch_revisions,
            takes=("lang",),
            fields=(
                *fields(integer="pageid revision parent size", instant="edited_at"),
                *fields("url comment sha1"),
                Field("is_minor", "flag"),
            ),
            window="available_at",
            search_terms="history edits changes",
        ),
    ),
    page_size=_PAGE_SIZE,
    listing=Listing(("mwparserfromhell",), "encyclopedia mediawiki wikimedia"),
    help="""\
article serves the revision that stood at the PIT, along the redirects of then; revisions lists those that
there were by then. A long text is continued with --after. There is no search: it would rank by today's text.
""",
)
