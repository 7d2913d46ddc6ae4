"""The checks of the laws: each raises AssertionError where a case breaks it, and returns the number of compared
pairs.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from math import inf
from random import Random
from typing import Any

from pit_fetch.errors import ExitStatus
from pit_fetch.formats import BINARY
from pit_fetch.formats import NAMES as FORMS
from pit_fetch.net.clocks import MOST_APART
from pit_fetch.pipeline.cursor import period_age
from pit_fetch.provider import ENVELOPE_FIELDS
from pit_fetch.request.operations import candidate_operations
from pit_fetch.testing.comparison import CANARY
from pit_fetch.testing.inprocess import Left
from pit_fetch.testing.server import App, Response
from pit_fetch.transport import HttpRequest
from tests.laws.worlds import SECRETS, Case, near, operation_of, provider_of, run
from tests.worlds import same_bytes


def non_interference(case: Case) -> int:
    """Worlds that serve the same public records give the same bytes, and nothing of the others shows."""
    expected = same_bytes(lambda app: run(case, app), case.worlds, SECRETS)
    if case.plain is not None:
        assert case.plain <= set(expected.ids), "what was public is missing"
    return len(case.worlds) - 1


def promised(case: Case, whole: frozenset[str], is_flawed: bool) -> int:
    """Of public rows, those that lack a promised field are not served, and a gap says so; of withheld ones nothing."""
    count = non_interference(case)
    answer = run(case, case.worlds[-1])
    assert set(answer.ids) == whole, "a row that lacks a field is served"
    assert ("upstream_error" in answer.gap_types) is is_flawed
    return count


def differences(case: Case, rng: Random) -> int:
    """Worlds that serve the same public records differ by nothing between an earlier instant and the PIT."""
    if "--after" in case.words:
        return 0
    earlier = case.moment - rng.choice((timedelta(seconds=1), timedelta(hours=3), timedelta(days=40)))
    words = ("--pit", earlier.isoformat(), *case.words)
    same_bytes(lambda app: run(case, app, words=words, command="diff"), case.worlds, SECRETS)
    return len(case.worlds) - 1


def files(case: Case, bodies: Sequence[bytes]) -> int:
    """Saved replies and exports that hold the same public records give the same bytes, however they are written."""
    same_bytes(lambda body: run(case, _unasked, stdin=body), bodies, SECRETS)
    return len(bodies) - 1


def _unasked(request: HttpRequest) -> Response:
    raise AssertionError("a file was to be read")


def clock(case: Case, rng: Random) -> int:
    """The wall clock changes nothing once it is past the PIT."""
    app = case.worlds[-1]
    early, late = (case.moment + timedelta(days=3) + near(rng) for _ in range(2))
    clocks = (early, late + timedelta(days=rng.choice((0, 9, 2_000))))
    same_bytes(lambda now: run(case, app, now=now), clocks, SECRETS)
    return 1


def clock_behind(case: Case, rng: Random) -> int:
    """A clock that is behind makes nothing public before its time: a reply's ``Date`` shows when it was sent.

    If they are far apart, nothing is served or recorded.
    """
    for behind in (timedelta(minutes=9), timedelta(days=900)):
        for app in case.worlds:
            environ = {"PIT_FETCH_ARCHIVE": "a.db"} if rng.random() < 0.5 else {}
            form = rng.choice(DATE_FORMS)
            left = run(case, dated(app, case.moment + behind, form), now=case.moment, still=True, environ=environ)
            assert CANARY not in left.out + left.err, "a canary got out"
            if behind > MOST_APART and "a.db" in dict(left.files):
                assert exchanges_in(dict(left.files)["a.db"]) == 0, "a reply is recorded before its time"
    return 0


# Today's form of HTTP, and the oldest one.
DATE_FORMS = ("%a, %d %b %Y %H:%M:%S GMT", "%c")


def dated(app: App, sent: datetime, form: str = DATE_FORMS[0]) -> App:
    """Return a server whose replies say when they were sent."""

    def answer(request: HttpRequest) -> Response:
        response = app(request)
        return replace(response, headers={**response.headers, "Date": sent.astimezone(UTC).strftime(form)})

    return answer


def exchanges_in(archive: bytes) -> int:
    """Return the number of exchanges in the file of an archive."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(archive[:18] + b"\x01\x01" + archive[20:])  # without a write-ahead log
        (count,) = connection.execute("SELECT count(*) FROM exchanges").fetchone()
    return int(count)


def future(case: Case) -> int:
    """A PIT that is yet to come is read as "up to now": nothing is served before its time."""
    if case.is_of_now:
        return 0
    late = (case.moment + timedelta(days=400)).isoformat()
    for app in case.worlds:
        left = run(case, app, pit=late, now=case.moment, words=_without_ends(case.words), still=True)
        assert CANARY not in left.out + left.err, "a canary got out"
    return 0


def overtaken(case: Case) -> int:
    """What becomes public between the receipt of the only reply and its judgement was not public when it was sent."""
    late = (case.moment + timedelta(days=400)).isoformat()
    for app in case.worlds:
        left = run(case, app, pit=late, now=case.moment, words=_without_ends(case.words), leap=20.0)
        assert CANARY not in left.out + left.err, "a canary got out"
    return 0


def _without_ends(words: Sequence[str]) -> tuple[str, ...]:
    """Return the request without --date-to and --after: with them the end of the window is not the PIT."""
    ends = [place for place, word in enumerate(words) if word in ("--date-to", "--after")]
    return tuple(word for place, word in enumerate(words) if place not in ends and place - 1 not in ends)


_ENDS = ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00-23:59", "0001-01-02T00:00:00+05:00", "9999-12-31T23:59:59Z")


def calendar(case: Case, rng: Random) -> int:
    """Instants at the calendar's ends are instants like any other: no arithmetic leads out of it."""
    words = list(case.words)
    for option in ("--date-from", "--date-to", "--after", "--after-date", "--updated-since", "--lookback-minutes"):
        while option in words:
            del words[words.index(option) : words.index(option) + 2]
    end, after = rng.choice(_ENDS), f"x@{rng.choice(_ENDS)}"
    days = rng.choice(("0001-01-01", "0001-01-02", "9999-12-30", "9999-12-31"))
    cursor = ("--after", after)
    dates = (("--date-from", days), ("--date-to", days), ("--date-from", end))
    window = rng.choice(((), cursor, *(() if _has_no_dates(case) else dates)))
    left = run(case, case.worlds[-1], pit=rng.choice((*_ENDS, case.pit, "")), words=(*words, *window))
    assert left.code not in (ExitStatus.REFUSED, ExitStatus.BUG), left.err
    return 0


def _has_no_dates(case: Case) -> bool:
    operations = candidate_operations(provider_of(case), {"op": case.words[0] if case.words else ""})
    return any(operation.window is None for operation in operations)


def sizes(case: Case) -> int:
    """The size of a page of the source's changes nothing; its order is shuffled in every world."""
    every = [case.sizes, *({**case.sizes, **other} for other in case.resized)]
    same_bytes(lambda sizes: run(case, case.worlds[-1], sizes=sizes), every, SECRETS)
    return len(case.resized)


def repeated(case: Case) -> int:
    """A fetch at a later PIT before it, in the same process and with the files that it left, changes nothing."""
    app = case.worlds[-1]
    run(case, app, pit=(case.moment + timedelta(days=5)).isoformat())
    same_bytes(lambda keep: replace(run(case, app, keep_files=keep), files=()), (True, False), SECRETS)
    return 1


def monotone(case: Case, rng: Random) -> int:
    """A later PIT takes nothing away that is never revised, unless it says that something cannot be read."""
    app = case.worlds[-1]
    late = case.moment + near(rng)
    earlier = run(case, app)
    later = run(case, app, pit=late.isoformat())
    if {"truncated", "upstream_error"}.isdisjoint(later.gap_types):
        assert set(earlier.ids) <= set(later.ids)
    return 1


def paging(case: Case, rng: Random, ahead: timedelta = timedelta(0), environ: Mapping[str, str] | None = None) -> int:
    """By cursor, a few at a time and each time later, every item once and in the order of one long answer.

    Of the items of one instant, those about the newest period come first.
    """
    app, limit = case.worlds[-1], rng.choice((1, 2, 3, 7))
    begin = case.moment - ahead if ahead else case.moment + timedelta(days=900)
    answer = run(case, app, now=begin, environ=environ)
    assert answer.code == 0, answer.err
    check_newest_first(case, answer.data)
    whole = answer.ids
    if len(whole) > 12 * limit:
        return 0
    few = _with(case.words, "--limit", str(limit))
    ids: list[str] = []
    after: tuple[str, ...] = ()
    for page in range(3 * len(whole) + 3):  # one may have no item: an archive dates those of the source otherwise
        left = run(case, app, now=begin + timedelta(seconds=7 * page), words=(*few, *after), environ=environ)
        ids += left.ids
        cursors = _cursors(left)
        if not cursors:
            break
        after = ("--after", cursors[0])
    # The long answer ends early where a source's pages are small and many.
    assert (ids[: len(whole)] if _cursors(answer) else ids) == whole
    assert len(set(ids)) == len(ids)
    return 1


def _cursors(left: Left) -> list[str]:
    return [gap["reason"].split("--after ")[1] for gap in left.envelope["gaps"] if "--after " in gap["reason"]]


def check_newest_first(case: Case, items: Sequence[Mapping[str, Any]]) -> None:
    period = operation_of(case).period
    for item, following in pairwise(items if period else ()):
        ages = [period_age(text) if isinstance(text := made.get(period), str) else inf for made in (item, following)]
        is_earlier = ages[0] <= ages[1]
        assert item["available_at"] != following["available_at"] or is_earlier, "an older period comes first"


def _with(words: Sequence[str], option: str, value: str) -> tuple[str, ...]:
    """Return the request with another value of an option that it has."""
    place = list(words).index(option)
    return (*words[:place], option, value, *words[place + 2 :])


def continued(case: Case, rng: Random) -> int:
    """Within a budget, by cursor, texts of any length come whole, in the same parts in every world."""
    budget = rng.choice((4_000, 5_500, 9_000))
    plain = case.words[: case.words.index("--limit")]
    whole = run(case, case.worlds[0], words=(*plain, "--limit", "500")).data
    parts: list[Mapping[str, object]] = []
    after: tuple[str, ...] = ()
    for _ in range(400):
        words = (*case.words, "--max-chars", str(budget), *after)
        left = same_bytes(lambda app, words=words: run(case, app, words=words), case.worlds, SECRETS)  # type: ignore[misc]
        assert len(left.out.rstrip()) <= budget
        parts += left.data
        cursors = [gap["reason"].split("--after ")[1] for gap in left.envelope["gaps"] if "--after " in gap["reason"]]
        if not cursors:
            break
        after = ("--after", cursors[0])
    assert list(dict.fromkeys(part["id"] for part in parts)) == [item["id"] for item in whole]
    for item in whole:
        own = [part for part in parts if part["id"] == item["id"]]
        for name, value in item.items():
            if isinstance(value, str) and name not in ENVELOPE_FIELDS:
                assert "".join(str(part.get(name, "")) for part in own) == value, name
            else:
                assert all(part[name] == value for part in own), name
    return len(case.worlds) - 1


def changed(case: Case) -> int:
    """Parts of an item, joined, are one of the texts that it has had: never a piece of one and a piece of another."""
    plain = case.words[: case.words.index("--limit")]
    titles = [run(case, app, words=plain).data[0]["title"] for app in case.worlds]
    first = run(case, case.worlds[0], words=(*case.words, "--max-chars", "4000"))
    after = next(gap["cursor"] for gap in first.envelope["gaps"] if "cursor" in gap)
    rest = run(case, case.worlds[1], words=(*plain, "--after", after))
    if any("has changed since" in gap["reason"] for gap in rest.envelope["gaps"]):
        assert [item["title"] for item in rest.data] == titles[1:]
    else:
        assert first.data[0]["title"] + rest.data[0]["title"] == titles[1]
    return 1


def windows(case: Case, parts: Sequence[Sequence[str]]) -> int:
    """What narrows a request leaves items out and changes none: neither which version it is, nor what is derived."""
    items = run(case, case.worlds[-1]).data
    for words in parts:
        left = run(case, case.worlds[-1], words=(*case.words, *words))
        assert all(item in items for item in left.data)
    return len(parts)


def forms(case: Case) -> int:
    """What the gate refuses is not printed in any form."""
    for name in FORMS:
        to_a_file = ("--output", "answer") if name in BINARY else ()
        left = run(case, case.worlds[0], words=(*case.words, "--format", name, *to_a_file))
        assert (left.code, CANARY in left.out + left.err) == (70, False), name
        assert not any(path == "answer" for path, _ in left.files), name
    return 0
