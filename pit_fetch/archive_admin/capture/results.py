"""The results of a capture, and what it tells whoever watches: a line a request, a closing summary, metrics.

>>> summary = Summary(started=0, ended=90, version="1.0", captured=2, holes=1, retries={"429": 3})
>>> print(metrics(summary, "watchlist.toml").splitlines()[2])
pit_fetch_capture_requests{list="watchlist.toml",status="captured"} 2
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
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


class Summary(NamedTuple):
    """The sums of a capture. ``started`` and ``ended`` are seconds since 1970, ``retries`` are by cause.

    holes  the requests that do not look back as far as their last capture
    """

    started: float
    ended: float
    version: str = __version__
    captured: int = 0
    held: int = 0
    failed: int = 0
    not_asked: int = 0
    exchanges: int = 0
    bytes: int = 0
    retries: Mapping[str, int] = {}
    holes: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return the summary as JSON values, with instants in ISO 8601."""
        instants = {name: _instant(getattr(self, name)) for name in ("started", "ended")}
        return {**self._asdict(), "seconds": round(self.ended - self.started, 3), **instants}

    @property
    def in_words(self) -> str:
        counts = {name: getattr(self, name) for name in ("captured", "held", "failed", "not_asked", "holes")}
        return ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items() if count) or "nothing"


def summarize(results: Iterable[CaptureResult], started: datetime, ended: datetime) -> Summary:
    """Return the sums of the results of a capture."""
    results, retries = list(results), Counter[str]()
    for result in results:
        retries.update(result.retries)
    statuses = Counter(STATUSES[result.state] for result in results)
    return Summary(
        started.timestamp(),
        ended.timestamp(),
        captured=statuses["captured"],
        held=statuses["held"],
        failed=statuses["failed"],
        not_asked=statuses["not_asked"],
        exchanges=sum(result.exchanges for result in results),
        bytes=sum(result.bytes for result in results),
        retries=dict(retries),
        holes=sum(bool(result.missing) for result in results),
    )


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


def metrics(summary: Summary, name: str) -> str:
    """Return a summary in the text format of Prometheus; ``name`` is that of the list."""
    label = f"list={json.dumps(name)}"
    requests = {f'{label},status="{status}"': getattr(summary, status) for status in dict.fromkeys(STATUSES.values())}
    causes = {f'{label},cause="{cause}"': count for cause, count in sorted(summary.retries.items())}
    families = {
        "requests": ("Requests of the last capture, by what became of them.", requests),
        "exchanges": ("HTTP exchanges of the last capture.", {label: summary.exchanges}),
        "bytes": ("Bytes of the bodies that it received.", {label: summary.bytes}),
        "retries": ("Requests that it sent again, by cause.", causes),
        "holes": ("Requests that do not look back to their last capture.", {label: summary.holes}),
        "seconds": ("How long it took.", {label: round(summary.ended - summary.started, 3)}),
        "started_timestamp_seconds": ("When it began.", {label: summary.started}),
        "ended_timestamp_seconds": ("When it ended.", {label: summary.ended}),
        "info": ("The version that made it.", {f'{label},version="{summary.version}"': 1}),
    }
    lines = []
    for family, (about, values) in families.items():
        full = f"pit_fetch_capture_{family}"
        lines += [f"# HELP {full} {about}", f"# TYPE {full} gauge"]
        lines += [f"{full}{{{labels}}} {value}" for labels, value in values.items()]
    return "\n".join(lines) + "\n"


def write_whole(path: str, text: str) -> None:
    """Write a file in one step: a collector reads the old one or the new one. Raise OSError."""
    with open(f"{path}.unfinished", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(f"{path}.unfinished", path)


def _instant(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()
