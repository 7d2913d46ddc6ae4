"""Checks of the first law: what was not public at the PIT changes no byte that leaves the process."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from pit_fetch.gaps import CUTS
from pit_fetch.provider import Operation, Option
from pit_fetch.testing.comparison import first_difference, interference
from pit_fetch.testing.documents import Path
from pit_fetch.testing.findings import Findings, analyze, edited, field_of, observe_world, put
from pit_fetch.testing.observe import (
    MICROSECOND,
    Case,
    ObservedRun,
    instants,
    middle_pit,
    observe,
    pits_before,
)
from pit_fetch.testing.report import WorldCount, failure
from pit_fetch.testing.stamps import check_floor, check_meaning
from pit_fetch.testing.timestamps import floor
from pit_fetch.testing.worlds import MANY, LateRows, World, Worlds, leaves_beside, nested_additions, other_values

_SIZES: Sequence[Mapping[str, int]] = ({"limit": 1}, {"limit": 2}, {"max_pages": 1})
# The most rows that are put into a reply, if it is asked for in pages and if it is not.
_MOST_IN_PAGES, _MOST = 1_100, 25_000
# The most values beside the rows that are changed, one in each run.
_MOST_BESIDE = 40


def check_two_worlds(findings: Findings) -> None:
    """Check that worlds that serve the same public records leave the same bytes."""
    case, pits = findings.case, pits_before(findings.baseline)
    pages = case.source.recording.pages or case.sizes
    for pit in pits:
        late = LateRows(findings, pit)
        if not late.rows:
            continue
        # Every world at one PIT, the most telling ones at the others.
        is_middle = pit == pits[len(pits) // 2]
        worlds = late.all(_crowd(findings, _MOST_IN_PAGES if pages else _MOST)) if is_middle else late.quick()
        _Experiment(findings, late, case).check({**worlds, **late.beside()})
        if is_middle:
            _check_beside(findings, pit)
        for options in _SIZES if is_middle else _SIZES[:1]:
            few = late.quick() if is_middle else {"left out": late.quick()["left out"]}
            _Experiment(findings, late, case.with_options(**options)).check(few)


def check_saved(findings: Findings) -> None:
    """Check a saved reply (--input-file), which goes through ``parse_reply`` alone, in the same worlds."""
    case, late = findings.case, LateRows(findings, middle_pit(findings.baseline))
    if late.rows and not observe(case, late.pit, offline=True).crash:
        _Experiment(findings, late, case, offline=True).check(late.all(_crowd(findings, _MOST)))


def check_options(findings: Findings) -> None:
    """Check every option of the provider, and every other operation that the recording answers."""
    for case, run in _answered(findings, [*_values(findings), *_operations(findings.case)]):
        asked = findings
        if any(findings.baseline.stamps.get(item, stamp) != stamp for item, stamp in run.stamps.items()):
            asked = analyze(case)  # the option decides when a record was public: an interval, say
            check_floor(asked)
            check_meaning(asked)
        late = LateRows(asked, middle_pit(asked.baseline))
        if late.rows:
            _Experiment(asked, late, case).check({**late.basic(), **late.beside()})


def check_nested(findings: Findings) -> None:
    """Check that nothing later that is listed inside a public row gets out."""
    case = findings.case
    for pit in {instant - MICROSECOND for instant in instants(findings.baseline, at_most=3)} | {case.now}:
        for row, where, change in nested_additions(findings, pit):
            before, after = findings.run_at(pit), observe_world(case, pit, change)
            if after is None:
                continue
            served = row.ids & set(before.stamps) & set(after.stamps)
            if served and before.leaves != after.leaves:
                problem = f"item {min(served)!r} changes at {pit} with what is added to {where} after that"
                raise failure(problem, "added-later", field=where)


def check_ignored_window(findings: Findings) -> None:
    """Check that a server that ignores the dates of a request adds no item and loses none."""
    case, baseline = findings.case, findings.baseline
    for pit in (min(instants(baseline)) - MICROSECOND, *instants(baseline, at_most=5)):
        expected = findings.run_at(pit)
        other = observe(replace(case, keeps_window=False), pit)
        lost, added = expected.stamps.keys() - other.stamps.keys(), other.stamps.keys() - expected.stamps.keys()
        if other.crash:
            problem = f"the provider fails when the server ignores its window: {other.crash}"
            raise failure(problem, "window-of-the-server")
        if added or (lost and CUTS.isdisjoint(other.gap_types)):
            event = f"{min(added or lost)!r} is {'served' if added else 'lost'}"
            raise failure(f"item {event} at {pit} when the server ignores the window", "window-of-the-server")


def other_operations(findings: Findings) -> list[Case]:
    """Return the case under each other operation that the recording answers."""
    return [case for case, _ in _answered(findings, _operations(findings.case))]


# --- worlds compared


@dataclass(frozen=True)
class _Experiment:
    """One request in many worlds: ``case`` asks it at the PIT of ``late``, ``offline`` of a saved reply."""

    findings: Findings
    late: LateRows
    case: Case
    offline: bool = False

    def check(self, worlds: Worlds) -> None:
        """Check that each world leaves the bytes of the recorded one."""
        first = observe(self._case, self.late.pit, offline=self.offline)
        # The recorded world is compared with itself: canaries and secrets show without a second one.
        if problem := self._tells(first, first):
            raise failure(f"at the PIT {self.late.pit} {problem}", _advice(first, first))
        for words, world in worlds.items():
            for part in self._differing(world, first):
                if self._is_plain or not replace(self, case=self.findings.case, offline=False)._differs(part):
                    output = self._run(part) or first
                    raise failure(
                        f"{self._where()}, here when they are {part[0].words if len(part) == 1 else words}:\n"
                        f"{_describe_difference(first, output) or self._tells(first, output)}",
                        part[0].advice or _advice(first, output),
                    )

    @property
    def _case(self) -> Case:
        # Worlds with many rows take more requests than the recording.
        return self.case.at_leisure(max(self.findings.case.max_requests, 5 * _MOST_IN_PAGES))

    @property
    def _is_plain(self) -> bool:
        """Whether this is the recorded request: what that shows, too, is the failure of its own test."""
        return not self.offline and self.case.options == self.findings.case.options

    def _run(self, world: World, counted: bool = False) -> ObservedRun | None:
        """Return the run in a world; None where no document can hold it."""
        case = self._case if counted else replace(self._case, worlds=WorldCount())
        changes = (edit.change for edit in world)
        return observe_world(case, self.late.pit, *changes, size=len(world), offline=self.offline)

    def _tells(self, first: ObservedRun, output: ObservedRun) -> str:
        """Return how an output tells of what is late, "" if it does not."""
        problem = interference(first, output, self.case.secrets)
        moved = {*first.watermarks} ^ {*output.watermarks} if self._is_plain else ()
        return problem or (f"a Watermark moves ({min(moved)})" if moved else "")

    def _differing(self, world: World, first: ObservedRun) -> Iterator[World]:
        """Yield the smallest part of a world that changes the output, after splitting what cannot be served whole."""
        output = self._run(world, counted=True)
        if output is None and len(world) > 1:
            for half in _halves(world):
                yield from self._differing(half, first)
        elif output is not None and self._tells(first, output):
            yield from filter(None, (self._smallest_part(world, first),))

    def _differs(self, world: World, first: ObservedRun | None = None) -> bool:
        output = self._run(world)
        return output is not None and bool(self._tells(first or observe(self._case, self.late.pit), output))

    def _smallest_part(self, world: World, first: ObservedRun) -> World:
        """Halve a world down to the fewest edits that still change the output. Return () if none do."""
        if len(world) == 1:
            return () if world[0].may_add and self._adds_public(world) else world
        for half in _halves(world):
            if self._differs(half, first) and (part := self._smallest_part(half, first)):
                return part
        return () if any(edit.may_add for edit in world[1:]) else world

    def _adds_public(self, world: World) -> bool:
        """Return whether an edit made rows public that were meant to be late: they rest on something else, too."""
        case, pit = self.findings.case, self.late.pit
        before, after = (
            Counter(version.public_from for version in run.versions if version.public_from <= pit)
            for run in (self.findings.baseline, observe(case, case.now, world=edited(case, world[0].change)))
        )
        return bool(after - before)  # the stamps alone: a provider may name its rows by what stands around them

    def _where(self) -> str:
        recorded = self.findings.case.options
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


def _crowd(findings: Findings, most: int) -> int:
    """Return more rows than any number up to ``most`` in the author's code: such a number may be the size of a page."""
    if len(findings.baseline.exchanges) > len(findings.rows):  # each takes a request
        return MANY
    figures = findings.case.state.figures - {9999}  # the calendar's last year
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
    return "\n".join(difference[:200] for difference in differences[:3])


def _advice(first: ObservedRun, other: ObservedRun) -> str:
    """Return what to do, by what differs."""
    if other.crash:
        return "a-row-fails-alone"
    if ("upstream_error" in first.gap_types) != ("upstream_error" in other.gap_types):
        return "a-row-that-cannot-be-read"
    if first.ids == other.ids and first.data != other.data:
        return "from-its-own-row"
    if first.leaves == other.leaves and first.watermarks != other.watermarks:
        return "watermark-by-a-record"
    return "let-the-framework-decide"


# --- what comes with the rows


def _check_beside(findings: Findings, pit: datetime) -> None:
    """Check that no value beside the rows is served, in items or in gaps: it may count late rows, or be today's."""
    case, whole = findings.case, findings.run_at(pit)
    asked = {
        str(word).casefold()
        for value in case.options.values()
        for word in (value if isinstance(value, list) else [value])
    }
    for path, value in leaves_beside(findings, findings.tree)[:_MOST_BESIDE]:
        name, where = field_of(path), "" if path[0] == case.source.main else f" in the reply to {path[0]}"
        is_known = findings.is_role(name, "constant") or str(value).casefold() in asked or value == (case.zone or None)
        if is_known or floor(value) is not None:
            continue
        if run := _shown(findings, pit, path, value):
            problem = (
                f"at the PIT {pit} what {name} beside the rows{where} says is in the output. It has no stamp: it is"
            )
            event = "today's, and may rest on records that were not public yet"
            difference = _describe_difference(whole, run) or first_difference(whole, run)
            raise failure(f"{problem} {event}:\n{difference}", "beside-the-rows", field=name)


def _shown(findings: Findings, pit: datetime, path: Path, value: Any) -> ObservedRun | None:
    """Return a run with another value beside the rows that shows in the output, None if there is none."""
    case, whole = findings.case, findings.run_at(pit)
    fewer = [value - 1] if type(value) is int else [str(int(value) - 1)] if str(value).isdigit() else []
    for other in (*fewer, *(other for other in other_values(value) if type(other) is type(value))):
        run = observe_world(case, pit, put(findings.rows[0], path, other))
        if run is None or run.crash:
            continue
        # A value that changes the requests or the ids steers how the reply is read: that is no leak.
        steers = run.requests != whole.requests or run.ids != whole.ids or "upstream_error" in run.gap_types
        if not steers and interference(whole, run, case.secrets):
            return run
    return None


# --- other requests that the recording answers


def _answered(findings: Findings, ways: Sequence[dict[str, object]]) -> Iterator[tuple[Case, ObservedRun]]:
    """Yield the case under each set of options that the recording answers with dated records, and its run."""
    for options in ways:
        case = findings.case.with_options(**options)
        with contextlib.suppress(AssertionError):  # a request that the source does not take
            run = observe(case, case.now)
            if run.stamps and not run.crash:
                yield case, run


def _values(findings: Findings) -> Iterator[dict[str, object]]:
    """Yield other windows, and each of the provider's options with a few values, words of what is served among them."""
    case, items = findings.case, findings.baseline.data
    before_all = (min(findings.baseline.stamps.values()) - timedelta(days=30)).isoformat()
    if "date_from" not in case.options:
        yield {"date_from": before_all}
    yield {"date_to": (case.now + timedelta(days=30)).isoformat()}
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
            return [before_all]
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
