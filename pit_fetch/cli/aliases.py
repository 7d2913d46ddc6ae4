"""What other tools call our options and commands, and the hints for a command line that uses those words. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from pit_fetch.cli.commands import COMMANDS
from pit_fetch.formats import NAMES as FORMATS
from pit_fetch.support import suggest
from pit_fetch.support.suggest import normalize, truncate

# An option of every source -> its names in other tools. A source declares those of its own options.
_OPTIONS = {
    "date-from": "start since from begin after-date start-date from-date startdate begin-date published-after "
    "time-from start-time",
    "date-to": "end to until before till through end-date to-date enddate before-date published-before "
    "time-to end-time",
    "pit": "p as-of asof at when point-in-time pointintime knowledge-date cutoff as-of-date timestamp time "
    "datetime date",
    "limit": "max n count top num size rows head results max-results max-items max-count maxresults page-size per-page",
    "after": "cursor page offset next page-token continue",
    "timeout": "deadline wait max-time",
    "input-file": "input from-file replay infile",
    "fields": "columns select cols only",
    "format": "f output-format",
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
    # Of the other commands.
    "archive": "db database store archive-file",
    "uninstall": "remove delete",
    "prove": "proof test try verify",
}
# What a fetch has no option for, or one that takes no such value -> its names in other tools.
_NO_OPTIONS = {
    "only the envelope is printed anyway: leave it out": "quiet q silent no-progress color no-color colour",
    "set the variable PIT_FETCH_CEILING": "ceiling max-pit",
    "set the variable PIT_FETCH_AUDIT": "audit audit-file audit-log",
    "set the variable HTTPS_PROXY": "proxy proxies x http-proxy https-proxy socks socks5",
    "name the file of certificates in the variable REQUESTS_CA_BUNDLE": "insecure k no-verify verify cacert cert",
    "the addresses of sources are set by variables such as PIT_FETCH_FRED_URL": "url base-url host server base",
    "a source gets the headers that it needs: leave it out": "header headers cookie cookies referer",
    "a span is written as --date-from and --date-to": "period range span days weeks months years last duration history "
    "window lookback look-back horizon",
    "without --pit it is what the source says now": "now today live current",
    "failed requests are repeated within --timeout: leave it out": "retries retry max-retries backoff",
    "a host's rate is set by a variable such as PIT_FETCH_RATE_API_BENZINGA_COM": "rate rate-limit throttle sleep "
    "delay concurrency threads workers parallel jobs",
    "an archive keeps what was fetched: --archive PATH": "cache no-cache cache-dir use-cache refresh reload",
    "settings are read from pit_fetch.toml, and shown by pit_fetch config": "config conf settings config-file",
    "a .env file is read by itself": "env-file env dotenv",
    "pit_fetch panel asks about many, and as of many instants": "over",
    "items come newest first": "sort sort-by order order-by desc descending asc ascending reverse",
    "times are New York's, and a --pit has its own offset": "tz timezone time-zone utc local",
    "for everything, write --limit with a large number": "all no-limit unlimited everything",
    "--output replaces its file, all or nothing: leave it out": "overwrite force append yes y",
    "a fetch changes nothing: leave it out": "dry-run simulate",
    "CSV has commas, a header and UTF-8: convert the file afterwards": "sep separator delimiter encoding header-row "
    "no-header compress compression gzip zip",
    "a reply on standard input is read with --input-file -": "stdin pipe",
    "filter with the source's options, or what is printed": "filter where exclude include jq sql",
    **{f"write --format {name}": name for name in FORMATS},
}
_KEYS = frozenset(
    ["key", "keys", "api-key", "apikey", "token", "api-token", "auth", "password", "secret", "credential", "user-agent"]
)
_COMMANDS = {
    **{name: command.other_names for name, command in COMMANDS.items()},
    "--version": "",
    "--help": "usage man h ?",
}
# What is no command -> what somebody who types it is looking for.
_NO_COMMANDS = {
    "login auth key keys apikey api-key token credentials": "keys are read from the environment or a .env file, and "
    "pit_fetch config shows which are set",
    "update upgrade": "pit_fetch is upgraded as it was installed, and init --upgrade renews a project's parts",
    "uninstall remove": "pit_fetch init --uninstall removes what init has installed",
    "cache clear clean": "the cache folder is ~/.cache/pit_fetch, and may be removed",
}
# Words for a fetch; what follows them may be the source.
_FETCH = frozenset(
    ["fetch", "get", "run", "query", "search", "download", "pull", "ask", "call", "news", "earnings", "filings"]
)


def is_key(word: str) -> bool:
    """Return whether ``word`` names a key, whose value must be neither searched for nor shown."""
    return word in _KEYS


def option_hint(
    word: str, flags: Iterable[str], variables: Sequence[str] = (), search_terms: Mapping[str, str] = {}
) -> str:
    """Return the hint for an unknown option: " (did you mean --limit?)", or "".

    ``variables`` are those of the source's keys, ``search_terms`` the names of its options in other tools.
    """
    known = [flag for flag in flags if flag.startswith("--")]
    name = normalize(word)
    if name in _KEYS and f"--{name}" not in known:
        where = f"set {' or '.join(variables)}" if variables else "this source needs no key"
        return f" (keys are read from the environment or a .env file, never from the command line: {where})"
    terms = {option: f"{search_terms.get(option, '')} {words}" for option, words in _OPTIONS.items()}
    terms = {**search_terms, **terms}
    note = next((note for note, words in _NO_OPTIONS.items() if name in words.split()), "")
    if note and f"--{name}" not in known and not suggest.by_terms(name, known, terms):
        return f" ({note})"
    close = suggest.name(word, known, terms)
    return f" (did you mean {close}?)" if close else ""


def first_part_hint(word: str, names: Iterable[str]) -> str:
    """Return a hint at the few of ``names`` (``from_symbol``) whose first part is ``word``, as options; or ""."""
    flags = [f"--{name}" for name in map(normalize, names) if word and name.split("-")[0] == word != name]
    return f" (did you mean {' or '.join(flags)}?)" if 1 <= len(flags) <= 3 else ""


def explain_missing_source(
    argv: Sequence[str],
    sources: Sequence[str],
    names: Sequence[str],
    flags: Sequence[str],
    search_terms: Callable[[], Mapping[str, str]],
) -> str:
    """Return what to do about a command line without a source.

    ``names`` are those of the sources and their aliases, and ``search_terms()`` returns other words for the sources.
    """
    required = f"--source is required: {', '.join(sources[:-1])} or {sources[-1]} (pit_fetch --list-sources shows them)"
    words = [word for word in argv if not word.startswith("-")]
    misplaced = next((word for word in words if word in COMMANDS), "")
    if misplaced:
        return f"a command must come first: pit_fetch {misplaced} ..."
    for word in argv:
        flag = word.partition("=")[0]
        hint = option_hint(flag, flags) if word.startswith("-") and word not in flags else ""
        if any(f"{listing}?" in hint for listing in ("--source", "--help", "--version", "--list-sources")):
            return f"unrecognized arguments: {truncate(flag)}{hint}"
    if any(word.startswith(("source=", "--source:")) for word in argv):
        return "--source is required: write --source NAME"
    first = argv[0] if argv and not argv[0].startswith("-") else ""
    is_fetch = normalize(first) in _FETCH
    source = words[1] if is_fetch and len(words) > 1 else first
    likely = (suggest.name(source, sources, search_terms()) or suggest.name(source, names)) if source else ""
    if likely:
        return f"--source is required: write pit_fetch --source {likely} ..."
    if not first or "=" in first or is_fetch:
        return required
    advice = next((advice for words, advice in _NO_COMMANDS.items() if normalize(first) in words.split()), "")
    if advice:
        return f"{truncate(first)!r} is not a command: {advice}"
    close = suggest.name(first, _COMMANDS, _COMMANDS)
    if close:
        return f"{truncate(first)!r} is not a command: did you mean pit_fetch {close}? A fetch starts with --source"
    return f"{required}. Commands: {', '.join(COMMANDS)}, help"
