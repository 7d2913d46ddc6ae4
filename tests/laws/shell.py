"""The laws of the guard: what it lets run is, to a real bash, one call of the wrapper with the words that were asked
for, and, to the real parser, a fetch with options that an adapter may choose. (sessions.py: in an ordinary session it
sees every command in which bash runs the wrapper.)

Commands are made of hostile pieces and of honest calls with hostile pieces in them. Those that the
guard permits are run by ``bash -c`` in a sandbox in which every program on PATH, the wrapper
included, only records how it was called; Python then goes on to a script that records as well.
"""

from __future__ import annotations

import atexit
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import count
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from pit_fetch.cli.arguments import parse
from pit_fetch.engine import registry
from pit_fetch.errors import UsageError
from pit_fetch.provider import Operation, Option, Provider
from pit_fetch.request.operations import candidate_operations
from pit_fetch.support.bundled import gate, load

guard = load("pit_guard")

PIT = "2024-02-15T16:00:00-05:00"
WRAPPER_ONLY = {guard.ONLY_VARIABLE: "1"}
CEILING = {guard.CEILING_VARIABLE: PIT}

# A command may loop: no process gets more than so many seconds of CPU time, nor writes more than so many blocks.
_LIMITED = 'ulimit -t 2; ulimit -f 2048; exec /bin/bash -c "$1"'
SECONDS = 20

PRIVATE = f"/nowhere/toolu_1.{'0' * 32}"

# A case runs so many permitted commands, of so many tried.
PERMITTED, TRIED = 5, 120

_RECORDER = """#!/bin/sh
''':'
printf '%s\\0' "$#" "${BASH_SOURCE:-$0}" "$@" >>"$ORACLE"
exit
'''
import os, sys
with open(os.environ["ORACLE"], "a", encoding="utf-8", errors="surrogateescape") as record:
    record.write("\\0".join([str(len(sys.argv) - 1), __file__, *sys.argv[1:], ""]))
"""
_PYTHON = """#!/bin/sh
printf '%s\\0' "$#" "$0" "$@" >>"$ORACLE"
exec "{}" -B -S "$@"
""".format(getattr(sys, "_base_executable", sys.executable))
# bash runs this trap before each simple command, those of subshells and substitutions included.
_COUNTER = "set -T\ntrap 'printf . >>\"$ORACLE.commands\"' DEBUG\n"
_ON_PATH = (
    *("pit_fetch", "pit_fetch.py", "python", "python3", "python3.12"),
    *("sh", "bash", "cat", "grep", "env", "ls", "head", "tee", "touch", "nohup"),
    *("xargs", "find", "rg", "sed", "which", "rm", "cp", "git", "wc"),
)
_IN_FOLDER = ("pit_fetch.py", "tools/pit_fetch.py", "tools/pit_fetch", "tools/python3", "my tools/pit_fetch")
_AT_HOME = ("bin/pit_fetch", "bin/pit_fetch.py", "bin/python3")


class Ran(NamedTuple):
    """What bash made of a command: the calls of programs, how many simple commands, its output, and changed files."""

    calls: list[list[str]]
    commands: int
    printed: bytes
    changed: bool


class Sandbox:
    """A working directory, a home and a PATH whose programs are recorders; ``work`` holds a file worth reading."""

    def __init__(self, folder: Path, real: Sequence[str] = ()) -> None:
        """Make it below ``folder``. The programs ``real`` are those of this machine."""
        self.folder, self.work, self.home, self.path = folder, folder / "work", folder / "home", folder / "path"
        for place, names in ((self.work, _IN_FOLDER), (self.home, _AT_HOME), (self.path, _ON_PATH)):
            for name in names:
                self._write(place / name)
        for program in filter(shutil.which, real):
            (self.path / program).unlink(missing_ok=True)
            (self.path / program).symlink_to(str(shutil.which(program)))
        (self.work / "raw.json").write_text('{"title": "after the PIT"}')
        (folder / "counter.sh").write_text(_COUNTER)
        (folder / "records").mkdir()
        self._records = (folder / "records" / str(number) for number in count())
        self._files = self._listed()

    @staticmethod
    def _write(path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_PYTHON if "python" in path.name else _RECORDER)
        path.chmod(0o755)

    def repair(self) -> None:
        """Write the wrapper's files again: a command may have redirected something into them."""
        for place in (self.work, self.work / "tools", self.home / "bin", self.path):
            self._write(place / "pit_fetch.py")
            self._write(place / "pit_fetch")

    def run(self, command: str) -> Ran:
        """Runs ``command`` by bash, as the client does."""
        record = next(self._records)
        environ = {
            "PATH": str(self.path),
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "BASH_ENV": str(self.folder / "counter.sh"),
            "FUNCNEST": "20",
            "ORACLE": str(record),
        }
        process = subprocess.Popen(
            ["/bin/sh", "-c", _LIMITED, "sh", command],
            cwd=self.work,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        with process:
            try:
                printed, _ = process.communicate(timeout=SECONDS)
            finally:  # whatever it left behind
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
        counted = record.with_name(record.name + ".commands")
        commands = len(counted.read_bytes()) if counted.exists() else 0
        return Ran(list(_calls(record)), commands, printed, self._listed() != self._files)

    def objection(self, command: str, words: list[str], paths: int, printed: str = "") -> str:
        """What is wrong when ``command`` is taken for one call of ``words``, ``paths`` of them the program; or "".

        ``printed`` is what a second command prints.
        """
        ran = self.run(command)
        expected = list(self._expected(words, paths))
        called = [[os.path.normpath(self.work / name), *arguments] for name, *arguments in ran.calls]
        if called != expected:
            return f"ran {called}, not {expected}"
        if ran.commands > (2 if printed else 1):
            return f"{ran.commands} simple commands"
        if ran.printed.decode("utf-8", "replace") != printed:
            return f"printed {ran.printed!r}"
        return "changed files" if ran.changed else ""

    def _expected(self, words: list[str], paths: int) -> Iterator[list[str]]:
        program = os.path.normpath((self.work if "/" in words[0] else self.path) / words[0])
        if not os.path.isfile(program):
            return
        yield [program, *words[1:]]
        if paths > 1:  # Python, its flags, and the script
            script = os.path.normpath(self.work / words[paths - 1])
            if os.path.isfile(script):
                yield [script, *words[paths:]]

    def _listed(self) -> list[tuple[str, int]]:
        found = [path for place in (self.work, self.home, self.path) for path in place.rglob("*")]
        return sorted((str(path), path.stat().st_size) for path in found if path.is_file())


def _calls(record: Path) -> Any:
    fields = record.read_bytes().decode("utf-8", "surrogateescape").split("\0")[:-1] if record.exists() else []
    while fields:
        ends = int(fields[0]) + 2
        yield fields[1:ends]
        fields = fields[ends:]


@cache
def sandbox(*real: str) -> Sandbox:
    """Return one sandbox for the whole process, in which the programs ``real`` are those of this machine."""
    folder = TemporaryDirectory(prefix="pit-shell-", ignore_cleanup_errors=True)
    atexit.register(folder.cleanup)
    return Sandbox(Path(folder.name).resolve(), real)


def verdict(command: str, environ: dict[str, str]) -> Any:
    """Return the call that the guard runs instead of ``command``, None if it leaves that alone, or its refusal."""
    try:
        return guard.decide({"tool_name": "Bash", "tool_input": {"command": command}, "cwd": "/"}, environ, gate)
    except guard.Refusal as refusal:
        return refusal


def objection(command: str, call: Any) -> str:
    """What bash does with ``command``, or with what runs instead, beside the one call that the guard read; or ""."""
    arguments = gate.wrapper_arguments(command)
    if arguments is None:
        return "is not read as a call"
    words, paths = list(call.words), len(call.words) - len(arguments)
    objected = sandbox().objection(command, words, paths)
    if objected:
        return objected
    options = len(gate.options_of(words))
    if call.private:
        words[options:options] = [gate.RELEASE_OPTION, PRIVATE]
    printed = f"{gate.SENTINEL}\n" if call.private else ""
    return sandbox().objection(guard.rebuild_command(call, PRIVATE, gate), words, paths, printed)


def law(rng: Random) -> int:
    """Some permitted commands, each run by bash."""
    judged = 0
    for _ in range(TRIED):
        command = hostile(rng)
        call = verdict(command, rng.choice([WRAPPER_ONLY, CEILING, WRAPPER_ONLY | CEILING]))
        if isinstance(call, guard.RebuiltCommand):
            objected = objection(command, call)
            assert not objected, f"{command!r}: {objected}"
            judged += 1
            if judged == PERMITTED:
                break
    return 0


# Options.

_WIDGETS = Provider(
    name="widgets",
    summary="a plugin",
    options=(
        Option("query", "free words", positional="all"),
        Option("path", "a file"),
        Option("exact", "", kind="flag"),
        Option("adjust", "a flag here, while a bundled source's takes a value", kind="flag"),
    ),
    operations=(Operation(fetch=lambda query, ctx: [], parse_reply=lambda body, query: []),),
)
_PIECES = (
    *("--", "--", "-", "=", "=", " ", " ", " ", "a", "5", "v", "fail", "timeout", "input-file", "input_file", "path"),
    *(" --limit ", " --query ", " --query=", " --fields ", " -- ", " --timeout 5", " --input-file=a", " -v", " path=a"),
    *(" --pretty", " --exact", " --adjust", " --adjust path=a", " --pretty path=a", " --query path=a", " --symbol a=b"),
)


def options(rng: Random) -> int:
    """What an adapter may run is, to the real parser, without the options that are not an adapter's."""
    for _ in range(20):
        words = [
            word for word in "".join(rng.choices(_PIECES, k=rng.randint(1, 8))).split(" ") if word or rng.random() < 0.1
        ]
        source = rng.choice([_WIDGETS, *map(registry.load, registry.BUNDLED_NAMES)])
        argv = ["--source", source.name, *words]
        command = shlex.join(["pit_fetch", *argv])
        if isinstance(verdict(command, WRAPPER_ONLY), guard.Refusal) or gate.is_listing(command):
            continue
        try:
            made = parse(argv, source, {})
        except UsageError:
            continue
        chosen = (made.timeout, made.input_file, made.fail, made.verbose, made.options.get("path"))
        usual = max(operation.timeout for operation in candidate_operations(source, made.options))
        assert chosen == (usual, None, False, False, None), command
    return 0


# Commands.

_QUOTED = (
    *("'raw.json'", '"raw.json"', "''", '""', "'$(cat raw.json)'", "'a b'", '"a; b"', "'~'", '"{a,b}"', "'X='", "'='"),
    "'é\u3000'",
)
_PLAIN = (
    *("a", "x", "raw.json", "AAPL", "X", "1"),
    *("=", "+=", ":", ",", "@", "%", "+", "-", "--", ".", "..", "/", "_", "=="),
)
_HOSTILE = (
    *("$HOME", "${X}", "$(cat raw.json)", "`cat raw.json`", "$'a'", '$"a"', "$((1))", "$", "\\", "\\\n", "\\ "),
    *"\n\r\t\v\f\x01\x7f\u00a0\u2003\u3000\ufeff\u2028é\U0001f600",
    *("'", '"', "'a", '"a', '"!a"', '"$HOME"', '"`cat raw.json`"'),
    *("{a,b}", "{1..3}", "{", "}", "*", "?", "[a]", "*.json"),
    *("~", "~/", "~+", "~-", "~root", "=~/x", ":~/x", "a=~/x", "a=b:~/x", "=cat", "^", "!", "!!", "#", " # "),
    *(";", "&", "&&", "|", "||", "|&"),
    *(">", ">>", "<", "2>", "&>", "> out", ">| out", "< raw.json", "<<< a", "<(cat raw.json)"),
    *("(", ")", "()", "((", "[[ -e raw.json ]]", "[", "]"),
)
_COMMANDS = (
    *(" sh -c 'cat raw.json'", " cat raw.json", " grep -h . raw.json", " env", "; cat raw.json", "\ncat raw.json", ""),
)
_BEFORE = (
    *("X=", "X+=", "X=1 ", "a+=", "a[0]=", "'a[0]='", "a['0']=", '"X"=', "X'='"),
    *("_=", "é=", "PATH=", "A=1 B+=", "TZ=a"),
    *("~", "~/bin", "~+", "~-", "~root", "'~/bin'", "'~'", "~1", "%", "%1", "'%'", "=", "-", "+", ":", "@", "-c", "-m"),
    *("time ", "! ", "exec ", "command ", "builtin ", "eval ", "coproc ", "function ", "env ", "nohup ", "{ ", "( "),
    *("if ", "while ", "then ", "case ", ". ", "source ", "trap ", "alias ", "export ", "declare ", "set -- "),
    *("[[ ", ".", "..", "tools", "'my tools'", '"my tools"', "./tools", "$HOME/bin", "{a,b}"),
)
_PROGRAMS = (
    *("/pit_fetch", "/pit_fetch.py", "pit_fetch", "pit_fetch.py", "'pit_fetch'", 'pit"_fetch"'),
    *("/python3 -m pit_fetch", "python3 -m pit_fetch", "python3 -I -m pit_fetch", "python3 pit_fetch.py"),
    *("python3.12 -B tools/pit_fetch.py", "python3 ~/bin/pit_fetch.py", "~/bin/pit_fetch", "tools/pit_fetch"),
    *("./pit_fetch.py", "../work/tools/pit_fetch", "python3 X=/pit_fetch.py", "/python3 X=/pit_fetch.py"),
    *("python3 '-cprint(1)#/pit_fetch.py'", "python3 -c/pit_fetch.py", "python3 -x/pit_fetch.py"),
    *("python3 '-W a/pit_fetch.py'", "python3 -m a/pit_fetch.py", "python3 -/pit_fetch.py"),
)
_HONEST = (
    *("pit_fetch", "python3 -m pit_fetch", "tools/pit_fetch.py", "python3 ~/bin/pit_fetch.py", "'my tools/pit_fetch'"),
)


def hostile(rng: Random) -> str:
    """A command: a call in a hostile guise, or an honest one with up to three hostile pieces in it."""
    honest = rng.random() < 0.3
    before = rng.choice(_BEFORE) if rng.random() < 0.7 else ""
    program = rng.choice(_HONEST) if honest else before + rng.choice(_PROGRAMS)
    call = (
        program + ("" if honest else rng.choice(_COMMANDS)) + "".join(_argument(rng) for _ in range(rng.randrange(4)))
    )
    call += rng.choice([" --help", f" --source x --pit {PIT}", f" --source=x --pit '{PIT}' "])
    call += rng.choice(["", "", "", " -- -a"])
    for _ in range(rng.choice([0, 0, 1, 2, 3])):
        places = (
            [place for place, letter in enumerate(call) if letter == " "] if rng.random() < 0.5 else range(len(call))
        )
        place = rng.choice([len(call), *places])
        piece = rng.choice(rng.choice([_HOSTILE, _PLAIN, _QUOTED]))
        call = call[:place] + piece + call[place:]
    return call


def _argument(rng: Random) -> str:
    pieces = [rng.choice(rng.choice([_QUOTED, _PLAIN, _PLAIN])) for _ in range(rng.randint(1, 3))]
    name = rng.choice(["", "", "--query ", "--query=", "--symbol ", "symbol=", "--keywords="])
    return f" {name}{''.join(pieces)}"
