"""Filings of a company with the SEC: what it had filed by an instant, and what the filings say.

A filing counts from its release on, which :mod:`pit_fetch_providers.edgar` proves. No document is read before it is
proved that the filing was public at the horizon.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from pit_fetch.provider import (
    Archiving,
    Basis,
    Caveat,
    Context,
    Dating,
    Gap,
    Listing,
    Operation,
    Option,
    Page,
    Provider,
    Query,
    Record,
    Stage,
)
from pit_fetch.times import parse_date
from pit_fetch_providers import search_terms
from pit_fetch_providers.edgar import client, forms, subject
from pit_fetch_providers.page_text import require_parser
from pit_fetch_providers.sec_filings import documents, holdings, insiders, listing, releases, texts
from pit_fetch_providers.shared import fields, refuse, views_of

_LONGEST_PHRASE = 500
_ACCESSION = re.compile(r"([0-9]{10})-?([0-9]{2})-?([0-9]{6})")
# Items of an 8-K have such numbers since August 2004, and had 1 to 12 before.
_ITEM = re.compile(r"[1-9]\.(?:0[1-9]|1[0-9])|[1-9]|1[0-2]")
_SETTLED = (
    "A filing that was released more than a week after its filing date is left out: a letter, a draft, one whose date "
    "was moved back. filings with forms=UPLOAD,CORRESP finds such letters."
)

_IN_XML = {
    "insiders": "Forms of before mid-2003 are plain text: a row of the kind unread stands for each. Dates in a form "
    "are typed by hand.",
    "holdings": "Reports of before mid-2013 are plain text, and left out. What a manager reports late, elsewhere or "
    "not at all is missing, and no sale: short positions, most bonds, what is held abroad.",
}

Stream = Iterator[Record | Page | Gap]


def _fetching(fetch: Callable[[Query, Context, int], Stream]) -> Callable[[Query, Context], Stream]:
    """Return ``fetch`` for the company that a query names, if there is one."""

    def fetch_company(query: Query, context: Context) -> Stream:
        query = subject.resolve(query, context)
        cik = _cik(query)
        if cik is not None:
            yield from fetch(query, context, cik)

    return fetch_company


def fetch_text(query: Query, context: Context) -> Stream:
    require_parser()
    yield from _fetching(texts.fetch)(query, context)


def parse_text(body: bytes, query: Query) -> Iterator[Record | Gap]:
    require_parser()
    yield from texts.parse_reply(body, query)


def derive(query: Query) -> Stage | None:
    match query.operation.name:
        case "text":
            return texts.derive(query)
        case "holdings":
            return holdings.derive(query)
    return None


def when_empty(query: Query) -> str:
    """Return a hint that depends on the request alone."""
    if query.options["symbol"]:
        return subject.SYMBOLS
    if query.options["accession"] and not query.options["cik"]:
        return "Without cik=, a filing is looked for under whoever submitted it, which often is an agent: give cik=."
    return ""


def _note(query: Query) -> str:
    """Return a note on what later questions of a capture cannot ask: times of day, and the company by its symbol."""
    times = (
        "The SEC's list tells some times of acceptance hours late: to ask about a time of day later, write "
        "exact = true, and ask with exact."
    )
    symbols = subject.WITHOUT_LIST if query.options["cik"] else ""
    return " ".join(filter(None, ["" if query.options["exact"] else times, symbols]))


def _cik(query: Query) -> int | None:
    """Return the number of the company, or of whoever submitted the filing; None for an unlisted symbol."""
    if query.options["cik"] is None and query.options["symbol"] is None:
        return int(query.options["accession"][:10])
    return subject.cik_of(query)


def _normalize(query: Query) -> Query:
    """Return the query in EDGAR's spelling. Raise ConfigError if no company could answer it."""
    options = subject.normalize(query.options)
    subject.check_offline(query)
    options["forms"] = tuple(form.upper() for form in options["forms"] or ()) or None
    if options["cik"] and options["symbol"]:
        refuse(subject.EITHER)
    for name in ("form", "forms"):
        _check_forms(name, options[name])
    if query.operation.name == "text":
        # One spelling of a type, in an archive too.
        options["document"] = documents.normalize_type(options["document"] or documents.PRIMARY)
    if options["accession"]:
        number = _ACCESSION.fullmatch(options["accession"])
        options["accession"] = (
            "-".join(number.groups())
            if number
            else refuse("accession is a filing's number, e.g. 0000320193-25-000057.")
        )
    if len(options["find"] or "") > _LONGEST_PHRASE:
        refuse(f"find takes a phrase of up to {_LONGEST_PHRASE} characters: a part of it finds the same passage.")
    if options["period"]:
        _check_quarter(options["period"])
    query = query._replace(options=options)
    if options["item"]:
        _check_item(query)
    if query.operation.name == "insiders" and not any(insiders.is_wanted(query, form) for form in insiders.FORMS):
        refuse("forms of insiders are 3, 4, 5 and their amendments, e.g. forms=4.")
    return _check_subject(query)


def _check_forms(name: str, value: str | tuple[str, ...] | None) -> None:
    if isinstance(value, str) and (value.startswith("-") or "," in value):
        refuse("form is one form, e.g. form=10-K: filings lists those of several.")
    forms.check(name, [value] if isinstance(value, str) else value or (), "lists")


def _check_item(query: Query) -> None:
    options, is_text = query.options, query.operation.name == "text"
    if not _ITEM.fullmatch(options["item"]):
        refuse("item is the number of an item of an 8-K, e.g. item=2.02; until August 2004 it is one from 1 to 12.")
    if is_text and query.offline:
        refuse("item is in a company's list alone, and in no saved submission: leave it out.")
    named = [options["form"] or ""] if is_text else [form for form in options["forms"] or () if form[0] != "-"]
    if named and not any(form.startswith("8-K") for form in named):
        refuse(f"item is of an 8-K: give {'form' if is_text else 'forms'}=8-K.")


def _check_quarter(period: str) -> None:
    day = parse_date(period)
    nearest = [] if day is None else holdings.nearest_quarters(day)
    if day not in nearest:
        named = " or ".join(end.isoformat() for end in nearest) or "e.g. 2024-03-31"
        refuse(f"period is the last day of a quarter: {named}.")


def _check_subject(query: Query) -> Query:
    """Return the query if it names a company or a filing. Raise ConfigError otherwise."""
    options, is_text = query.options, query.operation.name == "text"
    if query.offline:
        return query
    if is_text and (options["accession"] is None) == (options["form"] is None):
        refuse("text takes either accession=0000320193-25-000057, or form=10-K for the newest one that was public.")
    if options["cik"] is None and options["symbol"] is None and not options["accession"]:
        refuse(subject.EITHER)
    return query


def _caveats(query: Query) -> Iterator[str | Caveat]:
    yield from subject.holder_caveats(query)
    if query.open_mode:
        return
    if not query.offline and query.options["accession"] is None and releases.is_settled(query):
        yield _SETTLED
    if query.operation.name in _IN_XML:
        yield _IN_XML[query.operation.name]


_FILINGS = Operation(
    name="filings",
    fetch=_fetching(listing.fetch),
    parse_reply=listing.parse_reply,
    dating=Dating(
        rule="the release of the filing: an hour after its acceptance, or 09:00 after a night; with exact by when its "
        "file was written",
        why="a filing day is no instant, and filing dates are moved back on request",
        basis=(Basis("filingDate", "day"),),
    ),
    takes=("symbol", "cik", "forms", "item", "exact"),
    fields=(*fields("cik accession form", date="filed", lists="items"), *fields(date="period"),
            *fields("primary_document url")),
    normalize=_normalize,
    caveats=_caveats,
    archiving=Archiving(resolve=subject.resolve, note=_note),
    timeout=180.0,
    search_terms="list index history submissions",
)  # fmt: skip


PROVIDER = Provider(
    views=views_of(__name__),
    name="sec_filings",
    summary="SEC filings of a company: the list of them with the time of each release, texts, insiders, 13F holdings",
    derive=derive,
    when_empty=when_empty,
    hosts=client.HOSTS,
    credentials=(client.USER_AGENT,),
    options=(
        subject.SYMBOL,
        subject.CIK,
        Option(
            "forms",
            "filings, insiders: these forms, with their amendments; -4 excludes one",
            kind="list",
            metavar="10-K,8-K",
            search_terms="type types form-type filing-type",
        ),
        Option("form", "text: the newest filing of exactly this form", metavar="10-K", uppercase=True),
        Option(
            "item",
            "filings, text: only those with this item of an 8-K, such as 2.02 (results)",
            metavar="2.02",
            search_terms="items",
        ),
        Option(
            "accession",
            "text: the filing with this number",
            metavar="NUMBER",
            search_terms="accession-number adsh accn number",
        ),
        Option(
            "document",
            "text: primary (default), or documents of a type, such as EX-99.1",
            metavar="TYPE",
            search_terms="exhibit attachment",
        ),
        Option(
            "find",
            "text: only the passages that hold these words",
            metavar="WORDS",
            affects_records=False,
            search_terms=search_terms.QUERY,
        ),
        Option(
            "period",
            "holdings: for the quarter that ends on this day; without it, for the newest one",
            metavar="2024-03-31",
            search_terms="quarter report-date",
        ),
        Option("exact", "date each filing by its header, and by when it was written: two requests each", kind="flag"),
    ),
    operations=(
        _FILINGS,
        _FILINGS._replace(
            name="text",
            fetch=fetch_text,
            parse_reply=parse_text,
            takes=("symbol", "cik", "form", "item", "accession", "document", "find", "exact"),
            fields=(*fields("accession form document url", lists="items", integer="position"), *fields("text")),
            window="",
            archiving=_FILINGS.archiving._replace(chooses=True, chooses_unless=("accession",)),
            search_terms="document read content exhibit press release",
        ),
        _FILINGS._replace(
            name="insiders",
            fetch=_fetching(insiders.fetch),
            parse_reply=insiders.parse_reply,
            takes=("symbol", "cik", "forms", "exact"),
            fields=insiders.FIELDS,
            search_terms="insider transactions ownership form4 trades",
        ),
        _FILINGS._replace(
            name="holdings",
            fetch=_fetching(holdings.fetch),
            parse_reply=holdings.parse_reply,
            takes=("symbol", "cik", "period", "exact"),
            fields=holdings.FIELDS,
            window="",
            archiving=_FILINGS.archiving._replace(chooses=True, chooses_unless=("period",)),
            search_terms="13f institutional positions portfolio managers",
        ),
    ),
    page_size=1_000,
    listing=Listing(("selectolax",), "edgar filing submissions 10-k 10-q 8-k"),
    help="""filings lists what a company had filed, newest release first; an amendment comes with its form.
text serves one filing: by accession, or the newest one of a form that was public at the PIT.
document=EX-99.1 is an exhibit by its number: form=8-K item=2.02 document=EX-99.1 is the last earnings
release. The newest filing that has one is served, and a gap tells of newer ones without. A long text is
continued with --after. find="going concern" serves passages in its place.
insiders serves the rows of Forms 3, 4 and 5, by the company's number or by the insider's own; holdings
the book of a manager for a quarter, as far as it was public, amendments applied, in dollars.
""",
)
