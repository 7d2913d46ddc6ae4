"""How EDGAR's lists, indexes and documents look to a program as of an instant.

A document counts from the release of its filing, and has the bytes that were filed. A list of today's is made anew of
the rows that were public: which of them its first file holds depends on later filings, and so do its counts.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Generator, Sequence
from datetime import date, timedelta
from typing import Any

from pit_fetch.provider import Asked, HttpReply, Record, Row, View
from pit_fetch.times import NEW_YORK, end_of_day, parse_compact
from pit_fetch.wire import strict_json
from pit_fetch_providers.edgar import client, release, submissions
from pit_fetch_providers.edgar.archive import Archive, answering_archive
from pit_fetch_providers.edgar.numbers import ACCESSION
from pit_fetch_providers.sec_filings import releases

# What the first file of a list has (documentation: at least a thousand filings). The rest is one further file.
_RECENT = 1_000
_COLUMNS = (
    "accessionNumber", "filingDate", "reportDate", "acceptanceDateTime", "act", "form", "fileNumber", "filmNumber",
    "items", "core_type", "size", "isXBRL", "isInlineXBRL", "isXBRLNumeric", "primaryDocument", "primaryDocDescription",
)  # fmt: skip
_ADDRESS = dict.fromkeys(
    ("street1", "street2", "city", "stateOrCountry", "zipCode", "stateOrCountryDescription", "isForeignLocation",
     "foreignStateTerritory", "country", "countryCode")
)  # fmt: skip
# What a list says of the company is today's.
_COMPANY: dict[str, Any] = {
    **dict.fromkeys(("entityType", "sic", "sicDescription", "ownerOrg"), ""),
    "insiderTransactionForOwnerExists": 0, "insiderTransactionForIssuerExists": 0, "name": "",
    "tickers": [], "exchanges": [], **dict.fromkeys(("ein", "lei", "description", "website", "investorWebsite"), ""),
    **dict.fromkeys(("category", "fiscalYearEnd", "stateOfIncorporation", "stateOfIncorporationDescription"), ""),
    "addresses": {"mailing": _ADDRESS, "business": _ADDRESS}, "phone": "", "flags": "", "formerNames": [],
}  # fmt: skip
_NO_KEY = "<Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message></Error>"
_LINE = re.compile(rf"edgar/data/[0-9]+/({ACCESSION})")
_LAST_DATA = re.compile(r"(Last Data Received:\s+)[^\r\n]*")


def _lists(asked: Asked, wrap: bool) -> Generator[HttpReply, int, None]:
    cik = int(asked.named["cik"])
    reply = client.get(asked.context, client.DATA, f"/submissions/{submissions.file_of(cik)}")
    if client.is_missing(reply, client.DATA):
        yield reply
        return
    filings = submissions.document_of(cik, reply.body).get("filings") or {}
    yield reply if wrap else reply._replace(body=_spelled(strict_json(reply.body)["filings"]["recent"]))
    older_files = submissions.older_files(filings.get("files"))
    for older in sorted(older_files, key=lambda file: (-file.last.toordinal(), file.name)):
        further = client.required(client.get(asked.context, client.DATA, f"/submissions/{older.name}"), client.DATA)
        yield further._replace(body=b'{"filings":{"recent":%b}}' % further.body) if wrap else further


def _spelled(columns: Any) -> bytes:
    return json.dumps(columns, separators=(",", ":"), ensure_ascii=False).encode()


def _filing(row: Row, asked: Asked) -> Record | None:
    listed = submissions.row_in(row.value)
    if listed is None:
        return None
    if "dated" not in asked.memo:
        asked.memo["dated"] = releases.dating_rule(asked.query, asked.context, int(asked.named["cik"]))
    place = asked.memo["dated"](listed)
    if place is not None and place.failure is not None:
        raise place.failure
    return None if place is None else Record(listed.accession, place.at, {})


def _company(asked: Asked, rows: Sequence[Row]) -> dict[str, Any]:
    name = f"CIK{int(asked.named['cik']):010d}-submissions-001.json"
    older = {"name": name, "filingCount": 0, "filingFrom": "1993-01-01", "filingTo": ""}
    files = [older | {"filingTo": rows[-1].value.get("filingDate")}] if len(rows) == _RECENT else []
    columns: dict[str, list[Any]] = {column: [] for column in _COLUMNS if not rows or column in rows[0].value}
    return {"cik": asked.rest.get("cik"), **_COMPANY, "filings": {"recent": columns, "files": files}}


def _archive(asked: Asked) -> Archive:
    return answering_archive(asked.query, asked.context)


def _document(asked: Asked) -> HttpReply | None:
    """Return a file of a filing that was public."""
    digits = asked.named["accession"].replace("-", "")
    accession, cik = f"{digits[:10]}-{digits[10:12]}-{digits[12:]}", int(asked.named["cik"])
    dated = release.date_by_files(accession, cik, _archive(asked), asked.query.horizon, exact=False)
    if dated is None or dated.at is None or dated.at > min(asked.query.horizon, asked.query.started):
        return None
    return _file(asked)


def _index_page(asked: Asked) -> HttpReply | None:
    """Return the lists of documents on a filing's index page: beside them it names the company of today."""
    reply = _document(asked)
    if reply is None:
        return None
    lists = b"\n".join(re.findall(rb"<table\b.*?</table>", reply.body, re.DOTALL | re.IGNORECASE))
    return reply._replace(body=b"<html><body>\n%b\n</body></html>\n" % lists)


def _file(asked: Asked) -> HttpReply | None:
    reply = client.get(asked.context, client.WWW, asked.path)
    return None if client.is_missing(reply, client.WWW) else reply


def _daily_index(asked: Asked) -> HttpReply | None:
    """Return the index of a day that was over: it is written after 22:00, and never changes."""
    over = parse_compact(asked.named["day"], NEW_YORK)
    return None if over is None or over > min(asked.query.horizon, asked.query.started) else _file(asked)


def _full_index(asked: Asked) -> HttpReply | None:
    """Return the index of a quarter with the filings that the daily indexes of then show to have been public."""
    reply, archive = _file(asked), _archive(asked)
    if reply is None:
        return None
    is_packed = asked.path.endswith(".gz")
    text = (gzip.decompress(reply.body) if is_packed else reply.body).decode("latin-1")
    wanted, public = frozenset(_LINE.findall(text)), set[str]()
    day, last = date(int(asked.named["year"]), 3 * int(asked.named["quarter"]) - 2, 1), None
    while (day.month + 2) // 3 == int(asked.named["quarter"]):
        over = end_of_day(day, NEW_YORK)
        if over is None or over > min(asked.query.horizon, asked.query.started):
            break
        listed = archive.listed(day, wanted)
        public.update(listed or ())
        last, day = day if listed else last, day + timedelta(days=1)
    if last is None:
        return None
    received = f"{last:%B} {last.day}, {last.year}"
    lines = (line for line in text.splitlines(True) if not (row := _LINE.search(line)) or row[1] in public)
    body = _LAST_DATA.sub(rf"\g<1>{received}", "".join(lines)).encode("latin-1")
    return reply._replace(body=gzip.compress(body, mtime=0) if is_packed else body)


_FOLDER = r"/Archives/edgar/data/(?P<cik>[0-9]{1,10})"
_INDEX = r"(?:form|master|company|crawler)\."
_LIST = View(
    client.DATA, r"/submissions/CIK(?P<cik>[0-9]{10})\.json", "filings", ("filings/recent/|",), _filing,
    lambda asked: _lists(asked, wrap=True), lambda asked: (0, _RECENT), fields=_COLUMNS, frame=_company,
    nothing=(404, _NO_KEY),
)  # fmt: skip
_OF_A_FILE = View(client.WWW, "", "text", document=_document)
VIEWS = (
    _LIST,
    _LIST._replace(
        path=r"/submissions/CIK(?P<cik>[0-9]{10})-submissions-001\.json", rows=("|",), frame=None,
        ask=lambda asked: _lists(asked, wrap=False), page=lambda asked: (_RECENT, None),
    ),
    _OF_A_FILE._replace(path=rf"{_FOLDER}(?:/[0-9]{{18}})?/(?P<accession>{ACCESSION})\.txt"),
    _OF_A_FILE._replace(
        path=rf"{_FOLDER}(?:/[0-9]{{18}})?/(?P<accession>{ACCESSION})-index\.html?", document=_index_page
    ),
    # Listings tell what was added to a folder since.
    _OF_A_FILE._replace(
        path=rf"{_FOLDER}/(?P<accession>[0-9]{{18}})/(?:xsl\w+/)?(?!index\.|[^/]*-index\.html?$|Financial_Report)[^/]+"
    ),
    View(
        client.WWW, rf"/Archives/edgar/daily-index/[0-9]{{4}}/QTR[1-4]/{_INDEX}(?P<day>[0-9]{{8}})\.idx", "filings",
        document=_daily_index, rule="once its day was over",
    ),
    View(
        client.WWW, rf"/Archives/edgar/full-index/(?P<year>[0-9]{{4}})/QTR(?P<quarter>[1-4])/{_INDEX}(?:idx|gz)",
        "filings", document=_full_index, rule="the rows that the daily indexes of then list",
    ),
)  # fmt: skip
