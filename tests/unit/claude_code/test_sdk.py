"""The SDK callbacks: the decisions of the hook files, and a block whatever happens to them."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pit_fetch.claude_code import bundle, sdk
from pit_fetch.support.bundled import gate

PIT = "2024-02-15T16:00:00-05:00"
CEILING = {"PIT_FETCH_CEILING": PIT}


@dataclass
class HookMatcher:
    """As in the SDK (0.2.186)."""

    matcher: str | None = None
    hooks: list[Any] = field(default_factory=list)
    timeout: float | None = None
    on_failure: str | None = None


@dataclass
class OldHookMatcher:
    """As in an SDK without ``on_failure``."""

    matcher: str | None = None
    hooks: list[Any] = field(default_factory=list)


@pytest.fixture(params=[HookMatcher, OldHookMatcher])
def matcher_class(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> type[Any]:
    module = ModuleType("claude_agent_sdk")
    module.HookMatcher = request.param  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "claude_agent_sdk", module)
    return request.param  # type: ignore[no-any-return]


def ask(callback: Callable[..., Any], hook: dict[str, Any]) -> Any:
    return asyncio.run(callback(hook, "toolu_1", {"signal": None}))


def test_the_hooks_are_the_wiring_of_the_plugin(matcher_class: type[Any]) -> None:
    hooks = sdk.make_hooks()
    made = [(event, entry.matcher) for event, entries in hooks.items() for entry in entries]
    assert made == [(row.event, row.matcher) for row in bundle.wiring()]
    for entries in hooks.values():
        for entry in entries:
            assert isinstance(entry, matcher_class)
            assert len(entry.hooks) == 1
            if matcher_class is HookMatcher:
                assert (entry.timeout, entry.on_failure) == (10, "block")


def test_the_callbacks_decide_as_the_hook_files_do() -> None:
    leak = sdk.guard.planted_leak()
    assert ask(sdk.gate_callback({}), leak) == gate.respond(leak)
    open_call = {**leak, "tool_input": {"command": "pit_fetch --source x"}}
    assert ask(sdk.gate_callback({}), open_call) == {}
    assert ask(sdk.gate_callback({"PIT_FETCH_CEILING": "2024-01-01T00:00:00Z"}), open_call)["decision"] == "block"
    for command in ("ls", "pit_fetch --source x", f"pit_fetch --source x --pit {PIT}", "pit_fetch | cat"):
        hook = {"tool_name": "Bash", "tool_input": {"command": command}}
        for environ in ({}, CEILING, {"PIT_FETCH_WRAPPER_ONLY": "1"}):
            assert ask(sdk.guard_callback(environ), hook) == sdk.guard.respond(hook, environ)


def test_a_call_is_prepared_by_one_callback_and_released_by_the_other(tmp_path: Path) -> None:
    environ = {**CEILING, "TMPDIR": str(tmp_path)}
    call = {"command": f"pit_fetch --source x --pit {PIT}", "run_in_background": True}
    hook = {"tool_name": "Bash", "tool_use_id": "toolu_1", "tool_input": call, "cwd": "/"}
    prepared = ask(sdk.guard_callback(environ), hook)["hookSpecificOutput"]["updatedInput"]
    assert prepared["command"].endswith(gate.ENDING)
    path = Path(prepared["command"].partition(" --release ")[2].partition(" ")[0])
    path.write_text('{"data": [], "gaps": []}')
    after = {**hook, "tool_input": prepared, "tool_response": {"stdout": gate.SENTINEL, "stderr": ""}}
    shown = ask(sdk.gate_callback(environ), after)["hookSpecificOutput"]["updatedToolOutput"]
    assert shown["stdout"] == '{"data": [], "gaps": []}'
    assert ask(sdk.gate_callback(environ), after) == {}


def test_the_log_has_each_verdict_and_nothing_of_what_was_judged(tmp_path: Path) -> None:
    leak, environ = sdk.guard.planted_leak(), {"PIT_GATE_LOG": str(tmp_path / "log")}
    for hook in (leak, {**leak, "tool_input": {"command": "ls"}}):
        ask(sdk.gate_callback(environ), hook)
        ask(sdk.gate_callback({}), hook)  # no file beside the installed gate
    first, second = (tmp_path / "log").read_text().splitlines()
    assert first.endswith("BLOCK tool=Bash PIT_VIOLATION_GT_CUTOFF: data[0].available_at is after the PIT")
    assert second.endswith("ALLOW tool=Bash")
    assert not Path(gate.__file__).with_name("pit_gate.log").exists()


def test_the_environment_is_this_processs_unless_given(monkeypatch: pytest.MonkeyPatch) -> None:
    hook = {"tool_name": "Bash", "tool_input": {"command": "pit_fetch --source x"}}
    callback = sdk.guard_callback()
    assert ask(callback, hook) == {}
    monkeypatch.setenv("PIT_FETCH_CEILING", PIT)
    assert ask(callback, hook)["decision"] == "block"


def test_a_gate_that_raises_or_is_late_withholds(monkeypatch: pytest.MonkeyPatch) -> None:
    leak = sdk.guard.planted_leak()
    monkeypatch.setattr(gate, "respond", lambda hook, ceiling: 1 / 0)
    assert sdk.guard.withholds(ask(sdk.gate_callback({}), leak))
    released = threading.Event()
    monkeypatch.setattr(gate, "respond", lambda hook, ceiling: released.wait(30) and {})
    monkeypatch.setattr(sdk, "JUDGE_SECONDS", 0.05)

    async def late() -> Any:
        answer = await sdk.gate_callback({})(leak, None, None)
        released.set()  # so that the loop can end its threads
        return answer

    assert sdk.guard.withholds(asyncio.run(late()))


@pytest.mark.parametrize(
    ("variables", "named"),
    [
        ({}, "neither is given"),
        ({"PIT_FETCH_ADAPTER_OPTIONS": "x"}, "neither is given"),
        ({"PIT_CEILING": PIT}, "does not know PIT_CEILING: write PIT_FETCH_CEILING"),
        ({"PIT_FETCH_CIELING": PIT}, "does not know PIT_FETCH_CIELING: write PIT_FETCH_CEILING"),
        ({"pit_fetch_ceiling": PIT}, "write PIT_FETCH_CEILING"),
        ({**CEILING, "PIT_FETCH_WRAPPERS_ONLY": "1"}, "write PIT_FETCH_WRAPPER_ONLY"),
        ({"PIT_FETCH_CEILING": "2024-02-15"}, "PIT_FETCH_CEILING is not YYYY-MM-DD"),
        ({"PIT_FETCH_CEILING": ""}, "PIT_FETCH_CEILING is not YYYY-MM-DD"),
        ({"PIT_FETCH_WRAPPER_ONLY": True}, "a mapping of texts"),
        ("PIT_FETCH_CEILING", "a mapping of texts"),
        ([("PIT_FETCH_CEILING", PIT)], "a mapping of texts"),
    ],
)
def test_variables_that_would_hold_nothing_are_refused(matcher_class: type[Any], variables: Any, named: str) -> None:
    with pytest.raises(ValueError, match=named) as refused:
        sdk.make_hooks(variables)
    assert "\n" not in str(refused.value)


def test_a_gate_that_does_not_withhold_is_refused_at_once(
    matcher_class: type[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        gate, "respond", lambda hook, ceiling=None: gate.block_output(gate.Violation("X", "planted leak"))
    )
    with pytest.raises(RuntimeError, match="reinstall pit_fetch"):
        sdk.make_hooks()
