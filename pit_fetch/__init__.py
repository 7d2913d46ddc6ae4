"""Fetch what a source had published as of an instant.

>>> import pit_fetch
>>> envelope = pit_fetch.fetch("bz-news-api", pit="2024-02-15T16:00:00-05:00", tickers=["AAPL"])
"""

# Nothing is imported here: with -m, Python still searches the working directory for modules (see __main__.py).
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from pit_fetch.answers import Envelope
    from pit_fetch.api import capture, diff, explain, fetch, panel, sources
    from pit_fetch.archive_admin.capture.jobs import CaptureReport
    from pit_fetch.errors import TruncatedWarning
    from pit_fetch.instants.as_of import AsOf, as_of
    from pit_fetch.panels.panel import Panel
    from pit_fetch.request.keywords import FetchOptions
    from pit_fetch.support.version import __version__

__all__ = [
    "AsOf",
    "CaptureReport",
    "Envelope",
    "FetchOptions",
    "Panel",
    "TruncatedWarning",
    "__version__",
    "as_of",
    "as_of_join",
    "capture",
    "diff",
    "explain",
    "fetch",
    "panel",
    "sources",
]

# Where each name is loaded from when it is asked for; a function, from api.py.
_MODULES = {
    "AsOf": "instants.as_of",
    "CaptureReport": "archive_admin.capture.jobs",
    "Envelope": "answers",
    "FetchOptions": "request.keywords",
    "Panel": "panels.panel",
    "TruncatedWarning": "errors",
    "__version__": "support.version",
    "as_of": "instants.as_of",
}


def __getattr__(name: str) -> "Any":
    if name not in __all__:
        raise AttributeError(name)
    from importlib import import_module

    return getattr(import_module(f"pit_fetch.{_MODULES.get(name, 'api')}"), name)


def __dir__() -> "list[str]":
    return __all__
