"""What a word was probably meant to be: the closest known word, or our word for what other tools call it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

# our option -> what it is called elsewhere
_ELSEWHERE: Mapping[str, str] = {
    "date-from": "start since from begin after-date start-date from-date startdate begin-date published-after "
    "time-from start-time",
    "date-to": "end to until before till through end-date to-date enddate before-date published-before "
    "time-to end-time",
    "pit": "as-of asof at when point-in-time pointintime knowledge-date cutoff as-of-date timestamp time datetime date",
    "limit": "max n count top num size rows head results max-results max-items max-count maxresults page-size per-page",
    "pages": "page dir folder directory saved",
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
    "symbol": "ticker tickers symbols sym stock t",
    "tickers": "ticker symbol symbols sym stock stocks t",
    "series-id": "series id symbol ticker code indicator",
    "query": "q search keyword keywords term terms text phrase",
    "keywords": "keyword query q search term terms text phrase",
    "output": "out o outfile output-file save",
    "forms": "form type types form-type filing-type",
    "ciks": "cik",
    "entity": "company name company-name",
    "channels": "category categories section",
    "themes": "topic topics",
    "topics": "theme themes",
    "lookback-minutes": "window",
    "interval": "frequency freq resolution timeframe granularity",
}

# an operation of a source -> what it is called elsewhere
_OPERATIONS_ELSEWHERE: Mapping[str, str] = {
    "time-series-daily": "price prices daily bars ohlc ohlcv candles candle history historical eod close time-series",
    "time-series-intraday": "intraday minute minutes",
    "prices": "bars ohlc ohlcv candles chart history quote quotes daily intraday",
    "global-quote": "quote quotes latest last",
    "news-sentiment": "news sentiment headlines articles",
    "overview": "fundamentals company profile info",
    "income-statement": "income revenue financials",
    "earnings": "eps",
    "earnings-call-transcript": "transcript transcripts",
    "events": "calls call",
    "listing-status": "listings listing tickers symbols",
    "currency-exchange-rate": "fx forex exchange-rate",
    "treasury-yield": "treasury treasuries yield yields",
    "nonfarm-payroll": "payroll payrolls jobs nfp",
}
# a source -> what it is called elsewhere
_SOURCES_ELSEWHERE: Mapping[str, str] = {
    "sec-full-text": "edgar filings filing efts sec-edgar",
    "earningscall": "transcript transcripts calls",
    "perplexity": "web sonar",
    "fred": "stlouisfed st-louis-fed economic",
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


def shown(word: str) -> str:
    """``word`` as a message may repeat it: cut to a reasonable length."""
    return word if len(word) <= _SHOWN else word[:_SHOWN] + "..."


def is_key(word: str) -> bool:
    """Whether a word names a key, whose value must be neither searched for nor shown."""
    return word in _KEY_WORDS


def option(word: str, flags: Iterable[str], variables: Sequence[str] = ()) -> str:
    """The hint for an unknown option: " (did you mean --limit?)", or "". ``variables`` hold the source's keys."""
    known = {_plain(flag): flag for flag in flags if flag.startswith("--")}
    name = _plain(word)
    note = next((text for text, words in _NO_OPTION.items() if name in words.split()), "")
    if name in _KEY_WORDS and name not in known:
        where = f"set {' or '.join(variables)}" if variables else "this source needs no key"
        return f" (keys are read from the environment or a .env file, never from the command line: {where})"
    found = _closest(name, known, _ELSEWHERE)
    if found and not (note and found != name):
        return f" (did you mean {known[found]}?)"
    return f" ({note})" if note else ""


def name(word: str, names: Iterable[str]) -> str:
    """The one of ``names`` that ``word`` probably means; "" if none is plausible."""
    return _name(word, names, {})


def source(word: str, names: Iterable[str]) -> str:
    """The same for the name of a source."""
    return _name(word, names, _SOURCES_ELSEWHERE)


def operation(word: str, names: Iterable[str]) -> str:
    """The same for an operation of a source."""
    return _name(word, names, _OPERATIONS_ELSEWHERE)


def beginning(word: str, names: Iterable[str]) -> str:
    """A hint at the few of ``names`` (``from_symbol``) whose first part is ``word``, as options; or ""."""
    found = [one for one in names if word and _plain(one).split("-")[0] == word and _plain(one) != word]
    return f" (did you mean {' or '.join(f'--{_plain(one)}' for one in found)}?)" if 1 <= len(found) <= 3 else ""


def _name(word: str, names: Iterable[str], elsewhere: Mapping[str, str]) -> str:
    known = {_plain(one): one for one in names}
    found = _closest(_plain(word), known, elsewhere)
    return known[found] if found else ""


def without_source(
    argv: Sequence[str], commands: Sequence[str], main: Sequence[str], sources: Sequence[str], flags: Sequence[str]
) -> str:
    """What to do about a command line without a source. ``main`` holds the sources' names, ``sources`` aliases too."""
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
    likely = (source(asked, main) or source(asked, sources)) if asked else ""
    if likely:
        return f"--source is required: write pit_fetch --source {likely} ..."
    if not word or "=" in word or _plain(word) in _FETCH_WORDS:
        return required
    known = {_plain(one): one for one in (*commands, *_COMMANDS_ELSEWHERE)}
    found = _closest(_plain(word), known, {_plain(key): words for key, words in _COMMANDS_ELSEWHERE.items()})
    if found:
        return f"{shown(word)!r} is not a command: did you mean pit_fetch {known[found]}? A fetch starts with --source"
    return f"{required}. Commands: {', '.join(commands)}, help"


def _plain(word: str) -> str:
    stripped = word.lstrip("-\u2010\u2011\u2012\u2013\u2014\u2212").replace("_", "-")
    return stripped if stripped == "V" else stripped.lower()


def _closest(word: str, known: Iterable[str], elsewhere: Mapping[str, str]) -> str:
    """The plausible one, by the surest sign first; "" rather than something far-fetched."""
    known = list(known)
    if word in known:
        return word
    for one, words in elsewhere.items():
        if one in known and word in words.split():
            return one
    parts = sorted(word.split("-"))
    signs = (
        [one for one in known if sorted(one.split("-")) == parts],
        [one for one in known if len(word) >= 2 and one.startswith(word)],
        [one for one in known if len(one) >= 3 and word.startswith(one) and len(word) - len(one) <= 2],
        [one for one in known if len(word) >= 4 and word in one.split("-")],
    )
    for found in signs:
        if len(found) == 1:
            return found[0]
    if len(word) < 3:
        return ""
    most = max(1, len(word) // 4)
    near = [(_distance(word, one), one) for one in known if len(one) >= 3 and abs(len(word) - len(one)) <= most]
    distance, best = min(near, default=(99, ""))
    return best if distance <= most else ""


def _distance(a: str, b: str) -> int:
    """How many letters were left out, added, changed, or swapped with their neighbour."""
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, before, row = before, row, [i]
        for j, y in enumerate(b, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
    return row[-1]
