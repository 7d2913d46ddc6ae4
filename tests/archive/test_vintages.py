"""How small vintages are kept: replies of our own, in the shape of those of a source that adds a row a day."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.loopback import alphavantage
from tests.repo import vintages

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


def test_a_folder_without_pairs_is_refused(tmp_path: Path) -> None:
    assert vintages.main(str(tmp_path)) == 1
