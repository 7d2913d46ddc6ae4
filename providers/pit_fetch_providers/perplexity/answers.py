"""An answer of the Agent API: the text, served without a PIT only, and the pages that it cites. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any

from pit_fetch.gaps import Code
from pit_fetch.provider import Query, Record, UpstreamError
from pit_fetch.wire import lenient_json
from pit_fetch_providers.perplexity import pages

SYNTHESIS = "synthesis"


def read(body: bytes, query: Query, received: datetime) -> Iterator[Record]:
    """Yield the answer, stamped with its receipt, in open mode; then each page that it cites, dated like any other.

    Raise UpstreamError if the answer is not complete: a failure may also come with HTTP 200.
    """
    reply = lenient_json(body, 6)  # the notes of a text lie deepest, and pages in between
    output = reply.get("output") if isinstance(reply, dict) else None
    if not isinstance(output, list):
        raise UpstreamError(Code.MALFORMED, problem="it has no output")
    if reply.get("status", "completed") != "completed":
        raise UpstreamError(Code.MALFORMED, problem="the answer is not complete")
    parts = [part for item in _of_type(output, "message") for part in _of_type(item.get("content"), "output_text")]
    cited = list(dict.fromkeys(url for part in parts for url in _urls(part.get("annotations"))))
    if query.open_mode:
        text = "".join(part["text"] for part in parts if isinstance(part.get("text"), str))
        payload = {"record_type": SYNTHESIS, "answer": text, "citations": cited}
        yield Record(_name(query), received, "provider_metadata", payload, at_receipt=True)
    for item in _of_type(output, "search_results"):
        results = item.get("results")
        for record in pages.records(results if isinstance(results, list) else ()):
            if record.id in cited:
                yield record


def _of_type(items: Any, kind: str) -> Sequence[dict[str, Any]]:
    items = items if isinstance(items, list) else []
    return [item for item in items if isinstance(item, dict) and item.get("type") == kind]


def _urls(annotations: Any) -> Iterator[str]:
    for annotation in annotations if isinstance(annotations, list) else ():
        if isinstance(annotation, dict) and isinstance(annotation.get("url"), str):
            yield annotation["url"]


def _name(query: Query) -> str:
    # By the question alone, so that it has one name in every run.
    queries = "\n".join(query.options["query"] or ())
    return f"{query.operation.name}:{sha256(queries.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"
