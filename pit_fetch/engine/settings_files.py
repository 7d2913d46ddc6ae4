"""Settings from files: the user's, and the project's nearest to the working directory. Weakest first, they are

    ~/.config/pit_fetch/config.toml, pit_fetch.toml, the environment, the command line.

A file sets the defaults of options, rates by host, and a ceiling, which can only be lowered. Only the
user's own file names an archive or an audit file: a project's may come with someone else's repository.
Neither ever holds a key. What cannot be understood is refused: it might have been a ceiling.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from pit_fetch.errors import ConfigError, UsageError
from pit_fetch.request import audience
from pit_fetch.request.options import COMMON_OPTIONS
from pit_fetch.request.values import parse_value
from pit_fetch.support.toml import NotToml, parse_toml
from pit_fetch.times import parse_pit

if TYPE_CHECKING:
    from pit_fetch.runtime import Runtime

PROJECT_FILE = "pit_fetch.toml"
# The options whose defaults a file may set: none that says what is asked for, or as of when.
OPTIONS = ("limit", "max_pages", "timeout", "fields", "format", "max_chars", "pretty", "fail", "verbose")
# What an agent's client or its operator counts on; a file that comes with a project must not change it.
_FOR_PEOPLE = frozenset({"timeout", "format", "pretty", "fail", "verbose"})
_VARIABLES = {"archive": "PIT_FETCH_ARCHIVE", "audit": "PIT_FETCH_AUDIT"}
_LARGEST = 1_000_000
_MAX_CHARS_VARIABLE = "PIT_FETCH_MAX_CHARS"


class Setting(NamedTuple):
    """One value, and the file that it comes from."""

    value: Any
    file: str


class Settings(NamedTuple):
    """What the files say.

    environ  the environment, with what the files add to it: a variable that is set is stronger
    options  defaults of options, by name
    origins  the file behind each default, and each added variable
    """

    environ: Mapping[str, str]
    options: Mapping[str, Any] = {}
    origins: Mapping[str, str] = {}


def settled(runtime: Runtime) -> tuple[Runtime, Settings]:
    """``runtime`` with the variables that files set, and the settings. Raises UsageError as :func:`read` does."""
    settings = read(runtime.environ, runtime.folder)
    return runtime._replace(environ=settings.environ), settings


def read(environ: Mapping[str, str], folder: str) -> Settings:
    """The settings for a call in ``folder``. Raises UsageError, which names the file, for one that is broken."""
    found = list(_files(environ, folder))
    if not found:
        return Settings(environ)
    options: dict[str, Setting] = {}
    added: dict[str, Setting] = {}
    for file, is_users in found:
        table = _load(file)
        options |= {name: Setting(value, file) for name, value in _options(table, file)}
        added |= {
            name: Setting(value, file) for name, value in _variables(table, file, is_users) if name not in environ
        }
        ceiling = _ceiling(table, file)
        if ceiling is not None and _lowers(ceiling, added.get(audience.CEILING_VARIABLE), environ):
            added[audience.CEILING_VARIABLE] = Setting(ceiling, file)
    merged = {**environ, **{name: one.value for name, one in added.items()}}
    kept = {name: one for name, one in options.items() if _counts(name, one, merged, found)}
    if "max_chars" in kept and environ.get(audience.CLIENT_VARIABLE):
        kept["max_chars"] = kept["max_chars"]._replace(value=_at_most(kept["max_chars"].value))
    return Settings(
        merged,
        {name: one.value for name, one in kept.items()},
        {name: one.file for name, one in (*kept.items(), *added.items())},
    )


def _counts(name: str, one: Setting, environ: Mapping[str, str], found: list[tuple[str, bool]]) -> bool:
    if name == "max_chars" and environ.get(_MAX_CHARS_VARIABLE):
        return False
    is_projects = not dict(found)[one.file]
    for_people = name in _FOR_PEOPLE - {"timeout"} or (name == "timeout" and is_projects)
    return not (for_people and audience.is_for_an_agent(environ))


def _at_most(characters: Any) -> int:
    """The client cuts longer output, so that the gate can only withhold it."""
    return min(int(characters) or audience.MAX_CHARS_UNDER_AGENT, audience.MAX_CHARS_UNDER_AGENT)


def user_file(environ: Mapping[str, str]) -> str:
    """Where the user's file is looked for; "" without a home."""
    home = environ.get("HOME", "")
    base = environ.get("XDG_CONFIG_HOME") or (os.path.join(home, ".config") if home else "")
    return os.path.join(base, "pit_fetch", "config.toml") if base else ""


def _files(environ: Mapping[str, str], folder: str) -> Iterator[tuple[str, bool]]:
    """The files there are, the weaker first, each with whether it is the user's own."""
    users = user_file(environ)
    if users and os.path.lexists(users):
        yield users, True
    place = os.path.abspath(folder)
    while True:
        file = os.path.join(place, PROJECT_FILE)
        if os.path.lexists(file):
            yield file, False
            return
        parent = os.path.dirname(place)
        if parent == place:
            return
        place = parent


def _load(file: str) -> Mapping[str, Any]:
    try:
        # A byte order mark, which some editors write, says nothing.
        return parse_toml(_content(file).decode("utf-8-sig"))
    except (NotToml, UnicodeDecodeError) as error:
        where = re.search(r"at (line [0-9]+)", str(error))
        raise _broken(file, f"is not TOML ({where[1]})" if where else "is not TOML") from None
    except OSError as error:
        raise _broken(file, f"cannot be read ({error.strerror})") from None


def _content(file: str) -> bytes:
    """What is in ``file``. A pipe would wait for its writer, and a device never ends. Raises OSError."""
    handle = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(0, "it is not a regular file")
        with open(handle, "rb", closefd=False) as stream:
            content = stream.read(_LARGEST + 1)
    finally:
        os.close(handle)
    if len(content) > _LARGEST:
        raise OSError(0, f"it is larger than {_LARGEST // 1_000_000} MB")
    return content


def _options(table: Mapping[str, Any], file: str) -> Iterator[tuple[str, Any]]:
    by_name = {one.name: one for one in COMMON_OPTIONS}
    for name in OPTIONS:
        if name in table:
            value = table[name]
            try:
                parse_value(by_name[name], value)
            except UsageError as error:
                raise _broken(file, f"has a {name} that cannot be used: {error}") from None
            yield name, value


def _variables(table: Mapping[str, Any], file: str, is_users: bool) -> Iterator[tuple[str, str]]:
    for name, value in table.items():
        if name in _VARIABLES:
            if not is_users:
                raise _broken(file, f"sets {name}, which only your own file may (~/.config/pit_fetch/config.toml)")
            if not isinstance(value, str) or not value:
                raise _broken(file, f"has a {name} that is not a path")
            yield _VARIABLES[name], os.path.expanduser(value)
        elif name == "rate":
            yield from _rates(value, file)
        elif name not in (*OPTIONS, "ceiling"):
            raise _broken(file, _unknown(name))


def _unknown(name: str) -> str:
    from pit_fetch.support import suggest

    if re.search(r"key|token|secret|password", name, re.IGNORECASE):
        return f"has {suggest.truncate(name)}: keys belong in the environment or in a .env file"
    close = suggest.name(name, (*OPTIONS, *_VARIABLES, "ceiling", "rate"))
    return f"has {suggest.truncate(name)}, which is not a setting" + (f" (did you mean {close}?)" if close else "")


def _rates(table: Any, file: str) -> Iterator[tuple[str, str]]:
    from pit_fetch.net.ratelimit import rate_of, variable
    from pit_fetch.provider import Host

    if not isinstance(table, dict):
        raise _broken(file, 'has a rate that is not a table: write [rate], and "api.example.com" = "5/1" below it')
    for name, value in table.items():
        host = Host(name, f"https://{name}", "")
        problem = f'has a rate for {name[:60]!r} that cannot be used: write "api.example.com" = "REQUESTS/SECONDS"'
        if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z0-9.-]+", name):
            raise _broken(file, problem)
        try:
            if rate_of(host, {variable(host): value}) is None:
                raise _broken(file, problem)
        except ConfigError:
            raise _broken(file, problem) from None
        yield variable(host), value


def _ceiling(table: Mapping[str, Any], file: str) -> str | None:
    text = table.get("ceiling")
    if text is None:
        return None
    if not isinstance(text, str) or parse_pit(text) is None:
        raise _broken(file, 'has a ceiling that is not an instant: write ceiling = "2024-02-15T16:00:00-05:00"')
    return text


def _lowers(text: str, known: Setting | None, environ: Mapping[str, str]) -> bool:
    """Whether a ceiling is lower than the one there is. One that cannot be read stays, and will be refused."""
    moment = parse_pit(text)
    if audience.CEILING_VARIABLE not in environ and known is None:
        return True
    present = parse_pit(known.value if known else environ[audience.CEILING_VARIABLE])
    return moment is not None and present is not None and moment < present


def _broken(file: str, problem: str) -> UsageError:
    return UsageError("settings_malformed", file=file, problem=problem)
