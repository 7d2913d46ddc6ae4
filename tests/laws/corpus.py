"""The leak corpus against pit_fetch: what leaks, and what is withheld although it was public."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from pit_fetch.testing.server import App, Response
from pit_fetch.transport import HttpRequest
from tests.laws.claimed import ACCEPTED
from tests.laws.worlds import Case, run

FOLDER = Path(__file__).resolve().parents[1] / "corpus"
NOW = datetime(2027, 1, 1, tzinfo=UTC)
# The exit status of a fetch that is nothing but a failure, by the type of its gap.
_STATUS = {"config": 3, "input_error": 4, "upstream_error": 5}


class Score(NamedTuple):
    """Ids of cases (with the record's), and of how many records each is a part.

    ``claimed`` are records that were not public, or not in these words, and that are served, marked, on a claim.
    """

    leaks: Sequence[str]
    over_drops: Sequence[str]
    withheld: int
    public: int
    claimed: Sequence[str] = ()


@cache
def cases() -> Sequence[Mapping[str, Any]]:
    """Every case, with its source."""
    documents = [json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))]
    return [{**case, "source": document["source"]} for document in documents for case in document["cases"]]


def score(chosen: Sequence[Mapping[str, Any]], words: Sequence[str] = ()) -> Score:
    """Score pit_fetch, with ``words`` besides those of each case."""
    leaks, drops, claimed = list[str](), list[str](), list[str]()
    for case in chosen:
        asked = Case(case["source"], case["pit"], (*case["request"], *words), ())
        left = run(asked, _app(case["exchanges"]), now=NOW)
        printed, ids = left.out + left.err, set(left.ids)
        on_claims = {item["id"] for item in left.data if item.get("evidence") == "claimed"}
        for record in case["items"]:
            name = f"{case['id']} {record['id']}"
            kept = record["id"] in ids
            if (kept and not record["public"]) or any(text in printed for text in record.get("hidden", ())):
                (claimed if record["id"] in on_claims else leaks).append(name)
            if record["public"] and not kept:
                drops.append(name)
        if left.code not in (0, *(_STATUS[kind] for kind in left.gap_types if kind in _STATUS)):
            leaks.append(f"{case['id']} exit status {left.code}")
    records = [record for case in chosen for record in case["items"]]
    public = sum(record["public"] for record in records)
    return Score(leaks, drops, len(records) - public, public, claimed)


def law(rng: Random) -> int:
    """Some of the corpus at a time: nothing of it leaks, and nothing that was public is dropped."""
    found = score(rng.sample(cases(), 5))
    assert not (*found.leaks, *found.claimed, *found.over_drops), found
    return 0


def claimed(rng: Random) -> int:
    """What of it is served on a claim is marked, and nothing else leaks."""
    found = score(rng.sample(cases(), 5), ACCEPTED)
    assert not found.leaks, found.leaks
    return 0


def _app(exchanges: Sequence[Mapping[str, Any]]) -> App:
    def answer(request: HttpRequest) -> Response:
        return next(_matching(exchanges, request), Response(b"<Code>NoSuchKey</Code>", 404))

    return answer


def _matching(exchanges: Sequence[Mapping[str, Any]], request: HttpRequest) -> Iterator[Response]:
    for exchange in exchanges:
        if request.path.endswith(exchange["path"]) and exchange["query"].items() <= request.query.items():
            body = exchange["body"] if isinstance(exchange["body"], str) else json.dumps(exchange["body"])
            yield Response(body.encode(), exchange["status"], exchange.get("headers", {}))
