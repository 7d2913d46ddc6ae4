"""The guard: which Bash commands may run, and that nothing broken makes it give way."""

from __future__ import annotations

import ast
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pit_fetch.cli.commands import COMMANDS
from pit_fetch.cli.parser import build_parser
from pit_fetch.engine import registry
from pit_fetch.request.evidence import key
from pit_fetch.request.values import flag_of
from pit_fetch.support.bundled import gate, load
from tests.corpus import commands
from tests.unit.hooks import calls
from tests.unit.hooks.calls import CEILING, NEO4J, ONLY, PIT

guard = load("pit_guard")
GUARD = Path(guard.__file__ or "")
PROGRAM = GUARD.parent.parent / "pit_fetch.py"
FETCH = f"pit_fetch --source alphavantage --pit {PIT} EARNINGS symbol=AAPL"
QUERY = {"tool_name": NEO4J, "tool_input": {"query": "RETURN 1"}}


def bash(command: object, **more: Any) -> dict[str, Any]:
    return {
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_use_id": "toolu_1",
        "tool_input": {"command": command},
        "cwd": "/",
        **more,
    }


GATEWAY_IDS = ("functions.Bash:0", "call_x|fc_y", "a" * 300, "chatcmpl-tool-5c1", "tool_0_Bash", "toolu_01/a")
STORE: list[str] = []  # the folder of the private files of these tests


@pytest.fixture(autouse=True, scope="module")
def _temporary_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    STORE.append(str(tmp_path_factory.mktemp("store")))
    yield
    STORE.clear()


def respond(hook: dict[str, Any], environ: dict[str, str]) -> dict[str, Any]:
    answer: dict[str, Any] = guard.respond(hook, {"TMPDIR": STORE[0], **environ})
    return answer


def verdict(hook: dict[str, Any], environ: dict[str, str] | None = None) -> str:
    """ "alone", "deny", "run" (rebuilt, its envelope released by the gate) or "rebuilt" (rebuilt, and nothing more)."""
    answer = respond(hook, environ or {})
    if not answer:
        return "alone"
    decision = answer["hookSpecificOutput"]
    assert decision["hookEventName"] == "PreToolUse"
    if "updatedInput" in decision:
        assert "permissionDecision" not in decision  # the user's own rules still decide
        return "run" if decision["updatedInput"]["command"].endswith(gate.ENDING) else "rebuilt"
    assert decision["permissionDecision"] == "deny" == answer["decision"].replace("block", "deny")
    assert decision["permissionDecisionReason"] == answer["reason"] != ""
    return "deny"


def runs(command: str, environ: dict[str, str], **more: Any) -> str:
    """The command that runs instead, with FILE for the private file."""
    rebuilt = respond(bash(command, **more), environ)["hookSpecificOutput"]["updatedInput"]["command"]
    return re.sub(r"(--release )\S+/toolu_1\.[0-9a-f]{32}(?= )", r"\1FILE", rebuilt)


def start(stdin: object, env: dict[str, str], script: Path = GUARD, cwd: Path | None = None) -> dict[str, Any]:
    return calls.start(script, stdin, {"TMPDIR": STORE[0], **env}, cwd)


# Where Bash is for pit_fetch alone: tests/corpus/commands.py has the commands that run, and those that do not.


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (FETCH, f"{FETCH} --release FILE"),
        (f"p\\it_'fetch' '--pit' \"{PIT}\"", f"pit_fetch --pit {PIT} --release FILE"),
        (f"pit_fetch \\\n --pit {PIT} a -- b --limit 5", f"pit_fetch --pit {PIT} a --release FILE -- b --limit 5"),
        (
            f"pit_fetch --pit {PIT} '=cat' '~/x' it\\'s \"\"",
            f"pit_fetch --pit {PIT} '=cat' '~/x' 'it'\"'\"'s' '' --release FILE",
        ),
    ],
)
def test_what_runs_is_built_from_the_words(command: str, expected: str) -> None:
    for environ in (ONLY, CEILING):
        assert runs(command, environ) == expected + gate.ENDING


def test_in_open_mode_a_plain_call_shows_what_it_prints() -> None:
    assert runs("pit_fetch --source x \\\n --limit '5'", ONLY) == "pit_fetch --source x --limit 5"
    assert verdict(bash(f"pit_fetch --source x -- --pit {PIT}"), ONLY) == "rebuilt"


@pytest.mark.parametrize(
    "command",
    [*commands.LISTINGS, "pit_fetch --source x --help", f"{PROGRAM} --version", f"python3 -P {PROGRAM} --version"],
)
def test_a_plain_listing_shows_what_it_prints(command: str) -> None:
    assert runs(command, ONLY) == runs(command, CEILING) == shlex.join(shlex.split(command.replace("\\\n", "")))


@pytest.mark.parametrize(
    "command",
    [
        *("./sub/pit_fetch --version", "/opt/other/pit_fetch --help", "python3 pit_fetch.py --help"),
        f"sub/python3 -I {PROGRAM} --help",
    ],
)
def test_another_program_may_fetch_and_not_list(command: str, tmp_path: Path) -> None:
    assert respond(bash(command, cwd=str(tmp_path)), CEILING)["reason"] == guard.FOREIGN_LISTING
    call = command.rpartition(" ")[0] + f" --source x --pit {PIT}"
    assert verdict(bash(call, cwd=str(tmp_path)), CEILING) == "run"
    for words in (command, call):
        assert respond(bash(words, cwd=str(tmp_path)), ONLY)["reason"] == guard.FOREIGN_PROGRAM


class Programs:
    """An installed program, by which init has set up a project, and what an agent could write into that project."""

    def __init__(self, root: Path) -> None:
        self.project, self.bin, self.checkout = root / "project", root / "bin", root / "checkout"
        self.hooks = self.project / ".claude" / "hooks"
        for file in (self.bin / "pit_fetch", self.bin / "python3", self.checkout / "pit_fetch.py"):
            self.write(file)
        self.hooks.mkdir(parents=True)
        for name in ("pit_guard.py", "pit_gate.py"):
            shutil.copy(GUARD.with_name(name), self.hooks)
        (self.hooks / guard.RECORD).write_text(f"{self.checkout}/pit_fetch.py\n")

    @staticmethod
    def write(file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(0o755)

    def runs(self, program: str, path: str = "{bin}:/usr/bin:/bin") -> bool:
        """Return whether a session that may only fetch may start ``program``, for a fetch as for a listing."""
        env = {**ONLY, "PATH": path.format(**vars(self))}
        commands = (f"{program.format(**vars(self))} {more}" for more in (f"--source x --pit {PIT}", "--version"))
        hooks = [bash(command, cwd=str(self.project)) for command in commands]
        refused = {"decision" in start(hook, env, self.hooks / "pit_guard.py") for hook in hooks}
        assert len(refused) == 1
        return refused == {False}


@pytest.fixture
def programs(tmp_path: Path) -> Programs:
    return Programs(tmp_path.resolve())


@pytest.mark.parametrize(
    "program",
    [
        *("pit_fetch", "{bin}/pit_fetch", "python3 {checkout}/pit_fetch.py", "{checkout}/pit_fetch.py"),
        *("python3 -I {checkout}/pit_fetch.py", "{bin}/python3 {checkout}//pit_fetch.py"),
    ],
)
def test_the_installed_program_runs_by_its_name_and_its_own_path(program: str, programs: Programs) -> None:
    assert programs.runs(program)


def test_the_program_of_an_environment_in_the_project_runs_while_it_is_active(programs: Programs) -> None:
    programs.write(programs.project / ".venv" / "bin" / "pit_fetch")
    for program in ("pit_fetch", ".venv/bin/pit_fetch", "{project}/.venv/bin/pit_fetch"):
        assert programs.runs(program, "{project}/.venv/bin:{bin}")
    assert not programs.runs("{bin}/pit_fetch", "{project}/.venv/bin:{bin}")  # bash would find the other one


def test_without_a_path_of_its_own_the_guard_goes_by_the_process(programs: Programs) -> None:
    command = f"{programs.bin}/pit_fetch --version"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(programs.bin))
        assert verdict(bash(command), ONLY) == "rebuilt"
        patch.setenv("PATH", "/usr/bin")
        assert verdict(bash(command), ONLY) == "deny"


# The options of an adapter.

# What an adapter has no need of, and why; what is not a fetch is a listing.
NOT_FOR_ADAPTERS = {
    "--csv-safe": "the gate reads JSON",
    "--timeout": "cuts an answer where the clock says, which withheld items can move",
    "--input-file": "reads a file of the machine",
    "--archive": "names a file of the machine, which holds what came after the PIT: the operator sets the variable",
    "--offline": "the operator decides where answers come from",
    "--fail": "a failing command never reaches the gate",
    "--verbose": "prints more than the envelope",
    "-v": "the same",
    "--format": "the gate reads JSON",
    "--output": "writes a file, which the gate does not read",
    "--open": "shows a page to a person",
    "--evidence": "the operator alone accepts claims",
}
LISTINGS = {"--help", "-h", "--version", "--list-sources", "--json"}


def test_the_guard_knows_the_options_that_there_are() -> None:
    """An option that is new has to be entered: in the guard's table, or here as one that adapters do without."""
    common = {flag for flag in build_parser(None).flags if flag not in LISTINGS}
    assert {"--" + name for name in guard.COMMON_OPTIONS} == common - NOT_FOR_ADAPTERS.keys()


@pytest.mark.parametrize("source", registry.BUNDLED_NAMES)
def test_an_adapter_may_use_every_option_of_its_source(source: str) -> None:
    adapter = next((agent for agent in guard.ADAPTERS if key(agent) == key(source)), "fred")
    call = f"pit_fetch --source {source} --pit {PIT}"
    for option in registry.load(source).all_options:
        for words in (f"{flag_of(option.name)} 'x = y'", f"{flag_of(option.name)}=x", f"{option.name.upper()}=x"):
            assert verdict(bash(f"{call} {words}", agent_type=adapter)) == "run", words


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("series=GDP", "series-id"),
        ("--serie-id=GDP", "series-id"),
        ("querry=oil", "query"),
        ("--date-form=2024-01-01", "date-from"),
        ("max=5", "max-chars"),
        ("colour=red", ""),
        *((name, "") for name in NOT_FOR_ADAPTERS if name.startswith("--")),
    ],
)
def test_a_mistyped_option_is_answered_with_the_one_that_it_is_likely_to_mean(word: str, meant: str) -> None:
    reason = respond(bash(f"pit_fetch --source fred --pit {PIT} observations {word}", agent_type="fred"), {})["reason"]
    assert (f"did you mean --{meant}?" in reason) if meant else ("did you mean" not in reason)


# Values as they are, behind an option that takes one.
VALUES = {
    "alphavantage": ("--symbol CL=F", "--symbol EURUSD=X TIME_SERIES_DAILY", "--limit 5 --symbol a=b --fields x=y"),
    "bz-news-api": ("--keywords 'a=b'", "--keywords path=/etc/passwd", "--tickers timeout=5"),
    "yahoo": ("prices --symbol EURUSD=X --interval 1d", "--op prices --symbol CL=F", "prices symbol=CL=F"),
    "Yahoo-Finance": ("prices --symbol EURUSD=X",),
    "sec_full_text": ("--exact --query x=y", "--query 'x = y'"),
}


def test_a_value_may_contain_an_equals_sign() -> None:
    for source, options in VALUES.items():
        for words in options:
            assert verdict(bash(f"pit_fetch --source {source} --pit {PIT} {words}"), ONLY) == "run", words
    assert verdict(bash(f"pit_fetch --pit {PIT} --symbol CL=F"), ONLY) == "deny"  # a settings file may name the source


REFUSED = {
    "--timeout": ("--timeout 5", "--timeout=5", "'--timeout=5 s'"),
    "--input-file": ("--input-file raw.json", "--input-file=-", "--query --input-file=raw.json"),
    "path=...": ("path=/etc/passwd", "--query path=/etc/passwd"),
    "INPUT_FILE=...": ("INPUT_FILE=raw.json",),
    "-v 1": ("'-v 1'",),
    **{name: (f"{name} 5",) for name in ("--archive", "--output", "--release", "--Limit", "--date_from")},
    **{name: (name,) for name in ("--json", "-5x")},
}


@pytest.mark.parametrize(("words", "named"), [(words, name) for name, options in REFUSED.items() for words in options])
def test_any_other_option_is_refused_by_name(words: str, named: str) -> None:
    call = f"pit_fetch --source x --pit {PIT} {words}"
    for environ in (ONLY, {**ONLY, **CEILING}):
        assert respond(bash(call), environ)["reason"].startswith(f"{named} is not an option for this session: ")
    assert verdict(bash(call, agent_type="pit-fetch:alphavantage")) == "deny"
    assert verdict(bash(call), CEILING) == ("deny" if named == "--release" else "run")  # which others may choose
    assert verdict(bash(call)) == "alone"


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - {"lint", "doctor"}))
def test_an_adapter_runs_no_other_command(name: str) -> None:
    assert verdict(bash(f"pit_fetch {name} x --source y"), ONLY) == "deny"


@pytest.mark.parametrize(
    "command",
    [
        *("pit_fetch archive log --json", "pit_fetch archive replay last"),
        *("pit_fetch archive replay last --archive=--help", "pit_fetch archive info", "pit_fetch capture list.toml"),
        *("pit_fetch capture list.toml --json --archive /tmp/a.db", f"pit_fetch archive log --pit {PIT}"),
        f"pit_fetch panel --source alphavantage EARNINGS --over symbol=IBM --pits {PIT}",
        f"pit_fetch archive --pit {PIT} --limit 5",
    ],
)
def test_an_adapter_looks_into_no_archive(command: str) -> None:
    """By its name alone, too: then no variable tells the program, which refuses it under a ceiling by itself."""
    assert verdict(bash(command), ONLY) == "deny"
    assert verdict(bash(command, agent_type="alphavantage")) == "deny"
    assert verdict(bash(command), CEILING) == ("run" if "--pit " in command else "deny")


def test_normalize_is_for_whoever_may_run_commands_and_is_judged_like_a_fetch() -> None:
    """It reads files, and a page that an agent has written proves nothing: adapters may not use it."""
    call = f"pit_fetch normalize --pit {PIT} --pages saved --input-file items.json"
    assert verdict(bash(call), ONLY) == verdict(bash(call), {**ONLY, **CEILING}) == "deny"
    assert verdict(bash(call, agent_type="perplexity")) == "deny"
    assert verdict(bash(call), CEILING) == "run"
    assert verdict(bash(call.replace("T16:00:00", "T16:00:01")), CEILING) == "deny"
    assert verdict(bash(call.replace(f"--pit {PIT}", "")), CEILING) == "deny"
    assert verdict(bash(call.replace("--input-file ", "< ")), CEILING) == "deny"
    assert verdict(bash(call)) == "alone"


def test_an_operator_allows_the_options_of_a_plugin() -> None:
    call = f"pit_fetch --source widgets --pit {PIT} --min-size 5 kind=a --colour red"
    assert verdict(bash(call), ONLY) == "deny"
    allowed = {"PIT_FETCH_ADAPTER_OPTIONS": "--min-size, KIND\ncolour"}
    assert verdict(bash(call), {**ONLY, **allowed}) == "run"
    assert verdict(bash(call, agent_type="bz-news-api"), allowed) == "run"
    assert verdict(bash(call.replace("min-size", "timeout")), {**ONLY, **allowed}) == "deny"
    assert verdict(bash(f"{call} --fail"), {**ONLY, "PIT_FETCH_ADAPTER_OPTIONS": "fail"}) == "deny"


@pytest.mark.parametrize(
    "words", ["--evidence claimed", "--evidence=claimed", "'--evidence' \"claimed\"", "--evidence"]
)
def test_no_agent_chooses_what_only_a_claim_dates(words: str) -> None:
    allowed = {"PIT_FETCH_ADAPTER_OPTIONS": "evidence"}
    for environ in (ONLY, CEILING, {**ONLY, **allowed}, {**CEILING, **allowed}):
        assert verdict(bash(f"{FETCH} {words}"), environ) == "deny"
    assert verdict(bash(f"{FETCH} {words}", agent_type="alphavantage"), allowed) == "deny"
    assert verdict(bash(f"{FETCH} --evidence proved"), CEILING) == "run"
    assert verdict(bash(f"{FETCH} {words}")) == "alone"


def test_an_adapter_sees_the_fields_of_a_bundled_source() -> None:
    """The help of a source points to them."""
    for words in ("sources", "sources yahoo", "sources yahoo --json", "sources --help"):
        assert verdict(bash(f"pit_fetch {words}"), ONLY) == "rebuilt"
    for words in ("sources widgets", "sources --path=a", "sources yahoo --source x", "config", "completion bash"):
        assert verdict(bash(f"pit_fetch {words}"), ONLY) == "deny"


def test_a_call_runs_in_the_foreground_and_to_its_end() -> None:
    hook = bash(FETCH)
    hook["tool_input"] |= {"run_in_background": True, "timeout": 1_000}
    rebuilt = respond(hook, ONLY)["hookSpecificOutput"]["updatedInput"]
    assert rebuilt.keys() == {"command", "timeout"}
    assert rebuilt["timeout"] == guard.TIMEOUT_MS


@pytest.mark.parametrize(
    ("command", "environ", "expected"),
    [
        (FETCH, ONLY, "deny"),
        (FETCH, CEILING, "deny"),
        ("tail -f log", ONLY, "deny"),
        ("tail -f log", CEILING, "alone"),
        ("grep -c pit_fetch log", CEILING, "alone"),
        (FETCH, {}, "alone"),
    ],
)
def test_monitor_runs_no_call(command: str, environ: dict[str, str], expected: str) -> None:
    assert verdict({**bash(command), "tool_name": "Monitor"}, environ) == expected


@pytest.mark.parametrize(
    ("server", "environ", "reading", "listing"),
    [
        ("neo4j-cypher", CEILING, "deny", "deny"),
        ("plugin_graph_neo4j-cypher", ONLY, "deny", "deny"),
        ("perplexity", CEILING, "deny", "deny"),
        ("docs", CEILING, "alone", "alone"),
        ("neo4j-cypher", {}, "alone", "alone"),
        (None, CEILING, "alone", "deny"),  # the client lists those of every server
        ("", ONLY, "alone", "deny"),
        (None, {}, "alone", "alone"),
    ],
)
def test_a_gated_servers_resources_are_refused(
    server: object, environ: dict[str, str], reading: str, listing: str
) -> None:
    hook = {"tool_name": "ReadMcpResourceTool", "tool_input": {"server": server, "uri": "x"}}
    assert verdict(hook, environ) == reading
    assert verdict({**hook, "tool_name": "ListMcpResourcesTool"}, environ) == listing


@pytest.mark.parametrize("command", [None, 5, ["pit_fetch"], {"a": 1}])
def test_a_command_that_is_no_text_is_refused(command: object) -> None:
    assert verdict(bash(command), ONLY) == "deny"


@pytest.mark.parametrize(
    ("hook", "environ", "expected"),
    [
        (bash("ls", agent_type="alphavantage"), {}, "deny"),
        (bash("ls", agent_type="pit-fetch:bz-news-api"), {}, "deny"),
        (bash(FETCH, agent_type="sec_full_text"), {}, "run"),
        (bash("ls", agent_type="general-purpose"), {}, "alone"),
        (bash("ls", agent_type=None), {}, "alone"),
        (bash("ls"), {"PIT_FETCH_WRAPPER_ONLY": "0"}, "alone"),
        (bash("ls"), {"PIT_FETCH_WRAPPER_ONLY": ""}, "alone"),
        (bash("ls"), {"PIT_FETCH_WRAPPER_ONLY": "true"}, "deny"),
        ({**bash("ls"), "tool_name": "Read"}, ONLY, "alone"),
    ],
)
def test_where_the_guard_rules(hook: dict[str, Any], environ: dict[str, str], expected: str) -> None:
    assert verdict(hook, environ) == expected


SLIP = {"PIT_FETCH_CELING": "2024-02-15T16:00:00-05:00"}


@pytest.mark.parametrize(
    ("hook", "environ", "expected"),
    [
        (bash(FETCH), SLIP, "deny"),
        (bash(FETCH), {**CEILING, **SLIP}, "deny"),
        (bash("pit_fetch --source x"), SLIP, "deny"),
        (bash("pit_fetch doctor"), SLIP, "rebuilt"),  # which says what is wrong
        (bash("ls"), SLIP, "alone"),
        ({"tool_name": "mcp__neo4j-cypher__get_neo4j_schema", "tool_input": {}}, SLIP, "deny"),
        ({"tool_name": "mcp__neo4j-cypher__read_neo4j_cypher", "tool_input": {"query": "x"}}, SLIP, "deny"),
        ({"tool_name": "ReadMcpResourceTool", "tool_input": {"server": "perplexity", "uri": "x"}}, SLIP, "deny"),
        (bash("ls"), {"PIT_FETCH_WRAPPERS_ONLY": "1"}, "deny"),
        (bash("pit_fetch --source x"), {"PIT_FETCH_CEILING_URL": "http://127.0.0.1"}, "alone"),
    ],
)
def test_a_misspelt_restriction_holds_and_is_named(
    hook: dict[str, Any], environ: dict[str, str], expected: str
) -> None:
    assert verdict(hook, environ) == expected
    if expected == "deny":
        ((name, meant),) = gate.misspelt_variables(environ, guard.RESTRICTIONS)
        assert f"{name} is not a variable of pit_fetch: write {meant}" in respond(hook, environ)["reason"]


def test_the_rewritten_call_keeps_its_other_parameters() -> None:
    hook = bash(FETCH)
    hook["tool_input"] |= {"description": "fetch", "field_of_tomorrow": [1]}
    rebuilt = respond(hook, ONLY)["hookSpecificOutput"]["updatedInput"]
    assert (rebuilt["description"], rebuilt["field_of_tomorrow"]) == ("fetch", [1])


# The private file.


def private(environ: dict[str, str], **more: Any) -> Path:
    rebuilt = guard.respond(bash(FETCH, **more), {**CEILING, **environ})["hookSpecificOutput"]["updatedInput"]
    return Path(re.findall(r"--release (\S+)", rebuilt["command"])[0])


def test_the_private_file_is_empty_and_this_users_alone(tmp_path: Path) -> None:
    path = private({"TMPDIR": str(tmp_path)})
    assert path.read_bytes() == b""
    assert path.name.startswith("toolu_1.")
    assert (path.stat().st_mode & 0o7777, path.parent.stat().st_mode & 0o7777) == (0o600, 0o700)
    assert private({"TMPDIR": str(tmp_path)}) != path


def test_what_no_gate_took_is_removed_in_the_end(tmp_path: Path) -> None:
    old, new = private({"TMPDIR": str(tmp_path)}), private({"TMPDIR": str(tmp_path)})
    os.utime(old, (0, 0))
    private({"TMPDIR": str(tmp_path)})
    assert (old.exists(), new.exists()) == (False, True)


def test_the_private_file_is_outside_the_project(tmp_path: Path) -> None:
    path = private({"TMPDIR": str(tmp_path), "CLAUDE_PROJECT_DIR": str(tmp_path)})
    assert tmp_path not in path.parents
    path.unlink()


@pytest.mark.parametrize("mode", [0o755, 0o1777, 0o500, "link"])
def test_a_store_that_others_may_enter_or_that_is_a_link_is_not_used(tmp_path: Path, mode: int | str) -> None:
    store = tmp_path / f"pit_fetch-{os.geteuid()}"
    store.mkdir(mode=0o700)
    if isinstance(mode, int):
        store.chmod(mode)
    else:
        store.symlink_to(store.rename(tmp_path / "elsewhere"))
    path = private({"TMPDIR": str(tmp_path)})
    assert tmp_path not in path.parents
    path.unlink()


def test_without_a_private_file_nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard.os, "mkdir", lambda path, mode: (_ for _ in ()).throw(PermissionError(13, "not yours")))
    assert "set TMPDIR" in respond(bash(FETCH), CEILING)["reason"]


@pytest.mark.parametrize("named", [None, "", 5])
def test_a_call_without_an_id_does_not_run(named: object) -> None:
    assert "update it" in respond(bash(FETCH, tool_use_id=named), CEILING)["reason"]


@pytest.mark.parametrize("name", [*GATEWAY_IDS, "../x", "a b", "$(ls)", "é\n", "\ud800"])
def test_a_call_has_whatever_id_its_client_gives_it(name: str, tmp_path: Path) -> None:
    rebuilt = guard.respond(bash(FETCH, tool_use_id=name), {**CEILING, "TMPDIR": str(tmp_path)})["hookSpecificOutput"]
    path = Path(re.findall(r"--release (\S+)", rebuilt["updatedInput"]["command"])[0])
    assert path.parent.parent == tmp_path
    assert re.fullmatch(r"[\w-]{1,100}\.[0-9a-f]{32}", path.name, re.ASCII)


# Under a ceiling, in any session.


_ZONE = "[America/New_York]"
UNDER_A_CEILING = {
    "run": ("--pit=2024-02-15T21:00:00Z", f"--pit '2024-02-15T16:00:00{_ZONE}'"),
    "deny": (
        *("", "--pit", "--pit=2024-02-15T21:00:00.000001Z", "--pit 2030-01-01T00:00:00Z", "--pit 2024-02-15"),
        *(f"--pit '2024-02-15T16:00:01{_ZONE}'", f"--pit '2024-02-15T16:00:00-04:00{_ZONE}'", f"-- --pit {PIT}"),
        f"--pit {PIT} | jq .",
    ),
}
# The corpus of sessions has other commands that call it, and those that only mention it.
CALLS = ("p''it_fetch --source x", 'grep "$(pit_fetch --source x)" docs', "echo $(pit_fetch --source x)")


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        *((f"pit_fetch --source x {words}", name) for name, calls in UNDER_A_CEILING.items() for words in calls),
        *((command, "deny") for command in CALLS),
    ],
)
def test_under_a_ceiling_a_call_needs_an_earlier_pit(command: str, expected: str) -> None:
    assert verdict(bash(command), CEILING) == expected


@pytest.mark.parametrize("ceiling", ["", "2024-02-15", "tomorrow"])
def test_under_a_ceiling_that_cannot_be_read_nothing_is_fetched(ceiling: str) -> None:
    assert verdict(bash(FETCH), {"PIT_FETCH_CEILING": ceiling}) == "deny"
    assert verdict(bash("ls"), {"PIT_FETCH_CEILING": ceiling}) == "alone"


# Foreign and broken files.


@pytest.mark.parametrize("words", ["--version", f"--source x --pit {PIT}"])
def test_a_module_is_refused_by_name(words: str) -> None:
    for program in ("python3 -m pit_fetch", "python3 -I -m pit_fetch", "/usr/bin/python3.12 -uP -m pit_fetch"):
        for environ in (ONLY, CEILING):
            assert respond(bash(f"{program} {words}"), environ)["reason"] == guard.NO_MODULE
        assert verdict(bash(f"{program} {words}")) == "alone"


def test_a_foreign_gate_or_package_is_not_what_runs(tmp_path: Path) -> None:
    """``-m`` and ``-c`` put the working directory on the path; the gate is found by its place all the same."""
    (tmp_path / "pit_gate.py").write_text("raise SystemExit('foreign')")
    (tmp_path / "pit_guard.py").write_text("raise SystemExit('foreign')")
    (tmp_path / "pit_fetch_providers").mkdir()
    (tmp_path / "pit_fetch_providers" / "__init__.py").write_text("raise SystemExit('foreign')")
    found = "import pit_fetch.support.bundled as s; print(s.gate.__file__, s.load('pit_guard').__file__)"
    for words in (["-c", found], ["-m", "pit_fetch", "--source", "bz-news-api", "--pit", PIT]):
        done = subprocess.run(
            [sys.executable, *words], cwd=tmp_path, capture_output=True, text=True, check=False, env={"HOME": "/"}
        )
        assert "foreign" not in done.stdout + done.stderr
        assert done.returncode == 0 or "needs BENZINGA" in done.stderr
    assert start(bash(FETCH), ONLY, cwd=tmp_path)["hookSpecificOutput"]["updatedInput"]


@pytest.mark.parametrize("gate_text", [None, "", "syntax error here", "raise SystemExit(0)", "print('noise')"])
def test_without_a_gate_that_loads_no_call_runs(tmp_path: Path, gate_text: str | None) -> None:
    shutil.copy(GUARD, tmp_path)
    if gate_text is not None:
        (tmp_path / "pit_gate.py").write_text(gate_text)
    for hook in (bash(FETCH), QUERY):
        answer = start(hook, ONLY, tmp_path / GUARD.name)
        assert "pit_gate.py beside this guard" in answer["reason"]
    assert start(bash("ls"), CEILING, tmp_path / GUARD.name) == {}


_BROKEN = {
    "allows": "return {}",
    "raises": "raise ValueError",
    "replaces nothing": 'return {"decision": "block", "reason": "PIT_VIOLATION_GT_CUTOFF: data[0]"}',
    "quotes the leak": "return block_output(Violation('x', str(hook)))",
}


@pytest.mark.parametrize("body", _BROKEN.values(), ids=_BROKEN)
def test_a_broken_gate_is_tried_where_its_silence_would_show_a_result(tmp_path: Path, body: str) -> None:
    """The output of a Bash call is shown only if the gate releases it, that of an MCP tool unless it is withheld."""
    shutil.copy(GUARD, tmp_path)
    broken = f"def respond(hook, ceiling=None):\n    {body}\n\n\nif __name__"
    (tmp_path / "pit_gate.py").write_text(Path(gate.__file__ or "").read_text().replace("if __name__", broken))
    answer = start(bash(FETCH), ONLY, tmp_path / GUARD.name)
    assert answer["hookSpecificOutput"]["updatedInput"]["command"].endswith(gate.ENDING)
    assert start(QUERY, {}, tmp_path / GUARD.name)["reason"] == guard.GATE_BROKEN
    assert start(QUERY, {}) == {}


def test_a_gate_that_hangs_means_deny(tmp_path: Path) -> None:
    impatient = tmp_path / "pit_guard.py"
    impatient.write_text(GUARD.read_text().replace("ALARM_SECONDS = 7", "ALARM_SECONDS = 1"))
    (tmp_path / "pit_gate.py").write_text("import select\nselect.select([], [], [])")
    assert start(bash(FETCH), ONLY, impatient)["reason"] == "The guard ran out of time"


@pytest.mark.parametrize("stdin", [b"", b"not json", b"[]", b"7", b"\xff", b"[" * 100_000])
def test_input_that_cannot_be_read_means_deny(stdin: bytes) -> None:
    assert start(stdin, {})["decision"] == "block"


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just(FETCH),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
_HOOKS = st.fixed_dictionaries(
    {"tool_name": st.just("Bash") | _JSON, "tool_input": st.fixed_dictionaries({"command": _JSON}) | _JSON},
    optional={"agent_type": _JSON, "cwd": _JSON},
)


@given(_HOOKS, st.sampled_from([{}, ONLY, CEILING, {**ONLY, **CEILING}]))
def test_for_any_input_the_answer_is_one_the_client_takes(hook: dict[str, Any], environ: dict[str, str]) -> None:
    assert verdict(hook, environ) in ("alone", "deny", "run", "rebuilt")
    if hook["tool_name"] == "Bash" and "PIT_FETCH_WRAPPER_ONLY" in environ:
        assert verdict(hook, environ) != "alone"


@pytest.mark.parametrize("path", [GUARD, GUARD.with_name("pit_gate.py")], ids=lambda path: path.name)
def test_a_hook_file_is_one_stdlib_file_for_python_3_9(path: Path) -> None:
    tree = ast.parse(path.read_text(), feature_version=(3, 9))
    imports = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    names = {name for node in imports for name in _imported(node)}
    assert names <= sys.stdlib_module_names
    assert os.access(path, os.X_OK)


def _imported(node: ast.Import | ast.ImportFrom) -> set[str]:
    if isinstance(node, ast.ImportFrom):
        return {str(node.module).partition(".")[0]}
    return {alias.name.partition(".")[0] for alias in node.names}
