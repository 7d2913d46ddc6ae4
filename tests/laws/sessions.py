"""The law of the guard in ordinary sessions: of a command that it leaves alone, a real bash does not run the wrapper.

Commands are made of programs that run or only read, in all that bash has: lists, quotes, substitutions, here-documents,
functions, conditions; then pieces are put in or taken out. Each is run in a sandbox in which programs that run others
(env, nice, bash) are real, and all the rest only record how they were called. No piece has a slash in it, nor can "$0"
arise, so that no redirection leads out of the sandbox.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from random import Random

from tests.laws.shell import CEILING, sandbox, verdict

LAUNCHERS = ("bash", "env", "ionice", "nice", "nohup", "setsid", "sh", "stdbuf", "timeout", "xargs")

# A case runs so many commands that are left alone, of so many tried.
RUN, TRIED = 4, 60


def started(command: str) -> list[str]:
    """Return the files of the wrapper that bash starts in ``command``."""
    place = sandbox(*LAUNCHERS)
    place.repair()
    try:
        calls = place.run(command).calls
    except subprocess.TimeoutExpired:  # a loop without end
        return []
    return [call[0] for call in calls if os.path.basename(call[0]) in ("pit_fetch", "pit_fetch.py")]


def law(rng: Random) -> int:
    """Some commands that are left alone though they name the wrapper, each run by bash."""
    judged = 0
    for _ in range(TRIED):
        command = mutilated(rng)
        if "pit_fetch" not in command or verdict(command, CEILING) is not None:
            continue
        assert started(command) == [], f"{command!r} starts {started(command)}"
        judged += 1
        if judged == RUN:
            break
    return 0


_WRAPPERS = (
    *("pit_fetch", "pit_fetch.py", "'pit_fetch'", "p''it_fetch", "pit\\_fetch", '"pit_fetch"', "$'pit_fetch'"),
    *("pit_\\\nfetch", "${V}pit_fetch", '"$V"pit_fetch', "pit_'fetch'.py"),
)
_PYTHONS = (
    *("python3 -m pit_fetch", "python3 -X dev pit_fetch.py", "python3 -W ignore pit_fetch.py", "python -mpit_fetch"),
    *("python3 pit_fetch", "python3 -B pit_fetch.py"),
)
_LAUNCHED = (
    *("env", "env -u V", "env A=b", "env -uV", "env --unset V", "env --unset=V", "env -C .", "env -- ", "env -S nice"),
    *("nice", "nice -n 5", "nice -5", "nohup", "setsid -w", "timeout 5", "timeout -s KILL 5", "timeout -k 1 5"),
    *("timeout --signal KILL 5", "stdbuf -o0", "stdbuf -o 0", "command", "command -p", "command --", "exec"),
    *("exec -a x", "builtin", "builtin command", "eval", "time", "time -p", "time --", "!", "coproc", "xargs"),
    *("xargs -n 1", "xargs -I {}", "command -v", "'time'", "\\env", "'if'", "'case'", "'{'", "$V", '"$@"', "$(true)"),
    *("`true`", "''", "function"),
)
_SHELLS = (
    *("bash -c", "bash --norc -c", "bash -ec", "bash -o errexit -c", "bash -O extglob -c", "bash -c -e"),
    *("bash --rcfile x -c", "bash -co errexit", "eval", "trap", "bash +e -c", "bash -c --"),
)
_OTHERS = (
    *("ls", "cat", "grep -q", "echo", "git commit -m", "sed -n", "[", "test", "printf", "true", ":", "export", "let"),
    *(
        "declare",
        "find . -name",
        ". ",
        "source",
        "trap - INT; ls",
        "read",
        "cd",
        "hash",
        "type",
        "alias",
        "make",
        "set --",
    ),
)
_WORDS = (
    *(
        "a",
        "--help",
        "1",
        "raw.json",
        "a=b",
        "=",
        "-",
        "{}",
        "{a,b}",
        "~",
        "a[0]",
        "!",
        "}",
        "a#b",
        "'#'",
        "case",
        "if",
    ),
    *("in", "esac", "done", "then", "{", "do", "fi", "time", "]]", "[[", "'a b'", '"a b"', '"it\'s"', "'pit_fetch'"),
    *('"pit_fetch"', "pit_fetch", "\\;", "\\'", '"\\""', "$'a\\'b'", '$"a"', "'\npit_fetch\n'", '"\npit_fetch\n"'),
    *("'$(pit_fetch)'", '"\\$(pit_fetch)"', "pit_fetch.md", "$V", "${V}", "${V:-y}", "${#V}", '"${V:-a b}"'),
    *("${V:-'a'}", "$1", "$@", "$?", "$$", '"$@"', "$((1+2))", "$((1<<2))", '"$((V))"', "${V#[}"),
)
_SUBSTITUTIONS = ("$({})", "`{}`", '"$({})"', '"`{}`"', "<({})", '"a $({}) b"', "$( {} )", '"${{V:-$({})}}"', "a$({})")
_REDIRECTIONS = (
    *("> o", "2>&1", ">o", "&> o", "< raw.json", "<<< a", "<<<'a b'", "3>o", ">>o", "{fd}>o", "10>o"),
    *(">| o", "<<<pit_fetch", ">pit_fetch.out", "1>&2", "> 'o p'", "2> >(cat)"),
)
_ASSIGNMENTS = (
    *("X=1", "X=", "a+=b", "a[0]=1", "a[1+1]=2", "X='a b'", "X=$V", "X=pit_fetch", "a=(1 2)", "a=(pit_fetch)"),
    *("a[ 0 ]=1", "a['x']=1", "X=$(ls)", "a[$V]=2", 'X="a b"', 'a["0"]=1'),
)
_COMPOUND = (
    *(
        "if {0}; then {1}; else {0}; fi",
        "for x in a pit_fetch; do {0}; done",
        "( {0} )",
        "({0})",
        "{{ {0}; }}",
        "! {0}",
    ),
    *("case a in a) {0};; *) {1};; esac", "case pit_fetch in\n pit_fetch) {0};;\n b|pit_fetch) {1};; esac", "time {0}"),
    *("{3}() {{ {0}; }}; {3}", "function {3} {{ {0}; }}; {3}", "{3} () ({0}); {3}", "function {3} ( {0} ); {3}"),
    *(
        "function {3} () {{ {0}; }}; {3}",
        "((1<<2)); {0}",
        "[[ -n pit_fetch && a == a ]] && {0}",
        "[[ x =~ (pit_fetch|x) ]]; {0}",
        "(({0}); {1})",
    ),
    *(
        "(( x = 1 + (2*3) )); {0}",
        "for ((i=0;i<2;i++)); do {0}; done",
        "coproc X {{ {0}; }}; wait",
        "time -p {{ {0}; }}",
    ),
    *("while {0}; do {1}; break; done", "until {0}; do break; done", "a=(x pit_fetch); {0}", "a[1<<2]=3; {0}"),
    *(
        "bash <<EOF\n{0}\nEOF\n",
        "bash -s x <<'EOF'\n{0}\nEOF\n",
        "select x in a; do {0}; break; done",
        "{{ ls; }} | {0}",
    ),
    *(
        "function {3} if {0}; then {1}; fi; {3}",
        "case x in (a) {0};; (x) {1};; esac",
        "echo $(case x in x) {0};; esac)",
    ),
    *(
        "# pit_fetch '\n{0}",
        "ls # a \\\n{0}",
        "if true; then ls; fi > o; {0}",
        'git commit -m "$({2})"',
        "x=$({2}); {0}",
    ),
    *("{2}", "{2}", "{2}"),
)
_DELIMITERS = ("EOF", "'EOF'", '"EOF"', "\\EOF", "E", "-EOF", "- EOF", "-'EOF'", "E\\OF", "'E F'", " EOF", '"E"OF')
_BODIES = (
    *("a", "it's", "pit_fetch", "$(pit_fetch)", "`pit_fetch`", "\\$(pit_fetch)", '"', "${V}", "$((1<<2))", "\tEOF"),
    *(" EOF", "EOFx", "a\\", "pit_fetch --pit T", "$(ls)", '"$(pit_fetch)"', "'$(pit_fetch)'", "EOF)", "#", "\\"),
)
_SEPARATORS = ("; ", " && ", " || ", " | ", "\n", " & ", ";", " |& ", "\n\n")
_PIECES = (
    *("'", '"', "\\", "`", "$(", ")", "(", "){", "{", "}", "${", "$((", "))", "((", "<<EOF", "\n", "\nEOF\n", ";", "|"),
    *("&", "#", " # ", "=", "[", "]", "!", "\t", " ", "\\\n", "<", ">", "case", "esac", " in ", "$'", '$"', "time "),
    *(
        '"$(',
        "a[",
        "=(",
        ";;",
        "]]",
        "[[ ",
        "\r",
        "EOF",
        "\n)",
        "<<-E\n",
        "<<'E'\n",
        "1>",
        "2>&1",
        "<(",
        "$[1]",
    ),
)


def mutilated(rng: Random) -> str:
    """A list of commands, with up to three pieces put in or taken out."""
    command = _list(rng, 0)
    for _ in range(rng.choice([0, 0, 0, 1, 1, 2, 3])):
        place = rng.randrange(len(command) + 1)
        cut = 0 if rng.random() < 0.8 else rng.randrange(1, 4)
        command = command[:place] + ("" if cut else rng.choice(_PIECES)) + command[place + cut :]
    return command


def _list(rng: Random, depth: int) -> str:
    command = ""
    for _ in range(rng.choice([1, 1, 1, 2, 2, 3]) if depth < 2 else 1):
        part = _compound(rng, depth) if depth < 3 and rng.random() < 0.22 else _simple(rng, depth)
        separator = rng.choice(_SEPARATORS) if command and not command.endswith("\n") else ""
        command += separator + part
    return command


def _compound(rng: Random, depth: int) -> str:
    parts = (_list(rng, depth + 1), _list(rng, depth + 1), _document(rng, depth))
    return rng.choice(_COMPOUND).format(*parts, f"f{depth}")  # a function that called itself might never end


def _document(rng: Random, depth: int) -> str:
    tag = rng.choice(_DELIMITERS)
    delimiter = tag.lstrip("-").strip().translate(str.maketrans("", "", "'\"\\"))
    body = "".join(rng.choice(_BODIES) + "\n" for _ in range(rng.randrange(4)))
    tail = rng.choice(["", "", " | cat", " > o", " && pit_fetch", " # it's", f"; {_simple(rng, depth + 1)}"])
    indent = "\t" if "-" in tag and rng.random() < 0.5 else ""
    return f"{_simple(rng, depth)} <<{tag}{tail}\n{body}{indent}{delimiter}\n"


def _simple(rng: Random, depth: int) -> str:
    def some(share: float, make: Callable[[], str]) -> list[str]:
        return [make(), *some(share, make)] if rng.random() < share else []

    words = [
        *some(0.2, lambda: rng.choice(_ASSIGNMENTS)),
        *some(0.12, lambda: rng.choice(_REDIRECTIONS)),
        *some(0.2, lambda: rng.choice(_ASSIGNMENTS)),
        *some(0.3, lambda: rng.choice(_LAUNCHED)),
    ]
    chosen = rng.random()
    if chosen < 0.28:
        words.append(rng.choice(_WRAPPERS if rng.random() < 0.95 else _PYTHONS))
    elif chosen < 0.4 and depth < 3:
        # No word behind it: "$@" could hold the name, and no reader of words knows what a parameter holds.
        return " ".join([*words, rng.choice(_SHELLS), _quoted(rng, _list(rng, depth + 1)), rng.choice(["", " EXIT"])])
    else:
        words.append(rng.choice(_OTHERS))
    return " ".join([*words, *(_word(rng, depth) for _ in range(rng.randrange(4)))])


def _word(rng: Random, depth: int) -> str:
    if rng.random() < 0.15:
        return rng.choice(_REDIRECTIONS)
    if depth < 3 and rng.random() < 0.15:
        return rng.choice(_SUBSTITUTIONS).format(_list(rng, depth + 1).replace("`", "").replace("\\\n", ""))
    return rng.choice(_WORDS)


def _quoted(rng: Random, text: str) -> str:
    if "'" not in text and rng.random() < 0.6:
        return f"'{text}'"
    return '"' + text.translate({ord(mark): "\\" + mark for mark in '\\"$`'}) + '"'
