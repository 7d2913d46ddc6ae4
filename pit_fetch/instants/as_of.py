"""One instant as an object: whatever is asked of it is answered as of then, or refused.

It is data, a few variables that bind each of its calls as those of the environment do. So no call can be answered as of
another's instant, however many there are in the threads and tasks of a process.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Unpack

from pit_fetch import answers, runs
from pit_fetch.answers import Envelope, FetchCall, given_options, warn_if_cut
from pit_fetch.engine import settings_files
from pit_fetch.engine.real_runtime import real_runtime
from pit_fetch.errors import ConfigError, UsageError
from pit_fetch.gaps import Code
from pit_fetch.mcp.tools import Shape
from pit_fetch.request import audience
from pit_fetch.request import evidence as grades
from pit_fetch.request.keywords import FetchOptions
from pit_fetch.request.options import COMMON_OPTIONS
from pit_fetch.request.values import format_value, parse_value, plain_value
from pit_fetch.runtime import Runtime

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor
    from datetime import datetime
    from typing import Self

    from pit_fetch.mcp.calls import Server

    Instant = str | datetime

Path = str | PathLike[str]
OnGap = Literal["raise", "keep"]
Style = Literal["plain", "openai", "anthropic", "langchain", "pydantic-ai"]
T = TypeVar("T")

# So many fetches of one instant run at once; each host's rate bounds them further.
CONCURRENT_FETCHES = 32

_ENDED = "this instant has ended: ask inside its with block"
_PIT = next(option for option in COMMON_OPTIONS if option.name == "pit")


class InstantOptions(FetchOptions, total=False):
    """The options of a fetch, and an instant before that of the block, or the cursor of an earlier answer."""

    pit: Instant
    after: str
    max_chars: int | None


@answers.python_words()
def as_of(
    pit: Instant,
    *,
    archive: Path | None = None,
    offline: bool = False,
    evidence: str | None = None,
    record: Path | None = None,
    run: str | None = None,
    step: str | None = None,
    agent: str | None = None,
    sources: Iterable[str] | None = None,
) -> AsOf:
    """Return an instant, to be used in a ``with`` or an ``async with``: what is asked of it is answered as of then.

    pit       ISO 8601 with offset or a zone in brackets, or an aware datetime
    archive   the path of the archive that records and answers; None is the one of the settings
    offline   the archive alone answers
    evidence  "claimed", or a grade by source ("yahoo=claimed"), as in PIT_FETCH_EVIDENCE
    record    the path of the file that every answer is appended to before it is shown; None is PIT_FETCH_RECORD
    run, step, agent  whose calls these are, in the record; None is PIT_FETCH_RUN, PIT_FETCH_STEP, PIT_FETCH_AGENT
    sources   the only sources that may be asked, or the one; None for all

    It is a ceiling: a later ``pit``, open mode, and a name that only a list of today explains are refused. Raises
    :class:`pit_fetch.errors.UsageError` (a ValueError) for an instant that cannot be used, such as one after the
    environment's own ceiling, and for a source that is not installed.
    """
    runtime = settings_files.with_settings(real_runtime())[0]
    text = format_value(plain_value(_PIT, "" if pit is None else pit))  # a missing cell
    variables = {audience.CEILING_VARIABLE: text}
    paths = {"PIT_FETCH_ARCHIVE": archive, runs.RECORD_VARIABLE: record}
    variables |= {name: runtime.path(fspath(path)) for name, path in paths.items() if path is not None}
    names = {runs.RUN_VARIABLE: run, runs.STEP_VARIABLE: step, runs.AGENT_VARIABLE: agent}
    variables |= {name: str(value) for name, value in names.items() if value is not None}
    if offline:
        variables[audience.OFFLINE_VARIABLE] = "1"
    if evidence is not None:
        if grades.parse_grades(evidence) is None:
            raise UsageError(Code.EVIDENCE_MALFORMED)
        if audience.is_for_an_agent(runtime.environ) and evidence != runtime.environ.get(grades.VARIABLE):
            raise UsageError(Code.EVIDENCE_NOT_GRANTED, source="SOURCE")
        variables[grades.VARIABLE] = evidence
    parse_value(_PIT, text)  # refuses what is no instant
    answers.bound_runtime(runtime, variables)  # and one after the environment's ceiling
    chosen = None if sources is None else tuple(dict.fromkeys(runtime.find(name).name for name in _names(sources)))
    return AsOf(text, variables, chosen)


def _names(sources: Iterable[str]) -> list[str]:
    return [sources] if isinstance(sources, str) else list(sources)


class AsOf:
    """An instant that was made by :func:`pit_fetch.as_of`. Once its block is left, it answers nothing more.

    pit        the instant, as it was given
    sources    the names of the only sources that may be asked; None for all
    variables  what binds the commands of another process in the same way, as its environment
    """

    def __init__(self, pit: str, variables: Mapping[str, str], sources: tuple[str, ...] | None) -> None:
        self.pit, self.sources = pit, sources
        self.variables = variables
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._threads: ThreadPoolExecutor | None = None

    def fetch(
        self,
        source: str,
        *,
        on_gap: OnGap = "raise",
        options: Mapping[str, object] | None = None,
        **own: Unpack[InstantOptions],
    ) -> Envelope:
        """Return the envelope of one fetch, as :func:`pit_fetch.fetch` does; ``pit`` is the instant unless given."""
        return warn_if_cut(self._answer(source, on_gap, options, own, threading.Event()))

    async def afetch(
        self,
        source: str,
        *,
        on_gap: OnGap = "raise",
        options: Mapping[str, object] | None = None,
        **own: Unpack[InstantOptions],
    ) -> Envelope:
        """Return the envelope of one fetch, on a thread of this instant. A cancelled one asks the source no more."""
        return warn_if_cut(await self._on_thread(partial(self._answer, source, on_gap, options, own)))

    def tools(
        self, sources: Iterable[str] | None = None, style: Style = "plain", shape: Shape = "columns"
    ) -> list[Any]:
        """Return tools for a model: one for each source, and one that says what they take.

        sources  their names; None for all that may be asked and lack no key
        style    "plain": objects with ``name``, ``description``, ``schema`` (JSON Schema of the arguments) and
                 ``async call(**arguments)``, which returns text; "openai" (Chat Completions) and "anthropic": dicts as
                 these APIs take them, with ``name`` and ``call`` as attributes; "langchain": StructuredTool;
                 "pydantic-ai": Tool
        shape    of that text: "columns", in fewer characters, or "items", the envelope

        Raises ConfigError if the framework of a style is not installed.
        """
        from pit_fetch.instants import tools

        return tools.styled(tools.agent_tools(self._server(sources, shape), self._on_thread), style)

    def hooks(self) -> dict[str, list[Any]]:
        """Return the guard and the gate for ``ClaudeAgentOptions(hooks=…)``, with this instant as the ceiling.

        Give ``ClaudeAgentOptions(env=…)`` :attr:`variables`, which bind the commands of the session themselves.
        """
        from pit_fetch.claude_code.sdk import HOOK_VARIABLES, make_hooks

        self._check_open()
        environ = self._runtime().environ
        return make_hooks({name: environ[name] for name in HOOK_VARIABLES if name in environ})

    def mcp_server(self, sources: Iterable[str] | None = None, shape: Shape = "columns") -> dict[str, Any]:
        """Return the tools as an in-process server for ``ClaudeAgentOptions(mcp_servers={"pit_fetch": …})``.

        Raises ConfigError if the SDK of the Model Context Protocol is not installed.
        """
        try:
            from pit_fetch.mcp.server import protocol_server
        except ImportError:
            raise ConfigError(Code.DEPENDENCY_MISSING, package="mcp>=2") from None
        return {"type": "sdk", "name": "pit_fetch", "instance": protocol_server(self._server(sources, shape))}

    def _server(self, sources: Iterable[str] | None, shape: Shape) -> Server:
        from pit_fetch.instants import tools

        if shape not in ("columns", "items"):
            raise UsageError(Code.USAGE, text="shape is columns or items")
        names = self.sources if sources is None else _names(sources)
        if names is not None:
            names = [self._permitted(name) for name in names]
        return tools.server_of(self._runtime(), self.pit, names, shape, self._check_open)

    def _answer(
        self,
        source: str,
        on_gap: str,
        options: Mapping[str, object] | None,
        own: Mapping[str, object],
        stop: threading.Event,
    ) -> Envelope:
        given = given_options(own, options)
        call = FetchCall(source, {"pit": self.pit, **given}, on_gap, self.variables)
        if isinstance(source, str):  # else the answer to the call says what is wrong with it
            self._permitted(source)
        return answers.fetch(call, real_runtime().stoppable(stop, self._ended))

    def _permitted(self, source: str) -> str:
        """Return a source's name. Raise UsageError if it may not be asked here, or not any more."""
        self._check_open()
        name = real_runtime().find(source).name
        if self.sources is not None and name not in self.sources:
            raise UsageError(Code.USAGE, text=f"{name} is not one of this instant's sources: {', '.join(self.sources)}")
        return name

    def _check_open(self) -> None:
        """Raise UsageError once the block was left."""
        if self._ended.is_set():
            raise UsageError(Code.USAGE, text=_ENDED)

    def _runtime(self) -> Runtime:
        return answers.bound_runtime(real_runtime(), self.variables)

    async def _on_thread(self, work: Callable[[threading.Event], T]) -> T:
        """Return what ``work`` returns on a thread. If the caller is cancelled, the event that it receives is set."""
        import asyncio

        stop = threading.Event()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._executor(), work, stop)
        finally:
            stop.set()

    def _executor(self) -> ThreadPoolExecutor:
        from concurrent.futures import ThreadPoolExecutor

        with self._lock:
            self._check_open()
            if self._threads is None:
                self._threads = ThreadPoolExecutor(CONCURRENT_FETCHES, f"pit_fetch as of {self.pit}")
            return self._threads

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._ended.set()
            threads = self._threads
        if threads is not None:
            threads.shutdown(wait=False, cancel_futures=True)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        self.__exit__()

    def __repr__(self) -> str:
        return f"<as of {self.pit}>"
