"""pit_fetch.as_of_join: each row of a frame has what was public at its own instant, and stays as it was."""

from __future__ import annotations

import os
from typing import Any

import pytest

import pit_fetch
from pit_fetch.errors import UsageError
from tests.unit.archive.scene import Archive, alpha

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")

QUARTERS = {"2025-12-31": ("2026-02-02", "1.70"), "2026-03-31": ("2026-05-04", "1.85")}
TIMES = ("2026-05-20 16:00", "2026-03-20 16:00", "2026-01-05 16:00")


@pytest.fixture
def asked(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The options of a question of an archive with the dividends of two companies."""
    archive = Archive(tmp_path)
    for symbol in ("IBM", "GE"):
        rows = [
            {"ex_dividend_date": day, "declaration_date": declared, "amount": amount}
            for day, (declared, amount) in QUARTERS.items()
        ]
        archive.app = alpha(DIVIDENDS={"symbol": symbol, "data": rows})
        archive.folder.joinpath("list.toml").write_text(
            f'[[request]]\nsource = "alphavantage"\nop = "DIVIDENDS"\nsymbol = "{symbol}"\n'
        )
        assert archive.command("capture list.toml", now="2026-07-01 12:00").code == 0
    for name in [name for name in os.environ if name.startswith(("CLAUDE", "PIT_FETCH", "AI_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    return {"op": "DIVIDENDS", "archive": archive.path, "offline": True}


def rows(symbols: tuple[Any, ...] = ("IBM", "T", "GE"), zone: str | None = "America/New_York") -> Any:
    times = pandas.to_datetime([*TIMES]).tz_localize(zone)
    return pandas.DataFrame({"time": times, "ticker": [*symbols], "mine": [3, 2, 1]}, index=[7, 7, 5])


def test_a_row_has_what_was_public_at_its_instant(asked: dict[str, Any]) -> None:
    frame = rows(("IBM", "GE", "GE"))
    joined = pit_fetch.as_of_join(frame, "alphavantage", on="time", by={"ticker": "symbol"}, check=9, **asked)
    assert joined[frame.columns].equals(frame)
    assert joined.amount.tolist()[:2] == [1.85, 1.70]
    assert joined.status.tolist() == ["ok", "ok", "nothing_public"]
    assert (joined.available_at.isna() | (joined.available_at <= joined.time)).all()
    assert str(joined.ex_dividend_date.dtype).startswith("datetime64")


def test_polars_in_and_polars_out(asked: dict[str, Any]) -> None:
    frame = polars.from_pandas(rows())
    joined = pit_fetch.as_of_join(
        frame, "alphavantage", on="time", by={"ticker": "symbol"}, fields=["amount"], newest=2, suffix="_paid", **asked
    )
    assert joined.columns[3:] == [
        "amount_paid", "available_at_paid", "amount_paid_2", "available_at_paid_2", "status_paid",
    ]  # fmt: skip
    assert joined["amount_paid"].to_list() == [1.85, None, None]
    assert joined["amount_paid_2"].to_list() == [1.70, None, None]
    assert joined["status_paid"].to_list() == ["ok", "not_captured", "nothing_public"]


@pytest.mark.parametrize(
    ("frame", "given", "problem"),
    [
        (rows(zone=None), {}, "row 0: time is no instant with a time zone"),
        (rows(("IBM", None, "GE")), {}, "row 1 has no ticker"),
        (rows().assign(amount=1), {}, "the frame has a column amount: give a suffix"),
        (rows(), {"on": "when"}, "the frame has no column when"),
        (rows(), {"fields": ["eps"]}, "eps is no field of the items"),
        (rows(), {"newest": 0}, "newest is the number of periods"),
        (rows()[:0], {}, "the frame has no rows"),
    ],
)
def test_what_cannot_be_joined_is_refused(asked: dict[str, Any], frame: Any, given: Any, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        pit_fetch.as_of_join(frame, "alphavantage", **{"on": "time", "by": {"ticker": "symbol"}, **asked, **given})


def test_several_series_are_refused_by_name() -> None:
    from pit_fetch.panels.series import newest_items

    items = [{"record_type": kind, "end": "2026-03-31"} for kind in ("quarterly", "annual")]
    with pytest.raises(UsageError, match=r"several series.*record_type quarterly and annual"):
        newest_items(items, "end", ("record_type",), 1)


def test_a_panel_shows_itself_and_turns_into_a_wide_frame(asked: dict[str, Any]) -> None:
    pits = "monthly 2026-01..2026-05 16:00[America/New_York]"
    panel = pit_fetch.panel("alphavantage", pits, {"symbol": ["IBM", "T"]}, **asked)
    assert repr(panel).splitlines()[:2] == [
        "Panel         alphavantage DIVIDENDS, 10 cells",
        "symbol        IBM, T (2)",
    ]
    wide = panel.pivot("amount")
    assert wide["IBM"].tolist()[1:] == [1.70, 1.70, 1.70, 1.85]
    assert wide["T"].isna().all()
    assert ["ok", "40%"] in [line.split() for line in repr(panel).splitlines()]
    assert "not_captured" in panel._repr_html_()
    with pytest.raises(UsageError, match="eps is no field of the items"):
        panel.pivot("eps")


def test_a_plot_is_that_of_the_wide_frame(asked: dict[str, Any]) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    panel = pit_fetch.panel("alphavantage", "monthly 2026-01..2026-05 16:00[UTC]", {"symbol": ["IBM"]}, **asked)
    (line,) = panel.plot("amount").get_lines()
    assert line.get_ydata().tolist()[1:] == [1.70, 1.70, 1.70, 1.85]
