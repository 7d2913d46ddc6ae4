"""Checks of replies that cannot be used: odd bodies, HTTP errors, and pages without end."""

from __future__ import annotations

from typing import Any

from pit_fetch.testing.case import Case, ObservedRun, failure, request_key
from pit_fetch.testing.comparison import CANARY
from pit_fetch.testing.documents import node_at
from pit_fetch.testing.drift import TOLERANT, check_not_worse
from pit_fetch.testing.recording import RecordedReply, ReplyRow, edited
from pit_fetch.testing.runner import observe
from pit_fetch.testing.server import Response
from pit_fetch.transport import HttpRequest


def check_odd_bodies(recording: RecordedReply) -> None:
    """Check bodies that are not a reply: no crash, no new item, and no text of the body in the output."""
    case, baseline = recording.case, recording.baseline
    for label, body in _odd_bodies(case.reply).items():
        advice = (
            f'decode with pit_fetch.wire.lenient_json, check the shape, and raise UpstreamError("malformed"): {label}'
        )
        for run in (
            observe(case, case.now, wire=lambda request, made, body=body: Response(body, made.status)),  # type: ignore[misc]
            observe(case, case.now, reply=body or b" ", offline=True),
        ):
            check_not_worse(baseline, run, f"the body is {label}", advice)
            _check_not_repeated(run, f"the body is {label}")


def check_errors(recording: RecordedReply) -> None:
    """Check HTTP errors: no crash, no items, no text of the server, and a gap that reports the failure."""
    case, baseline = recording.case, recording.baseline
    for status in (400, 401, 403, 404, 418, 429, 500):
        for text in ("", f"<html>{CANARY}</html>", f'{{"error": "{CANARY}", "message": ["{CANARY}"]}}', "null"):
            body = text.encode()
            run = observe(case, case.now, wire=lambda request, made, s=status, b=body: Response(b, s))  # type: ignore[misc]
            event = f"the server answers with HTTP {status} and {body[:24]!r}"
            check_not_worse(baseline, run, event, "check reply.status before the body is read")
            _check_not_repeated(run, event)
            if status == 500 and run.exchanges:
                _check_reported(run, f"when {event}, the answer does not say so: it reads as if nothing were public")
    first, *others = baseline.requests or [("", "", None)]
    later = {other for other in others if other[0] == first[0] and other != first}
    if later:
        run = observe(
            case, case.now, wire=lambda request, made: Response(b"", 500) if request_key(request) in later else made
        )
        if later & {*run.requests}:
            _check_reported(run, "when a later page fails with HTTP 500, the answer reads as if there were no more")


def check_paging(recording: RecordedReply) -> None:
    """Check that the provider leaves a server that gives the same full page for ever, before any deadline."""
    case, rows = recording.case, recording.rows
    longest = max({row.container for row in rows}, key=lambda path: sum(row.container == path for row in rows))
    page = edited(case, lambda tree: _fill(tree, [row for row in rows if row.container == longest], case))
    first: dict[str, Response] = {}  # by path

    def repeat(request: HttpRequest, made: Response) -> Response:
        return first.setdefault(request.path, made)

    patient = case.at_leisure(case.max_requests + 2 * min(case.provider.page_size, 1_000))
    for reply in (case.reply, page):
        first.clear()
        run = observe(patient, case.now, reply=reply, wire=repeat)
        if run.asked_too_often:
            raise failure(
                f"a server that repeats one page is asked more than {patient.max_requests} times",
                "let paging.numbered or paging.follow run the loop: the framework then sees that pages repeat "
                '(or raise UpstreamError("paging") when a page brings nothing new)',
            )
        if run.crash:
            raise failure(f"the provider fails when a page repeats itself ({run.crash})", TOLERANT)


def _check_reported(run: ObservedRun, problem: str) -> None:
    if not {"upstream_error", "truncated"} & set(run.gap_types):
        raise failure(
            problem,
            "let UpstreamError pass (wire.body_of raises it), and catch nothing that you cannot mend: a source that "
            "failed is not one that has nothing",
        )


def _check_not_repeated(run: ObservedRun, event: str) -> None:
    if CANARY in run.out + run.err:
        raise failure(
            f"when {event}, a text of the server gets out",
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


def _fill(tree: Any, rows: list[ReplyRow], case: Case) -> None:
    """Repeat the rows until they make a full page."""
    container = node_at(tree, rows[0].container)
    if isinstance(container, list):
        originals = list(container)
        while len(container) < min(case.provider.page_size, 1_000):
            container.extend(originals)
        del container[max(len(originals), case.provider.page_size) :]
