"""Leaks of sec_facts: the release of a filing, versions chosen before the PIT, rows that cannot be read."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

from pit_fetch_providers.edgar.archive import Archive
from pit_fetch_providers.sec_facts.facts import View

from pit_fetch.times import NEW_YORK, start_of_day
from tests.laws.mutants.leak import Mutant, fails

_RELEASE, _ROOM = "pit_fetch_providers.edgar.release", "pit_fetch_providers.sec_facts"
_FACTS, _PERIODS, _DERIVE = f"{_ROOM}.facts", f"{_ROOM}.periods", f"{_ROOM}.derive"
_LAW = ("sec_facts: non-interference",)
_STAMPED = ("sec_facts: stamped",)


def _on_its_filing_day(real: Any) -> Any:
    return lambda filing, *given, **named: start_of_day(filing.filed, NEW_YORK)


def _in_utc(real: Any) -> Any:
    def date_by_row(*given: Any, **named: Any) -> Any:
        moment = real(*given, **named)
        return None if moment is None else moment - timedelta(hours=5)

    return date_by_row


def _late_in_a_capture(real: Any) -> Any:
    def date_by_row(filing: Any, reading: Any, *given: Any, for_any_instant: bool) -> Any:
        moment, latest = real(filing, reading, *given, for_any_instant=for_any_instant), reading.latest
        return max(moment, latest) if for_any_instant and moment and latest else moment

    return date_by_row


def _by_one_reading(real: Any) -> Any:
    def date_by_row(filing: Any, reading: Any, cik: int, archive: Any, horizon: Any, **named: Any) -> Any:
        moment, latest = real(filing, reading, cik, archive, horizon, **named), reading.latest
        return min(moment, latest) if moment and latest and min(moment, latest) > horizon else moment

    return date_by_row


def _certain(real: Any) -> Any:
    def reading_of(*given: Any) -> Any:
        reading = real(*given)
        return reading._replace(certain=reading.latest)

    return reading_of


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


def _where_a_file_ends(real: Any) -> Any:
    def submitted(archive: Any, accession: str, cik: int, filed: date) -> Any:
        acceptance = real(archive, accession, cik, filed)
        older = archive.company(cik).get("filings", {}).get("files", [])
        return None if filed.isoformat() in [file["filingTo"] for file in older] else acceptance

    return submitted


def _newest_alone(real: Any) -> Any:
    def versions(*given: Any) -> Any:
        newest: dict[Any, Any] = {version and _fact(version): version for version in real(*given)}
        return newest.values()

    return versions


def _fact(version: Any) -> tuple[Any, ...]:
    return tuple(version.payload[name] for name in ("taxonomy", "concept", "unit", "start", "end"))


def _first_taxonomy(real: Any) -> Any:
    def versions(*given: Any) -> Any:
        every = list(real(*given))
        used = {version.payload["taxonomy"] for version in every if version}
        return (version for version in every if not version or version.payload["taxonomy"] == max(used))

    return versions


def _read_or_fail(real: Any) -> Any:
    return lambda *given: (version or fails() for version in real(*given))


def _unseen(real: Any) -> Any:
    """Read what is public without noting on which release that rests."""
    return lambda view, *given: real(View(view.ledger, view.release), *given)


def _fiscal_if_reported(real: Any) -> Any:
    def candidates(every: Any, cadence: Any) -> Any:
        return real({period: of._replace(fiscal=of.release) for period, of in every.items()}, cadence)

    return candidates


def _without_noting(real: Any) -> Any:
    def order_periods(of_end: Any, sees: Any) -> Any:
        return real(of_end, lambda release: release is not None and release <= sees.__self__.release)

    return order_periods


def _of_one_name(real: Any) -> Any:
    def figures(*given: Any, **named: Any) -> Any:
        known = real(*given, **named)
        if known is None:
            return None
        values = ({made.payload["value"] for made in versions} for versions in known.by_concept.values())
        return known._replace(is_restated=any(len(of_name) > 1 for of_name in values))

    return figures


def _of_thirteen_weeks(real: Any) -> Any:
    return lambda start, end: "" if start and 100 < (end - start).days < 120 else real(start, end)


MUTANTS = (
    Mutant(
        "sec_facts: today's tickers under a ceiling",
        "pit_fetch_providers.edgar.subject:holder_caveats",
        lambda real: lambda query: (),
        ("sec_facts: ceiling",),
    ),
    Mutant("sec_facts: public on its filing day", f"{_RELEASE}:date_by_row", _on_its_filing_day, _LAW),
    Mutant("sec_facts: the Z of a submissions file is believed", f"{_RELEASE}:date_by_row", _in_utc, _LAW),
    Mutant(
        "sec_facts: that a filing's host fails is an error",
        "pit_fetch_providers.edgar.archive:answering_archive",
        lambda real: lambda query, context: _Asked(context, query.started),
        ("sec_facts: partial failure", "sec_facts: quota"),
    ),
    Mutant("sec_facts: the Z of a late hour is believed", f"{_RELEASE}:reading_of", _certain, _LAW),
    Mutant(
        "sec_facts: a capture believes the Z of a late hour",
        f"{_RELEASE}:date_by_row",
        lambda real: lambda *given, for_any_instant: real(*given, for_any_instant=False),
        ("sec_facts: archive silent",),
    ),
    Mutant(
        "sec_facts: the Z of what is yet to come is believed",
        f"{_RELEASE}:date_by_row",
        _by_one_reading,
        ("sec_facts: asked in any order",),
    ),
    Mutant(
        "sec_facts: a capture lacks what came in the hours before it",
        f"{_RELEASE}:date_by_row",
        _late_in_a_capture,
        ("sec_facts: archive captured",),
    ),
    Mutant(
        "sec_facts: where a file of the list ends",
        "pit_fetch_providers.edgar.archive:Archive.submitted",
        _where_a_file_ends,
        _LAW,
    ),
    Mutant(
        "sec_facts: an older version in the place of one that nothing dates",
        f"{_RELEASE}:undoubted_by_row",
        _five_years_later,
        ("sec_facts: undatable",),
    ),
    Mutant("sec_facts: the newest version of the file", f"{_FACTS}:versions", _newest_alone, _LAW),
    Mutant("sec_facts: a taxonomy chosen before the PIT", f"{_FACTS}:versions", _first_taxonomy, _LAW),
    Mutant("sec_facts: an unreadable row fails the fetch", f"{_FACTS}:versions", _read_or_fail, _LAW),
    Mutant(
        "sec_facts: the oldest period of a filing first",
        f"{_FACTS}:in_order",
        lambda real: lambda records, period="": real(records),
        ("sec_facts: paging",),
    ),
    Mutant(
        "sec_facts: an older version in the place of one that cannot be read",
        f"{_FACTS}:readable",
        lambda real: lambda records: [made for made in records if made.payload["value"] is not None],
        ("sec_facts: unreadable",),
    ),
    Mutant(
        "sec_facts: what had not ended is reported",
        f"{_FACTS}:has_ended",
        lambda real: lambda version: True,
        ("sec_facts: over",),
    ),
    Mutant("sec_facts: an item is older than its figures' reasons", f"{_FACTS}:View.sees", _unseen, _STAMPED),
    Mutant("sec_facts: a currency older than what it is chosen by", f"{_FACTS}:View.currencies", _unseen, _STAMPED),
    Mutant("sec_facts: what was computed before is as old as it", f"{_FACTS}:View.remember", _unseen, _STAMPED),
    Mutant(
        "sec_facts: an item is older than that its period is fiscal",
        f"{_ROOM}.statements:order_periods",
        _without_noting,
        _STAMPED,
    ),
    Mutant(
        "sec_facts: a period of a note takes the place of a fiscal one",
        f"{_PERIODS}:candidates",
        _fiscal_if_reported,
        ("sec_facts: noted",),
    ),
    Mutant(
        "sec_facts: every quarter has some thirteen weeks",
        f"{_PERIODS}:period_kind",
        _of_thirteen_weeks,
        ("sec_facts: complete",),
    ),
    Mutant(
        "sec_facts: a restatement under another name is not seen",
        f"{_DERIVE}:line_figures",
        _of_one_name,
        ("sec_facts: renamed",),
    ),
    Mutant(
        "sec_facts: an amount that a note rounded is a part of a sum",
        f"{_DERIVE}:zeros",
        lambda real: lambda amount: 0,
        ("sec_facts: rounded",),
    ),
    Mutant(
        "sec_facts: a part of a sum is of another basis unless a filing restates it",
        f"{_DERIVE}:contradictions",
        lambda real: lambda *given: (),
        ("sec_facts: one basis",),
    ),
)
