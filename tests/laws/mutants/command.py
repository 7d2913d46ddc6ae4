"""Leaks of the command line and of the Python call: requests that a reader would mistake."""

from __future__ import annotations

import os
from typing import Any

from pit_fetch import times
from pit_fetch.engine.settings_files import Settings
from pit_fetch.errors import UsageError
from tests.laws.mutants.leak import Mutant, overlooking, rewritten

_REFUSALS, _OPTIONS = ("command: refusals",), ("guard: options",)


def _abbreviated(real: Any) -> Any:
    def build(provider: Any, *form: Any) -> Any:
        parser = real(provider, *form)
        parser.allow_abbrev = True
        return parser

    return build


def _public(real: Any) -> Any:
    return lambda record, pit: "public"


def _last_one_counts(real: Any) -> Any:
    def call(self: Any, parser: Any, namespace: Any, values: Any, option_string: Any = None) -> None:
        setattr(namespace, self.dest, values)

    return type("Last", (real,), {"__call__": call})


def _open_mode_for_an_unreadable_pit(real: Any) -> Any:
    def read_options(argv: Any, provider: Any, *form: Any) -> Any:
        place = argv.index("--pit") if "--pit" in argv else len(argv)
        is_readable = times.parse_pit("".join(argv[place + 1 : place + 2])) is not None
        return real(argv if is_readable else [*argv[:place], *argv[place + 2 :]], provider, *form)

    return read_options


def _without_ceiling(real: Any) -> Any:
    def from_values(values: Any, provider: Any, environ: Any, *defaults: Any) -> Any:
        without = {name: value for name, value in environ.items() if "CEILING" not in name}
        return real(values, provider, without, *defaults)

    return from_values


def _without_the_file_s_ceiling(real: Any) -> Any:
    def read(environ: Any, folder: Any) -> Any:
        settings = real(environ, folder)
        kept = {name: value for name, value in settings.environ.items() if name != _CEILING or name in environ}
        return settings._replace(environ=kept)

    return read


def _by_the_file_alone(real: Any) -> Any:
    def read(environ: Any, folder: Any) -> Any:
        in_files = real({name: value for name, value in environ.items() if name != _CEILING}, folder)
        settings = real(environ, folder)
        return (
            settings._replace(environ={**settings.environ, _CEILING: in_files.environ[_CEILING]})
            if (_CEILING in in_files.environ)
            else settings
        )

    return read


def _overlooked_if_broken(real: Any) -> Any:
    def read(environ: Any, folder: Any) -> Any:
        try:
            return real(environ, folder)
        except UsageError:
            return Settings(environ)

    return read


def _without_what_a_fetch_shows(real: Any) -> Any:
    def run(request: Any, *given: Any) -> Any:
        result = real(request, *given)
        data = [item for item in result.envelope.data if item["verdict"] != "public"]
        return rewritten(result, request, data=data)

    return run


_SETTINGS = "pit_fetch.engine.settings_files:read_settings"
_CEILING = "PIT_FETCH_CEILING"

MUTANTS = (
    Mutant("--pit may be abbreviated", "pit_fetch.cli.parser:build_parser", _abbreviated, _REFUSALS),
    Mutant("--pit may be repeated", "pit_fetch.cli.parser:StoreOnce", _last_one_counts, _REFUSALS),
    Mutant(
        "the ceiling is not kept",
        "pit_fetch.request.fetch_request:check_ceiling",
        overlooking("pit_above_ceiling"),
        _REFUSALS,
    ),
    Mutant(
        "an unreadable ceiling is none",
        "pit_fetch.request.fetch_request:check_ceiling",
        overlooking("ceiling_malformed"),
        _REFUSALS,
    ),
    Mutant(
        "under a ceiling a call without PIT is open mode",
        "pit_fetch.request.fetch_request:check_ceiling",
        overlooking("pit_required"),
        _REFUSALS,
    ),
    Mutant(
        "a Python call knows no ceiling",
        "pit_fetch.request.fetch_request:from_values",
        _without_ceiling,
        ("library: refusals",),
    ),
    Mutant(
        "a panel shows the environment",
        "pit_fetch.panels.panel:Panel.__repr__",
        lambda real: lambda panel: f"{real(panel)} {dict(os.environ)}",
        ("library: secrets",),
    ),
    Mutant(
        "the frames of an error show the environment",
        "pit_fetch.engine.real_runtime:Environment",
        lambda real: dict,
        ("library: secrets",),
    ),
    Mutant("a settings file's ceiling is none", _SETTINGS, _without_the_file_s_ceiling, ("looks: settings",)),
    Mutant("a file raises the ceiling", _SETTINGS, _by_the_file_alone, ("looks: settings",)),
    Mutant("a broken file is ignored", _SETTINGS, _overlooked_if_broken, ("looks: settings",)),
    Mutant(
        "an agent explains",
        "pit_fetch.request.audience:is_for_an_agent",
        lambda real: lambda environ: False,
        ("looks: explain",),
    ),
    Mutant("explain calls all public", "pit_fetch.inspect.verdict:visibility", _public, ("looks: verdicts",)),
    Mutant(
        "explain leaves out what a fetch shows",
        "pit_fetch.inspect.explain:explain",
        _without_what_a_fetch_shows,
        ("looks: verdicts",),
    ),
    Mutant(
        "diff reads in open mode",
        "pit_fetch.inspect.diff:comparable_request",
        lambda real: lambda request, since: real(request, since)._replace(pit=None),
        ("looks: diff",),
    ),
    Mutant(
        "an unreadable --pit is open mode",
        "pit_fetch.cli.arguments:read_options",
        _open_mode_for_an_unreadable_pit,
        _REFUSALS,
    ),
    Mutant(
        "a finer --pit is rounded up",
        "pit_fetch.times:parse_pit",
        lambda real: lambda text: times.parse_rfc3339(text),
        ("sample: non-interference", "bz-news-api: non-interference"),
    ),
    Mutant(
        "options behind -- count",
        "pit_fetch.cli.arguments:read_options",
        lambda real: lambda argv, provider, *command: real([word for word in argv if word != "--"], provider, *command),
        _OPTIONS,
    ),
)
