"""The guard against a real bash: named commands that must not run, and an oracle that can tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from pit_fetch.support.bundled import gate
from tests.laws import shell

READ = "cat raw.json"

# What bash does with each, in a few words. The law "guard: shell" makes many more.
HOSTILE = {
    "an assignment before another program": "X=/pit_fetch sh -c 'cat raw.json' --help",
    "an assignment to a variable that is in use": "TZ=a/pit_fetch grep -h . raw.json",
    "an assignment that adds": f"a+=/pit_fetch {READ}",
    "two assignments, one of them a Python": f"A=/python3 B=/pit_fetch.py {READ}",
    "an assignment and -m": f"A=/python3 -m pit_fetch {READ}",
    "an element of an array": f"a[0]=/pit_fetch {READ}",
    "an element with a quoted index": f"a['0']=/pit_fetch {READ}",
    "an element that adds": f"a[0]+=/pit_fetch {READ}",
    "a quoted value": f"X='/pit_fetch' {READ}",
    "a value in two parts": f"X=a'/b'/pit_fetch.py {READ}",
    "an assignment and nothing else": "X=/pit_fetch",
    "a program whose name holds =": "'X=/pit_fetch' --help",
    "a letter outside ASCII": "é=/pit_fetch --help",
    "a script that Python takes for code": "python3 '-cprint(open(\"raw.json\").read())#/pit_fetch.py' --help",
    "a script that Python takes for a module": "python3 -mcode/pit_fetch.py",
    "a script that Python takes for a warning filter": "python3 '-Wx/pit_fetch.py' raw.json",
    "a script that Python takes for flags": "python3 -x/pit_fetch.py",
    "a script behind an assignment": "python3 X=/pit_fetch.py",
    "a job": "%/pit_fetch --help",
    "a quoted job": "'%1'/pit_fetch --help",
    "the folder that bash was in before": "~-/pit_fetch --help",
    "another user's home": "~root/pit_fetch --help",
    "a quoted home": "'~'/pit_fetch --help",
    "a home": "~/bin/pit_fetch --help",
    "a home in an argument": "pit_fetch ~/raw.json --help",
    "a home behind an argument's =": "pit_fetch symbol=~/raw.json --help",
    "a home behind an argument's :": "pit_fetch a=b:~/raw.json --help",
    "a reserved word": "time pit_fetch --help",
    "a negation": "! pit_fetch --help",
    "a coprocess": "coproc pit_fetch --help",
    "a function": "function pit_fetch { cat raw.json; }; pit_fetch --help",
    "a condition": "[[ -e raw.json ]] /pit_fetch --help",
    "exec": "exec pit_fetch --help",
    "a brace expansion": "{cat,/pit_fetch} --help",
    "a blank that bash does not know": "pit_fetch\u00a0--help",
    "a line feed": f"pit_fetch --help\n{READ}",
    "a carriage return": f"pit_fetch --help\r{READ}",
    "half a character": "pit_fetch '\ud800' --help",
}


@pytest.mark.parametrize("command", HOSTILE.values(), ids=HOSTILE)
def test_a_command_that_is_more_than_a_call_is_refused(command: str) -> None:
    assert gate.wrapper_arguments(command) is None
    assert not gate.is_listing(command)
    for environ in (shell.WRAPPER_ONLY, shell.WRAPPER_ONLY | shell.CEILING):
        assert isinstance(shell.verdict(command, environ), shell.guard.Refusal)
    assert not isinstance(shell.verdict(command, shell.CEILING), shell.guard.Call)


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
