"""Leaks of sec_full_text: when a filing was public, what dates it, what a search reads and shows."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta
from typing import Any

from pit_fetch_providers.edgar import client, forms
from pit_fetch_providers.edgar.acceptance import Acceptance, accepted_at
from pit_fetch_providers.edgar.release import Release
from pit_fetch_providers.edgar.submissions import file_of

from pit_fetch.gaps import Code, gap
from pit_fetch.times import NEW_YORK, end_of_day
from pit_fetch.wire import strict_json
from tests.laws.mutants.leak import Mutant, fails, nothing
from tests.laws.plant import Make

_HERE = "pit_fetch_providers.sec_full_text"
_EDGAR = "pit_fetch_providers.edgar"
_ARCHIVE = f"{_EDGAR}.archive:Archive"
_PARTIAL = ("sec_full_text: partial failure",)
_SEC, _ORDERED, _CORPUS = ("sec_full_text: non-interference",), ("sec_full_text: ordered",), ("corpus: no leak",)
_EXACT = ("sec_full_text: exact",)
_DAY = timedelta(days=1)


# When a filing was public.


def _as_if(change: Callable[[Acceptance], Acceptance]) -> Make:
    """Return the leak that dates a filing with a known acceptance by what ``change`` makes of it."""

    def make(real: Any) -> Any:
        def available_at(acceptance: Acceptance, filed: Any, evening: bool = False) -> Any:
            changed = acceptance if acceptance.accepted is None else change(acceptance)
            return real(changed, filed, evening)

        return available_at

    return make


def _marked_alone(acceptance: Acceptance) -> Acceptance:
    is_marked = acceptance.private or acceptance.day_only
    return acceptance if is_marked else acceptance._replace(released=None)


def _a_day_before(acceptance: Acceptance) -> Acceptance:
    released = acceptance.released
    return acceptance if released is None else acceptance._replace(released=released - _DAY)


def _in_utc(real: Any) -> Any:
    def accepted(acceptance: Acceptance) -> Any:
        return None if acceptance.accepted is None else acceptance.accepted.replace(tzinfo=UTC)

    return accepted


def _five_hours_early(real: Any) -> Any:
    def parse(columns: Any, accession: str) -> Any:
        acceptance = real(columns, accession)
        return None if acceptance is None else acceptance._replace(accepted=acceptance.accepted - timedelta(hours=5))

    return parse


# What dates it.


def _by_its_filing_date(real: Any) -> Any:
    def stamp(evidence: Any, filing: Any, listed: Any) -> Any:
        if forms.root(filing.form) in forms.ORDINARY and filing.filed < evidence.today:
            return Release(end_of_day(filing.filed, NEW_YORK))
        return real(evidence, filing, listed)

    return stamp


def _by_the_day_after(real: Any) -> Any:
    def listed(archive: Any, day: Any, wanted: Any) -> Any:
        indexes = (real(archive, date, wanted) or frozenset() for date in (day, day + _DAY))
        return frozenset().union(*indexes)

    return listed


def _of_any_day(real: Any) -> Any:
    def parse(body: bytes, day: Any) -> Any:
        readings = (real(body, day + n * _DAY) for n in range(61))
        return next((listed for listed in readings if listed is not None), None)

    return parse


def _whatever_its_order(real: Any) -> Any:
    return lambda evidence, filing, listed: real(evidence._replace(ordered=False), filing, listed)


# What a search reads and shows.


def _told_of_submissions(real: Any) -> Any:
    def submitted(archive: Any, accession: str, cik: int, filed: Any) -> Any:
        client.get(archive.context, client.DATA, f"/submissions/{file_of(cik)}")
        return real(archive, accession, cik, filed)

    return submitted


def _since_ever(real: Any) -> Any:
    def begin(archive: Any, context: Any, started: Any, exact: bool = False) -> None:
        real.__init__(archive, context, datetime.min.replace(tzinfo=UTC), exact)

    return type("Archive", (real,), {"__init__": begin})


def _by_the_margins(real: Any) -> Any:
    # An instant that proves nothing, so that they count.
    return lambda archive, *given: real(archive, *given) or datetime.min.replace(tzinfo=UTC)


def _kept_whatever_it_dates(real: Any) -> Any:
    return lambda archive, accession, cik, in_full_text, is_public: real(
        archive, accession, cik, in_full_text, lambda acceptance: True
    )


def _at_its_acceptance(real: Any) -> Any:
    def available_at(acceptance: Acceptance, *given: Any, **named: Any) -> Any:
        at = real(acceptance, *given, **named)
        return at and (accepted_at(acceptance) or at)

    return available_at


def _on_the_weekend(real: Any) -> Any:
    def available_at(acceptance: Acceptance, *given: Any, **named: Any) -> Any:
        at = real(acceptance, *given, **named)
        is_after_a_weekend = at is not None and at.astimezone(NEW_YORK).weekday() == 0
        return at - 2 * _DAY if is_after_a_weekend else at

    return available_at


def _dated_ahead(real: Any) -> Any:
    """A filing that is withheld counts like one that is dated."""

    def newest_first(slices: Any, evidence: Any, record: Any, most: int) -> Any:
        def dated(filing: Any, listed: Any) -> Any:
            made = record(filing, listed)
            is_read = made is not None and made.id
            return (
                made._replace(available_at=made.available_at or datetime.max.replace(tzinfo=UTC)) if is_read else made
            )

        return real(slices, evidence, dated, most)

    return newest_first


def _gap_at_many_hits(real: Any) -> Any:
    def slices(*given: Any) -> Any:
        for part in real(*given):
            if len(getattr(part, "hits", ())) > 3:
                yield gap(Code.RESULT_CAP)
            yield part

    return slices


def _todays(*names: str) -> Make:
    def make(real: Any) -> Any:
        def record(filing: Any, *given: Any) -> Any:
            made = real(filing, *given)
            return made._replace(payload={**made.payload, **{name: list(filing.today[name]) for name in names}})

        return record

    return make


def _in_the_server_s_order(real: Any) -> Any:
    def filings(hits: Any) -> Any:
        hits = list(hits)
        order = {str(hit.get("_id")): place for place, hit in enumerate(hits) if isinstance(hit, dict)}
        for made in real(hits):
            ordered = made and sorted(made.documents, key=lambda part: order.get(f"{made.accession}:{part[1]}", 0))
            yield made and made._replace(documents=tuple(ordered))

    return filings


MUTANTS = (
    Mutant("sec: public when accepted", f"{_EDGAR}.acceptance:available_at", _at_its_acceptance, _SEC),
    Mutant(
        "sec: public three minutes after acceptance",
        f"{_EDGAR}.acceptance:DISSEMINATION",
        lambda real: timedelta(minutes=3),
        _SEC,
    ),
    Mutant("sec: public at midnight of the filing date", f"{_EDGAR}.acceptance:MORNING", lambda real: time(0), _SEC),
    Mutant("sec: the night's filings at the opening", f"{_EDGAR}.acceptance:MORNING", lambda real: time(6), _SEC),
    Mutant("sec: public at night", f"{_EDGAR}.acceptance:CLOSING", lambda real: time.max, _CORPUS),
    Mutant("sec: public on a weekend", f"{_EDGAR}.acceptance:available_at", _on_the_weekend, _CORPUS),
    Mutant(
        "sec: an evening's filing that was moved back",
        f"{_EDGAR}.acceptance:available_at",
        lambda real: lambda acceptance, filed, evening=False: real(acceptance, filed, True),
        _CORPUS,
    ),
    Mutant(
        "sec: files that were written later",
        f"{_EDGAR}.acceptance:proof",
        lambda real: lambda acceptance, filed, evening=False: None,
        _EXACT,
    ),
    Mutant(
        "sec: a time of writing that repeats the acceptance",
        f"{_EDGAR}.acceptance:proof",
        lambda real: lambda acceptance, filed, evening=False: acceptance.written,
        _EXACT,
    ),
    Mutant("sec: acceptance read as UTC", f"{_EDGAR}.acceptance:accepted_at", _in_utc, _SEC),
    Mutant(
        "sec: a private letter at its acceptance",
        f"{_EDGAR}.acceptance:available_at",
        _as_if(lambda acceptance: acceptance._replace(private=False, day_only=False, released=None)),
        _SEC,
    ),
    Mutant(
        "sec: an unmarked letter at its acceptance", f"{_EDGAR}.acceptance:available_at", _as_if(_marked_alone), _SEC
    ),
    Mutant("sec: the start of the release day", f"{_EDGAR}.acceptance:available_at", _as_if(_a_day_before), _SEC),
    Mutant(
        "sec: an hour is believed that only tells the day",
        f"{_EDGAR}.header:parse_header",
        lambda real: lambda body, accession: (made := real(body, accession)) and made._replace(day_only=False),
        _CORPUS,
    ),
    Mutant(
        "sec: the Z of a submissions file is believed", f"{_EDGAR}.header:parse_submissions", _five_hours_early, _SEC
    ),
    Mutant("sec: a filing date is believed", f"{_HERE}.evidence:Evidence.release_of", _by_its_filing_date, _SEC),
    Mutant("sec: the index of the day after", f"{_EDGAR}.archive:Archive.listed", _by_the_day_after, _SEC),
    Mutant("sec: an index is not asked for its day", f"{_EDGAR}.daily_index:parse", _of_any_day, _SEC),
    Mutant(
        "sec: an index of a day that is not over",
        f"{_EDGAR}.daily_index:is_complete",
        lambda real: lambda day, sent: True,
        ("sec_full_text: kept",),
    ),
    Mutant(
        "sec: an unlisted filing in a search that ends early",
        f"{_HERE}.evidence:Evidence.needs_header",
        lambda real: lambda evidence, filing, listed: real(evidence._replace(ordered=False), filing, listed),
        _ORDERED,
    ),
    Mutant(
        "sec: a page is believed against the index",
        f"{_HERE}.evidence:Evidence.release_of",
        lambda real: (
            lambda evidence, filing, listed: real(
                evidence, filing, listed if listed and filing.accession in listed else None
            )
        ),
        _SEC,
    ),
    Mutant(
        "sec: a header that breaks the promised order",
        f"{_HERE}.evidence:Evidence.release_of",
        _whatever_its_order,
        _ORDERED,
    ),
    Mutant(
        "sec: withheld filings count towards the days ahead",
        f"{_HERE}.schedule:newest_first",
        _dated_ahead,
        ("sec_full_text: ahead",),
    ),
    Mutant(
        "sec: a spoilt hit fails the search",
        f"{_HERE}.search:parse",
        lambda real: lambda body: real(body) if strict_json(body) else None,
        _SEC,
    ),
    Mutant(
        "sec: a file name fails the search",
        f"{_HERE}.filings:url",
        lambda real: lambda filing, name: real(filing, name if name.isprintable() else fails()),
        _SEC,
    ),
    Mutant("sec: a host that fails is an error where something was found", f"{_ARCHIVE}.check_host", nothing, _PARTIAL),
    Mutant("sec: what is in the cache is an answer of the host's", _ARCHIVE, _since_ever, _PARTIAL),
    Mutant("sec: submissions that fail are an error", f"{_ARCHIVE}.submitted", _told_of_submissions, _PARTIAL),
    Mutant(
        "sec: a page counts where the index fails",
        f"{_ARCHIVE}.is_unread",
        lambda real: lambda archive, day: False,
        _PARTIAL,
    ),
    Mutant(
        "sec: with --exact, the margins count where a filing's own files fail",
        f"{_ARCHIVE}.written",
        _by_the_margins,
        ("sec_full_text: exact, partial failure",),
    ),
    Mutant("sec: headers of later filings are kept", f"{_ARCHIVE}.header", _kept_whatever_it_dates, _SEC),
    Mutant(
        "sec: today's tickers and names under a ceiling",
        f"{_HERE}:name_caveats",
        lambda real: lambda query: (),
        ("sec_full_text: ceiling",),
    ),
    Mutant("sec: today's names under a PIT", f"{_HERE}.filings:record", _todays("company_names"), _SEC),
    Mutant("sec: today's codes under a PIT", f"{_HERE}.filings:record", _todays("tickers", "sic_codes"), _SEC),
    Mutant("sec: documents in the server's order", f"{_HERE}.filings:filings", _in_the_server_s_order, _SEC),
    Mutant("sec: a gap where many hits are", f"{_HERE}.search:slices", _gap_at_many_hits, _SEC),
)
