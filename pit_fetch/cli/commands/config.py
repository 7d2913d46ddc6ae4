"""``pit_fetch config``: every setting, its value, and where that comes from. Keys are only ever set or not set."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pit_fetch.cli.command import CommandResult, Parser
from pit_fetch.engine import registry, settings_files
from pit_fetch.engine.credentials import lookup
from pit_fetch.errors import ConfigError
from pit_fetch.net.ratelimit import rate_of, variable
from pit_fetch.provider import Credential, Host
from pit_fetch.request import audience
from pit_fetch.request.options import COMMON_OPTIONS

_FILES = {"archive": "PIT_FETCH_ARCHIVE", "audit": "PIT_FETCH_AUDIT"}


class Row(NamedTuple):
    """One setting; ``origin`` is a file, "environment NAME", or "default"."""

    name: str
    value: object
    origin: str


def run(argv: Sequence[str], environ: Mapping[str, str], folder: str) -> CommandResult:
    """The answer of the command. Raises UsageError, which names the file, for one that is broken."""
    parser = Parser("config", "Show every setting, its value, and the file or variable that it comes from.")
    parser.add_argument("--json", action="store_true", help="as JSON")
    given = parser.parse_args(list(argv))
    if given.help:
        return CommandResult(parser.format_help())
    rows = list(_rows(environ, folder))
    if given.json:
        said = [{"name": row.name, "value": row.value, "from": row.origin} for row in rows]
        return CommandResult(json.dumps(said, indent=2) + "\n")
    shown = [(row.name, _shown(row.value), row.origin) for row in rows]
    widths = [max(len(row[column]) for row in shown) for column in (0, 1)]
    user_file = settings_files.user_file(environ) or "no home folder"
    files = f"\nfiles: {user_file}, then {settings_files.PROJECT_FILE} in {folder} or above\n"
    return CommandResult("".join(f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c}\n" for a, b, c in shown) + files)


def _rows(environ: Mapping[str, str], folder: str) -> Iterator[Row]:
    settings = settings_files.read(environ, folder)
    for option in COMMON_OPTIONS:
        if option.name in settings.options:
            yield Row(option.name, settings.options[option.name], settings.origins[option.name])
        elif option.name == "max_chars":
            yield _max_chars(environ)
        elif option.name in settings_files.OPTIONS:
            yield Row(option.name, option.default, "default")
    for name, named in {"ceiling": audience.CEILING_VARIABLE, **_FILES}.items():
        yield _from_environment(name, named, settings, None)
    hosts = {host.url: host for listing in registry.listings() if listing.provider for host in listing.provider.hosts}
    for host in hosts.values():
        yield _rate(host, settings)
    used = {variable(host) for host in hosts.values()}
    for named, file in settings.origins.items():
        if named.startswith("PIT_FETCH_RATE_") and named not in used:
            yield Row(named, settings.environ[named], f"{file}, for no host of an installed source")
    for listing in registry.listings():
        for credential in listing.provider.credentials if listing.provider else ():
            yield _key(credential, environ, folder)


def _max_chars(environ: Mapping[str, str]) -> Row:
    if environ.get("PIT_FETCH_MAX_CHARS"):
        return Row("max_chars", environ["PIT_FETCH_MAX_CHARS"], "environment PIT_FETCH_MAX_CHARS")
    if environ.get(audience.CLIENT_VARIABLE):
        return Row("max_chars", audience.MAX_CHARS_UNDER_AGENT, f"environment {audience.CLIENT_VARIABLE}")
    return Row("max_chars", 0, "default")


def _from_environment(name: str, named: str, settings: settings_files.Settings, default: object) -> Row:
    if named in settings.origins:
        return Row(name, settings.environ[named], settings.origins[named])
    if settings.environ.get(named):
        return Row(name, settings.environ[named], f"environment {named}")
    return Row(name, default, "default")


def _rate(host: Host, settings: settings_files.Settings) -> Row:
    named, name = variable(host), f"rate {host.url.partition('://')[2]}"
    default = f"{host.rate.calls}/{host.rate.seconds:g}" if host.rate else None
    try:
        rate_of(host, settings.environ)
    except ConfigError:
        return Row(name, "cannot be used", f"environment {named}")
    return _from_environment(name, named, settings, default)


def _key(credential: Credential, environ: Mapping[str, str], folder: str) -> Row:
    name = f"key {' or '.join(credential.variables)}"
    try:
        found, _ = lookup(credential, environ, folder)
    except ConfigError:
        return Row(name, "unknown", "a .env file that cannot be read")
    if not found:
        return Row(name, "not set", "")
    return Row(name, "set", f"environment {found}" if environ.get(found, "").strip() else ".env")


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    return "-" if value is None else str(value)
