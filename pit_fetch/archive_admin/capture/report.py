"""What a capture got, request by request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from pit_fetch.archive_admin.capture.estimate import SourcePlan
from pit_fetch.archive_admin.capture.run import CaptureResult


class CaptureReport(NamedTuple):
    """The report of a capture. ``pandas.DataFrame(report.requests)`` is a frame of it.

    archive   the path of the archive
    requests  the result of each request, in the order of the list
    plan      what was asked of each source, and how long its rates make that take at least
    is_dry    nothing was asked
    """

    archive: str
    requests: tuple[CaptureResult, ...]
    plan: tuple[SourcePlan, ...]
    is_dry: bool = False

    @property
    def failed(self) -> tuple[CaptureResult, ...]:
        """The requests that failed, brought nothing, or were not asked any more. ``missing`` asks for them again."""
        failures = ("failed",) if self.is_dry else ("failed", "not asked", "empty")
        return tuple(result for result in self.requests if result.state in failures)

    @property
    def counts(self) -> Mapping[str, int]:
        """How many requests were captured, were held already, brought nothing, and failed."""
        counts = {state: sum(row.state == state for row in self.requests) for state in ("captured", "empty", "held")}
        return {**counts, "failed": len(self.failed) - counts["empty"]}

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        rows = [result._asdict() for result in self.requests]
        plan = [{**planned._asdict(), "days": planned.days} for planned in self.plan]
        return {"archive": self.archive, **self.counts, "plan": plan, "requests": rows}
