"""Summarise the public versions of facts: which concepts a company had reported. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from pit_fetch.provider import Record
from pit_fetch_providers.sec_facts.versions import age, in_order


def concepts(records: Iterable[Record], company: str) -> list[Record]:
    """Return one item for each taxonomy, concept and unit, public since the first filing that reports it."""
    by_concept: dict[tuple[str, str, str], list[Record]] = {}
    for record in records:
        payload = record.payload
        by_concept.setdefault((payload["taxonomy"], payload["concept"], payload["unit"]), []).append(record)
    items = []
    for (taxonomy, concept, unit), reported in by_concept.items():
        ends = [record.payload["end"] for record in reported]
        payload = {"taxonomy": taxonomy, "concept": concept, "unit": unit}
        payload |= {"first_end": min(ends), "last_end": max(ends)}
        newest = max(reported, key=age)
        items.append(newest._replace(id=f"{company}:{taxonomy}:{concept}:{unit}", payload=payload))
    return in_order(items)
