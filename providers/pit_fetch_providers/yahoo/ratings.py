"""Turn modules of Yahoo's company summary into records: single actions of analysts, and their consensus today. Pure.

``epochGradeDate`` is no evidence of when an action was public. Of 1,309 actions in two recorded replies, of 2021 and
2025, none kept its time, and 805 moved to an earlier one, by up to days. So actions are a snapshot, too, and that time
is a claim. At midnight it is that of a day, whose end counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, time
from typing import Any

from pit_fetch.gaps import Code
from pit_fetch.provider import Query, Record, UpstreamError
from pit_fetch.times import NEW_YORK, end_of_day
from pit_fetch.wire import lenient_json
from pit_fetch_providers.shared import UNREADABLE, text_or_none
from pit_fetch_providers.yahoo.api import only_object

UPGRADES = "upgradeDowngradeHistory"
CONSENSUS = ("recommendationTrend", "financialData", "earningsTrend")
MODULES = {"upgrades": UPGRADES, "consensus": ",".join(CONSENSUS)}

_GRADE = ("firm", "toGrade", "fromGrade", "action")
_TARGETS = ("priceTargetAction", "currentPriceTarget", "priorPriceTarget")
_VOTES = ("strongBuy", "buy", "hold", "sell", "strongSell")
_PRICE_TARGETS = (
    "targetHighPrice", "targetLowPrice", "targetMeanPrice", "targetMedianPrice", "numberOfAnalystOpinions",
    "recommendationMean", "recommendationKey", "financialCurrency",
)  # fmt: skip
ESTIMATES = ("earningsEstimate", "revenueEstimate", "epsTrend", "epsRevisions")


def upgrades(body: bytes, query: Query, received: datetime) -> Iterator[Record]:
    """Yield one record for each action of an analyst's firm, as the list has it now."""
    module = _modules(body, rows=6).get(UPGRADES)
    history = module.get("history") if isinstance(module, dict) else None
    if not isinstance(history, list):
        raise UpstreamError(Code.MALFORMED, problem="it has no history of upgrades and downgrades")
    for row in history:
        yield _upgrade(row, query.options["symbol"], received) if isinstance(row, dict) else UNREADABLE


def consensus(body: bytes, query: Query, received: datetime) -> Iterator[Record]:
    """Yield votes by month, price targets, and estimates by period: the state of the moment."""
    modules, symbol = _modules(body, rows=12), query.options["symbol"]
    known = [name for name in CONSENSUS if isinstance(modules.get(name), dict)]
    if not known:
        raise UpstreamError(Code.MALFORMED, problem="it has none of the modules that were asked for")

    def record(kind: str, name: str, values: Mapping[str, Any]) -> Record:
        full = ":".join(filter(None, (symbol, kind, name)))
        return Record(full, received, {"record_type": kind, **values}, at_receipt=True)

    if "recommendationTrend" in known:
        for period, row in _trend_rows(modules["recommendationTrend"]):
            votes = {name: _plain(row.get(name)) for name in _VOTES}
            yield record("recommendation", period, {"period": period, **votes})
    if "financialData" in known:
        yield record("price_target", "", {name: _plain(modules["financialData"].get(name)) for name in _PRICE_TARGETS})
    if "earningsTrend" in known:
        for period, row in _trend_rows(modules["earningsTrend"]):
            parts = {name: _plain(row.get(name)) for name in ("endDate", "growth", *ESTIMATES)}
            yield record("estimate", period, {"period": period, **parts})


def _upgrade(row: Mapping[str, Any], symbol: str | None, received: datetime) -> Record:
    seconds, firm = row.get("epochGradeDate"), row.get("firm")
    if not isinstance(firm, str) or type(seconds) is not int or not 10**8 < seconds < 10**10:
        return UNREADABLE
    graded = datetime.fromtimestamp(seconds, UTC)
    grade = {name: text_or_none(row.get(name)) for name in _GRADE}
    return Record(
        id=":".join((*filter(None, [symbol]), f"{graded:%Y%m%dT%H%M%SZ}", firm, str(grade["action"]))),
        available_at=received,
        payload={
            "gradeDate": f"{graded:%Y-%m-%dT%H:%M:%SZ}",
            **grade,
            **{name: _plain(row.get(name)) for name in _TARGETS},
        },
        at_receipt=True,
        claimed_at=end_of_day(graded.date(), NEW_YORK) if graded.time() == time.min else graded,
    )


def _trend_rows(module: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    rows = module.get("trend")
    if not isinstance(rows, list):
        raise UpstreamError(Code.MALFORMED, problem="a module has no trend")
    for row in rows:
        if not isinstance(row, dict) or not isinstance(row.get("period"), str):
            raise UpstreamError(Code.MALFORMED, problem="a row of a trend has no period")
        yield row["period"], row


def _plain(value: Any) -> Any:
    """Return a value without its forms for people: ``{"raw": 0.98, "fmt": "0.98"}`` is 0.98."""
    if isinstance(value, dict):
        if not value or "raw" in value:
            return value.get("raw")
        return {name: _plain(part) for name, part in value.items() if name != "maxAge"}
    return value


def _modules(body: bytes, rows: int) -> Mapping[str, Any]:
    reply = lenient_json(body, rows)
    summary = reply.get("quoteSummary") if isinstance(reply, dict) else None
    if not isinstance(summary, dict) or summary.get("error") is not None:
        raise UpstreamError(Code.MALFORMED, problem="it is not a summary of a company")
    return only_object(summary.get("result"), "result")
