"""Leaks of doctor's verdict: it claims what an agent that nothing holds can break."""

from __future__ import annotations

from typing import Any

from tests.laws.mutants.leak import in_module

_LAWS = ("doctor: ways",)
_doctor, _reach, _editable = (
    in_module(f"pit_fetch.claude_code.{name}") for name in ("doctor", "reach", "editable_files")
)


def _of_the_whole_tool(real: Any) -> Any:
    return lambda settings: frozenset(rule.partition("(")[0] for rule in real(settings))


def _of_the_first_alone(real: Any) -> Any:
    return lambda homes: real(list(homes)[:1])


def _of_the_project_alone(real: Any) -> Any:
    return lambda project: real(project)[:1]


def _of_the_session_alone(real: Any) -> Any:
    return lambda scope, *given: real(scope._replace(agents=[]), *given)


def _of_a_list_alone(real: Any) -> Any:
    return lambda agent, tools: agent.tools is not None and real(agent, tools)


def _of_the_environment_alone(real: Any) -> Any:
    return lambda settings, environ, name, folder="": environ.get(name)


def _of_files_alone(real: Any) -> Any:
    return lambda path, *given: "" if path.name == "pit_fetch" else real(path, *given)


MUTANTS = (
    _reach("the servers of an agent are the session's", "_brings", lambda real: lambda *given: False, _LAWS),
    _editable("what does not exist yet cannot be edited", "edit_permission", _of_files_alone, _LAWS),
    _editable("a tool that writes does not edit", "EDITS", lambda real: ("Edit",), _LAWS),
    _doctor("every agent counts as one that the guard knows", "open_ways", _of_the_session_alone, _LAWS),
    _reach("a rule on a part of a tool denies all of it", "denied", _of_the_whole_tool, _LAWS),
    _reach("an agent without a list has no tools", "_lists", _of_a_list_alone, _LAWS),
    _doctor("settings cannot switch the guard off", "effective_value", _of_the_environment_alone, _LAWS),
    _doctor("agents of plugins are left out", "enabled_plugins", lambda real: lambda user, settings: [], _LAWS),
    _doctor("agents of the folders above are left out", "agent_folders", _of_the_project_alone, _LAWS),
    _doctor("agents of the user are left out", "_agents_of", _of_the_first_alone, _LAWS),
)
