"""Checks of replies that cannot be used: odd bodies, HTTP errors, and pages without end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pit_fetch.testing.case import Case, Seen, failure
from pit_fetch.testing.comparison import CANARY
from pit_fetch.testing.documents import at
from pit_fetch.testing.drift import TOLERANT, not_worse
from pit_fetch.testing.recording import Recording, Row, edited
from pit_fetch.testing.runner import look
from pit_fetch.testing.server import Response
from pit_fetch.transport import HttpRequest


def check_odd_bodies(recording: Recording) -> None:
    """Bodies that are not a reply: no crash, nothing new, and nothing of them is repeated."""
    case, seen = recording.case, recording.seen
    for what, body in _odd_bodies(case.reply).items():
        advice = (
            f'decode with pit_fetch.wire.lenient_json, check the shape, and raise UpstreamError("malformed"): {what}'
        )
        for other in (
            look(case, case.now, wire=lambda request, made, body=body: Response(body, made.status)),  # type: ignore[misc]
            look(case, case.now, reply=body or b" ", offline=True),
        ):
            not_worse(seen, other, f"the body is {what}", advice)
            _not_repeated(other, f"the body is {what}")


def check_errors(recording: Recording) -> None:
    """HTTP errors: no crash, no items, and no text of the server."""
    case, seen = recording.case, recording.seen
    for status in (400, 401, 403, 404, 418, 429, 500):
        for text in ("", f"<html>{CANARY}</html>", f'{{"error": "{CANARY}", "message": ["{CANARY}"]}}', "null"):
            body = text.encode()
            other = look(case, case.now, wire=lambda request, made, s=status, b=body: Response(b, s))  # type: ignore[misc]
            what = f"the server answers with HTTP {status} and {body[:24]!r}"
            not_worse(seen, other, what, "check reply.status before the body is read")
            _not_repeated(other, what)
            if status == 500 and other.exchanges:
                _is_told(other, f"when {what}, the answer does not say so: it reads as if nothing were public")
    first, *others = [_address(request) for request, _ in seen.exchanges] or [()]
    later = {one for one in others if one[0] == first[0] and one != first}
    if later:
        other = look(
            case, case.now, wire=lambda request, made: Response(b"", 500) if _address(request) in later else made
        )
        if any(_address(request) in later for request, _ in other.exchanges):
            _is_told(other, "when a later page fails with HTTP 500, the answer reads as if there were no more")


def _address(request: HttpRequest) -> tuple[object, ...]:
    return request.path, tuple(sorted(request.query.items())), request.body


def _is_told(other: Seen, what: str) -> None:
    if not {"upstream_error", "truncated"} & set(other.gap_types):
        raise failure(
            what,
            "let UpstreamError pass (wire.body_of raises it), and catch nothing that you cannot mend: a source that "
            "failed is not one that has nothing",
        )


def check_paging(recording: Recording) -> None:
    """A server that gives the same full page for ever is left, and not by the deadline."""
    case, rows = recording.case, recording.rows
    longest = max({row.container for row in rows}, key=lambda path: sum(row.container == path for row in rows))
    page = edited(case, lambda tree: _fill(tree, [row for row in rows if row.container == longest], case))
    first: dict[str, Response] = {}

    def again(request: HttpRequest, made: Response) -> Response:
        return first.setdefault(request.path, made)

    for reply in (case.reply, page):
        first.clear()
        # Without a deadline: a slow host must not hide the loop.
        patient = replace(
            case.asking(timeout=86_400), max_requests=case.max_requests + 2 * min(case.provider.page_size, 1_000)
        )
        other = look(patient, case.now, reply=reply, wire=again)
        if other.asked_too_often:
            raise failure(
                f"a server that repeats one page is asked more than {patient.max_requests} times",
                "let paging.numbered or paging.follow run the loop: the framework then sees that pages repeat "
                '(or raise UpstreamError("paging") when a page brings nothing new)',
            )
        if other.crash:
            raise failure(f"the provider fails when a page repeats itself ({other.crash})", TOLERANT)


def _not_repeated(other: Seen, what: str) -> None:
    if CANARY in other.out + other.err:
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
