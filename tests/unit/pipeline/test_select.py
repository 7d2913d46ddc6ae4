"""The pipeline: what a page keeps is a function of the public records alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from itertools import permutations
from typing import Any

import pytest

from pit_fetch.errors import UpstreamError
from pit_fetch.gaps import Code, Gap, gap
from pit_fetch.pipeline.select import (
    Selection,
    Withheld,
    in_order,
    newest_periods,
    public,
    require_fields,
    series_name,
    visibility,
)
from pit_fetch.provider import Page, Record, Watermark
from tests.unit.pipeline.selecting import PIT, select

MICROSECOND = timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("count", "kept"),
    [(1, ["a 2024", "a 2024 again", "b 2023"]), (2, ["a 2023", "a 2024", "a 2024 again", "b 2023", "b 2022"])],
)
def test_the_newest_periods_of_each_series_are_kept_whatever_changed_last(count: int, kept: list[str]) -> None:
    rows = [("a 2022", "2022"), ("a 2023", "2023"), ("a 2024", "2024"), ("a 2024 again", "2024")]
    rows += [("b 2023", "2023"), ("b 2022", "2022")]
    records = [Record(name, PIT, {"series": name[0]}, period=f"{period}-12-31") for name, period in rows]
    told = gap(Code.RESULT_CAP)
    series = [series_name(each, ["series"]) for each in records]
    assert [*newest_periods([*records, told], [*series, ""], count)] == [
        *(each for each in records if each.id in kept),
        told,
    ]


def record(name: str, seconds: float = 0, revised: float | None = None, title: str = "") -> Record:
    """A record that is ``seconds`` older than the PIT."""
    revision = None if revised is None else PIT - timedelta(seconds=revised)
    return Record(name, PIT - timedelta(seconds=seconds), {"title": title}, revision)


def keep(stream: Iterable[Record | Page | Watermark | Gap], **more: Any) -> Selection:
    return select(stream, **more).build()


def pages(*rows: list[Record], order: bool = True) -> list[Page]:
    """What a source sends that gives its newest records first."""
    return [Page(tuple(page), newest_first=order, continues_previous=number > 0) for number, page in enumerate(rows)]


def ids(selection: Selection) -> list[str]:
    return [kept.id for kept in selection.records]


@pytest.mark.parametrize(
    ("item", "pit", "expected"),
    [
        (record("a"), PIT, "public"),
        (record("a")._replace(available_at=PIT + MICROSECOND), PIT, "late"),
        (record("a", 60)._replace(revised_at=PIT), PIT, "public"),
        (record("a", 60)._replace(revised_at=PIT + MICROSECOND), PIT, "late"),
        (record("a")._replace(available_at=None), PIT, "undated"),
        (record("a")._replace(available_at=datetime(2020, 1, 1)), PIT, "undated"),  # noqa: DTZ001
        (record("a")._replace(revised_at=datetime(2020, 1, 1)), PIT, "undated"),  # noqa: DTZ001
        (record(""), PIT, "unusable"),
        (record("a")._replace(available_at=None), None, "public"),
        (record(""), None, "unusable"),
    ],
)
def test_verdicts(item: Record, pit: datetime | None, expected: str) -> None:
    assert visibility(item, pit) == expected


def test_what_is_withheld_is_tallied_for_the_audit_file() -> None:
    withheld = Withheld()
    undated = record("b")._replace(available_at=None)
    assert list(public([record("a", -1), undated, record(""), record("c")], lambda: PIT, withheld)) == [record("c")]
    assert (withheld.late, withheld.undated, withheld.unusable) == (["a"], ["b"], 1)


def test_undated_records_of_open_mode_stand_last() -> None:
    undated = record("a")._replace(available_at=None)
    for order in (True, False):
        stream = public(pages([record("c", 1), undated], [record("b", 2)], order=order), lambda: None, Withheld())
        assert [element.id for element in in_order(stream) if isinstance(element, Record)] == ["c", "b", "a"]


def test_a_pit_in_the_future_follows_the_clock() -> None:
    clock = iter([PIT - MICROSECOND, PIT])
    kept = list(public([record("early"), record("now")], lambda: next(clock), Withheld()))
    assert kept == [record("now")]


def test_ties_are_ordered_by_id_whatever_the_kind_of_source() -> None:
    records = [record("c"), record("a"), record("b"), record("z", 1)]
    assert ids(keep(records)) == ids(keep(pages(records[:2], records[2:]))) == ["a", "b", "c", "z"]


def test_of_the_versions_of_an_id_the_newest_public_one_counts_by_the_later_of_its_stamps() -> None:
    first, revised = record("a", 9, title="first"), record("a", 9, revised=5, title="revised")
    vintage, late = record("a", 7, title="vintage"), record("a", 1, revised=-1, title="late")
    for stream in permutations((first, revised, vintage, late)):
        assert [version.payload["title"] for version in keep(stream).records] == ["revised"]
    assert [version.payload["title"] for version in keep((first, vintage)).records] == ["vintage"]


def test_a_page_that_shifted_while_it_was_read_does_not_break_the_order() -> None:
    a, b, c = record("a", 1), record("b", 2), record("c", 3)
    assert ids(keep(pages([a, b], [b, a, c]))) == ["a", "b", "c"]


def test_a_broken_order_among_public_records_is_an_upstream_error() -> None:
    with pytest.raises(UpstreamError, match="out of the requested order"):
        keep(pages([record("a", 2)], [record("b", 1)]))
    assert ids(keep(pages([record("a", 2)], [record("b", 1)], order=False))) == ["b", "a"]


P, OLD_P, NEW_P = record("p", 2, title="p"), record("p", 4, title="old p"), record("p", 4, 1, title="new p")
Q, R = record("q", 3, title="q"), record("r", 5, title="r")


def test_a_source_repeats_itself_by_what_is_public() -> None:
    a, b, late = record("a", 1), record("b", 2), record("late", -5)
    with pytest.raises(UpstreamError, match="same page"):
        keep(pages(*([a, late] if n % 2 else [late, late, a] for n in range(101)), [b]))
    assert ids(keep(pages(*([late] for _ in range(300)), [a]))) == ["a"]
    assert ids(keep(pages(*([a] for _ in range(99)), [b]))) == ["a", "b"]
    loops = [Page((a,), newest_first=True) for _ in range(300)]  # each a window of its own
    assert ids(keep([*loops, Page((b,))])) == ["a", "b"]
    vintages = [[record("a", 300 - n)] for n in range(200)]
    assert ids(keep(pages(*vintages, order=False))) == ["a"]


def test_a_source_is_not_asked_for_more_than_is_wanted() -> None:
    def source() -> Iterator[Page | Gap]:
        yield Page((record("a", 1), record("b", 2)), newest_first=True)
        yield gap(Code.RESULT_CAP)
        yield Page((record("c", 3), record("d", 4)), newest_first=True, continues_previous=True)
        pytest.fail("asked for a page that nobody wants")

    selection = keep(source(), limit=2)
    assert (ids(selection), selection.stopped) == (["a", "b"], "limit")
    assert [gap.code for gap in selection.gaps] == ["result_cap"]


@pytest.mark.parametrize(
    ("limit", "cap", "stopped"), [(3, 10, ""), (2, 10, "limit"), (10, 3, ""), (10, 2, "max_pages")]
)
def test_a_cap_says_so_only_when_it_cut_something(limit: int, cap: int, stopped: str) -> None:
    assert keep([record(name, n) for n, name in enumerate("abc")], limit=limit, cap=cap).stopped == stopped


def test_caps_count_before_the_filter_and_limits_after_it() -> None:
    records = [record(str(n), n) for n in range(10)]
    builder = select(records, cap=6, limit=2, wanted=lambda item: int(item.id) % 2 == 1)
    assert (ids(builder.build()), builder.scanned, builder.stopped) == (["1", "3"], 6, "limit")


def test_of_two_receipts_of_one_id_the_later_is_kept_and_a_late_one_is_withheld() -> None:
    old, new, late = (record("a", n, title=str(n))._replace(at_receipt=True) for n in (9, 1, -1))
    assert [kept.payload["title"] for kept in keep([old, late, new]).records] == ["1"]


@pytest.mark.parametrize("order", [True, False])
@pytest.mark.parametrize(
    ("periods", "expected"),
    [
        ({"a": "2023-12-31", "b": "2024-03-31", "c": "2024-03-31"}, "bca"),
        ({"a": "2024-02-15 09:30:00", "b": "2024-02-15 10:00:00", "c": "2024-02-15"}, "bac"),
        ({"a": "2024-02-15T09:30:00-05:00", "b": "2024-02-15T14:00:00+00:00", "c": "2024-02-16T00:00:00+09:00"}, "cab"),
        ({"a": None, "b": "2024-03-31", "c": "soon"}, "bac"),
        ({"a": 20240331, "b": [], "c": "2024-01-01"}, "cab"),
    ],
)
def test_of_one_instant_the_newest_period_comes_first(periods: dict[str, Any], expected: str, order: bool) -> None:
    older = record("z", 1)._replace(payload={"day": "2030-12-31"})
    rows = [*(record(name)._replace(payload={"day": day}) for name, day in periods.items()), older]
    assert ids(keep(pages(rows, order=order), period="day")) == [*expected, "z"]
    assert ids(keep(rows, period="day", limit=1)) == [expected[0]]


def test_records_that_lack_a_field_are_left_out_and_the_first_is_said() -> None:
    lacking = [record("b")._replace(payload={}), record("d")._replace(payload={"x": 1})]
    stream: list[Record | Gap] = [record("a"), gap(Code.UNDATED), lacking[0], record("c"), lacking[1]]
    made = list(require_fields(stream, ["title"], lambda names: gap(Code.MALFORMED, problem=" ".join(names))))
    assert made == [record("a"), gap(Code.UNDATED), gap(Code.MALFORMED, problem="title"), record("c")]
