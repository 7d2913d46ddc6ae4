"""One fetch as data: a :class:`FetchRequest`, from Python values or from its own canonical form.

The command line, in both of its forms, and a Python call produce the same request, whose
:attr:`FetchRequest.canonical` text is repeated in every gap.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from pit_fetch.errors import UsageError
from pit_fetch.formats import ADDED_FIELDS
from pit_fetch.gaps import Code
from pit_fetch.pipeline.claims import CLAIMED
from pit_fetch.pipeline.cursor import Cursor
from pit_fetch.provider import ENVELOPE_FIELDS, Option, Provider
from pit_fetch.request import evidence
from pit_fetch.request.audience import is_for_an_agent, is_offline
from pit_fetch.request.operations import candidate_operations, check_operation
from pit_fetch.request.options import COMMON_OPTIONS, parse_budget
from pit_fetch.request.values import flag_of, format_value, parse_value, plain_value
from pit_fetch.times import parse_pit

# The common options that decide the answer. Instants and cursors are repeated as they were written.
_AS_WRITTEN = ("pit", "date_from", "date_to", "after", "input_file")
_AS_PARSED = ("limit", "newest", "max_pages", "fields")

# A limit that is more than any source has.
UNLIMITED = 2**62


class FetchRequest(NamedTuple):
    """One fetch, fully parsed. Instants are aware and UTC.

    max_chars  maximum number of characters of the output; 0: no limit
    evidence   the grade of evidence to answer with, after the check that the operator grants it
    canonical  the request in one form, however it was made; :func:`from_canonical` reads it back
    output     the file that the answer goes to; None: stdout
    width      characters in a line of the terminal, if the answer goes to one
    capture    the fetch is made to be recorded, and its answer is not used
    open       a browser shows the file
    csv_safe   no cell of a CSV begins like a formula
    is_unread  nobody reads the gaps of an answer that is nothing but a failure: its exit status says so
    newest     of each series, so many periods; 0: all
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
    evidence: str
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
    open: bool = False
    csv_safe: bool = False
    is_unread: bool = False
    newest: int = 0

    @property
    def captures_all(self) -> bool:
        """Whether it is made to record all that its source has."""
        return self.capture and self.limit == self.max_pages == UNLIMITED


def from_values(
    values: Mapping[str, object],
    provider: Provider,
    environ: Mapping[str, str],
    defaults: Mapping[str, object] = {},
    command: str = "",
) -> FetchRequest:
    """Return the request of a Python call. None stands for an absent value. Raise UsageError, also for a bad name."""
    known = {option.name: option for option in (*COMMON_OPTIONS, *provider.all_options)}
    for name in values:
        if name not in known:
            from pit_fetch.courtesy.names import hint

            close = hint(name, known, {option.name: option.search_terms for option in provider.all_options})
            raise UsageError(Code.USAGE, text=f"{name} is not an option of {provider.name}{close}")
    present = {name: plain_value(known[name], value) for name, value in values.items() if value is not None}
    return build({**defaults, **present}, provider, environ, command=command)


def from_canonical(text: str, provider: Provider) -> FetchRequest:
    """Return the request whose ``canonical`` is ``text``. Raise UsageError if the provider refuses it now.

    Values that do not decide the answer, such as the output format, are the defaults.
    """
    options = {flag_of(option.name): option for option in (*COMMON_OPTIONS, *provider.all_options)}
    values: dict[str, Any] = {}
    words = shlex.split(text)[:1:-1]  # without --source NAME, and reversed: pop() takes the next word
    while words:
        flag, is_joined, value = words.pop().partition("=")
        option = options.get(flag)
        if option is None:
            from pit_fetch.support.wording import truncate

            raise UsageError(Code.USAGE, text=f"{truncate(flag)} is not an option of {provider.name}")
        if option.kind == "flag":
            values[option.name] = True
            continue
        if not is_joined and words and not words[-1].startswith("-"):
            value = words.pop()
        values[option.name] = [*values.get(option.name, ()), value] if option.repeatable else value
    return from_values(values, provider, {})


def build(
    given: Mapping[str, object],
    provider: Provider,
    environ: Mapping[str, str],
    max_chars: int = 0,
    parsed: Mapping[str, object] = {},
    command: str = "",
) -> FetchRequest:
    """Return the request of the options that are ``given``, by name. Raise UsageError, whose reason names the fix.

    ``max_chars`` is the default of that option. ``parsed`` holds the values of options that are parsed already.
    ``command`` is the command that the request is for, if it adds fields to the items.
    """
    common: dict[str, Any] = {**_values(COMMON_OPTIONS, given, parsed), **parsed}
    check_ceiling(common["pit"], environ)
    try:
        options = _values(provider.all_options, given)
    except UsageError as error:
        raise _advised(error, given, provider, environ) from None
    check_operation(provider, options)
    if common["newest"] and command:
        raise UsageError(Code.USAGE, text=f"--newest chooses among the items of a fetch: {command} has all of them")
    if common["newest"] and not all(each.period for each in candidate_operations(provider, options)):
        raise UsageError(Code.USAGE, text="--newest counts periods, and this operation has none: give --limit")
    since, until = common["date_from"], common["date_to"]
    if since is not None and until is not None and since > until:
        raise UsageError(Code.USAGE, text="--date-from is after --date-to: swap them")
    idle = next((name for name in ("archive", "offline") if common["input_file"] and common[name]), None)
    if idle is not None:
        raise UsageError(Code.USAGE, text=f"--input-file is read instead of an archive: leave out {flag_of(idle)}")
    if is_offline(environ) and not common["input_file"]:
        common["offline"] = True
    if common["max_chars"] is None:
        text = environ.get("PIT_FETCH_MAX_CHARS")
        common["max_chars"] = parse_budget("PIT_FETCH_MAX_CHARS", text) if text else max_chars
    if "timeout" not in given:  # some operations take longer than others
        common["timeout"] = max(operation.timeout for operation in candidate_operations(provider, options))
    common["evidence"] = evidence.granted(provider, common["evidence"], environ)
    canonical = _canonical(given, common, options, provider)
    provider = _fill_hosts(provider, options)
    added = ADDED_FIELDS.get(command, ())
    common["fields"] = _known_fields(common["fields"] or (), options, provider, added)
    by_name = {name: value for name, value in common.items() if name in FetchRequest._fields}
    return FetchRequest(provider=provider, since=since, until=until, options=options, canonical=canonical, **by_name)


def _advised(
    error: UsageError, given: Mapping[str, object], provider: Provider, environ: Mapping[str, str]
) -> UsageError:
    """Return the refusal of a value. If that is a list, whoever may ask a panel is told so."""
    from pit_fetch.courtesy.panels import advice

    pit = given.get("pit")
    text = "" if is_for_an_agent(environ) else advice(str(error), given, provider, format_value(pit) if pit else "")
    return UsageError(Code.USAGE, text=f"{error}{text}") if text else error


def _values(options: Iterable[Option], given: Mapping[str, object], parsed: Collection[str] = ()) -> dict[str, Any]:
    return {
        option.name: parse_value(option, given[option.name]) if option.name in given else option.default
        for option in options
        if option.name not in parsed
    }


def _fill_hosts(provider: Provider, options: Mapping[str, Any]) -> Provider:
    """Return the provider with options' values in the addresses of its hosts. Raise UsageError for a bad value."""
    if not any("{" in host.url for host in provider.hosts):
        return provider
    for name, value in options.items():
        is_part = any(f"{{{name}}}" in host.url for host in provider.hosts)
        if is_part and not (str(value).isascii() and str(value).replace("-", "").isalnum()):
            raise UsageError(
                Code.USAGE, text=f"{flag_of(name)} is a part of a host's name: letters, digits and hyphens"
            )
    return provider._replace(hosts=tuple(host._replace(url=host.url.format_map(options)) for host in provider.hosts))


def check_ceiling(pit: datetime | None, environ: Mapping[str, str]) -> None:
    """Raise UsageError if the operator's ceiling forbids ``pit`` (None: no PIT), or cannot be read."""
    text = environ.get("PIT_FETCH_CEILING")
    if text is None:
        return
    ceiling = parse_pit(text)
    if ceiling is None:
        from pit_fetch.courtesy.timestamps import problem

        raise UsageError(Code.CEILING_MALFORMED, problem=problem(text))
    if pit is None:
        raise UsageError(Code.PIT_REQUIRED, ceiling=text)
    if pit > ceiling:
        raise UsageError(Code.PIT_ABOVE_CEILING, ceiling=text)


def _known_fields(
    fields: tuple[str, ...], options: Mapping[str, Any], provider: Provider, added: Sequence[str]
) -> tuple[str, ...]:
    """Return ``fields``. Raise UsageError for one that neither the operation has nor the command adds."""
    operations = candidate_operations(provider, options)
    if not all(operation.fields for operation in operations):
        return fields
    known = [*added, *dict.fromkeys(field.name for operation in operations for field in operation.fields)]
    unknown = [name for name in fields if name not in (*known, *ENVELOPE_FIELDS)]
    if unknown:
        from pit_fetch.courtesy.names import hint
        from pit_fetch.support.wording import truncate

        is_all = unknown[0] in ("all", "*")
        fix = " (for all of them, leave it out)" if is_all else hint(unknown[0], [*known, *ENVELOPE_FIELDS])
        raise UsageError(Code.USAGE, text=f"--fields: {truncate(unknown[0])} is not one of {', '.join(known)}{fix}")
    return fields


def _canonical(
    given: Mapping[str, object], common: Mapping[str, Any], options: Mapping[str, Any], provider: Provider
) -> str:
    texts = {name: format_value(given[name]).strip() for name in _AS_WRITTEN if name in given}
    texts |= {name: format_value(common[name]) for name in _AS_PARSED if name in given}
    if common["evidence"] == CLAIMED:  # however it was granted: the canonical text must give the same answer again
        texts["evidence"] = CLAIMED
    pairs = [(flag_of(name), text) for name, text in texts.items()]
    for option in provider.all_options:
        value = options[option.name]
        if value is not None and value is not False and value != option.default:
            values = value if option.repeatable else ("" if value is True else value,)
            pairs += [(flag_of(option.name), format_value(part)) for part in values]
    words = ["--source", provider.name]
    for flag, text in sorted(pairs, key=lambda pair: pair[0]):
        # A value that looks like an option would be taken for one.
        words += [f"{flag}={text}"] if text.startswith("-") else [flag, text] if text else [flag]
    return shlex.join(words)
