"""The guard against a real bash: named commands that must not run, and an oracle that can tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from pit_fetch.support.bundled import gate
from tests.laws import shell

READ = "cat raw.json"

# By what bash makes of them. The law "guard: shell" makes many more.
HOSTILE = {
    "assignments and elements of arrays, before another program or alone": (
        *("X=/pit_fetch sh -c 'cat raw.json' --help", "TZ=a/pit_fetch grep -h . raw.json", f"a+=/pit_fetch {READ}"),
        *(f"A=/python3 B=/pit_fetch.py {READ}", f"A=/python3 -m pit_fetch {READ}", f"a[0]=/pit_fetch {READ}"),
        *(f"a['0']=/pit_fetch {READ}", f"a[0]+=/pit_fetch {READ}", f"X='/pit_fetch' {READ}"),
        *(f"X=a'/b'/pit_fetch.py {READ}", "X=/pit_fetch"),
    ),
    "another program, whose name holds = or a letter outside ASCII": ("'X=/pit_fetch' --help", "é=/pit_fetch --help"),
    "scripts that Python takes for code, a module, a warning filter, flags; one behind an assignment": (
        *("python3 '-cprint(open(\"raw.json\").read())#/pit_fetch.py' --help", "python3 -mcode/pit_fetch.py"),
        *("python3 '-Wx/pit_fetch.py' raw.json", "python3 -x/pit_fetch.py", "python3 X=/pit_fetch.py"),
    ),
    "jobs": ("%/pit_fetch --help", "'%1'/pit_fetch --help"),
    "homes, and the folder that bash was in before": (
        *("~-/pit_fetch --help", "~root/pit_fetch --help", "'~'/pit_fetch --help", "~/bin/pit_fetch --help"),
        *("pit_fetch ~/raw.json --help", "pit_fetch symbol=~/raw.json --help", "pit_fetch a=b:~/raw.json --help"),
    ),
    "reserved words, a function, a condition, a brace expansion": (
        *("time pit_fetch --help", "! pit_fetch --help", "coproc pit_fetch --help", "exec pit_fetch --help"),
        *("function pit_fetch { cat raw.json; }; pit_fetch --help", "[[ -e raw.json ]] /pit_fetch --help"),
        "{cat,/pit_fetch} --help",
    ),
    "a blank that bash does not know, ends of lines, half a character": (
        *("pit_fetch\u00a0--help", f"pit_fetch --help\n{READ}", f"pit_fetch --help\r{READ}"),
        "pit_fetch '\ud800' --help",
    ),
}


@pytest.mark.parametrize("command", [command for commands in HOSTILE.values() for command in commands])
def test_a_command_that_is_more_than_a_call_is_refused(command: str) -> None:
    assert gate.wrapper_arguments(command) is None
    assert not gate.is_listing(command)
    for environ in (shell.WRAPPER_ONLY, shell.WRAPPER_ONLY | shell.CEILING):
        assert isinstance(shell.verdict(command, environ), shell.guard.Refusal)
    assert not isinstance(shell.verdict(command, shell.CEILING), shell.guard.RebuiltCommand)


@pytest.mark.parametrize(
    ("command", "objection"),
    [
        ("pit_fetch --help", ""),
        ("pit_'fetch' \"--help\"", ""),
        ("X=/pit_fetch cat raw.json --help", "ran "),
        ("pit_fetch --help; cat raw.json", "ran "),
        ("pit_fetch $(pit_fetch --help)", "ran "),
        ("pit_fetch --help ~", "ran "),
        ("X=1; pit_fetch --help", "2 simple commands"),
        ("pit_fetch --help; echo leak", "2 simple commands"),
        ("{ pit_fetch --help; } && [[ leak ]]", "2 simple commands"),
        ("pit_fetch --help > out", "changed files"),
        ("%1 --help", "ran "),
    ],
)
def test_the_oracle_tells_a_call_from_what_is_more(tmp_path: Path, command: str, objection: str) -> None:
    objected = shell.Sandbox(tmp_path).objection(command, ["pit_fetch", "--help"], 1)
    assert objected.startswith(objection)
    assert bool(objected) == bool(objection)


def test_the_oracle_sees_what_python_takes_for_code(tmp_path: Path) -> None:
    script = '-cprint(open("raw.json").read())#/pit_fetch.py'
    sandbox = shell.Sandbox(tmp_path)
    assert "after the PIT" in sandbox.objection(f"python3 '{script}' --help", ["python3", script, "--help"], 2)
    assert not sandbox.objection("python3 -B tools/pit_fetch.py x", ["python3", "-B", "tools/pit_fetch.py", "x"], 3)
