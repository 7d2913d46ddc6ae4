"""Settings from files: the user's, and the project's nearest to the working directory. Weakest first, they are

    ~/.config/pit_fetch/config.toml, pit_fetch.toml, the environment, the command line.

A file sets the defaults of options, rates by host, and a ceiling, which can only be lowered. Only the
user's own file names an archive or an audit file, and accepts claims: a project's may come with someone else's
repository. For an agent it accepts none unless this user may not write it: the agent might have. Neither ever holds a
key. What cannot be understood is refused: it might have been a ceiling. So is a file
of another user, who could otherwise set limits for everybody that works in a folder below it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from pit_fetch.engine import trusted_files
from pit_fetch.engine.input_files import nearest
from pit_fetch.errors import ConfigError, UsageError
from pit_fetch.gaps import Code
from pit_fetch.pipeline.claims import GRADES
from pit_fetch.request import audience, evidence
from pit_fetch.request.options import COMMON_OPTIONS
from pit_fetch.request.values import parse_value
from pit_fetch.runtime import Environment, Runtime
from pit_fetch.support.bundled import gate
from pit_fetch.support.toml import NotToml, parse_toml
from pit_fetch.times import parse_pit

PROJECT_FILE = "pit_fetch.toml"
# The options whose defaults a file may set. None of them decides what is fetched, or as of when.
OPTIONS = ("limit", "max_pages", "timeout", "fields", "format", "max_chars", "pretty", "fail", "verbose")
# The settings of the user's own file alone, with the variables that they stand for.
VARIABLES = {"archive": "PIT_FETCH_ARCHIVE", "audit": "PIT_FETCH_AUDIT"}
MAX_CHARS_VARIABLE = "PIT_FETCH_MAX_CHARS"
EVIDENCE = "evidence"  # a table, by source
# Which the guard, an archive and a record read, and offline.
_OTHERS = ("PIT_FETCH_ADAPTER_OPTIONS", "PIT_FETCH_PLAN", "PIT_FETCH_RECORD", audience.OFFLINE_VARIABLE)
# An agent's client and its operator rely on these: no file sets them for an agent, and no project's file the timeout.
_FOR_PEOPLE = frozenset({"format", "pretty", "fail", "verbose"})
# What to do about another user's file, which may lie in any folder above.
_OWN = "make it your own with chown, or work in another folder"


class Setting(NamedTuple):
    """One value, and the file that it comes from. ``for_people``: it does not count for an agent."""

    value: Any
    file: str
    for_people: bool = False


class Settings(NamedTuple):
    """The settings of all files.

    environ  the environment, with what the files add to it: a variable that is set is stronger
    options  defaults of options, by name
    origins  the file behind each default, and each added variable
    """

    environ: Mapping[str, str]
    options: Mapping[str, Any] = {}
    origins: Mapping[str, str] = {}

    def __repr__(self) -> str:
        return "<Settings>"  # the environment has keys


def with_settings(runtime: Runtime) -> tuple[Runtime, Settings]:
    """Return ``runtime`` with the variables that files set, and the settings. Raise UsageError as below."""
    settings = read_settings(runtime.environ, runtime.folder)
    return runtime._replace(environ=settings.environ), settings


def read_settings(environ: Mapping[str, str], folder: str) -> Settings:
    """Return the settings for a call in ``folder``.

    Raise UsageError for a file that is broken, and for a variable that is probably a misspelt restriction.
    """
    for name, meant in gate.misspelt_variables(environ, audience.RESTRICTIONS):
        raise UsageError(Code.VARIABLE_MISSPELT, name=name, meant=meant)
    options: dict[str, Setting] = {}
    added: dict[str, Setting] = {}
    for file, is_users in _files(environ, folder):
        table = _load(file)
        people = _FOR_PEOPLE if is_users else _FOR_PEOPLE | {"timeout"}
        options |= {name: Setting(value, file, name in people) for name, value in _options(table, file)}
        variables = _variables(table, file, is_users)
        added |= {name: Setting(value, file) for name, value in variables if name not in environ}
        ceiling = _ceiling(table, file)
        if ceiling is not None and _lowers(ceiling, added.get(audience.CEILING_VARIABLE), environ):
            added[audience.CEILING_VARIABLE] = Setting(ceiling, file)
    merged = Environment({**environ, **{name: setting.value for name, setting in added.items()}}) if added else environ
    if audience.is_for_an_agent(merged):  # a ceiling in a file makes it one, too
        grant = added.get(evidence.VARIABLE)
        if grant is not None and trusted_files.may_replace(grant.file):
            del added[evidence.VARIABLE]
            merged = {name: value for name, value in merged.items() if name != evidence.VARIABLE}
        options = {name: setting for name, setting in options.items() if not setting.for_people}
    if environ.get(MAX_CHARS_VARIABLE):
        options.pop("max_chars", None)
    elif "max_chars" in options and environ.get(audience.CLIENT_VARIABLE):
        # The client cuts longer output, so that the gate can only withhold it.
        most, setting = audience.MAX_CHARS_UNDER_AGENT, options["max_chars"]
        options["max_chars"] = setting._replace(value=min(int(setting.value) or most, most))
    return Settings(
        merged,
        {name: setting.value for name, setting in options.items()},
        {name: setting.file for name, setting in (*options.items(), *added.items())},
    )


def misspelt(environ: Iterable[str]) -> list[tuple[str, str]]:
    """Return the variables that are probably meant as one of the others, which restrict nothing, each with that one."""
    return gate.misspelt_variables(environ, [*VARIABLES.values(), MAX_CHARS_VARIABLE, evidence.VARIABLE, *_OTHERS])


def user_file(environ: Mapping[str, str]) -> str:
    """Return the path of the user's file, which need not exist; "" without a home."""
    home = environ.get("HOME", "")
    base = environ.get("XDG_CONFIG_HOME") or (os.path.join(home, ".config") if home else "")
    return os.path.join(base, "pit_fetch", "config.toml") if base else ""


def _files(environ: Mapping[str, str], folder: str) -> Iterator[tuple[str, bool]]:
    """Yield the existing files, the weaker first, and whether each is the user's own."""
    # A broken link counts, and cannot be read: it might have named a ceiling.
    users = user_file(environ)
    if users and os.path.lexists(users):
        yield users, True
    projects = nearest(os.path.abspath(folder), PROJECT_FILE, os.path.lexists)
    if projects:
        yield projects, False


def _load(file: str) -> Mapping[str, Any]:
    try:
        return parse_toml(trusted_files.read_trusted(file).decode("utf-8-sig"))  # some editors write a byte order mark
    except (NotToml, UnicodeDecodeError) as error:
        where = re.search(r"at (line [0-9]+)", str(error))
        raise _broken(file, f"is not TOML ({where[1]})" if where else "is not TOML") from None
    except trusted_files.UntrustedFile as error:
        raise _broken(file, f"{error} ({_OWN})") from None
    except OSError as error:
        raise _broken(file, f"cannot be read ({error.strerror})") from None


def _options(table: Mapping[str, Any], file: str) -> Iterator[tuple[str, Any]]:
    options = {option.name: option for option in COMMON_OPTIONS}
    for name in (name for name in OPTIONS if name in table):
        try:
            parse_value(options[name], table[name])
        except UsageError as error:
            raise _broken(file, f"has a {name} that cannot be used: {error}") from None
        yield name, table[name]


def _variables(table: Mapping[str, Any], file: str, is_users: bool) -> Iterator[tuple[str, str]]:
    for name, value in table.items():
        if name in VARIABLES:
            _refuse_unless_users(name, file, is_users)
            if not isinstance(value, str) or not value:
                raise _broken(file, f"has a {name} that is not a path")
            yield VARIABLES[name], os.path.expanduser(value)
        elif name == "rate":
            yield from _rates(value, file)
        elif name == EVIDENCE:
            yield evidence.VARIABLE, _grades(value, file, is_users)
        elif name not in (*OPTIONS, "ceiling"):
            raise _broken(file, _unknown(name))


def _refuse_unless_users(name: str, file: str, is_users: bool) -> None:
    if not is_users:
        raise _broken(file, f"sets {name}, which only your own file may (~/.config/pit_fetch/config.toml)")


def _grades(table: Any, file: str, is_users: bool) -> str:
    """Return the grades of evidence by source, as the variable has them."""
    _refuse_unless_users(EVIDENCE, file, is_users)
    grades = table if isinstance(table, dict) else {"": table}
    text = ",".join(f"{name}={grade}" for name, grade in grades.items())
    if any(grade not in GRADES for grade in grades.values()) or evidence.parse_grades(text) is None:
        raise _broken(file, 'has an evidence that cannot be used: write [evidence], and yahoo = "claimed" below it')
    return text


def _unknown(name: str) -> str:
    from pit_fetch.courtesy.names import hint
    from pit_fetch.support.wording import truncate

    if re.search(r"key|token|secret|password", name, re.IGNORECASE):
        return f"has {truncate(name)}: keys belong in the environment or in a .env file"
    close = hint(name, (*OPTIONS, *VARIABLES, "ceiling", "rate", EVIDENCE))
    return f"has {truncate(name)}, which is not a setting{close}"


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
    """Return whether a ceiling is lower than the one there is. One that cannot be read stays, and will be refused."""
    if audience.CEILING_VARIABLE not in environ and known is None:
        return True
    moment, present = parse_pit(text), parse_pit(known.value if known else environ[audience.CEILING_VARIABLE])
    return moment is not None and present is not None and moment < present


def _broken(file: str, problem: str) -> UsageError:
    return UsageError(Code.SETTINGS_MALFORMED, file=file, problem=problem)
