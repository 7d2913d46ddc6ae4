"""The functions of the Python API. :mod:`pit_fetch` itself imports them when they are first asked for."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from datetime import datetime
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Unpack

from pit_fetch import answers
from pit_fetch.answers import Envelope, FetchCall, given_options, warn_if_cut
from pit_fetch.engine.real_runtime import real_runtime
from pit_fetch.errors import CaptureError, ConfigError, UsageError
from pit_fetch.gaps import Code
from pit_fetch.request.keywords import FetchOptions, Keywords

if TYPE_CHECKING:
    from pit_fetch.archive_admin.capture.jobs import CaptureReport
    from pit_fetch.panels.panel import Panel

Instant = str | datetime
OnGap = Literal["raise", "keep"]
Frame = TypeVar("Frame")
F = TypeVar("F", bound=Callable[..., object])


def _show_options(function: F) -> F:
    """Name the shared options in a function's signature: an interactive Python does not look into ``own``."""
    signature = inspect.signature(function)
    *named, own = signature.parameters.values()
    options = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=... if name == "limit" else None,
            annotation=kind.__forward_arg__,
        )
        for name, kind in FetchOptions.__annotations__.items()
        if name not in Keywords.__annotations__
    ]
    function.__signature__ = signature.replace(parameters=[*named, *options, own])  # type: ignore[attr-defined]
    return function


@_show_options
def fetch(
    source: str,
    pit: Instant | None = None,
    *,
    after: str | None = None,
    max_chars: int | None = None,
    on_gap: OnGap = "raise",
    options: Mapping[str, object] | None = None,
    **own: Unpack[FetchOptions],
) -> Envelope:
    """Return the gated envelope of one fetch: a dict of ``data`` and ``gaps``, which are also its attributes.

    source     a provider's name or alias
    pit        ISO 8601 with offset or a zone in brackets, or an aware datetime; "open" for what the source says now
    after      the cursor in the ``truncated`` gap of an earlier answer
    max_chars  maximum size of the envelope as JSON; 0 and None mean no limit
    on_gap     "raise": a fetch that failed raises; "keep": its envelope reports it in a gap, as on the command line
    options    further options by name, such as those of a plugin
    own        the options of :class:`pit_fetch.FetchOptions`: those of every source, and the source's own

    Items carry ``available_at`` as ISO 8601 in America/New_York. What an answer cannot show, and where it was cut,
    remain gaps; :attr:`Envelope.is_complete` says whether anything was cut or failed. An answer that was cut by
    anything else than a limit that is given warns with :class:`pit_fetch.TruncatedWarning`. Raises
    :class:`pit_fetch.errors.UsageError` (a ValueError) for a request that is refused, and
    :class:`pit_fetch.errors.GapError`, whose ``envelope`` contains what was fetched, for a missing key, an unusable
    file, a failing provider.
    """
    given = given_options(own, options, pit=pit, after=after, max_chars=max_chars)
    return warn_if_cut(answers.fetch(FetchCall(source, given, on_gap)))


@_show_options
def diff(
    source: str,
    pits: tuple[Instant, Instant],
    *,
    max_chars: int | None = None,
    on_gap: OnGap = "raise",
    options: Mapping[str, object] | None = None,
    **own: Unpack[FetchOptions],
) -> Envelope:
    """Return what became public between two instants, what changed, and what disappeared.

    Each item has a ``change``: "new", "changed" (``before`` contains the earlier values of the fields that differ),
    "repeated" (the same figure, in a later filing) or "gone". Options, errors and warnings are those of :func:`fetch`.
    """
    from pit_fetch.inspect import diff

    given = given_options(own, options, max_chars=max_chars)
    instants = [pits] if isinstance(pits, str) else list(pits)
    if len(instants) != 2 or "pit" in given:
        raise UsageError(Code.USAGE, text="pits is a pair of instants: (earlier, later)")
    return warn_if_cut(answers.answer(FetchCall(source, given, on_gap), None, diff.diff, "diff", instants))


@_show_options
def explain(
    source: str,
    pit: Instant,
    *,
    max_chars: int | None = None,
    on_gap: OnGap = "raise",
    options: Mapping[str, object] | None = None,
    **own: Unpack[FetchOptions],
) -> Envelope:
    """Return each record that the source sent around ``pit``, with its ``verdict``, why, and the rule that dated it.

    It is for operators: it contains what :func:`fetch` withholds, so it is refused under a ceiling and to an agent. It
    looks a day beyond the PIT, or as far as ``date_to``. Options, errors and warnings are those of :func:`fetch`.
    """
    from pit_fetch.inspect import explain

    given = given_options(own, options, pit=pit, max_chars=max_chars)
    return warn_if_cut(answers.answer(FetchCall(source, given, on_gap), None, explain.explain, "explain"))


@_show_options
def panel(
    source: str,
    pits: Instant | Iterable[Instant],
    over: Mapping[str, str | Iterable[object]],
    *,
    options: Mapping[str, object] | None = None,
    **own: Unpack[FetchOptions],
) -> Panel:
    """Return the panel of one question for many subjects as of many instants: each cell is a fetch of its own.

    pits  instants; or a rule: "daily 2024-01..2024-06 16:00[America/New_York]", "weekly fri ..." or "monthly ..." (the
          last day), or "sessions XNYS 2024-01..2024-06 close+15min"; or "@FILE" with one of them a line
    over  values of an option by its name, a list or "@FILE" with one a line: ``{"symbol": ["IBM", "AAPL"]}``. In a CSV
          file with the columns ``from`` and ``to`` a value belongs to the panel on these New York days alone

    Nothing is asked before the panel is iterated over, or turned into a frame. Items are complete unless ``limit`` is
    given. A cell that fails says so in its ``status``, and the others are asked all the same. The further options are
    those of :func:`fetch`. Raises :class:`pit_fetch.errors.UsageError` (a ValueError) for what cannot be asked, and
    under a ceiling: a panel is for operators.
    """
    from pit_fetch.panels.grid import grid_of
    from pit_fetch.panels.panel import Panel

    with answers.python_words():
        grid = grid_of(source, pits, over, {"limit": None, **given_options(own, options)})
    if grid.caution:
        warnings.warn(grid.caution, stacklevel=2)
    return Panel(grid)


@_show_options
def as_of_join(
    frame: Frame,
    source: str,
    *,
    on: str,
    by: str | Mapping[str, str],
    suffix: str = "",
    check: int = 0,
    options: Mapping[str, object] | None = None,
    **own: Unpack[FetchOptions],
) -> Frame:
    """Return a frame of your own, of pandas or Polars, each row with what was public at its own instant.

    on      the column of the instants, which have a time zone
    by      the column of the subjects, by name, or columns and the options that take them: ``{"ticker": "symbol"}``
    fields  of the items; without them, all that are declared
    newest  how many periods of each row, by default 1: the columns of the second have ``_2`` behind their names. An
            operation without periods gives what was released last
    suffix  behind the name of each new column
    check   how many of the cells are asked again, as single fetches

    Rows and columns stay as they are. The new columns are the fields, ``available_at``, and ``status``: "ok",
    "incomplete", "nothing_public", "not_captured", "failed" or "refused". A field that tells series apart, such as
    ``record_type``, can be given as an option. The further options are those of :func:`fetch`. Warns as
    :meth:`Panel.to_df` does. Raises :class:`pit_fetch.errors.UsageError` (a ValueError) for a row without an instant
    or a subject, for a column that the frame has already, for several series, and for what cannot be asked; GapError
    if a check is not passed.
    """
    from pit_fetch.panels.join import Wanted, as_of_join

    given = given_options(own, options)
    fields, newest = own.get("fields"), given.pop("newest", 1)
    given.pop("fields", None)
    if isinstance(newest, bool) or not isinstance(newest, int) or newest < 1:
        raise UsageError(Code.USAGE, text="newest is the number of periods of each row: 1 or more")
    wanted = Wanted([*(fields or ())], newest, suffix)
    with answers.python_words():
        joined: Frame = as_of_join(frame, source, on, {by: by} if isinstance(by, str) else by, wanted, check, given)
    return joined


def capture(
    requests: str | PathLike[str] | Iterable[Mapping[str, object]],
    archive: str | PathLike[str] | None = None,
    *,
    missing: bool = False,
    again: bool = False,
    dry_run: bool = False,
    on_gap: OnGap = "raise",
    on_progress: Callable[[str], None] | None = None,
) -> CaptureReport:
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
    from pit_fetch.archive.store.errors import ArchiveError
    from pit_fetch.archive_admin import operators
    from pit_fetch.archive_admin.capture import jobs
    from pit_fetch.archive_admin.capture.run import Shown

    if on_gap not in ("raise", "keep"):
        raise UsageError(Code.USAGE, text="on_gap is raise or keep")
    if missing and again:
        raise UsageError(Code.USAGE, text="missing and again exclude each other")
    with answers.python_words(), ExitStack() as stack:
        runtime = operators.require_operator(real_runtime(), "capture")
        path = operators.path_of(None if archive is None else fspath(archive), runtime, "archive=PATH")
        shown = Shown() if on_progress is None else Shown(on_progress, on_progress)
        try:
            if isinstance(requests, (str, PathLike)):
                job = stack.enter_context(jobs.file_job(runtime.path(fspath(requests)), runtime))
            elif isinstance(requests, Iterable):
                job = jobs.requests_job(requests, runtime)
            else:
                raise UsageError(Code.USAGE, text="requests are a list of dicts, or the path of a capture file")
            report = jobs.carry_out(job._replace(missing=missing, again=again), path, runtime, shown, is_dry=dry_run)
        except ArchiveError as error:
            raise ConfigError(Code.ARCHIVE_UNUSABLE, problem=error.problem) from error
    if report.failed and on_gap == "raise":
        raise CaptureError(report)
    return report


def sources() -> list[dict[str, Any]]:
    """Return every installed source: names, operations with their rules and fields, options, and which keys are set."""
    from pit_fetch.engine.catalog import describe
    from pit_fetch.engine.registry import listings

    runtime = real_runtime()
    return [describe(listing, runtime.environ, runtime.folder) for listing in listings()]
