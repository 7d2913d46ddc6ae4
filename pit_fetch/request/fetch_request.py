"""One fetch as data, from a command line or from Python values.

Both forms of the command line and the Python call produce the same :class:`FetchRequest`, whose
:attr:`FetchRequest.canonical` text is repeated in every gap.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from pit_fetch.cli import arguments
from pit_fetch.cli.parser import COMMON_OPTIONS, budget
from pit_fetch.errors import UsageError
from pit_fetch.formats import BINARY
from pit_fetch.pipeline.cursor import Cursor
from pit_fetch.provider import STAMPS, Provider
from pit_fetch.request.audience import CLIENT_VARIABLE, MAX_CHARS_UNDER_AGENT
from pit_fetch.request.query import named
from pit_fetch.request.values import coerce, flag_of, spell
from pit_fetch.support import suggest
from pit_fetch.times import parse_pit

# What decides the answer, besides the source's own options: instants and cursors as they were written.
_AS_WRITTEN = ("pit", "date_from", "date_to", "after", "input_file")
_AS_READ = ("limit", "max_pages", "fields")


# More than any source has.
UNLIMITED = 2**62


class FetchRequest(NamedTuple):
    """One fetch, fully parsed. Instants are aware and UTC; ``max_chars`` 0 means no limit, ``output`` None stdout.

    ``width`` is how many characters a line of the terminal takes, if the answer goes to one. ``capture``: it is
    asked to be recorded, and answers nothing itself.
    """

    provider: Provider
    pit: datetime | None
    since: datetime | None
    until: datetime | None
    limit: int
    after: Cursor | None
    max_pages: int
    timeout: float
    input_file: str | None
    archive: str | None
    offline: bool
    fields: tuple[str, ...]
    format: str
    max_chars: int
    pretty: bool
    fail: bool
    verbose: bool
    options: Mapping[str, Any]
    canonical: str
    output: str | None = None
    width: int = 0
    capture: bool = False


def parse(
    argv: Sequence[str],
    provider: Provider,
    environ: Mapping[str, str],
    defaults: Mapping[str, object] = {},
    command: str = "",
) -> FetchRequest:
    """The request made by a command line. Raises UsageError, whose reason names the fix.

    ``defaults`` are values of options that the command line does not give. ``command`` is the word that it
    begins with in the place of ``--source``.
    """
    default_budget = MAX_CHARS_UNDER_AGENT if environ.get(CLIENT_VARIABLE) else 0
    given = arguments.given(argv, provider, command)
    if "format" not in given and given.get("pretty"):  # what is asked to be indented is JSON
        given["format"] = "json"
    request = _request({**defaults, **given}, provider, environ, default_budget)
    if command:
        request = request._replace(canonical=request.canonical.replace(f"--source {provider.name}", command, 1))
    if request.format in BINARY and not request.output:
        raise UsageError("usage", text=f"--format {request.format} needs --output FILE")
    return request


def of_values(
    values: Mapping[str, object],
    provider: Provider,
    environ: Mapping[str, str],
    defaults: Mapping[str, object] = {},
) -> FetchRequest:
    """The request made by a Python call; None counts as not given. Raises UsageError, also for an unknown name."""
    known = [option.name for option in (*COMMON_OPTIONS, *provider.options)]
    for name in values:
        if name not in known:
            close = suggest.name(name, known)
            hint = f" (did you mean {close}?)" if close else ""
            raise UsageError("usage", text=f"{name} is not an option of {provider.name}{hint}")
    given = {name: value for name, value in values.items() if value is not None}
    return _request({**defaults, **given}, provider, environ, 0)


def from_canonical(text: str, provider: Provider) -> FetchRequest:
    """Return the request whose :attr:`Request.canonical` is ``text``. Raise UsageError if the provider refuses it now.

    Values that do not decide the answer, such as the output format, are the defaults.
    """
    options = {flag_of(option.name): option for option in (*COMMON_OPTIONS, *provider.options)}
    values: dict[str, Any] = {}
    words = shlex.split(text)[:1:-1]  # without --source NAME; the next word is the last
    while words:
        flag, is_joined, value = words.pop().partition("=")
        option = options.get(flag)
        if option is None:
            raise UsageError("usage", text=f"{suggest.shown(flag)} is not an option of {provider.name}")
        if option.kind == "flag":
            values[option.name] = True
            continue
        if not is_joined and words and not words[-1].startswith("-"):
            value = words.pop()
        values[option.name] = [*values.get(option.name, ()), value] if option.repeatable else value
    return of_values(values, provider, {})


def _request(
    given: Mapping[str, object], provider: Provider, environ: Mapping[str, str], default_budget: int
) -> FetchRequest:
    common = {one.name: coerce(one, given[one.name]) if one.name in given else one.default for one in COMMON_OPTIONS}
    _check_ceiling(common["pit"], environ)
    options = {o.name: coerce(o, given[o.name]) if o.name in given else o.default for o in provider.options}
    since, until = common["date_from"], common["date_to"]
    if since is not None and until is not None and since > until:
        raise UsageError("usage", text="--date-from is after --date-to: swap them")
    if common["max_chars"] is None:
        text = environ.get("PIT_FETCH_MAX_CHARS")
        common["max_chars"] = budget("PIT_FETCH_MAX_CHARS", text) if text else default_budget
    if "timeout" not in given:  # some operations take longer than others
        common["timeout"] = max(operation.timeout for operation in named(provider, options))
    return FetchRequest(
        provider=provider,
        pit=common["pit"],
        since=since,
        until=until,
        limit=common["limit"],
        after=common["after"],
        max_pages=common["max_pages"],
        timeout=common["timeout"],
        input_file=common["input_file"],
        archive=common["archive"],
        offline=common["offline"],
        fields=_fields(common["fields"] or (), options, provider),
        format=common["format"],
        max_chars=common["max_chars"],
        pretty=common["pretty"],
        fail=common["fail"],
        verbose=common["verbose"],
        options=options,
        canonical=_canonical(given, common, options, provider),
        output=common["output"],
    )


def _check_ceiling(pit: datetime | None, environ: Mapping[str, str]) -> None:
    text = environ.get("PIT_FETCH_CEILING")
    if text is None:
        return
    ceiling = parse_pit(text)
    if ceiling is None:
        from pit_fetch.request.timestamp_errors import problem

        raise UsageError("ceiling_malformed", problem=problem(text))
    if pit is None:
        raise UsageError("pit_required")
    if pit > ceiling:
        raise UsageError("pit_above_ceiling")


def _fields(fields: tuple[str, ...], options: Mapping[str, Any], provider: Provider) -> tuple[str, ...]:
    """The requested fields. A field that the operation does not have is refused, if its fields are known."""
    chosen = named(provider, options)
    known = list(dict.fromkeys(field.name for one in chosen for field in one.fields))
    unknown = [name for name in fields if all(one.fields for one in chosen) and name not in (*known, *STAMPS)]
    if unknown:
        close = suggest.name(unknown[0], [*known, *STAMPS])
        hint = f" (did you mean {close}?)" if close else ""
        shown = suggest.shown(unknown[0])
        raise UsageError("usage", text=f"--fields: {shown} is not one of {', '.join(known)}{hint}")
    return fields


def _canonical(
    given: Mapping[str, object], common: Mapping[str, Any], options: Mapping[str, Any], provider: Provider
) -> str:
    """The request in one form, however it was made: what decides the answer, sorted by name. It parses back."""
    shown = {name: spell(given[name]).strip() for name in _AS_WRITTEN if name in given}
    shown |= {name: spell(common[name]) for name in _AS_READ if name in given}
    pairs = [(flag_of(name), text) for name, text in shown.items()]
    for option in provider.options:
        value = options[option.name]
        if value is not None and value is not False and value != option.default:
            values = value if option.repeatable else ("" if value is True else value,)
            pairs += [(flag_of(option.name), spell(one)) for one in values]
    texts = ["--source", provider.name]
    for flag, text in sorted(pairs, key=lambda pair: pair[0]):
        # A value that looks like an option would be taken for one.
        texts += [f"{flag}={text}"] if text.startswith("-") else [flag, text] if text else [flag]
    return shlex.join(texts)
