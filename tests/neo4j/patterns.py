"""The shipped queries, read from the files that agents read, and what each pattern is asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from pit_fetch.claude_code import bundle
from pit_fetch.claude_code.lint import Block, blocks
from tests.neo4j.graph import (
    CHANNELS,
    CONCEPTS,
    EXHIBITS,
    FORMS,
    PEOPLE,
    PERIODS,
    SECTIONS,
    TICKER,
    UNKNOWN,
    WORDS,
    Case,
    Public,
    vector,
)


def _name(path: str) -> str:
    """Return what the names of a file's patterns begin with, as the guard knows them: "news", "vector"."""
    return re.sub("^neo4j-|-(queries|patterns|search)$", "", path.split("/")[1].removesuffix(".md"))


QUERIES: Mapping[str, Block] = {
    f"{_name(path)}: {block.heading}": block
    for path, content in bundle.files().items()
    if path.endswith(".md")
    for block in blocks(content.decode())
}
PATTERNS: Mapping[str, Block] = {name: block for name, block in QUERIES.items() if block.is_pattern}
OPEN: Mapping[str, Block] = {name: block for name, block in QUERIES.items() if not block.is_pattern}

Parameters = Mapping[str, Any]
Chooses = Callable[[Mapping[str, Any], Parameters], bool]


class Answer(NamedTuple):
    """What a pattern must answer: records of ``kind`` that ``chooses`` accepts; the nearest of them by ``near``."""

    kind: str
    chooses: Chooses
    near: str = ""  # "embedding" or "seed"


def _of(*names: str) -> Chooses:
    """Records whose property ``name`` is the parameter ``name``."""
    return lambda record, asked: all(record[name] == asked[name] for name in names)


def _also(chooses: Chooses, more: Chooses) -> Chooses:
    return lambda record, asked: chooses(record, asked) and more(record, asked)


def _within(name: str) -> Chooses:
    """Records whose property ``name`` contains the parameter ``name``."""
    return lambda record, asked: asked[name] in record[name]


COMPANY = _of("ticker")
SAID = _also(COMPANY, lambda record, asked: asked["query"] in record["words"].split())
INSTANT = _also(_of("ticker", "concept"), lambda record, asked: record["instant"] == asked["period"])

# In the words of the files: what each pattern is there for. Date ranges are applied to all that take them.
ANSWERS: Mapping[str, Answer] = {
    "news: Latest": Answer("news", COMPANY),
    "news: Latest, with the full text": Answer("news", COMPANY),
    "news: In a range": Answer("news", COMPANY),
    "news: By channel": Answer("news", _also(COMPANY, _within("channel"))),
    "news: By words": Answer("news", SAID),
    "news: By words, any company": Answer("news", lambda record, asked: asked["query"] in record["words"]),
    "vector: News near an embedding": Answer("news", COMPANY, near="embedding"),
    "vector: News like a public item": Answer("news", COMPANY, near="seed"),
    "report: Latest": Answer("report", COMPANY),
    "report: In a range": Answer("report", COMPANY),
    "report: By form": Answer("report", _of("ticker", "form")),
    "report: By item": Answer("report", _also(COMPANY, _within("item"))),
    "report: By fiscal period": Answer("report", _of("ticker", "period")),
    "report: By accession number": Answer("report", _of("accession")),
    "report: Filings whose sections match words": Answer("report", SAID),
    "report: Sections that match words": Answer("section", SAID),
    "report: Exhibits that match words": Answer("exhibit", SAID),
    "report: What sections a filing has": Answer("section", _of("accession")),
    "report: One section of a filing": Answer("section", _of("accession", "section")),
    "report: One exhibit of a filing": Answer("exhibit", _of("accession", "exhibit")),
    "report: Financial statements of a filing": Answer("statement", _of("accession")),
    "report: The text of a filing without sections": Answer("filing text", _of("accession")),
    "transcript: Latest": Answer("call", COMPANY),
    "transcript: In a range": Answer("call", COMPANY),
    "transcript: By fiscal year and quarter": Answer("call", _of("ticker", "fiscal_year", "fiscal_quarter")),
    "transcript: Questions and answers of a call": Answer("exchange", _of("transcript")),
    "transcript: Questions and answers that match words": Answer("exchange", SAID),
    "transcript: Questions of one person": Answer("exchange", _also(COMPANY, _within("questioner"))),
    "transcript: Prepared remarks of a call": Answer("remark", _of("transcript")),
    "transcript: Prepared remarks that match words": Answer("remark", SAID),
    "transcript: Questions and answers in one text": Answer("qa text", _of("transcript")),
    "transcript: Full text of a call": Answer("full text", _of("transcript")),
    "vector: Questions and answers near an embedding": Answer("exchange", COMPANY, near="embedding"),
    "vector: Questions and answers like a public one": Answer("exchange", COMPANY, near="seed"),
    "xbrl: By concept": Answer("fact", _of("ticker", "concept")),
    "xbrl: By concept and period": Answer(
        "fact", _also(_of("ticker", "concept"), lambda f, p: f["end"] == p["period"])
    ),
    "xbrl: By concept, at an instant": Answer("fact", INSTANT),
    "xbrl: By period": Answer("fact", _also(COMPANY, lambda f, p: f["end"] == p["period"])),
    "xbrl: By accession number": Answer("fact", _of("accession")),
    "xbrl: By accession number and concept": Answer("fact", _of("accession", "concept")),
    "entity: Latest prices": Answer("price", COMPANY),
    "entity: Prices in a range": Answer("price", COMPANY),
    "entity: Latest dividends": Answer("dividend", COMPANY),
    "entity: Dividends in a range": Answer("dividend", COMPANY),
    "entity: Latest splits": Answer("split", COMPANY),
    "entity: Splits in a range": Answer("split", COMPANY),
}


def ask(name: str, case: Case, random: Random) -> dict[str, Any]:
    """Values for every parameter of a pattern: of a public record where one helps, small limits now and then."""
    answer = ANSWERS[name]
    records = [record for record in case.public if record.kind == answer.kind]
    likely = [record for record in records if record.chosen_by.get("ticker") == TICKER] or records
    chosen: Mapping[str, Any] = random.choice(likely).chosen_by if likely else {}
    day = random.choice(likely).day if likely else case.pit[:10]
    unknown_seed = f"News_{UNKNOWN}" if answer.kind == "news" else f"{UNKNOWN}_qa__0"
    values: dict[str, Any] = {
        "pit": case.pit,
        "ticker": TICKER,
        "start_date": random.choice(["2000-01-01", day]),
        "end_date": random.choice(["2099-12-31", day]),
        "channel": random.choice(CHANNELS),
        "form": chosen.get("form") or random.choice(FORMS),
        "item": random.choice(["Item 2.02", "Item 5.02", "Item 9.01"]),
        "accession": _or_unknown(chosen.get("accession"), random),
        "period": chosen.get("end") or chosen.get("period") or random.choice(PERIODS)[2],
        "section": random.choice(SECTIONS),
        "exhibit": random.choice(EXHIBITS),
        "concept": random.choice(CONCEPTS),
        "fiscal_year": chosen.get("fiscal_year") or "2023",
        "fiscal_quarter": chosen.get("fiscal_quarter") or "1",
        "transcript": _or_unknown(chosen.get("transcript"), random),
        "questioner": random.choice([*PEOPLE, "Ann"]),
        "query": random.choice(WORDS),
        "embedding": vector(random),
        "seed_id": _or_unknown(random.choice(likely).id if likely else None, random, unknown_seed),
        "k": random.choice([1, 2, 3, 50]),
        "limit": random.choice([1, 2, 3, 50, 50, 50]),
    }
    if "instant" in name:
        values["period"] = chosen.get("instant") or "2023-12-31"
    return {key: value for key, value in values.items() if key in PATTERNS[name].parameters}


def _or_unknown(known: str | None, random: Random, unknown: str = UNKNOWN) -> str:
    """What was public or, now and then, the name of what was not yet."""
    return unknown if known is None or random.random() < 0.2 else known


def expected(name: str, case: Case, asked: Parameters) -> list[Public]:
    """The records that the pattern must answer with, in order."""
    answer = ANSWERS[name]
    found = [record for record in case.public if record.kind == answer.kind and answer.chooses(record.chosen_by, asked)]
    if "start_date" in asked:
        found = [record for record in found if asked["start_date"] <= record.day <= asked["end_date"]]
    if answer.near:
        found = _nearest(found, answer, case, asked)
    return _newest_first(found)[: asked.get("limit")]


def _nearest(found: Sequence[Public], answer: Answer, case: Case, asked: Parameters) -> list[Public]:
    start = asked.get("embedding")
    if answer.near == "seed":
        seeds = [record for record in case.public if record.kind == answer.kind and record.id == asked["seed_id"]]
        start = seeds[0].chosen_by["embedding"] if seeds else None
    with_embedding = [record for record in found if record.chosen_by["embedding"] and record.id != asked.get("seed_id")]
    if start is None:
        return []

    def distance(record: Public) -> float:
        similarity = 0.0
        for mine, theirs in zip(record.chosen_by["embedding"], start, strict=True):
            similarity += mine * theirs
        return -similarity

    return sorted(_newest_first(with_embedding), key=distance)[: asked["k"]]


def _newest_first(records: Sequence[Public]) -> list[Public]:
    return sorted(records, key=lambda record: (-record.at, record.id))
