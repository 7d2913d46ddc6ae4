"""One fetch as data, parsed from a command line or from a Python call.

Both call forms (``EARNINGS symbol=AAPL`` and ``--op EARNINGS --symbol AAPL``) and the Python call
end in the same :class:`Request`, whose :attr:`Request.canonical` text stands in every gap.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from pit_fetch import meant
from pit_fetch.envelope import STAMPS
from pit_fetch.errors import UsageError
from pit_fetch.options import (
    COMMON_FLAGS,
    COMMON_WITH_VALUE,
    DEFAULT_LIMIT,
    DEFAULT_MAX_PAGES,
    DEFAULT_TIMEOUT,
    Parser,
    build_parser,
    destination,
    flag_of,
)
from pit_fetch.pit import Position, parse_cursor
from pit_fetch.provider import Option, Provider
from pit_fetch.times import instant, parse_pit, window_end, window_start

MIN_MAX_CHARS = 4_000
# The agent client cuts a tool's output at 30,000 characters and then hands its hook a broken JSON.
MAX_CHARS_UNDER_AGENT = 28_000

# Word processors and chat windows make one of two hyphens.
_LONG_DASH = re.compile("-?[\u2010-\u2014\u2212]-?[A-Za-z]")
_WINDOW_FORMS = "YYYY-MM-DD (a New York day) or a full time stamp with offset"
_KEY_VALUE = re.compile(r"([A-Za-z][A-Za-z0-9_-]*)=(.*)", re.DOTALL)


class Request(NamedTuple):
    """One fetch, fully parsed. Instants are aware and UTC; ``max_chars`` 0 means no budget."""

    provider: Provider
    pit: datetime | None
    limit: int
    since: datetime | None
    until: datetime | None
    after: Position | None
    after_instant: datetime | None
    max_pages: int
    timeout: float
    fields: tuple[str, ...]
    max_chars: int
    input_file: str | None
    pretty: bool
    fail: bool
    verbose: bool
    options: Mapping[str, Any]
    canonical: str


def parse(argv: Sequence[str], provider: Provider, environ: Mapping[str, str], agent_budget: bool = True) -> Request:
    """The request of a command line. Raises UsageError, whose reason names the fix."""
    given = _given(build_parser(provider), _expand_pairs(argv, provider), provider)
    words = given.pop("words", [])
    pit = _pit(given.get("pit"), words)
    _check_ceiling(pit, environ)
    options = _provider_options(given, words, provider)
    since, until = _instant(given, "date_from", window_start), _instant(given, "date_to", window_end)
    if since is not None and until is not None and since > until:
        raise UsageError("usage", text="--date-from is after --date-to: swap them")
    after = parse_cursor(given["after"]) if "after" in given else None
    if "after" in given and after is None:
        raise UsageError("usage", text="--after is not a cursor: copy it from the truncated gap")
    return Request(
        provider=provider,
        pit=pit,
        limit=_integer(given, "limit", DEFAULT_LIMIT),
        since=since,
        until=until,
        after=after[0] if after else None,
        after_instant=after[1] if after else None,
        max_pages=_integer(given, "max_pages", DEFAULT_MAX_PAGES),
        timeout=_seconds(given, "timeout", DEFAULT_TIMEOUT),
        fields=_fields(given, provider),
        max_chars=_max_chars(given, environ, agent_budget),
        input_file=_path(given),
        pretty="pretty" in given,
        fail="fail" in given,
        verbose="verbose" in given,
        options=options,
        canonical=_canonical(given, options, provider),
    )


def _given(parser: Parser, argv: list[str], provider: Provider) -> dict[str, Any]:
    """What is on the command line. What is unknown is named without its value, which may be a key.

    What follows ``--`` is words, and is kept from argparse: its intermixed form parses what is left
    over a second time, without the ``--``, so that an option behind it would count after all.
    """
    end = argv.index("--") if "--" in argv else len(argv)
    given, unknown = parser.parse_known_intermixed_args(argv[:end])
    names = [word.partition("=")[0] for word in unknown if word.startswith("-")]
    if any(re.fullmatch(r"-[0-9]{1,2}:?[0-9]{2}", name) for name in names):  # --pit 2024-02-15T16:00:00 -05:00
        raise UsageError("usage", text="an offset stands alone: write the time stamp as one word, without blanks")
    if unknown:
        hints = [meant.shown(name) + _hint(name, parser.flags, provider) for name in dict.fromkeys(names)]
        raise UsageError("usage", text=f"unrecognized arguments: {', '.join(hints) or 'words'}; see --help")
    literal = argv[end + 1 :]
    return {**vars(given), "words": [*getattr(given, "words", []), *literal]} if literal else vars(given)


def _hint(name: str, flags: Iterable[str], provider: Provider) -> str:
    return meant.option(name, flags, [variable for one in provider.credentials for variable in one.variables])


def argv_of(source: str, pit: object, options: Mapping[str, object]) -> list[str]:
    """The command line that a Python call stands for. Raises UsageError for a value that has no such form."""
    argv = [f"--source={source}"]
    for name, value in {"pit": pit, **options}.items():
        flag = flag_of(name)
        if value is None or value is False:
            continue
        argv.append(flag if value is True else f"{flag}={_argument(name, value)}")
    return argv


def _argument(name: str, value: object) -> str:
    if isinstance(value, datetime):
        if value.utcoffset() is None:
            raise UsageError("usage", text=f"{name} is a datetime without a zone: give an aware one")
        return value.isoformat()
    if isinstance(value, (list, tuple, set, frozenset)):
        return ",".join(str(part) for part in (sorted(value) if isinstance(value, (set, frozenset)) else value))
    return str(value)


def _expand_pairs(argv: Sequence[str], provider: Provider) -> list[str]:
    """Rewrites each ``key=value`` word of a provider option as ``--key=value``."""
    names = {option.name.replace("_", "-"): option for option in provider.options}
    flags = [*COMMON_FLAGS, *(f"--{name}" for name in names)]
    takes_value = COMMON_WITH_VALUE | {"--" + name for name, option in names.items() if option.kind != "flag"}
    free_words = any(option.positional == "all" for option in provider.options)
    expanded: list[str] = []
    literal = is_value = False
    for word in argv:
        literal = literal or word == "--"
        was_value = is_value
        pair = None if literal or is_value else _KEY_VALUE.fullmatch(word)
        is_value = not literal and not is_value and word in takes_value
        name = pair[1].lower().replace("_", "-") if pair else ""
        if not literal and not was_value and _LONG_DASH.match(word):
            hint = meant.option(word.partition("=")[0], flags)
            raise UsageError("usage", text=f"a long dash begins an option: write two hyphens{hint}")
        if pair is None or (name not in names and free_words and f"--{name}" not in COMMON_WITH_VALUE):
            expanded.append(word)
        elif name not in names:
            raise UsageError("usage", text=_unknown_pair(name, provider))
        elif names[name].kind == "flag":
            expanded += _flag_pair(name, pair[2])
        else:
            expanded.append(f"--{name}={pair[2]}")
    return expanded


def _flag_pair(name: str, value: str) -> list[str]:
    if value.lower() not in ("true", "false"):
        raise UsageError("usage", text=f"{name}= takes true or false")
    return [f"--{name}"] if value.lower() == "true" else []


def _unknown_pair(name: str, provider: Provider) -> str:
    if f"--{name}" in COMMON_WITH_VALUE:
        return f"{name}=... is an option of every source: write --{name} VALUE"
    flags = [*(flag_of(option.name) for option in provider.options), *COMMON_WITH_VALUE]
    return f"{meant.shown(name)}=... is not an option of {provider.name}{_hint(name, flags, provider)}; see --help"


def _provider_options(given: Mapping[str, Any], words: list[str], provider: Provider) -> dict[str, Any]:
    values: dict[str, Any] = {}
    positional = next((option for option in provider.options if option.positional), None)
    if words and positional is None:
        raise UsageError("usage", text=_no_words(provider))
    for option in provider.options:
        raw = given.get(destination(option))
        if words and option is positional:
            if raw is not None:
                raise UsageError("usage", text=f"--{option.name} is given twice, as an option and as a word")
            if option.positional == "one" and len(words) > 1:
                raise UsageError("usage", text=_one_word(option, len(words), provider))
            raw = " ".join(words)
        values[option.name] = option.default if raw is None else _value(option, raw)
    return values


def _no_words(provider: Provider) -> str:
    several = next((option for option in provider.options if option.kind == "list"), None)
    lists = f", and join several values with commas ({flag_of(several.name)} A,B)" if several else ""
    return f"{provider.name} takes no bare words: write --name VALUE or name=VALUE{lists}; see --help"


def _one_word(option: Option, count: int, provider: Provider) -> str:
    others = [other for other in provider.options if not other.positional and other.kind != "flag"]
    likely = next((other for other in others if other.name in ("symbol", "tickers")), others[0] if others else None)
    example = f", e.g. {likely.name}={likely.metavar or 'VALUE'}" if likely else ""
    return f"{provider.name} takes one bare word ({option.name}), not {count}: write the others as name=VALUE{example}"


def _path(given: Mapping[str, Any]) -> str | None:
    path: str | None = given.get("input_file")
    if path == "":
        raise UsageError("usage", text="--input-file is empty: give a path, or - for standard input")
    return path


def _value(option: Option, raw: Any) -> Any:
    name = flag_of(option.name)
    if option.kind == "flag":
        return bool(raw)
    text = str(raw).strip()
    if option.upper:
        text = text.upper()
    text = option.synonyms.get(text, text)
    if not text:
        raise UsageError("usage", text=f"{name} is empty: give a value or leave it out")
    if option.choices and text.casefold() not in option.choices and option.kind != "list":
        raise UsageError("usage", text=f"{name} is one of {', '.join(option.choices)}")
    match option.kind:
        case "list":
            parts = tuple(part.strip() for part in text.split(",") if part.strip())
            if not parts or (option.choices and any(part.casefold() not in option.choices for part in parts)):
                known = f" of {', '.join(option.choices)}" if option.choices else ""
                raise UsageError("usage", text=f"{name} is a comma-separated list{known}")
            return tuple(part.casefold() for part in parts) if option.choices else parts
        case "integer":
            return _to_integer(name, text, option.minimum)
        case "instant":
            moment = instant(text)
            if moment is None:
                raise UsageError("usage", text=f"{name} is {_WINDOW_FORMS}, or Unix seconds (not milliseconds)")
            return moment
        case _:
            return text.casefold() if option.choices else text


def _pit(text: str | None, words: Sequence[str]) -> datetime | None:
    if text is None:
        _look_for_pit(words)
        return None
    pit = parse_pit(text)
    if pit is None:
        from pit_fetch.pit_words import problem

        raise UsageError("pit_malformed", problem=problem(text, words))
    return pit


def _look_for_pit(words: Sequence[str]) -> None:
    """A PIT among the bare words was meant as one: searched for as text, the call would run in open mode."""
    for before, word in zip(("", *words), words, strict=False):
        if parse_pit(word) or (before.casefold() == "pit" and word[:1].isdigit()):
            raise UsageError("usage", text="a time stamp stands among the words: write --pit before it")


def _check_ceiling(pit: datetime | None, environ: Mapping[str, str]) -> None:
    text = environ.get("PIT_FETCH_CEILING")
    if text is None:
        return
    ceiling = parse_pit(text)
    if ceiling is None:
        from pit_fetch.pit_words import problem

        raise UsageError("ceiling_malformed", problem=problem(text))
    if pit is None:
        raise UsageError("pit_required")
    if pit > ceiling:
        raise UsageError("pit_above_ceiling")


def _instant(given: Mapping[str, Any], name: str, parser: Callable[[str], datetime | None]) -> datetime | None:
    return _to_instant(flag_of(name), given[name], parser) if name in given else None


def _to_instant(name: str, text: str, parser: Callable[[str], datetime | None]) -> datetime:
    moment = parser(text)
    if moment is None:
        from pit_fetch.pit_words import date_problem

        fix = date_problem(text)
        raise UsageError("usage", text=f"{name} is {_WINDOW_FORMS}" + (f": {fix}" if fix else ""))
    return moment


def _integer(given: Mapping[str, Any], name: str, default: int) -> int:
    return _to_integer(flag_of(name), given[name], 1) if name in given else default


def _to_integer(name: str, text: str, minimum: int) -> int:
    if not re.fullmatch(r"[0-9]{1,12}", text) or int(text) < minimum:
        raise UsageError("usage", text=f"{name} is a whole number of at least {minimum}")
    return int(text)


def _seconds(given: Mapping[str, Any], name: str, default: float) -> float:
    if name not in given:
        return default
    try:
        seconds = float(given[name])
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= 86_400:
        raise UsageError("usage", text=f"--{name} is a number of seconds above 0 and up to 86400")
    return seconds


def _fields(given: Mapping[str, Any], provider: Provider) -> tuple[str, ...]:
    if "fields" not in given:
        return ()
    fields = tuple(part.strip() for part in given["fields"].split(",") if part.strip())
    unknown = [name for name in fields if provider.fields and name not in {*provider.fields, *STAMPS}]
    if not fields or unknown:
        known = ", ".join(provider.fields) if provider.fields else "names of fields"
        close = meant.name(unknown[0], [*provider.fields, *STAMPS]) if unknown else ""
        hint = f" ({meant.shown(unknown[0])} is none of them: did you mean {close}?)" if close else ""
        raise UsageError("usage", text=f"--fields is a comma-separated list of: {known}{hint}")
    return fields


def _max_chars(given: Mapping[str, Any], environ: Mapping[str, str], agent_budget: bool) -> int:
    if "max_chars" in given:
        name, text = "--max-chars", given["max_chars"]
    elif environ.get("PIT_FETCH_MAX_CHARS"):
        name, text = "PIT_FETCH_MAX_CHARS", environ["PIT_FETCH_MAX_CHARS"]
    else:
        return MAX_CHARS_UNDER_AGENT if agent_budget and environ.get("CLAUDECODE") else 0
    number = _to_integer(name, text, 0)
    if 0 < number < MIN_MAX_CHARS:
        raise UsageError("usage", text=f"{name} is 0 (no budget) or at least {MIN_MAX_CHARS}")
    return number


def _canonical(given: Mapping[str, Any], options: Mapping[str, Any], provider: Provider) -> str:
    """The request in one form, whichever call form was used: what decides the answer, sorted by name."""
    words = ["--source", provider.name]
    shown = {name.replace("_", "-"): given[name] for name in _SHOWN if name in given}
    for option in provider.options:
        value = options[option.name]
        if value is not None and value is not False and value != option.default:
            shown[option.name.replace("_", "-")] = "" if value is True else _argument(option.name, value)
    for name, text in sorted(shown.items()):
        words += [f"--{name}", text] if text else [f"--{name}"]
    return shlex.join(words)


_SHOWN = ("pit", "date_from", "date_to", "limit", "after", "max_pages", "fields", "input_file")
