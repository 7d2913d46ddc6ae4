"""How the SEC's company facts look to a program as of an instant: each row from the release of its filing on."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from pit_fetch.provider import Asked, HttpReply, Record, Row, View
from pit_fetch_providers.edgar import client
from pit_fetch_providers.edgar.archive import answering_archive
from pit_fetch_providers.edgar.release import ListedFiling
from pit_fetch_providers.sec_facts import facts, release_instants

# Without ``frame``, which stands on the last version of a fact. The SEC rewrites the years and quarters of filings.
_FIELDS, _REWRITTEN = ("end", "start", "val", "accn", "fy", "fp", "form", "filed"), {"fy": None, "fp": None}
_NO_KEY = "<Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message></Error>"
_TODAY = {"label": "", "description": ""}


def _ask(asked: Asked) -> Generator[HttpReply, int, None]:
    archive = answering_archive(asked.query, asked.context)
    archive.check_company(int(asked.named["cik"]))
    asked.memo.update(archive=archive, released={})
    yield client.get(asked.context, client.DATA, asked.path)


def _record(row: Row, asked: Asked) -> Record | None:
    taxonomy, concept, unit = map(str, (row.keys[1], row.keys[2], row.keys[4]))
    return _dated(row, asked, taxonomy, concept, unit)


def _concept_record(row: Row, asked: Asked) -> Record | None:
    return _dated(row, asked, asked.named["taxonomy"], asked.named["concept"], str(row.keys[1]))


def _dated(row: Row, asked: Asked, taxonomy: str, concept: str, unit: str) -> Record | None:
    version = facts.version_in(row.value, taxonomy, concept, unit)
    if version is None:
        return None
    filing = ListedFiling(version.payload["accession"], version.payload["form"], version.filed)
    released = asked.memo["released"]
    if filing not in released:
        released[filing] = release_instants(filing, int(asked.named["cik"]), asked.memo["archive"], asked.query)
    name = f"{taxonomy}:{concept}:{unit}:{version.payload['start']}:{version.payload['end']}:{filing.accession}"
    return Record(name, next(iter(released[filing]), None), {})


def _frame(asked: Asked, rows: Sequence[Row]) -> dict[str, Any]:
    taxonomies: dict[Any, dict[Any, Any]] = {}
    for row in rows:
        taxonomies.setdefault(row.keys[1], {}).setdefault(row.keys[2], {**_TODAY, "units": {}})
    return {"cik": asked.rest.get("cik"), "entityName": "", "facts": taxonomies}


def _order(row: Row) -> tuple[str, ...]:
    """Return the names above a row: the SEC sorts them, and rows of one list stay as they are."""
    return tuple(map(str, row.keys[:-1]))


def _concept_frame(asked: Asked, rows: Sequence[Row]) -> dict[str, Any]:
    head = {"cik": asked.rest.get("cik"), "taxonomy": asked.named["taxonomy"], "tag": asked.named["concept"]}
    return {**head, **_TODAY, "entityName": "", "units": {}}


_FACTS = View(
    client.DATA, r"/api/xbrl/companyfacts/CIK(?P<cik>[0-9]{10})\.json", "facts", ("facts/*/*/units/*/*",), _record,
    _ask, order=_order, fields=_FIELDS, blank=_REWRITTEN, frame=_frame, nothing=(404, _NO_KEY),
)  # fmt: skip
VIEWS = (
    _FACTS,
    _FACTS._replace(
        path=r"/api/xbrl/companyconcept/CIK(?P<cik>[0-9]{10})/(?P<taxonomy>[^/]+)/(?P<concept>[^/]+)\.json",
        rows=("units/*/*",), record=_concept_record, frame=_concept_frame,
    ),
)  # fmt: skip
