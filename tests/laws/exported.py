"""What an archive exports answers as the archive does: by the query that the documents give, in DuckDB."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from pit_fetch.cli.arguments import parse
from pit_fetch.provider import ENVELOPE_FIELDS, Provider, Query, Record
from pit_fetch.request.query import build_query
from tests.laws import archived
from tests.laws.coverage import Question, question_of, table
from tests.laws.worlds import Case, run

AS_OF = """
SELECT item FROM read_parquet('{folder}/*/*/*.parquet', union_by_name = true)
WHERE valid_from <= $pit AND (valid_to IS NULL OR valid_to > $pit)
"""


def exported(case: Case, rng: Random) -> int:
    """The rows that were valid at an instant are what the archive answers, but for the filters of the question."""
    question = question_of(case)
    if question is None or question.is_snapshot:
        return 0
    captures = sorted((case.moment + timedelta(days=rng.choice((0, 1, 3))), place) for place in range(2))
    instants = [case.moment + timedelta(hours=hours) for hours in (0, 1, 25, 100)]
    with archived.archive() as path:
        environ = archived.environ(path)
        file, folder = path.with_suffix(".toml"), path.with_suffix(".versions")
        file.write_text(table(case.source, question.values), encoding="utf-8")
        for now, _ in captures:
            run(case, rng.choice(case.worlds), line=("capture", str(file)), now=now, environ=environ)
        run(case, archived.nobody, line=("archive", "export", str(folder)), environ=environ)
        for pit in instants:
            words = (*question.words, "--offline")
            left = run(case, archived.nobody, pit=pit.isoformat(), environ=environ, words=words)
            query = _query(question, pit)
            derive = question.provider.derive
            is_computed = derive is not None and derive(query) is not None
            if not is_computed and "truncated" not in left.gap_types:
                _compare(question.provider, query, _as_of(folder, pit), left.data)
    return 0


def _query(question: Question, pit: datetime) -> Query:
    words = ("--source", question.case.source, *question.words, "--pit", pit.isoformat())
    return build_query(parse(words, question.provider, {}), pit + timedelta(days=900))


def _as_of(folder: Path, pit: datetime) -> list[dict[str, Any]]:
    """Return the items that the query of the documents finds."""
    import duckdb

    if not [*folder.glob("*/*/*.parquet")]:
        return []
    query = AS_OF.format(folder=folder)
    return [json.loads(item) for (item,) in duckdb.connect().sql(query, params={"pit": pit}).fetchall()]


def _compare(provider: Provider, query: Query, rows: list[dict[str, Any]], data: list[dict[str, Any]]) -> None:
    held, answered = {row["id"]: row for row in rows}, {item["id"]: item for item in data}
    assert len(held) == len(rows), "an item has two versions at one instant"
    assert {name: held[name] for name in answered} == answered
    earliest = query.operation.archiving.earliest(query)
    for name in held.keys() - answered.keys():
        record = _record(held[name])
        is_early = earliest is not None and record.available_at is not None and record.available_at < earliest
        assert is_early or not query.in_window(record) or not provider.select(query, record), f"{name} was not served"


def _record(item: dict[str, Any]) -> Record:
    stamps = [item.get(name) for name in ("available_at", "revised_at")]
    available, revised = (None if text is None else datetime.fromisoformat(text) for text in stamps)
    payload = {name: value for name, value in item.items() if name not in ENVELOPE_FIELDS}
    return Record(item["id"], available, payload, revised, available_at_source=item["available_at_source"])


def laws(makers: Mapping[str, Callable[[Random], Case]]) -> Mapping[str, Callable[[Random], int]]:
    """The law for every source."""

    def of(make: Callable[[Random], Case]) -> Callable[[Random], int]:
        return lambda rng: exported(make(rng), rng)

    return {f"{source}: archive exported": of(make) for source, make in makers.items()}
