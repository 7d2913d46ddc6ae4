"""The results of a capture, and what it tells whoever watches: a line a request, a closing summary, metrics.

>>> began = datetime.fromisoformat("2024-02-15T21:00:00+00:00")
>>> summary = summarize([CaptureResult("AAPL", "fred", "--source fred", "captured")] * 2, began, began)
>>> print(metrics(summary, "watchlist.toml").splitlines()[2])
pit_fetch_capture_requests{list="watchlist.toml",status="captured"} 2
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Literal, NamedTuple

from pit_fetch.support.version import __version__
from pit_fetch.transport import HttpReply, HttpRequest, Transport, TransportError

# How a log names the states of requests. One that brought nothing counts as failed, and its error says so.
STATUSES = {"captured": "captured", "held": "held", "failed": "failed", "empty": "failed", "not asked": "not_asked"}
State = Literal["captured", "empty", "held", "failed", "not asked"]


class CaptureResult(NamedTuple):
    """The result of a request. ``items`` is the number of public items; None if the source was not asked.

    reason   why it failed or is empty, or why the source returned less than was requested
    missing  what came since the last capture, and is not in this one
    note     what a later question has to know
    bytes    of the bodies received, in so many ``seconds``
    retries  how often something was asked again, by the status or fault before
    """

    name: str
    source: str
    request: str
    state: State
    items: int | None = None
    exchanges: int = 0
    reason: str = ""
    missing: str = ""
    note: str = ""
    bytes: int = 0
    seconds: float = 0.0
    retries: Mapping[str, int] = {}


class Traffic:
    """What one request exchanged with its hosts, as a transport between it and the network.

    bytes    of all bodies received
    retries  how often a request was sent again, by the status or the fault of the reply before
    """

    def __init__(self, inner: Transport) -> None:
        self.inner, self.bytes, self.retries = inner, 0, Counter[str]()
        self._last: tuple[object, str] = None, ""

    def send(self, request: HttpRequest) -> HttpReply:
        same = request.method, request.url, request.params, request.body
        if self._last[0] == same:
            self.retries[self._last[1]] += 1
        try:
            reply = self.inner.send(request)
        except TransportError as error:
            self._last = same, error.fault
            raise
        self._last = same, str(reply.status)
        self.bytes += len(reply.body)
        return reply


def summarize(
    results: Iterable[CaptureResult], started: datetime, ended: datetime, without_result: int = 0
) -> dict[str, Any]:
    """Return the sums of a capture as JSON values: how many requests had each status, retries by cause, and so on.

    ``holes`` are the requests that do not look back as far as their last capture. Requests ``without_result`` were not
    asked.
    """
    results, retries = list(results), Counter[str]()
    for result in results:
        retries.update(result.retries)
    statuses = Counter(STATUSES[result.state] for result in results)
    statuses["not_asked"] += without_result
    return {
        **{status: statuses[status] for status in STATUSES.values()},
        "exchanges": sum(result.exchanges for result in results),
        "bytes": sum(result.bytes for result in results),
        "retries": dict(retries),
        "holes": sum(bool(result.missing) for result in results),
        "seconds": round((ended - started).total_seconds(), 3),
        "started": started.isoformat(),
        "ended": ended.isoformat(),
        "version": __version__,
    }


def in_words(summary: Mapping[str, Any]) -> str:
    """Return the counts of a summary for people, on one line."""
    counts = {name: summary[name] for name in ("captured", "held", "failed", "not_asked", "holes")}
    return ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items() if count) or "nothing"


def row(result: CaptureResult) -> str:
    """Return the line of a log about one request."""
    fields = {
        "request": result.request,
        "name": result.name,
        "status": STATUSES[result.state],
        "exchanges": result.exchanges,
        "bytes": result.bytes,
        "seconds": round(result.seconds, 3),
        "retries": dict(result.retries),
        "error": result.reason if result.state not in ("captured", "held") else "",
        "hole": result.missing,
    }
    return json.dumps(fields) + "\n"


def metrics(summary: Mapping[str, Any], name: str) -> str:
    """Return a summary in the text format of Prometheus; ``name`` is that of the list."""
    label = f"list={json.dumps(name)}"
    requests = {f'{label},status="{status}"': summary[status] for status in dict.fromkeys(STATUSES.values())}
    causes = {f'{label},cause="{cause}"': count for cause, count in sorted(summary["retries"].items())}
    began, ended = (datetime.fromisoformat(summary[name]).timestamp() for name in ("started", "ended"))
    families = {
        "requests": ("Requests of the last capture, by what became of them.", requests),
        "exchanges": ("HTTP exchanges of the last capture.", {label: summary["exchanges"]}),
        "bytes": ("Bytes of the bodies that it received.", {label: summary["bytes"]}),
        "retries": ("Requests that it sent again, by cause.", causes),
        "holes": ("Requests that do not look back to their last capture.", {label: summary["holes"]}),
        "seconds": ("How long it took.", {label: summary["seconds"]}),
        "started_timestamp_seconds": ("When it began.", {label: began}),
        "ended_timestamp_seconds": ("When it ended.", {label: ended}),
        "info": ("The version that made it.", {f'{label},version="{summary["version"]}"': 1}),
    }
    lines = []
    for family, (about, values) in families.items():
        full = f"pit_fetch_capture_{family}"
        lines += [f"# HELP {full} {about}", f"# TYPE {full} gauge"]
        lines += [f"{full}{{{labels}}} {value}" for labels, value in values.items()]
    return "\n".join(lines) + "\n"
