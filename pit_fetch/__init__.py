"""Fetch what a source had published as of an instant.

>>> import pit_fetch
>>> envelope = pit_fetch.fetch("bz-news-api", pit="2024-02-15T16:00:00-05:00", tickers=["AAPL"])
"""

# Nothing is imported here: with -m, Python still searches the working directory for modules (see __main__.py).
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import date, datetime
    from os import PathLike
    from types import EllipsisType
    from typing import Any, Literal, Unpack

    from pit_fetch.api import Envelope
    from pit_fetch.archive_admin.capture.jobs import CaptureReport
    from pit_fetch.errors import TruncatedWarning
    from pit_fetch.panels.panel import Panel
    from pit_fetch.request.keywords import Keywords
    from pit_fetch.support.version import __version__

__all__ = [
    "CaptureReport",
    "Envelope",
    "Panel",
    "TruncatedWarning",
    "__version__",
    "capture",
    "diff",
    "explain",
    "fetch",
    "panel",
    "sources",
]


def fetch(
    source: str,
    pit: "str | datetime | None" = None,
    *,
    date_from: "str | date | None" = None,
    date_to: "str | date | None" = None,
    limit: "int | EllipsisType | None" = ...,
    after: "str | None" = None,
    max_pages: "int | None" = None,
    timeout: "float | None" = None,
    evidence: "Literal['proved', 'claimed'] | None" = None,
    input_file: "str | PathLike[str] | None" = None,
    archive: "str | PathLike[str] | None" = None,
    offline: "bool | None" = None,
    fields: "Iterable[str] | None" = None,
    max_chars: "int | None" = None,
    on_gap: "Literal['raise', 'keep']" = "raise",
    options: "Mapping[str, object] | None" = None,
    **own: "Unpack[Keywords]",
) -> "Envelope":
    """Return the gated envelope of one fetch: a dict of ``data`` and ``gaps``, which are also its attributes.

    source   a provider's name or alias
    pit      ISO 8601 with offset or a zone in brackets, or an aware datetime; None is open mode
    on_gap   "raise": a fetch that failed raises; "keep": its envelope reports it in a gap, as on the command line
    limit    without it 50, or what a settings file says; None is all of them, however many requests that takes. An
             answer that was cut by anything else than a limit that is given warns with :class:`TruncatedWarning`
    own      the source's own options with underscores, as ``pit_fetch --source SOURCE --help`` lists them; an option
             that takes several values accepts any iterable of strings
    options  further ones by name, such as those of a plugin

    The others are the command line's options; None stands for one that is not given. Items carry ``available_at`` as
    ISO 8601 in America/New_York. What an answer cannot show, and where it was cut, remain gaps;
    :attr:`Envelope.is_complete` says whether anything was cut or failed. Raises
    :class:`pit_fetch.errors.UsageError` (a ValueError) for a request that is refused, and
    :class:`pit_fetch.errors.GapError`, whose ``envelope`` contains what was fetched, for a missing key, an unusable
    file, a failing provider.
    """
    given = _given(locals())
    from pit_fetch import api

    envelope = api.fetch(source, given, on_gap)
    api.warn_if_cut(envelope)
    return envelope


def diff(
    source: str,
    pits: "tuple[str | datetime, str | datetime]",
    *,
    date_from: "str | date | None" = None,
    date_to: "str | date | None" = None,
    limit: "int | EllipsisType | None" = ...,
    max_pages: "int | None" = None,
    timeout: "float | None" = None,
    evidence: "Literal['proved', 'claimed'] | None" = None,
    input_file: "str | PathLike[str] | None" = None,
    archive: "str | PathLike[str] | None" = None,
    offline: "bool | None" = None,
    fields: "Iterable[str] | None" = None,
    max_chars: "int | None" = None,
    on_gap: "Literal['raise', 'keep']" = "raise",
    options: "Mapping[str, object] | None" = None,
    **own: "Unpack[Keywords]",
) -> "Envelope":
    """Return what became public between two instants, what changed, and what disappeared.

    Each item has a ``change``: "new", "changed" (``before`` contains the earlier values of the fields that differ),
    "repeated" (the same figure, in a later filing) or "gone". Options, errors and warnings are those of :func:`fetch`.
    """
    given = _given(locals())
    from pit_fetch import api

    envelope = api.diff(source, pits, given, on_gap)
    api.warn_if_cut(envelope)
    return envelope


def explain(
    source: str,
    pit: "str | datetime",
    *,
    date_from: "str | date | None" = None,
    date_to: "str | date | None" = None,
    limit: "int | EllipsisType | None" = ...,
    max_pages: "int | None" = None,
    timeout: "float | None" = None,
    evidence: "Literal['proved', 'claimed'] | None" = None,
    input_file: "str | PathLike[str] | None" = None,
    archive: "str | PathLike[str] | None" = None,
    offline: "bool | None" = None,
    fields: "Iterable[str] | None" = None,
    max_chars: "int | None" = None,
    on_gap: "Literal['raise', 'keep']" = "raise",
    options: "Mapping[str, object] | None" = None,
    **own: "Unpack[Keywords]",
) -> "Envelope":
    """Return each record that the source sent around ``pit``, with its ``verdict``, why, and the rule that dated it.

    It is for operators: it contains what :func:`fetch` withholds, so it is refused under a ceiling and to an agent. It
    looks a day beyond the PIT, or as far as ``date_to``. Options, errors and warnings are those of :func:`fetch`.
    """
    given = _given(locals())
    from pit_fetch import api

    envelope = api.explain(source, given, on_gap)
    api.warn_if_cut(envelope)
    return envelope


def panel(
    source: str,
    pits: "str | datetime | Iterable[str | datetime]",
    over: "Mapping[str, str | Iterable[object]]",
    *,
    date_from: "str | date | None" = None,
    date_to: "str | date | None" = None,
    limit: "int | EllipsisType | None" = None,
    max_pages: "int | None" = None,
    timeout: "float | None" = None,
    evidence: "Literal['proved', 'claimed'] | None" = None,
    input_file: "str | PathLike[str] | None" = None,
    archive: "str | PathLike[str] | None" = None,
    offline: "bool | None" = None,
    fields: "Iterable[str] | None" = None,
    options: "Mapping[str, object] | None" = None,
    **own: "Unpack[Keywords]",
) -> "Panel":
    """Return the panel of one question for many subjects as of many instants: each cell is a fetch of its own.

    pits  instants; or a rule: "daily 2024-01..2024-06 16:00[America/New_York]", "weekly fri ..." or "monthly ..." (the
          last day), or "sessions XNYS 2024-01..2024-06 close+15min"; or "@FILE" with one of them a line
    over  values of an option by its name, a list or "@FILE" with one a line: ``{"symbol": ["IBM", "AAPL"]}``. In a CSV
          file with the columns ``from`` and ``to`` a value belongs to the panel on these New York days alone

    Nothing is asked before the panel is iterated over, or turned into a frame. Items are complete unless ``limit`` is
    given. A cell that fails says so in its ``status``, and the others are asked all the same. The further options are
    those of :func:`fetch`. Raises :class:`pit_fetch.errors.UsageError` (a ValueError) for what cannot be asked.
    """
    given = _given(locals())
    from pit_fetch.panels.grid import grid_of
    from pit_fetch.panels.panel import Panel

    return Panel(grid_of(source, pits, over, given))


_NO_OPTIONS = ("source", "pits", "over", "on_gap")


def _given(arguments: "dict[str, Any]") -> "dict[str, object]":
    """Return the options among the arguments of a call, the source's own included. ``...`` and None were not given."""
    named = {name: value for name, value in arguments.items() if name not in _NO_OPTIONS}
    own, further = named.pop("own"), named.pop("options") or {}
    twice = [name for name in further if own.get(name, named.get(name)) not in (None, ...)]
    if twice:
        from pit_fetch.errors import UsageError
        from pit_fetch.gaps import Code

        raise UsageError(Code.USAGE, text=f"{twice[0]} is given twice: by name, and in options")
    every = {**named, **own, **further}
    return {name: value for name, value in every.items() if value is not ... and (value is not None or name == "limit")}


def capture(
    requests: "str | PathLike[str] | Iterable[Mapping[str, object]]",
    archive: "str | PathLike[str] | None" = None,
    *,
    missing: bool = False,
    again: bool = False,
    dry_run: bool = False,
    on_gap: "Literal['raise', 'keep']" = "raise",
    on_progress: "Callable[[str], None] | None" = None,
) -> "CaptureReport":
    """Ask for everything on a list, record it in the archive, and return what was captured, request by request.

    requests     a file as ``pit_fetch capture`` takes it, or dicts: ``{"source": "fred", "series_id": "GDP"}``; with
                 ``"over": {"symbol": symbols}`` in it, one request for each value
    archive      its path; None is the one of the settings. It is created if missing
    missing      ask only for what the last run did not get
    again        ask for everything, even if the last run was broken off
    dry_run      ask for nothing: ``plan`` says how many calls it would take, and how long
    on_gap       "raise": :class:`pit_fetch.errors.CaptureError` if a request failed or brought nothing, once all were
                 asked; "keep": ``failed`` lists them. What was captured is kept
    on_progress  called with the plan, and before each request with how far it is

    For operators: it is refused under a ceiling. Raises :class:`pit_fetch.errors.UsageError` (a ValueError) for a
    request that cannot be used, OSError for such a file, :class:`pit_fetch.errors.ConfigError` for such an archive.
    """
    from pit_fetch import api

    return api.capture(
        requests,
        archive,
        missing=missing,
        again=again,
        dry_run=dry_run,
        on_gap=on_gap,
        on_progress=on_progress,
    )


def sources() -> "list[dict[str, Any]]":
    """Return every installed source: names, operations with their rules and fields, options, and which keys are set."""
    from pit_fetch import api

    return api.sources()


# What is loaded only when it is asked for, by its module.
_MODULES = {
    "CaptureReport": "pit_fetch.archive_admin.capture.jobs",
    "Envelope": "pit_fetch.api",
    "Panel": "pit_fetch.panels.panel",
    "TruncatedWarning": "pit_fetch.errors",
    "__version__": "pit_fetch.support.version",
}


def __getattr__(name: str) -> "Any":
    if name not in _MODULES:
        raise AttributeError(name)
    from importlib import import_module

    return getattr(import_module(_MODULES[name]), name)
