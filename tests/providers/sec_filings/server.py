"""A company's list of filings, their index pages, documents and full submissions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pit_fetch import testing
from pit_fetch.testing.server import App, Response, as_json
from pit_fetch.transport import HttpRequest
from tests.providers.sec_full_text import server as sec
from tests.providers.sec_full_text.server import APPLE, Filing

VARIABLES = sec.VARIABLES
_RENDERED = "<html><body>What a style shows of it.</body></html>"
FOLDER = r"/Archives/edgar/data/([0-9]+)/([0-9]{18})/(.+)"


class Document(NamedTuple):
    """A document of a filing. Before 2001 it has no ``file``."""

    type: str
    file: str
    source: str


def as_filed(source: str, encoding: str) -> str:
    """Return a document's source that is served in ``encoding``: :func:`served` turns all others into UTF-8."""
    return source.encode(encoding).decode("utf-8", "surrogateescape")


def served(source: str) -> bytes:
    """Return the bytes of a file."""
    return source.encode("utf-8", "surrogateescape")


class Filed(NamedTuple):
    """A filing with its documents, the primary one first."""

    filing: Filing
    documents: tuple[Document, ...] = (Document("10-K", "main.htm", "<html><body><p>The year.</p></body></html>"),)
    period: str = ""


def ownership(
    form: str,
    rows: Sequence[Mapping[str, str]] = ({},),
    original: str = "",
    owners: int = 1,
    derivatives: Sequence[Mapping[str, str]] = (),
) -> Document:
    """Return a form 3, 4 or 5, in the shape of the wire. A row is a transaction, or a holding if it has no ``date``.

    A derivative has its amounts, by the names that the wire gives them.
    """
    owner = (
        "<reportingOwner><reportingOwnerId><rptOwnerCik>0001780525</rptOwnerCik><rptOwnerName>Doe Jane</rptOwnerName>"
        "</reportingOwnerId><reportingOwnerRelationship><isDirector>0</isDirector><isOfficer>true</isOfficer>"
        "<officerTitle>CFO</officerTitle></reportingOwnerRelationship></reportingOwner>"
    )
    return Document(
        form,
        "form4.xml",
        f'<XML>\n<?xml version="1.0"?>\n<ownershipDocument><schemaVersion>X0508</schemaVersion>'
        f"<documentType>{form}</documentType><periodOfReport>2024-02-12</periodOfReport>"
        + (f"<dateOfOriginalSubmission>{original}</dateOfOriginalSubmission>" if original else "")
        + "<issuer><issuerCik>0000320193</issuerCik><issuerName>Apple Inc.</issuerName>"
        f"<issuerTradingSymbol>AAPL</issuerTradingSymbol></issuer>{owner * owners}<aff10b5One>0</aff10b5One>"
        f"<nonDerivativeTable>{''.join(map(_owned, rows))}</nonDerivativeTable>"
        f"<derivativeTable>{''.join(map(_derived, derivatives))}</derivativeTable>"
        '<footnotes><footnote id="F1">A weighted average.</footnote></footnotes></ownershipDocument>\n</XML>',
    )


def _owned(row: Mapping[str, str]) -> str:
    values = {
        "date": "2024-02-12",
        "code": "S",
        "shares": "100",
        "price": "<value>180.5</value>",
        "after": "900",
        **row,
    }
    after = (
        f"<postTransactionAmounts><sharesOwnedFollowingTransaction><value>{values['after']}</value>"
        "</sharesOwnedFollowingTransaction></postTransactionAmounts>"
    )
    title = "<securityTitle><value>Common Stock</value></securityTitle>"
    if not values["date"]:
        return f"<nonDerivativeHolding>{title}{after}</nonDerivativeHolding>"
    return (
        f"<nonDerivativeTransaction>{title}<transactionDate><value>{values['date']}</value></transactionDate>"
        f"<transactionCoding><transactionFormType>4</transactionFormType><transactionCode>{values['code']}</transactionCode>"
        f"</transactionCoding><transactionAmounts><transactionShares><value>{values['shares']}</value></transactionShares>"
        f"<transactionPricePerShare>{values['price']}</transactionPricePerShare><transactionAcquiredDisposedCode>"
        f"<value>D</value></transactionAcquiredDisposedCode></transactionAmounts>{after}</nonDerivativeTransaction>"
    )


def _derived(amounts: Mapping[str, str]) -> str:
    def leaves(*names: str) -> str:
        return "".join(f"<{name}><value>{amounts[name]}</value></{name}>" for name in names if name in amounts)

    return (
        "<derivativeTransaction><securityTitle><value>Convertible Note</value></securityTitle><transactionAmounts>"
        f"{leaves('transactionShares', 'transactionTotalValue')}</transactionAmounts><underlyingSecurity>"
        f"{leaves('underlyingSecurityShares', 'underlyingSecurityValue')}</underlyingSecurity><postTransactionAmounts>"
        f"{leaves('sharesOwnedFollowingTransaction', 'valueOwnedFollowingTransaction')}</postTransactionAmounts>"
        "</derivativeTransaction>"
    )


def report(
    form: str, period: str, positions: Sequence[tuple[str, int, int]], amendment: str = "", prefix: str = "ns1:"
) -> tuple[Document, Document]:
    """Return the cover and the table of a 13F. A position is an issuer, its value as filed, and the shares.

    The cover says how many there are.
    """
    year, month, day = period.split("-")
    kind = f"<amendmentInfo><amendmentType>{amendment}</amendmentType></amendmentInfo>" if amendment else ""
    cover = (
        '<XML>\n<?xml version="1.0"?>\n<edgarSubmission xmlns="http://www.sec.gov/edgar/thirteenffiler"><formData>'
        f"<coverPage><reportCalendarOrQuarter>{month}-{day}-{year}</reportCalendarOrQuarter>{kind}</coverPage>"
        f"<summaryPage><tableEntryTotal>{len(positions)}</tableEntryTotal></summaryPage></formData>"
        "</edgarSubmission>\n</XML>"
    )
    rows = "".join(
        f"<{prefix}infoTable><{prefix}nameOfIssuer>{issuer}</{prefix}nameOfIssuer><{prefix}cusip>037833100</{prefix}cusip>"
        f"<{prefix}value>{value}</{prefix}value><{prefix}shrsOrPrnAmt><{prefix}sshPrnamt>{shares}</{prefix}sshPrnamt>"
        f"<{prefix}sshPrnamtType>SH</{prefix}sshPrnamtType></{prefix}shrsOrPrnAmt></{prefix}infoTable>"
        for issuer, value, shares in positions
    )
    space = f'xmlns{":" + prefix[:-1] if prefix else ""}="http://www.sec.gov/edgar/document/thirteenf/informationtable"'
    table = f"<XML>\n<{prefix}informationTable {space}>{rows}</{prefix}informationTable>\n</XML>"
    return Document(form, "primary_doc.xml", cover), Document("INFORMATION TABLE", "table.xml", table)


def rendered(document: Document) -> str:
    """Return the page that the SEC makes of a document in XML; "" of any other one."""
    return f"xslF345X05/{document.file}" if document.file.endswith(".xml") else ""


def alone(document: Document) -> str:
    """Return the source of a document's own file: XML is bare there."""
    return document.source.removeprefix("<XML>\n").removesuffix("\n</XML>")


def columns(filed: Sequence[Filed], true_utc: bool) -> dict[str, list[Any]]:
    """Return a file's columns in the shape of the wire, of filings in any order."""
    dated = [entry for entry in filed if entry.filing.accepted]
    undated = [entry for entry in filed if not entry.filing.accepted]
    stamps = sec.columns([entry.filing for entry in dated], true_utc)["acceptanceDateTime"]
    rows = [*dated, *undated]
    return {
        "accessionNumber": [entry.filing.accession for entry in rows],
        "filingDate": [entry.filing.day for entry in rows],
        "reportDate": [entry.period for entry in rows],
        # Of before 2003 there is the filing date alone.
        "acceptanceDateTime": [*stamps, *(f"{entry.filing.day}T00:00:00.000Z" for entry in undated)],
        "form": [entry.filing.form for entry in rows],
        "items": [",".join(entry.filing.items) for entry in rows],
        "size": [len(entry.documents) for entry in rows],
        "primaryDocument": [
            rendered(entry.documents[0]) or entry.documents[0].file if entry.documents else "" for entry in rows
        ],
    }


def rows(filed: Sequence[Filed]) -> list[dict[str, Any]]:
    """Return a file's rows, one by one."""
    by_name = columns(filed, true_utc=False)
    return [dict(zip(by_name, row, strict=True)) for row in zip(*by_name.values(), strict=True)]


def torn(listed: Mapping[str, Sequence[Any]], name: str) -> dict[str, list[Any]]:
    """Return a file's columns without the first value of one: all that follow it stand a row higher."""
    return {key: list(values)[key == name :] for key, values in listed.items()}


def index_page(filed: Filed) -> str:
    """Return the index page: what dates the filing, and a row a document, after one for the page made of one in XML."""
    folder = f"/Archives/edgar/data/{filed.filing.ciks[0]}/{filed.filing.accession.replace('-', '')}"
    rows = "".join(
        f'<tr>\n<td scope="row">{place}</td>\n<td scope="row">{document.type}</td>\n'
        f'<td scope="row"><a href="{"/ix?doc=" if place == 1 and document.file else ""}{folder}/{file}">'
        f'{file}</a></td>\n<td scope="row">{document.type}</td>\n<td scope="row">{size}</td>\n</tr>\n'
        for place, document in enumerate(filed.documents, 1)
        for file, size in (
            *(((rendered(document), "&nbsp;"),) if rendered(document) else ()),
            (document.file, len(served(alone(document)))),
        )
    )
    return sec.index_page(filed.filing) + f'<table class="tableFile">\n{rows}</table>'


def submission(filed: Filed) -> str:
    """Return the full submission."""
    return (
        sec.header(filed.filing)
        + "".join(
            f"<DOCUMENT>\n<TYPE>{document.type}\n<SEQUENCE>{place}\n"
            + (f"<FILENAME>{document.file}\n" if document.file else "")
            + f"<TEXT>\n{document.source}\n</TEXT>\n</DOCUMENT>\n"
            for place, document in enumerate(filed.documents, 1)
        )
        + "</SEC-DOCUMENT>\n"
    )


def app(
    filed: Sequence[Filed],
    *,
    recent: int = 1_000,
    true_utc: bool = False,
    raw: Mapping[str, Sequence[Any]] | None = None,
    body: bytes | None = None,
    public_until: str = "",
    **options: Any,
) -> App:
    """Return the SEC's hosts. A company's list holds the ``recent`` newest filings, and files of so many older ones.

    ``raw`` rows, by column, come before all others. ``body`` stands in the place of the list. ``options`` are those of
    :func:`sec.app`.
    """
    rest = sec.app([entry.filing for entry in filed], true_utc=true_utc, **options)
    by_filing = {entry.filing: entry for entry in filed}
    by_folder = {entry.filing.accession.replace("-", ""): entry for entry in filed}

    def listed(cik: int, part: int) -> Response:
        parts = sec.in_parts([entry.filing for entry in filed if cik in entry.filing.ciks], recent)
        of_part = [columns([by_filing[filing] for filing in filings], true_utc) for filings in parts]
        if part:
            return as_json(of_part[part]) if part < len(parts) else sec.NO_SUCH_KEY
        if not parts and not raw:
            return sec.NO_SUCH_KEY
        newest = of_part[0] if parts else columns([], true_utc)
        for name, values in (raw or {}).items():
            newest[name] = [*values, *newest[name]]
        older = sec.older_files(cik, parts, public_until)
        return as_json({"cik": str(cik), "name": "Of today", "filings": {"recent": newest, "files": older}})

    def answer(request: HttpRequest) -> Response:
        path = request.path
        if match := sec.LIST.fullmatch(path):
            is_whole = body is not None and int(match[1]) == APPLE and not match[2]
            return Response(body or b"") if is_whole else listed(int(match[1]), sec.part_of(match))
        if (match := re.fullmatch(FOLDER, path)) and match[2] in by_folder:
            found = _file(by_folder[match[2]], int(match[1]), match[3])
            if found is not None:
                written = by_folder[match[2]].filing.written
                return Response(served(found), 200, {"Last-Modified": sec.http_date(written)} if written else {})
        return rest(request)

    return answer


def documents(filed: Sequence[Filed]) -> dict[str, testing.Document]:
    """Return what is kept of filings, for a recording."""
    files = {document.file for entry in filed for document in entry.documents}
    return sec.documents(app(filed), [entry.filing for entry in filed], *files)


def _file(filed: Filed, cik: int, name: str) -> str | None:
    if cik not in filed.filing.ciks:
        return None
    files = {document.file: alone(document) for document in filed.documents if document.file}
    files |= {rendered(document): _RENDERED for document in filed.documents}
    accession = filed.filing.accession
    return {**files, f"{accession}.txt": submission(filed), f"{accession}-index.htm": index_page(filed)}.get(name)


def raw_rows(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return rows as columns; what a row lacks is None."""
    names = [*columns([], False)]
    every = list(rows)
    return {name: [row.get(name) for row in every] for name in names}
