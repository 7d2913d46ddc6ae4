"""Checks of replies that are not what they were: changed schemas, odd bodies, errors, endless pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pit_fetch.testing.case import MICROSECOND, Case, Seen, baseline, failure, look
from pit_fetch.testing.dates import less_precise
from pit_fetch.testing.documents import Pattern, Place, at, format_of, name, places
from pit_fetch.testing.rows import Row, edited, rows_of
from pit_fetch.testing.transport import Answer, Request
from pit_fetch.testing.worlds import CANARY

# One value of each JSON type, and numbers that are no time and no size.
_VALUES: tuple[Any, ...] = (None, True, 0, 10**30, "drift", "", [], {}, [None])

_TOLERANT = (
    "read every field as if it could be missing or of another type (row.get, isinstance), "
    'yield available_at=None where the stamp is not what it was, and raise UpstreamError("malformed", problem="…") '
    "where the reply as a whole is"
)


def check_drift(case: Case) -> None:
    """Each field renamed, missing, retyped: no crash, no earlier stamp, no item that was not served before."""
    seen = baseline(case)
    for body in _bodies(seen):
        known = format_of(body)
        if known is None:
            continue
        for pattern in dict.fromkeys(place.pattern for place in places(known.decode(body))):
            for what, change in _changes(_first_value(known.decode(body), pattern)).items():
                tree = known.decode(body)
                for place in [place for place in places(tree) if place.pattern == pattern]:
                    change(place)
                _compare(case, seen, body, known.encode(tree), f"{name(pattern)} is {what}", _TOLERANT)


def check_imprecise(case: Case) -> None:
    """A stamp that says less than it did never means an earlier instant."""
    seen = baseline(case)
    advice = (
        "withhold what cannot be dated (None), or take the latest instant it can mean: "
        "times.end_of_day for a date, times.wall_clock in the zone of the source for a reading without an offset"
    )
    for body in _bodies(seen):
        known = format_of(body)
        if known is None:
            continue
        patterns = dict.fromkeys(place.pattern for place in places(known.decode(body)))
        for pattern in patterns:
            for form in range(3):
                tree, example = known.decode(body), ""
                for place in [place for place in places(tree) if place.pattern == pattern]:
                    forms = list(less_precise(place.parent[place.key]))
                    if form < len(forms):
                        example = place.parent[place.key] = forms[form]
                if example:
                    _compare(case, seen, body, known.encode(tree), f"{name(pattern)} reads {example!r}", advice)


def check_odd_bodies(case: Case) -> None:
    """Bodies that are no reply: no crash, nothing new, and nothing of them is repeated."""
    seen = baseline(case)
    for what, body in _odd_bodies(case.reply).items():
        advice = (
            f'decode with pit_fetch.wire.strict_json, check the shape, and raise UpstreamError("malformed"): {what}'
        )
        for other in (
            look(case, case.now, wire=lambda request, answer, body=body: (answer[0], {}, body)),  # type: ignore[misc]
            look(case, case.now, reply=body or b" ", offline=True),
        ):
            _not_worse(seen, other, f"the body is {what}", advice)
            _not_repeated(other, f"the body is {what}")


def check_errors(case: Case) -> None:
    """HTTP errors: no crash, no items, and no text of the server."""
    seen = baseline(case)
    for status in (400, 401, 403, 404, 418, 429, 500):
        for body in (b"", b"<html>KIT-CANARY</html>", b'{"error": "KIT-CANARY", "message": ["KIT-CANARY"]}', b"null"):
            other = look(case, case.now, wire=lambda request, answer, s=status, b=body: (s, {}, b))  # type: ignore[misc]
            what = f"the server answers with HTTP {status} and {body[:24]!r}"
            _not_worse(seen, other, what, "check reply.status before the body is read")
            _not_repeated(other, what)


def check_paging(case: Case) -> None:
    """A server that gives the same full page for ever is left, and not by the deadline."""
    seen = baseline(case)
    rows = rows_of(case, seen)
    longest = max({row.container for row in rows}, key=lambda path: sum(row.container == path for row in rows))
    page = edited(case, lambda tree: _fill(tree, [row for row in rows if row.container == longest], case))
    first: dict[str, Answer] = {}

    def again(request: Request, answer: Answer) -> Answer:
        return first.setdefault(request.path, answer)

    for reply in (case.reply, page):
        first.clear()
        other = look(case, case.now, reply=reply, wire=again)
        if other.asked_too_often:
            raise failure(
                f"a server that repeats one page is asked more than {case.max_requests} times",
                'keep the ids of the page before, and raise UpstreamError("paging") when a full page brings '
                "nothing new (or follow no next-page token twice)",
            )
        if other.crash:
            raise failure(f"the provider fails when a page repeats itself ({other.crash})", _TOLERANT)


def _bodies(seen: Seen) -> list[bytes]:
    return list(dict.fromkeys(body for _, (_, _, body) in seen.exchanges))[:5]


def _first_value(tree: Any, pattern: Pattern) -> Any:
    return next(place.parent[place.key] for place in places(tree) if place.pattern == pattern)


def _changes(value: Any) -> Mapping[str, Callable[[Place], None]]:
    """What can happen to a field that held ``value``."""

    def rename(place: Place) -> None:
        place.parent[f"{place.key}_drift"] = place.parent.pop(place.key)

    def remove(place: Place) -> None:
        del place.parent[place.key]

    def retype(new: Any) -> Callable[[Place], None]:
        def change(place: Place) -> None:
            place.parent[place.key] = new

        return change

    others = [new for new in _VALUES if type(new) is not type(value) or new in (10**30, "drift")]
    return {
        "renamed": rename,
        "missing": remove,
        "wrapped in a list": lambda place: place.parent.update({place.key: [place.parent[place.key]]}),
        **{f"{new!r} (retyped)": retype(new) for new in others},
    }


def _compare(case: Case, seen: Seen, old: bytes, new: bytes, what: str, advice: str) -> None:
    def wire(request: Request, answer: Answer) -> Answer:
        return (answer[0], answer[1], new) if answer[2] == old else answer

    other = look(case, case.now, wire=wire)
    _not_worse(seen, other, what, advice)
    early = look(case, min(seen.stamps.values()) - MICROSECOND, wire=wire)
    if early.stamps:
        raise failure(
            f"when {what}, item {sorted(early.stamps)[0]!r} is served before anything was public "
            f"(at {min(seen.stamps.values()) - MICROSECOND})",
            advice,
        )


def _not_worse(seen: Seen, other: Seen, what: str, advice: str) -> None:
    """No crash, no endless asking, no earlier stamp, not more items than before at any instant."""
    if other.crash:
        raise failure(f"when {what}, the provider fails: {other.crash}", advice)
    if other.asked_too_often:
        raise failure(f"when {what}, the provider asks for ever", "stop when a page brings nothing new")
    for item, stamp in other.stamps.items():
        before = seen.stamps.get(item)
        if before is not None and stamp < before:
            raise failure(f"when {what}, item {item!r} counts as public from {stamp} on, not from {before}", advice)
    counts = sorted(other.stamps.values()), sorted(seen.stamps.values())
    if len(counts[0]) > len(counts[1]) or any(new < old for new, old in _paired(*counts)):
        raise failure(f"when {what}, items are served that were not served before", advice)


def _paired(new: list[Any], old: list[Any]) -> Iterator[tuple[Any, Any]]:
    """The k-th newest of both: with fewer new ones, the old ones may be any, so the latest pair up."""
    return zip(new, old, strict=False)


def _not_repeated(other: Seen, what: str) -> None:
    if any(CANARY in str(part) for part in other.leaves):
        raise failure(
            f"when {what}, a text of the server gets out",
            "an error is told in words of your own: never put a text of the server into a gap or an exception",
        )


def _odd_bodies(reply: bytes) -> dict[str, bytes]:
    return {
        "empty": b"",
        "an HTML page": f"<!DOCTYPE html><html><title>{CANARY}</title></html>".encode(),
        "cut in the middle": reply[: len(reply) // 2],
        "NaN": b"NaN",
        "an array of NaN": b"[NaN, Infinity]",
        "nested very deeply": b"[" * 100_000,
        "nested very deeply, and closed": b"[" * 5_000 + b"]" * 5_000,
        "null": b"null",
        "a number": b"5",
        "a text": f'"{CANARY}"'.encode(),
        "an empty array": b"[]",
        "an empty object": b"{}",
        "an array of nulls": b"[null]",
        "an array of arrays": b"[[]]",
        "an array of texts": f'["{CANARY}"]'.encode(),
        "an array of empty objects": b"[{}]",
        "an error object": f'{{"error": {{"message": "{CANARY}"}}}}'.encode(),
        "no UTF-8": b'{"a": "\xff\xfe"}',
        "zero bytes": b"\0" * 64,
    }


def _fill(tree: Any, rows: list[Row], case: Case) -> None:
    """Repeats the rows until they make a full page."""
    container = at(tree, rows[0].container)
    if isinstance(container, list):
        originals = list(container)
        while len(container) < min(case.provider.page_size, 1_000):
            container.extend(originals)
        del container[max(len(originals), case.provider.page_size) :]
