"""sec_filings: when filings count as public, in which order and at what cost they come, and what their texts say."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any

import pytest
from pit_fetch_providers.sec_filings import documents, elements, text

from pit_fetch.errors import ConfigError, UpstreamError
from pit_fetch.testing.server import App, Response, as_json
from tests.provider_harness import Fetched, instead
from tests.provider_harness import ask as ask_source
from tests.providers.sec_filings import server, worlds
from tests.providers.sec_filings.server import Document, Filed
from tests.providers.sec_full_text import server as sec
from tests.providers.sec_full_text.harness import failing_from
from tests.providers.sec_full_text.server import Filing

PIT = "2024-06-03T12:00:00-04:00"
RELEASE = "<html><body><p>Record revenue.</p></body></html>"
INLINE = RELEASE.replace("<html", '<?xml version="1.0"?><html xmlns:ix="http://www.xbrl.org/2013/inlineXBRL"')
YEAR = Filed(Filing(sec.number(1), "10-K", "2023-02-15 18:04:00", filed="2023-02-16"), period="2022-12-31")
RESULTS = Filed(
    Filing(sec.number(2), "8-K", "2023-05-01 16:30:00", items=("2.02", "9.01")),
    (Document("8-K", "main.htm", RELEASE), Document("EX-99.1", "ex991.htm", RELEASE), Document("EX-99.2", "a.pdf", "")),
    "2023-05-01",
)
OTHER = Filed(Filing(sec.number(3), "8-K", "2023-06-01 12:00:00", items=("5.02",)), (Document("8-K", "other.htm", ""),))
INSIDER = Filed(Filing(sec.number(4), "4", "2023-06-02 19:10:00"))
LETTER = Filed(Filing(sec.number(5), "UPLOAD", "2023-03-01 12:00:00", released="2023-08-01", private=True))
AMENDED = Filed(Filing(sec.number(6), "10-K/A", "2023-06-05 12:00:00"))
OLD = Filed(
    Filing(sec.number(7), "10-Q", "", filed="1999-05-11", released="1999-05-12"),
    (Document("10-Q", "", "<PAGE>\n\n<TABLE>\n<S>     <C>\nCash    5\n</TABLE>\nA going\n   concern."),),
)
FILED = (YEAR, RESULTS, OTHER, INSIDER, LETTER, AMENDED, OLD)


CUT = (
    "--input-file is not a reply from sec_filings: it is cut: a full submission ends with </SEC-DOCUMENT>. "
    "Save a reply as it comes, and name that file."
)
OLDER_PART = "CIK0000320193-submissions-001.json"
PRICE_OF_A_NOTE = '<footnoteId id="F1"/>'


def ask(filed: tuple[Filed, ...] | App = FILED, *, pit: str | None = PIT, **options: Any) -> Fetched:
    app = filed if callable(filed) else server.app(filed)
    if not options.keys() & {"symbol", "cik"}:
        options["cik"] = "320193"
    return ask_source("sec_filings", app, pit=pit, **options)


def folder_of(filed: Filed) -> str:
    return f"/Archives/edgar/data/320193/{filed.filing.accession.replace('-', '')}"


def numbers(fetched: Fetched) -> list[int]:
    return [int(record.id.partition(":")[0][-6:]) for record in fetched.records]


def texts(fetched: Fetched) -> list[str]:
    return [record.payload["text"] for record in fetched.records]


# The list.


def test_a_filing_as_it_was_listed() -> None:
    record = ask(forms="8-K").records[-1]
    assert record.payload == {
        "cik": "0000320193",
        "accession": sec.number(2),
        "form": "8-K",
        "filed": "2023-05-01",
        "items": ["2.02", "9.01"],
        "period": "2023-05-01",
        "primary_document": "main.htm",
        "url": "https://www.sec.gov/Archives/edgar/data/320193/000119312524000002/main.htm",
    }
    assert (record.id, record.available_at) == (sec.number(2), datetime(2023, 5, 1, 21, 30, tzinfo=UTC))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [6, 4, 3, 2, 1, 7]),
        ({"forms": "10-K"}, [6, 1]),
        ({"forms": "10-K/A"}, [6]),
        ({"forms": "-4,-8-K"}, [6, 1, 7]),
        ({"forms": "8-K", "date_to": "2023-05-15"}, [2]),
        ({"date_from": "2023-06-01"}, [6, 4, 3]),
        ({"item": "2.02"}, [2]),
        ({"forms": "-4", "item": "5.02"}, [3]),
        ({"forms": "UPLOAD"}, [5]),  # asked for by name: released months after its filing date
    ],
)
def test_what_is_listed(options: dict[str, Any], expected: list[int]) -> None:
    assert numbers(ask(**options)) == expected


def test_exact_dates_by_when_a_file_was_written() -> None:
    written = Filed(Filing(sec.number(2), "8-K", "2023-05-01 16:30:00", written="2023-05-01 16:30:40"))
    record = ask((written,), exact=True).records[0]
    assert record.available_at == datetime(2023, 5, 1, 20, 30, 40, tzinfo=UTC)


# Two of a kind. Of the newer one something is gone.
NEWER = "2023-05-01 16:30:00"


def without(app: App, filed: Filed, reply: Response, *endings: str) -> App:
    """Return ``app`` with ``reply`` in the place of what dates a filing."""
    return instead(app, reply, *(f"{folder_of(filed)}/{filed.filing.accession}{ending}" for ending in endings))


EVIDENCE = ((".txt",), ("-index-headers.html", ".hdr.sgml", ".txt"))


def test_an_accession_that_cannot_be_dated_is_an_error_once_it_was_public() -> None:
    filed = Filed(Filing(sec.number(2), "FWP", NEWER))  # without a time of writing
    for pit, error in (("2023-05-01T20:00:00-04:00", ""), ("2023-05-02T17:30:00-04:00", "not_dated")):
        assert ask((filed,), pit=pit, op="text", accession=sec.number(2), exact=True).error_code == error


# Of before 2003: the list has the day alone.
def of_a_day(number: str, form: str, filed: str) -> Filed:
    return Filed(Filing(number, form, "", filed=filed, released=filed), (Document(form, "", "A going concern."),))


DAY_ALONE = of_a_day("0000912057-99-000002", "10-Q", "1999-05-11")
FIRST_ONE = of_a_day("0000912057-99-000001", "10-Q", "1999-02-11")


@pytest.mark.parametrize(
    ("lost", "pit", "is_missed"),
    [
        (DAY_ALONE, PIT, True),
        (DAY_ALONE, "2005-01-05T00:00:00-05:00", True),  # five years after the end of the year in its number
        (DAY_ALONE, "2004-12-30T00:00:00-05:00", False),  # its date may have been moved back by so much
        (of_a_day("0000950157-06-000686", "10-Q", "2001-02-06"), "2006-08-01T00:00:00-04:00", False),
        (of_a_day("0000912057-19-000002", "10-Q", "2019-05-09"), "2019-06-10T00:00:00-04:00", True),  # a month
        (of_a_day("0000912057-19-000002", "10-Q", "2019-05-09"), "2019-06-09T00:00:00-04:00", False),
        (of_a_day("9999999997-02-000002", "11-K", "2002-06-28"), PIT, False),  # paper may have no header
        (of_a_day("0000912057-99-000002", "FWP", "1999-05-11"), PIT, False),  # any day can be that of its release
        (Filed(Filing("0000912057-09-000002", "UPLOAD", "2009-05-11 12:00:00")), PIT, False),
    ],
)
def test_what_a_header_alone_dates_is_missed_where_its_row_proves_enough(
    lost: Filed, pit: str, is_missed: bool
) -> None:
    whole = server.app((FIRST_ONE, lost))
    gone = without(whole, lost, sec.NO_SUCH_KEY, *EVIDENCE[1])
    stopped = failing_from(whole, lambda path: lost.filing.accession in path, sec.MAINTENANCE)
    for options in ({}, {"op": "text", "form": lost.filing.form}, {"forms": (lost.filing.form, "10-Q")}):
        alone = ask((FIRST_ONE,), pit=pit, **options)
        for app, error in ((gone, "not_served"), (stopped, "http_status")):
            fetched = ask(app, pit=pit, **options)
            if is_missed:
                assert (fetched.records, fetched.error_code) == ([], error)
            elif app is gone:
                assert (fetched.items, fetched.selection.gaps) == (alone.items, alone.selection.gaps)


def test_a_header_that_contradicts_the_list_proves_nothing() -> None:
    app = server.app((RESULTS,), raw=None)
    earlier = server.app((RESULTS._replace(filing=Filing(sec.number(2), "8-K", "2023-04-03 12:00:00")),))

    def mixed(request: Any) -> Response:
        return (earlier if "/Archives/" in request.path else app)(request)

    assert numbers(ask(mixed, pit="2023-05-01T17:00:00-04:00")) == []


def test_a_long_history_costs_no_more_requests_than_a_page_of_it() -> None:
    many = tuple(Filed(filing) for filing in sec.daily(40, "2024-05-31"))
    few, all_in_one = (ask(server.app(many, recent=recent), limit=3) for recent in (10, 1_000))
    assert [len(fetched.requests) for fetched in (few, all_in_one)] == [3, 2]
    assert few.ids == all_in_one.ids
    whole = ask(server.app(many, recent=10), limit=1_000)
    assert (len(whole.records), len(whole.requests)) == (40, 5)


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (sec.NO_SUCH_KEY, "incomplete"),
        (Response(b"{}"), "malformed"),
        (Response(b'{"accessionNumber": null}'), "malformed"),
    ],
)
def test_a_missing_part_of_the_list_is_told(reply: Response, error: str) -> None:
    assert ask(instead(server.app(FILED, recent=4), reply, f"/submissions/{OLDER_PART}")).error_code == error


@pytest.mark.parametrize(
    ("dates", "is_read"),
    [
        ({"filingFrom": "2024-02-16", "filingTo": "2024-03-01"}, False),  # after the PIT's day
        ({"filingFrom": "2024-02-16", "filingTo": "soon", "name": 5}, False),
        ({"filingFrom": "2024-02-15", "filingTo": "2024-03-01"}, True),
        ({"filingFrom": "2024-02-15"}, True),
        ({"filingTo": "2024-03-01"}, True),  # what does not tell its dates can hold anything
        ({"filingFrom": 20240216, "filingTo": None}, True),
    ],
)
def test_a_part_of_the_list_that_begins_later_is_not_read(dates: dict[str, Any], is_read: bool) -> None:
    pit, columns = "2024-02-15T23:59:59-05:00", server.columns(FILED, False)
    whole = {"recent": server.columns((), False), "files": [{"name": OLDER_PART, **dates}]}
    app = instead(server.app(()), as_json({"filings": whole}), "/submissions/CIK0000320193.json")
    for reply, error, count in ((as_json(columns), "", 2), (sec.MAINTENANCE, "http_status", 0)):
        fetched = ask(instead(app, reply, f"/submissions/{OLDER_PART}"), forms="8-K", pit=pit)
        assert (fetched.error_code, len(fetched.records)) == ((error, count) if is_read else ("", 0))


@pytest.mark.parametrize("files", [{"files": None}, {"files": {}}, {"files": [None]}, {}])
def test_a_list_that_does_not_tell_its_older_parts_is_no_whole_list(files: dict[str, Any]) -> None:
    whole = {"filings": {"recent": server.columns(FILED, False), **files}}
    fetched = ask(instead(server.app(FILED), as_json(whole), "/submissions/CIK0000320193.json"), forms="8-K")
    assert (fetched.error_code, len(fetched.records)) == ("malformed", 0)


def test_without_a_pit_nothing_is_looked_up() -> None:
    fetched = ask(pit=None)
    assert (len(fetched.records), len(fetched.requests)) == (7, 1)


def test_a_saved_list_dates_what_its_rows_date() -> None:
    body = json.dumps({"filings": {"recent": server.columns(FILED, False)}}).encode()
    saved = ask_source("sec_filings", server.app(()), body=body, pit=PIT)
    assert sorted(numbers(saved)) == [1, 2, 3, 4, 6]


# Texts.


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"form": "8-K"}, [""]),  # the newest one
        ({"form": "8-K", "document": "EX-99.1"}, ["Record revenue."]),  # the newest one that has it
        ({"form": "8-K", "document": "ex-99"}, ["Record revenue.", None]),  # no text of a PDF
        ({"accession": sec.number(2), "document": "Primary"}, ["Record revenue."]),
        ({"accession": sec.number(2)}, ["Record revenue."]),
        ({"accession": sec.number(2).replace("-", "")}, ["Record revenue."]),
        ({"form": "10-Q"}, ["Cash    5\n\nA going\n   concern."]),  # before 2001, files have no names
        ({"form": "8-K", "item": "2.02"}, ["Record revenue."]),
        ({"form": "8-K", "item": "5.02"}, [""]),
        ({"form": "8-K", "item": "2.02", "document": "EX-99.01"}, ["Record revenue."]),
        ({"form": "8-K", "item": "5.02", "document": "EX-99.1"}, []),
        ({"form": "8-K", "document": "EX-10"}, []),
        ({"form": "UPLOAD"}, ["The year."]),  # released months after its filing date
        ({"form": "20-F"}, []),
        ({"accession": sec.number(99)}, []),
    ],
)
def test_the_text_of_a_filing(options: dict[str, Any], expected: list[str | None]) -> None:
    assert texts(ask(op="text", **options)) == expected


def test_a_text_has_the_items_of_the_list_if_that_is_read() -> None:
    asked = (
        ask(op="text", form="8-K", item="2.02"),
        ask(op="text", form="10-K"),
        ask(op="text", accession=sec.number(2)),
    )
    assert [fetched.records[0].payload["items"] for fetched in asked] == [["2.02", "9.01"], [], None]


def test_nothing_of_a_filing_is_read_before_it_was_public() -> None:
    fetched = ask(pit="2023-06-01T12:30:00-04:00", op="text", form="8-K", document="EX-99.1")
    assert not fetched.paths("000119312524000003/0001193125-24-000003-index.htm")
    late = ask(pit="2023-05-01T12:30:00-04:00", op="text", accession=sec.number(2))
    assert (late.records, late.paths(".htm")) == ([], [path for path in late.paths(".htm") if "headers" in path])


def test_a_saved_submission_is_dated_by_its_header() -> None:
    body = server.submission(RESULTS).encode()
    for pit, expected in (("2023-05-01T17:29:59-04:00", []), ("2023-05-01T17:30:00-04:00", ["Record revenue."])):
        saved = ask_source("sec_filings", server.app(()), body=body, pit=pit, op="text", document="EX-99.1")
        assert texts(saved) == expected


def test_a_saved_submission_does_not_show_its_items_by_number() -> None:
    body = server.submission(RESULTS).encode()
    with pytest.raises(ConfigError, match=re.escape("item is in a company's list alone")):
        ask_source("sec_filings", server.app(()), body=body, pit=PIT, op="text", form="8-K", item="2.02")


def test_a_submission_of_before_1996_has_an_envelope_of_another_name() -> None:
    whole = server.submission(OLD).replace("SEC-", "IMS-")
    body = f"-----BEGIN PRIVACY-ENHANCED MESSAGE-----\nProc-Type: 2001,MIC-CLEAR\n\n{whole}"
    saved = ask_source("sec_filings", server.app(()), body=body.encode(), pit=PIT, op="text")
    folder = f"/Archives/edgar/data/320193/{OLD.filing.accession.replace('-', '')}/{OLD.filing.accession}"
    app = instead(server.app(FILED), Response(body.encode()), f"{folder}.txt")
    for ending in ("-index-headers.html", ".hdr.sgml"):
        app = instead(app, sec.MISSING, folder + ending)
    for fetched in (saved, ask(app, op="text", form="10-Q")):
        (record,) = fetched.records
        assert record.available_at == datetime(1999, 5, 13, 4, tzinfo=UTC)  # the end of the day in its first line
        assert "going" in record.payload["text"]


PAGE = """<?xml version='1.0' encoding='ASCII'?><html xmlns:ix="http://www.xbrl.org/2013/inlineXBRL"><head><title/>
<script/></head><body><div style="display:none"><ix:header><ix:hidden>0000320193</ix:hidden></ix:header></div>
<div><span style="display:none">unseen</span>Net <ix:nonNumeric name="dei:X">sales</ix:nonNumeric></div>
<table><tr><td>Products</td><td>$</td><td><ix:nonFraction scale="6">68,714</ix:nonFraction></td><td></td></tr>
<tr><td>Change</td><td></td><td>(<ix:nonFraction>8</ix:nonFraction></td><td>)%</td></tr></table></body></html>"""


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (PAGE, "Net sales\n\nProducts | $68,714 |\nChange | | (8)%"),
        (
            "<html>Sales<table><tr><td></td><td>2024</td><td>%</td></tr><tr><td>Europe</td><td>20</td><td>%</td></tr>",
            "Sales\n\n2024 | %\nEurope | 20%",
        ),
        ("<PAGE>\nITEM 1.   \n\n\n\n<TABLE>\n<CAPTION>\n<S>   <C>\nCash  $ 5\n</TABLE>\n", "ITEM 1.\n\nCash  $ 5"),
        (
            "<TABLE>\nSales <F1>  5,234<F2>\n<FN>\n<F1> Restated\n  <F2>Net",
            "Sales <F1>  5,234<F2>\n\n<F1> Restated\n  <F2>Net",
        ),
        ("<html></html>", ""),
        ("<html><svg><text><tspan x=10>1,234</tspan><tspan x=90>567</tspan></text></svg>", "1,234 567"),
        ("", ""),
    ],
)
def test_the_text_of_a_document(source: str, expected: str) -> None:
    assert text.document_text(source) == expected


@pytest.mark.parametrize(
    ("cells", "row"),
    [
        ("Item 2024 % 2023 %", "Item | 2024 | % | 2023 | %"),
        ("Group 2024 $ 2023 $", "Group | 2024 | $ | 2023 | $"),
        ("$ 2024 2023", "$ | 2024 | 2023"),
        ("Note_5 % 2023", "Note 5 | % | 2023"),
        ("2024<sup>1</sup> % 2023 )", "2024^1 | % | 2023 | )"),
        ("31.12.2024 € 31.12.2023 €", "31.12.2024 | € | 31.12.2023 | €"),
        ("2024 $ 5,234 20 %", "2024 | $5,234 | 20%"),
        ("Other (2013 ) — %", "Other | (2013) | —%"),
        ("Shares ($ 2024 ) .5 %", "Shares | ($2024) | .5%"),
        ("Change (8<sup>1</sup> )% ¥ 5", "Change | (8^1)% | ¥5"),
        ("Change (5.2 ) % (6 )_% (7 % )", "Change | (5.2)% | (6)% | (7%)"),
        ("Change 5.2 % % 10 ) )", "Change | 5.2% | % | 10) | )"),
        ("Loss $_(5,234 ) $_6 )", "Loss | $ (5,234) | $ 6)"),
    ],
)
def test_signs_are_at_their_figures_and_those_of_a_heading_are_not(cells: str, row: str) -> None:
    table = "".join(f"<td>{cell.replace('_', ' ')}" for cell in cells.split())
    assert text.document_text(f"<html><table><tr>{table}</table>") == row


def test_a_page_of_a_million_tags_is_no_text() -> None:
    huge = Filed(RESULTS.filing, (Document("8-K", "main.htm", "<html>" + "<p>" * 1_000_000),))
    assert texts(ask((huge,), op="text", form="8-K")) == [None]
    assert texts(ask((huge,), op="text", form="8-K", find="revenue")) == [None]  # which may hold the words


@pytest.mark.parametrize(
    ("filed", "asked", "expected"),
    [
        (["10-K", "EX-99.1", "EX-9"], "primary", [1]),
        (["EX-99.1", "EX-9", "EX-99"], "ex-99", [1, 3]),
        (["EX-99.01", "EX-99.010", "EX-99.10"], "EX-99.1", [1]),
        (["EX-99"], "EX-99.1", [1]),
        (["EX-99", "EX-101.INS"], "EX-99.01", [1]),
        (["EX-9", "EX-99.2"], "EX-9.1", [1]),
        (["EX-99"], "EX-99.2", []),
        (["EX-99", "EX-99"], "EX-99.1", []),  # nothing shows which is the first
        (["EX-99", "EX-99.2"], "EX-99.1", []),
        (["EX-99", "EX-99.1"], "EX-99.1", [2]),
    ],
)
def test_the_number_of_an_exhibit(filed: list[str], asked: str, expected: list[int]) -> None:
    every = [documents.Document(place, kind) for place, kind in enumerate(filed, 1)]
    assert [document.sequence for document in documents.select_documents(every, asked)] == expected


# Insiders.


def insider(number: int, accepted: str, document: Document, form: str = "4") -> Filed:
    return Filed(Filing(sec.number(number), form, accepted), (document,))


SOLD = insider(
    11, "2024-02-14 18:30:00", server.ownership("4", [{}, {"date": "2035-02-12", "price": PRICE_OF_A_NOTE}], owners=2)
)
CORRECTED = insider(12, "2024-03-01 12:00:00", server.ownership("4/A", [{"shares": "1000"}], "2024-02-14"), "4/A")
FIRST = insider(13, "2024-01-05 12:00:00", server.ownership("3", [{"date": ""}]), "3")
ON_PAPER = insider(14, "2002-05-06 12:00:00", Document("4", "", "FORM 4\n\n1. Name: Jane Doe"))


def test_a_row_of_a_form() -> None:
    row = ask((SOLD,), op="insiders").records[0]
    assert (row.id, row.available_at) == (f"{sec.number(11)}:001", datetime(2024, 2, 15, 0, 30, tzinfo=UTC))
    expected = {"issuer_symbol": "AAPL", "owner": "Doe Jane; Doe Jane", "relation": "officer, CFO; officer, CFO",
                "kind": "transaction", "security": "Common Stock", "transaction_date": "2024-02-12", "code": "S",
                "acquired": False, "shares": 100, "price": 180.5, "owned_after": 900, "amends": None,
                "is_10b5_1": False}  # fmt: skip
    assert {name: row.payload[name] for name in expected} == expected


def test_a_date_in_a_form_is_no_instant_and_a_price_can_be_a_footnote() -> None:
    row = ask((SOLD,), op="insiders").records[1]
    assert (row.payload["transaction_date"], row.payload["price"]) == ("2035-02-12", None)
    assert row.payload["footnotes"] == ["A weighted average."]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("7.", 7),
        (".25", 0.25),
        ("-7", -7),
        ("123456789012345678901", 123_456_789_012_345_678_901),
        ("33.33333333333333333333", 33.333333333333336),  # digits behind the point are rounded
        ("", None),
        # A float would change the whole part.
        ("12345678901234567.25", "malformed"),
    ],
)
def test_a_number_of_a_form_is_read_or_is_an_error(written: str, expected: object) -> None:
    form = insider(17, "2024-02-20 12:00:00", server.ownership("4", [{"shares": written}]))
    fetched = ask((form, FIRST), op="insiders")
    shares = [record.payload["shares"] for record in fetched.records[:1]]
    assert (fetched.error_code, shares) == ((expected, []) if expected == "malformed" else ("", [expected]))


def test_an_amendment_says_what_it_amends_and_both_are_shown() -> None:
    every = ask((SOLD, CORRECTED, FIRST, ON_PAPER), op="insiders")
    assert numbers(every) == [12, 11, 11, 13, 14]
    assert every.records[0].payload["amends"] == "2024-02-14"
    assert [record.payload["kind"] for record in every.records] == ["transaction"] * 3 + ["holding", "unread"]
    assert numbers(ask((SOLD, CORRECTED, FIRST), op="insiders", forms="4/A")) == [12]
    assert numbers(ask((SOLD, CORRECTED), op="insiders", pit="2024-03-01T12:59:59-05:00")) == [11, 11]


HOSTILE = """<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>
<ownershipDocument><issuer><issuerName>&b;</issuerName></issuer></ownershipDocument>"""


@pytest.mark.parametrize("source", [HOSTILE, "<ownershipDocument>", "", "<a>&undeclared;</a>", "<a>\0</a>"])
def test_xml_with_entities_or_cut_off_is_none(source: str) -> None:
    assert elements.parse_xml(source) is None
    form = insider(11, "2024-02-14 18:30:00", Document("4", "x.xml", f"<!-- ownershipDocument -->{source}"))
    for pit, error in (("2024-02-14T18:00:00-05:00", ""), (PIT, "malformed")):
        fetched = ask((form,), pit=pit, op="insiders")
        assert (fetched.records, fetched.error_code) == ([], error)


# Well formed, and no form or report.
XHTML = "<html><body><p>The {} is not available.</p></body></html>"


def test_a_page_that_speaks_of_a_form_is_none() -> None:
    page, (form,) = Document("4", "form4.xml", XHTML.format("ownershipDocument")), SOLD.documents
    for made, expected in (((page,), ([13], "malformed")), ((page, form), ([13, 11, 11], ""))):
        late = FIRST._replace(filing=Filing(sec.number(13), "3", "2024-05-05 12:00:00"))
        fetched = ask((late, SOLD._replace(documents=made)), op="insiders")
        assert (numbers(fetched), fetched.error_code) == expected


def test_a_form_on_paper_is_a_row_that_says_so() -> None:
    paper = insider(15, "2024-02-20 12:00:00", Document("4", "", "FORM 4\n\n1. Name: Jane Doe"))
    fetched = ask((SOLD, paper, FIRST, ON_PAPER), op="insiders")
    assert (numbers(fetched), fetched.error) == ([15, 11, 11, 13, 14], None)
    told = {name: value for name, value in fetched.records[0].payload.items() if value}
    assert told == {"accession": sec.number(15), "form": "4", "kind": "unread"}
    before, alone = (
        ask(filed, op="insiders", pit="2024-02-20T12:59:59-05:00") for filed in ((SOLD, paper, FIRST), (SOLD, FIRST))
    )
    assert (before.items, before.selection.gaps) == (alone.items, alone.selection.gaps)
    saved = ask_source("sec_filings", server.app(()), body=server.submission(paper).encode(), pit=PIT, op="insiders")
    assert [record.payload["kind"] for record in saved.records] == ["unread"]


# What stands in a form of one sale, what stands there instead, and what is served: a field and its value, or an error.
SEVERAL = "<value>180.5</value></transactionPricePerShare><transactionPricePerShare>"
IN_A_FORM: tuple[tuple[str, str, tuple[str, Any] | None], ...] = (
    (">2024-02-12</value>", ">2024-02-12-05:00</value>", ("transaction_date", "2024-02-12")),
    (">2024-02-12</value>", ">2024-02-12Z</value>", ("transaction_date", "2024-02-12")),
    (">2024-02-12</value>", "></value>", ("transaction_date", None)),
    (">2024-02-12</value>", ">2024-02-12 or so</value>", None),
    (">2024-02-12</value>", ">2024-02-123</value>", None),
    (">2024-02-12</value>", ">02/12/2024</value>", None),
    (">2024-02-12</value>", ">2024-02-30</value>", None),
    ("<aff10b5One>0<", "<aff10b5One>true<", ("is_10b5_1", True)),
    ("<aff10b5One>0<", "<aff10b5One>FALSE<", ("is_10b5_1", False)),
    ("<aff10b5One>0<", "<aff10b5One><", ("is_10b5_1", None)),
    ("<aff10b5One>0<", "<aff10b5One>yes<", None),
    ("<isDirector>0<", "<isDirector>-1<", None),
    ("<value>D</value>", "<value>A</value>", ("acquired", True)),
    ("<value>D</value>", "", ("acquired", None)),
    ("<value>D</value>", "<value>Disposed</value>", None),
    (">Common Stock<", ">Common\n  Stock<", ("security", "Common Stock")),
    (">Common Stock<", ">Common &amp; <!-- -->Stock<", ("security", "Common & Stock")),
    (">Common Stock<", ">Common <i>Stock</i><", None),
    (">Common Stock</value>", ">Common</value> Stock", None),
    ("<value>180.5</value>", '<value>180.5</value><footnoteId id="F1"/>', ("price", 180.5)),
    ("<value>180.5</value>", '<footnoteId id="F1"/>', ("price", None)),
    ("<value>180.5</value>", '<footnoteId id="F1"/>180.5', None),
    ("<value>180.5</value>", "<value>180.5</value><value>7</value>", None),
    ("<value>180.5</value>", "<amount>180.5</amount>", None),
    ("<value>180.5</value>", f"{SEVERAL}<value>7</value>", None),
    ("<issuerName>", "<issuerName>Another</issuerName><issuerName>", None),
    # Rows that are not found would seem not to be there.
    ("<nonDerivativeTransaction>", "<row/><nonDerivativeTransaction>", None),
    ("nonDerivativeTable>", "table>", None),
    ("nonDerivativeTransaction>", "NonDerivativeTransaction>", None),
    ("<derivativeTable>", "<derivativeTable></derivativeTable><derivativeTable>", None),
)


@pytest.mark.parametrize(("there", "instead_of_it", "expected"), IN_A_FORM)
def test_what_a_form_says_is_read_or_is_an_error(
    there: str, instead_of_it: str, expected: tuple[str, Any] | None
) -> None:
    form = server.ownership("4")
    assert there in form.source
    filed = insider(17, "2024-02-20 12:00:00", form._replace(source=form.source.replace(there, instead_of_it)))
    fetched = ask((filed, FIRST), op="insiders")
    if expected is None:
        assert (fetched.records, fetched.error_code) == ([], "malformed")
        assert f"Form 4 {sec.number(17)} has a value that cannot be read" in fetched.error.reason  # type: ignore[union-attr]
    else:
        name, value = expected
        assert (fetched.error, fetched.records[0].payload[name]) == (None, value)


def test_xml_of_more_values_than_any_form_has_is_refused() -> None:
    with pytest.raises(UpstreamError, match="4 million values"):
        elements.parse_xml("<a>" + "<b/>" * 4_000_001 + "</a>")


# Holdings.


def quarter(
    number: int, accepted: str, positions: list[tuple[str, int, int]], kind: str = "", period: str = "2024-03-31"
) -> Filed:
    form = "13F-HR/A" if kind else "13F-HR"
    return Filed(Filing(sec.number(number), form, accepted), server.report(form, period, positions, kind), period)


BASE = quarter(21, "2024-05-15 12:00:00", [("ACME", 5_000, 100), ("APEX", 7_000, 100)])
ADDED = quarter(22, "2024-05-20 12:00:00", [("ATLAS", 6_000, 100)], "NEW HOLDINGS")
REPLACED = quarter(23, "2024-05-24 12:00:00", [("ACME", 5_500, 110)], "RESTATEMENT")
EMPTIED = quarter(24, "2024-05-28 12:00:00", [("0", 0, 0)], "RESTATEMENT")
OLDER = quarter(25, "2024-02-14 12:00:00", [("OLD", 5_000, 100)], period="2023-12-31")
BELATED = quarter(26, "2024-05-21 12:00:00", [("LATE", 5_000, 100)], "NEW HOLDINGS", period="2023-12-31")
BOOKS = (BASE, ADDED, REPLACED, EMPTIED, OLDER, BELATED)


@pytest.mark.parametrize(
    ("pit", "expected"),
    [
        ("2024-05-15T12:59:59-04:00", ["OLD"]),
        ("2024-05-15T13:00:00-04:00", ["ACME", "APEX"]),
        ("2024-05-22T12:00:00-04:00", ["ATLAS", "ACME", "APEX"]),
        ("2024-05-25T12:00:00-04:00", ["ACME"]),
        ("2024-05-29T12:00:00-04:00", []),
    ],
)
def test_the_book_of_a_manager(pit: str, expected: list[str]) -> None:
    fetched = ask(BOOKS, pit=pit, op="holdings")
    assert [record.payload["issuer"] for record in fetched.records] == expected
    assert all(record.payload["form"].startswith("13F-HR") for record in fetched.records)


@pytest.mark.parametrize(("kind", "expected"), [("RESTATEMENT", ["ATLAS"]), ("NEW HOLDINGS", ["ATLAS", "ACME"])])
def test_an_amendment_of_the_same_morning_comes_after_what_it_amends(kind: str, expected: list[str]) -> None:
    made = [
        Filed(Filing(sec.number(place), form, "2024-05-14 20:00:00", filed="2024-05-15"), report, "2024-03-31")
        for place, form, report in (
            (1, "13F-HR/A", server.report("13F-HR/A", "2024-03-31", [("ATLAS", 5_000, 100)], kind)),
            (2, "13F-HR", server.report("13F-HR", "2024-03-31", [("ACME", 5_000, 100)])),
        )
    ]
    assert [record.payload["issuer"] for record in ask(tuple(made), op="holdings").records] == expected


def test_a_position() -> None:
    record = ask((BASE,), op="holdings").records[0]
    assert record.id == f"{sec.number(21)}:00001"
    assert record.payload == {
        "accession": sec.number(21), "form": "13F-HR", "amendment": None, "manager_cik": "0000320193",
        "period": "2024-03-31", "issuer": "ACME", "cusip": "037833100", "class": None, "value": 5_000, "shares": 100,
        "share_type": "SH", "put_call": None, "discretion": None, "other_managers": None, "is_unit_doubtful": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("accepted", "value", "expected", "doubtful"),
    [
        ("2023-01-02 12:00:00", 5, 5_000, False),  # in thousands
        ("2023-01-03 12:00:00", 5_000, 5_000, False),  # in dollars, whatever the period
        ("2023-02-28 12:00:00", 5, 5, True),  # still in thousands: as filed, with a mark
        ("2022-02-28 12:00:00", 5_000_000, 5_000_000_000, True),
    ],
)
def test_values_are_in_dollars(accepted: str, value: int, expected: int, doubtful: bool) -> None:
    report = quarter(21, accepted, [("ACME", value, 100)], period="2021-12-31")
    (record,) = ask((report,), op="holdings").records
    assert (record.payload["value"], record.payload["is_unit_doubtful"]) == (expected, doubtful)


def test_a_saved_submission_holds_one_report_or_form() -> None:
    for filed, op, count in (
        (BASE, "holdings", 2),
        (SOLD, "insiders", 2),
        (BASE, "insiders", 0),
        (SOLD, "holdings", 0),
    ):
        body = server.submission(filed).encode()
        assert len(ask_source("sec_filings", server.app(()), body=body, pit=PIT, op=op).records) == count


@pytest.mark.parametrize(
    ("filed", "op"), [(BASE, "holdings"), (SOLD, "insiders"), (RESULTS, "text"), (RESULTS, "filings")], ids=str
)
def test_a_saved_file_is_of_the_company_that_it_names(filed: Filed, op: str) -> None:
    whole = {"cik": "320193", "filings": {"recent": server.columns([filed], False)}}
    body = json.dumps(whole).encode() if op == "filings" else server.submission(filed).encode()
    for cik, problem in ((None, None), ("320193", None), ("1067983", "it is of another company than cik says")):
        saved = ask_source("sec_filings", server.app(()), body=body, pit=PIT, op=op, cik=() if cik is None else cik)
        errors = [gap.params["problem"] for gap in saved.selection.gaps if gap.type == "input_error"]
        assert errors == ([] if problem is None else [problem])
        assert all(record.payload.get("manager_cik", "0000320193") == "0000320193" for record in saved.records)
        assert all("/320193/" in record.payload.get("url", "/320193/") for record in saved.records)
        assert bool(saved.records) == (problem is None)


def test_a_saved_file_that_does_not_show_whose_it_is_is_not_taken_for_that_of_the_company_asked_for() -> None:
    body = json.dumps(server.columns([RESULTS], False)).encode()
    (record,) = ask_source("sec_filings", server.app(()), body=body, pit=PIT).records
    assert (record.payload["cik"], record.payload["url"]) == (None, None)
    refused = ask_source("sec_filings", server.app(()), body=body, pit=PIT, cik="320193")
    (error,) = (gap.params["problem"] for gap in refused.selection.gaps if gap.type == "input_error")
    assert (refused.records, error) == ([], "it does not show whose it is (leave out cik)")


@pytest.mark.parametrize(
    ("source", "op"), [("sec_filings", "filings"), ("sec_filings", "text"), ("sec_facts", "facts")]
)
def test_a_symbol_is_refused_beside_a_saved_file(source: str, op: str) -> None:
    with pytest.raises(ConfigError, match="symbol cannot be compared with --input-file: give cik=320193, or neither"):
        ask_source(source, server.app(()), body=b"{}", pit=PIT, op=op, symbol="AAPL")


@pytest.mark.parametrize("kind", ["", "AMENDED"])
def test_an_amendment_that_does_not_say_what_it_does_is_an_error(kind: str) -> None:
    unclear = server.report("13F-HR/A", "2024-03-31", [("ATLAS", 6_000, 100)], kind)
    fetched = ask((BASE, ADDED._replace(documents=unclear)), op="holdings")
    assert (fetched.records, fetched.error_code) == ([], "malformed")


def test_a_report_on_another_quarter_than_listed_is_an_error() -> None:
    for period in ((), "2024-03-31"):
        fetched = ask((BASE, ADDED._replace(documents=OLDER.documents)), op="holdings", period=period)
        assert (fetched.records, fetched.error_code) == ([], "malformed")


TYPED = (Document("13F-HR", "", "FORM 13F\n\nACME   5,000"),)


@pytest.mark.parametrize(
    ("typed", "others", "expected"),
    [
        (BASE, (), None),
        (BASE, (ADDED,), None),
        (ADDED, (BASE,), None),
        (BASE, (REPLACED,), ["ACME"]),  # which replaces what is not known, too
        (BASE, (ADDED, REPLACED), ["ACME"]),
        (REPLACED, (BASE, ADDED), None),
        (quarter(27, "2013-05-15 12:00:00", [], "", "2013-03-31"), (), None),
        (OLDER, (BASE,), ["ACME", "APEX"]),
    ],
)
def test_a_book_of_which_a_part_is_plain_text_is_left_out_and_a_gap_says_so(
    typed: Filed, others: tuple[Filed, ...], expected: list[str] | None
) -> None:
    filed = (typed._replace(documents=TYPED), *others)
    fetched = ask(filed, op="holdings")
    assert [record.payload["issuer"] for record in fetched.records] == (expected or [])
    assert (fetched.error, fetched.gaps.count("not_data")) == (None, 0 if expected else 1)
    earlier = ask(filed, op="holdings", pit="2013-05-01T12:00:00-04:00")
    assert (earlier.records, earlier.gaps.count("not_data")) == ([], 0)


@pytest.mark.parametrize("period", [None, "2023-06-30"])
@pytest.mark.parametrize("filed", ["2023-06-30", "2023-06-29"])
def test_a_report_of_the_last_day_of_its_quarter_is_on_it_whatever_follows(filed: str, period: str | None) -> None:
    base = quarter(31, f"{filed} 16:45:00", [("ACME", 5_000, 100)], period="2023-06-30")
    added = quarter(32, "2023-08-21 12:00:00", [("ATLAS", 6_000, 100)], "NEW HOLDINGS", "2023-06-30")
    for pit, expected in (("2023-07-03", ["ACME"]), ("2023-09-01", ["ATLAS", "ACME"])):
        fetched = ask((base, added), op="holdings", pit=f"{pit}T12:00:00-04:00", period=period)
        if filed == "2023-06-30":
            assert [record.payload["issuer"] for record in fetched.records] == expected
        else:  # filed before its quarter was over: on none that has ended, alone or beside others
            assert fetched.records == []


def test_an_amendment_that_adds_to_nothing_is_no_book() -> None:
    for filed, error in (((ADDED,), "malformed"), ((ADDED, OLDER), "malformed"), ((ADDED, REPLACED), "")):
        assert ask(filed, op="holdings").error_code == error
    assert ask((ADDED, OLDER), op="holdings", pit="2024-05-20T12:30:00-04:00").error is None


@pytest.mark.parametrize("source", [BASE.documents[1].source[:-40], XHTML.format("table")], ids=["cut", "page"])
def test_one_table_of_several_that_cannot_be_read_is_an_error(source: str) -> None:
    lost = Document("INFORMATION TABLE", "more.xml", source)
    fetched = ask((BASE._replace(documents=(*BASE.documents, lost)),), op="holdings")
    assert (fetched.records, fetched.error_code) == ([], "malformed")


@pytest.mark.parametrize(("count", "is_found"), [(19, True), (20, False)])
def test_a_search_for_a_document_that_ends_early_says_so(count: int, is_found: bool) -> None:
    without = [Filed(filing, RESULTS.documents[:1]) for filing in sec.daily(count, "2024-01-31", "8-K", 100)]
    fetched = ask((*without, RESULTS), op="text", form="8-K", document="EX-99.1")
    assert (len(fetched.records), fetched.gaps.count("searched_in_part")) == (int(is_found), int(not is_found))


def test_a_report_of_no_positions_needs_no_table() -> None:
    for documents_left in (1, 2):
        none = server.report("13F-HR/A", "2024-03-31", [], "RESTATEMENT")[:documents_left]
        fetched = ask((BASE, REPLACED._replace(documents=none)), op="holdings")
        assert (fetched.records, fetched.error) == ([], None)


@pytest.mark.parametrize(
    ("total", "error"), [("0", ""), ("2", "malformed"), ("-1", "malformed"), ("none", "malformed"), ("", "malformed")]
)
def test_a_report_without_rows_is_empty_if_its_cover_says_so(total: str, error: str) -> None:
    cover, table = server.report("13F-HR/A", "2024-03-31", [], "RESTATEMENT")
    said = cover._replace(source=cover.source.replace("<tableEntryTotal>0<", f"<tableEntryTotal>{total}<"))
    assert ask((BASE, REPLACED._replace(documents=(said, table))), op="holdings").error_code == error


@pytest.mark.parametrize("total", ["2", "0", "many", ""])
def test_the_number_of_rows_on_a_cover_is_not_compared(total: str) -> None:
    cover, table = REPLACED.documents
    said = cover._replace(source=cover.source.replace("<tableEntryTotal>1<", f"<tableEntryTotal>{total}<"))
    fetched = ask((BASE, REPLACED._replace(documents=(said, table))), op="holdings")
    assert ([record.payload["issuer"] for record in fetched.records], fetched.error) == (["ACME"], None)


# What cannot be answered.


NOT_HERE = (
    sec.MISSING,
    sec.NO_SUCH_KEY,
    sec.MAINTENANCE,
    Response(b""),
    Response(bytes(range(256)) * 9),
    Response(sec.MAINTENANCE.body),
    Response(b"<html><body><p>Record rev"),
    Response(b"<HTML><HEAD>\n<TITLE>Access Denied</TITLE>\n</HEAD><BODY>\n<H1>Access Denied</H1>\n</BODY>\n</HTML>\n"),
    Response(b"<html><head><title>Request Rate Threshold Exceeded</title></head><body></body></html>"),
    Response(server.submission(OTHER).encode()),
)


KINDS = ("403", "404", "503", "empty", "binary", "notice", "cut", "denied", "rate", "another")


@pytest.mark.parametrize("reply", NOT_HERE, ids=KINDS)
def test_a_file_that_is_not_whole_is_read_from_the_full_submission(reply: Response) -> None:
    if reply is sec.MAINTENANCE:  # which is an error, and not what came in the place of a file
        return
    folder = folder_of(RESULTS)
    for name in ("main.htm", "ex991.htm", f"{sec.number(2)}-index.htm"):
        app = instead(server.app((RESULTS,)), reply, f"{folder}/{name}")
        for options in ({}, {"document": "EX-99.1"}):
            assert texts(ask(app, op="text", form="8-K", **options)) == ["Record revenue."]


def test_a_host_does_not_say_what_characters_a_file_has() -> None:
    page = Response(
        INLINE.replace("Record", "R\u00e9cord").encode(), 200, {"Content-Type": "text/html; charset=koi8-r"}
    )
    app = instead(server.app((RESULTS,)), page, f"{folder_of(RESULTS)}/main.htm")
    assert texts(ask(app, op="text", form="8-K")) == ["R\u00e9cord revenue."]


@pytest.mark.parametrize("declared", ["", ' encoding="UTF-8"', ' encoding="ISO-8859-1"'])
def test_a_form_is_in_the_characters_that_its_xml_declares(declared: str) -> None:
    form = SOLD.documents[0]
    source = form.source.replace('"1.0"', f'"1.0"{declared}').replace("Doe Jane", "Do\u00e9 Jane")
    note = Document("EX-24", "poa.txt", server.as_filed("Caf\u00e9", "cp1252"))
    made = server.as_filed(source, "cp1252" if "8859" in declared else "utf-8")
    fetched = ask((SOLD._replace(documents=(note, form._replace(source=made))),), op="insiders")
    assert fetched.records[0].payload["owner"] == "Do\u00e9 Jane; Do\u00e9 Jane"


ENVELOPE = "<DOCUMENT>\n<TYPE>{}\n<SEQUENCE>1\n<FILENAME>{}\n<DESCRIPTION>OF TODAY\n<TEXT>\n{}\n</TEXT>\n</DOCUMENT>\n"


@pytest.mark.parametrize(
    ("file", "source"),
    [("ex991.htm", RELEASE), ("ex991.txt", "<PAGE>\nRecord revenue."), ("ex991.xml", f"<XML>\n{RELEASE}\n</XML>")],
)
def test_the_envelope_of_a_file_is_no_part_of_its_text(file: str, source: str) -> None:
    exhibit = Document("EX-99.1", file, ENVELOPE.format("EX-99.1", file, source))
    main = Document("8-K", "main.htm", ENVELOPE.format("8-K", "main.htm", RELEASE))
    app = instead(server.app((RESULTS._replace(documents=(main, exhibit)),)), sec.MISSING, SUBMISSION)
    for options in ({}, {"document": "EX-99.1"}):
        assert texts(ask(app, op="text", form="8-K", **options)) == ["Record revenue."]


# Plain text has no end of its own: the index page tells how long it is.
PLAIN = RESULTS._replace(documents=(*RESULTS.documents[:1], Document("EX-99.1", "ex991.txt", "Record revenue.\n")))
SUBMISSION = f"{folder_of(RESULTS)}/{sec.number(2)}.txt"


def test_a_plain_text_that_is_a_file_of_its_own_is_read_by_itself() -> None:
    question, whole = {"op": "text", "form": "8-K", "document": "EX-99.1"}, server.app((PLAIN,))
    fetched = ask(whole, **question)
    assert (texts(fetched), fetched.paths("/ex991.txt")) == (["Record revenue."], [f"{folder_of(RESULTS)}/ex991.txt"])
    assert SUBMISSION not in fetched.paths("")
    cut = ask(instead(whole, Response(b"Record rev"), f"{folder_of(RESULTS)}/ex991.txt"), **question)
    assert (texts(cut), cut.paths(SUBMISSION)) == (["Record revenue."], [SUBMISSION])


def test_a_page_without_an_end_is_read_by_itself_if_it_is_as_long_as_its_index_says() -> None:
    page = RELEASE.removesuffix("</html>")
    app = instead(
        server.app((RESULTS._replace(documents=(Document("8-K", "main.htm", page),)),)), sec.MISSING, SUBMISSION
    )
    assert texts(ask(app, op="text", form="8-K")) == ["Record revenue."]


def test_a_file_that_is_too_large_is_an_error_that_says_what_else_can_be_asked_for() -> None:
    app = instead(server.app((PLAIN,)), Response(bytes(64_000_001)), SUBMISSION)
    assert texts(ask(app, op="text", form="8-K", document="EX-99.1")) == ["Record revenue."]
    fetched = ask(
        instead(app, sec.MISSING, f"{folder_of(RESULTS)}/ex991.txt"), op="text", form="8-K", document="EX-99.1"
    )
    assert fetched.error is not None
    assert fetched.error.reason == (
        "A file of more than 64 MB is not read: give the document that you need (text document=EX-99.1), or use a "
        f"browser for https://www.sec.gov{SUBMISSION}."
    )


def test_a_submission_without_what_its_index_lists_is_an_error() -> None:
    alone = server.submission(RESULTS._replace(documents=RESULTS.documents[:1])).encode()
    folder = folder_of(RESULTS)
    app = instead(server.app((RESULTS,)), Response(alone), f"{folder}/{sec.number(2)}.txt")
    fetched = ask(instead(app, sec.MISSING, f"{folder}/ex991.htm"), op="text", form="8-K", document="EX-99.1")
    assert fetched.error is not None
    assert fetched.error.reason == f"www.sec.gov lists filing {sec.number(2)}, and does not serve it: try again later."


def test_the_index_page_of_another_filing_is_not_that_of_the_one_asked_for() -> None:
    other = Filed(Filing(sec.number(90), "8-K", "2023-01-05 12:00:00"), (Document("8-K", "main.htm", ""),))
    app = server.app((RESULTS,))
    page = Response(server.index_page(other).encode())
    options = {"op": "text", "form": "8-K", "document": "EX-99.1"}
    wrong = ask(instead(app, page, f"{folder_of(RESULTS)}/{sec.number(2)}-index.htm"), **options)
    assert wrong.items == ask(app, **options).items != []


@pytest.mark.parametrize(
    ("filed", "options"),
    [(BASE, {"op": "holdings"}), (SOLD, {"op": "insiders"}), (RESULTS, {"op": "text", "document": "EX-99.1"})],
    ids=["holdings", "insiders", "text"],
)
def test_a_full_submission_that_is_cut_is_refused(filed: Filed, options: dict[str, Any]) -> None:
    whole = server.submission(filed).encode()
    for body, expected in (
        (whole, []),
        (whole + b"-----END PRIVACY-ENHANCED MESSAGE-----\n", []),
        (whole[:-20], [CUT]),
    ):
        saved = ask_source("sec_filings", server.app(()), body=body, pit=PIT, **options)
        assert [gap.reason for gap in saved.selection.gaps if gap.type == "input_error"] == expected
        assert (saved.records == []) == bool(expected)
    path = f"/Archives/edgar/data/320193/{filed.filing.accession.replace('-', '')}/{filed.filing.accession}.txt"
    app = instead(server.app((filed,)), Response(whole[:-20]), path)
    if options["op"] != "text":  # which reads the document itself
        assert ask(app, **options).error_code == "malformed"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cik": "32o193"}, "cik is a number of up to ten digits"),
        ({"cik": "320193", "symbol": "AAPL"}, "Give either cik=320193 or symbol=AAPL."),
        ({"cik": ()}, "Give either cik=320193 or symbol=AAPL."),
        ({"forms": "10K"}, "forms: EDGAR writes 10-K"),
        ({"forms": "8-K,-"}, "forms: a form begins with a letter or a digit, as 10-K does; -10-K excludes it."),
        ({"op": "text", "form": "/A"}, "form: a form begins with"),
        ({"op": "text", "form": "8K"}, "form: EDGAR writes 8-K"),
        ({"op": "text", "form": "8-K,10-K"}, "form is one form"),
        ({"op": "text", "form": "-4"}, "form is one form"),
        ({"op": "text"}, "text takes either accession="),
        ({"op": "text", "form": "8-K", "accession": sec.number(1)}, "text takes either accession="),
        ({"op": "text", "form": "8-K", "find": "x" * 501}, "find takes a phrase of up to 500 characters"),
        *(
            ({"item": item}, "item is the number of an item of an 8-K, e.g. item=2.02;")
            for item in ("2.2", "02.02", "99.1", "results", "2.02,9.01", "13", "0")
        ),
        ({"op": "text", "form": "10-K", "item": "2.02"}, "item is of an 8-K: give form=8-K."),
        ({"op": "text", "accession": sec.number(2), "item": "2.02"}, "item is of an 8-K: give form=8-K."),
        ({"forms": "10-K", "item": "2.02"}, "item is of an 8-K: give forms=8-K."),
        ({"op": "holdings", "period": "2024Q1"}, "period is the last day of a quarter: e.g. 2024-03-31."),
        ({"op": "holdings", "period": "2024-03-30"}, "a quarter: 2024-03-31 or 2023-12-31."),
        ({"op": "holdings", "period": "2024-10-01"}, "a quarter: 2024-09-30 or 2024-12-31."),
        ({"op": "holdings", "period": "0001-01-01"}, "a quarter: 0001-03-31 or 0001-06-30."),
        ({"op": "text", "accession": "1-2-3"}, "accession is a filing's number"),
        ({"op": "insiders", "forms": "8-K,10-K"}, "forms of insiders are 3, 4, 5"),
        ({"op": "insiders", "forms": "-3,-4,-5"}, "forms of insiders are 3, 4, 5"),
    ],
)
def test_a_question_that_no_company_could_answer_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as refused:
        ask(**options)
    assert message in refused.value.gap.reason


@pytest.mark.parametrize(
    "options", [{"cik": "1"}, {"symbol": "NONE"}, {"cik": "1", "op": "text", "form": "10-K"}], ids=str
)
def test_a_company_that_does_not_exist_is_no_data(options: dict[str, Any]) -> None:
    fetched = ask(**options)
    assert (fetched.records, fetched.error) == ([], None)


@pytest.mark.parametrize(
    "body",
    [b"", b"<html></html>", b"[]", b'{"cik": 1}', b'{"filings": [', b'{"filings": {"recent"',
     b'{"filings": {"recent": {}}}', b'{"cik": "0001318605", "filings": {"recent": {"accessionNumber": []}}}'],
)  # fmt: skip
def test_a_reply_that_is_no_list_is_malformed(body: bytes) -> None:
    assert ask(server.app(FILED, body=body or b" ")).error_code == "malformed"


def test_an_archive_that_fails_on_the_way_to_the_filing_that_was_named_is_an_error() -> None:
    app = failing_from(server.app(FILED), lambda path: "/data/" in path, sec.MAINTENANCE)
    for number in (sec.number(2), sec.number(99)):  # whether there is such a filing or not
        stopped = ask(app, op="text", accession=number)
        assert (stopped.ids, stopped.error_code) == ([], "http_status")


@pytest.mark.parametrize(
    ("source", "size", "is_whole"),
    [
        (INLINE, 0, True),
        (f"{INLINE}\r\n<!-- made by a program -->\r\n", 0, True),
        (f"{INLINE}\0\0\x1a", 0, True),
        ("<DOCUMENT>\n<TEXT>\nwords\n</TEXT>\n</DOCUMENT>\n", 0, True),
        (INLINE[:-7], 0, False),
        (f"{INLINE}<p>more", 0, False),
        ("", 0, False),
        (RELEASE, 0, False),  # which any host can send: no envelope, no inline XBRL
        (RELEASE, len(RELEASE), True),
        *((page, len(page) + 1, False) for page in (RELEASE, INLINE)),
    ],
)
def test_a_file_shows_that_it_is_whole(source: str, size: int, is_whole: bool) -> None:
    assert documents.is_whole_file(source.encode(), size) is is_whole


@pytest.mark.parametrize("options", [{}, {"document": "EX-99.1"}], ids=["primary", "exhibit"])
@pytest.mark.parametrize("page", [RELEASE, INLINE, f"{RELEASE}\n{RELEASE}"], ids=["html", "inline", "pages"])
def test_another_page_in_the_place_of_a_file_is_not_its_text(page: str, options: dict[str, Any]) -> None:
    filed = RESULTS._replace(documents=(Document("8-K", "main.htm", page), Document("EX-99.1", "ex991.htm", page)))
    whole, folder = server.app((filed,)), folder_of(filed)
    expected = texts(ask(whole, op="text", form="8-K", **options))
    lost = [f"{folder}/{name}" for name in ("main.htm", "ex991.htm")]
    for reply in (
        worlds.LOGIN,
        Response(RELEASE.encode()[:-1]),
        *([Response(RELEASE.encode())] if page != RELEASE else []),
    ):
        app = instead(whole, reply, *lost)
        assert texts(ask(app, op="text", form="8-K", **options)) == expected
        assert ask(instead(app, reply, SUBMISSION), op="text", form="8-K", **options).error_code == "malformed"


@pytest.mark.parametrize("document", ["primary", "4"])
def test_a_form_in_xml_is_the_xml_that_was_filed_wherever_it_comes_from(document: str) -> None:
    whole = server.app((SOLD,))
    body = server.submission(SOLD).encode()
    saved = ask_source("sec_filings", whole, body=body, pit=PIT, op="text", document=document)
    own = f"{folder_of(SOLD)}/{SOLD.documents[0].file}"
    for options in ({"form": "4"}, {"accession": SOLD.filing.accession}):
        for app in (whole, instead(whole, sec.MISSING, own)):
            records = ask(app, op="text", document=document, **options).records
            assert [(record.id, record.payload["url"]) for record in records] == [
                (f"{SOLD.filing.accession}:001", f"https://www.sec.gov{own}")
            ]
            assert records[0].payload["text"] == saved.records[0].payload["text"] != ""
