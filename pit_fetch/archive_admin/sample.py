"""The sample archive: what captures and a fetch would have recorded of invented companies.

It is made by the captures and the fetch themselves, with the clock at the instant of each and the bundled replies in
the place of the network. So it is an archive like any other, of the present format.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from pit_fetch.archive_admin.capture import jobs
from pit_fetch.archive_admin.capture.run import Shown
from pit_fetch.archive_admin.maintenance import making
from pit_fetch.archive_admin.operators import VARIABLE
from pit_fetch.engine.progress import Progress
from pit_fetch.engine.run import run
from pit_fetch.request.fetch_request import from_values
from pit_fetch.runtime import Clock, Runtime
from pit_fetch.support.toml import parse_toml
from pit_fetch.transport import HttpReply, HttpRequest, TransportError

# In a wheel beside the packages, in a checkout among the examples.
_PACKAGE = Path(__file__).resolve().parent.parent
_IN_WHEEL = _PACKAGE / "sample_data"
FOLDER = (_IN_WHEEL if _IN_WHEEL.is_dir() else _PACKAGE.parent / "examples" / "sample") / "archive"


class History(NamedTuple):
    """What the sample archive has seen.

    about      says so
    questions  words of the command that it answers, without those that name it
    variables  the keys that its sources want
    visits     what was asked at an instant (``at``): a list to ``capture``, or the ``fetch`` of one question; and the
               file that answered each address (``replies``)
    """

    about: str
    questions: tuple[str, ...]
    variables: Mapping[str, str]
    visits: tuple[Mapping[str, Any], ...]


def history() -> History:
    """Return the bundled history."""
    table = _toml("history.toml")
    return History(table["about"], tuple(table["questions"]), table["variables"], tuple(table["visit"]))


def make(path: str, runtime: Runtime) -> History:
    """Make the archive at ``path``, whole or not at all. Raise ArchiveError if there is a file, and OSError."""
    made = history()
    with making(path) as aside:
        folder = os.path.dirname(aside)
        for visit in made.visits:
            _record(visit, runtime._replace(environ={**made.variables, VARIABLE: aside}, folder=folder))
    return made


def _record(visit: Mapping[str, Any], runtime: Runtime) -> None:
    """Ask what a visit asked, at its instant and of its replies, and record it."""
    at = visit["at"].astimezone(UTC)
    replies = {url: (FOLDER / name).read_bytes() for url, name in visit["replies"].items()}
    clock = Clock(lambda: at, lambda: 0.0, at.timestamp, lambda seconds: None)
    runtime = runtime._replace(clock=clock, transport=_Replies(at, replies))
    if "fetch" in visit:
        options = dict(visit["fetch"])
        request = from_values(options, runtime.find(options.pop("source")), {})
        run(request, runtime, Progress(), ())
    else:
        job = jobs.requests_job(_toml(visit["capture"])["request"], runtime)._replace(
            parallel=1
        )  # always in the order of the list
        jobs.carry_out(job, runtime.environ[VARIABLE], runtime, Shown())


class _Replies(NamedTuple):
    """A transport that has the replies of a visit."""

    at: datetime
    replies: Mapping[str, bytes]

    def send(self, request: HttpRequest) -> HttpReply:
        body = self.replies.get(request.url)
        if body is None:
            raise TransportError("unrecorded")
        return HttpReply(200, {}, body, self.at)


def _toml(name: str) -> dict[str, Any]:
    return parse_toml((FOLDER / name).read_text(encoding="utf-8"))
