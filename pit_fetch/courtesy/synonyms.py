"""What other tools call our options, commands and the like, and what is said of words that have no counterpart here.

A source declares the other names of its own options, its operations and itself as ``search_terms``.
"""

from __future__ import annotations

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
    "pretty": "indent",
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
    "--output replaces its file, all or nothing: leave it out": "overwrite force append yes y",
    "a fetch changes nothing: leave it out": "dry-run",
    **{f"write --format {name}": name for name in ("jsonl", "csv", "table", "html", "parquet")},
}
# A value behind one of these must be neither searched for nor shown.
KEYS = "key keys api-key apikey token api-token auth password secret credential user-agent"

# A command -> its names in other tools.
COMMANDS = {
    "sources": "list providers ls source list-providers",
    "diff": "compare changes delta",
    "explain": "why debug",
    "panel": "grid matrix batch bulk backtest",
    "capture": "record snapshot",
    "archive": "info log replay merge rebuild drop database db store history",
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
# What is no command -> what somebody who types it is looking for.
NO_COMMANDS = {
    "keys are read from the environment or a .env file, and pit_fetch config shows which are set": (
        "login auth key keys apikey api-key token credentials"
    ),
    "pit_fetch is upgraded as it was installed, and init --upgrade renews a project's parts": "update upgrade",
    "pit_fetch init --uninstall removes what init has installed": "uninstall remove",
}
# A command on an archive -> its names in other tools.
ARCHIVE_COMMANDS = {
    "info": "show status stats list ls contents sources",
    "log": "history fetches queries calls",
    "replay": "rerun print get cat",
    "verify": "check validate test",
    "repair": "fix recover",
    "merge": "import combine add join",
    "export": "dump csv parquet write",
    "rebuild": "reindex vacuum compact upgrade migrate",
    "drop": "delete remove rm purge prune clean",
    "sample": "example demo new create make init",
}
# Words for a fetch; what follows them may be the source.
FETCH = "fetch get run query search download pull ask call news earnings filings"


def advice(word: str, notes: dict[str, str]) -> str:
    """Return the note that has a word among its words; "" if none has.

    >>> advice("proxy", NO_OPTIONS)
    'set the variable HTTPS_PROXY'
    """
    return next((note for note, words in notes.items() if word in words.split()), "")
