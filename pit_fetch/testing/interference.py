"""Checks of the first law: what was not public at the PIT changes no byte that leaves the process."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from pit_fetch.gaps import CUTS
from pit_fetch.provider import Operation, Option
from pit_fetch.testing.comparison import first_difference, interference
from pit_fetch.testing.documents import Path, leaves
from pit_fetch.testing.pages import UNPAGED, Paging, has_row_cursors, in_pages, pages_of_rows, paging_of
from pit_fetch.testing.recording import IMPOSSIBLE, RecordedReply, analyze, drop, edited, field_of, put
from pit_fetch.testing.runner import (
    MICROSECOND,
    Case,
    ObservedRun,
    WorldCount,
    body_of,
    failure,
    instants,
    middle_pit,
    observe,
    observe_world,
    params_of,
    pits_before,
    substitute,
)
from pit_fetch.testing.server import Response
from pit_fetch.testing.stamps import check_floor, check_meaning
from pit_fetch.testing.timestamps import floor
from pit_fetch.testing.worlds import MANY, LateRows, World, leaves_beside, nested_additions, other_values
from pit_fetch.transport import HttpRequest

_SIZES: Sequence[Mapping[str, int]] = ({"limit": 1}, {"limit": 2}, {"max_pages": 1})
_TOTALS = ("X-Total-Count", "X-Total", "X-Total-Results", "X-Result-Count")
_LAST_MODIFIED = ("Thu, 15 Feb 2024 21:00:00 GMT", "Fri, 16 Feb 2024 09:00:00 GMT")
# The most rows that are put into a reply, if it is asked for in pages and if it is not.
_MOST_IN_PAGES, _MOST = 1_100, 25_000
# The most pages of the author's own server that a crowd takes.
_MOST_PAGES = 50
# The most values beside the rows that are changed, one in each run.
MOST_BESIDE = 40
_WINDOW = (
    "narrow the server's window as you like, but do not rely on it: yield every record with its own stamp, "
    "and never stop early because of a late one"
)


def check_two_worlds(recording: RecordedReply, constants: Collection[str] = ()) -> None:
    """Check that worlds that serve the same public records leave the same bytes.

    If the provider reads the recording without the author's server, too, it is also tried without. That server then
    leaves out no world, whatever it cannot serve.
    """
    if plain := _without_server(recording):
        _check_two_worlds(plain, constants)
        recording = replace(recording, case=replace(recording.case, worlds=WorldCount()))
    _check_two_worlds(recording, constants)


def _without_server(recording: RecordedReply) -> RecordedReply | None:
    """Return the recording as one reply to every request, None where that gives other records."""
    if not recording.case.own_server:
        return None
    with contextlib.suppress(AssertionError):
        case = replace(recording.case, serve=lambda reply, request: Response(reply), own_server=False)
        plain = analyze(case)
        if plain.baseline.leaves == recording.baseline.leaves:
            return plain
    return None


def _check_two_worlds(recording: RecordedReply, constants: Collection[str]) -> None:
    case, paging = recording.case, paging_of(recording)
    pits = pits_before(recording.baseline)
    for pit in pits:
        late = LateRows(recording, pit, has_row_cursors(recording))
        if not late.rows:
            continue
        # Every world at one PIT, the most telling ones at the others.
        is_middle = pit == pits[len(pits) // 2]
        in_one = not paging.sizes and len(recording.baseline.exchanges) <= 1
        worlds = late.all(_crowd(recording, _MOST if in_one else _MOST_IN_PAGES)) if is_middle else late.quick()
        _Experiment(recording, late, case, paging).check({**worlds, **late.beside()})
        if is_middle:
            _check_beside(recording, pit, constants)
        for options in _SIZES if is_middle else _SIZES[:1]:
            few = late.quick() if is_middle else {"left out": late.quick()["left out"]}
            _Experiment(recording, late, case.with_options(**options), paging).check(few)
        _check_headers(recording, pit)
    _check_failing_pages(recording, pits[-1])


def check_saved(recording: RecordedReply) -> None:
    """Check a saved reply (--input-file), which goes through ``parse_reply`` alone, in the same worlds."""
    case, late = recording.case, LateRows(recording, middle_pit(recording.baseline))
    if late.rows and not observe(case, late.pit, offline=True).crash:
        worlds = {**late.all(_crowd(recording, _MOST))}
        _Experiment(recording, late, case, paging_of(recording), offline=True).check(worlds)


def check_options(recording: RecordedReply) -> None:
    """Check every option of the provider, and every other operation that the recorded reply answers."""
    paging = paging_of(recording)
    for case, run in _answered(recording, [*_windows(recording), *_values(recording), *_operations(recording.case)]):
        asked = recording
        if any(recording.baseline.stamps.get(item, stamp) != stamp for item, stamp in run.stamps.items()):
            asked = analyze(case)  # the option decides when a record was public: an interval, say
            check_floor(asked)
            check_meaning(asked, recorded=False)
        late = LateRows(asked, middle_pit(asked.baseline))
        if late.rows:
            _Experiment(asked, late, case, paging).check({**late.basic(), **late.beside()})


def check_nested(recording: RecordedReply) -> None:
    """Check that nothing later that is listed inside a public row gets out."""
    case = recording.case
    for pit in {instant - MICROSECOND for instant in instants(recording.baseline, at_most=3)} | {case.now}:
        for row, where, change in nested_additions(recording, pit):
            before, after = recording.run_at(pit), observe_world(case, pit, reply=edited(case, change))
            if after is None:
                continue
            served = row.ids & set(before.stamps) & set(after.stamps)
            if served and before.leaves != after.leaves:
                raise failure(
                    f"item {min(served)!r} changes at {pit} with what is added to {where} after that",
                    f"leave {where} out of the payload, with every count and figure made of it, or yield as "
                    "revised_at the latest date in it",
                )


def check_ignored_window(recording: RecordedReply) -> None:
    """Check that a server that ignores the dates of a request adds no item and loses none."""
    case, baseline = recording.case, recording.baseline
    first = {_undated(request): made for request, made in reversed(baseline.exchanges)}
    for pit in (min(instants(baseline)) - MICROSECOND, *instants(baseline, at_most=5)):
        expected = recording.run_at(pit)
        other = observe(case, pit, wire=lambda request, made: first.get(_undated(request), made))
        lost = expected.stamps.keys() - other.stamps.keys()
        if other.crash:
            raise failure(f"the provider fails when the server ignores its window: {other.crash}", _WINDOW)
        if added := other.stamps.keys() - expected.stamps.keys():
            raise failure(f"item {min(added)!r} is served at {pit} when the server ignores the window", _WINDOW)
        if lost and CUTS.isdisjoint(other.gap_types):
            raise failure(f"item {min(lost)!r} is lost at {pit} when the server ignores the window", _WINDOW)


def other_operations(recording: RecordedReply) -> list[Case]:
    """Return the case under each other operation that the recorded reply answers."""
    return [case for case, _ in _answered(recording, _operations(recording.case))]


# --- worlds compared


@dataclass(frozen=True)
class _Experiment:
    """One request in many worlds: ``case`` asks it at the PIT of ``late``, ``offline`` of a saved reply."""

    recording: RecordedReply
    late: LateRows
    case: Case
    paging: Paging = UNPAGED
    offline: bool = False

    def check(self, worlds: Mapping[str, World]) -> None:
        """Check that each world leaves the bytes of the recorded one."""
        recorded, secrets = self.recording.case, self.case.secrets
        first = self.run((), counted=False)
        if first is None:
            raise failure("serve() cannot serve the recording at an earlier PIT", "correct the test's own server")
        # The recorded world is compared with itself: canaries and secrets show without a second one.
        if problem := interference(first, first, secrets):
            raise failure(f"at the PIT {self.late.pit} {problem}", _advice(first, first))
        for words, world in worlds.items():
            for part in self.differing(world, first):
                if self.offline or self.case.options != recorded.options:
                    plain = replace(self, case=recorded, offline=False)
                    if plain.differs(part, plain.run((), counted=False)):
                        continue  # the plain request shows it, too: then it is the failure of that test
                output = self.run(part, counted=False) or first
                raise failure(
                    f"{self._where()}, here when they are {part[0].words if len(part) == 1 else words}:\n"
                    f"{_describe_difference(first, output) or interference(first, output, secrets)}",
                    _advice(first, output),
                )

    def run(self, world: World, counted: bool = True) -> ObservedRun | None:
        """Return the run in a world; None where the author's server cannot serve it, or no reply can hold it."""
        # Worlds with many rows take more requests than the recording.
        case = self.case.at_leisure(max(self.recording.case.max_requests, 5 * _MOST_IN_PAGES))
        if not self.offline and not case.own_server:
            case = in_pages(case, self.recording, self.paging)
        case = case if counted else replace(case, worlds=WorldCount())
        try:
            reply = (
                edited(self.recording.case, *(edit.change for edit in world)) if world else self.recording.case.reply
            )
        except IMPOSSIBLE:
            return None
        return observe_world(case, self.late.pit, size=len(world), reply=reply, offline=self.offline)

    def differing(self, world: World, first: ObservedRun) -> Iterator[World]:
        """Yield the smallest part of a world that changes the output, after splitting what cannot be served whole."""
        output = self.run(world)
        if output is None and len(world) > 1:
            for half in _halves(world):
                yield from self.differing(half, first)
        elif output is not None and interference(first, output, self.case.secrets):
            yield from filter(None, (self.smallest_part(world, first),))

    def differs(self, world: World, first: ObservedRun | None) -> bool:
        output = self.run(world, counted=False)
        return bool(output and first and interference(first, output, self.case.secrets))

    def smallest_part(self, world: World, first: ObservedRun) -> World:
        """Halve a world down to the fewest edits that still change the output. Return () if none do."""
        if len(world) == 1:
            return () if world[0].may_add and self._adds_public(world) else world
        for half in _halves(world):
            if self.differs(half, first) and (part := self.smallest_part(half, first)):
                return part
        return () if any(edit.may_add for edit in world[1:]) else world

    def _adds_public(self, world: World) -> bool:
        """Return whether an edit made rows public that were meant to be late: they rest on something else, too."""
        case, pit = self.recording.case, self.late.pit
        reply = edited(case, world[0].change)
        before, after = (
            Counter(version.public_from for version in run.versions if version.public_from <= pit)
            for run in (self.recording.baseline, observe(case, case.now, reply=reply))
        )
        return bool(after - before)  # the stamps alone: a provider may name its rows by what stands around them

    def _where(self) -> str:
        recorded = self.recording.case.options
        asked = "".join(
            f" with {name}={value}" for name, value in self.case.options.items() if recorded.get(name) != value
        )
        known = sorted((version for row in self.late.rows for version in row.versions), key=lambda item: item[::-1])
        example = f"{known[0].id!r} from {known[0].public_from} on, " if known else ""
        return (
            f"at the PIT {self.late.pit}{asked}{' in a saved reply' if self.offline else ''} the output tells of "
            f"records that were not public yet ({example}{len(self.late.rows)} in all)"
        )


def _halves(world: World) -> tuple[World, World]:
    return world[: len(world) // 2], world[len(world) // 2 :]


def _crowd(recording: RecordedReply, most: int) -> int:
    """Return more rows than any number up to ``most`` in the author's code: such a number may be the size of a page."""
    exchanges = len(recording.baseline.exchanges)
    if exchanges > len(recording.rows):
        return MANY
    if recording.case.own_server and exchanges > 1:
        # The author's server sends as small pages of a crowd as of the recording.
        most = min(most, _MOST_PAGES * len(recording.every) // exchanges)
    figures = recording.case.state.figures - {9999}  # the calendar's last year
    return max([MANY, *(figure + 20 for figure in figures if figure <= most)])


def _describe_difference(first: ObservedRun, other: ObservedRun) -> str:
    """Return what differs, in the terms of the envelope; "" if only the bytes do."""
    if other.crash:
        return f"the provider fails: {other.crash}"
    try:
        items, others = ({item["id"]: item for item in run.data} for run in (first, other))
        gaps = {*first.gap_types} ^ {*other.gap_types}
    except (ValueError, KeyError, TypeError):
        return ""
    differences = [
        f"item {name!r} has another {field}: {item.get(field)!r}, {others[name].get(field)!r}"
        for name, item in items.items()
        if name in others
        for field in sorted({*item, *others[name]})
        if item.get(field) != others[name].get(field)
    ]
    differences += [f"item {name!r} comes and goes" for name in sorted(items.keys() ^ others.keys())]
    differences += [f"a gap {name} comes and goes" for name in sorted(gaps)]
    unserved = [f"serve() has no answer to what is asked then: {other.unserved}"] if other.unserved else []
    return "\n".join([*(difference[:200] for difference in differences[:3]), *unserved])


def _advice(first: ObservedRun, other: ObservedRun) -> str:
    """Return what to do, by what differs."""
    if other.crash:
        return (
            "what cannot be used of a row is a record without a stamp, and never an exception: read with row.get and "
            "isinstance, add a margin with times.delayed (some sources write 9999-12-31)"
        )
    if ("upstream_error" in first.gap_types) != ("upstream_error" in other.gap_types):
        return (
            "raise only for what is wrong with the reply as a whole: a row that cannot be read fails alone, as a "
            "record without a stamp. wire.rows_in and wire.record_in read like that, as wire.lenient_json does"
        )
    if first.ids == other.ids and first.data != other.data:
        return (
            "make the field from its own row: no count, rank, total, sum, maximum or neighbour of other rows, and "
            "nothing that comes with the rows (Provider.derive computes across public records)"
        )
    return (
        "yield every record and every version with its stamps and let the framework decide: never cut to "
        "query.limit, choose, stop, count, sort, yield a gap or raise because of a record that may be late"
    )


# --- what comes with the rows


def _check_headers(recording: RecordedReply, pit: datetime) -> None:
    """Check that headers of the reply change nothing: they may depend on late rows."""
    case, total = recording.case, len(recording.every)

    def with_count(count: int) -> ObservedRun:
        counts = dict.fromkeys(_TOTALS, str(count))
        headers = {**counts, "ETag": f'"{count}"', "Last-Modified": _LAST_MODIFIED[count % 2]}
        return observe(case, pit, wire=lambda request, made: replace(made, headers={**headers, **made.headers}))

    if difference := interference(with_count(2 * total), with_count(2 * total - 1), case.secrets):
        raise failure(
            f"at the PIT {pit} the output tells what a header of the reply says ({', '.join(_TOTALS)}, ETag or "
            f"Last-Modified), and so of records that were not public yet:\n{difference}",
            "take from headers nothing but where the next page is",
        )


def _check_beside(recording: RecordedReply, pit: datetime, constants: Collection[str]) -> None:
    """Check that no value beside the rows is served, in items or in gaps: it may count late rows as well."""
    case, whole = recording.case, recording.run_at(pit)
    asked = {
        str(word).casefold()
        for value in case.options.values()
        for word in (value if isinstance(value, list) else [value])
    }
    for path, value in leaves_beside(recording, recording.tree)[:MOST_BESIDE]:
        name = field_of(path)
        is_zone = case.zone and value == case.zone
        if floor(value) is not None or is_zone or str(value).casefold() in asked or name in constants:
            continue

        def run_with(other: object, path: Path = path) -> ObservedRun | None:
            return observe_world(case, pit, reply=edited(case, put(recording.rows[0], path, other)))

        if run := shown_beside(recording, pit, value, run_with):
            raise failure(
                f"at the PIT {pit} what {name} beside the rows says is in the output, and may rest on records that "
                f"were not public yet:\n{_describe_difference(whole, run) or first_difference(whole, run)}",
                f"leave {name} out of payloads and gaps: it is about the reply, and not about one record. If it is "
                f'the same in each reply (a unit, a currency), say so in the test: constants = ("{name}",)',
            )


def shown_beside(
    recording: RecordedReply, pit: datetime, value: Any, run_with: Callable[[object], ObservedRun | None]
) -> ObservedRun | None:
    """Return a run with another value beside the rows that shows in the output, None if there is none."""
    whole = recording.run_at(pit)
    fewer = [value - 1] if type(value) is int else [str(int(value) - 1)] if str(value).isdigit() else []
    for other in (*fewer, *(other for other in other_values(value) if type(other) is type(value))):
        with contextlib.suppress(*IMPOSSIBLE):
            run = run_with(other)
            if run is None or run.crash:
                continue
            # A value that changes the requests or the ids steers how the reply is read: that is no leak.
            steers = run.requests != whole.requests or run.ids != whole.ids or "upstream_error" in run.gap_types
            if not steers and interference(whole, run, recording.case.secrets):
                return run
    return None


def _check_failing_pages(recording: RecordedReply, pit: datetime) -> None:
    """Check that requests made only for late rows may fail without changing the output."""
    case, late, whole = recording.case, recording.late(pit), recording.run_at(pit)
    without = observe(case, pit, reply=edited(case, partial(drop, rows=late))) if late else whole
    for_late = {*whole.requests} - {*without.requests}
    for_late = for_late & pages_of_rows(recording, whole) if for_late else for_late
    for event, answer in (
        ("is not there (404)", Response(b"", 404)),
        ("is empty", Response(b"{}")),
        ("fails (500)", Response(b"", 500)),
    ):
        if for_late and observe(case, pit, wire=substitute(answer, for_late)).leaves != whole.leaves:
            raise failure(
                f"at the PIT {pit} the output is another one when the page of a record that was not public {event}",
                "let a page of a row fail alone: paging.children (with a probe), a record without a stamp for the row",
            )


# --- other requests that the recorded reply answers


def _answered(recording: RecordedReply, ways: Sequence[dict[str, object]]) -> Iterator[tuple[Case, ObservedRun]]:
    """Yield the case under each set of options that the recorded reply answers with dated records, and its run."""
    for options in ways:
        case = recording.case.with_options(**options)
        with contextlib.suppress(AssertionError):  # a request that the source does not take
            run = observe(case, case.now)
            if run.stamps and not run.crash:
                yield case, run


def _windows(recording: RecordedReply) -> Iterator[dict[str, object]]:
    case = recording.case
    if "date_from" not in case.options:
        yield {"date_from": _before_all(recording)}
    yield {"date_to": (case.now + timedelta(days=30)).isoformat()}


def _before_all(recording: RecordedReply) -> str:
    return (min(recording.baseline.stamps.values()) - timedelta(days=30)).isoformat()


def _values(recording: RecordedReply) -> Iterator[dict[str, object]]:
    """Yield each of the provider's options with a few values, the words of what is served among them."""
    case, items = recording.case, recording.baseline.data
    texts = [value for item in items for value in item.values() if isinstance(value, str)]
    counts = Counter(word for text in texts for word in set(text.casefold().split()) if word.isalpha())
    words = sorted(counts, key=lambda word: (-counts[word], -len(word), word))

    def values(option: Option) -> Sequence[object]:
        own = [item[option.name] for item in items if isinstance(item.get(option.name), str)]
        if option.choices:
            return [*option.choices][:6]
        if option.kind == "flag":
            return [True]
        if option.kind in ("integer", "number"):
            return [max(2, option.minimum)]
        if option.kind == "instant":
            return [_before_all(recording)]
        return [*dict.fromkeys(own or words)][:2] or ["acme"]

    for option in case.provider.all_options:
        if option.name not in case.options and option.name != "op":
            for value in values(option):
                yield {option.name: [value] if option.kind == "list" else value}


def _operations(case: Case, at_most: int = 4) -> list[dict[str, object]]:
    """Return the options of requests to other dated operations with the same fields, or with none declared."""
    every = case.provider.operations
    recorded = next((operation for operation in every if operation.name == case.options.get("op")), every[0])
    return [
        _request_to(case, operation)
        for operation in every
        if operation is not recorded and operation.dating.by == "record" and operation.fields == recorded.fields
    ][:at_most]


def _request_to(case: Case, operation: Operation) -> dict[str, object]:
    names = {option.name for option in case.provider.all_options} - {*operation.needs, *operation.takes}
    surplus = dict.fromkeys(names & case.options.keys())
    needed = {name: case.options.get(name, "ACME") for name in operation.needs}
    return {**surplus, **needed, "op": operation.name}


def _undated(request: HttpRequest) -> object:
    """Return what a request asks for besides its window, so that a server that ignores that gives one answer to all."""
    asked = {"params": params_of(request), "body": body_of(request)}
    return request.path, tuple((place, str(value)) for place, value in leaves(asked) if not _is_date(value))


def _is_date(value: object) -> bool:
    return floor(int(value) if isinstance(value, str) and value.isdigit() else value) is not None
