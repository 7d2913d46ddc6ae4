"""What a word was probably meant to be: the closest known word, or our word for what other tools call it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

# An option of every source -> its names in other tools. A source declares those of its own options.
_ELSEWHERE: Mapping[str, str] = {
    "date-from": "start since from begin after-date start-date from-date startdate begin-date published-after "
    "time-from start-time",
    "date-to": "end to until before till through end-date to-date enddate before-date published-before "
    "time-to end-time",
    "pit": "as-of asof at when point-in-time pointintime knowledge-date cutoff as-of-date timestamp time datetime date",
    "limit": "max n count top num size rows head results max-results max-items max-count maxresults page-size per-page",
    "after": "cursor page offset next page-token continue",
    "timeout": "deadline wait max-time",
    "input-file": "input from-file replay infile",
    "fields": "columns select cols only",
    "format": "f output-format csv jsonl",
    "max-chars": "max-tokens max-length max-bytes max-size budget",
    "pretty": "indent pprint",
    "fail": "strict fail-fast exit-code",
    "verbose": "debug trace log log-level",
    "source": "provider src api backend vendor s",
    "list-sources": "list sources providers ls list-providers",
    "version": "V ver",
    "help": "usage man ?",
    "op": "function fn func operation endpoint action method",
    "output": "out o outfile output-file save",
}

_KEY_WORDS = frozenset(
    ["key", "keys", "api-key", "apikey", "token", "api-token", "auth", "password", "secret", "credential", "user-agent"]
)
_NO_OPTION: Mapping[str, str] = {
    "only the envelope is printed anyway: leave it out": "quiet silent no-progress",
    "set the variable PIT_FETCH_CEILING": "ceiling max-pit",
    "set the variable PIT_FETCH_AUDIT": "audit audit-file audit-log",
}
_COMMANDS_ELSEWHERE: Mapping[str, str] = {
    "init": "setup install add-hooks initialise initialize",
    "lint": "validate verify check-agents",
    "doctor": "check status diagnose health selftest",
    "new-provider": "new create scaffold generate plugin provider add-provider",
    "sources": "list providers ls source list-providers",
    "config": "settings configure preferences",
    "completion": "complete completions autocomplete",
    "--version": "version",
    "--help": "usage man h ?",
}
_FETCH_WORDS = frozenset(
    ["fetch", "get", "run", "query", "search", "download", "pull", "ask", "call", "news", "earnings", "filings"]
)
_SHOWN = 40
_NO_TERMS: Mapping[str, str] = MappingProxyType({})


def shown(word: str) -> str:
    """``word`` as a message may repeat it: cut to a reasonable length."""
    return word if len(word) <= _SHOWN else word[:_SHOWN] + "..."


def is_key(word: str) -> bool:
    """Whether a word names a key, whose value must be neither searched for nor shown."""
    return word in _KEY_WORDS


def option(
    word: str, flags: Iterable[str], variables: Sequence[str] = (), search_terms: Mapping[str, str] = _NO_TERMS
) -> str:
    """Return the hint for an unknown option: " (did you mean --limit?)", or "".

    ``variables`` hold the source's keys, ``search_terms`` the names of its options in other tools.
    """
    known = {_plain(flag): flag for flag in flags if flag.startswith("--")}
    name = _plain(word)
    note = next((text for text, words in _NO_OPTION.items() if name in words.split()), "")
    if name in _KEY_WORDS and name not in known:
        where = f"set {' or '.join(variables)}" if variables else "this source needs no key"
        return f" (keys are read from the environment or a .env file, never from the command line: {where})"
    found = _closest(name, known, [*search_terms.items(), *_ELSEWHERE.items()])
    if found and not (note and found != name):
        return f" (did you mean {known[found]}?)"
    return f" ({note})" if note else ""


def name(word: str, names: Iterable[str], search_terms: Mapping[str, str] = _NO_TERMS) -> str:
    """Return the one of ``names`` that ``word`` probably means, or "" if none is plausible.

    ``search_terms`` maps names to other words for them, separated by spaces.
    """
    known = {_plain(candidate): candidate for candidate in names}
    found = _closest(_plain(word), known, search_terms.items())
    return known[found] if found else ""


def beginning(word: str, names: Iterable[str]) -> str:
    """A hint at the few of ``names`` (``from_symbol``) whose first part is ``word``, as options; or ""."""
    found = [option for option in map(_plain, names) if word and option.split("-")[0] == word != option]
    return f" (did you mean {' or '.join(f'--{option}' for option in found)}?)" if 1 <= len(found) <= 3 else ""


def without_source(
    argv: Sequence[str],
    commands: Sequence[str],
    main: Sequence[str],
    sources: Sequence[str],
    flags: Sequence[str],
    search_terms: Callable[[], Mapping[str, str]],
) -> str:
    """Return what to do about a command line without a source.

    ``main`` holds the sources' names, ``sources`` aliases too, and ``search_terms()`` other words for them.
    """
    required = f"--source is required: {', '.join(main[:-1])} or {main[-1]} (pit_fetch --list-sources shows them)"
    words = [word for word in argv if not word.startswith("-")]
    misplaced = next((word for word in words if word in commands), "")
    if misplaced:
        return f"a command must come first: pit_fetch {misplaced} ..."
    for flag in (word for word in argv if word.startswith("-") and word not in flags):
        hint = option(flag.partition("=")[0], flags)
        if any(f"{listing}?" in hint for listing in ("--source", "--help", "--version", "--list-sources")):
            return f"unrecognized arguments: {shown(flag.partition('=')[0])}{hint}"
    if words and words[0].startswith("source="):
        return "--source is required: write --source NAME"
    word = argv[0] if argv and not argv[0].startswith("-") else ""
    asked = words[1] if _plain(word) in _FETCH_WORDS and len(words) > 1 else word
    likely = (name(asked, main, search_terms()) or name(asked, sources)) if asked else ""
    if likely:
        return f"--source is required: write pit_fetch --source {likely} ..."
    if not word or "=" in word or _plain(word) in _FETCH_WORDS:
        return required
    known = {_plain(command): command for command in (*commands, *_COMMANDS_ELSEWHERE)}
    found = _closest(_plain(word), known, _COMMANDS_ELSEWHERE.items())
    if found:
        return f"{shown(word)!r} is not a command: did you mean pit_fetch {known[found]}? A fetch starts with --source"
    return f"{required}. Commands: {', '.join(commands)}, help"


def _plain(word: str) -> str:
    stripped = word.lstrip("-\u2010\u2011\u2012\u2013\u2014\u2212").replace("_", "-")
    return stripped if stripped == "V" else stripped.lower()


def _closest(word: str, known: Iterable[str], search_terms: Iterable[tuple[str, str]]) -> str:
    """Return the plausible one of ``known``, by the surest sign first, or "" rather than something far-fetched."""
    known = list(known)
    if word in known:
        return word
    for candidate, terms in search_terms:
        if _plain(candidate) in known and word in terms.split():
            return _plain(candidate)
    parts = sorted(word.split("-"))
    signs = (
        [candidate for candidate in known if sorted(candidate.split("-")) == parts],
        [candidate for candidate in known if len(word) >= 2 and candidate.startswith(word)],
        [
            candidate
            for candidate in known
            if len(candidate) >= 3 and word.startswith(candidate) and len(word) - len(candidate) <= 2
        ],
        [candidate for candidate in known if len(word) >= 4 and word in candidate.split("-")],
        [
            candidate for candidate in known if len(word) >= 3 and sorted(candidate) == sorted(word)
        ],  # letters in another order
    )
    for found in signs:
        if len(found) == 1:
            return found[0]
    if len(word) < 3:
        return ""
    from difflib import get_close_matches

    # A lower ratio would take "state" for "start".
    return next(
        iter(get_close_matches(word, [candidate for candidate in known if len(candidate) >= 3], n=1, cutoff=0.81)), ""
    )
