"""The rule from EDGAR's dates to the instant of the release, one table for each source of them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pit_fetch_providers.edgar.acceptance import Acceptance, accepted_at, available_at, proof
from pit_fetch_providers.edgar.forms import all_ordinary, is_evening
from pit_fetch_providers.edgar.header import parse_header, parse_index_page, parse_submissions

from pit_fetch.times import NEW_YORK, in_new_york
from tests.examples import examples
from tests.providers.sec_full_text import server as sec
from tests.providers.sec_full_text.server import Filing, number

ONE = number(1)


def shown(moment: datetime | None) -> str | None:
    return None if moment is None else in_new_york(moment)


# form, accepted, filing date, header date, private at first -> public, all New York
RULE = {
    "at the opening": ("8-K", "2024-02-15 06:00:00", "2024-02-15", "", False, "2024-02-15 07:00"),
    "private, released at once": ("DRS", "2024-04-02 12:36:07", "2024-04-02", "2024-04-02", True, "2024-04-03 00:00"),
    "no acceptance time": ("10-Q", "", "2001-05-11", "2001-05-14", False, "2001-05-15 00:00"),
    "no acceptance time, same day": ("10-Q", "", "2001-05-11", "2001-05-11", False, "2001-05-12 00:00"),
    "late under its day's date": ("8-K", "2019-10-29 19:16:18", "2019-10-29", "2019-10-29", False, "2019-11-03 09:00"),
    "late, released": ("8-K", "2019-10-29 19:16:18", "2019-10-29", "2019-10-30", False, "2019-10-31 00:00"),
    "late, of a large holder": ("SC 13D/A", "2024-03-19 20:48:01", "2024-03-19", "", False, "2024-03-19 21:48:01"),
    "late, before such were": ("SC 13G", "2011-02-14 17:48:32", "2011-02-14", "", False, "2011-02-19 09:00"),
    "late, a notice of sale": ("144", "2023-08-03 18:48:12", "2023-08-03", "", False, "2023-08-03 19:48:12"),
    "late, more of an offering": ("S-3MEF", "2005-08-16 21:27:02", "2005-08-16", "", False, "2005-08-16 22:27:02"),
    "moved back, released": ("8-K", "2024-02-15 17:31:00", "2024-02-14", "2024-02-16", False, "2024-02-17 00:00"),
    "midnight, sent out later": ("10-K", "2002-03-04 00:00:00", "2002-03-04", "2002-03-07", False, "2002-03-08 00:00"),
    "in the repeated hour": ("8-K", "2024-11-03 01:30:00", "2024-11-03", "", False, "2024-11-03 09:00"),
}  # fmt: skip


@pytest.mark.parametrize("make", [sec.header, sec.index_headers], ids=["sgml", "index-headers"])
@pytest.mark.parametrize(("form", "accepted", "filed", "released", "private", "public"), RULE.values(), ids=RULE)
def test_the_header_decides(
    make, form: str, accepted: str, filed: str, released: str, private: bool, public: str
) -> None:
    filing = Filing(ONE, form, accepted, filed, released, private)
    parsed = parse_header(make(filing).encode(), ONE)
    assert parsed is not None
    moment = available_at(parsed, date.fromisoformat(filed), is_evening(form, date.fromisoformat(filed)))
    assert moment is not None
    assert moment.astimezone(NEW_YORK).strftime("%Y-%m-%d %H:%M:%S") == public.ljust(19, " ").replace("   ", ":00")
    assert parsed.names == ("Apple Inc.",)


# Recorded filings: form, accepted, filing date, header date, private at first, when its files were written -> public
WRITTEN = {
    "in the session": ("8-K", "2023-03-15 16:06:36", "", "", False, "2023-03-15 16:07:18", "2023-03-15 16:07:18"),
    "after 21 minutes": ("ATS-N", "2019-05-10 17:34:10", "", "", False, "2019-05-10 17:54:48", "2019-05-10 17:54:48"),
    "in the next morning": (
        "10-K", "2018-03-07 18:03:42", "2018-03-08", "2018-03-08", False, "2018-03-08 06:07:57", "2018-03-08 06:07:57",
    ),
    "an unmarked letter": (
        "CORRESP", "2026-02-18 16:33:28", "", "2026-03-20", False, "2026-03-20 11:07:17", "2026-03-20 11:07:17",
    ),
    "a letter that was": (
        "CORRESP", "2005-06-23 10:25:12", "", "2006-05-01", True, "2017-10-10 09:48:54", "2006-05-02 00:00",
    ),
    "before 2003, too": ("10-Q", "", "2000-05-11", "2000-05-12", False, "2017-10-19 10:50:56", "2000-05-13 00:00"),
    # As an index page has it, for letters as for others; and times at which the filing was not public.
    "a letter's acceptance, on the way": (
        "UPLOAD", "2024-04-02 12:36:07", "", "2024-06-14", False, "2024-04-02 12:36:30", "2024-06-15 00:00",
    ),
    "the evening before": (
        "10-K", "2018-03-07 18:03:42", "2018-03-08", "", False, "2018-03-07 18:04:10", "2018-03-08 09:00",
    ),
    "before the opening": (
        "10-K", "2018-03-07 18:03:42", "2018-03-08", "", False, "2018-03-08 05:59:59", "2018-03-08 09:00",
    ),
    "moved back, the same evening": (
        "8-K", "2024-02-15 17:31:00", "2024-02-14", "", False, "2024-02-15 17:31:30", "2024-02-20 09:00",
    ),
    "moved back, in the next morning": (
        "8-K", "2024-02-15 17:31:00", "2024-02-14", "", False, "2024-02-16 06:09:00", "2024-02-16 06:09:00",
    ),
    "in October 2017": ("8-K", "2017-10-04 12:00:00", "", "", False, "2017-10-04 12:00:30", "2017-10-04 12:00:30"),
    "anew at another time": ("8-K", "2019-05-10 12:00:00", "", "", False, "2023-01-01 00:00", "2023-01-01 00:00"),
    "unknown": ("8-K", "2023-03-15 16:06:36", "", "", False, "", "2023-03-15 17:06:36"),
    "at the end of the calendar": ("8-K", "9999-12-31 22:30:00", "", "", False, "9999-12-31 22:30:30", ""),
}  # fmt: skip


@pytest.mark.parametrize(
    ("form", "accepted", "filed", "released", "private", "written", "public"), WRITTEN.values(), ids=WRITTEN
)
def test_when_its_own_files_were_written_is_the_proof_where_it_can_be(
    form: str, accepted: str, filed: str, released: str, private: bool, written: str, public: str
) -> None:
    filing = Filing(ONE, form, accepted, filed, released, private)
    parsed = parse_header(sec.header(filing).encode(), ONE)
    assert parsed is not None
    moment = datetime.fromisoformat(written).replace(tzinfo=NEW_YORK) if written else None
    day = date.fromisoformat(filing.day)
    evening = is_evening(form, day)
    shows = proof(parsed._replace(written=moment), day, evening) or available_at(parsed, day, evening)
    assert (shows and f"{shows.astimezone(NEW_YORK):%Y-%m-%d %H:%M:%S}") == (
        public.ljust(19, " ").replace("   ", ":00") if public else None
    )
    # The margins are not early for any recorded filing whose files were not written anew.
    rule = available_at(parsed, day, evening)
    if moment is not None and rule is not None and shows == moment and moment - rule < timedelta(days=1):
        assert rule >= moment


def test_the_repeated_hour_means_its_second_pass() -> None:
    night = datetime(2024, 11, 3, 1, 30)  # noqa: DTZ001 - a wall clock
    assert shown(accepted_at(Acceptance(night, date(2024, 11, 1)))) == "2024-11-03T01:30:00-05:00"


@pytest.mark.parametrize(("in_header", "in_index"), [("2024-02-15", "2024-02-16"), ("2024-02-16", "2024-02-15")])
def test_of_two_filing_dates_the_later_one_counts(in_header: str, in_index: str) -> None:
    filing = Filing(ONE, "8-K", "2024-02-15 17:31:00", in_header)
    parsed = parse_header(sec.header(filing).encode(), ONE)
    assert parsed is not None
    assert shown(available_at(parsed, date.fromisoformat(in_index))) == "2024-02-16T09:00:00-05:00"


GOOD = sec.header(Filing(ONE, "UPLOAD", "2024-04-02 12:36:07", released="2024-06-14", private=True))
UNUSABLE_HEADERS = {
    "nothing": "",
    "an error page": "<html><title>SEC.gov | File Unavailable</title></html>",
    "cut before its end": GOOD.partition("</SEC-HEADER>")[0],
    "cut in its first lines": GOOD.partition("<PRIVATE-TO-PUBLIC>")[0],
    "of another filing": GOOD.replace(ONE, number(2)),
    "an unreadable acceptance": GOOD.replace("20240402123607", "2024040212360"),
    "an impossible acceptance": GOOD.replace("20240402123607", "20240402993607"),
    "an empty acceptance": GOOD.replace("20240402123607", ""),
    "no header date": GOOD.replace(" : 20240614", ""),
    "an unreadable header date": GOOD.replace("20240614", "2024061"),
    "no filing date": GOOD.replace("FILED AS OF DATE", "FILED"),
}


@pytest.mark.parametrize("text", UNUSABLE_HEADERS.values(), ids=UNUSABLE_HEADERS)
def test_a_header_that_could_mislead_is_none(text: str) -> None:
    assert parse_header(text.encode(), ONE) is None


@pytest.mark.parametrize("clock", ["000000", "120000", "185900", "235959"])
@pytest.mark.parametrize("released", ["20240614", "99991231"])
def test_a_date_at_the_end_of_the_calendar_is_never_public(clock: str, released: str) -> None:
    text = GOOD.replace("20240402123607", f"99991231{clock}").replace("20240614", released)
    parsed = parse_header(text.encode(), ONE)
    assert parsed is not None
    moment = available_at(parsed, date(2024, 4, 2))
    assert moment is None or moment.year == 9999


def test_the_index_page() -> None:
    page = sec.index_page(Filing(ONE, "10-K", "2018-03-07 18:03:42", "2018-03-08")).encode()
    parsed = parse_index_page(page, ONE)
    assert parsed is not None
    assert shown(available_at(parsed, date(2018, 3, 8))) == "2018-03-08T09:00:00-05:00"
    assert parse_index_page(page, number(2)) is None
    assert parse_index_page(page.replace(b"18:03:42", b"18:03"), ONE) is None
    assert parse_index_page(b"<html></html>", ONE) is None


@pytest.mark.parametrize(
    "columns",
    [
        None,
        [],
        {},
        {"accessionNumber": [ONE]},
        {"accessionNumber": [ONE], "filingDate": ["2024-02-15"], "acceptanceDateTime": [None]},
        {"accessionNumber": [ONE], "filingDate": ["2024-02-15"], "acceptanceDateTime": ["2024-02-15T16:00"]},
        {"accessionNumber": [ONE], "filingDate": ["15 Feb"], "acceptanceDateTime": ["2024-02-15T16:00:00.000Z"]},
        {"accessionNumber": [ONE], "filingDate": ["2001-02-15"], "acceptanceDateTime": ["2001-02-15T05:00:00.000Z"]},
        {"accessionNumber": [ONE], "filingDate": ["2001-07-16"], "acceptanceDateTime": ["2001-07-16T04:00:00.000Z"]},
        {"accessionNumber": [ONE], "filingDate": ["2001-02-15"], "acceptanceDateTime": ["2001-02-15T00:00:00.000Z"]},
        {"accessionNumber": [number(2)], "filingDate": ["2024-02-15"], "acceptanceDateTime": ["2024-02-15T16:00:00Z"]},
    ],
)
def test_a_submissions_file_that_does_not_tell(columns: object) -> None:
    assert parse_submissions(columns, ONE) is None


PARSERS = [(sec.header, parse_header), (sec.index_headers, parse_header), (sec.index_page, parse_index_page)]
LETTER = Filing(ONE, "UPLOAD", "2024-04-02 12:36:07", released="2024-06-14", private=True)


@examples(5)
@given(st.sampled_from(PARSERS[:2]), st.integers(0, 1500), st.integers(0, 200))
def test_a_letter_with_a_hole_in_its_header_is_never_public_early(source: Any, place: int, cut: int) -> None:
    make, parse = source
    text = make(LETTER).encode()
    parsed = parse(text[:place] + text[place + cut :], ONE)
    stamp = None if parsed is None else available_at(parsed, date(2024, 4, 2))
    assert stamp is None or stamp >= datetime(2024, 6, 15, 4, tzinfo=UTC)


@pytest.mark.parametrize(
    ("forms", "ordinary"),
    [
        (("10-K", "10-Q"), True),
        (("10-K/A",), True),
        (("4", "-4/A"), True),
        ((), False),
        (("-4",), False),
        (("10-K", "UPLOAD"), False),
    ],
)
def test_whether_a_request_is_for_ordinary_forms_only(forms: tuple[str, ...], ordinary: bool) -> None:
    assert all_ordinary(forms) is ordinary
