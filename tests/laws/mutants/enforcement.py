"""Leaks of doctor's verdict: it claims what an agent that nothing holds can break."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.laws.mutants.leak import in_module

_LAWS = ("doctor: ways",)
_doctor, _reach, _editable = (
    in_module(f"pit_fetch.claude_code.{name}") for name in ("doctor", "reach", "editable_files")
)


def _of_the_whole_tool(real: Any) -> Any:
    return lambda settings: frozenset(rule.partition("(")[0] for rule in real(settings))


def _at_users(change: Any) -> Any:
    """Who can use a tool is asked of the agents that ``change`` leaves in the scope."""
    return lambda real: lambda scope, *tools: real(scope._replace(agents=[*filter(change, scope.agents)]), *tools)


def _without_own_servers(real: Any) -> Any:
    def open_ways(scope: Any, servers: Any, judged: Any) -> Any:
        return real(scope._replace(agents=[replace(agent, servers=()) for agent in scope.agents]), servers, judged)

    return open_ways


def _of_the_project(real: Any) -> Any:
    return lambda environ: real({**environ, "HOME": "/nowhere", "CLAUDE_CONFIG_DIR": "/nowhere"})


def _of_the_project_alone(real: Any) -> Any:
    return lambda project: real(project)[:1]


def _of_the_environment_alone(real: Any) -> Any:
    return lambda settings, environ, name, folder="": environ.get(name)


def _of_files_alone(real: Any) -> Any:
    return lambda path, *given: "" if path.name == "pit_fetch" else real(path, *given)


MUTANTS = (
    _reach("the servers of an agent are the session's", "open_ways", _without_own_servers, _LAWS),
    _editable("what does not exist yet cannot be edited", "edit_permission", _of_files_alone, _LAWS),
    _editable("a tool that writes does not edit", "EDITS", lambda real: ("Edit",), _LAWS),
    _reach("every agent is held", "Scope.users", _at_users(lambda agent: False), _LAWS),
    _reach("a rule on a part of a tool denies all of it", "denied_tools", _of_the_whole_tool, _LAWS),
    _reach(
        "an agent without a list has no tools", "Scope.users", _at_users(lambda agent: agent.tools is not None), _LAWS
    ),
    _doctor("settings cannot switch the guard off", "effective_value", _of_the_environment_alone, _LAWS),
    _doctor("agents of plugins are left out", "enabled_plugins", lambda real: lambda user, settings: [], _LAWS),
    _doctor("agents of the folders above are left out", "agent_folders", _of_the_project_alone, _LAWS),
    _doctor("agents of the user are left out", "user_folder", _of_the_project, _LAWS),
)
