"""Checks of the first law: what was not public at the PIT changes no byte that leaves the process."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import zip_longest
from typing import Any

from pit_fetch.testing import edits
from pit_fetch.testing.case import MICROSECOND, Case, Seen, failure, instants
from pit_fetch.testing.comparison import interference
from pit_fetch.testing.documents import at
from pit_fetch.testing.pagination import in_pages, rests_on_sizes
from pit_fetch.testing.recording import Recording, Row, edited, record_of
from pit_fetch.testing.runner import ServerFailed, look
from pit_fetch.testing.server import Response
from pit_fetch.testing.stamps import check_floor, check_meaning
from pit_fetch.testing.timestamps import floor
from pit_fetch.transport import HttpRequest

_WAYS: Sequence[Mapping[str, int]] = ({"limit": 1}, {"limit": 2}, {"max_pages": 1})


def check_two_worlds(recording: Recording) -> None:
    """Two worlds that serve the same public records give the same bytes, over the network and from a file."""
    case, sized = recording.case, rests_on_sizes(recording)
    pits = before_instants(recording.seen)
    for pit in pits:
        late = recording.late(pit)
        if not late:
            continue
        full = pit == pits[len(pits) // 2]
        worlds = edits.worlds(recording, late, pit) if full else edits.quick(recording, late)
        _compare(recording, pit, late, {**worlds, **edits.beside(recording, late, pit)}, case, sized=sized)
        for options in _WAYS if full else ():
            _compare(recording, pit, late, edits.quick(recording, late), case.asking(**options), sized=sized)
        if not full:
            _compare(recording, pit, late, edits.left_out(late), case.asking(limit=1), sized=sized)
        _check_beside(recording, pit)
    for pit in pits[-1:]:
        _check_failing_pages(recording, pit, recording.late(pit))


def check_saved(recording: Recording) -> None:
    """The same of a saved reply (--input-file), which goes through ``read`` alone."""
    case = recording.case
    pits = before_instants(recording.seen)
    pit = pits[len(pits) // 2]
    late = recording.late(pit)
    if late and not look(case, pit, offline=True).crash:
        _compare(recording, pit, late, edits.worlds(recording, late, pit), case, offline=True)


def check_options(recording: Recording) -> None:
    """The same under every option of the provider, and every operation that the recorded reply answers too."""
    sized = rests_on_sizes(recording)
    for asking, seen in ways_to_ask(recording):
        found = recording
        if any(recording.seen.stamps.get(item, stamp) != stamp for item, stamp in seen.stamps.items()):
            found = record_of(asking)  # the option decides when a record was public: an interval, say
            check_floor(found)
            check_meaning(found, recorded=False)
        pits = before_instants(found.seen)
        pit = pits[len(pits) // 2]
        late = found.late(pit)
        if late:
            worlds = {**edits.few(found, late), **edits.beside(found, late, pit)}
            _compare(found, pit, late, worlds, asking, sized=sized)


def _check_beside(recording: Recording, pit: datetime) -> None:
    """What comes with the rows, in headers or as a flag, decides nothing: it may tell of late ones."""
    case, total = recording.case, len(recording.every)

    def told(count: int) -> Seen:
        said = {**dict.fromkeys(_TOTALS, str(count)), "ETag": f'"{count}"', "Last-Modified": _LAST_MODIFIED[count % 2]}
        return look(case, pit, wire=lambda request, made: replace(made, headers={**said, **made.headers}))

    first = told(2 * total)
    difference = interference(first, told(2 * total - 1), case.secrets)
    if difference:
        raise failure(
            f"at the PIT {pit} the output tells what a header of the reply says ({', '.join(_TOTALS)}, ETag or "
            f"Last-Modified), and so of records that were not public yet:\n{difference}",
            "take from headers nothing but where the next page is",
        )
    flags = edits.flags(recording)
    if not flags:
        return

    def turned(tree: Any) -> None:
        for path in flags:
            at(tree, path[:-1])[path[-1]] = not at(tree, path)

    whole, other = recording.seen_at(pit), look(case, pit, reply=edited(case, turned))
    if whole.ids == other.ids and whole.gap_types == other.gap_types and whole.data != other.data:
        names = ", ".join(str(path[-1]) for path in flags)
        raise failure(
            f"at the PIT {pit} the items say what {names} beside the rows says, which may rest on later ones",
            f"leave {names} out of the payload: it is about the reply, and not about one record",
        )


_TOTALS = ("X-Total-Count", "X-Total", "X-Total-Results", "X-Result-Count")
_LAST_MODIFIED = ("Thu, 15 Feb 2024 21:00:00 GMT", "Fri, 16 Feb 2024 09:00:00 GMT")


def check_nested(recording: Recording) -> None:
    """Of what is listed inside a public row, nothing later gets out."""
    case = recording.case
    for pit in {moment - MICROSECOND for moment in instants(recording.seen, at_most=3)} | {case.now}:
        for row, where, change in edits.nested(recording, pit):
            before, after = recording.seen_at(pit), look(case, pit, reply=edited(case, change))
            served = {version.id for version in row.versions} & set(before.stamps) & set(after.stamps)
            if served and before.leaves != after.leaves:
                raise failure(
                    f"item {min(served)!r} changes at {pit} with what is added to {where} after that",
                    f"leave {where} out of the payload, with every count and figure made of it, or yield as "
                    "revised_at the latest date in it",
                )


def _compare(
    recording: Recording,
    pit: datetime,
    late: Sequence[Row],
    worlds: Mapping[str, edits.Change],
    case: Case,
    offline: bool = False,
    sized: bool = False,
) -> None:
    base = recording.case
    roomy = replace(case.asking(timeout=86_400), max_requests=max(case.max_requests, 5 * edits.MOST))

    def run(reply: bytes, asking: Case = roomy, offline: bool = offline) -> Seen:
        served = asking if offline or case.own_server else in_pages(asking, recording, sized=sized)
        return look(served, pit, reply=reply, offline=offline)

    def is_plain(reply: bytes) -> bool:
        """Whether the plain question shows it, too: then it is that one's failure."""
        plain = replace(roomy, options={**base.options, "timeout": 86_400})
        return bool(interference(run(case.reply, plain, False), run(reply, plain, False)))

    first = run(case.reply)
    for name, change in {"as they are": lambda tree: None, **worlds}.items():
        try:
            reply = edited(base, change)
            adds = name.startswith(edits.TWIN) and _adds_public(recording, reply, pit)
            left = run(reply)
        except (KeyError, IndexError, TypeError, ValueError, OverflowError, ServerFailed):
            continue  # neither the reply nor the author's own server can say this
        what = "" if adds else interference(first, left, case.secrets)
        if what and not ((offline or case.options != base.options) and is_plain(reply)):
            asked = {name: value for name, value in case.options.items() if base.options.get(name) != value}
            raise _interference(pit, late, name, asked, _told(first, left) or what, _advice(first, left), offline)


def _adds_public(recording: Recording, reply: bytes, pit: datetime) -> bool:
    """Whether rows that were to be late are not: their stamps rest on something else, too."""
    new = look(recording.case, recording.case.now, reply=reply).versions - recording.seen.versions
    return any(version.public_from <= pit for version in new)


def ways_to_ask(recording: Recording) -> Iterator[tuple[Case, Seen]]:
    """The case under each option: choices, flags, numbers, dates, words of what is served; and other operations.

    Each with what it comes to.
    """
    case = recording.case
    for options in (*_windows(recording), *_values(recording), *_operations(case)):
        asking = case.asking(**options)
        try:
            seen = look(asking, case.now)
        except AssertionError:
            continue  # the request is not one that the source takes
        if seen.stamps and not seen.crash:
            yield asking, seen


def other_operations(recording: Recording) -> Iterator[Case]:
    """The case under each other operation that the recorded reply answers too."""
    for options in _operations(recording.case):
        asking = recording.case.asking(**options)
        with contextlib.suppress(AssertionError):
            seen = look(asking, recording.case.now)
            if seen.stamps and not seen.crash:
                yield asking


def _windows(recording: Recording) -> Iterator[dict[str, object]]:
    case, moments = recording.case, sorted(recording.seen.stamps.values())
    if "date_from" not in case.options:
        yield {"date_from": (moments[0] - timedelta(days=30)).isoformat()}
    yield {"date_to": (case.now + timedelta(days=30)).isoformat()}


def _values(recording: Recording) -> Iterator[dict[str, object]]:
    case = recording.case
    texts = [str(value) for item in recording.seen.data for value in item.values() if isinstance(value, str)]
    counts = Counter(word for text in texts for word in set(text.casefold().split()) if word.isalpha())
    words = sorted(counts, key=lambda word: (-counts[word], -len(word), word))
    for option in case.provider.options:
        if option.name in case.options or option.name == "op":
            continue
        same = [item[option.name] for item in recording.seen.data if isinstance(item.get(option.name), str)]
        found: Sequence[object] = []
        if option.choices:
            found = [*option.choices][:6]
        elif option.kind == "flag":
            found = [True]
        elif option.kind in ("integer", "number"):
            found = [max(2, option.minimum)]
        elif option.kind == "instant":
            found = [(min(recording.seen.stamps.values()) - timedelta(days=30)).isoformat()]
        elif same:
            found = [*dict.fromkeys(same)][:2]
        else:
            found = [*words[:2]] or ["acme"]
        for value in found:
            yield {option.name: [value] if option.kind == "list" else value}


def _operations(case: Case, at_most: int = 4) -> Iterator[dict[str, object]]:
    for operation in operations_beside(case)[:at_most]:
        known = {*operation.needs, *operation.takes}
        surplus = {
            one.name: None for one in case.provider.options if one.name in case.options and one.name not in known
        }
        missing = {name: case.options.get(name, "ACME") for name in operation.needs}
        yield {**surplus, **missing, "op": operation.name}


def operations_beside(case: Case) -> list[Any]:
    """The dated operations that the recorded reply was not made for, but may answer: like fields, or none declared."""
    every = case.provider.operations
    mine = next((one for one in every if one.name == case.options.get("op")), every[0])
    return [one for one in every if one is not mine and one.dating == "record" and one.fields == mine.fields]


def _check_failing_pages(recording: Recording, pit: datetime, late: Sequence[Row]) -> None:
    """What is asked for the sake of late rows may fail, and nothing is different."""
    case = recording.case
    if not late:
        return
    whole = recording.seen_at(pit)
    without = look(case, pit, reply=edited(case, edits.worlds(recording, late, pit)["left out"]))
    public = {_asked(request) for request, _ in without.exchanges}
    mine = {_asked(request) for request, _ in whole.exchanges} - public
    for what, answer in (
        ("is not there (404)", Response(b"", 404)),
        ("is empty", Response(b"{}")),
    ):

        def wire(request: HttpRequest, made: Response, answer: Response = answer) -> Response:
            return answer if _asked(request) in mine else made

        other = look(case, pit, wire=wire)
        if mine and other.leaves != whole.leaves:
            raise failure(
                f"at the PIT {pit} the output is another one when the page of a record that was not public {what}",
                "let a page of a row fail alone: paging.children, and a record without a stamp for the row",
            )


def _asked(request: HttpRequest) -> tuple[str, str, bytes | None]:
    return request.path, json.dumps(dict(request.params), sort_keys=True, default=list), request.body


def before_instants(seen: Seen) -> list[datetime]:
    """PITs at which something is not public yet: just before a version was."""
    return [moment - MICROSECOND for moment in instants(seen, at_most=5)]


def check_ignored_window(recording: Recording) -> None:
    """A server that ignores the dates it is asked for gives nothing more, and nothing else."""
    case, seen = recording.case, recording.seen
    asked = {request.path: request for request, _ in reversed(seen.exchanges)}

    def serve(reply: bytes, request: HttpRequest) -> Response:
        return case.serve(reply, _without_window(request, asked.get(request.path, request)))

    careless = replace(case, serve=serve)
    for pit in (min(instants(seen)) - MICROSECOND, *instants(seen, at_most=5)):
        expected, other = recording.seen_at(pit), look(careless, pit)
        if other.crash:
            raise failure(f"the provider fails when the server ignores its window ({other.crash})", _WINDOW)
        added = other.stamps.keys() - expected.stamps.keys()
        if added:
            raise failure(f"item {sorted(added)[0]!r} is served at {pit} when the server ignores the window", _WINDOW)
        lost = expected.stamps.keys() - other.stamps.keys()
        if lost and not {"upstream_error", "truncated"} & set(other.gap_types):
            raise failure(f"item {sorted(lost)[0]!r} is lost at {pit} when the server ignores the window", _WINDOW)


_WINDOW = (
    "narrow the server's window as you like, but do not rely on it: yield every record with its own stamp, "
    "and never stop early because of a late one"
)


def _without_window(request: HttpRequest, first: HttpRequest) -> HttpRequest:
    """The request with every date in it as it was in the run that asked for everything."""
    params = _with_dates_of(dict(request.params), dict(first.params))
    return request._replace(params=params, body=_body_with_dates_of(request.body, first.body))


def _body_with_dates_of(body: bytes | None, first: bytes | None) -> bytes | None:
    try:
        return json.dumps(_with_dates_of(json.loads(body or b""), json.loads(first or b""))).encode()
    except ValueError:
        return body


def _with_dates_of(node: Any, first: Any) -> Any:
    if isinstance(node, dict) and isinstance(first, dict):
        kept = {name: _with_dates_of(value, first.get(name)) for name, value in node.items() if not _is_date(value)}
        return {**kept, **{name: value for name, value in first.items() if _is_date(value)}}
    if isinstance(node, list) and isinstance(first, list):
        return [_with_dates_of(*pair) for pair in zip_longest(node, first[: len(node)])]
    return first if _is_date(node) and _is_date(first) else node


def _is_date(value: object) -> bool:
    return floor(int(value) if isinstance(value, str) and value.isdigit() else value) is not None


def _interference(
    pit: datetime,
    late: Sequence[Row],
    what: str,
    options: Mapping[str, object],
    difference: str,
    advice: str,
    offline: bool = False,
) -> AssertionError:
    known = sorted((version for row in late for version in row.versions), key=lambda version: version[::-1])
    example = f"{known[0].id!r} from {known[0].public_from} on, " if known else ""
    with_options = (f" and {options}" if options else "") + (" in a saved reply" if offline else "")
    return failure(
        f"at the PIT {pit}{with_options} the output tells of records that were not public yet "
        f"({example}{len(late)} in all), here when they are {what}:\n"
        f"{difference}",
        advice,
    )


def _told(first: Seen, other: Seen) -> str:
    """What differs, in the words of the envelope; "" where it takes the bytes to see it."""
    if other.crash:
        return f"the provider fails: {other.crash}"
    try:
        items, others = ({item["id"]: item for item in seen.data} for seen in (first, other))
        gaps, more = (set(seen.gap_types) for seen in (first, other))
    except (ValueError, KeyError, TypeError):
        return ""
    told = [
        f"item {name!r} has another {field}: {item.get(field)!r}, {others[name].get(field)!r}"
        for name, item in items.items()
        if name in others
        for field in sorted({*item, *others[name]})
        if item.get(field) != others[name].get(field)
    ]
    told += [f"item {name!r} comes and goes" for name in sorted(items.keys() ^ others.keys())]
    told += [f"a gap {name} comes and goes" for name in sorted(gaps ^ more)]
    return "\n".join(one[:200] for one in told[:3])


def _advice(first: Seen, other: Seen) -> str:
    """What to do, by what differs."""
    if other.crash:
        return (
            "what cannot be used of a row is a record without a stamp, and never an exception: read with row.get and "
            "isinstance, add a margin with times.delayed (some sources write 9999-12-31)"
        )
    if {"upstream_error"} & (set(first.gap_types) ^ set(other.gap_types)):
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
