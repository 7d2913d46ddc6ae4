"""How small vintages are kept: replies of our own, in the shape of those of a source that adds a row a day."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path

import pytest

from pit_fetch.archive.store import bodies, journal, schema
from tests.providers.alphavantage import server as alphavantage
from tests.providers.bz_news_api import server as benzinga
from tests.repo import vintages
from tests.unit.archive.scene import Archive, articles, at

pytest.importorskip("zstandard")


def reply(days: int, close: str = "10.5") -> bytes:
    labels = [f"{2000 + day // 300}-{day // 25 % 12 + 1:02}-{day % 25 + 1:02}" for day in reversed(range(days))]
    bars = [alphavantage.bar(label, f"{close}{place * 7919 % 1000:03}") for place, label in enumerate(labels)]
    return alphavantage.series_csv(bars).encode()


def test_a_later_reply_is_small_beside_the_earlier_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for place, days in (("quotes_2025-11-08", 2_000), ("quotes", 2_120)):
        (tmp_path / place).mkdir()
        (tmp_path / place / "IBM.csv").write_bytes(reply(days))
        (tmp_path / place / "same.csv").write_bytes(reply(50))
    (tmp_path / "quotes" / "alone.csv").write_bytes(b"no earlier one")
    assert vintages.main(str(tmp_path)) == 0
    assert "2 pairs" in capsys.readouterr().out
    sizes = vintages.measure(list(vintages.pairs(tmp_path)))
    assert sizes.raw >= 12 * sizes.packed
    assert sizes.kept < sizes.both


def test_only_the_first_of_many_vintages_stands_alone(tmp_path: Path) -> None:
    """Every chain of dictionaries begins at the same reply, for as long as that is of use."""
    replies = [reply(200 + day) for day in range(40)] + [reply(60 + day, "7") for day in range(20)]
    path = str(tmp_path / "a.db")
    with closing(schema.open_to_write(path)) as connection, schema.transaction(connection):
        writer = journal.Writer(connection)
        fetch = writer.append_fetch(journal.FetchEntry(0, "live", "alphavantage", "", "", {}, "", None))
        for second, body in enumerate(replies):
            writer.append_exchange(
                fetch, journal.Exchange(second, "GET", "https://example.com/", {}, None, 200, {}, body)
            )
        read = [exchange.body for exchange in journal.exchanges_of(connection, fetch)]
        depths = [depth for (depth,) in connection.execute("SELECT depth FROM bodies ORDER BY rowid")]
        kept = [size for (size,) in connection.execute("SELECT length(packed) FROM bodies ORDER BY rowid")]
    assert read == replies
    assert max(depths) == bodies.DEEPEST
    assert depths[16:18] == depths[32:34] == [16, 1]
    # At the next turn the source had begun again, and where the chains began was of no use any more.
    assert depths[49] == 0
    assert all(2 * kept[place] <= len(bodies.pack(replies[place]).data) for place in (17, 33))


def test_what_zstandard_is_missing_for_is_not_called_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive, other = Archive(tmp_path), tmp_path / "other.db"
    archive.app = articles(*(benzinga.article(n, at("2026-06-01 14:00")) for n in range(9)))
    archive.fetch("bz-news-api --tickers AAPL", "2026-06-01 15:00")
    monkeypatch.setitem(sys.modules, "zstandard", None)
    verified = archive.command("archive verify")
    merged = archive.command(f"archive merge {archive.path} --archive {other}")
    for left in (verified, merged):
        assert (left.code, left.out) == (2, "")
        assert "packed with zstandard, which is missing" in left.err
        assert "damaged" not in left.err.lower()
