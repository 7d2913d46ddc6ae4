"""EDGAR full-text search: filings that mention something, with the instant at which each became public.

The search gives a filing date. A date is neither the instant nor always a bound of it: see
:mod:`.acceptance` for the rule, and :mod:`.forms` for the filings that their date alone decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

from pit_fetch.provider import ConfigError, Context, Gap, Option, Provider, Query, Record, SourceTag, Watermark
from pit_fetch.times import NEW_YORK
from pit_fetch_providers.sec_full_text import edgar, filings, forms, search
from pit_fetch_providers.sec_full_text.acceptance import Acceptance, available_at
from pit_fetch_providers.sec_full_text.archive import Archive
from pit_fetch_providers.sec_full_text.filings import Filing, Filter
from pit_fetch_providers.sec_full_text.tickers import ciks_of

_CIK = re.compile(r"(?:CIK)?0*([0-9]{1,10})", re.IGNORECASE)


class _Stamp(NamedTuple):
    at: datetime | None
    source: SourceTag = "provider_metadata"
    acceptance: Acceptance | None = None


def fetch(query: Query, context: Context) -> Iterator[Record | Gap | Watermark]:
    """Filings of the window, slice by slice. Raises ConfigError for a request that names nothing to search for."""
    options = query.options
    if not any(options[name] for name in ("query", "forms", "ciks", "tickers", "entity")):
        raise ConfigError("operation", text="Give words to search for, or --forms, --ciks, --tickers or --entity.")
    ciks = _ciks(query)
    if options["tickers"]:
        ciks |= ciks_of(options["tickers"], context)
        if not ciks:
            return
    wanted = _filter(query, ciks)
    asked = search.parameters(options["query"], wanted.forms, wanted.ciks, options["entity"])
    # What is dated by its filing date keeps the order of the slices. A header may tell of a release at any
    # later time, so where one counts the order is known at the end only.
    ordered = not options["exact"] and (query.pit is None or forms.all_ordinary(wanted.forms))
    archive = Archive(context)
    today = _day(min(query.now, query.started))
    for part in search.slices(context, asked, wanted.first, wanted.last, query.pit is None):
        if isinstance(part, Gap):
            yield part
            continue
        for day, filed in _by_day(part, wanted):
            # All of a day or nothing: a deadline in the midst of it must not leave a part that looks whole.
            yield from [_record(one, query, today, archive, ordered) for one in filed]
            bound = forms.public_by(day - timedelta(days=1)) if ordered else None
            if bound is not None:
                yield Watermark(bound)


def read(body: bytes, query: Query) -> Iterator[Record]:
    """The filings of one recorded reply, as far as their filing date alone can date them."""
    if query.options["tickers"]:
        raise ConfigError("operation", text="--tickers is resolved over the network: with --input-file give --ciks.")
    wanted = _filter(query, _ciks(query))
    for one in _wanted(search.parse(body).hits, wanted):
        yield _record(one, query, _day(query.now), None, False)


def caveats(query: Query) -> Iterable[str]:
    """What is looked up in today's lists, from the request alone."""
    if query.options["tickers"]:
        yield "--tickers is resolved with today's list of tickers, whatever the PIT. Prefer --ciks."
    if query.options["entity"]:
        yield "--entity is matched with today's names, whatever the PIT. Prefer --ciks."


def _by_day(part: search.Slice, wanted: Filter) -> Iterator[tuple[date, list[Filing | None]]]:
    """The filings of a slice by filing date, newest first; at its first day what has none, and the end of it."""
    days: dict[date, list[Filing | None]] = {part.first: []}
    for one in _wanted(part.hits, wanted._replace(first=part.first, last=part.last)):
        days.setdefault(part.first if one is None else one.filed, []).append(one)
    for day in sorted(days, reverse=True):
        yield day, days[day]


def _wanted(hits: Iterable[Any], wanted: Filter) -> Iterator[Filing | None]:
    return (one for one in filings.filings(hits) if one is None or wanted.keeps(one))


def _record(filing: Filing | None, query: Query, today: date, archive: Archive | None, ordered: bool) -> Record:
    if filing is None:
        return filings.UNUSABLE
    stamp = _stamp(filing, query, today, archive)
    bound = forms.public_by(filing.filed)
    if ordered and stamp.at is not None and (bound is None or stamp.at > bound):
        # Its header contradicts the list of ordinary forms. It cannot keep the order, and what it would
        # displace must not depend on how the window is cut: --exact shows it.
        stamp = stamp._replace(at=None)
    return filings.record(filing, stamp.at, stamp.source, stamp.acceptance, query.pit is None)


def _stamp(filing: Filing, query: Query, today: date, archive: Archive | None) -> _Stamp:
    """When ``filing`` became public, and how that is known. Reads its header where the filing date does not tell."""
    ordinary = forms.root(filing.form) in forms.ORDINARY
    exact, open_mode = query.options["exact"], query.pit is None
    by_date = _Stamp(None)
    if ordinary and (open_mode or forms.dated_by_filing(filing.form, filing.filed, today)):
        by_date = _Stamp(forms.public_by(filing.filed))
    if archive is None or (not exact and (open_mode or by_date.at is not None)):
        return by_date
    acceptance = archive.acceptance(filing.accession, filing.ciks[0], filing.filed, ordinary)
    if acceptance is None:
        return by_date
    source: SourceTag = "provider_metadata" if acceptance.accepted is None else "edgar_accepted"
    return _Stamp(available_at(acceptance, filing.filed), source, acceptance)


def _filter(query: Query, ciks: set[int]) -> Filter:
    """The window, in filing dates, and what the server is asked for.

    A filing becomes public on its filing date at the earliest, so under a PIT none that was filed
    after the day of the horizon can be wanted. In open mode an undated one can stand anywhere.
    """
    last = query.horizon if query.pit is not None else query.now
    return Filter(
        first=search.FIRST_DAY if query.since is None else _day(query.since),
        last=_day(last if query.until is None else min(last, query.until)),
        forms=tuple(form.upper() for form in query.options["forms"] or ()),
        ciks=frozenset(ciks),
    )


def _ciks(query: Query) -> set[int]:
    matches = [_CIK.fullmatch(text) for text in query.options["ciks"] or ()]
    if None in matches:
        raise ConfigError("operation", text="--ciks is a list of numbers of up to ten digits, e.g. 320193.")
    return {int(match[1]) for match in matches if match}


def _day(moment: datetime) -> date:
    return moment.astimezone(NEW_YORK).date()


PROVIDER = Provider(
    name="sec_full_text",
    summary="SEC filings by what they say (EDGAR full-text search, from 2001), with the time of their release",
    fetch=fetch,
    read=read,
    caveats=caveats,
    hosts=edgar.HOSTS,
    credentials=(edgar.USER_AGENT,),
    options=(
        Option("query", 'words that a document holds: word, "a phrase", OR, NOT word, wor*', positional="all"),
        Option("forms", "of these forms, with their amendments; -4 leaves one out", kind="list", metavar="10-K,10-Q"),
        Option("ciks", "of these companies or persons", kind="list", metavar="320193,789019"),
        Option("tickers", "of the companies that have these tickers today", kind="list", metavar="AAPL,MSFT"),
        Option("entity", "of companies whose name today is like this"),
        Option("exact", "read the acceptance time of every filing, one request each", kind="flag"),
    ),
    page_size=search.PAGE_SIZE,
    fields=filings.FIELDS,
    help="""\
A phrase needs its own quotes inside the shell's: '"going concern" liquid*'.
--date-from and --date-to are filing dates. A letter (UPLOAD, CORRESP) or a draft that was filed
before the window and released within it is outside it.
available_at is the release: acceptance + 3 minutes, not before 06:00 New York of the filing date.
Without --exact an ordinary filing of a week or more before the PIT is dated by its filing date: the
end of that New York day, accepted_at is null. Without --pit every ordinary filing is, and what is
not ordinary has no date.
With --pit, name --forms where you can (10-K,10-Q,8-K,...): with ordinary forms only, the search ends
as soon as --limit is reached. Letters and drafts can be released at any later time, so with them,
or without --forms, or with --exact, the whole window is read before the newest are known.
""",
)
