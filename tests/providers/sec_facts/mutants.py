"""Leaks of sec_facts: the release of a filing, versions chosen before the PIT, rows that cannot be read."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

from pit_fetch_providers.edgar.archive import Archive
from pit_fetch_providers.edgar.release import bound
from pit_fetch_providers.sec_facts.cells import Cell, Known, Omission
from pit_fetch_providers.sec_facts.measures import of_one_measure
from pit_fetch_providers.sec_facts.versions import RELEASED, age

from pit_fetch.times import NEW_YORK, start_of_day
from tests.laws.mutants.leak import Mutant, fails

_RELEASE, _FACTS = "pit_fetch_providers.edgar.release", "pit_fetch_providers.sec_facts.facts"
_ENDS, _VERSIONS = "pit_fetch_providers.sec_facts.ends", "pit_fetch_providers.sec_facts.versions"
_ROOM = "pit_fetch_providers.sec_facts"
_BOOK, _SPANS, _SUMS = f"{_ROOM}.book", f"{_ROOM}.spans", f"{_ROOM}.sums"
_LAW = ("sec_facts: non-interference",)
_STAMPED = ("sec_facts: stamped",)
_DATED, _TYPED = ("sec_facts: dated by all that shows it",), ("sec_facts: typed",)


def _on_its_filing_day(real: Any) -> Any:
    return lambda filing, *given, **named: start_of_day(filing.filed, NEW_YORK)


def _in_utc(real: Any) -> Any:
    def by_row(*given: Any, **named: Any) -> Any:
        moment = real(*given, **named)
        return None if moment is None else moment - timedelta(hours=5)

    return by_row


def _late_in_a_capture(real: Any) -> Any:
    def by_row(filing: Any, reading: Any, *given: Any, for_any_instant: bool) -> Any:
        moment, latest = real(filing, reading, *given, for_any_instant=for_any_instant), reading.latest
        return max(moment, latest) if for_any_instant and moment and latest else moment

    return by_row


def _by_one_reading(real: Any) -> Any:
    def by_row(filing: Any, reading: Any, cik: int, archive: Any, horizon: Any, **named: Any) -> Any:
        moment, latest = real(filing, reading, cik, archive, horizon, **named), reading.latest
        return min(moment, latest) if moment and latest and min(moment, latest) > horizon else moment

    return by_row


class _Asked(Archive):
    """An archive that is asked whether it answers only where a filing needs it."""

    def submitted(self, *given: Any) -> Any:
        self.check_host()
        return super().submitted(*given)


def _five_years_later(real: Any) -> Any:
    def undoubted_by_row(*given: Any) -> Any:
        moment = real(*given)
        return None if moment is None else moment + timedelta(days=1_826)

    return undoubted_by_row


def _before_it_was_proved(real: Any) -> Any:
    """Take the figures of a period for those of another, also where they were public before that was proved."""

    def one_for_each_period(records: Any, same: Any) -> Any:
        unproved = {typed: one._replace(shown=one.shown._replace(available_at=None)) for typed, one in same.items()}
        return real(records, unproved)

    return one_for_each_period


def _as_of_the_period(real: Any) -> Any:
    def with_others(*given: Any) -> Any:
        for period in real(*given):
            other = period.other and period.other._replace(shown=period.shown)
            yield period._replace(other=other)

    return with_others


def _since_it_was_proved(real: Any) -> Any:
    return lambda records, same: [made for made in real(records, same) if RELEASED not in made.payload]


def _undated_if_unreadable(real: Any) -> Any:
    def judged(book: Any, *given: Any) -> Any:
        made = real(book, *given)
        return made._replace(shown=()) if isinstance(made, Omission) and made.reason == "unreadable" else made

    return judged


def _as_of_the_first(real: Any) -> Any:
    def typed(book: Any, first: Any, own: Any) -> Any:
        return [one._replace(shown=first[one.period], own=own.get(one.period)) for one in real(book, first, own)]

    return typed


def _that_begin_days_apart(real: Any) -> Any:
    def typed(book: Any, first: Any, own: Any) -> Any:
        every = real(book, first, own)
        starts = {one.days.start for one in every}
        near = ((one, one.days.start + timedelta(days=days)) for one in every for days in range(-6, 7))
        return [one._replace(days=one.days._replace(start=start)) for one, start in near if start in starts]

    return typed


def _by_the_newest(real: Any) -> Any:
    def parts_shown(known: Any, parts: Any) -> Any:
        every = list(known)
        newest = (one.by_age[-1] for one in every if not isinstance(one, Omission))
        return (*real(every, parts), *newest)

    return parts_shown


def _nearest(real: Any) -> Any:
    def twelve_months(years: Any, every: Any) -> Any:
        ways: dict[Any, Any] = {}
        for way in sorted(real(years, every), key=lambda way: -_apart(way)):
            ways[tuple(part.days for part in way.plus)] = way
        return ways.values()

    return twelve_months


def _apart(way: Any) -> int:
    """Return by how many days the part of the year before is longer or shorter than that of the year."""
    lengths = [part.days.end - part.days.start for part in (way.plus[1], way.minus)]
    return int(abs((lengths[0] - lengths[1]).days))


def _of_the_line_at_once(real: Any) -> Any:
    def of_one_measure(line: Any, known: Any) -> Any:
        left = real(line, known)
        return left._replace(shown=(), told=()) if isinstance(left, Known) else left

    return of_one_measure


def _unless_unclear(real: Any) -> Any:
    return lambda line, found: real(line, found) if isinstance(of_one_measure(line, found), Known) else ()


def _where_a_file_ends(real: Any) -> Any:
    def submitted(archive: Any, accession: str, cik: int, filed: date) -> Any:
        acceptance = real(archive, accession, cik, filed)
        older = archive.company(cik).get("filings", {}).get("files", [])
        return None if filed.isoformat() in [file["filingTo"] for file in older] else acceptance

    return submitted


def _newest_alone(real: Any) -> Any:
    def versions(*given: Any) -> Any:
        newest: dict[Any, Any] = {version and version.fact: version for version in real(*given)}
        return newest.values()

    return versions


def _first_taxonomy(real: Any) -> Any:
    def versions(*given: Any) -> Any:
        every = list(real(*given))
        used = {version.fact.taxonomy for version in every if version}
        return (version for version in every if not version or version.fact.taxonomy == max(used))

    return versions


def _by_id(real: Any) -> Any:
    return lambda records, period="": real(records)


def _read_or_fail(real: Any) -> Any:
    return lambda row, *given: real(row, *given) or fails()


def _of_one_name(real: Any) -> Any:
    def known(histories: Any) -> Any:
        restated = (made for one in histories.items() if (made := real(dict([one])).restating))
        return real(histories)._replace(restating=next(restated, None))

    return known


def _of_figures_alone(real: Any) -> Any:
    return lambda cells, period: real({name: made for name, made in cells.items() if isinstance(made, Cell)}, period)


MUTANTS = (
    Mutant(
        "sec_facts: today's tickers under a ceiling",
        "pit_fetch_providers.edgar.subject:of_today",
        lambda real: lambda query: (),
        ("sec_facts: ceiling",),
    ),
    Mutant("sec_facts: public on its filing day", f"{_RELEASE}:by_row", _on_its_filing_day, _LAW),
    Mutant("sec_facts: the Z of a submissions file is believed", f"{_RELEASE}:by_row", _in_utc, _LAW),
    Mutant(
        "sec_facts: that a filing's host fails is an error",
        "pit_fetch_providers.edgar.archive:answering_archive",
        lambda real: lambda query, context: _Asked(context, query.started),
        ("sec_facts: partial failure", "sec_facts: quota"),
    ),
    Mutant(
        "sec_facts: a late hour under its day's date is believed",
        "pit_fetch_providers.edgar.acceptance:_may_be_moved_back",
        lambda real: lambda *given: False,
        _LAW,
    ),
    Mutant(
        "sec_facts: the Z of a late hour is believed",
        f"{_RELEASE}:_certain",
        lambda real: lambda submitted, filing: bound(filing, submitted),
        _LAW,
    ),
    Mutant(
        "sec_facts: a capture believes the Z of a late hour",
        f"{_RELEASE}:by_row",
        lambda real: lambda *given, for_any_instant: real(*given, for_any_instant=False),
        ("sec_facts: archive silent",),
    ),
    Mutant(
        "sec_facts: the Z of what is yet to come is believed",
        f"{_RELEASE}:by_row",
        _by_one_reading,
        ("sec_facts: asked in any order",),
    ),
    Mutant(
        "sec_facts: the exact hour of one filing beside the late hour of another",
        f"{_RELEASE}:_in_order",
        lambda real: lambda dated, latest: dated,
        ("sec_facts: archive captured",),
    ),
    Mutant(
        "sec_facts: a capture lacks what came in the hours before it",
        f"{_RELEASE}:by_row",
        _late_in_a_capture,
        ("sec_facts: archive captured",),
    ),
    Mutant(
        "sec_facts: where a file of the list ends",
        "pit_fetch_providers.edgar.archive:Archive.submitted",
        _where_a_file_ends,
        _LAW,
    ),
    Mutant("sec_facts: the newest version of the file", f"{_FACTS}:versions", _newest_alone, _LAW),
    Mutant("sec_facts: a taxonomy chosen before the PIT", f"{_FACTS}:versions", _first_taxonomy, _LAW),
    Mutant("sec_facts: the oldest period of a filing first", f"{_VERSIONS}:in_order", _by_id, ("sec_facts: paging",)),
    Mutant(
        "sec_facts: names of two measures are added",
        f"{_SUMS}:contradictions",
        lambda real: (
            lambda first, *given: real(
                {span: dict([*versions.items()][:1]) for span, versions in first.items()}, *given
            )
        ),
        ("sec_facts: named",),
    ),
    Mutant(
        "sec_facts: a cell that is left out is as old as what restates it",
        f"{_SUMS}:_parts_shown",
        _by_the_newest,
        _STAMPED,
    ),
    Mutant(
        "sec_facts: a statement as old as its figures, whatever left out others",
        f"{_ROOM}.statements:_shown_by",
        _of_figures_alone,
        _DATED,
    ),
    Mutant(
        "sec_facts: days that are typed off make a period of their own",
        f"{_ENDS}:_are_close",
        lambda real: lambda days: False,
        _TYPED,
    ),
    Mutant(
        "sec_facts: two periods whose days are close are one",
        f"{_ENDS}:_agree",
        lambda real: lambda one, other: True,
        _TYPED,
    ),
    Mutant(
        "sec_facts: of the days of a period, those that came later count",
        f"{_ENDS}:first_shown",
        lambda real: (
            lambda versions: (0, -max(date.fromisoformat(made.payload["end"]) for made in versions).toordinal())
        ),
        _DATED,
    ),
    Mutant(
        "sec_facts: a later filing decides whether two periods are one",
        f"{_ENDS}:_public",
        lambda real: lambda versions, first: list(versions),
        _DATED,
    ),
    Mutant(
        "sec_facts: a figure is older than the proof of its period",
        f"{_BOOK}:one_for_each_period",
        _before_it_was_proved,
        _DATED,
    ),
    Mutant(
        "sec_facts: of a period that is another one, the versions since that was proved alone",
        f"{_BOOK}:one_for_each_period",
        _since_it_was_proved,
        ("sec_facts: mistyped",),
    ),
    Mutant(
        "sec_facts: a version that came to a period later is the newer one",
        f"{_VERSIONS}:release",
        lambda real: age,
        ("sec_facts: proved",),
    ),
    Mutant(
        "sec_facts: a quarter that is derived from days typed off stays beside the right one",
        f"{_SPANS}:_retyped",
        lambda real: lambda book, derived, every: (),
        ("sec_facts: proved",),
    ),
    Mutant(
        "sec_facts: an item is older than what cannot be read in it",
        f"{_BOOK}:Book._judged",
        _undated_if_unreadable,
        _STAMPED,
    ),
    Mutant(
        "sec_facts: a sum is older than the proof that its parts begin together",
        f"{_SPANS}:_typed",
        _as_of_the_first,
        _DATED,
    ),
    Mutant(
        "sec_facts: periods that begin a few days apart make a sum",
        f"{_SPANS}:_typed",
        _that_begin_days_apart,
        _TYPED,
    ),
    Mutant(
        "sec_facts: a balance sheet is older than the proof that its day is the period's end",
        f"{_BOOK}:Book.sheet_day",
        lambda real: lambda book, end: (real(book, end)[0], ()),
        _TYPED,
    ),
    Mutant(
        "sec_facts: a figure that a later way makes is older than why an earlier one makes none",
        f"{_ROOM}.statements:_tried",
        lambda real: lambda omissions: (),
        _DATED,
    ),
    Mutant(
        "sec_facts: a currency older than what it is chosen by",
        f"{_BOOK}:_since",
        lambda real: lambda by_instant, places: by_instant[0][1],
        _STAMPED,
    ),
    Mutant(
        "sec_facts: a period of a note takes the place of the company's own",
        f"{_BOOK}:Book._own",
        lambda real: lambda book, names: book.spans(names),
        ("sec_facts: noted",),
    ),
    Mutant(
        "sec_facts: of the parts of the year before, the nearest in length",
        f"{_SPANS}:_twelve_months",
        _nearest,
        _STAMPED,
    ),
    Mutant(
        "sec_facts: an item is older than that its period is the company's own",
        f"{_SPANS}:in_order",
        lambda real: lambda of_end: [period._replace(chosen=()) for period in real(of_end)],
        _STAMPED,
    ),
    Mutant(
        "sec_facts: a period without a figure takes the place of another",
        f"{_ROOM}.statements:_item_of_end",
        lambda real: lambda asked, periods: real(asked, periods[:1]),
        _STAMPED,
    ),
    Mutant(
        "sec_facts: the figures of proved days are older than their proof",
        f"{_SPANS}:_with_others",
        _as_of_the_period,
        _STAMPED,
    ),
    Mutant(
        "sec_facts: a part of a sum is of another basis unless a filing restates it",
        f"{_SUMS}:contradictions",
        lambda real: lambda *given: [],
        ("sec_facts: one basis",),
    ),
    Mutant(
        "sec_facts: what had not ended is reported",
        f"{_VERSIONS}:_iso_day",
        lambda real: lambda moment: "9999-12-31",
        ("sec_facts: over",),
    ),
    Mutant(
        "sec_facts: a long quarter is older than what shows that others have 12 weeks",
        f"{_SPANS}:_in_calendar",
        lambda real: lambda every, short: real(every, short and min(every.values(), key=age)),
        _STAMPED,
    ),
    Mutant(
        "sec_facts: every quarter has some thirteen weeks",
        f"{_ROOM}.periods:_DAYS",
        lambda real: (("quarter", range(80, 101)), *real[1:]),
        ("sec_facts: complete",),
    ),
    Mutant(
        "sec_facts: days are lost where the end of a year is typed late",
        f"{_SPANS}:_has_stub",
        lambda real: lambda *given: False,
        ("sec_facts: adjoining",),
    ),
    Mutant(
        "sec_facts: a figure is older than what shows that another one is of another measure",
        f"{_ROOM}.measures:of_one_measure",
        _of_the_line_at_once,
        _STAMPED,
    ),
    Mutant(
        "sec_facts: a filing recast a line unless a later one has two values of it",
        f"{_SUMS}:_recasts",
        _unless_unclear,
        _STAMPED,
    ),
    Mutant(
        "sec_facts: a sum is older than what left out its own line",
        f"{_ROOM}.statements:_instead",
        lambda real: lambda omission, made: made or omission,
        _STAMPED,
    ),
    Mutant(
        "sec_facts: a sum is older than the value of what stands beside it",
        f"{_ROOM}.statements:_Beside.changed",
        lambda real: lambda beside: (),
        _STAMPED,
    ),
    Mutant(
        "sec_facts: a statement older than what shows its period",
        f"{_ROOM}.statements:_shown_by",
        lambda real: lambda cells, period: real(cells, period)[1:] or real(cells, period),
        _DATED,
    ),
    Mutant(
        "sec_facts: a restatement under another name is not seen",
        f"{_ROOM}.cells:known_of",
        _of_one_name,
        ("sec_facts: renamed",),
    ),
    Mutant(
        "sec_facts: an amount that a note rounded is a part of a sum",
        f"{_ROOM}.rounding:is_rounded",
        lambda real: lambda *given: False,
        ("sec_facts: rounded",),
    ),
    Mutant(
        "sec_facts: a statement as old as its figures, whatever quarters prove them",
        f"{_SUMS}:Sums._in_quarters",
        lambda real: lambda *given: real(*given)._replace(shown=[]),
        ("sec_facts: rounded",),
    ),
    Mutant(
        "sec_facts: an older version in the place of one that cannot be read",
        f"{_VERSIONS}:readable",
        lambda real: lambda records: [made for made in records if made.payload["value"] is not None],
        ("sec_facts: unreadable",),
    ),
    Mutant(
        "sec_facts: an older version in the place of one that nothing dates",
        f"{_RELEASE}:undoubted_by_row",
        _five_years_later,
        ("sec_facts: undatable",),
    ),
    Mutant("sec_facts: an unreadable row fails the fetch", f"{_FACTS}:_version", _read_or_fail, _LAW),
)
