"""A server from its command line: the instant, the settings and the tools, read once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.util import find_spec

from pit_fetch.archive.store import schema
from pit_fetch.archive.store.errors import ArchiveError
from pit_fetch.engine import credentials, registry, settings_files
from pit_fetch.engine.real_runtime import real_runtime
from pit_fetch.errors import ConfigError, PitFetchError, UsageError
from pit_fetch.gaps import Code
from pit_fetch.mcp import gate, instant
from pit_fetch.mcp.calls import FETCH_SECONDS, Runtimes, Server
from pit_fetch.mcp.mapping import Mapped
from pit_fetch.mcp.tools import Shape, name_of, tools_for
from pit_fetch.mcp.upstream import Upstream
from pit_fetch.provider import Provider
from pit_fetch.request.audience import CLIENT_VARIABLE, OFFLINE_VARIABLE, is_offline
from pit_fetch.runtime import Runtime, no_alarm
from pit_fetch.support.install import install_command

_ARCHIVE = settings_files.VARIABLES["archive"]


def prepare_server(
    runtime: Runtime,
    pit: str | None = None,
    pit_file: str | None = None,
    names: Sequence[str] | None = None,
    archive: str | None = None,
    *,
    offline: bool = False,
    moving: bool = False,
    shape: Shape = "columns",
) -> Server:
    """Return the server of these options; ``names`` are sources, None all that can be asked.

    ``offline``: the archive alone answers. ``moving``: a connection may go on after the instant moved.
    ``shape``: that of an answer. Raise
    PitFetchError if the instant, a source, the settings or that archive cannot be used.
    """
    added = {} if archive is None else {_ARCHIVE: runtime.path(archive)}
    # The reader of every answer is an agent's client: a settings file counts as it does for one.
    environ = {**runtime.environ, CLIENT_VARIABLE: "1", **added}
    runtime, settings = settings_files.with_settings(runtime._replace(environ=environ))
    offline = offline or is_offline(runtime.environ)
    if offline:
        _require_archive(runtime)
    file = None if pit_file is None else runtime.path(pit_file)
    moment = instant.make_instant(pit, file, settings.environ, moving=moving)
    providers = list(_chosen(names))
    idle = (
        {}
        if names is not None
        else {name_of(p): problem for p in providers if (problem := _missing(p, runtime, offline))}
    )
    tools = tools_for((p for p in providers if name_of(p) not in idle), moment.phrase)
    return Server(tools, moment, settings, Runtimes(lambda: _surroundings(runtime)), idle, offline, shape)


def prepare_gate(
    runtime: Runtime,
    mapped: Iterable[Mapped],
    command: Sequence[str],
    pit: str | None = None,
    pit_file: str | None = None,
    *,
    moving: bool = False,
) -> tuple[Server, Upstream]:
    """Return the server in front of the one that ``command`` starts, and that one, which is to be closed.

    Raise PitFetchError if the instant or a tool cannot be used, or the other server does not start. Without an instant
    it is not started.
    """
    if is_offline(runtime.environ):
        text = f"what another server says is in no archive: unset {OFFLINE_VARIABLE} for mcp-gate"
        raise UsageError(Code.USAGE, text=text)
    # What another server says is recorded in no archive: the question would not tell which server was asked.
    own, settings = settings_files.with_settings(runtime._replace(environ={**runtime.environ, CLIENT_VARIABLE: "1"}))
    environ = {name: value for name, value in settings.environ.items() if name != _ARCHIVE}
    settings, own = settings._replace(environ=environ, options={}), own._replace(environ=environ)
    moment = instant.make_instant(pit, None if pit_file is None else runtime.path(pit_file), environ, moving=moving)
    try:
        upstream = Upstream(command, runtime.environ, runtime.folder)
    except OSError as error:
        raise UsageError(Code.USAGE, text=f"the server does not start: {error.strerror}") from None
    try:
        tools = gate.tools_for(mapped, upstream.tools(), upstream.call, moment.phrase, FETCH_SECONDS)
    except BaseException:
        upstream.close()
        raise
    return Server(tools, moment, settings, Runtimes(lambda: _surroundings(own))), upstream


def _chosen(names: Sequence[str] | None) -> list[Provider]:
    if names is not None:
        return [registry.load(name) for name in dict.fromkeys(names)]
    return [listing.provider for listing in registry.listings() if listing.provider is not None]


def _require_archive(runtime: Runtime) -> None:
    """Raise ConfigError without an archive, or for one that cannot be read."""
    path = runtime.environ.get(_ARCHIVE)
    if not path:
        raise ConfigError(Code.OFFLINE_WITHOUT_ARCHIVE)
    try:
        schema.open_to_read(runtime.path(path)).close()
    except ArchiveError as error:
        raise ConfigError(Code.ARCHIVE_UNUSABLE, problem=error.problem) from None


def _missing(provider: Provider, runtime: Runtime, offline: bool) -> str:
    """Return why a source cannot be asked: a key or a package that it lacks; "" if it can. An archive needs no key."""
    try:
        if not offline:
            credentials.resolve(provider, runtime.environ, runtime.folder)
    except PitFetchError as error:
        return error.gap.reason
    package = next((name for name in provider.listing.packages if find_spec(name) is None), None)
    return f"{package} is not installed: run {install_command(package)}" if package else ""


def _surroundings(runtime: Runtime) -> Runtime:
    """Return the runtime of one call, with a network of its own. A thread has no alarm."""
    return runtime._replace(transport=real_runtime().transport, alarm=no_alarm, stdout=None, stderr=None)
