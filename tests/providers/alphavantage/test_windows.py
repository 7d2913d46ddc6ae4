"""alphavantage's windows against the plain answer: all that was public, newest first, cut at the limit.

Made-up histories of many densities; the answer may not depend on where a reply or a month ends, nor
on what the source serves beside it that was not public yet.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from zoneinfo import ZoneInfo

import pytest
from pit_fetch_providers.alphavantage import news

from tests.providers.alphavantage import server as av

NEW_YORK = ZoneInfo("America/New_York")
PIT = datetime(2024, 2, 15, 21, 0, tzinfo=UTC)


def _published(stamp: str) -> datetime:
    moment = datetime.strptime(stamp, "%Y%m%dT%H%M%S").replace(tzinfo=UTC)
    return moment + timedelta(days=1) if stamp.endswith("T000000") else moment


def _stamps(random: Random) -> list[str]:
    """Moments around the PIT: spread over days, over hours, and one a minute; some are dates only."""
    ages = [random.choice([random.randint(-86_400, 345_600), 61 * random.randint(0, 20)]) for _ in range(40)]
    stamps = [(PIT - timedelta(seconds=age)).strftime("%Y%m%dT%H%M%S") for age in ages[: random.randint(0, 40)]]
    return [stamp[:9] + "000000" if random.random() < 0.12 else stamp for stamp in stamps]


def test_news_is_the_newest_of_all_that_was_public(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(news, "LIMIT", 6)
    store = av.Store()
    world = av.World(av.app(store), tmp_path)
    for seed in range(40):
        random = Random(seed)
        stamps = {f"n{number:03d}": stamp for number, stamp in enumerate(_stamps(random))}
        since = random.choice([None, PIT - timedelta(seconds=random.randint(0, 345_600))])
        limit = random.randint(1, 12)
        words = ["NEWS_SENTIMENT", "--limit", str(limit)] + (["--date-from", since.isoformat()] if since else [])
        public = {name: stamp for name, stamp in stamps.items() if _published(stamp) <= PIT}
        seen = []
        for served in (stamps, public):
            store.articles = [av.article(stamp, name) for name, stamp in served.items()]
            seen.append(world.fetch(*words, pit=PIT))
        wanted = [name for name in public if since is None or _published(public[name]) >= since]
        wanted.sort(key=lambda name: (-_published(stamps[name]).timestamp(), name))
        assert seen[0].leaves == seen[1].leaves, seed
        assert [name.rpartition("/")[2] for name in seen[0].ids] == wanted[:limit], seed
        assert ("truncated" in seen[0].gap_types) is (len(wanted) > limit), seed


def test_intraday_bars_are_the_newest_of_all_that_were_public(tmp_path: Path) -> None:
    store = av.Store()

    def end(label: str) -> datetime:
        return datetime.fromisoformat(label).replace(tzinfo=NEW_YORK).astimezone(UTC) + timedelta(hours=1)

    world = av.World(av.app(store), tmp_path)
    for seed in range(40):
        random = Random(seed)
        hours = [random.randint(0, 24 * 150) for _ in range(random.randint(20, 90))]
        times = [datetime(2024, 1, 1) + timedelta(hours=hour) for hour in hours]  # noqa: DTZ001 - New York's clock
        half = random.choice(("00", "30"))
        labels = sorted({f"{time:%Y-%m-%d %H}:{half}:00" for time in times}, reverse=True)
        pit = datetime(2024, 3, 1, tzinfo=NEW_YORK) + timedelta(minutes=random.randint(0, 100_000))
        since = random.choice([None, pit - timedelta(days=random.randint(0, 60))])
        limit = random.randint(1, 30)
        words = ["TIME_SERIES_INTRADAY", "symbol=IBM", "interval=60min", "--limit", str(limit)]
        words += ["--date-from", since.isoformat()] if since else []
        public = [label for label in labels if end(label) <= pit]
        seen = []
        for served in (labels, public):
            store.bars = {"TIME_SERIES_INTRADAY": [av.bar(label) for label in served]}
            seen.append(world.fetch(*words, pit=pit))
        wanted = [label for label in public if since is None or end(label) >= since]
        assert seen[0].leaves == seen[1].leaves, seed
        assert [item["timestamp"] for item in seen[0].data] == wanted[:limit], seed
        if since is not None:
            assert ("truncated" in seen[0].gap_types) is (len(wanted) > limit), seed
