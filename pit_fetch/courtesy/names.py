"""The known name that a word means: one table of what other tools say, and the distance of a slip. Pure.

A source declares the other names of its own options, its operations and itself as ``search_terms``.

>>> closest("lmit", ["--limit", "--after"]), closest("ticker", ["symbol", "topics"], {"symbol": "ticker stock"})
('--limit', 'symbol')
>>> hint("lmit", ["--limit"]), hint("xyzzy", ["--limit"])
(' (did you mean --limit?)', '')
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from types import MappingProxyType

# An option -> its names in other tools.
OPTIONS = {
    "date-from": "start since from begin after-date start-date from-date startdate published-after time-from",
    "date-to": "end to until before till through end-date to-date enddate before-date published-before time-to",
    "pit": "p as-of asof at when point-in-time knowledge-date cutoff as-of-date timestamp time datetime date",
    "limit": "max n count top num size rows head results max-results max-items max-count page-size per-page",
    "after": "cursor page offset next page-token continue",
    "timeout": "deadline wait max-time",
    "input-file": "input from-file replay infile",
    "fields": "columns select cols only",
    "format": "f output-format",
    "max-chars": "max-tokens max-length max-bytes max-size budget",
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
# What a fetch has no option for -> its names in other tools.
NO_OPTIONS = {
    "only the envelope is printed anyway: leave it out": "quiet q silent no-progress no-color",
    "set the variable PIT_FETCH_CEILING": "ceiling max-pit",
    "set the variable HTTPS_PROXY": "proxy proxies x http-proxy https-proxy",
    "name the file of certificates in the variable REQUESTS_CA_BUNDLE": "insecure k no-verify verify cacert cert",
    "the addresses of sources are set by variables such as PIT_FETCH_FRED_URL": "url base-url host server base",
    "a span is written as --date-from and --date-to": "period range span days weeks months years last duration history "
    "window lookback",
    "failed requests are repeated within --timeout: leave it out": "retries retry max-retries backoff",
    "a host's rate is set by a variable such as PIT_FETCH_RATE_API_BENZINGA_COM": "rate rate-limit throttle sleep "
    "delay concurrency threads workers parallel jobs",
    "an archive keeps what was fetched: --archive PATH": "cache no-cache cache-dir use-cache refresh",
    "settings are read from pit_fetch.toml, and shown by pit_fetch config": "config settings config-file",
    "pit_fetch panel asks about many, and as of many instants": "over",
    "items come newest first": "sort sort-by order order-by desc descending asc ascending reverse",
    "times are New York's, and a --pit has its own offset": "tz timezone time-zone utc local",
    "for everything, write --limit with a large number": "all no-limit unlimited everything",
}
# A value behind one of these must be neither searched for nor shown.
KEYS = "key keys api-key apikey token api-token auth login password secret credential user-agent"

# A command -> its names in other tools.
COMMANDS = {
    "sources": "list providers ls source list-providers",
    "diff": "compare changes delta",
    "explain": "why debug",
    "panel": "grid matrix batch bulk backtest",
    "capture": "record snapshot",
    "archive": "info log replay merge rebuild drop database db store history",
    "runs": "",
    "run": "exec sandbox world wrap",
    "normalize": "",
    "init": "setup install add-hooks initialise initialize",
    "doctor": "check status diagnose health selftest",
    "lint": "validate verify check-agents",
    "mcp": "serve server mcp-server serve-mcp stdio",
    "mcp-gate": "gate proxy mcp-proxy",
    "config": "settings configure preferences",
    "completion": "complete completions autocomplete",
    "new-provider": "new create scaffold generate plugin provider add-provider",
    "--version": "",
    "--help": "usage man h ?",
}
# Words for a fetch; what follows them may be the source.
FETCH = "fetch get query search download pull ask call news earnings filings"
_NO_SYNONYMS: Mapping[str, str] = MappingProxyType({})


def hint(word: str, names: Iterable[str], synonyms: Mapping[str, str] = _NO_SYNONYMS) -> str:
    """Return " (did you mean NAME?)" with the name that :func:`closest` returns; "" if none is plausible."""
    name = closest(word, names, synonyms)
    return f" (did you mean {name}?)" if name else ""


def closest(word: str, names: Iterable[str], synonyms: Mapping[str, str] = _NO_SYNONYMS) -> str:
    """Return which of ``names`` a word probably means, or "" rather than something far-fetched.

    ``synonyms`` maps names to other words for them, separated by spaces.
    """
    known = {normalize(name): name for name in names}
    return known.get(synonym(word, known, synonyms) or next(_similar(normalize(word), list(known)), ""), "")


def synonym(word: str, names: Iterable[str], synonyms: Mapping[str, str]) -> str:
    """Return the name, normalized, that a word is or has among its synonyms; "" if there is none."""
    known, word = [normalize(name) for name in names], normalize(word)
    if word in known:
        return word
    meant = (normalize(name) for name, words in synonyms.items() if word in words.split())
    return next((name for name in meant if name in known), "")


def normalize(word: str) -> str:
    """Return a word without the hyphens or dashes before it, with hyphens in it and in lower case."""
    stripped = word.lstrip("-\u2010\u2011\u2012\u2013\u2014\u2212").replace("_", "-")
    return stripped if stripped == "V" else stripped.lower()  # -v is another option than -V


def _similar(word: str, known: list[str]) -> Iterator[str]:
    """Yield names that a word may be a slip of, the surest first."""
    for matches in (
        [name for name in known if len(word) >= 2 and name.startswith(word)],
        [name for name in known if len(word) >= 4 and word in name.split("-")],
        [name for name in known if len(word) >= 3 and sorted(name) == sorted(word)],
        # A lower ratio would take "state" for "start".
        get_close_matches(word, [name for name in known if len(name) >= 3], n=1, cutoff=0.81) if len(word) >= 3 else [],
    ):
        yield from matches if len(matches) == 1 else ()
