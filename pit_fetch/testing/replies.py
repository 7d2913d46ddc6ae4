"""Checks of replies that are not what they were: changed fields, odd bodies, HTTP errors, pages without end."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from string import Formatter
from traceback import walk_tb
from typing import Any

from pit_fetch.errors import UpstreamError
from pit_fetch.gaps import CUTS
from pit_fetch.testing.comparison import CANARY
from pit_fetch.testing.documents import (
    JSON,
    Path,
    TreeNode,
    decode,
    encode_like,
    field_name,
    fields_in,
    format_of,
    node_at,
)
from pit_fetch.testing.findings import Findings, edited, field_of, observe_world, repeat
from pit_fetch.testing.observe import ObservedRun, observe, substitute
from pit_fetch.testing.records import crashed
from pit_fetch.testing.report import failure
from pit_fetch.testing.server import Response
from pit_fetch.testing.source import request_key
from pit_fetch.testing.timestamps import less_precise
from pit_fetch.testing.worlds import GONE, other_values
from pit_fetch.transport import HttpRequest

# What happens to a field, in words, and what it then holds in each row.
_Changes = Iterator[tuple[str, list[Any]]]

# After these nobody can say that there is nothing; some sources have nothing for a 400 or a 403, and all for a 404.
_FAILED = (401, 418, 500)
_ERROR = "an error object"
# Bodies that are no document at all, so that what they hold cannot be read row by row.
_NO_REPLY = ("an HTML page", "cut in the middle", "zero bytes")
_ODD_BODIES = {
    "empty": b"",
    "an HTML page": f"<!DOCTYPE html><html><title>{CANARY}</title></html>".encode(),
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
    _ERROR: f'{{"error": {{"message": "{CANARY}"}}}}'.encode(),
    "no UTF-8": b'{"a": "\xff\xfe"}',
    "zero bytes": b"\0" * 64,
}


def check_drift(findings: Findings) -> None:
    """Check each field missing and retyped: no crash, no earlier stamp, no item that was not served before."""
    _check_fields(findings, partial(_drifted, findings), "read-tolerantly")


def check_imprecise(findings: Findings) -> None:
    """Check that a stamp with less in it (no offset, no clock) never means an earlier instant."""
    _check_fields(findings, partial(_imprecise, findings), "latest-instant")


def check_odd_bodies(findings: Findings) -> None:
    """Check bodies that are not a reply: no crash, no new item, and no text of the body in the output."""
    case, whole = findings.case, findings.case.source.recorded.body
    documents = [made.body for _, made in findings.baseline.exchanges]
    containers = [node_at(findings.tree, path) for path in findings.containers]
    # Broken, one JSON document with its rows in lists has no rows at all.
    is_document = (
        bool(documents)
        and all(format_of(body) is JSON for body in documents)
        and all(isinstance(node, list) for node in containers)
    )
    # An error object in the place of another object: where the reply is a list or a table, it may be an empty one.
    holds_rows = all(format_of(body) is not None and type(decode(body)) is dict for body in documents)
    in_objects = holds_rows and all(len(path) > 1 for path in findings.containers)
    for label, body in {**_ODD_BODIES, "cut in the middle": whole[: len(whole) // 2]}.items():
        must_tell = (label == _ERROR and in_objects) or (label in _NO_REPLY and is_document)
        for run in (
            observe(case, case.now, wire=lambda request, made, body=body: Response(body, made.status)),  # type: ignore[misc]
            observe(case, case.now, saved=body or b" ", offline=True),
        ):
            _check_failure(findings, run, f"the body is {label}", "decode-with-care", must_tell)


def check_errors(findings: Findings) -> None:
    """Check HTTP errors: no crash, no items, no text of the server, and a gap that reports the failure."""
    case = findings.case
    for status in (400, 401, 403, 404, 418, 429, 500):
        for text in ("", f"<html>{CANARY}</html>", f'{{"error": "{CANARY}", "message": ["{CANARY}"]}}', "null"):
            run = observe(case, case.now, wire=substitute(Response(text.encode(), status)))
            event = f"the server answers with HTTP {status} and {text.encode()[:24]!r}"
            _check_failure(findings, run, event, "check-the-status", status in _FAILED)
    of_list = [request for request, _ in findings.baseline.exchanges if not case.source.is_page_of_row(request)]
    later = {request_key(request) for request in of_list if request.path == of_list[0].path} - {
        *map(request_key, of_list[:1])
    }
    if later:
        run = observe(case, case.now, wire=substitute(Response(b"", 500), later))
        if later & {*run.requests}:
            _check_reported(run, "when a later page fails with HTTP 500, the answer reads as if there were no more")


def check_paging(findings: Findings) -> None:
    """Check that the provider leaves a server that gives the same full page for ever, before any deadline."""
    case, size = findings.case, min(findings.case.provider.page_size, 1_000)
    longest = max(findings.containers, key=lambda path: sum(row.container == path for row in findings.rows))
    patient = case.at_leisure(case.max_requests + 2 * size)
    for world in (case.source.recorded, edited(case, partial(repeat, container=longest, size=size))):
        first: dict[str, Response] = {}  # by path
        run = observe(
            patient,
            case.now,
            world=world,
            wire=lambda request, made, first=first: first.setdefault(request.path, made),  # type: ignore[misc]
        )
        if run.asked_too_often:
            problem = f"a server that repeats one page is asked more than {patient.max_requests} times"
            raise failure(problem, "pages-without-end")
        if run.crash:
            raise failure(f"the provider fails when a page repeats itself: {run.crash}", "read-tolerantly")


def _check_fields(findings: Findings, changes: Callable[[Sequence[Any], Any, Path], _Changes], advice: str) -> None:
    """Check ``changes`` of each field, in the first five bodies that were served, by what it is like in all of them."""
    case = findings.case
    addresses = {made.body: case.source.find(request) for request, made in findings.baseline.exchanges}
    bodies = [body for body in addresses if format_of(body)]
    trees, tried = [decode(body) for body in bodies], set()
    for body in bodies[:5]:
        address = addresses[body]
        for pattern in dict.fromkeys(node.pattern for node in fields_in(decode(body))):
            kinds = frozenset(type(node.value) for node in _nodes(decode(body), pattern))
            # Once for each document, and again where a later page has something else there.
            field = (address.key if address else "", pattern, kinds)
            if field in tried:
                continue
            tried.add(field)
            for words, values in changes(trees, decode(body), pattern):
                tree = decode(body)
                for node, new in zip(_nodes(tree, pattern), values, strict=True):
                    if new is GONE:
                        del node.parent[node.key]
                    else:
                        node.parent[node.key] = new
                try:
                    wire = partial(_exchanged, body, encode_like(body, tree))
                except (ValueError, TypeError):
                    continue  # the format cannot express the change: a typed column holds no other type
                if run := observe_world(case, case.now, wire=wire):
                    _check_not_worse(findings, run, f"{field_name(pattern)} {words}", advice)


def _exchanged(old: bytes, new: bytes, request: HttpRequest, made: Response) -> Response:
    return replace(made, body=new) if made.body == old else made


def _nodes(tree: Any, pattern: Path) -> list[TreeNode]:
    return [node for node in fields_in(tree) if node.pattern == pattern]


def _imprecise(findings: Findings, trees: Sequence[Any], tree: Any, pattern: Path) -> _Changes:
    """Yield forms with less in them for every stamp."""
    form, nodes = findings.form(field_of(pattern)), _nodes(tree, pattern)
    forms = [list(less_precise(node.value, form)) for node in nodes]
    for number in range(max(map(len, forms))):
        less = [form[number] if number < len(form) else node.value for node, form in zip(nodes, forms, strict=True)]
        yield f"reads {next(form[number] for form in forms if number < len(form))!r}", less


def _drifted(findings: Findings, trees: Sequence[Any], tree: Any, pattern: Path) -> _Changes:
    """Yield what can happen to a field. What the source itself sends there, on whatever page, is no drift."""
    nodes = _nodes(tree, pattern)
    known = [node.value for other in trees for node in _nodes(other, pattern)]
    parents = [node.parent for other in trees for node in fields_in(other) if node.pattern[:-1] == pattern[:-1]]
    if all(pattern[-1] in parent for parent in parents):  # else the recording has rows without the field
        yield "is missing", [GONE] * len(nodes)
    ids = {version.id for version in findings.baseline.versions}
    values = [_other_types(findings, node, known) for node in nodes]
    turns = [
        [own[(first + place) % len(own)] for place, own in enumerate(values)]  # another one in each row
        for first in range(0, max(map(len, values)), len(nodes))
    ]
    if any(str(node.value) in ids for node in nodes):  # with an id of its own each row would be an item more
        turns = [[value] * len(nodes) for value in values[0]]
    for turn in turns:
        yield f"is retyped ({', '.join(f'{value!r:.30}' for value in turn[:8])} …)", turn


def _other_types(findings: Findings, node: TreeNode, known: Sequence[Any]) -> list[Any]:
    """Return what a field could hold in the place of its value, and is in no row of the recording."""
    # Another number can be another clock, where the day stands elsewhere.
    is_part = any(node.key in names for names in findings.stamps_in_parts)
    return [
        new
        for new in ([node.value], True, 0, 10**30, [None], *other_values(node.value))
        # A row with a NaN is one that cannot be read, which is another drift.
        if new is not GONE and new == new and not (is_part and type(new) is type(node.value))
        if not any(new is other or (new == other and type(new) is type(other)) for other in known)
    ]


def _check_failure(findings: Findings, run: ObservedRun, event: str, advice: str, must_tell: bool) -> None:
    """Check a run on what is no reply; ``must_tell``: it has to say that the source failed."""
    _check_not_worse(findings, run, event, advice)
    for error in run.raised:
        if isinstance(error, UpstreamError) and (unused := _unused(error, findings)):
            code, lost = error.gap.code, ", ".join(unused)
            problem = (
                f"when {event}, the provider raises UpstreamError(Code.{code.upper()}, …) with {lost}, which is lost"
            )
            raise failure(f'{problem}: its text is "{code.template}"', "reason-that-is-lost")
    if CANARY in run.out + run.err:
        raise failure(f"when {event}, a text of the server gets out", "words-of-your-own")
    if must_tell and run.exchanges:
        _check_reported(run, f"when {event}, the answer does not say so: it reads as if nothing were public")


def _check_not_worse(findings: Findings, run: ObservedRun, event: str, advice: str) -> None:
    """Check a run against the baseline: no crash, no endless asking, no earlier stamp, and at no instant more items."""
    if run.crash:
        raise crashed(run, f"when {event}, the provider fails", advice)
    if run.asked_too_often:
        raise failure(f"when {event}, the provider asks for ever", "pages-without-end")
    known: dict[str, list[datetime]] = defaultdict(list)
    for version in findings.baseline.versions:
        known[version.id].append(version.public_from)
    for item, stamp in run.stamps.items():
        before = known.get(item, [stamp])
        if stamp < max(before) and stamp not in before:
            problem = f"when {event}, item {item!r} counts as public from {stamp} on, not from {max(before)}"
            raise failure(problem, advice)
    new, old = sorted(run.stamps.values()), sorted(version.public_from for version in findings.baseline.versions)
    # Where there are fewer new ones, the old ones that remain may be any, so the earliest pair up.
    if len(new) > len(old) or any(after < before for after, before in zip(new, old, strict=False)):
        raise failure(f"when {event}, items are served that were not served before", advice)


def _unused(error: UpstreamError, findings: Findings) -> list[str]:
    """Return the parameters of an error of the author's own that its reason does not have."""
    last = [frame for frame, _ in walk_tb(error.__traceback__)][-1]
    if not findings.case.state.authors.wrote(str(last.f_globals.get("__name__")), last.f_code.co_filename):
        return []
    known = {name for _, name, _, _ in Formatter().parse(error.gap.code.template)}
    return sorted(error.gap.params.keys() - known - ({"problem"} if "meaning" in known else set()))


def _check_reported(run: ObservedRun, problem: str) -> None:
    if CUTS.isdisjoint(run.gap_types):
        raise failure(problem, "say-that-it-failed")
