"""Leaks of sec_filings: releases, lists that are cut by later filings, documents read before they are public."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

from pit_fetch_providers.sec_filings import elements, files, holdings, releases, texts

from pit_fetch.errors import UpstreamError
from pit_fetch.gaps import Reason
from pit_fetch.provider import Record
from pit_fetch.times import NEW_YORK, start_of_day
from pit_fetch.wire import decode_page, lenient_json
from tests.laws.mutants.leak import Mutant, fails, nothing
from tests.laws.plant import Make

_RELEASE, _LIST = "pit_fetch_providers.edgar.release", "pit_fetch_providers.edgar.submissions"
_ROOM = "pit_fetch_providers.sec_filings"
_PAGE = "pit_fetch_providers.page_text"
_LAW = ("sec_filings: non-interference",)


def _on_its_filing_day(real: Any) -> Any:
    return lambda filing, *given, **named: start_of_day(filing.filed, NEW_YORK)


def _in_utc(real: Any) -> Any:
    def date_by_row(*given: Any, **named: Any) -> Any:
        moment = real(*given, **named)
        return None if moment is None else moment - timedelta(hours=5)

    return date_by_row


def _by_the_list(real: Any) -> Any:
    def by_row(filing: Any, reading: Any, cik: Any, archive: Any, horizon: Any, **named: Any) -> Any:
        is_settled = None not in (reading.latest, reading.certain) and reading.certain <= horizon
        return reading.latest if is_settled else real(filing, reading, cik, archive, horizon, **named)

    return by_row


def _missed_at_once(real: Any) -> Any:
    return lambda query, archive, accession, undoubted: real(
        query, archive, accession, undoubted and undoubted - timedelta(days=1)
    )


def _by_the_cursor(real: Any) -> Any:
    return lambda query, *given: real(query._replace(now=query.horizon), *given)


def _read_or_fail(real: Any) -> Any:
    return lambda columns: (row or fails() for row in real(columns))


def _or_nothing(real: Any) -> Any:
    def submission(*given: Any) -> Any:
        try:
            return real(*given)
        except UpstreamError:
            return []

    return submission


def _no_more_after_a_failure(real: Any) -> Any:
    def read(*given: Any, **named: Any) -> Any:
        if named.get("failed") is not None:
            raise named["failed"]
        return real(*given, **named)

    return read


def _one_by_one(real: Any) -> Any:
    def fetch(query: Any, context: Any, cik: int) -> Any:
        quarter = query.options["period"]
        reports = releases.public_releases(query, context, cik, lambda row: row.form in holdings.FORMS)
        for row, at in reports:
            if quarter in (None, row.period):
                quarter = row.period
                found = files.fetch_submission(context, cik, row.accession)
                yield from holdings.records(found, releases.filing_in(row), at, cik)

    return fetch


def _broken_off(real: Any) -> Any:
    def newest_quarter(public: Any, named: Any) -> Any:
        newest, reports = "", []
        for report in public:
            if report.row.filed.isoformat() <= newest:
                break
            reports.append(report)
            newest = max(newest, report.row.period)
        return (report for report in reports if report.row.period == newest)

    return newest_quarter


def _as_it_stands(real: Any) -> Any:
    def fetch(query: Any, context: Any, cik: int) -> Any:
        every = list(real(query, context, cik))
        standing = holdings.standing_reports(every)
        yield from (record for record in every if record.payload["accession"] in standing)

    return fetch


def _as_undated(real: Any) -> Any:
    def newest_first(*given: Any) -> Any:
        for made in real(*given):
            yield releases.DatedRow(made.row, None) if isinstance(made, releases.LeftOut) else made

    return newest_first


def _of_the_list(real: Any) -> Any:
    def public(*given: Any) -> Any:
        made = releases.newest_first(*given)
        return (release for release in made if isinstance(release, releases.DatedRow))

    return public


def _by_any_report(real: Any) -> Any:
    return lambda query, at, earliest, first: max(earliest, first)


def _told_by_the_source(real: Any) -> Any:
    def fetch(*given: Any) -> Any:
        for record in real(*given):
            report = record.payload
            yield record if report["amendment"] != "UNREAD" else files.not_data_gap(report["form"], report["accession"])

    return fetch


def _without_a_word(real: Any) -> Any:
    return lambda *given: (made for made in real(*given) if not isinstance(made, Record) or _has_document(made))


def _has_document(record: Record) -> bool:
    return not record.payload or record.payload["document"] is not None


def _told_by_the_source_alone(real: Any) -> Any:
    def fetch(query: Any, *given: Any) -> Any:
        made = list(real(query, *given))
        yield from (gap for gap in made if not isinstance(gap, Record))
        yield from texts.derive(query)(record for record in made if isinstance(record, Record))

    return fetch


def _first_piece(real: Any) -> Any:
    def text(element: Any, path: str) -> Any:
        leaf = elements.find(element, path)
        value = elements.find(leaf, "value")
        words = ((leaf if value is None else value).text or "").split() if leaf is not None else []
        return " ".join(words) or None

    return text


def _numbered_alone(real: Any) -> Any:
    return lambda documents, kind: [found for found in real(documents, kind) if "." in found.type or "." not in kind]


def _of_any_kind(real: Any) -> Any:
    """Return the gaps as if none of them were made again."""

    def with_live(answer: Any, live: Any) -> Any:
        gaps = [
            made._replace(code=Reason(made.code.type, made.code, made.code.template)) for made in live.selection.gaps
        ]
        return real(answer, live._replace(selection=live.selection._replace(gaps=gaps)))

    return with_live


def _filled_up(real: Any) -> Any:
    def document(body: bytes) -> Any:
        try:
            return real(body)
        except UpstreamError:
            listed = lenient_json(body, 4)
            columns = listed["filings"]["recent"] if "filings" in listed else listed
            held = [values for values in columns.values() if isinstance(values, list)]
            for values in held:
                values.extend([None] * (max(map(len, held)) - len(values)))
            return listed

    return document


def _in_shares_alone(real: Any) -> Any:
    by_value = ("total_value", "value_owned_after", "underlying_value")

    def records(*given: Any) -> Any:
        return (record._replace(payload={**record.payload, **dict.fromkeys(by_value)}) for record in real(*given))

    return records


def _one_after_the_other(real: Any) -> Any:
    def standing(reports: Any) -> Any:
        every = sorted(set(reports), key=holdings.order_of_release)
        restated = [place for place, report in enumerate(every) if report.amendment == "RESTATEMENT"]
        return every[max(restated, default=0) :]

    return standing


def _whatever_can_be_read(real: Any) -> Any:
    def read(element: Any, path: str, parse: Any) -> Any:
        words = elements.text(element, path)
        return None if words is None else parse(words)

    return read


def _found_by_name(real: Any) -> Any:
    return lambda root, tables, *names: [row for table in tables for row in elements.children(table, *names)]


def _counts_nothing(real: Any) -> Any:
    return lambda element, path: 0 if path.endswith("tableEntryTotal") else real(element, path)


def _as_a_whole(real: Any) -> Any:
    return lambda submission: real(decode_page(submission).encode())


def _shown_as(which: str, **shown: Any) -> Make:
    """Return the leak that shows elements of a kind in another way."""

    def make(real: Any) -> Any:
        def look_of(*given: Any, **named: Any) -> Any:
            look = real(*given, **named)
            return look._replace(**shown) if look.kind == which else look

        return look_of

    return make


def _apart(real: Any) -> Any:
    def find_passages(text: str, phrase: str) -> Any:
        end = -1
        for passage in real(text, phrase):
            if passage.position > end:
                yield passage
                end = passage.position + len(passage.text)

    return find_passages


MUTANTS = (
    Mutant(
        "sec_filings: today's tickers under a ceiling",
        "pit_fetch_providers.edgar.subject:holder_caveats",
        lambda real: lambda query: (),
        ("sec_filings: ceiling",),
    ),
    Mutant("sec_filings: public on its filing day", f"{_RELEASE}:date_by_row", _on_its_filing_day, _LAW),
    Mutant("sec_filings: the Z of a list is believed", f"{_RELEASE}:date_by_row", _in_utc, _LAW),
    Mutant(
        "sec_filings: late hours beside exact ones of the same day",
        f"{_RELEASE}:date_by_row",
        _by_the_list,
        ("sec_filings: day",),
    ),
    Mutant(
        "sec_filings: the newest part of the list alone", f"{_LIST}:older_files", lambda real: lambda files: (), _LAW
    ),
    Mutant(
        "sec_filings: a file of later filings fails the answer",
        f"{_LIST}:OlderFile.begins_by",
        lambda real: lambda older, day: True,
        ("sec_filings: later files", "sec_filings: partial failure"),
    ),
    Mutant(
        "sec_filings: a document of whatever was filed last",
        f"{_ROOM}.releases:is_public",
        lambda real: lambda query, at: True,
        _LAW,
    ),
    Mutant(
        "sec_filings: a cursor changes an instant",
        f"{_ROOM}.releases:newest_first",
        _by_the_cursor,
        ("sec_filings: paging",),
    ),
    Mutant(
        "sec_filings: the newest quarter of the list",
        f"{_ROOM}.releases:public_releases",
        _of_the_list,
        ("sec_filings: holdings",),
    ),
    Mutant(
        "sec_filings: later reports decide whether one of the quarter's last day counts",
        f"{_ROOM}.holdings:reports_on_newest_quarter",
        _broken_off,
        ("sec_filings: named",),
    ),
    Mutant(
        "sec_filings: later reports decide how far the list is read",
        f"{_ROOM}.releases:first_day_that_matters",
        _by_any_report,
        ("sec_filings: holdings",),
    ),
    Mutant(
        "sec_filings: a book without the report that cannot be had",
        f"{_ROOM}.files:fetch_submission",
        _or_nothing,
        ("sec_filings: incomplete",),
    ),
    Mutant(
        "sec_filings: a position whose numbers cannot be read is zero",
        f"{_ROOM}.elements:parse_number",
        lambda real: lambda words: real(words) or 0,
        ("sec_filings: incomplete",),
    ),
    Mutant(
        "sec_filings: an insider's number that cannot be read is none",
        f"{_ROOM}.elements:parse_value",
        _whatever_can_be_read,
        ("sec_filings: amounts",),
    ),
    Mutant(
        "sec_filings: the commas of a number are left out",
        f"{_ROOM}.elements:parse_number",
        lambda real: lambda words: real(words.replace(",", "")),
        ("sec_filings: amounts",),
    ),
    Mutant(
        "sec_filings: of a number in pieces, the first one counts",
        f"{_ROOM}.elements:text",
        _first_piece,
        ("sec_filings: amounts",),
    ),
    Mutant(
        "sec_filings: rows under another name are passed over",
        f"{_ROOM}.elements:table_rows",
        _found_by_name,
        ("sec_filings: incomplete",),
    ),
    Mutant(
        "sec_filings: a table without rows is an empty book, whatever its cover counts",
        f"{_ROOM}.elements:number",
        _counts_nothing,
        ("sec_filings: incomplete",),
    ),
    Mutant(
        "sec_filings: a full submission is in the characters of its first document",
        f"{_ROOM}.documents:parse_submission",
        _as_a_whole,
        ("sec_filings: characters",),
    ),
    Mutant(
        "sec_filings: any refusal means that a company has no list",
        "pit_fetch_providers.edgar.client:is_missing",
        lambda real: lambda reply, host: reply.status in (403, 404),
        ("sec_filings: refused",),
    ),
    Mutant(
        "sec_filings: a host that says of all it has that it is missing has answered",
        "pit_fetch_providers.edgar.client:required",
        lambda real: lambda reply, host: reply,
        ("sec_filings: refused",),
    ),
    Mutant(
        "sec_filings: a notice of the SEC's for a filing",
        f"{_ROOM}.documents:is_whole_file",
        lambda real: lambda *given: True,
        ("sec_filings: incomplete",),
    ),
    *(
        Mutant(f"sec_filings: {name}", f"{_ROOM}.{target}", make, ("sec_filings: last release",))
        for name, target, make in (
            ("any filing of the form has the item", "listing:has_item", lambda real: lambda query, row: True),
            (
                "EX-99.01 is another number than EX-99.1",
                "documents:normalize_type",
                lambda real: lambda kind: kind.upper(),
            ),
            (
                "a lone EX-99 is not the first exhibit",
                "documents:select_documents",
                _numbered_alone,
            ),
            ("an older release in the place of a newer one without a word", "texts:fetch", _without_a_word),
            ("an archive does not tell of what was passed over", "texts:fetch", _told_by_the_source_alone),
        )
    ),
    Mutant(
        "sec_filings: what was passed over is counted by the source and by the archive",
        "pit_fetch.engine.from_archive:ArchiveAnswer.with_live",
        _of_any_kind,
        ("sec_filings: last release",),
    ),
    Mutant(
        "sec_filings: positions before all reports are read",
        f"{_ROOM}.holdings:fetch",
        _one_by_one,
        ("sec_filings: incomplete",),
    ),
    Mutant(
        "sec_filings: an older filing in the place of one that cannot be dated",
        f"{_RELEASE}:missed",
        nothing,
        ("sec_filings: undatable",),
    ),
    Mutant(
        "sec_filings: a filing is missed as soon as it may have been public",
        f"{_RELEASE}:missed",
        _missed_at_once,
        ("sec_filings: undated",),
    ),
    Mutant(
        "sec_filings: after a failure nothing is read of the cache",
        "pit_fetch.net.client:Client.get_cached",
        _no_more_after_a_failure,
        ("sec_filings: kept",),
    ),
    Mutant(
        "sec_filings: of a quarter, the book of the capture's day alone",
        f"{_ROOM}.holdings:fetch",
        _as_it_stands,
        ("sec_filings: named",),
    ),
    Mutant(
        "sec_filings: an archive does not tell what is left out of a book",
        f"{_ROOM}.holdings:fetch",
        _told_by_the_source,
        ("sec_filings: named",),
    ),
    Mutant(
        "sec_filings: what is named counts from its capture on",
        "pit_fetch.provider:Query.chooses.fget",
        lambda real: lambda query: query.operation.archiving.chooses,
        ("sec_filings: named",),
    ),
    Mutant(
        "sec_filings: what comes too late for the order is public since it was captured",
        f"{_ROOM}.releases:newest_first",
        _as_undated,
        ("sec_filings: left out",),
    ),
    Mutant(
        "sec_filings: a list whose columns differ in length is filled up",
        f"{_LIST}:document",
        _filled_up,
        ("sec_filings: torn",),
    ),
    Mutant(
        "sec_filings: a page in the place of a form is a form without rows",
        f"{_ROOM}.insiders:is_ownership_form",
        lambda real: lambda root: root is not None,
        ("sec_filings: incomplete",),
    ),
    Mutant(
        "sec_filings: amounts that are given by their value are left out",
        f"{_ROOM}.insiders:records",
        _in_shares_alone,
        ("sec_filings: amounts",),
    ),
    Mutant(
        "sec_filings: a second report on a quarter is added to the first",
        f"{_ROOM}.holdings:standing_reports",
        _one_after_the_other,
        ("sec_filings: book",),
    ),
    Mutant("sec_filings: an unreadable row fails the fetch", f"{_LIST}:rows", _read_or_fail, _LAW),
    *(
        Mutant(f"sec_filings: {name}", f"{_PAGE}:{target}", make, ("sec_filings: figures",))
        for name, target, make in (
            ("the cells of a row run together", "look_of", _shown_as("cell", kind="inline")),
            ("the lines of a page run together", "look_of", _shown_as("line", kind="inline")),
            ("what stands between two figures leaves no seam", "look_of", _shown_as("piece", kind="inline")),
            ("a gap between figures is none", "look_of", _shown_as("inline", before="", behind="")),
            ("what is raised is a part of its figure", "look_of", _shown_as("inline", shift="")),
            ("what a page hides is shown", "look_of", _shown_as("inline", is_gone=False)),
            ("what has no size is shown", "look_of", _shown_as("inline", has_size=None)),
            (
                "no sign parts what is raised",
                "mark_runs",
                lambda real: lambda line: re.sub("[\ufdd3-\ufdd6]", "", line),
            ),
        )
    ),
    Mutant(
        "sec_filings: an occurrence that the end of a passage cuts is passed over",
        f"{_ROOM}.text:find_passages",
        _apart,
        ("sec_filings: passages",),
    ),
)
