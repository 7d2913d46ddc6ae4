"""The laws of the archive as the command keeps them: with a file, on worlds of every source."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from functools import partial
from pathlib import Path
from random import Random
from urllib.parse import quote

from pit_fetch_providers.edgar.acceptance import MORNING

from pit_fetch.archive.archived import Archived
from pit_fetch.archive.store import journal, schema
from pit_fetch.cli.arguments import parse
from pit_fetch.engine import registry
from pit_fetch.errors import ExitStatus
from pit_fetch.testing.comparison import holds
from pit_fetch.testing.inprocess import Left
from pit_fetch.testing.server import App, Response
from pit_fetch.times import NEW_YORK
from pit_fetch.transport import HttpRequest
from tests.laws import archive_laws, coverage, dropping, indexed, keeping, names, readers
from tests.laws.checks import check_newest_first, paging
from tests.laws.naming import together
from tests.laws.worlds import SECRETS, Case, provider_of, resized, run
from tests.memory_folder import scratch
from tests.worlds import same_bytes

# What ends an answer before all that is public is in it.
_BOUNDS = ("--limit", "--max-pages", "--max-chars", "--after")
# The worlds in which an edited item stands beside its older version.
_SEND_VERSIONS = ("sample", "bz-news-api")
Law = Callable[[Random], int]
Maker = Callable[[Random], Case]


@contextmanager
def archive() -> Iterator[Path]:
    """Yield a path for an archive outside of the folder whose files a run is judged by."""
    with scratch("archive-") as folder:
        yield Path(folder, "a.db")


def environ(path: Path) -> Mapping[str, str]:
    return {"PIT_FETCH_ARCHIVE": str(path)}


def empty(case: Case) -> int:
    """An empty archive changes no byte of any answer."""
    for app in (case.worlds[0], case.worlds[-1]):
        expected = run(case, app)
        with archive() as path:
            left = run(case, app, environ=environ(path))
            assert path.exists() or "config" in expected.out + expected.err  # a refused request asks nobody
        assert replace(left, files=()) == replace(expected, files=()), "an empty archive shows"
    return 2


def offline(case: Case) -> int:
    """A recorded fetch is answered again without the network, with the very bytes of the answer that was shown."""
    with archive() as path:
        live = run(case, case.worlds[-1], environ=environ(path))
        again = run(case, nobody, environ=environ(path), words=(*case.words, "--offline"))
    if live.code != ExitStatus.REFUSED:
        assert (again.out, again.code) == (live.out, live.code)
    return 1


def replayed(case: Case, rng: Random) -> int:
    """All calls of a run are answered again with their bytes, of a source that has not changed meanwhile.

    They ask for parts of one another, as of several instants, and the archive may hold a capture already.
    """
    app, asked = case.worlds[-1], list[tuple[str, tuple[str, ...], Left]]()
    days = rng.sample((-40, -9, -1, 0, 1, 9), 2)
    calls = [(words, (case.moment + timedelta(days=day)).isoformat()) for words in _parts(case, rng) for day in days]
    with archive() as path:
        if rng.random() < 0.5:
            capture(case, app, path, case.words, case.moment + timedelta(days=899))
        for words, pit in calls:
            asked.append((pit, words, run(case, app, pit=pit, words=words, environ=environ(path))))
        for pit, words, live in asked:
            again = run(case, nobody, pit=pit, environ=environ(path), words=(*words, "--offline"))
            if live.code != ExitStatus.REFUSED:
                assert (again.out, again.code) == (live.out, live.code), f"as of {pit}: {' '.join(words)}"
    return len(calls)


def _parts(case: Case, rng: Random) -> list[tuple[str, ...]]:
    """Return the question of a case, and two that a limit cuts."""
    words = _without(case.words, "--limit")
    return [case.words, *((*words, "--limit", str(rng.randint(1, 4))) for _ in range(2))]


def _check_data(case: Case, offline: Left, live: Left) -> None:
    """The items of an answer without the network are those of the answer with it."""
    if "truncated" in offline.gap_types and "--max-chars" in case.words:
        # It has one gap more, for which there may be no room: then items are missing, or a part of the only one.
        assert offline.ids == live.ids[: len(offline.ids)]
        assert len(offline.ids) == 1 or offline.data == live.data[: len(offline.data)]
    else:
        assert offline.data == live.data


def nobody(request: HttpRequest) -> Response:
    raise AssertionError("the network was asked")


def interference(case: Case) -> int:
    """With an archive of the PIT, worlds that differ only after it still give the same bytes."""
    with archive() as path:
        run(case, case.worlds[0], now=case.moment, environ=environ(path))
        held = path.with_suffix(".held")
        _copy(path, held)

        def ask(app: App) -> Left:
            _copy(held, path)
            return replace(run(case, app, environ=environ(path)), files=())

        same_bytes(ask, case.worlds, SECRETS)
    return len(case.worlds) - 1


def rebuilt(case: Case) -> int:
    """An index that is filled on demand answers as one that is rebuilt from the whole journal."""
    if "--format" in case.words:
        return 0
    with archive() as path:
        for app, now, pit in ((case.worlds[0], case.moment, None), (case.worlds[-1], None, "")):
            run(case, app, now=now, pit=pit, environ=environ(path))

        def ask() -> Left:
            return run(case, nobody, environ=environ(path), words=(*case.words, "--offline"))

        before = ask()
        with (
            resized(case.sizes),
            closing(schema.open_to_write(str(path))) as connection,
            schema.transaction(connection),
        ):
            Archived(connection, lambda name: provider_of(case)).rebuild()
        assert ask().out == before.out, "rebuilding the index changes an answer"
    return 1


def nothing_early(case: Case) -> int:
    """A fetch recorded after the PIT, in worlds that differ after it, reveals nothing at the PIT."""
    later = case.moment + timedelta(days=900)

    def ask(app: App) -> Left:
        with archive() as path:
            run(case, app, pit=later.isoformat(), now=later, environ=environ(path))
            left = run(case, nobody, environ=environ(path), words=(*case.words, "--offline"))
        return replace(left, files=())

    same_bytes(ask, case.worlds, SECRETS)
    return len(case.worlds) - 1


def looked_back(case: Case) -> int:
    """What was asked of a later instant before leaves an answer at the PIT as it is.

    Where worlds send several versions of an item, a later read that broke off is set aside: it may have ended between
    them, and the archive holds what came, not what was left.
    """
    later = case.moment + timedelta(days=900)
    if "--format" in case.words:
        return 0

    def ask(app: App) -> Left | None:
        with archive() as path:
            before = run(case, app, pit=later.isoformat(), now=later, environ=environ(path))
            left = run(case, app, now=later + timedelta(hours=1), environ=environ(path))
            again = run(
                case, nobody, now=later + timedelta(hours=2), environ=environ(path), words=(*case.words, "--offline")
            )
        is_part = case.source in _SEND_VERSIONS and "upstream_error" in before.gap_types
        return None if is_part else replace(left, out=left.out + again.out, files=())

    answers = [left for left in map(ask, case.worlds) if left is not None]
    same_bytes(lambda left: left, answers or [Left("", "", 0)], SECRETS)
    return max(0, len(answers) - 1)


def again(case: Case, rng: Random) -> int:
    """What an archive holds of the same replies changes no item of an answer, wherever a limit ends it.

    They were asked for with the PIT or without one.
    """
    if "--format" in case.words:
        return 0
    app, words = case.worlds[-1], (*_without(case.words, "--limit"), "--limit", str(rng.randint(1, 5)))
    expected = run(case, app, words=words)
    with archive() as path:
        run(case, app, pit=rng.choice((None, "")), environ=environ(path))
        left = run(case, app, words=words, environ=environ(path))
    _check_data(case, left, expected)
    return 1


def kept(case: Case) -> int:
    """What a fetch without a PIT brought answers offline as of its receipt, or a gap says that it was not captured.

    What only its receipt dates is outside a window that ends before.
    """
    question = coverage.question_of(case)
    if "--format" in case.words or question is None or question.query.operation.archiving.reach == "some":
        return 0
    app, now = case.worlds[-1], case.moment + timedelta(days=900)
    words = (*_without(case.words, *_BOUNDS, "--date-to"), "--limit", "1000", "--max-pages", "1000")
    expected = run(case, app, pit=now.isoformat(), now=now, words=words)
    if not {"truncated", "upstream_error", "config", "input_error"}.isdisjoint(expected.gap_types):
        return 0
    with archive() as path:
        run(case, app, pit="", now=now, environ=environ(path), words=words)
        left = run(case, nobody, pit=now.isoformat(), now=now, environ=environ(path), words=(*words, "--offline"))
    is_captured = all(gap.get("captured", True) for gap in left.envelope["gaps"])
    assert not is_captured or _storable(expected.ids) <= {*left.ids}
    return 1


def dated(case: Case, rng: Random) -> int:
    """A fetch without a PIT takes nothing from a later answer, and no date: nor does one with a PIT.

    What the archive alone dates may be in the place of something else. An item is then judged by the fetch with a PIT.
    """
    question = coverage.question_of(case)
    if "--format" in case.words or question is None or question.query.operation.dating.by != "record":
        return 0
    if question.query.operation.archiving.chooses:
        return 0
    words = (*_without(case.words, *_BOUNDS, "--date-from", "--date-to"), "--limit", "1000", "--max-pages", "1000")
    first = case.moment + timedelta(days=rng.choice((0, 3, 10, 40)))
    pit = first + timedelta(hours=rng.choice((0, 1, 30)))
    ask = partial(run, case, case.worlds[-1], words=words)
    expected = ask(pit=pit.isoformat(), now=pit + timedelta(hours=2))
    if not {"truncated", "upstream_error", "config", "input_error"}.isdisjoint(expected.gap_types):
        return 0

    def after(asked: str) -> Mapping[str, Mapping[str, object]]:
        with archive() as path:
            ask(pit=asked, now=first, environ=environ(path))
            left = ask(pit=pit.isoformat(), now=pit + timedelta(hours=2), environ=environ(path))
        return {item["id"]: item for item in left.data}

    with_a_pit, without = after(first.isoformat()), after("")
    for item in expected.data:
        if with_a_pit.get(item["id"]) == item:
            assert without.get(item["id"]) == item, "an item is hidden, or has lost its date"
    return 1


def backtested(case: Case, rng: Random) -> int:
    """What was asked as of other instants changes no later answer, of a source that has not changed meanwhile."""
    question = coverage.question_of(case)
    if "--format" in case.words or question is None or question.query.operation.dating.by != "record":
        return 0
    if (
        question.query.operation.archiving.chooses or case.source == "perplexity"
    ):  # its worlds show a page of two states at once
        return 0
    words = (*_without(case.words, *_BOUNDS, "--date-from", "--date-to"), "--limit", "1000", "--max-pages", "1000")
    now, ask = case.moment + timedelta(days=900), partial(run, case, case.worlds[-1])
    days = [rng.choice((-60, -9, -1, 0, 1, 9, 60)) for _ in range(3)]
    pits = [(case.moment + timedelta(days=day)).isoformat() for day in days]
    ends = _days_of(ask(pit=pits[-1], now=now, words=words).data)
    asked = (*words, "--date-to", rng.choice(ends)) if ends and rng.random() < 0.5 else words
    expected = ask(pit=pits[-1], now=now, words=asked)
    if not {"truncated", "upstream_error", "config", "input_error"}.isdisjoint(expected.gap_types):
        return 0
    # What is proved on its own day alone: see "What the worlds leave out" in docs/proof.md.
    taken_back = {
        item_id
        for pit in pits
        if case.source == "sec_full_text" and pit < pits[-1]
        for item_id in ask(pit=pit, now=now, words=asked).ids
    }.difference(expected.ids)
    with archive() as path:
        for place, pit in enumerate(pits):
            moment = now + timedelta(minutes=place)
            left = ask(pit=pit, now=moment, environ=environ(path), words=asked if pit == pits[-1] else words)
    assert [item for item in left.data if item["id"] not in taken_back] == [
        item for item in expected.data if item["id"] in _storable(expected.ids)
    ]
    return 1


def _days_of(items: Iterable[Mapping[str, object]]) -> list[str]:
    """Return the days in New York on which items became public, and those which then were over."""
    stamps = [datetime.fromisoformat(str(item["available_at"])) for item in items if item["available_at"]]
    days = {(stamp - timedelta(seconds=over)).astimezone(NEW_YORK).date() for stamp in stamps for over in (0, 1)}
    return sorted(map(str, days))


def paged(case: Case, rng: Random) -> int:
    """The pages of an archive's answer, with the network or without it, hold every item once, in the same order.

    The archive has seen some of it before the PIT, some after it, and some of what is gone or was edited by then.
    """
    if "--format" in case.words:
        return 0
    with archive() as path:
        for days in sorted(rng.sample((-3, -1, 0, 2), rng.choice((1, 2)))):
            now, pit = case.moment + timedelta(days=days), rng.choice((None, ""))
            run(case, rng.choice(case.worlds), now=now, pit=pit, environ=environ(path))
        offline = ("--offline",) if rng.random() < 0.5 else ()
        asked = [word for word in _without(case.words, *_BOUNDS) if word != "--fail"]
        words = (*asked, *offline, "--limit", "1000", "--max-pages", "1000")
        return paging(case._replace(words=words), rng, environ=environ(path))


def _without(words: Sequence[str], *options: str) -> list[str]:
    """Return the request without some options, each of which has a value."""
    return [word for before, word in zip(("", *words), words, strict=False) if not {before, word} & {*options}]


def captured_early(case: Case, rng: Random) -> int:
    """A capture that came too early to date something takes nothing from what a source says of a later instant.

    The source serves the same at both times, so that nothing of it can have gone meanwhile. What the capture alone
    dates may take the place of something else in an answer that is cut.
    """
    question, days = coverage.question_of(case), rng.choice((0, 1, 2, 3, 5, 8))
    if question is None or question.query.operation.dating.by != "record" or question.query.operation.archiving.chooses:
        return 0
    app, pit = rng.choice(case.worlds), (case.moment + timedelta(days=days)).isoformat()
    expected = run(case, app, pit=pit)
    with archive() as path:
        if capture(case, app, path, case.words, case.moment).code:
            return 0
        left = run(case, app, pit=pit, environ=environ(path))
    is_part = "truncated" in (*expected.gap_types, *left.gap_types)
    assert _storable(expected.ids) <= {*left.ids} or is_part
    return 1


def _storable(names: Iterable[str]) -> set[str]:
    """Return the ids that a database finds again: with no NUL, and no half of a surrogate pair."""
    return {name for name in names if "\0" not in name and name == name.encode(errors="ignore").decode()}


def captured(case: Case, rng: Random) -> int:
    """A capture answers with the bytes that the source's answer has as of the PIT, be it made then or days later.

    Made then, it meets what was public alone: an archive serves what nothing dates from the first sight of it on. If
    the source makes a choice, or a fetch does, that rests on what came later: the capture says nothing of the PIT.
    A question that names what is wanted leaves no choice.
    """
    question = coverage.question_of(case)
    if question is None:
        return 0

    has_exact = case.source in ("sec_full_text", "sec_filings")
    words = (*case.words, "--exact") if has_exact and rng.random() < 0.5 else case.words
    days, app = rng.choice(((0, case.worlds[0]), (2, case.worlds[-1])))
    # In UTC: on a clock that is put back, a sum loses which of two equal hours it is.
    later = case.moment.astimezone(UTC) + timedelta(days=days)
    expected = run(case, app, words=words)
    if not {"truncated", "upstream_error", "config", "input_error"}.isdisjoint(expected.gap_types):
        return 0
    if days and (has_exact or case.source == "sec_facts") and "--exact" not in words:
        # Of a past day, EDGAR's lists contain only the date of a filing, or a time that may be late by hours and the
        # night in which it then is. The source reads its header.
        left = run(case, app, words=words, pit=_last_morning(case.moment).isoformat())
        if left.data != expected.data:
            return 0
    with archive() as path:
        if capture(case, app, path, words, later).code:
            return 0
        again = run(case, nobody, environ=environ(path), words=(*words, "--offline"))
        assert run(case, nobody, line=("archive", "rebuild"), environ=environ(path)).code == 0
        rebuilt = run(case, nobody, environ=environ(path), words=(*words, "--offline"))
    assert again.data == rebuilt.data
    if question.query.operation.archiving.reach != "some" and not question.query.chooses:
        if not days and any("first_seen_at" in item and item["id"] not in expected.ids for item in again.data):
            return 1  # what is served on a claim alone, this sight has proved
        if case.source in _LOOK_BACK and _lacks_a_part(again):
            assert again.data == expected.data  # the capture looked back from a later day
        else:
            assert again.out == expected.out
    elif days:
        assert again.data == []
    return 1


# Sources that look back from the day of the capture, by days: its window may be another than that of the question.
_LOOK_BACK = ("arxiv", "federal_register")


def _lacks_a_part(left: Left) -> bool:
    return any(gap.get("captured") is False for gap in left.envelope["gaps"])


def capture(case: Case, app: App, path: Path, words: Sequence[str], now: datetime | None = None) -> Left:
    """Capture the question of these words into the archive at ``path``."""
    file = path.with_suffix(".toml")
    file.write_text(_list(case, words), encoding="utf-8")
    return run(case, app, line=("capture", str(file)), now=now, environ=environ(path))


def _last_morning(moment: datetime) -> datetime:
    """Return the beginning of the last business day by whose opening all that EDGAR had accepted before was public."""
    local = moment.astimezone(NEW_YORK)
    day = local.date() - timedelta(days=local.time() < MORNING)
    while day.weekday() > 4:
        day -= timedelta(days=1)
    return datetime.combine(day, time(0), NEW_YORK)


def _list(case: Case, words: Sequence[str]) -> str:
    """Return the question as a capture file. Where the window need not be the same, it reaches far back."""
    provider = case.provider or registry.load(case.source)
    request = parse(("--source", case.source, *words), provider, {})
    asked: dict[str, object] = {
        name: value for name, value in request.options.items() if value not in (None, False, ())
    }
    given = {"date_from": request.since, "date_to": request.until}
    if case.source == "bz-news-api" and request.since is None:
        given["date_from"] = case.moment - timedelta(days=4000)
    asked |= {name: value.isoformat() for name, value in given.items() if value is not None}
    rows = [f"{name} = {json.dumps(value, default=str)}" for name, value in {"source": case.source, **asked}.items()]
    return "\n".join(["[[request]]", *rows, "may_be_empty = true", ""])


def held(case: Case, rng: Random) -> int:
    """A snapshot from the archive comes by cursor, a few at a time, once and in the order of one long answer."""
    limit = rng.choice((1, 2, 3))
    with archive() as path:
        run(case, case.worlds[-1], pit="", now=case.moment, environ=environ(path))
        pit, now = (case.moment + timedelta(hours=1)).isoformat(), case.moment + timedelta(days=1)

        def ask(*more: str) -> Left:
            return run(case, nobody, pit=pit, now=now, environ=environ(path), words=(*asked, "--offline", *more))

        asked = case.words[: case.words.index("--limit")]
        answer = ask("--limit", "1000")
        check_newest_first(case, answer.data)
        whole = answer.ids
        if len(whole) > 12 * limit:
            return 0
        ids: list[str] = []
        after: tuple[str, ...] = ()
        for _ in range(len(whole) + 1):
            left = ask("--limit", str(limit), *after)
            ids += left.ids
            cursors = [gap["cursor"] for gap in left.envelope["gaps"] if "cursor" in gap]
            if not cursors:
                break
            after = ("--after", cursors[0])
    assert ids == whole
    assert len(set(ids)) == len(ids)
    return 1


def secrets(case: Case) -> int:
    """A source that repeats every key it receives leaves none of them in the archive."""

    def echo(request: HttpRequest) -> Response:
        keys = [*request.signature.params.values(), *request.signature.headers.values()]
        plain = [*keys, *(quote(str(key), safe="") for key in keys)]
        escaped = "".join(_escaped(str(key)) for key in keys)
        return Response(json.dumps(plain).encode() + escaped.encode(), 401, {"ETag": f"{plain} {escaped}"})

    with archive() as path:
        left = run(case, echo, environ=environ(path), pit="")
        if not path.exists():
            assert "config" in left.out + left.err  # a refused request asks nobody
            return 0
        with closing(schema.open_to_read(str(path))) as connection:
            tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            everything = [repr(row) for name in tables for row in connection.execute(f"SELECT * FROM {name}")]
            digests = [digest for (digest,) in connection.execute("SELECT digest FROM bodies")]
            bodies = [journal.read_body(connection, digest).decode() for digest in digests]
            everything += [*bodies, *map(_unescaped, bodies)]
    for secret in SECRETS:
        assert not any(holds(text, secret) for text in everything), "a key is in the archive"
    return 0


def _escaped(key: str) -> str:
    """Escape a key in a way that is allowed and not needed."""
    return "".join(f"\\u{ord(char):04X}" if place % 2 else f"%{ord(char):02x}" for place, char in enumerate(key))


def _unescaped(text: str) -> str:
    return re.sub(r"(?:\\u00|%)([0-9A-Fa-f]{2})", lambda found: chr(int(found[1], 16)), text)


def _copy(source: Path, target: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        Path(f"{target}{suffix}").unlink(missing_ok=True)
    if source.exists():  # a request that was refused makes none
        shutil.copy(source, target)


def laws(makers: Mapping[str, Maker]) -> Mapping[str, Law]:
    """Each law for every source."""

    def of(law: Callable[[Case], int], make: Maker) -> Law:
        return lambda rng: law(make(rng))

    def varied(law: Callable[[Case, Random], int], make: Maker) -> Law:
        return lambda rng: law(make(rng), rng)

    return together(
        {
            f"{source}: archive {law.__name__.replace('_', ' ')}": of(law, make)
            for law in (
                empty,
                offline,
                rebuilt,
                interference,
                nothing_early,
                looked_back,
                kept,
                secrets,
                coverage.silent,
            )
            for source, make in makers.items()
        },
        {
            f"{source}: archive {law.__name__.replace('_', ' ')}": varied(law, make)
            for law in (
                replayed,
                again,
                dated,
                backtested,
                paged,
                captured,
                captured_early,
                coverage.wider,
                coverage.apart,
            )
            for source, make in makers.items()
        },
        archive_laws.LAWS,
        indexed.LAWS,
        keeping.LAWS,
        dropping.LAWS,
        names.LAWS,
        {
            "archive: coverage": coverage.pairs,
            "archive: readers": readers.law,
            "sec_full_text: archive filings": coverage.filings,
        },
    )
