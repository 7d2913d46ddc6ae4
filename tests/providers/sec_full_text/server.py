"""SEC's hosts in one: full-text search, daily indexes, submissions, headers, index pages and the ticker file."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from itertools import chain, islice
from typing import Any
from zoneinfo import ZoneInfo

from pit_fetch.testing import Document
from pit_fetch.testing.server import App, Response, as_json
from pit_fetch.transport import HttpRequest
from tests.providers.recorded import recorded

USER_AGENT = "Example Research ops@example.com"
VARIABLES = {"SEC_USER_AGENT": USER_AGENT}
NEW_YORK = ZoneInfo("America/New_York")
APPLE, TESLA = 320193, 1318605

# What the hosts answer for a missing object, an undeclared caller, and in trouble: the recorded bodies, shortened.
MISSING = Response(
    b'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>',
    403,
    {"Content-Type": "application/xml"},
)
NO_SUCH_KEY = Response(b'<?xml version="1.0"?>\n<Error><Code>NoSuchKey</Code></Error>', 404)
UNDECLARED = Response(b"<html><h1>Your Request Originates from an Undeclared Automated Tool</h1></html>", 403)
BLOCKED = Response(b"<html><title>SEC.gov | Request Rate Threshold Exceeded</title></html>", 403)
MAINTENANCE = Response(b"<!DOCTYPE html>\n<html><title>SEC.gov | File Unavailable</title></html>", 503)


@dataclass(frozen=True)
class Filing:
    """A filing as EDGAR knows it. ``accepted`` is New York wall clock, ``YYYY-MM-DD HH:MM:SS``; "" is unknown.

    ``released`` is the date in the header's first line (default: the filing date); ``private`` marks
    a filing that was not public at first; ``listed`` is the day whose index lists it (default: when it
    was sent out; "never" in none); ``files`` are its documents, file name and type.
    """

    accession: str
    form: str
    accepted: str
    filed: str = ""
    released: str = ""
    private: bool = False
    listed: str = ""
    ciks: tuple[int, ...] = (APPLE,)
    name: str = "Apple Inc."
    text: str = "going concern"
    files: tuple[tuple[str, str], ...] = (("main.htm", ""),)
    items: tuple[str, ...] = ()
    written: str = ""

    @property
    def day(self) -> str:
        return self.filed or self.accepted[:10]

    @cached_property
    def sent(self) -> str:
        """Return the day whose index lists it."""
        later = self.released if self.private or self.released > self.day else ""
        arrived = self.accepted[:10]
        if self.accepted[11:] >= "22:00":  # EDGAR is closed
            arrived = (date.fromisoformat(arrived) + timedelta(days=1)).isoformat()
        return self.listed or max(self.day, arrived, later)

    @property
    def root(self) -> str:
        return self.form.removesuffix("/A")

    @property
    def accepted_instant(self) -> datetime:
        return datetime.fromisoformat(self.accepted).replace(tzinfo=NEW_YORK)


def http_date(text: str) -> str:
    """Return a New York wall-clock reading, of two possible ones the later, as a header writes it."""
    moment = datetime.fromisoformat(text).replace(tzinfo=NEW_YORK, fold=1).astimezone(UTC)
    return f"{moment:%a, %d %b %Y %H:%M:%S} GMT"


def number(n: int) -> str:
    """Return the accession number of a made-up filing."""
    return f"0001193125-24-{n:06d}"


def hits(filing: Filing) -> list[dict[str, Any]]:
    """Return one hit a document, in the shape of the wire."""
    return [
        {
            "_index": "edgar_file",
            "_id": f"{filing.accession}:{name}",
            "_score": 8.9,
            "_source": {
                "ciks": [f"{cik:010d}" for cik in filing.ciks],
                "period_ending": "2023-12-31",
                "file_num": ["001-36743"],
                "display_names": [f"{filing.name} of today  (AAPL, APC)  (CIK {cik:010d})" for cik in filing.ciks],
                "xsl": None,
                "sequence": sequence,
                "root_forms": [filing.root],
                "file_date": filing.day,
                "biz_states": ["CA"],
                "sics": ["3571"],
                "form": filing.form,
                "adsh": filing.accession,
                "film_num": [],
                "biz_locations": ["Cupertino, CA"],
                "file_type": kind or filing.form,
                "file_description": None,
                "inc_states": ["CA"],
                "items": list(filing.items),
            },
        }
        for sequence, (name, kind) in enumerate(filing.files, 1)
    ]


def reply(page: Sequence[Any], total: int | None = None, relation: str = "eq", **changes: Any) -> dict[str, Any]:
    """Return a search reply in the shape of the wire."""
    return {
        "took": 42,
        "timed_out": False,
        "_shards": {"total": 50, "successful": 50, "skipped": 0, "failed": 0},
        "hits": {
            "total": {"value": len(page) if total is None else total, "relation": relation},
            "max_score": None,
            "hits": list(page),
        },
        **changes,
    }


def header(filing: Filing) -> str:
    """Return the SGML header, as in the full submission."""
    released = (filing.released or filing.day).replace("-", "")
    accepted = re.sub(r"\D", "", filing.accepted)
    return "".join(
        [
            f"<SEC-DOCUMENT>{filing.accession}.txt : {released}\n",
            f"<SEC-HEADER>{filing.accession}.hdr.sgml : {released}\n",
            f"<ACCEPTANCE-DATETIME>{accepted}\n" if accepted else "",
            "<PRIVATE-TO-PUBLIC>\n" if filing.private else "",
            f"ACCESSION NUMBER:\t\t{filing.accession}\n",
            f"CONFORMED SUBMISSION TYPE:\t{filing.form}\n",
            f"FILED AS OF DATE:\t\t{filing.day.replace('-', '')}\n\n",
            f"FILER:\n\n\tCOMPANY DATA:\t\n\t\tCOMPANY CONFORMED NAME:\t\t\t{filing.name}\n",
            f"\t\tCENTRAL INDEX KEY:\t\t\t{filing.ciks[0]:010d}\n\n",
            "\tFORMER COMPANY:\t\n\t\tFORMER CONFORMED NAME:\tAPPLE COMPUTER INC\n",
            "PUBLIC REFERENCE ACCESSION NUMBER:\t\t0000320193-23-000106\n" if filing.form == "UPLOAD" else "",
            "</SEC-HEADER>\n",
        ]
    )


def index_headers(filing: Filing) -> str:
    """Return the ``-index-headers.html`` page: the header as a comment in tags, and once more as escaped text."""
    released, day = ((day or filing.day).replace("-", "") for day in (filing.released, filing.day))
    accepted = re.sub(r"\D", "", filing.accepted)
    tags = [
        f"<SEC-HEADER>{filing.accession}.hdr.sgml : {released}",
        *([f"<ACCEPTANCE-DATETIME>{accepted}"] if accepted else []),
        *(["<PRIVATE-TO-PUBLIC>"] if filing.private else []),
        f"<ACCESSION-NUMBER>{filing.accession}",
        f"<TYPE>{filing.form}",
        f"<FILING-DATE>{day}",
        f"<CONFORMED-NAME>{filing.name}",
        "<FORMER-CONFORMED-NAME>APPLE COMPUTER INC",
        "</SEC-HEADER>",
    ]
    text = html.escape(header(filing), quote=False)
    return "<HTML><HEAD><!--\n" + "\n".join(tags) + f"\n-->\n</HEAD><BODY>\n<PRE>{text}</PRE></BODY></HTML>"


def index_page(filing: Filing) -> str:
    def field(name: str, value: str) -> str:
        return f'<div class="infoHead">{name}</div>\n<div class="info">{value}</div>\n'

    return (
        f'<html><div id="secNum">\n<strong>SEC Accession No.</strong> {filing.accession}\n</div>\n'
        f"{field('Filing Date', filing.day)}{field('Accepted', filing.accepted)}</html>"
    )


def daily_index(day: date, filings: Sequence[Filing], layout: str = "master") -> str:
    """Return the index of ``day``, one row a filing and filer, in one of its layouts."""
    by, heads = _LAYOUTS[layout]
    wanted = day.isoformat()
    rows = [(cik, filing) for filing in filings if filing.sent == wanted for cik in filing.ciks]
    rows.append((1000228, Filing("0001209191-18-064398", "4", "", day.isoformat(), name="HENRY SCHEIN INC")))
    return "\n".join(
        [
            f"Description:           Daily Index of EDGAR Dissemination Feed{by}",
            f"Last Data Received:    {day:%b} {day.day:2}, {day.year}",
            "Comments:              webmaster@sec.gov",
            "Anonymous FTP:         ftp://ftp.sec.gov/edgar/",
            " ",
            heads,
            "-" * 80,
            *sorted(_row(layout, cik, filing) for cik, filing in rows),
            "",
        ]
    )


_LAYOUTS = {
    "master": ("", "CIK|Company Name|Form Type|Date Filed|File Name"),
    "form": (" by Form Type", "Form Type   Company Name  CIK         Date Filed  File Name"),
    "company": (" by Company Name", "Company Name  Form Type   CIK\n      Date Filed  File Name"),
}


def _row(layout: str, cik: int, filing: Filing) -> str:
    day, path = filing.day.replace("-", ""), f"edgar/data/{cik}/{filing.accession}.txt"
    if layout == "master":
        return f"{cik}|{filing.name}|{filing.form}|{day}|{path}"
    first, second = (filing.form, filing.name) if layout == "form" else (filing.name, filing.form)
    return f"{first:<12}{second:<62}{cik:<12}{day:<12}{path:<52}"


# A company's list, and its files of older filings.
LIST = re.compile(r"/submissions/CIK([0-9]{10})(?:-submissions-([0-9]{3}))?\.json")
# By which the files are numbered higher that begin after an instant that a law asks about, so that it can tell them.
LATER = 500


def in_parts(filings: Sequence[Filing], size: int) -> list[list[Filing]]:
    """Return the filings newest first, so many in each part."""
    ordered = sorted(filings, key=lambda filing: (filing.day, filing.accepted), reverse=True)
    return [ordered[start : start + size] for start in range(0, len(ordered), size)]


def part_of(path: re.Match[str]) -> int:
    """Return which part of a company's list a path of :data:`LIST` means."""
    return int(path[2] or 0) % LATER


def older_files(cik: int, parts: Sequence[Sequence[Filing]], public_until: str = "") -> list[dict[str, Any]]:
    """Return what a company's list tells of its files of older filings: all parts but the first.

    Those that begin after ``public_until``, if it is given, are numbered higher.
    """
    return [
        {
            "name": f"CIK{cik:010d}-submissions-{number + LATER * ('' < public_until < part[-1].day):03d}.json",
            "filingCount": len(part),
            "filingFrom": part[-1].day,
            "filingTo": part[0].day,
        }
        for number, part in enumerate(parts[1:], 1)
    ]


def columns(filings: Sequence[Filing], true_utc: bool) -> dict[str, list[str]]:
    """Return a submissions file's columns, in either convention of the ``Z``."""

    def stamp(filing: Filing) -> str:
        moment = filing.accepted_instant
        moment = moment.astimezone(ZoneInfo("UTC")) if true_utc else moment
        return moment.strftime("%Y-%m-%dT%H:%M:%S.000Z")

    return {
        "accessionNumber": [filing.accession for filing in filings],
        "filingDate": [filing.day for filing in filings],
        "acceptanceDateTime": [stamp(filing) for filing in filings],
    }


def app(
    filings: Sequence[Filing],
    *,
    cap: int = 10_000,
    pages: Callable[[str], Response | None] = lambda path: None,
    true_utc: bool = False,
    tickers: Mapping[str, int] | None = None,
    entity: str = "",
    now: datetime | None = None,
    recent: int = 1_000,
    public_until: str = "",
) -> App:
    """Return the server of ``filings``, which stand in any order. ``pages`` replaces the answer for a path.

    A company's list holds the ``recent`` newest filings, and files of so many older ones (see :func:`older_files`).

    ``entity`` is the name that all filers have today (default: that of the filing). Daily indexes hold what was sent
    out until ``now`` (default: all of it), which is then the server's date.
    """
    by_day: dict[str, list[Filing]] = {}
    for filing in filings:
        by_day.setdefault(filing.sent, []).append(filing)
    by_stem = {f"{filing.accession.replace('-', '')}/{filing.accession}": filing for filing in filings}
    listed = {"AAPL": APPLE, "TSLA": TESLA} if tickers is None else tickers

    def answer(request: HttpRequest) -> Response:
        replaced = pages(request.path)
        if replaced is not None:
            return replaced
        if "@" not in request.header("User-Agent"):
            return UNDECLARED
        if request.path == "/robots.txt":
            return Response(b"User-agent: *\n", 200, {"Content-Type": "text/plain"})
        if request.path == "/LATEST/search-index":
            return _search(filings, request.query, cap, entity)
        if request.path == "/files/company_tickers.json":
            rows = [{"cik_str": cik, "ticker": ticker, "title": "A name"} for ticker, cik in listed.items()]
            return as_json({str(place): row for place, row in enumerate(rows)})
        if match := re.fullmatch(
            r"/Archives/edgar/daily-index/([0-9]{4})/QTR([1-4])/master\.([0-9]{8})\.idx", request.path
        ):
            day = datetime.strptime(match[3], "%Y%m%d").date()  # noqa: DTZ007
            return _index(by_day.get(day.isoformat(), ()), day, now)
        if match := LIST.fullmatch(request.path):
            cik, place = int(match[1]), part_of(match)
            parts = in_parts([filing for filing in filings if cik in filing.ciks and filing.accepted], recent)
            if place >= len(parts):
                return NO_SUCH_KEY
            listed_columns = columns(parts[place], true_utc)
            whole = {"filings": {"recent": listed_columns, "files": older_files(cik, parts, public_until)}}
            return as_json(listed_columns if place else whole)
        if match := re.fullmatch(r"/Archives/edgar/data/([0-9]+)/([0-9]{18}/[0-9-]{20})(.*)", request.path):
            filing = by_stem.get(match[2])
            kinds = {
                "-index-headers.html": index_headers,
                ".hdr.sgml": header,
                ".txt": header,
                "-index.htm": index_page,
            }
            if filing is not None and int(match[1]) in filing.ciks and match[3] in kinds:
                stamped = filing.accepted if match[3].startswith("-index.") else filing.written or filing.accepted
                dated = http_date(stamped or "2017-10-14 12:00:00")
                return Response(kinds[match[3]](filing).encode(), 200, {"Last-Modified": dated})
        return NO_SUCH_KEY if request.path.startswith("/api/") else MISSING

    return answer


def documents(app: App, filings: Sequence[Filing], *files: str) -> dict[str, Document]:
    """Return what the server has of each filing, for a recording: headers, the index page, and ``files``."""
    paths = ["/robots.txt", "/files/company_tickers.json"]
    for filing in filings:
        folder = f"/Archives/edgar/data/{filing.ciks[0]}/{filing.accession.replace('-', '')}"
        kept = [filing.accession + end for end in ("-index-headers.html", ".hdr.sgml", ".txt", "-index.htm")]
        paths += [f"{folder}/{name}" for name in (*kept, *files)]
    return recorded(app, paths, USER_AGENT)


def _index(filings: Sequence[Filing], day: date, now: datetime | None) -> Response:
    if day.weekday() > 4 or (now is not None and day > now.astimezone(NEW_YORK).date()):
        return MISSING
    sent = [filing for filing in filings if now is None or not filing.accepted or filing.accepted_instant < now]
    date_header = {} if now is None else {"Date": http_date(f"{now.astimezone(NEW_YORK):%Y-%m-%d %H:%M:%S}")}
    return Response(daily_index(day, sent).encode(), 200, date_header)


def _search(filings: Sequence[Filing], query: Mapping[str, str], cap: int, entity: str) -> Response:
    first, last = query["startdt"], query["enddt"]
    forms = [form for form in query.get("forms", "").split(",") if form]
    wanted, excluded = {f for f in forms if f[0] != "-"}, {f[1:] for f in forms if f[0] == "-"}
    ciks = {int(cik) for cik in query.get("ciks", "").split(",") if cik}
    words = [first or second for first, second in re.findall(r'"([^"]+)"|(\S+)', query.get("q", ""))]
    matching = [
        filing
        for filing in filings
        if first <= filing.day <= last
        and (not wanted or filing.root in wanted)
        and filing.root not in excluded
        and (not ciks or ciks & set(filing.ciks))
        and query.get("entityName", "").casefold() in (entity or filing.name).casefold()
        and all(word in filing.text for word in words)
    ]
    start, total = int(query["from"]), sum(len(filing.files) for filing in matching)
    page = list(islice(chain.from_iterable(map(hits, matching)), start, min(start + 100, cap)))
    return as_json(reply(page, min(total, cap), "gte" if total >= cap else "eq"))


def daily(count: int, last: str, form: str = "10-K", first_number: int = 1, **changes: Any) -> list[Filing]:
    """Return ``count`` filings, one a day back from ``last``, accepted at noon."""
    end = date.fromisoformat(last)
    days = [(end - timedelta(days=n)).isoformat() for n in range(count)]
    return [Filing(number(first_number + n), form, f"{day} 12:00:00", **changes) for n, day in enumerate(days)]


def text_of(response: dict[str, Any]) -> bytes:
    return json.dumps(response).encode()
