"""Mistakes as new users make them, and the answer to each: one line that names the fix.

Standard output stays one envelope, whatever was typed.
"""

from __future__ import annotations

import io
import json
import os
import shlex
import sys
from pathlib import Path

import pytest

from pit_fetch.cli.commands import COMMANDS
from pit_fetch.cli.main import main
from pit_fetch.courtesy import names
from pit_fetch.courtesy.command_line import unknown_option
from pit_fetch.courtesy.names import closest
from pit_fetch.engine.registry import BUNDLED_NAMES
from pit_fetch.support.install import install_command

PIT = "2024-02-15T16:00:00-05:00"
SOURCES = {
    "BZ": f"--source bz-news-api --pit {PIT}",
    "AV": f"--source alphavantage --pit {PIT}",
    "SEC": f"--source sec_full_text --pit {PIT}",
    "FRED": f"--source fred --pit {PIT}",
    "CALL": f"--source earningscall --pit {PIT}",
    "YAHOO": f"--source yahoo --pit {PIT}",
    "PPLX": f"--source perplexity --pit {PIT}",
    "FACTS": f"--source sec_facts --pit {PIT}",
    "WEB": f"--source wayback --pit {PIT}",
    "WIKI": f"--source wikipedia --pit {PIT}",
}
KEY = "SECRETKEY0123456"

# A rule -> what is typed -> what the answer contains.
REFUSED = {
    "no source, or an unknown one": {
        "": f"--source is required: {', '.join(BUNDLED_NAMES[:-1])} or {BUNDLED_NAMES[-1]} (pit_fetch --list-sources ",
        f"--pit {PIT}": "--source is required: bz-news-api",
        "EARNINGS symbol=AAPL": "--source is required: bz-news-api, alphavantage",
        "benzinga": "write pit_fetch --source benzinga",
        "get news": "write pit_fetch --source bz-news-api",
        f"sec 10-K --pit {PIT}": "write pit_fetch --source sec_full_text",
        "--source": "--source needs a value: write --source VALUE",
        "--source = benzinga": "write --source VALUE, without an equals sign",
        "--source benzinag": "did you mean benzinga?",
        "--source bz": "did you mean bz-news-api?",
        "--source edgar": "did you mean sec_full_text?",
        "--source transcripts": "did you mean earningscall?",
        "--source bloomberg": "--source 'bloomberg' is not known. Known sources: bz-news-api, ",
        "--source benzinga --source benzinga": "--source is given more than once",
        "--source bz-news-api,yahoo": "(a call has one source)",
        "help nope": "Known sources: bz-news-api",
    },
    "no such command, or in another place": {
        "ls": "did you mean pit_fetch sources?",
        "docter": "'docter' is not a command: did you mean pit_fetch doctor?",
        "inti": "did you mean pit_fetch init?",
        "setup": "did you mean pit_fetch init?",
        "new_provider x": "did you mean pit_fetch new-provider?",
        "replay 1": "did you mean pit_fetch archive?",
        "version": "did you mean pit_fetch --version?",
        "frobnicate": f"Commands: {', '.join(COMMANDS)}, help",
        "-v lint": "a command must come first: pit_fetch lint",
        "panels --source sec_facts": "a command comes first: pit_fetch panel --source sec_facts ...",
        "$FACTS explain": "a command comes first: pit_fetch explain --source sec_facts ...",
        f"--source sec_facts diff --pit {PIT} --pit {PIT}": "a command comes first: pit_fetch diff --source sec_facts ",
        "fetch --source fred GNP": "leave out 'fetch', and write pit_fetch --source fred ...",
        "search --source sec_full_text fraud": "leave out 'search'",
    },
    "what other tools call an option": {
        "--list": "did you mean --list-sources?",
        "--provider benzinga": "did you mean --source?",
        "-V": "did you mean --version?",
        "-help": "did you mean --help?",
        "--SOURCE benzinga": "did you mean --source?",
        f"--source benzinga -pit {PIT}": "did you mean --pit?",
        f"--source benzinga --as-of {PIT}": "did you mean --pit?",
        "$BZ --start 2024-02-01 --end 2024-02-10": "--start (did you mean --date-from?), --end (did you mean ",
        "$BZ --date_from 2024-02-01": "did you mean --date-from?",
        "$BZ -n 10": "did you mean --limit?",
        "$BZ --lmit 10": "did you mean --limit?",
        "$BZ --pages 3": "did you mean --max-pages?",
        "$BZ --ticker AAPL": "did you mean --tickers?",
        "$BZ ticker=AAPL": "did you mean --tickers?",
        "$BZ --query oil": "did you mean --keywords?",
        "$BZ --columns title": "did you mean --fields?",
        "$AV EARNINGS sybmol=AAPL": "sybmol=... is not an option of alphavantage (did you mean --symbol?)",
        "$AV --function EARNINGS": "did you mean --op?",
        "$AV FX_DAILY from=EUR to=USD": "did you mean --from-symbol or --from-currency?",
        "$AV NEWS_SENTIMENT time_from=20240101": "did you mean --date-from?",
        "$SEC fraud --type 10-K": "did you mean --forms?",
        "$SEC fraud ticker=AAPL": "ticker=... is not an option of sec_full_text (did you mean --tickers?)",
        "$FRED symbol=GNP": "symbol=... is not an option of fred (did you mean --series-id?)",
        "$PPLX query=x symbols=AAPL.US": "symbols=... is not an option of perplexity; see --help",
        "$BZ --frobnicate": "unrecognized arguments: --frobnicate; see --help",
        "$BZ -z": "unrecognized arguments: -z; see --help",
        "normalize --page saved": "did you mean --pages?",
    },
    "what a fetch has no option for": {
        "$CALL events symbol=MSFT -q": "only the envelope is printed",
        "$YAHOO prices symbol=AAPL --period 1y": "--period (a span is written as --date-from and --date-to)",
        "$BZ --proxy http://127.0.0.1:8080": "--proxy (set the variable HTTPS_PROXY)",
        "$BZ --insecure": "REQUESTS_CA_BUNDLE",
        "$BZ --workers 4": "PIT_FETCH_RATE_API_BENZINGA_COM",
        "$BZ --no-cache": "an archive keeps what was fetched: --archive PATH",
        "$BZ --sort asc": "items come newest first",
        "$BZ --timezone UTC": "times are New York's, and a --pit has its own offset",
        "$BZ --all": "for everything, write --limit with a large number",
        "$BZ --csv": "--csv (write --format csv)",
        "$BZ --json --format csv": "--json and --format csv contradict each other",
        "$BZ --ceiling x": "PIT_FETCH_CEILING",
        "$BZ --over tickers=AAPL": "--over (pit_fetch panel asks about many, and as of many instants)",
    },
    "a key on the command line": {
        f"$BZ --api-key {KEY}": "never from the command line: set BENZINGANEWS_API_KEY or BENZINGA_API_KEY",
        f"$BZ --token={KEY}": "never from the command line: set BENZINGANEWS_API_KEY",
        f"$BZ key={KEY}": "never from the command line: set BENZINGANEWS_API_KEY",
        f"$BZ -{KEY}": "unrecognized arguments: a word that begins with a hyphen; see --help",
        f"$FACTS {KEY}": "; write the others as name=VALUE, e.g. symbol=AAPL",
        f"$BZ {KEY}": "takes no bare words: write --name VALUE or name=VALUE; see --help",
    },
    "the PIT": {
        f"--source benzinga pit={PIT}": "write --pit VALUE",
        f"--source sec_full_text fraud pit {PIT}": "write --pit before it",
        "--source sec_full_text fraud pit 2024-02-15": "write --pit before it",
        "--source benzinga --pit --limit 3": "--pit needs a value",
        "--source benzinga --pit -1d": "--pit needs a value, which is a fixed instant: write --pit 2024-02-15T16",
        "--source benzinga --pit=": "this one is empty: write it like",
        "--source benzinga --pit 2024-02-15": f"this one has no time of day: {PIT} is 16:00 on that day",
        "--source benzinga --pit 2024-02-15 16:00:00-05:00": f"this one was cut at a space: write {PIT}",
        "--source benzinga --pit 2024-02-15T16:00:00 -05:00": "write the timestamp as one word, without spaces",
        "--source benzinga --pit '2024-02-15 16:00'": f"write {PIT} for New York or 2024-02-15T16:00:00Z for UTC",
        "--source benzinga --pit \u201c2024-02-15T16:00:00-05:00\u201d": f"has quotes or spaces around it: write {PIT}",
        f"$BZ --pit {PIT}": "--pit is given more than once",
        f"diff --source sec_facts --pits {PIT} 2024-02-20T16:00:00Z": "diff needs two different instants: write "
        f"--pit {PIT} --pit 2024-02-20T16:00:00Z",
        f"diff --source sec_facts --pit {PIT}": "diff needs two different instants: --pit EARLIER --pit LATER",
    },
    "quotes and characters": {
        "\u2014source benzinga": "write two hyphens, and no long dash (did you mean --source?)",
        f"--source sec_full_text fraud \u2014pit {PIT}": "write two hyphens, and no long dash (did you mean --pit?)",
        "--source\u00a0benzinga": "there is an invisible character beside an option",
        "$SEC fraud \u200b--limit 3": "there is an invisible character beside an option",
        "$BZ '--tickers AAPL'": "--tickers is in one pair of quotes with its value: write two words",
        "$SEC fraud '--limit 3'": "--limit is in one pair of quotes with its value",
        "$SEC \u201cgoing concern\u201d": "curly quotes do not quote in a shell",
        "$AV EARNINGS symbol=\u2018AAPL\u2019": "curly quotes do not quote in a shell",
        "$YAHOO 'news symbol=AAPL'": "symbol= is in one pair of quotes with what stands before it: write two words",
        "$SEC 'going concern forms=10-K'": "forms= is in one pair of quotes with what stands before it",
        "$PPLX 'query=oil domains=sec.gov'": "domains= is in one pair of quotes with what stands before it",
    },
    "an equals sign, a list, a flag": {
        "$AV EARNINGS symbol = AAPL": "write symbol=VALUE: an equals sign, without spaces around it",
        "$BZ tickers:AAPL": "write tickers=VALUE: an equals sign",
        "$BZ --tickers= AAPL": "write --tickers=VALUE, without a space behind the equals sign",
        "$BZ --limit = 5": "write --limit VALUE, without an equals sign",
        "$BZ --fields title body": "the values of a list are separated by commas: --fields A,B",
        "$FACTS --concept Assets Revenues cik=320193": "the values of a list are separated by commas: --concept A,B",
        """$BZ '{"tickers": ["AAPL"]}'""": "options are not written as JSON: write name=VALUE for each",
        """$AV EARNINGS '{"symbol": "IBM"}'""": "options are not written as JSON",
        """$BZ --tickers '["AAPL","MSFT"]'""": "--tickers is a list with commas, without brackets and quotes",
        "$BZ limit=5": "limit=... is a common option: write --limit VALUE",
        "$SEC fraud --exact true": "--exact takes no value: write it on its own, or leave it out",
        "$SEC fraud exact=maybe": "exact= takes true or false",
        "$BZ --pretty=true": "--pretty takes no value: write it on its own",
        "$BZ --tickers @tickers.txt": "--tickers does not read a file (@): write its values here",
        "$FRED GNP GDP": "takes one bare word (series_id), not 2: for several, ask a panel, with --over series_id=A,B",
        "$CALL transcript symbol=MSFT year=2022,2023": "--year is a whole number of at least 1; for several, ask a "
        f"panel: pit_fetch panel --source earningscall --pits {PIT} --over year=2022,2023 ...",
        "$FACTS concept=Assets cik=320193 period=annual,quarter": "--over period=annual,quarter ...",
        "panel --source fred --out a.csv --output b.csv": "--output is given more than once: give it once",
    },
    "a bare word that was meant for an option": {
        "$YAHOO prices AAPL": "takes one bare word (op), not 2: write symbol=AAPL",
        "$CALL MSFT": "it has transcript, events, calendar, slides; write symbol=MSFT",
        "$BZ AAPL MSFT": "takes no bare words: write tickers=AAPL,MSFT",
        "$BZ oil prices": "takes no bare words: write keywords='oil prices'",
        "$PPLX search oil prices": "takes one bare word (op), not 3: write query='oil prices'",
        "$FACTS EarningsPerShareDiluted cik=320193": "it has facts, statement, concepts; write "
        "concept=EarningsPerShareDiluted",
        "$FACTS AAPL Revenues": "not 2: write symbol=AAPL concept=Revenues",
        "$FACTS 320193": "; write cik=320193",
        "$FACTS annual Revenues": "write period=annual concept=Revenues",
        "--source sec_filings AAPL 10-K": "not 2: write symbol=AAPL forms=10-K",
        "$AV IBM": "more; --help lists them; write symbol=IBM",
        "$AV TIME_SERIES_INTRADAY IBM 5min": "not 3: write symbol=IBM interval=5min",
        "$CALL calendar 2024-01-30": "not 2: write date=2024-01-30",
        "$WEB https://example.com": "wayback has no such operation: it has page, captures; write url=https://example.com",
        "$WIKI Apple Inc": "not 2: write title='Apple Inc'",
        "normalize items.json": "it reads standard input (< FILE), or --input-file FILE",
    },
    "an operation by another name": {
        "$AV price symbol=IBM": "did you mean TIME_SERIES_DAILY?",
        "$AV transcript symbol=IBM": "did you mean EARNINGS_CALL_TRANSCRIPT?",
        "$AV earnings-calendar": "did you mean EARNINGS_CALENDAR?",
        "$AV XYZZY symbol=IBM": "it has TIME_SERIES_INTRADAY, TIME_SERIES_DAILY, TIME_SERIES_DAILY_ADJUSTED and ",
        "$CALL calls symbol=MSFT": "did you mean events?",
        "$YAHOO quotes symbol=AAPL": "did you mean prices?",
    },
    "a value": {
        "$BZ --limit": "--limit needs a value: write --limit VALUE",
        "$BZ --limit 1,000": "--limit is a whole number",
        "$BZ --limit 9999999999999": "--limit is a whole number of at least 1 and at most 12 digits",
        "$BZ --limit all": "for everything, write a large one, such as 1000000",
        "$BZ --timeout 30s": "--timeout is a number of seconds",
        "$BZ --max-chars 100": "at least 4000",
        "$BZ --format xml": "--format is one of json, jsonl, csv",
        "$BZ --date-from 2024/02/10": "(not milliseconds): write 2024-02-10",
        "$BZ --date-from yesterday": "--date-from is YYYY-MM-DD",
        "$BZ --date-from 2024-02-12 --date-to 2024-02-10": "--date-from is after --date-to: swap them",
        "$BZ --input-file x.json --archive x.db": "--input-file is read instead of an archive: leave out --archive",
        "$BZ --fields titel": "titel is not one of title, teaser",
        "$BZ --fields '*'": "(for all of them, leave it out)",
        "$BZ --after x": "copy one from a truncated gap",
        "$BZ --tickers ,": "--tickers is empty: give a value or leave it out",
        "$YAHOO prices symbol=AAPL interval=1y": "--interval is one of 1m, 2m,",
    },
    "a file": {
        """$BZ --output '"q.csv"'""": "a path has quotes of its own: leave them out",
        r"$BZ --output 'C:\\data\\t.csv'": "a path of Windows does not lead anywhere here: write it with / and no C:",
        "$BZ --output s3://bucket/q.parquet": "an address is no file",
        "$BZ --output q.cvs": "no format is .cvs: let --output end with .csv, or give --format",
        "$BZ --output q.xlsx": "no format is .xlsx",
        "$BZ --output q.csv.gz": "--output is not compressed",
        "$BZ --output q.csv --format json": "--output ends with .csv, but --format is json",
        "$BZ --output no/such/folder/q.csv": "its folder does not exist",
        "$BZ --output .": "it is not a regular file",
        "$BZ --output -": "without --output, the answer goes to stdout",
    },
}


# A request in good order that makes no sense to its source: exit status 0, and a gap.
SENSELESS = {
    "$CALL transcript symbol=MSFT year=23": "year is a fiscal year of four digits, e.g. 2023.",
    "$CALL transcript symbol=MSFT quarter=5": "quarter is 1 to 4",
    # Symbols in another program's spelling.
    "$BZ --tickers AAPL.US": "--tickers: write AAPL in place of AAPL.US.",
    "$BZ --tickers MSFT,NASDAQ:AAPL": "--tickers: write AAPL in place of NASDAQ:AAPL.",
    "$SEC fraud --tickers '$AAPL'": "--tickers: write AAPL in place of $AAPL.",
    "$AV FX_DAILY from_symbol=EUR/USD to_symbol=USD": "from_symbol: write symbols as in EUR, USD or BTC",
    "$AV EARNINGS_CALL_TRANSCRIPT symbol=IBM quarter=Q1-2024": "quarter is YYYYQ1 to YYYYQ4",
    "$CALL events symbol=MSFT,AAPL": "symbol: a list has commas between the symbols, and one symbol has no blanks",
    "$YAHOO news symbol=BRK.B": "symbol: write BRK-B in place of BRK.B.",
    "$WIKI title=https://de.wikipedia.org/wiki/Acme": "give lang=de.",
    "$FRED FRED:GDP": "series_id: write GDP.",
    "$FRED https://fred.stlouisfed.org/series/GNP": "series_id: write GNP.",
    "$BZ --tickers [AAPL,MSFT]": "--tickers: write AAPL in place of [AAPL.",
    "$BZ --tickers tickers.txt": "--tickers: a file is not read: write symbols as in AAPL,MSFT",
    "$BZ --tickers US0378331005": "--tickers: an ISIN is no symbol",
    "$BZ --tickers '*'": "--tickers: write symbols as in AAPL,MSFT, and coins as in $BTC.",
    "$SEC 'a \u201cgoing concern\u201d'": "A phrase is put in straight double quotes",
    "$BZ --tickers 'AAPL MSFT'": "a list has commas between the symbols, and one symbol has no blanks: write",
    "$SEC fraud --forms annual": "EDGAR writes 10-K",
    "$FRED GDP,GNP": "the id of one FRED series, such as GNP or T10Y2Y; for several, ask a panel: pit_fetch panel "
    f"--source fred --pits {PIT} --over series_id=GDP,GNP ...",
    "$FACTS concept=Assets cik=AAPL": "e.g. 320193; a ticker is written symbol=AAPL.",
    "$FACTS concept=Assets symbol=320193": "a number of the SEC is written cik=320193.",
    "$FACTS concept=Assets cik=1,2": f"--source sec_facts --pits {PIT} --over cik=1,2 ...",
    "$AV EARNINGS symbol=IBM,AAPL": "EARNINGS takes one symbol: ask once for each ticker; for several, ask a panel: ",
    "$YAHOO news symbol=IBM,AAPL": "--over symbol=IBM,AAPL ...",
}


def ask(monkeypatch: pytest.MonkeyPatch, folder: Path, typed: str) -> tuple[int, str, str]:
    for variable in list(os.environ):
        if variable.startswith(
            ("PIT_", "BENZINGA", "ALPHAVANTAGE", "SEC_", "FRED_", "PERPLEXITY", "ECALL", "EARNINGSCALL", "CLAUDE")
        ):
            monkeypatch.delenv(variable)
    monkeypatch.chdir(folder)
    out, err = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    for short, words in SOURCES.items():
        typed = typed.replace(f"${short} ", f"{words} ")
    code = main(shlex.split(typed))
    monkeypatch.undo()
    return code, out.getvalue(), err.getvalue()


@pytest.mark.parametrize(("typed", "fix"), [row for rows in REFUSED.values() for row in rows.items()])
def test_the_answer_names_the_fix(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, typed: str, fix: str) -> None:
    code, out, err = ask(monkeypatch, tmp_path, typed)
    envelope = json.loads(out)
    assert (code, envelope["data"], len(envelope["gaps"])) == (2, [], 1)
    assert fix in envelope["gaps"][0]["reason"]
    assert err == f"pit_fetch: {envelope['gaps'][0]['reason']}\n"
    assert KEY not in out + err


def test_every_command_has_a_row_of_other_names() -> None:
    assert [name for name in names.COMMANDS if not name.startswith("-")] == [*COMMANDS]


@pytest.mark.parametrize("typed", SENSELESS)
def test_the_gap_of_a_senseless_request_names_the_fix(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, typed: str
) -> None:
    code, out, err = ask(monkeypatch, tmp_path, typed)
    envelope = json.loads(out)
    assert (code, envelope["data"]) == (3, [])
    assert SENSELESS[typed] in err
    assert [SENSELESS[typed] in gap["reason"] for gap in envelope["gaps"] if gap["type"] == "config"] == [True]


@pytest.mark.parametrize(
    ("typed", "listing"),
    [
        ("help", "usage: pit_fetch --source SOURCE"),
        ("help lint", "usage: pit_fetch lint"),
        ("help benzinga", "usage: pit_fetch --source bz-news-api"),
    ],
)
def test_help_is_a_word_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, typed: str, listing: str) -> None:
    code, out, err = ask(monkeypatch, tmp_path, typed)
    assert (code, out.startswith(listing), err) == (0, True, "")


@pytest.mark.parametrize(
    ("typed", "complaint"),
    [
        ("init --forc", "unrecognized arguments: --forc (did you mean --force?); see pit_fetch init --help"),
        ("init nodir", "nodir"),
        ("init --deny WebFetch WebSearch", "the values of --deny, --only and --without have commas between them"),
        ("init --deny 'WebFetch;WebSearch'", "TOOLS are names of the client's tools: WebFetch,WebSearch"),
        ("init --remove", "--remove (did you mean --uninstall?)"),
        ("doctor --proof", "--proof (did you mean --prove?)"),
        ("doctor project", "unrecognized arguments: project (it examines the working directory: go there first)"),
        ("doctor --json true", "--json takes no value: write it on its own, or leave it out"),
        ("sources fred yahoo", "one source is described by its name alone: pit_fetch sources fred"),
        ("sources --source fred", "unrecognized arguments: --source (one source is described by its name alone"),
        ("config set limit 5", "it only shows the settings, which are written into pit_fetch.toml"),
        (f"mcp {PIT}", f"write --pit before a timestamp: --pit {PIT}"),
        (f"mcp --pits {PIT}", "unrecognized arguments: --pits (did you mean --pit?); see"),
        (f"mcp --pit {PIT} --sources fred yahoo", "the values of a list are separated by commas: --sources A,B"),
        (f"mcp --pit = {PIT}", "write --pit VALUE, without an equals sign"),
        (f"mcp-gate --pit {PIT} --tools nope -- x", "--tools names a mapping: a file, or one of alphavantage, "),
        (f"mcp-gate --pit {PIT} --tools neo4j uvx x", "write the server's command behind --, as in -- uvx some-server"),
        ("capture list.toml a.db", "an archive is named with --archive PATH: --archive a.db"),
        ("capture list.toml --archives a.db", "unrecognized arguments: --archives (did you mean --archive?); see"),
        ("archive sample.db", "the command comes first, and the archive behind it: info --archive sample.db"),
        ("archive lgo", "lgo is not one of its commands (did you mean log?)"),
        ("archive info --db a.db", "unrecognized arguments: --db (did you mean --archive?); see"),
        ("init --deny webfetch", "webfetch is not a tool of the client: write WebFetch"),
        ("init --deny exa", "exa is not a tool of the client: a server's are mcp__exa"),
        ("init --deny", "--deny needs a value"),
        ("init --model ''", "--model is empty: give a value or leave it out"),
        ("init ''", "DIR is empty: give a value or leave it out"),
        ("doctor --json=yes", "--json takes no value: write it on its own"),
        ("new-provider", "needs a NAME"),
    ],
)
def test_a_command_names_the_fix_on_stderr(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, typed: str, complaint: str
) -> None:
    code, out, err = ask(monkeypatch, tmp_path, typed)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert complaint in err


def test_a_word_of_any_length_is_not_repeated_whole(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for typed in ("--" + "x" * 99_999, "x" * 99_999, "--source " + "x" * 99_999, "$BZ --" + "x" * 99_999, "$BZ x=" * 1):
        assert len(ask(monkeypatch, tmp_path, typed)[1]) < 600


def test_what_is_far_fetched_is_not_suggested() -> None:
    flags = ["--tags", "--state", "--date-from", "--limit", "--max-pages", "--max-chars", "--symbol"]
    assert unknown_option("--start", flags) == " (did you mean --date-from?)"
    assert unknown_option("--start", ["--tags", "--state"]) == ""
    assert unknown_option("--zz", flags) == ""
    assert unknown_option("--max-", flags) == ""
    assert closest("aapl", ["alphavantage", "av", "bz-news-api"]) == ""


def test_a_broken_env_file_does_not_hide_the_sources(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"BENZINGA_API_KEY=\xff\xfe")
    code, out, _ = ask(monkeypatch, tmp_path, "--list-sources")
    assert (code, "BENZINGANEWS_API_KEY or BENZINGA_API_KEY is not set" in out) == (0, True)


def test_without_dotenv_an_env_file_names_both_ways_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("BENZINGA_API_KEY=x")
    monkeypatch.setitem(sys.modules, "dotenv", None)
    monkeypatch.chdir(tmp_path)
    for variable in ("BENZINGA_API_KEY", "BENZINGANEWS_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    assert main(shlex.split(SOURCES["BZ"])) == 3
    monkeypatch.undo()
    (gap,) = json.loads(out.getvalue())["gaps"]
    assert gap["type"] == "config"
    assert "pip install python-dotenv, or set BENZINGANEWS_API_KEY or BENZINGA_API_KEY" in gap["reason"]


def test_without_dateutil_the_package_is_named_whatever_the_rows(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rows = [{"fiscalDateEnding": f"{year}-12-31", "reportedEPS": "1"} for year in (2021, 2022)]
    monkeypatch.setitem(sys.modules, "dateutil.relativedelta", None)
    for annual in ([], rows):
        (tmp_path / "reply.json").write_text(
            json.dumps({"symbol": "A", "annualEarnings": annual, "quarterlyEarnings": []})
        )
        out = io.StringIO()
        monkeypatch.setattr(sys, "stdout", out)
        words = shlex.split(f"{SOURCES['AV']} EARNINGS symbol=A --evidence claimed --input-file")
        assert main([*words, str(tmp_path / "reply.json")]) == 3
        reasons = [gap["reason"] for gap in json.loads(out.getvalue())["gaps"] if gap["type"] == "config"]
        assert reasons == [f"The package python-dateutil is missing: run {install_command('python-dateutil')}"]


# What each operation needs besides a file.
FILES = {
    "BZ": [""],
    "AV": ["TIME_SERIES_DAILY symbol=A", "NEWS_SENTIMENT tickers=A", "DIVIDENDS symbol=A"],
    "SEC": ["fraud"],
    "FRED": ["GNP"],
    "PPLX": ["--query a"],
    "CALL": ["calendar date=2024-01-30", "events symbol=A exchange=NYSE", "transcript symbol=A exchange=NYSE"],
    "YAHOO": ["news symbol=A", "earnings symbol=A --evidence claimed"],
}


@pytest.mark.parametrize(("source", "words"), [(source, words) for source, ops in FILES.items() for words in ops])
def test_a_file_that_is_something_else_is_called_a_mistake_of_the_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, source: str, words: str
) -> None:
    """The source is not at fault: no request was sent."""
    for content in ("<html><body>Sign in</body></html>", '"a text"', "a,b\n1,2\n", "\x00\x01"):
        (tmp_path / "reply").write_text(content)
        code, out, _ = ask(monkeypatch, tmp_path, f"${source} {words} --input-file reply")
        types = [gap["type"] for gap in json.loads(out)["gaps"]]
        assert (code, [kind for kind in types if kind.endswith("error")]) == (4, ["input_error"]), content
        assert "pit_excluded" in types, "the file was opened"
