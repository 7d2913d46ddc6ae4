"""doctor against wirings on which the client was tried: what it says, and what the client did."""

from __future__ import annotations

import importlib.util
import json
import marshal
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from pit_fetch.claude_code import client_settings, doctor, prove
from pit_fetch.claude_code.prove import Outcome, Proof
from pit_fetch.claude_code.system import THIS_MACHINE
from pit_fetch.support.bundled import gate
from tests.client.wirings import WIRINGS, Place, make
from tests.unit.claude_code.fake_system import PATH, machine


def report(place: Place, *argv: str, **replaced: Any) -> dict[str, Any]:
    environ = {"PATH": PATH, "HOME": str(place.root / "home"), **place.environ}
    done = doctor.run(["--json", *argv], environ, str(place.session), machine(place.root, **replaced))
    said: dict[str, Any] = json.loads(done.text)
    assert said.keys() == {"enforced", "verdict", "findings"}
    assert said["enforced"] == (done.status == 0)
    return said


def levels(said: dict[str, Any]) -> set[str]:
    return {finding["level"] for finding in said["findings"] if finding["check"] != "client"}


@pytest.mark.thorough
@pytest.mark.parametrize("name", WIRINGS)
def test_files_alone_never_show_that_the_pit_is_enforced(name: str, tmp_path: Path) -> None:
    truth, change = WIRINGS[name]
    said = report(make(tmp_path, change))
    assert not said["enforced"]
    if truth == "holds":
        assert "fail" not in levels(said), [one for one in said["findings"] if one["level"] == "fail"]
        assert said["verdict"].startswith("Wired, not proved")
    else:
        assert levels(said) & {"fail", "warn"}, name
    if truth == "leaks" and name not in ("no ceiling", "another hook puts the command back"):
        assert "fail" in levels(said)
        assert said["verdict"] == "The PIT is NOT enforced here."


def test_there_are_wirings_enough() -> None:
    assert len(WIRINGS) >= 65


class Client:
    """A client that does as ``proof`` says; what it was ``asked``, and what was said before."""

    def __init__(self, proof: Proof) -> None:
        self.proof, self.asked = proof, list[Any]()

    def prove(self, *given: Any) -> Proof:
        self.asked.append(given)
        return self.proof

    def report(self, place: Place, **replaced: Any) -> dict[str, Any]:
        return report(place, "--prove", announce=self.asked.append, prove=self.prove, **replaced)


STEP = prove.Step("a program that leaks", "Bash", "pit_fetch", "withheld")
HOLDS = Proof((Outcome(STEP, "withheld", False),))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A project as init leaves it, and a client on PATH that says its version."""
    made = make(tmp_path, WIRINGS["as init leaves it"][1])
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "claude").write_text("#!/bin/sh\necho '2.1.329 (Claude Code)'\n")
    (programs / "claude").chmod(0o755)
    made.environ["PATH"] = f"{programs}:{PATH}"
    return made


@pytest.mark.parametrize(
    ("proof", "enforced"),
    [
        (HOLDS, True),
        (Proof((Outcome(STEP, "withheld", True),)), False),
        (Proof((Outcome(STEP, "shown", False),)), False),
        (Proof((Outcome(STEP, "not released", False),)), False),
        (Proof((Outcome(STEP, "withheld", False),), "the client was not done after 16 s"), False),
        (Proof((), "the client does not start"), False),
    ],
)
def test_enforced_is_what_the_client_has_shown(place: Place, proof: Proof, enforced: bool) -> None:
    client = Client(proof)
    assert client.report(place)["enforced"] is enforced
    said, given = client.asked
    assert "starting" in said  # it says so first
    assert given[4] == sorted(doctor.guard.ADAPTERS)


def test_without_a_ceiling_nothing_is_proved(place: Place) -> None:
    client = Client(HOLDS)
    del place.environ["PIT_FETCH_CEILING"]
    assert not client.report(place)["enforced"]
    assert client.asked == []


def test_without_a_client_nothing_is_proved(place: Place) -> None:
    client = Client(HOLDS)
    assert not client.report(place, client=lambda environ: "")["enforced"]
    assert client.asked == []


def test_a_proof_does_not_outweigh_a_fault(place: Place) -> None:
    place.settings.write_text(json.dumps({**json.loads(place.settings.read_text()), "disableAllHooks": True}))
    assert not Client(HOLDS).report(place)["enforced"]


@pytest.mark.parametrize("switch", ["disableAllHooks", "allowManagedHooksOnly", "strictPluginOnlyCustomization"])
@pytest.mark.parametrize("name", ["managed-settings.json", "managed-settings.d/10-mine.json"])
def test_an_administrators_switch_is_found(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, switch: str, name: str
) -> None:
    path = tmp_path / "etc" / name
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({switch: True}))
    monkeypatch.setattr(client_settings, "MANAGED", (tmp_path / "etc",))
    assert any(f"sets {switch}" in one["message"] for one in report(place)["findings"] if one["level"] == "fail")


def test_the_strongest_file_decides_on_the_ceiling(place: Place) -> None:
    earlier = "2024-01-01T00:00:00Z"
    for path, value in ((place.settings, "2030-01-01T00:00:00Z"), (place.claude / "settings.local.json", earlier)):
        content = json.loads(path.read_text()) if path.exists() else {}
        path.write_text(json.dumps({**content, "env": {"PIT_FETCH_CEILING": value}}))
    assert any(f"at or before {earlier}" in one["message"] for one in report(place)["findings"])


# A client that is a script: what the proof asks of it, and how it judges what comes back.

CLIENT = """#!{python}
import json, os, subprocess, sys, urllib.request
url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
def ask(messages):
    body = json.dumps({{"model": "m", "tools": [1], "messages": messages}}).encode()
    return json.load(urllib.request.urlopen(urllib.request.Request(url, body)))["content"]
first = [{{"role": "user", "content": sys.argv[2]}}]
said = ask(first)
results = []
for block in said:
    command = block["input"].get("command", "echo no")
    text = subprocess.run(command, shell=True, capture_output=True, text=True).stdout
    results.append({{"type": "tool_result", "tool_use_id": block["id"], "content": {answer}}})
    results += [{{"type": "text", "text": {beside}}}]
results.sort(key=lambda block: block["type"] == "text")
ask([*first, {{"role": "assistant", "content": said}}, {{"role": "user", "content": results}}])
"""


def _prove(tmp_path: Path, answer: str, beside: str = "'x'") -> Proof:
    client = tmp_path / "client"
    client.write_text(CLIENT.format(python=sys.executable, answer=answer, beside=beside))
    client.chmod(0o755)
    ceiling = gate.parse_iso8601("2024-02-15T16:00:00-05:00")
    assert ceiling is not None
    return prove.prove(str(client), {"PATH": PATH, "NO_PROXY": "127.0.0.1"}, tmp_path, ceiling, ["bz-news-api"])


def test_a_client_that_shows_everything_leaks(tmp_path: Path) -> None:
    proof = _prove(tmp_path, "text")
    assert not proof.holds
    assert [one.leaked for one in proof.outcomes[:3]] == [True, False, True]


def test_a_client_that_shows_nothing_leaks_nothing_and_proves_nothing(tmp_path: Path) -> None:
    proof = _prove(tmp_path, "'no'")
    assert (proof.holds, any(one.leaked for one in proof.outcomes)) == (False, False)
    assert {one.seen for one in proof.outcomes} == {"something else"}
    assert proof.problem == "the client did not make every planted call"  # there are no agents in this one


def test_a_leak_is_seen_wherever_it_reaches_the_model(tmp_path: Path) -> None:
    assert "reached the model" in _prove(tmp_path, "'no'", beside="text").problem


def test_a_client_that_does_not_start_or_end_proves_nothing(tmp_path: Path) -> None:
    ceiling = gate.parse_iso8601("2024-02-15T16:00:00-05:00")
    assert ceiling is not None
    gone = prove.prove(str(tmp_path / "gone"), {"PATH": PATH}, tmp_path, ceiling, [])
    assert "does not start" in gone.problem
    (tmp_path / "slow").write_text("#!/bin/sh\nsleep 30\n")
    (tmp_path / "slow").chmod(0o755)
    assert "not done" in prove.prove(str(tmp_path / "slow"), {"PATH": PATH}, tmp_path, ceiling, [], seconds=0.2).problem


def test_a_compiled_gate_that_is_not_its_source_is_found(tmp_path: Path) -> None:
    path = tmp_path / "pit_gate.py"
    path.write_bytes(Path(str(gate.__file__)).read_bytes())
    assert doctor.check_cache(path, os.environ, THIS_MACHINE) == []
    evil = path.read_text().replace("def runs_wrapper(command: str) -> bool:", "def runs_wrapper(_):\n    return False")
    assert evil != path.read_text()
    cached = Path(importlib.util.cache_from_source(str(path)))
    cached.parent.mkdir()
    # Not checked against its source (PEP 552), so that it may come with a repository, whose files have no times.
    cached.write_bytes(
        importlib.util.MAGIC_NUMBER + bytes([1]) + bytes(11) + marshal.dumps(compile(evil, str(path), "exec"))
    )
    python = {**os.environ, "PATH": PATH}
    (found,) = doctor.check_cache(path, python, THIS_MACHINE)
    assert (found.level, found.check) == ("fail", "files")
    cached.unlink()
    assert doctor.check_cache(path, python, THIS_MACHINE) == []


def test_a_machine_without_time_zones_is_named(tmp_path: Path) -> None:
    assert doctor.zone_database(os.environ, THIS_MACHINE) == []
    python = tmp_path / "python3"
    python.write_text("#!/bin/sh\nexit 1\n")
    python.chmod(0o755)
    (found,) = doctor.zone_database({"PATH": str(tmp_path)}, THIS_MACHINE)
    assert (found.level, found.check) == ("warn", "zones")
    assert "tzdata" in found.fix
