"""The answer to a call from Python: the requests that its options make, and the envelope of what came.

:func:`fetch` and :func:`answer` take a call as data and the surroundings, and are what the functions of
:mod:`pit_fetch.api`, and the cells of a panel, rest on.
"""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from pit_fetch.courtesy.fronts import in_python
from pit_fetch.engine import settings_files
from pit_fetch.engine.progress import Progress
from pit_fetch.engine.real_runtime import real_runtime
from pit_fetch.engine.report import FetchResult
from pit_fetch.engine.run import run
from pit_fetch.errors import GapError, PitFetchError, TruncatedWarning, UsageError
from pit_fetch.gaps import FAILURES, Code, GapType
from pit_fetch.pipeline.envelope import EnvelopeOptions, PlainEnvelope, build
from pit_fetch.request.audience import CEILING_VARIABLE
from pit_fetch.request.fetch_request import FetchRequest, check_ceiling, from_values
from pit_fetch.request.values import format_value
from pit_fetch.runs.shown import run as run_recorded
from pit_fetch.runtime import Environment, Runtime
from pit_fetch.times import parse_pit

if TYPE_CHECKING:
    from datetime import datetime

    import pandas
    import pyarrow

Options = Mapping[str, object]
# What answers requests: those of a call, the runtime, the progress, the words of the command that adds fields.
Run = Callable[..., FetchResult]

# More than any source has, in as many digits as an option takes.
ALL = 10**12 - 1
# In the place of an instant, for what a source says now. A missing cell of a frame, None, must not mean that.
OPEN = "open"
_NO_PIT = 'pit is missing: give an instant such as "2024-02-15T16:00:00-05:00", or pit="open" for what is said now'


class FetchCall(NamedTuple):
    """A call of :func:`pit_fetch.fetch`, as data: an envelope that has it can be pickled, and still be continued.

    options  those that are given, by name; no iterator, which one request would use up
    on_gap   "raise": a fetch that failed raises; "keep": its envelope reports it in a gap
    bound    variables that bind it besides those of the environment: the ceiling of :func:`pit_fetch.as_of`
    """

    source: str
    options: Options
    on_gap: str = "raise"
    bound: Mapping[str, str] = {}


class Envelope(PlainEnvelope):
    """The result of one fetch. It can be used as a plain dict of ``data`` and ``gaps``; JSON values only.

    ``provenance`` is the question that it answers, and ``call`` the call of :func:`pit_fetch.fetch` that asked it; None
    for an envelope of :func:`pit_fetch.diff` or :func:`pit_fetch.explain`. ``cut`` says why something is missing
    that no limit of the call, or of a settings file, has left out, and what to do; "" if nothing is. They are not part
    of the dict.

    It is true, and its length is 2, whatever it holds: one without items still has gaps to read. What has a dict before
    it, such as ``json.dumps(indent=2)`` and ``match``, takes a dict that is false or of length 0 for ``{}``.
    ``len(envelope.data)`` is the number of items.
    """

    call: FetchCall | None = None
    cut: str = ""

    @property
    def cursor(self) -> str | None:
        """Where the next page begins; None if there is none, or if it cannot be requested."""
        return next((gap["cursor"] for gap in self.gaps if "cursor" in gap), None)

    def raise_for_gaps(self) -> Envelope:
        """Return this envelope. Raise GapError, whose text names the fix, if the fetch failed, wholly or in part."""
        reasons = [gap["reason"] for gap in self.gaps if gap.get("type") in FAILURES]
        if reasons:
            raise GapError(self, [in_python(reason) for reason in reasons])
        return self

    def next(self) -> Envelope | None:
        """Return the page after this one, by the same request; None if this is the last.

        Raises as :func:`pit_fetch.fetch` does.
        """
        call, cursor = self.call, self.cursor
        if call is None or cursor is None:
            return None
        return fetch(call._replace(options={**call.options, "after": cursor}))

    def pages(self) -> Iterator[Envelope]:
        """Yield this envelope and the pages after it. Each is fetched when it is needed."""
        page: Envelope | None = self
        while page is not None:
            yield page
            page = page.next()

    def to_df(self, index: str | Sequence[str] | None = None, question: Sequence[str] = ()) -> pandas.DataFrame:
        """Return the items as a pandas frame, typed by the declared fields; see :mod:`pit_fetch.formats.frames`.

        ``index`` names the column, or the columns, that become the index. ``question`` names what was asked, "pit" and
        options of the call such as "symbol": these columns come first, instead of fields of the same names.
        ``attrs["gaps"]`` holds the gaps. Raises ConfigError if pandas is not installed, KeyError for an option that
        the call does not have.
        """
        from pit_fetch.formats.frames import to_pandas

        return to_pandas(self, index, self._question_values(question))

    def to_arrow(self, question: Sequence[str] = ()) -> pyarrow.Table:
        """Return the items as an Arrow table, with the gaps in its schema's metadata; ``question`` as in :meth:`to_df`.

        Raises ConfigError if pyarrow is not installed.
        """
        from pit_fetch.formats.frames import to_arrow

        return to_arrow(self, self._question_values(question))

    def _question_values(self, names: Sequence[str]) -> dict[str, datetime | str | None]:
        """Return what was asked under these names. Raise KeyError for an option that the call does not have."""
        options = {} if self.call is None else self.call.options
        return {name: self.provenance.pit if name == "pit" else format_value(options[name]) for name in names}

    def __repr__(self) -> str:
        """Return what an interactive Python shows: at most a screen. ``dict(envelope)`` shows everything."""
        import shutil

        from pit_fetch.formats.table import brief

        return brief(self, shutil.get_terminal_size((100, 24)).columns)

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook shows."""
        from pit_fetch.formats.html import fragment

        return fragment(self)


def fetch(call: FetchCall, runtime: Runtime | None = None) -> Envelope:
    """Return the answer to a call, which can be continued. Raises as :func:`pit_fetch.fetch` does."""
    envelope = answer(call, runtime, run_recorded)
    envelope.call = call
    return envelope


def answer(
    call: FetchCall,
    runtime: Runtime | None = None,
    run: Run = run,
    command: str = "",
    pits: Sequence[object] = (),
) -> Envelope:
    """Return the envelope that ``run`` makes of a call: of one request, or of one at each of ``pits``.

    ``command`` is the command that adds fields to the items. A failure raises, unless the call keeps gaps.
    """
    if call.on_gap not in ("raise", "keep"):
        raise UsageError(Code.USAGE, text="on_gap is raise or keep")
    options = call.options
    runtime = real_runtime() if runtime is None else runtime
    try:
        with python_words():
            runtime, settings = settings_files.with_settings(bound_runtime(runtime, call.bound))
            asked: list[Options] = [{**options, "pit": pit} for pit in pits] or [options]
            requests = [request_of(call.source, each, settings, runtime, command) for each in asked]
            envelope = ask(requests, {**settings.options, **options}, runtime, run, command)
    except PitFetchError as error:
        if call.on_gap == "raise":
            raise
        return refusal_envelope(error)
    return envelope if call.on_gap == "keep" else envelope.raise_for_gaps()


def given_options(
    own: Mapping[str, object], further: Mapping[str, object] | None, **named: object
) -> dict[str, object]:
    """Return the options that a call gives. ``...`` and None, except for a limit, were not given."""
    further = further or {}
    given = {name: value for name, value in {**named, **own}.items() if value is not ...}
    twice = next((name for name in further if given.get(name) is not None), None)
    if twice is not None:
        raise UsageError(Code.USAGE, text=f"{twice} is given twice: by name, and in options")
    every = {**given, **further}
    return {
        name: [*value] if isinstance(value, Iterator) else value  # one request would use it up
        for name, value in every.items()
        if value is not ... and (value is not None or name == "limit")
    }


def warn_if_cut(envelope: Envelope) -> Envelope:
    """Return an envelope. Warn the caller of a public function if it was cut otherwise than by a limit of the call."""
    if envelope.cut:
        text = f"{len(envelope.data)} items, and there may be more. {envelope.cut}"
        warnings.warn(TruncatedWarning(text), stacklevel=3)
    return envelope


def bound_runtime(runtime: Runtime, variables: Mapping[str, str]) -> Runtime:
    """Return the runtime with variables that bind a call. Raise UsageError if they would lift its ceiling."""
    if not variables:
        return runtime
    check_ceiling(parse_pit(variables[CEILING_VARIABLE]), runtime.environ)
    return runtime._replace(environ=Environment({**runtime.environ, **variables}))


def ask(
    requests: Sequence[FetchRequest], options: Options, runtime: Runtime, run: Run = run, command: str = ""
) -> Envelope:
    """Return the envelope that ``run`` makes of requests. ``options`` say which limit was asked for."""
    argv = shlex.split(requests[-1].canonical) if command else ()
    return envelope_of(run(*requests, runtime, Progress(), argv), options)


def envelope_of(result: FetchResult, options: Options) -> Envelope:
    """Return the envelope of a result. ``options`` say which limit was asked for."""
    plain = result.envelope
    envelope = Envelope(plain.data, plain.gaps, plain.provenance)
    envelope.limited = _limit_reason(result, options)
    envelope.cut = _cut_reason(result, options, envelope.limited)
    return envelope


@contextmanager
def python_words() -> Iterator[None]:
    """Let the text of an error name options as a call in Python writes them."""
    try:
        yield
    except PitFetchError as error:
        error.args = (in_python(str(error)),)
        raise


def _limit_reason(result: FetchResult, options: Options) -> str:
    """Return the reason of the gap that a limit among the options has caused; "" without one."""
    is_given = options.get("limit") is not None
    return next((gap.reason for gap in result.gaps if is_given and gap.is_by_limit), "")


def _cut_reason(result: FetchResult, options: Options, limited: str) -> str:
    """Return why an answer was cut otherwise than by a limit among the options, and what to do; "" if it was not."""
    limit = options.get("limit", ...)
    for row in result.envelope.gaps:
        if row["type"] == GapType.TRUNCATED and row["reason"] != limited:
            # None: the answer was too long, which shows only when it is written.
            gap = next((gap for gap in result.gaps if gap.reason == row["reason"]), None)
            advice = "limit=None" if gap else "max_chars=0"
            is_given = gap and limit is None
            reason = in_python(row["reason"])
            return reason if is_given else f"{reason} For all of them, give {advice}."
    return ""


def refusal_envelope(error: PitFetchError) -> Envelope:
    """Return the envelope that says why nothing was asked."""
    plain = build([], [error.gap], EnvelopeOptions())
    return Envelope(plain.data, [{**gap, "reason": in_python(gap["reason"])} for gap in plain.gaps], plain.provenance)


def request_of(
    source: str, options: Options, settings: settings_files.Settings, runtime: Runtime, command: str = ""
) -> FetchRequest:
    """Return the request of a call's options. Raise UsageError if it cannot be asked."""
    if not isinstance(source, str):
        raise UsageError(
            Code.USAGE, text=f"source is the name of a provider, not a value of type {type(source).__name__}"
        )
    if options.get("pit") is None:
        raise UsageError(Code.USAGE, text=_NO_PIT)
    if isinstance(options["pit"], str) and options["pit"] == OPEN:
        options = {name: value for name, value in options.items() if name != "pit"}
    if options.get("limit", 0) is None:
        options = {"max_pages": ALL, **options, "limit": ALL}
    request = from_values(options, runtime.find(source), runtime.environ, settings.options, command)
    if request.output or request.open:
        name = "output" if request.output else "open"
        raise UsageError(Code.USAGE, text=f"{name} is an option of the command line: write what fetch returns")
    return request._replace(format="json", pretty=False)  # an envelope is not written in any format
