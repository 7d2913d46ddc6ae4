"""EDGAR full-text search: filings that mention something, with the instant at which each became public.

The search gives a filing date, which proves nothing: :mod:`.evidence` decides what does, by the rules of
:mod:`pit_fetch_providers.edgar`, and :mod:`.schedule` has the order in which they are applied.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, time
from typing import Any

from pit_fetch.gaps import Code
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
    Provider,
    Query,
    Record,
    Watermark,
    gap,
)
from pit_fetch.times import NEW_YORK
from pit_fetch_providers import search_terms, symbols
from pit_fetch_providers.edgar import client, companies, forms
from pit_fetch_providers.edgar.archive import Archive
from pit_fetch_providers.edgar.daily_index import Listed
from pit_fetch_providers.sec_full_text import evidence, filings, schedule, search
from pit_fetch_providers.sec_full_text.evidence import Evidence
from pit_fetch_providers.sec_full_text.filings import Filing, Filter
from pit_fetch_providers.shared import UNREADABLE, new_york_day, refuse, views_of


def fetch(query: Query, context: Context) -> Iterator[Record | Gap | Watermark]:
    """Yield the filings of the window, slice by slice."""
    query = resolve(query, context)
    options = query.options
    if options["ciks"] == ():
        return
    wanted = _filter(query)
    if max(wanted.first, search.FIRST_DAY) > wanted.last:
        return
    parameters = search.parameters(options["query"], wanted.forms, wanted.ciks, options["entity"])
    ordered = _is_ordered(query)
    archive, public_by = Archive(context, query.started, options["exact"]), min(query.now, query.started)
    release_evidence = Evidence(
        archive=archive,
        public_by=public_by,
        today=new_york_day(public_by),
        open_mode=query.open_mode,
        exact=options["exact"],
        ordered=ordered,
    )

    def record(filing: Filing | None, listed: Listed | None) -> Record | None:
        if filing is None:
            return UNREADABLE
        release = release_evidence.release_of(filing, listed)
        is_to_come = release_evidence.is_to_come(filing, release)
        return None if is_to_come else filings.record(filing, release, query.open_mode)

    parts = search.slices(context, parameters, wanted.first, wanted.last, query.open_mode)
    slices = (part if isinstance(part, Gap) else _days(part, wanted) for part in parts)
    stream = schedule.newest_first(slices, release_evidence, record, query.limit)
    yield from stream if query.open_mode else _check_host_first(stream, archive)


def _check_host_first(
    stream: Iterable[Record | Gap | Watermark], archive: Archive
) -> Iterator[Record | Gap | Watermark]:
    """Yield ``stream``. Before its first record, or its end, raise UpstreamError if the archive's host fails."""
    for part in stream:
        if not isinstance(part, Gap):
            archive.check_host()
        yield part
    archive.check_host()


def resolve(query: Query, context: Context) -> Query:
    """Return the query with the numbers of its companies in the place of their tickers. Raise UpstreamError."""
    if not query.options["tickers"]:
        return query
    listed = companies.ciks_of(query.options["tickers"], context, must_be_listed=query.capture)
    ciks = tuple(map(str, sorted({*_ciks(query), *listed})))
    return query._replace(options={**query.options, "tickers": None, "ciks": ciks})


def select(query: Query, record: Record) -> bool:
    """Return whether a filing passes the filters. Its companies are compared once tickers are numbers.

    A cursor ends nothing here: an archive may have seen a filing before the day that it is filed under.
    """
    payload, wanted = record.payload, _filter(query._replace(horizon=query.now))
    is_named = bool(query.options["tickers"]) or query.options["ciks"] is None
    of_company = is_named or not wanted.ciks.isdisjoint(map(int, payload["ciks"]))
    is_filed = wanted.is_filed(date.fromisoformat(payload["filed"]))
    return of_company and is_filed and forms.is_wanted(payload["form"], wanted.forms)


def parse_reply(body: bytes, query: Query) -> Iterator[Record | Gap]:
    """Yield the filings of one saved reply. It does not show a release, so with a PIT all of them are undated."""
    if query.options["tickers"]:
        refuse("--tickers needs the network: with --input-file, use --ciks.")
    wanted = _filter(query)
    page = search.parse(body)
    if query.open_mode and (page.capped or len(page.hits) < page.total):
        yield gap(Code.PARTIAL_FILE, held=len(page.hits), total=page.total)
    for filing in _wanted(page.hits, wanted):
        if filing is None:
            yield UNREADABLE
        else:
            yield filings.record(filing, evidence.filing_date_release(filing, query.open_mode), query.open_mode)


def _is_ordered(query: Query) -> bool:
    """Return whether the search goes back from the PIT and may end early; the request alone decides.

    Filings listed under their filing date follow the order of the slices. A header may show a release at any later
    time, so if headers count, the order is known only at the end.
    """
    return not query.options["exact"] and (query.open_mode or forms.all_ordinary(_forms(query)))


def name_caveats(query: Query) -> Iterator[Caveat]:
    """Yield the options that today's list of tickers, or today's names, give a meaning to."""
    if query.options["tickers"]:
        yield Caveat("--tickers uses the list of the day of the fetch, whatever the PIT: give --ciks.", of_today=True)
    if query.options["entity"]:
        text = "--entity is matched against the names of the day of the fetch, whatever the PIT: give --ciks."
        yield Caveat(text, of_today=True)


def caveats(query: Query) -> Iterator[str | Caveat]:
    """Yield what cannot be shown; from the request alone."""
    yield from name_caveats(query)
    if not query.open_mode and query.offline:
        yield "A saved search reply does not show when a filing was released: with --pit, nothing in it is served."
    elif not query.open_mode and _is_ordered(query):
        yield "A filing that was not released on its filing date may be missing: --exact finds it, if it was public."


def _note(query: Query) -> str:
    """Return what a capture of this request cannot answer later, and what to write to change that."""
    options = query.options
    times = (
        "EDGAR's index tells the day of a filing and no time, so each filing counts from the end of its day: to ask "
        "about a time of day later, write exact = true, and ask with --exact."
    )
    tickers = (
        "What a ticker stands for is known from a request by tickers or symbol alone: without one, ask by --ciks."
        if options["ciks"] or not options["tickers"]
        else ""
    )
    words = (
        "A question with words (query) or an entity is answered by a request with the same ones only."
        if not (options["query"] or options["entity"])
        else ""
    )
    return " ".join(filter(None, ["" if options["exact"] else times, "" if options["tickers"] else tickers, words]))


def _days(part: search.Slice, wanted: Filter) -> list[schedule.Day]:
    """Return a slice's filings by filing date, newest first. Its first day takes the unreadable hits."""
    days: dict[date, list[Filing | None]] = {part.first: []}
    for filing in _wanted(part.hits, wanted._replace(first=part.first, last=part.last)):
        days.setdefault(part.first if filing is None else filing.filed, []).append(filing)
    return [schedule.Day(day, days[day]) for day in sorted(days, reverse=True)]


def _wanted(hits: Iterable[Any], wanted: Filter) -> Iterator[Filing | None]:
    return (filing for filing in filings.filings(hits) if filing is None or wanted.keeps(filing))


def _filter(query: Query) -> Filter:
    """Return the window, in filing dates, and the filters that the server is asked for.

    A filing becomes public on its filing date at the earliest, so with a PIT none filed after the day of the horizon
    can be wanted. In open mode an undated filing may be anywhere.
    """
    last = query.now if query.open_mode else query.horizon
    return Filter(
        first=search.FIRST_DAY if query.since is None else new_york_day(query.since),
        last=new_york_day(last if query.until is None else min(last, query.until)),
        forms=_forms(query),
        ciks=frozenset(_ciks(query)),
    )


def _earliest(query: Query) -> datetime | None:
    """Return the beginning of the first filing day that is asked for: nothing is released before it is filed."""
    return (
        None if query.since is None else datetime.combine(new_york_day(query.since), time.min, NEW_YORK).astimezone(UTC)
    )


def _forms(query: Query) -> tuple[str, ...]:
    return query.options["forms"] or ()


def _ciks(query: Query) -> set[int]:
    numbers = map(companies.parse_cik, query.options["ciks"] or ())
    return {number for number in numbers if number is not None}


def _normalize(query: Query) -> Query:
    """Return the query if EDGAR can find what it asks for. Raise ConfigError otherwise."""
    spelled = tuple(form.upper() for form in query.options["forms"] or ()) or None
    query = query._replace(options={**query.options, "forms": spelled})
    options = query.options
    if not query.offline and not any(options[name] for name in ("query", "forms", "ciks", "tickers", "entity")):
        refuse("Give words to search for, or --forms, --ciks, --tickers or --entity.")
    forms.check("--forms", _forms(query), "finds")
    if None in map(companies.parse_cik, options["ciks"] or ()):
        refuse("--ciks is a list of numbers of up to ten digits, e.g. 320193.")
    symbols.check(
        "--tickers", options["tickers"] or (), companies.TICKER, "AAPL,BRK-B (--entity takes a company's name)"
    )
    _check_words(options["query"] or "")
    ciks = tuple(map(str, sorted(_ciks(query)))) or None
    tickers = tuple(map(companies.spelled, options["tickers"] or ())) or None
    return query._replace(options={**options, "ciks": ciks, "tickers": tickers})


def _check_words(words: str) -> None:
    """Raise ConfigError for quotes that do not hold a phrase together: EDGAR would look for single words."""
    if not words.isascii() and not set(words).isdisjoint("\u201c\u201d\u201e\u201f"):
        refuse("A phrase is put in straight double quotes: '\"going concern\"'.")
    if words.count('"') % 2:
        refuse("A double quote is not closed: a phrase is put in two, '\"going concern\"'.")


def when_empty(query: Query) -> str:
    """Return what EDGAR's index begins with, or how a ticker is written; from the request alone."""
    if _filter(query).last < search.FIRST_DAY:
        return f"The search begins with filings of {search.FIRST_DAY.year}."
    return "A ticker is one of the SEC's list, such as AAPL or BRK-B." if query.options["tickers"] else ""


PROVIDER = Provider(
    views=views_of(__name__),
    name="sec_full_text",
    summary="SEC filings by what they say (EDGAR full-text search, since 2001), with the time of their release",
    select=select,
    when_empty=when_empty,
    hosts=client.HOSTS,
    credentials=(client.USER_AGENT,),
    options=(
        Option(
            "query",
            'words that a document contains: word, "a phrase", OR, NOT word, wor*',
            positional="all",
            search_terms=search_terms.QUERY,
        ),
        Option(
            "forms",
            "these forms, with their amendments; -4 excludes one",
            kind="list",
            metavar="10-K,10-Q",
            affects_records=False,
            covered_by="superset",
            search_terms="form type types form-type filing-type",
        ),
        Option(
            "ciks",
            "filings by these companies or persons",
            kind="list",
            metavar="320193,789019",
            affects_records=False,
            covered_by="superset",
            search_terms="cik",
        ),
        Option(
            "tickers",
            "filings by companies that have these tickers today",
            kind="list",
            metavar="AAPL,MSFT",
            affects_records=False,
            covered_by="superset",
            stands_for="ciks",
            search_terms=search_terms.TICKERS,
        ),
        Option("entity", "filings by companies whose current name matches", search_terms="company name company-name"),
        Option(
            "exact",
            "read when every filing was accepted and written, two requests each",
            kind="flag",
            affects_records=False,
            covered_by="evidence",
        ),
    ),
    operations=(
        Operation(
            fetch=fetch,
            parse_reply=parse_reply,
            dating=Dating(
                rule="by release: the end of the day whose index lists the filing, or what its header says",
                why="filing dates are moved back on request, so they are not evidence",
                basis=(Basis("file_date", "day"),),
            ),
            fields=filings.FIELDS,
            normalize=_normalize,
            window="select",  # in filing dates, which are days in New York
            archiving=Archiving(earliest=_earliest, resolve=resolve, note=_note),
            caveats=caveats,
        ),
    ),
    page_size=search.PAGE_SIZE,
    listing=Listing(search_terms="sec edgar filings filing efts sec-edgar"),
    help="""\
A phrase needs its own quotes inside the shell's: '"going concern" liquid*'.
--date-from and --date-to are filing dates. A letter (UPLOAD, CORRESP) or a draft that was filed
before the window and released within it is not in the window.
available_at is the release. A filing that EDGAR's daily index lists under its filing date was public
by the end of that New York day (accepted_at is null). All others, all those of the PIT's own day,
and with --exact every filing, are dated by their header: acceptance plus an hour, 09:00 New York for
what was accepted in the night before, or the end of the day of a later release; with --exact, by
when EDGAR wrote the filing's own files. Without --pit nothing is looked up: an ordinary filing
carries the end of its filing date, and any other has no date.
With --pit, give --forms if you can (10-K,10-Q,8-K,...): with ordinary forms only, the search stops
as soon as --limit is reached, and leaves out filings that were not released on their filing date.
With letters and drafts, without --forms, or with --exact, it has to read the whole window to find
the newest. A saved reply (--input-file) does not show a release: with --pit, nothing in it is
served.
""",
)
