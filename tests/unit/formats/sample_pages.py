"""Envelopes as large as pages get: 500 headlines with their articles, and 500 bars."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any

from pit_fetch.pipeline.envelope import PlainEnvelope, Provenance
from pit_fetch.provider import ENVELOPE_FIELDS, FieldKind, FieldRole
from pit_fetch.times import format_for_people, in_new_york
from tests.demo_source import PIT

_TITLES = (
    "Acme Raises Guidance After Record Services Quarter",
    "Analysts Expect A Strong Quarter From Acme; What To Watch & What Not To",
    "Berkshire Trims Its Stake In Acme, Filing Shows",
    "EU Is Said To Fine Acme Over Its \u201cStreaming\u201d Rules",
    "Options Traders Bet On A Move Before Earnings",
)
_WORDS = ("Acme said", "that revenue", "rose to", "$119.6 billion", "&amp; more", "as demand", "held up")
_NEWS: dict[str, FieldKind] = {"title": "text", "body": "text", "url": "text", "symbols": "list", "channels": "list"}
_BARS: dict[str, FieldKind] = {
    "date": "date", "open": "number", "high": "number", "low": "number", "close": "number", "volume": "integer",
}  # fmt: skip


def news(count: int, rng: Random | None = None) -> PlainEnvelope:
    rng, at, items = rng or Random(3), PIT, list[dict[str, Any]]()
    for number in range(count):
        at -= timedelta(seconds=int(rng.expovariate(1 / 1_200)) + 1)
        body = "".join(f"<p>{' '.join(rng.choices(_WORDS, k=35))}</p>" for _ in range(5))
        items.append(
            {
                **_stamps(at, "provider_metadata", str(38_000_000 - number)),
                "revised_at": in_new_york(at),
                "title": rng.choice(_TITLES),
                "body": body,
                "url": f"https://www.example.com/news/24/02/{38_000_000 - number}/what-acme-said-about-its-quarter",
                "symbols": ["ACME", "AAPL"][: rng.randint(1, 2)],
                "channels": ["News", "Earnings"],
            }
        )
    return PlainEnvelope(items, gaps(), Provenance("bz-news-api", "--source bz-news-api --limit 500", PIT, _NEWS))


def bars(count: int, rng: Random | None = None) -> PlainEnvelope:
    rng, day, price, items = rng or Random(3), PIT.replace(hour=1), 180.0, list[dict[str, Any]]()
    while len(items) < count:
        session = day.date() - timedelta(days=1)  # 01:00 UTC is the evening before in New York
        if session.weekday() < 5:
            price *= 1 + rng.gauss(0, 0.013)
            figures = {"open": 0.99, "high": 1.01, "low": 0.98, "close": 1.0}
            items.append(
                {
                    **_stamps(day, "time_series_timestamp", f"ACME:{session}"),
                    "date": f"{session}",
                    **{name: f"{price * part:.4f}" for name, part in figures.items()},
                    "volume": str(rng.randrange(10**7, 10**8)),
                }
            )
        day -= timedelta(days=1)
    return PlainEnvelope(
        items,
        gaps(),
        Provenance("alphavantage", "--source alphavantage --op TIME_SERIES_DAILY", PIT, _BARS, ("close",)),
    )


def explained(count: int, rng: Random | None = None) -> PlainEnvelope:
    """The operator's view: every other headline of the days after the PIT, and a few that were revised or undated."""
    rng, shown = rng or Random(5), news(count, rng)
    for index, item in enumerate(shown.data):
        verdict = "late" if index < count // 4 else rng.choices(("public", "revised", "undated"), (20, 2, 1))[0]
        late = PIT + timedelta(hours=rng.randint(1, 5 * count // 4))
        item["available_at"] = {"late": in_new_york(late), "undated": None}.get(verdict, item["available_at"])
        item["verdict"] = verdict
        item["because"] = f"published on {format_for_people(PIT)}, last revised on {format_for_people(PIT)}"
    return shown


def snapshot(count: int) -> PlainEnvelope:
    """Daily bars as a snapshot has them: all of them with the stamp of the receipt."""
    made = bars(count)
    for item in made.data:
        item |= {"available_at": in_new_york(PIT), "record_type": "bar", "symbol": "ACME", "currency": "USD"}
        item["id"] = f"TIME_SERIES_DAILY:{item['id']}:quarterly_report"
    return made


def compared(count: int) -> PlainEnvelope:
    """What differs between two instants: new headlines, changed ones, and a few that are gone."""
    made = news(count)
    for place, item in enumerate(made.data):
        item["change"] = ("new", "changed", "new", "gone")[place % 4]
        if item["change"] == "changed":
            item["before"] = {"title": f"An earlier headline, {item['title'].lower()}", "symbols": ["ACME"]}
    return made


def claimed(made: PlainEnvelope) -> PlainEnvelope:
    """The same items, of which only a claim dates every other one."""
    for item in made.data[::2]:
        item["evidence"] = "claimed"
    return made


def several(count: int) -> PlainEnvelope:
    """Daily closes of three symbols at very different prices, with their dividends and splits."""
    items = list[dict[str, Any]]()
    for seed, (symbol, factor) in enumerate({"ACME": 1.0, "BIGCO": 6.0, "CORP": 0.1}.items()):
        for item in bars(count, Random(seed)).data:
            item |= {"record_type": "bar", "symbol": symbol, "close": f"{float(item['close']) * factor:.4f}"}
            items.append({**item, "id": f"{symbol}:{item['date']}"})
        for place in range(0, count, 60):
            paid = {"record_type": "dividend", "symbol": symbol, "amount": 0.24, "id": f"{symbol}:dividend:{place}"}
            items.append({name: items[-1 - place][name] for name in (*ENVELOPE_FIELDS[:2], "date")} | paid)
    items.sort(key=lambda item: str(item["available_at"]), reverse=True)
    kinds: dict[str, FieldKind] = {"record_type": "text", "symbol": "text", **_BARS, "amount": "number"}
    roles: dict[str, FieldRole] = {"record_type": "kind", "symbol": "series"}
    about = Provenance("prices", "--source prices ACME BIGCO CORP", PIT, kinds, ("close",), roles, "date")
    return PlainEnvelope(items, gaps(), about)


def earnings(count: int) -> PlainEnvelope:
    """Quarters as reported, each with what was expected, and their years."""
    rng, items, end = Random(4), list[dict[str, Any]](), date(2023, 12, 31)
    for number in range(count):
        at = datetime(end.year, end.month, end.day, 23, 59, tzinfo=UTC) + timedelta(days=32 + rng.randrange(9))
        at -= timedelta(days=max(0, at.weekday() - 4))  # no report appears on a weekend
        expected = 2.1 - number * 0.07 + rng.gauss(0, 0.05)
        figures = {"reportedEPS": f"{expected + rng.gauss(0.03, 0.09):.2f}", "estimatedEPS": f"{expected:.2f}"}
        quarter = {"record_type": "quarterly", "fiscalDateEnding": f"{end}"}
        items.append({**_stamps(at, "earnings_report_timestamp", f"ACME:{end}"), **quarter, **figures})
        if end.month == 12:
            year = {"record_type": "annual", "fiscalDateEnding": f"{end}", "reportedEPS": f"{4 * expected:.2f}"}
            items.append({**_stamps(at, "earnings_report_timestamp", f"ACME:{end}:annual"), **year})
        end = end.replace(day=1, month=end.month - 2) - timedelta(days=1)
    kinds: dict[str, FieldKind] = {
        "record_type": "text", "fiscalDateEnding": "date", "reportedEPS": "number", "estimatedEPS": "number",
    }  # fmt: skip
    roles: dict[str, FieldRole] = {"record_type": "kind", "estimatedEPS": "estimate"}
    about = Provenance("earnings", "--source earnings ACME", PIT, kinds, ("reportedEPS",), roles, "fiscalDateEnding")
    return PlainEnvelope(items, gaps(), about)


def versions(count: int) -> PlainEnvelope:
    """A concept's figures for fiscal years, each as reported, and repeated or restated in the two years after."""
    rng, items = Random(6), list[dict[str, Any]]()
    for year in range(2023 - count, 2024):
        value = 3.2e9 * 1.08 ** (year - 2000)
        for later in range(3):
            at = datetime(year + 1 + later, 2, 3 + later, 21, 30, tzinfo=UTC)
            value *= 1.0 if rng.random() < 0.7 else 1 + rng.gauss(0, 0.05)
            if at < PIT:
                fact = {"concept": "Revenues", "unit": "USD", "start": f"{year}-01-01", "end": f"{year}-12-31"}
                stamps = _stamps(at, "edgar_accepted", f"1:Revenues:{year}:{later}")
                items.append({**stamps, **fact, "value": round(value), "form": "10-K"})
    items.sort(key=lambda item: str(item["available_at"]), reverse=True)
    kinds: dict[str, FieldKind] = {
        "concept": "text", "unit": "text", "start": "date", "end": "date", "value": "number", "form": "text",
    }  # fmt: skip
    roles: dict[str, FieldRole] = {"concept": "series", "unit": "series", "start": "start"}
    about = Provenance("facts", "--source facts concept=Revenues vintage=all", PIT, kinds, ("value",), roles, "end")
    return PlainEnvelope(items, gaps(), about)


def filings(count: int) -> PlainEnvelope:
    """Filings of several forms, the operator's view: a few came after the PIT."""
    rng, at, items = Random(8), PIT + timedelta(days=20), list[dict[str, Any]]()
    for number in range(count):
        at -= timedelta(hours=int(rng.expovariate(1 / 70)) + 1)
        form = rng.choices(("8-K", "4", "10-Q", "SC 13G/A", "DEF 14A"), (9, 14, 3, 2, 1))[0]
        verdict = "public" if at <= PIT else "late"
        what = {"form": form, "verdict": verdict, "because": f"{verdict} at the PIT", "items": ["2.02", "9.01"]}
        items.append({**_stamps(at, "edgar_accepted", f"0000320193-24-{100 + count - number:06}"), **what})
    kinds: dict[str, FieldKind] = {"form": "text", "items": "list"}
    about = Provenance("filings", "explain --source filings ACME", PIT, kinds, (), {"form": "kind"})
    return PlainEnvelope(items, gaps(), about)


def gaps() -> list[dict[str, Any]]:
    late = f"Anything published or last revised after the PIT, {format_for_people(PIT)}, is withheld."
    more = "More matches than --limit 500. Continue with --after 37999500@2024-02-08T16:30:00-05:00"
    return [
        {"type": "pit_excluded", "reason": late, "query": "q"},
        {"type": "truncated", "reason": more, "query": "q", "cursor": "37999500@2024-02-08T16:30:00-05:00"},
    ]


def _stamps(at: datetime, tag: str, name: str) -> dict[str, Any]:
    return {"available_at": in_new_york(at), "available_at_source": tag, "id": name}
