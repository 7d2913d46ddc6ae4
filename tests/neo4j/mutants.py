"""Faults that a pattern could have, each as a change of its text. The laws must see every one of them."""

from __future__ import annotations

from typing import NamedTuple

from tests.neo4j.laws import SHIPPED, Queries

NEWS = "news: Latest"
WORDS = "news: By words"
RANGE = "news: In a range"
NEAR = "vector: News near an embedding"
LIKE = "vector: News like a public item"
REPORT = "report: Latest"
SECTION = "report: Sections that match words"
CALL = "transcript: Latest"
PERIOD = "transcript: By fiscal year and quarter"
SAID = "transcript: Questions and answers that match words"
FACT = "xbrl: By concept"
PRICE = "entity: Latest prices"
DIVIDEND = "entity: Latest dividends"

CREATED = "CASE WHEN n.created =~ shape THEN datetime({datetime: datetime(n.created), timezone: 'Z'}) END"
FILED = "CASE WHEN r.created =~ shape THEN datetime({datetime: datetime(r.created), timezone: 'America/New_York'}) END"
FILTER = "WHERE at <= pit AND revised <= pit"


class Mutant(NamedTuple):
    """``changes`` are texts of a pattern and what takes their place. On ``engine`` it can be seen."""

    name: str
    pattern: str
    changes: tuple[tuple[str, str], ...]
    engine: str = ""


def _fault(name: str, pattern: str, old: str, new: str, engine: str = "") -> Mutant:
    return Mutant(name, pattern, ((old, new),), engine)


MUTANTS = (
    # The stamp.
    _fault("news: stamps compared as text", NEWS, "at <= pit", "n.created <= $pit"),
    _fault("report: stamps compared as text", REPORT, "at <= pit", "r.created <= $pit"),
    _fault("news: datetime() of anything", NEWS, CREATED, "datetime({datetime: datetime(n.created), timezone: 'Z'})"),
    _fault("report: datetime() of anything", REPORT, FILED, "datetime({datetime: datetime(r.created), timezone: 'America/New_York'})"),
    _fault("news: an offset is not needed", NEWS, "(Z|[+-](0[0-9]|1[0-7]):[0-5][0-9])'", "(Z|[+-](0[0-9]|1[0-7]):[0-5][0-9])?'"),
    Mutant("news: a time is not needed", NEWS, ((")T([01][0-9]", ")(T([01][0-9]"), ("[0-5][0-9])' AS shape", "[0-5][0-9]))?' AS shape"))),
    _fault("news: any month", NEWS, "(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])", "[0-9]{2}-(0[1-9]|1[0-9]|2[0-8])"),
    _fault("report: 30 February", REPORT, "(0[13-9]|1[0-2])-(29|30)", "(0[1-9]|1[0-2])-(29|30)"),
    _fault("report: 31 April", REPORT, "(0[13578]|1[02])-31", "(0[1-9]|1[0-2])-31"),
    _fault("report: any year is a leap year", REPORT, "(0[48]|[2468][048]|[13579][26])", "[0-9]{2}"),
    _fault("report: any hour", REPORT, "([01][0-9]|2[0-3])", "[0-9]{2}"),
    _fault("report: any minute", REPORT, "(:[0-5][0-9]){2}", "(:[0-9]{2}){2}"),
    _fault("report: any offset", REPORT, "(0[0-9]|1[0-7]):", "[0-2][0-9]:"),
    _fault("news: ten digits of a second", NEWS, "{1,9}", "+"),
    _fault("news: digits of any script", NEWS, "(19|20)[0-9]{2}-", r"\\d{4}-"),
    _fault("news: milliseconds", NEWS, "at <= pit", "at.epochMillis <= pit.epochMillis"),
    _fault("news: at the PIT is too late", NEWS, "at <= pit", "at < pit"),
    _fault("price: at the PIT is too late", PRICE, "at <= pit", "at < pit"),
    _fault("price: the day's text", PRICE, "at <= pit", "d.date <= substring($pit, 0, 10)"),
    _fault("dividend: a day without a close", DIVIDEND, "WHERE at <= pit", "WHERE coalesce(at, pit) <= pit"),
    # When a source has it.
    _fault("report: public when it is accepted", REPORT, " + 1) % 24", " + 0) % 24"),
    _fault("report: an evening's is public that evening", REPORT, "accepted.minute < 1050", "accepted.minute < 1440"),
    _fault("report: public at night", REPORT, "accepted.hour >= 6 AND", "accepted.hour >= 0 AND"),
    _fault("report: public on a weekend", REPORT, "accepted.dayOfWeek < 6", "accepted.dayOfWeek < 8"),
    _fault("report: every closure is a night", REPORT, "duration({days: 5})", "duration({days: 1})"),
    _fault("report: at the opening", REPORT, "hour: 9", "hour: 6"),
    _fault("report: EDGAR's clock is that of UTC", REPORT, FILED, FILED.replace("America/New_York", "Z")),
    _fault("report: an hour that ends a day", REPORT, "THEN 1 ELSE 0 END", "THEN 0 ELSE 0 END"),
    _fault("fact: public when its filing is accepted", FACT, " + 1) % 24", " + 0) % 24"),
    _fault("price: at the close", PRICE, "hour: 20", "hour: 16"),
    _fault("dividend: on the day of its declaration", DIVIDEND, "date(closed) + duration({days: 1})", "date(closed)"),
    _fault("call: public when it begins", CALL, "duration({days: 1})", "duration({days: 0})"),
    _fault("call: before noon of the day after", CALL, "WHEN datetime({datetime: noon, timezone: 'Z'}) >", "WHEN pit IS NULL AND pit >"),
    _fault("said: public when the call begins", SAID, "duration({days: 1})", "duration({days: 0})"),
    _fault("news: the zone decides among equals", NEWS, "datetime({datetime: datetime($pit), timezone: 'Z'})", "datetime($pit)", "arcadedb"),
    _fault("news: no zone is made the same", NEWS, "datetime({datetime: datetime(n.created), timezone: 'Z'})", "datetime(n.created)", "arcadedb"),
    # What was revised.
    _fault("news: revisions ignored", NEWS, " AND revised <= pit", ""),
    _fault("news: unreadable revisions ignored", NEWS, "timezone: 'Z'}) END AS revised", "timezone: 'Z'}) ELSE pit END AS revised"),
    _fault("news: without a revision on record", NEWS, "END AS revised", "WHEN coalesce(n.updated, '') = '' THEN pit END AS revised"),
    _fault("call: revisions ignored", CALL, " AND revised <= pit", ""),
    # What a record that was not public makes of the query.
    _fault("call: a year of any kind as text", PERIOD, "t.fiscal_year IN years", "toString(t.fiscal_year) = $fiscal_year", "arcadedb"),
    _fault("call: a year of any kind as a number", PERIOD, "t.fiscal_year IN years", "t.fiscal_year % 10000 = toInteger($fiscal_year)"),
    # No check at all, for one that selects.
    _fault("section: its filing is not asked", SECTION, "WHERE at <= pit AND", "WHERE"),
    _fault("fact: its filing is not asked", FACT, "WHERE at <= pit\n", ""),
    _fault("like: the seed is not asked", LIKE, "WHERE seed_at <= pit AND seed_revised <= pit\n", ""),
    _fault("like: the seed is in the answer", LIKE, "WHERE n.id <> $seed_id\n", ""),
    # What crowds.
    _fault("news: limit before filter", NEWS, "WITH DISTINCT n, shape, pit", "WITH DISTINCT n, shape, pit ORDER BY n.created DESC LIMIT $limit"),
    Mutant(
        "near: k before filter",
        NEAR,
        ((FILTER + "\n", ""), ("WITH n, at, shape, CASE", "WITH n, at, shape, pit, CASE"),
         ("WITH n, at, shape ORDER BY similarity DESC, at DESC, n.id LIMIT $k",
          "WITH n, at, shape, pit ORDER BY similarity DESC, n.id LIMIT $k\nWITH n, at, shape WHERE at <= pit")),
    ),
    Mutant(
        "words: the score in the answer",
        WORDS,
        (("YIELD node AS n", "YIELD node AS n, score"), ("WITH DISTINCT n,", "WITH DISTINCT n, score,"), ("WITH n, shape", "WITH n, score, shape"),
         ("WITH n, at, shape ORDER", "WITH n, at, shape, score ORDER"), ("title: n.title", "title: n.title,\n  score: score")),
    ),
    Mutant(
        "words: ordered by the score",
        WORDS,
        (("YIELD node AS n", "YIELD node AS n, score"), ("WITH DISTINCT n,", "WITH DISTINCT n, score,"), ("WITH n, shape", "WITH n, score, shape"),
         ("WITH n, at, shape ORDER BY at DESC", "WITH n, at, shape, score ORDER BY score DESC")),
    ),
    _fault("words: a limit of the index", WORDS, "words) YIELD node AS n", "words) YIELD node AS n, score\nWITH n, score, shape, pit, since, until ORDER BY score DESC LIMIT 3"),
    # What only later days know.
    Mutant("news: a return", NEWS, (("[:INFLUENCES]", "[i:INFLUENCES]"), ("DISTINCT n,", "DISTINCT n, i,"), ("WITH n, shape", "WITH n, i, shape"),
           ("WITH n, at,", "WITH n, i, at,"), ("title: n.title", "title: n.title,\n  daily_stock: i.daily_stock"))),
    Mutant("news: a return of another name", NEWS, (("[:INFLUENCES]", "[i:INFLUENCES]"), ("DISTINCT n,", "DISTINCT n, i,"), ("WITH n, shape", "WITH n, i, shape"),
           ("WITH n, at,", "WITH n, i, at,"), ("title: n.title", "title: n.title,\n  session_macro: i.session_macro"))),
    Mutant("news: chosen by a return", NEWS, (("[:INFLUENCES]", "[i:INFLUENCES]"), ("\nWITH DISTINCT n,", "\nWHERE i.daily_stock > 0\nWITH DISTINCT n,"))),
    _fault("price: the day's return", PRICE, "close: p.close", "close: p.close,\n  daily_return: p.daily_return"),
    _fault("call: today's name", CALL, "symbol: t.symbol", "symbol: t.symbol,\n  company_name: t.company_name"),
    Mutant("report: today's name", REPORT, (("(:Company", "(c:Company"), ("DISTINCT r,", "DISTINCT r, c,"), ("WITH r, pit", "WITH r, c, pit"),
           ("WITH r, available_at", "WITH r, c, available_at"), ("form: r.formType", "form: r.formType,\n  name: c.name"))),
    Mutant("news: how many there are", NEWS, (("WITH DISTINCT n, shape, pit", "WITH collect(DISTINCT n) AS ns, shape, pit\nUNWIND ns AS n\nWITH n, size(ns) AS total, shape, pit"),
           ("WITH n, shape, pit,\n", "WITH n, total, shape, pit,\n"), ("WITH n, at,", "WITH n, total, at,"), ("title: n.title", "title: n.title,\n  total: total"))),
    # Order and form.
    _fault("news: no second key", NEWS, "ORDER BY at DESC, n.id", "ORDER BY at DESC"),
    _fault("news: ordered by the text", NEWS, "ORDER BY at DESC", "ORDER BY n.created DESC"),
    _fault("near: in the order of similarity", NEAR, "WITH n, at, shape ORDER BY at DESC, n.id\n", ""),
    _fault("news: each as often as it is linked", NEWS, "WITH DISTINCT n", "WITH n"),
    _fault("news: the PIT as the stamp", NEWS, "available_at: n.created", "available_at: $pit"),
    _fault("news: a stamp without seconds", NEWS, "available_at: n.created", "available_at: toString(datetime(n.created))"),
    _fault("news: the days of UTC", RANGE, "'America/New_York'", "'Z'"),
    _fault("news: without the last day", RANGE, "duration({days: 1})", "duration({days: 0})"),
)  # fmt: skip


def planted(mutant: Mutant) -> Queries:
    """The changed pattern. Raises ValueError for a change that no longer fits it."""
    query = SHIPPED[mutant.pattern]
    for old, new in mutant.changes:
        if old not in query:
            raise ValueError(f"{mutant.name}: {old} is not in {mutant.pattern}")
        query = query.replace(old, new)
    return {mutant.pattern: query}
