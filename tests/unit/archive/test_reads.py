"""A question interprets the recorded requests that could answer it, however many others there are."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pit_fetch.archive import archived, rederive
from pit_fetch.archive import interpreted as interpreted_module
from tests.providers.bz_news_api import server as benzinga
from tests.unit.archive.scene import Archive, articles, at

FIRST = at("2026-01-01 21:00")
NEWS = "bz-news-api --lookback-minutes 1440"


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The fetches that were interpreted since the list was cleared."""
    real, seen = interpreted_module.interpret, list[Any]()

    def interpret(fetch: Any, find: Any) -> Any:
        seen.append(fetch)
        return real(fetch, find)

    monkeypatch.setattr(archived, "interpret", interpret)
    return seen


def captured(archive: Archive, requests: list[str], day: int) -> None:
    """Capture a list of requests at the end of a day, each looking back over three."""
    now = FIRST + timedelta(days=day)
    archive.app = articles(*(benzinga.article(n, FIRST + timedelta(days=n, hours=-1)) for n in range(day + 1)))
    tables = (f"[[request]]\nsource = 'benzinga'\nlookback_minutes = 4320\n{more}\n" for more in requests)
    (archive.folder / "list.toml").write_text("may_be_empty = true\n".join([*tables, ""]))
    assert archive.command("capture list.toml", f"{now:%Y-%m-%d %H:%M}").code == 0


def asked(archive: Archive, day: float, words: str = NEWS) -> Any:
    pit = f"{FIRST + timedelta(days=day):%Y-%m-%d %H:%M}"
    return archive.offline(words, "2026-06-01 12:00", pit=pit)


def test_what_was_captured_before_or_after_is_not_interpreted(tmp_path: Path, interpreted: list[Any]) -> None:
    archive, rng = Archive(tmp_path), Random(4)
    for day in range(24):
        captured(archive, [""], day)
    for instant in [rng.uniform(4, 20) for _ in range(12)]:
        interpreted.clear()
        answer = asked(archive, instant)
        assert "captured" not in str(answer.gap_types)
        assert [*answer.ids] == [str(n) for n in range(24) if 0 <= instant - n + 1 / 24 <= 1][::-1]
        # A capture looks back over three days, and those of four days overlap the day that is asked for.
        assert len(interpreted) <= 5, instant
    interpreted.clear()
    asked(archive, 20, NEWS.replace("1440", "17280"))
    assert 5 <= len(interpreted) <= 16, "a question about twelve days rests on the captures of these days"


def test_what_was_captured_of_others_is_not_interpreted(tmp_path: Path, interpreted: list[Any]) -> None:
    archive = Archive(tmp_path)
    captured(archive, [f"tickers = ['T{n}', 'U{n}']" for n in range(40)] + ["tickers = ['AAPL']"], 3)
    for tickers, most in {"T7": 1, "u9": 1, "T7,T9": 2, "AAPL": 1, "NONE": 0}.items():
        interpreted.clear()
        answer = asked(archive, 3, f"{NEWS} --tickers {tickers}")
        assert len(interpreted) <= most, tickers
        assert any(gap.get("captured") is False for gap in answer.envelope["gaps"]) == (tickers == "NONE")
    interpreted.clear()
    captured(archive, ["channels = ['News']", ""], 4)
    interpreted.clear()
    assert "NONE" not in asked(archive, 4, f"{NEWS} --tickers NONE").envelope["gaps"][-1]
    assert len(interpreted) <= 2, "a request for everything answers for each"


def test_a_capture_parses_each_reply_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive, again = Archive(tmp_path), list[Any]()
    real = rederive.rederive

    def derived(*args: Any) -> Any:
        again.append(args)
        return real(*args)

    with monkeypatch.context() as patched:
        patched.setattr(archived, "rederive", derived)
        for day in range(3):
            captured(archive, ["tickers = ['AAPL']", "tickers = ['MSFT']", ""], day)
    assert not again
    assert archive.command("archive verify").code == 0
