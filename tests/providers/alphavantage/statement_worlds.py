"""Worlds of Alpha Vantage's statements that agree on what was reported and due at the SEC by the PIT."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from random import Random
from typing import Any, NamedTuple

from pit_fetch.testing.server import App
from tests.laws.worlds import CANARY, NEW_YORK, PITS, Case, common, noise_count, options
from tests.loopback.broken import wreck
from tests.providers.alphavantage import server as loopback
from tests.providers.alphavantage.server import Store, quarter

_DAY = timedelta(days=1)
_FIGURES = {"INCOME_STATEMENT": "totalRevenue", "BALANCE_SHEET": "totalAssets", "CASH_FLOW": "operatingCashflow"}
_ANNUAL, _QUARTERLY = "annual_report", "quarterly_report"


class Statement(NamedTuple):
    """A statement: of a year or a quarter, with the day of its report in EARNINGS."""

    kind: str
    ends: date
    reported: date
    is_last: bool = False  # of a year: the year itself, or its last quarter

    def public(self, days: int) -> datetime:
        """Return the end of the day of the report, or of the day that is due so many days after the period."""
        due = self.ends + days * _DAY
        due += {5: 2, 6: 1}.get(due.weekday(), 0) * _DAY
        return datetime.combine(max(due, self.reported) + _DAY, time(0), NEW_YORK)


def claimed(rng: Random) -> Case:
    """Make statements and reports of which those up to the PIT are the same."""
    pit, function = rng.choice(PITS), rng.choice(sorted(_FIGURES))
    moment = datetime.fromisoformat(pit)
    history = _history(rng, moment.astimezone(NEW_YORK).date())
    served = [made for made in history if made.public(90 if made.is_last else 45) <= moment]
    # The first quarters of the list have no year before them, and count as the last of theirs.
    sure = [made for made in served if made.public(90) <= moment]
    late = [made for made in history if made not in served]
    ids = [f"{function}:IBM:{made.kind}:{made.ends}" for made in sure]
    is_plain = rng.random() < 0.4
    words = ("--limit", "500", "--max-pages", "1000") if is_plain else options(rng, common(moment, ids, rng), 3)
    apps = [_app(rng, function, served, []), *(_app(rng, function, served, late) for _ in range(3))]
    plain = frozenset(ids) if is_plain else None
    return Case("alphavantage", pit, (function, "symbol=IBM", *words), tuple(apps), plain=plain)


def _history(rng: Random, today: date) -> Sequence[Statement]:
    """Return statements of quarters, and of years, of which one was due about today."""
    newest = today - rng.choice((10, 44, 45, 46, 47, 48, 89, 90, 91, 92, 93, 136, 150)) * _DAY
    quarters = [newest - n * 91 * _DAY for n in range(-1, rng.choice((2, 3, 11)))]
    last = rng.randrange(4)
    return [made for n, ends in enumerate(quarters) for made in _statements(rng, ends, is_last=n % 4 == last)]


def _statements(rng: Random, ends: date, *, is_last: bool) -> Sequence[Statement]:
    reported = ends + rng.choice((14, 14, 30, 44, 45, 46, 89, 90, 91, 200)) * _DAY
    reported -= max(0, reported.weekday() - 4) * _DAY
    made = Statement(_QUARTERLY, ends, reported, is_last)
    return [made, made._replace(kind=_ANNUAL)] if is_last else [made]


def _app(rng: Random, function: str, served: Sequence[Statement], late: Sequence[Statement]) -> App:
    chosen = rng.sample(late, rng.randint(0, len(late)))
    rows = [(made.kind, _row(rng, function, made, f"{made.ends:%Y%m%d}")) for made in served]
    rows += [(made.kind, _row(rng, function, made, CANARY)) for made in chosen]
    reports = [quarter(f"{ends}", f"{day}") for ends, day in {made.ends: made.reported for made in served}.items()]
    known = {made.ends for made in served}
    reports += [quarter(f"{made.ends}", f"{made.reported}", CANARY) for made in late if made.ends not in known]
    if late:
        # One that was never reported, by no report, one without figures, or one of a weekend.
        for n in range(noise_count(rng)):
            ends = date(2001, 1, 1) + n * _DAY
            rows.append((rng.choice((_ANNUAL, _QUARTERLY)), _row(rng, function, Statement("", ends, ends), CANARY)))
            reports += rng.choice(([], [quarter(f"{ends}", "2001-05-05")], [quarter(f"{ends}", "2001-05-04", None)]))
        rows += [(_QUARTERLY, spoilt) for spoilt in rng.sample((None, 5, {"fiscalDateEnding": CANARY}), 1)]
    annual = [row for kind, row in rows if kind == _ANNUAL]
    quarterly = [row for kind, row in rows if kind == _QUARTERLY]
    for listed in (annual, quarterly, reports):
        rng.shuffle(listed)
    statement = {"symbol": "IBM", "annualReports": annual, "quarterlyReports": quarterly}
    return loopback.app(Store(documents={function: statement, "EARNINGS": loopback.earnings([], reports)}))


def _row(rng: Random, function: str, made: Statement, figure: Any) -> Any:
    row = {"fiscalDateEnding": f"{made.ends}", "reportedCurrency": "USD", _FIGURES[function]: figure}
    unknown = rng.choice(({}, {"restatedOn": CANARY}, {"nextQuarter": CANARY}))
    return {**row, **unknown, **({"x": wreck(rng)} if figure == CANARY and rng.random() < 0.2 else {})}
