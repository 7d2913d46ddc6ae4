"""Tell by a filing's own balance sheet what its long-term debt leaves out. Pure.

LongTermDebt stands beside LongTermDebtNoncurrent 120 times in the recorded filings. The two are equal 19 times, and
only then the balance sheet adds up with the former.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pit_fetch.provider import Record
from pit_fetch_providers.sec_facts.lines import REMAINDER, REMAINDER_OF, REMAINDER_PARTS
from pit_fetch_providers.sec_facts.versions import concept_of

_NEEDED = frozenset({REMAINDER, *REMAINDER_OF, *REMAINDER_PARTS})
_Values = Mapping[str, int | float]


def parted(records: Iterable[Record]) -> tuple[list[Record], list[Record]]:
    """Return the versions, and apart from them those of long-term debt that may include what is due within a year."""
    every = list(records)
    sheets: dict[tuple[str, str, str], dict[str, int | float]] = {}
    for record in every:
        if (concept := concept_of(record)) in _NEEDED:
            sheets.setdefault(_sheet(record), {})[concept] = record.payload["value"]
    doubtful = {place for place, sheet in sheets.items() if REMAINDER in sheet and not _adds_up(sheet)}
    if not doubtful:
        return every, []
    apart = [record for record in every if concept_of(record) == REMAINDER and _sheet(record) in doubtful]
    ids = {record.id for record in apart}
    return [record for record in every if record.id not in ids], apart


def _adds_up(sheet: _Values) -> bool:
    """Return whether the debt and some of the parts beside it are all liabilities but the current ones."""
    total, current = (sheet.get(concept) for concept in REMAINDER_OF)
    if total is None or current is None:
        return False
    sums = {sheet[REMAINDER]}
    for concept in REMAINDER_PARTS:
        sums |= {value + sheet.get(concept, 0) for value in sums}
    return total - current in sums


def _sheet(record: Record) -> tuple[str, str, str]:
    payload = record.payload
    return payload["accession"], payload["unit"], payload["end"]
