"""Exceptions and exit codes. The class of an exception tells the caller what to do next.

    PitFetchError          carries the gap that the envelope shows
    ├── UsageError         the command line was refused: correct it              exit 2
    ├── ConfigError        something is missing: a key, an operation             exit 3
    ├── InputError         the input file cannot be used                         exit 4
    ├── UpstreamError      the provider failed: try again, or check the key      exit 5
    ├── GapError           from Python only: an answer has a gap that is a failure; ``envelope`` holds the rest
    └── CaptureError       from Python only: a request of a capture failed; ``report`` says which

Providers raise ConfigError and UpstreamError. The framework turns any other exception of a provider into an
``internal_error``.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any

from pit_fetch.gaps import Code, Reason, gap

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "CaptureError",
    "ConfigError",
    "ExitStatus",
    "GapError",
    "InputError",
    "PitFetchError",
    "TruncatedWarning",
    "UpstreamError",
    "UsageError",
]


class ExitStatus(IntEnum):
    OK = 0
    FOUND = 1  # a command (lint, doctor, init) found a problem
    REFUSED = 2
    CONFIG = 3
    INPUT = 4
    UPSTREAM = 5
    HOLE = 6  # a capture does not look back to the one before it
    BUG = 70
    INTERRUPTED = 130
    CLOSED_PIPE = 141


class TruncatedWarning(UserWarning):
    """From Python only: an answer was cut, and nobody had asked for a limit. Not an error of its own."""


class PitFetchError(Exception):
    """An error with its gap: ``code`` is a member of :class:`pit_fetch.gaps.Code`, ``params`` fill in its text."""

    def __init__(self, code: Reason, /, **params: Any) -> None:
        self.gap = gap(code, **params)
        super().__init__(self.gap.reason)


class UsageError(PitFetchError, ValueError):
    """The request itself is wrong."""


class ConfigError(PitFetchError):
    """Something the request needs is not set up."""


class InputError(PitFetchError):
    """The input file is unreadable or malformed."""


class UpstreamError(PitFetchError):
    """The provider did not answer, or not with what it promises."""

    @property
    def is_deadline(self) -> bool:
        """Return whether this fetch has run out of time, so that asking for more is pointless."""
        return self.gap.code.is_out_of_time


class GapError(PitFetchError):
    """A fetch failed, wholly or in part. The text is the reasons of its gaps.

    ``envelope`` is the :class:`pit_fetch.Envelope` of what was fetched. It is a plain value here: the type lies above.
    """

    def __init__(self, envelope: Any, reasons: Sequence[str]) -> None:
        super().__init__(Code.USAGE, text=" ".join(dict.fromkeys(reasons)))
        self.envelope = envelope


class CaptureError(PitFetchError):
    """Some requests of a capture failed or brought nothing. The text names the first of them, with its reason.

    ``report`` is the :class:`pit_fetch.CaptureReport`, a plain value here. What was captured is kept.
    """

    def __init__(self, report: Any) -> None:
        first, count = report.failed[0], len(report.failed)
        text = f"{count} of {len(report.requests)} requests failed or brought nothing; {first.name}: {first.reason}"
        super().__init__(Code.USAGE, text=text)
        self.report = report
