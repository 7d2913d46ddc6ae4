"""Leaks of yahoo: early hours, days that are not over, weekends, later splits, today's names, its errors."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

from pit_fetch_providers.yahoo import traded

from pit_fetch.times import NEW_YORK, end_of_minute, parse_rfc3339
from tests.laws.mutants.leak import Mutant, echoing, fails, first, readable_alone
from tests.laws.plant import Make

_HERE = "pit_fetch_providers.yahoo"
_ROWS, _FAILURES = ("yahoo: non-interference",), ("yahoo: failures",)


_CLAIMED = ("yahoo: claimed: non-interference",)


def _claimed_at_once(real: Any) -> Any:
    def article(row: Any, content: Any) -> Any:
        return real(row, content)._replace(claimed_at=parse_rfc3339(content.get("pubDate")))

    return article


def _claimed_in_the_morning(real: Any) -> Any:
    def claim(subject: Any, kind: str, first: Any, values: Any) -> Any:
        claimed_at, claimed = real(subject, kind, first, values)
        return claimed_at and claimed_at - timedelta(hours=10), claimed

    return claim


def _with_its_volume(real: Any) -> Any:
    def claim(subject: Any, kind: str, first: Any, values: Any) -> Any:
        claimed_at, claimed = real(subject, kind, first, values)
        return claimed_at, {**claimed, "volume": values.get("volume")} if kind == "bar" else claimed

    return claim


def _with_its_other_prices(real: Any) -> Any:
    def claim(subject: Any, kind: str, first: Any, values: Any) -> Any:
        claimed_at, claimed = real(subject, kind, first, values)
        if kind != "bar" or claimed_at is None:
            return claimed_at, claimed
        factor = traded.factor(subject.splits, first, subject._last(first))
        return claimed_at, {**claimed, "high": traded.close(values.get("high"), factor or 1.0)}

    return claim


def _if_told(close: Any) -> Make:
    """Return the leak of another close in the place of each that can be told."""
    return lambda real: lambda adjusted, factor: None if real(adjusted, factor) is None else close(adjusted, factor)


def _within_bounds_as_divided(real: Any) -> Any:
    def close(adjusted: Any, factor: float) -> Any:
        told = real(adjusted, factor)
        return told if told is not None and traded.LEAST <= adjusted * factor * traded.STEPS <= traded.MOST else None

    return close


def _always(value: Any) -> Make:
    return lambda real: value


def _by_one_time(name: str) -> Make:
    def make(real: Any) -> Any:
        def article(row: Any, content: Any) -> Any:
            made = real(row, content)
            return made._replace(available_at=parse_rfc3339(content.get(name))) if made.id else made

        return article

    return make


def _by_the_later(real: Any) -> Any:
    def article(row: Any, content: Any) -> Any:
        made = real(row, content)
        if made.available_at is None:
            return made
        stamps = [datetime.fromisoformat(content[name]) for name in ("pubDate", "displayTime")]
        return made._replace(available_at=end_of_minute(max(stamps)))

    return article


def _at_its_hour(real: Any) -> Any:
    def record(row: Any, names: Any, query: Any) -> Any:
        made = real(row, names, query)
        if made.available_at is None:
            return made
        return made._replace(available_at=datetime.fromisoformat(made.payload["date"]).replace(tzinfo=NEW_YORK))

    return record


def _reported_or_not(real: Any) -> Any:
    def record(row: Any, names: Any, query: Any) -> Any:
        made = real(row, names, query)
        if not made.id:
            return made
        hour = datetime.fromisoformat(made.payload["date"]).replace(tzinfo=NEW_YORK)
        return made._replace(available_at=hour + timedelta(days=2))

    return record


def _whoever(real: Any) -> Any:
    def record(row: Any, names: Any, query: Any) -> Any:
        return real(row, names, query._replace(options={**query.options, "symbol": None}))

    return record


def _as_in_open_mode(real: Any) -> Any:
    return lambda row, names, query: real(row, names, query._replace(pit=None))


def _actions_by_their_time(real: Any) -> Any:
    def dated(record: Any) -> Any:
        graded = parse_rfc3339(record.payload.get("gradeDate"))
        return record._replace(available_at=graded, at_receipt=False) if graded else record

    def fetch(query: Any, context: Any) -> Any:
        return (
            map(dated, real.fetch(query, context)) if query.operation.name == "upgrades" else real.fetch(query, context)
        )

    operations = [made._replace(dating="record") if made.name == "upgrades" else made for made in real.operations]
    return real._replace(fetch=fetch, operations=tuple(operations))


def _sections_alone(real: Any) -> Any:
    """Fail on a page with a marked section."""
    return lambda parser, text: fails() if "<![" in text else real(parser, text)


def _headings_anywhere(real: Any) -> Any:
    class Page(real):  # type: ignore[misc]
        def _end(self) -> None:
            if self._is_heading:
                self._heading_row = len(self._rows) - 1
            super()._end()

    return Page


MUTANTS = (
    Mutant("yahoo: an article counts from pubDate", f"{_HERE}.news:_article", _by_one_time("pubDate"), _ROWS),
    Mutant("yahoo: an article counts from displayTime", f"{_HERE}.news:_article", _by_one_time("displayTime"), _ROWS),
    Mutant("yahoo: a report counts from its hour", f"{_HERE}.earnings:_record", _at_its_hour, _ROWS),
    Mutant("yahoo: hours are never early", f"{_HERE}.earnings:EARLY", _always(timedelta(0)), _ROWS),
    Mutant("yahoo: a date without a report is one", f"{_HERE}.earnings:_record", _reported_or_not, _ROWS),
    Mutant("yahoo: reports of another company", f"{_HERE}.earnings:_record", _whoever, _ROWS),
    Mutant(
        "yahoo: a running bar is a bar",
        f"{_HERE}.prices:_Subject._over",
        lambda real: lambda subject, begins: subject.received,
        ("archive: running",),
    ),
    Mutant("yahoo: an article counts from the start of its minute", "pit_fetch.times:end_of_minute", first, _ROWS),
    Mutant("yahoo: the end of the later stamp's minute alone", f"{_HERE}.news:_article", _by_the_later, _ROWS),
    Mutant("yahoo: a report of a weekend", "pit_fetch.times:is_weekend", _always(lambda day: False), _ROWS),
    Mutant("yahoo: today's name of a company", f"{_HERE}.earnings:_record", _as_in_open_mode, _ROWS),
    Mutant("yahoo: an action counts from its time", f"{_HERE}:PROVIDER", _actions_by_their_time, _ROWS),
    Mutant(
        "yahoo: a claim of a minute counts from its beginning", f"{_HERE}.news:_article", _claimed_at_once, _CLAIMED
    ),
    Mutant(
        "yahoo: a claim of a day counts from its beginning",
        f"{_HERE}.ratings:end_of_day",
        lambda real: lambda day, zone: real(day - timedelta(days=1), zone),
        _CLAIMED,
    ),
    Mutant(
        "yahoo: a close stays divided by later splits",
        f"{_HERE}.traded:close",
        _if_told(lambda adjusted, factor: round(adjusted, 2)),
        _CLAIMED,
    ),
    Mutant(
        "yahoo: a close keeps the digits that a division left",
        f"{_HERE}.traded:close",
        _if_told(lambda adjusted, factor: adjusted * factor),
        _CLAIMED,
    ),
    Mutant(
        "yahoo: a close of half a cent is rounded by the digits that a division left",
        f"{_HERE}.traded:close",
        _if_told(lambda adjusted, factor: round(adjusted * factor, 2)),
        _CLAIMED,
    ),
    Mutant(
        "yahoo: a close between two steps is rounded by the digits that a division left",
        f"{_HERE}.traded:_ROUND",
        _always(0.5),
        _CLAIMED,
    ),
    Mutant(
        "yahoo: a close is within its bounds by the digits that a division left",
        f"{_HERE}.traded:close",
        _within_bounds_as_divided,
        _CLAIMED,
    ),
    Mutant("yahoo: prices of four decimals are within bounds", f"{_HERE}.traded:LEAST", _always(200), _CLAIMED),
    Mutant("yahoo: closes too large for cents are within bounds", f"{_HERE}.traded:MOST", _always(10**9), _CLAIMED),
    Mutant("yahoo: some later splits withhold a bar", f"{_HERE}.traded:MOST_DIVIDED", _always(100), _CLAIMED),
    Mutant("yahoo: parts of a dollar count as cents", f"{_HERE}.traded:QUOTED_IN_CENTS", _always(date.min), _CLAIMED),
    Mutant("yahoo: a high is claimed", f"{_HERE}.prices:_Subject._claim", _with_its_other_prices, _CLAIMED),
    Mutant("yahoo: a volume is claimed", f"{_HERE}.prices:_Subject._claim", _with_its_volume, _CLAIMED),
    Mutant("yahoo: a bar counts in the morning", f"{_HERE}.prices:_Subject._claim", _claimed_in_the_morning, _CLAIMED),
    Mutant(
        "yahoo: a later row of a chart that cannot be read fails the fetch",
        f"{_HERE}.prices:_tolerant",
        lambda real: lambda make, *row: make(*row),
        _CLAIMED,
    ),
    Mutant(
        "yahoo: a later price that no float holds fails the fetch", "pit_fetch.wire:MAX_DIGITS", _always(400), _CLAIMED
    ),
    Mutant("yahoo: a spoilt article fails the fetch", f"{_HERE}.news:read", readable_alone, _ROWS),
    Mutant("yahoo: a spoilt report fails the fetch", f"{_HERE}.earnings:read", readable_alone, _ROWS),
    Mutant("yahoo: markup in a report fails the fetch", "pit_fetch.wire:read_html", _sections_alone, _ROWS),
    Mutant("yahoo: a heading in a report is one of the table", f"{_HERE}.earnings:_Page", _headings_anywhere, _ROWS),
    Mutant(
        "yahoo: an unknown symbol is an error",
        f"{_HERE}.api:_checked",
        lambda real: lambda reply, host: found if (found := real(reply, host)) is not None else fails("no such symbol"),
        _FAILURES,
    ),
    Mutant("yahoo: the error's text is echoed", f"{_HERE}.api:_checked", echoing(), _FAILURES),
    Mutant("yahoo: the page's text is echoed", f"{_HERE}.api:_page", echoing(), _FAILURES),
)
