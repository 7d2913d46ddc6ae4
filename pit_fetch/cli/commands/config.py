"""``pit_fetch config``: every setting, its value, and the file or variable of that. Keys are only set or not set."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pit_fetch.cli.command import CommandResult, Parser, to_json
from pit_fetch.engine import registry, settings_files
from pit_fetch.engine.credentials import lookup
from pit_fetch.errors import ConfigError
from pit_fetch.gaps import Code
from pit_fetch.net import ratelimit
from pit_fetch.pipeline.claims import PROVED
from pit_fetch.provider import Credential, Host, Provider
from pit_fetch.request import audience, evidence
from pit_fetch.request.options import COMMON_OPTIONS


class SettingRow(NamedTuple):
    """One setting; ``origin`` is a file, "environment NAME", or "default"."""

    name: str
    value: object
    origin: str


def run(argv: Sequence[str], environ: Mapping[str, str], folder: str) -> CommandResult:
    """List the settings. Raise UsageError, which names the file, for one that is broken."""
    parser = Parser("config", "Show every setting, its value, and the file or variable that it comes from.")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.advice = f"it only shows the settings, which are written into {settings_files.PROJECT_FILE}"
    arguments = parser.parse_args(list(argv))
    rows = list(_rows(environ, folder))
    if arguments.json:
        document = [{"name": row.name, "value": row.value, "from": row.origin} for row in rows]
        return CommandResult(to_json(document))
    cells = [(row.name, _text(row.value), row.origin) for row in rows]
    names, values, _ = (max(map(len, column)) for column in zip(*cells, strict=True))
    user_file = settings_files.user_file(environ) or "no home folder"
    files = f"\nfiles: {user_file}, then {settings_files.PROJECT_FILE} in {folder} or above\n"
    return CommandResult("".join(f"{a:<{names}}  {b:<{values}}  {c}\n" for a, b, c in cells) + files)


def _rows(environ: Mapping[str, str], folder: str) -> Iterator[SettingRow]:
    settings = settings_files.read_settings(environ, folder)
    for option in COMMON_OPTIONS:
        if option.name in settings.options:
            yield SettingRow(option.name, settings.options[option.name], settings.origins[option.name])
        elif option.name == "max_chars":
            yield _max_chars(settings)
        elif option.name in settings_files.OPTIONS:
            yield SettingRow(option.name, option.default, "default")
    for name, variable in {"ceiling": audience.CEILING_VARIABLE, **settings_files.VARIABLES}.items():
        yield _variable(name, variable, settings)
    providers = [listing.provider for listing in registry.listings() if listing.provider]
    yield from _grades(settings, providers)
    hosts = {host.url: host for provider in providers for host in provider.hosts}
    for host in hosts.values():
        if "{" not in host.url:
            yield _rate(host, settings)
    # A part of a host that is an option's value may be anything in the name of its variable.
    used = [re.sub("__[A-Z]+__", "[A-Z0-9_]+_", ratelimit.variable(host)) for host in hosts.values()]
    for variable, file in settings.origins.items():
        if variable.startswith("PIT_FETCH_RATE_") and not any(re.fullmatch(name, variable) for name in used):
            yield SettingRow(variable, settings.environ[variable], f"{file}, for no host of an installed source")
    for name, meant in settings_files.misspelt(environ):
        yield SettingRow(name, environ[name], f"environment, for nothing: write {meant}")
    for provider in providers:
        for credential in provider.credentials:
            yield _key(credential, environ, folder)


def _max_chars(settings: settings_files.Settings) -> SettingRow:
    if not settings.environ.get(settings_files.MAX_CHARS_VARIABLE) and settings.environ.get(audience.CLIENT_VARIABLE):
        return SettingRow("max_chars", audience.MAX_CHARS_UNDER_AGENT, f"environment {audience.CLIENT_VARIABLE}")
    return _variable("max_chars", settings_files.MAX_CHARS_VARIABLE, settings, default=0)


def _variable(name: str, variable: str, settings: settings_files.Settings, default: object = None) -> SettingRow:
    value = settings.environ.get(variable)
    if variable in settings.origins:
        return SettingRow(name, value, settings.origins[variable])
    return SettingRow(name, value, f"environment {variable}") if value else SettingRow(name, default, "default")


def _grades(settings: settings_files.Settings, providers: Sequence[Provider]) -> Iterator[SettingRow]:
    """Yield what claims are accepted of: every source, or one."""
    row = _variable(settings_files.EVIDENCE, evidence.VARIABLE, settings, PROVED)
    grades = evidence.parse_grades(str(row.value))
    if grades is None:
        yield row._replace(value="cannot be used")
        return
    known = {evidence.key(name) for provider in providers for name in (provider.name, *provider.aliases)}
    for name, grade in grades.items():
        origin = row.origin if not name or name in known else f"{row.origin}, for no installed source"
        yield SettingRow(f"evidence {name}".rstrip(), grade, origin)


def _rate(host: Host, settings: settings_files.Settings) -> SettingRow:
    variable, name = ratelimit.variable(host), f"rate {host.url.partition('://')[2]}"
    try:
        ratelimit.rate_of(host, settings.environ)
    except ConfigError:
        return SettingRow(name, "cannot be used", f"environment {variable}")
    default = f"{host.rate.calls}/{host.rate.seconds:g}" if host.rate else None
    return _variable(name, variable, settings, default)


_ENV_FILES = {
    Code.ENV_FILE_UNTRUSTED: "a .env file of another user",
    Code.ENV_FILE_LINE: "a .env file with something else than NAME=VALUE",
}


def _key(credential: Credential, environ: Mapping[str, str], folder: str) -> SettingRow:
    name = f"key {' or '.join(credential.variables)}"
    try:
        variable, _ = lookup(credential, environ, folder)
    except ConfigError as error:
        return SettingRow(name, "unknown", _ENV_FILES.get(error.gap.code, "a .env file that cannot be read"))
    if not variable:
        return SettingRow(name, "not set", "")
    return SettingRow(name, "set", f"environment {variable}" if environ.get(variable, "").strip() else ".env")


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    return "-" if value is None else str(value)
