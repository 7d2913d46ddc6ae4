"""``diff`` and ``explain``: the items that they show, and the callers that they refuse."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pit_fetch
from pit_fetch.cli.main import main
from pit_fetch.engine.registry import load
from pit_fetch.errors import UsageError
from pit_fetch.formats import ADDED_FIELDS
from pit_fetch.gaps import Code, gap
from pit_fetch.inspect.diff import ComparableAnswer, changes
from pit_fetch.pipeline.cursor import START, position
from pit_fetch.provider import Archiving, Context, Dating, Field, Operation, Option, Provider, Query, Record
from pit_fetch.runtime import Runtime
from pit_fetch.testing.comparison import CANARY
from pit_fetch.testing.inprocess import TestClock
from pit_fetch.testing.server import Answering
from tests import inprocess
from tests.demo_source import PIT, PIT_TEXT, at_pit, demo, nobody, record
from tests.inprocess import NOW, Answer
from tests.provider_harness import run_command
from tests.providers.bz_news_api import server as benzinga
from tests.providers.perplexity import server as perplexity

EARLIER = (PIT - timedelta(hours=1)).isoformat()
PITS = {"diff": ("--pit", EARLIER, "--pit", PIT_TEXT), "explain": ("--pit", PIT_TEXT)}


def diff(folder: Path, rows: Any, *words: str, **given: Any) -> Answer:
    return ask_as("diff", folder, rows, *PITS["diff"], *words, **given)


def explain(folder: Path, rows: Any, *words: str, **given: Any) -> Answer:
    return ask_as("explain", folder, rows, *PITS["explain"], *words, **given)


def ask_as(command: str, folder: Path, rows: Any, *words: str, **given: Any) -> Answer:
    from tests.inprocess import fetch

    provider = rows if isinstance(rows, Provider) else demo(rows)
    transport = Answering(nobody, lambda: NOW)
    return fetch(folder, command, "--source", "demo", *words, provider=provider, transport=transport, **given)


# diff


def test_what_became_public_between_two_instants(tmp_path: Path) -> None:
    rows = [
        record("new", 30),
        record("old", 90),
        record("revised", 90, revised=10),
        record("later", -10, title=CANARY),
        record("later still", 90, revised=-10, title=CANARY),
    ]
    left = diff(tmp_path, rows)
    assert {item["id"]: item["change"] for item in left.data} == {"new": "new", "revised": "changed"}
    assert (left.code, left.err, left.gap_types) == (0, "", ["pit_excluded", "unverifiable"])
    assert CANARY not in left.out


@pytest.mark.parametrize(
    ("command", "fields", "more"),
    [("diff", "before", {"change"}), ("diff", "change,title", {"change", "title"}), ("explain", "because", set())],
)
def test_the_fields_that_a_command_adds_can_be_chosen(
    tmp_path: Path, command: str, fields: str, more: set[str]
) -> None:
    provider = demo(
        [record("a", 30, title="t", body="b")], operations=(Operation(fields=(Field("title"), Field("body"))),)
    )
    left = ask_as(command, tmp_path, provider, *PITS[command], "--fields", fields)
    always = more or {"verdict", "because", "rule"}
    assert {*left.data[0]} - {"available_at", "available_at_source", "revised_at", "id"} == always
    refused = ask_as(command, tmp_path, provider, *PITS[command], "--fields", "x")
    assert (refused.code, f"x is not one of {', '.join(ADDED_FIELDS[command])}, title, body" in refused.reasons) == (
        2,
        True,
    )
    # A fetch does not have them.
    assert at_pit(tmp_path, provider, "--fields", fields.partition(",")[0]).code == 2


def test_the_order_of_the_instants_does_not_matter(tmp_path: Path) -> None:
    rows = [record("new", 30), record("old", 90)]
    swapped = ask_as("diff", tmp_path, rows, "--pit", PIT_TEXT, f"--pit={EARLIER}")
    assert swapped.data == diff(tmp_path, rows).data


def test_without_a_difference_a_gap_states_that_and_a_failed_fetch_is_none(tmp_path: Path) -> None:
    left = diff(tmp_path, [record("old", 90)])
    assert (left.data, left.envelope["gaps"][-1]["reason"]) == ([], "Nothing differs between the two answers.")

    def failing(query: Query, context: Context) -> Iterator[Record]:
        yield record("a", 30)
        raise pit_fetch.errors.UpstreamError(Code.PAGING)

    left = ask_as("diff", tmp_path, demo(failing), *PITS["diff"])
    assert (left.data, set(left.gap_types)) == ([], {"upstream_error"})


@pytest.mark.parametrize("quoted", [PIT - timedelta(minutes=30), PIT + timedelta(days=1)])
def test_what_an_item_quotes_makes_it_neither_new_nor_gone(tmp_path: Path, quoted: datetime) -> None:
    """It is left out of the answer at an instant before the stamp that its text quotes, but was public all the time."""
    quoting = record("quoting", 90, body=f'{{"available_at": "{quoted.isoformat()}"}}')
    rows = [record("new", 30), quoting, record("old", 100)]
    left = diff(tmp_path, rows)
    assert ({item["id"]: item["change"] for item in left.data}, left.code) == ({"new": "new"}, 0)
    assert left.gap_types == ["pit_excluded", "unverifiable"]


def test_an_explanation_says_that_a_fetch_leaves_out_what_quotes_a_later_stamp(tmp_path: Path) -> None:
    quoting = record("quoting", 90, body='{"available_at": "2030-01-01T00:00:00Z"}')
    left = explain(tmp_path, [record("plain", 80), quoting])
    by_id = {item["id"]: (item["verdict"], "left out" in item["because"]) for item in left.data}
    assert by_id == {"plain": ("public", False), "quoting": ("public", True)}
    assert "unverifiable" not in left.gap_types
    with_archive = explain(tmp_path, [record("plain", 80), quoting], "--archive", str(tmp_path / "a.db"))
    assert [item["verdict"] for item in with_archive.data] == ["public", "public"]


def test_what_another_place_repeats_is_not_called_changed(tmp_path: Path) -> None:
    def vintages(query: Query, context: Context) -> Iterator[Record]:
        for name, second in (("same", "1.0"), ("other", "1.1")):
            yield record(name, 90, value="1.0", filing="a")
            yield record(name, 30, value=second, filing="b")

    fields = (Field("value"), Field("filing", is_origin=True))
    by_id = {item["id"]: item for item in diff(tmp_path, demo(vintages, operations=(Operation(fields=fields),))).data}
    assert {name: item["change"] for name, item in by_id.items()} == {"same": "repeated", "other": "changed"}
    assert by_id["same"]["before"] == {"filing": "a", "available_at": "2024-02-15T14:30:00-05:00"}
    assert by_id["other"]["before"].keys() == {"value", "filing", "available_at"}


def test_versions_show_what_changed_and_what_went(tmp_path: Path) -> None:
    def vintages(query: Query, context: Context) -> Iterator[Record]:
        yield record("gdp", 90, value="1.0", unit="%")
        yield record("gdp", 30, value="1.1", unit="%")
        if query.pit is not None and query.pit < PIT:
            yield record("withdrawn", 95)
        yield record("anchor", 200)

    left = diff(tmp_path, demo(vintages))
    by_id = {item["id"]: item for item in left.data}
    assert {name: item["change"] for name, item in by_id.items()} == {"gdp": "changed", "withdrawn": "gone"}
    assert by_id["gdp"]["before"] == {"value": "1.0", "available_at": "2024-02-15T14:30:00-05:00"}
    assert by_id["gdp"]["value"] == "1.1"


def test_the_same_content_dated_by_other_evidence_is_no_change(tmp_path: Path) -> None:
    def by_evidence(query: Query, context: Context) -> Iterator[Record]:
        is_near = query.pit is not None and query.pit < PIT
        yield record("filing", 300 if is_near else 60, title="8-K")

    left = diff(tmp_path, demo(by_evidence))
    assert left.data == []
    assert gap(Code.NO_DIFFERENCE).reason in [given["reason"] for given in left.envelope["gaps"]]


def test_an_answer_that_was_cut_says_nothing_about_what_came_after_its_end(tmp_path: Path) -> None:
    rows = [record(f"{n:03}", n) for n in range(120)]
    left = diff(tmp_path, rows, "--limit", "10")
    assert {item["change"] for item in left.data} == {"new"}
    assert [gap["reason"] for gap in left.envelope["gaps"] if gap["type"] == "truncated"] == [
        f"The answer as of Thursday 2024-02-15 {hour}:00:00 in New York (-05:00) was cut: what it may have left "
        "out was not compared. Raise --limit and --max-pages, or narrow the request (--date-from, --date-to)."
        for hour in (15, 16)
    ]


_RECORDS = st.builds(
    record, st.sampled_from("abcdef"), st.integers(0, 200), st.none() | st.integers(0, 50), v=st.integers(0, 1)
)


@given(st.lists(_RECORDS, max_size=8), st.lists(_RECORDS, max_size=8), st.booleans(), st.booleans())
def test_equal_answers_have_no_difference_and_a_difference_is_in_one_of_them(
    left: list[Record], right: list[Record], cut_left: bool, cut_right: bool
) -> None:
    earlier = PIT - timedelta(minutes=60)

    def read(rows: list[Record], cut: bool) -> ComparableAnswer:
        records = {row.id: row for row in sorted(rows, key=position)}
        last = max(map(position, records.values()), default=START)
        return ComparableAnswer(records, last if cut else None)

    before, after = read(left, cut_left), read(right, cut_right)
    assert changes(after, after, earlier) == []
    changed = changes(before, after, earlier)
    assert changed == sorted(changed, key=position)
    for item in changed:
        change = item.payload["change"]
        assert (item.id in before.records, item.id in after.records) != (True, True) or change == "changed"
        assert (change == "gone") == (item.id not in after.records)
        if change == "gone":
            assert after.covers(item)


_MINUTES = st.integers(0, 120)


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.lists(_MINUTES, min_size=1, max_size=3, unique=True)),
    st.booleans(),
    st.integers(0, 6),
    st.integers(0, 6),
)
def test_a_limit_takes_differences_away_and_changes_none(
    items: dict[str, list[int]], has_versions: bool, kept_before: int, kept_after: int
) -> None:
    earlier = PIT - timedelta(minutes=60)
    versions = [
        record(name, age, v=age) for name, ages in items.items() for age in (ages if has_versions else ages[:1])
    ]

    def read(pit: datetime, kept: int = 9) -> ComparableAnswer:
        public = [row for row in versions if row.available_at is not None and row.available_at <= pit]
        newest = {row.id: row for row in sorted(public, key=position, reverse=True)}
        shown = sorted(newest.values(), key=position)
        last = position(shown[:kept][-1]) if shown[:kept] else START
        return ComparableAnswer({row.id: row for row in shown[:kept]}, last if shown[kept:] else None, has_versions)

    def lines(before: ComparableAnswer, after: ComparableAnswer) -> list[tuple[str, Any]]:
        return [(item.id, item.payload) for item in changes(before, after, earlier)]

    every = lines(read(earlier), read(PIT))
    assert [line for line in lines(read(earlier, kept_before), read(PIT, kept_after)) if line not in every] == []


@pytest.mark.parametrize("where", ["versions", "derived", "file"])
def test_an_old_item_in_a_new_version_is_never_new(tmp_path: Path, where: str) -> None:
    """The version from before lies far below the limit."""
    old = [record(f"{n:03}", 100 + n, value="1.0") for n in range(9)]
    rows = [*old, record("008", 5, value="1.1"), record("new", 4)]
    kinds: dict[str, dict[str, Any]] = {
        "versions": {"operations": (Operation(archiving=Archiving(versions=True)),)},
        "derived": {"derive": lambda query: lambda records: records},
    }
    (tmp_path / "rows").write_text("rows")
    words = ("--input-file", str(tmp_path / "rows")) if where == "file" else ()
    left = diff(tmp_path, demo(rows, **kinds.get(where, {})), "--limit", "2", *words)
    assert {item["id"]: (item["change"], item.get("before", {}).get("value")) for item in left.data} == {
        "new": ("new", None),
        "008": ("changed", "1.0"),
    }


def test_an_old_item_that_an_archive_held_is_never_new(tmp_path: Path) -> None:
    """The source dates a page by its last update, and serves one version of it."""
    old = [perplexity.page(f"{n}", f"2024-01-0{n}") for n in range(1, 8)]
    updated = [perplexity.page("1", "2024-01-01", "2024-02-12"), *old[1:], perplexity.page("new", "2024-02-11")]
    archive = ("--query", "x", "--archive", str(tmp_path / "a.db"))
    run_command("perplexity", tmp_path, perplexity.app(old), *archive, now=datetime(2024, 2, 5, tzinfo=UTC))
    pits = ("--pit", "2024-02-06T00:00:00Z", "--pit", PIT_TEXT)
    words = ("--source", "perplexity", *pits, *archive, "--limit", "2", "--fields", "last_updated")
    transport = Answering(perplexity.app(updated), lambda: NOW)
    for more in ((), ("--offline",)):
        left = inprocess.fetch(tmp_path, "diff", *words, *more, env=perplexity.VARIABLES, transport=transport)
        assert {
            item["id"][-3:]: (item["change"], item.get("before", {}).get("last_updated")) for item in left.data
        } == {
            "new": ("new", None),
            "m/1": ("changed", "2024-01-01"),
        }


@pytest.mark.parametrize("command", ["diff", "explain"])
def test_what_no_answer_knows_is_named_as_a_fetch_names_it(tmp_path: Path, command: str) -> None:
    provider = demo([], when_empty=lambda query: "A symbol is one of today's list.")
    left = ask_as(command, tmp_path, provider, *PITS[command])
    assert left.envelope["gaps"][-1] == at_pit(tmp_path, provider).envelope["gaps"][-1] | {
        "query": left.envelope["gaps"][-1]["query"]
    }
    assert "Nothing public matched, or the source does not know what was asked for. A symbol" in left.reasons


def test_one_look_back_for_both_instants(tmp_path: Path) -> None:
    queries: list[Query] = []

    def source(query: Query, context: Context) -> Iterator[Record]:
        queries.append(query)
        yield record("a", 30)

    def earliest(query: Query) -> datetime | None:
        end = query.now if query.until is None else min(query.now, query.until)
        return query.since or end - timedelta(minutes=query.options["minutes"] or 1_440)

    option = Option("minutes", "how far to look back", kind="integer")
    provider = demo(
        source, options=(option,), operations=(Operation(window="select", archiving=Archiving(earliest=earliest)),)
    )
    for words in ((), ("--minutes", "60"), ("--date-from", "2024-02-01")):
        diff(tmp_path, provider, *words)
    start = PIT - timedelta(hours=1)
    assert [query.since for query in queries[:4]] == [start - timedelta(days=1)] * 2 + [start - timedelta(hours=1)] * 2
    assert queries[4].since == queries[5].since != queries[0].since
    diff(tmp_path, provider, "--date-to", "2024-02-01")  # the look-back counts back from there
    assert queries[6].until is not None
    assert [query.since for query in queries[6:]] == [queries[6].until - timedelta(days=1)] * 2


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--pit", PIT_TEXT), "two different instants"),
        (("--pit", PIT_TEXT, "--pit", PIT_TEXT), "two different instants"),
        (("--pit", PIT_TEXT, "--pit", "2024"), "this one"),
        (("--pit", PIT_TEXT, "--pit", EARLIER, "--pit", EARLIER), "two different instants"),
        (("--pit", PIT_TEXT, "--pit", EARLIER, "--after", f"a@{EARLIER}"), "does not take --after"),
    ],
)
def test_a_diff_that_is_refused(tmp_path: Path, words: tuple[str, ...], reason: str) -> None:
    left = ask_as("diff", tmp_path, [record("a")], *words)
    assert (left.code, left.data, reason in left.err) == (2, [], True)


def test_a_ceiling_holds_for_both_instants(tmp_path: Path) -> None:
    left = diff(tmp_path, [record("a", 30)], env={"PIT_FETCH_CEILING": EARLIER})
    assert (left.code, left.data, left.gap_types) == (2, [], ["invalid_pit"])
    assert diff(tmp_path, [record("a", 30)], env={"PIT_FETCH_CEILING": PIT_TEXT}).code == 0


@pytest.mark.parametrize("command", ["diff", "explain"])
def test_an_answer_that_cannot_be_resumed_does_not_say_how(tmp_path: Path, command: str) -> None:
    for size in (300, 9_000):
        rows = [record(f"{n:03}", n, text="x" * size) for n in range(50)]
        left = ask_as(command, tmp_path, rows, *PITS[command], "--max-chars", "4000")
        assert len(left.out) <= 4000
        assert left.data
        gap = left.envelope["gaps"][-1]
        assert (gap["type"], "cursor" in gap, "--after" in gap["reason"]) == ("truncated", False, False)
        assert "cannot be continued" in gap["reason"]


def test_standard_input_is_read_once_for_both_instants(tmp_path: Path) -> None:
    rows = [benzinga.article(n, PIT - timedelta(minutes=n * 25)) for n in range(1, 6)]
    once, stdout = [json.dumps(rows).encode()], io.StringIO()
    runtime = Runtime(
        environ={},
        folder=str(tmp_path),
        clock=TestClock(NOW).value(),
        transport=Answering(nobody, lambda: NOW),
        find=load,
        read_stdin=lambda seconds: once.pop() if once else b"",
        stdout=stdout,
    )
    words = ["--source", "bz-news-api", "--pit", EARLIER, "--pit", PIT_TEXT, "--input-file", "-"]
    assert main(["diff", *words], runtime) == 0
    assert [item["id"] for item in json.loads(stdout.getvalue())["data"]] == ["1", "2"]


@pytest.mark.parametrize("command", ["diff", "explain"])
def test_a_summary_is_that_of_the_answer(tmp_path: Path, command: str) -> None:
    rows = [record("new", 30), record("old", 90), record("late", -10)]
    lines = ask_as(command, tmp_path, rows, *PITS[command], "-v").err
    (summary,) = [line for line in lines.splitlines() if " item" in line]
    assert {"diff": "demo: 1 item, ", "explain": "demo: 3 items, "}[command] in summary
    assert "Thursday 2024-02-15 16:00:00" in summary


def test_a_request_that_failed_is_not_explained_as_empty(tmp_path: Path) -> None:
    provider = demo(SEEN, operations=(Operation("A", needs=("x",)), Operation("B")))
    left = explain(tmp_path, provider, "--op", "A")
    assert left.gap_types == ["config"]


@pytest.mark.parametrize("command", ["diff", "explain"])
def test_an_archive_may_be_at_hand(tmp_path: Path, command: str) -> None:
    rows = [record("new", 30), record("old", 90), record("late", -10)]
    alone = ask_as(command, tmp_path, rows, *PITS[command])
    assert alone.data
    for _ in range(2):
        left = ask_as(command, tmp_path, rows, *PITS[command], "--archive", str(tmp_path / "a.sqlite"))
        assert left.data == alone.data


# explain

SEEN = [
    record("late", -2, title="late"),
    record("public", 2, title="public"),
    record("revised", 5, revised=-90, title="revised"),
    Record("undated", None, {"title": "undated"}),
    record("", 3, title="unusable"),
    record("far", -60 * 24 * 9, title="far"),
]


def test_each_record_has_its_verdict_and_why(tmp_path: Path) -> None:
    left = explain(tmp_path, SEEN)
    assert [(item["title"], item["verdict"]) for item in left.data] == [
        ("late", "late"), ("public", "public"), ("unusable", "unusable"), ("revised", "revised"),
        ("undated", "undated"),
    ]  # fmt: skip
    because = {item["title"]: item["because"] for item in left.data}
    assert because["late"].startswith("published 2 minutes after the PIT, on Thursday 2024-02-15 16:02:00 in New York")
    assert because["revised"].startswith("revised 1 hour after the PIT")
    assert because["undated"] == "nothing shows when it was published or last revised"
    assert because["unusable"] == "it has no id"
    assert {item["rule"] for item in left.data} == {"by provider_metadata"}
    assert (left.code, left.err) == (0, "")
    beyond = explain(tmp_path, SEEN, "--date-to", "2024-03-01")
    assert beyond.data[0]["title"] == "far"


@pytest.mark.parametrize("stamp", [datetime(2024, 2, 15, 15), "2024-02-15T15:00:00-05:00"])  # noqa: DTZ001
def test_a_stamp_that_is_not_an_instant_is_explained_as_missing(tmp_path: Path, stamp: Any) -> None:
    for name in ("available_at", "revised_at"):
        broken = record("broken", 5)._replace(**{name: stamp})
        left = explain(tmp_path, [record("public", 2), broken])
        assert [(item["id"], item["verdict"], item["available_at"] is None) for item in left.data] == [
            ("public", "public", False),
            ("broken", "undated", True),
        ]


def test_the_rule_is_the_operation_s_own(tmp_path: Path) -> None:
    provider = demo(SEEN, operations=(Operation(dating=Dating(rule="by created, the publication")),))
    assert {item["rule"] for item in explain(tmp_path, provider).data} == {"by created, the publication"}


def test_a_ceiling_in_a_settings_file_refuses_explain(tmp_path: Path) -> None:
    home = tmp_path / "home" / ".config" / "pit_fetch"
    home.mkdir(parents=True)
    (home / "config.toml").write_text(f'ceiling = "{PIT_TEXT}"')
    left = explain(tmp_path, [record("late", -2, title=CANARY)], env={"HOME": str(tmp_path / "home")})
    assert (left.code, left.data, left.gap_types, CANARY in left.out + left.err) == (2, [], ["config"], False)


def test_what_was_not_asked_for_is_not_explained(tmp_path: Path) -> None:
    provider = demo(SEEN, select=lambda query, record: record.payload["title"] != "late")
    shown = explain(tmp_path, provider, "--limit", "2")
    assert [item["title"] for item in shown.data] == ["public", "unusable"]
    assert "2 of 4 records are shown" in shown.envelope["gaps"][-1]["reason"]


@pytest.mark.parametrize("words", [(), ("--pit", "now"), ("--pit", PIT_TEXT, "--after", f"1@{PIT_TEXT}")])
def test_an_explanation_that_is_refused(tmp_path: Path, words: tuple[str, ...]) -> None:
    assert ask_as("explain", tmp_path, SEEN, *words).code == 2


def test_a_page_of_it_greys_what_is_withheld(tmp_path: Path) -> None:
    left = explain(tmp_path, SEEN, "--format", "html", "--output", "page.html")
    text = (tmp_path / "page.html").read_text()
    assert left.code == 0
    assert 'class="late grey"' in text
    assert 'class="bar late"' in text
    assert "was looked at: --date-from and --date-to choose what is" in text
    assert 'class="public"' in text


@pytest.mark.parametrize("command", ["diff", "explain"])
def test_each_has_its_help_and_names_its_source(tmp_path: Path, command: str) -> None:
    shown = ask_as(command, tmp_path, [], "--help").out
    assert f"pit_fetch {command} --source demo --pit" in shown
    assert {"diff": "--pit EARLIER --pit LATER", "explain": "verdict"}[command] in shown
    assert "--date-from" in shown
    assert "--after" not in shown
    from tests.inprocess import fetch

    assert fetch(tmp_path, command, "--help").code == 0
    left = fetch(tmp_path, command, "--pit", PIT_TEXT)
    assert (left.code, f"pit_fetch {command} --source SOURCE" in left.err) == (2, True)


def test_from_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sample = tmp_path / "reply.json"
    articles = [benzinga.article(n, PIT + timedelta(minutes=5 * n)) for n in (-2, -1, 1)]
    sample.write_text(json.dumps([*articles, benzinga.article(9, PIT - timedelta(hours=3), PIT + timedelta(hours=1))]))
    for name in ("CLAUDECODE", "PIT_FETCH_CEILING", "PIT_FETCH_WRAPPER_ONLY"):
        monkeypatch.delenv(name, raising=False)
    pits = ((PIT - timedelta(hours=4)).isoformat(), (PIT + timedelta(hours=4)).isoformat())
    changed = pit_fetch.diff("benzinga", pits, input_file=sample)
    assert {item["change"] for item in changed.data} == {"new"}
    explained = pit_fetch.explain("benzinga", PIT, input_file=sample)
    assert {item["verdict"] for item in explained.data} == {"late", "public", "revised"}
    assert json.loads(json.dumps(explained)) == explained
    with pytest.raises(UsageError, match="a pair of instants"):
        pit_fetch.diff("benzinga", PIT_TEXT, input_file=sample)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="a pair of instants"):
        pit_fetch.diff("benzinga", pits, pit=PIT, input_file=sample)  # type: ignore[call-arg]
    assert pit_fetch.diff("benzinga", iter(pits), input_file=sample) == changed  # type: ignore[arg-type]
    assert list(explained.to_df().columns[4:7]) == ["verdict", "because", "title"]
    monkeypatch.setenv("CLAUDECODE", "1")
    with pytest.raises(UsageError, match="shows what is withheld"):
        pit_fetch.explain("benzinga", PIT, input_file=sample)
