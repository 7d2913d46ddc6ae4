"""The operation ``insiders``: what insiders reported on Forms 3, 4 and 5, one row for each transaction or holding.

The dates in a form do not show when it became public, since they are typed by hand: some are of the years 22 and 2035.
An amendment names the form that it amends only by a date, and repeats one of its rows or all. So both are served.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pit_fetch.gaps import Code
from pit_fetch.provider import Context, Field, Page, Query, Record, UpstreamError
from pit_fetch_providers.edgar import forms
from pit_fetch_providers.edgar.release import ListedFiling
from pit_fetch_providers.sec_filings import elements, files, listing, releases
from pit_fetch_providers.sec_filings.documents import Document
from pit_fetch_providers.shared import fields

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

FIELDS = (
    *fields("accession form issuer issuer_symbol issuer_cik owner", lists="owner_ciks"),
    *fields("relation", date="amends"),
    Field("is_10b5_1", "flag"),
    *fields("kind security", date="transaction_date"),
    *fields("code"),
    Field("acquired", "flag"),
    *fields(number="shares total_value price owned_after value_owned_after"),
    *fields("ownership ownership_nature underlying", number="underlying_shares underlying_value exercise_price"),
    *fields(date="exercise_date expiration_date", lists="footnotes"),
)

# A row without a value in any field.
_EMPTY: dict[str, Any] = {field.name: [] if field.kind == "list" else None for field in FIELDS}

FORMS = tuple(f"{form}{ending}" for form in sorted(forms.INSIDERS) for ending in ("", "/A"))
_ROOT = "ownershipDocument"
_TABLES = ("nonDerivativeTable", "derivativeTable")
_ROWS = ("nonDerivativeTransaction", "derivativeTransaction", "nonDerivativeHolding", "derivativeHolding")
# The number fields and their paths in a row. A derivative without a number of shares, such as a note, is reported by
# its value.
_NUMBERS = {
    "shares": "transactionAmounts/transactionShares",
    "total_value": "transactionAmounts/transactionTotalValue",
    "price": "transactionAmounts/transactionPricePerShare",
    "owned_after": "postTransactionAmounts/sharesOwnedFollowingTransaction",
    "value_owned_after": "postTransactionAmounts/valueOwnedFollowingTransaction",
    "underlying_shares": "underlyingSecurity/underlyingSecurityShares",
    "underlying_value": "underlyingSecurity/underlyingSecurityValue",
    "exercise_price": "conversionOrExercisePrice",
}
_ACQUIRED = {"A": True, "D": False}
_RELATIONS = {"isDirector": "director", "isOfficer": "officer", "isTenPercentOwner": "10% owner", "isOther": "other"}


def fetch(query: Query, context: Context, cik: int) -> Iterator[Page]:
    """Yield the rows of each form that was public, the newest first, with one request for each. Raise UpstreamError."""
    public = releases.public_releases(query, context, cik, lambda row: is_wanted(query, row.form))
    for place, (row, at) in enumerate(public):
        found = files.fetch_submission(context, cik, row.accession)
        rows = tuple(records(found, releases.filing_in(row), at))
        yield Page(rows, newest_first=True, continues_previous=place > 0)


def parse_reply(body: bytes, query: Query) -> Iterator[Record]:
    """Yield the rows of a saved full submission, dated by its header. Raise UpstreamError for anything else."""
    filing, at, found, _ = files.parse_saved(body, query)
    if is_wanted(query, filing.form) and releases.is_public(query, at):
        yield from records(found, filing, at)


def is_wanted(query: Query, form: str) -> bool:
    return forms.root(form) in forms.INSIDERS and listing.is_form(query, form)


def records(found: Iterable[Document], filing: ListedFiling, at: datetime | None) -> Iterator[Record]:
    """Yield the rows of a form, or one row that says that it has none, or is not in XML.

    Raise UpstreamError for broken XML or a value that cannot be read.
    """
    what = f"Form {filing.form} {filing.accession}"
    sources = [document.text for document in found if _ROOT in (document.text or "")]
    root = next(filter(is_ownership_form, map(elements.parse_xml, filter(None, sources))), None)
    if root is not None:
        with elements.malformed_if_unreadable(what):
            rows = list(_rows(root, filing)) or [{**_EMPTY, **_form(root, filing), "kind": "none"}]
    elif not sources:
        rows = [{**_EMPTY, "accession": filing.accession, "form": filing.form, "kind": "unread"}]
    else:
        raise UpstreamError(Code.MALFORMED, problem=f"{what} has no XML that can be read")
    for number, row in enumerate(rows, 1):
        yield Record(f"{filing.accession}:{number:03d}", at, row, available_at_source="edgar_accepted")


def is_ownership_form(root: Element | None) -> bool:
    """Return whether a document is a form, and no web page in its place."""
    return root is not None and elements.name(root) == _ROOT


def _rows(root: Element, filing: ListedFiling) -> Iterator[dict[str, Any]]:
    form, notes = _form(root, filing), _footnotes(root)
    for row in elements.table_rows(root, (elements.find(root, table) for table in _TABLES), *_ROWS):
        footnotes = [notes[note] for note in _references(row) if note in notes]
        yield {**_EMPTY, **form, **_row(row), **_numbers(row), "footnotes": footnotes}


def _form(root: Element, filing: ListedFiling) -> dict[str, Any]:
    owners = list(elements.children(root, "reportingOwner"))
    ids = [elements.find(owner, "reportingOwnerId") for owner in owners]
    return {
        "accession": filing.accession,
        "form": filing.form,
        "issuer": elements.text(root, "issuer/issuerName"),
        "issuer_symbol": elements.text(root, "issuer/issuerTradingSymbol"),
        "issuer_cik": elements.text(root, "issuer/issuerCik"),
        # Several owners share the rows.
        "owner": "; ".join(elements.text(one, "rptOwnerName") or "" for one in ids),
        "owner_ciks": [elements.text(one, "rptOwnerCik") for one in ids],
        "relation": "; ".join(map(_relation, owners)),
        "amends": elements.day(root, "dateOfOriginalSubmission"),
        "is_10b5_1": elements.flag(root, "aff10b5One"),
    }


def _relation(owner: Element) -> str:
    relation = elements.find(owner, "reportingOwnerRelationship")
    titles = [elements.text(relation, "officerTitle"), elements.text(relation, "otherText")]
    roles = [word for path, word in _RELATIONS.items() if elements.flag(relation, path)]
    return ", ".join([*roles, *filter(None, titles)])


def _row(row: Element) -> dict[str, Any]:
    return {
        "kind": "holding" if elements.name(row).endswith("Holding") else "transaction",
        "security": elements.text(row, "securityTitle"),
        "transaction_date": elements.day(row, "transactionDate"),
        "code": elements.text(row, "transactionCoding/transactionCode"),
        "acquired": elements.parse_value(row, "transactionAmounts/transactionAcquiredDisposedCode", _ACQUIRED.get),
        "ownership": elements.text(row, "ownershipNature/directOrIndirectOwnership"),
        "ownership_nature": elements.text(row, "ownershipNature/natureOfOwnership"),
        "underlying": elements.text(row, "underlyingSecurity/underlyingSecurityTitle"),
        "exercise_date": elements.day(row, "exerciseDate"),
        "expiration_date": elements.day(row, "expirationDate"),
    }


def _numbers(row: Element) -> dict[str, float | int | None]:
    return {name: elements.number(row, path) for name, path in _NUMBERS.items()}


def _footnotes(root: Element) -> dict[str, str]:
    notes = elements.children(elements.find(root, "footnotes"), "footnote")
    return {note.get("id", ""): " ".join("".join(note.itertext()).split()) for note in notes}


def _references(row: Element) -> list[str]:
    """Return the ids of the footnotes of a row, each once."""
    return list(dict.fromkeys(part.get("id", "") for part in row.iter() if elements.name(part) == "footnoteId"))
