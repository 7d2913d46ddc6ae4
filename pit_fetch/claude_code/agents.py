"""The agents, the skills and the commands of a folder, as their files describe them to the client."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from pit_fetch.claude_code import bundle
from pit_fetch.claude_code.client_settings import hook_faults
from pit_fetch.claude_code.mcp_servers import ServerEntry, own_servers
from pit_fetch.errors import ConfigError
from pit_fetch.gaps import Code


@dataclass(frozen=True)
class AgentHook:
    """A hook of an agent; ``fault`` is the reason why the client would not wait for its verdict, or not go by it."""

    event: str
    matcher: str | None
    command: str
    fault: str = ""


@dataclass(frozen=True)
class Agent:
    """An agent file: its parsed frontmatter, and the body. Without ``tools`` it has every tool of the session.

    servers     those that it brings along
    disallowed  tools that its file takes away
    """

    name: str
    tools: tuple[str, ...] | None
    skills: tuple[str, ...]
    hooks: tuple[AgentHook, ...]
    body: str
    servers: tuple[ServerEntry, ...] = ()
    disallowed: tuple[str, ...] = ()

    @property
    def has_bash(self) -> bool:
        return self._has("Bash", "*")

    @property
    def can_run_commands(self) -> bool:
        return self._has("Bash", "Monitor", "*")

    def _has(self, *names: str) -> bool:
        own = {"*"} if self.tools is None else {tool.partition("(")[0] for tool in self.tools}
        return not own.isdisjoint(names) and "Bash" not in self.disallowed


def agents_in(folder: Path) -> Iterator[tuple[Path, Agent | Exception]]:
    """Yield each agent file of a folder with its agent, or with the error for which it cannot be read."""
    for path in sorted(folder.rglob("*.md")):
        try:
            yield path, _read(path)
        except (ValueError, AttributeError, TypeError) as error:
            yield path, error


def agent_or_any(path: Path, agent: Agent | Exception) -> Agent | None:
    """Return an agent. One that cannot be read here may have any tool; a file without frontmatter is none."""
    if isinstance(agent, Agent):
        return agent
    text = path.read_text(encoding="utf-8", errors="replace")
    return Agent(path.stem, None, (), (), "") if text.lstrip("\ufeff \t\r\n").startswith("---") else None


def _read(path: Path) -> Agent:
    front, body = split_frontmatter(path.read_text(encoding="utf-8"))
    name = str(front.get("name") or path.stem)
    tools = tuple(_as_list(front["tools"])) if "tools" in front else None
    skills = tuple(_as_list(front.get("skills")))
    disallowed = tuple(_as_list(front.get("disallowedTools")))
    return Agent(
        name, tools, skills, tuple(hooks_of(front)), body, tuple(own_servers(front.get("mcpServers"))), disallowed
    )


def hooks_of(front: Mapping[str, Any]) -> Iterator[AgentHook]:
    """Yield the hooks in the frontmatter of an agent or a skill. Raise an error if they have another form."""
    for event, entries in (front.get("hooks") or {}).items():
        for entry in entries:
            for hook in entry.get("hooks") or [{}]:
                command = str(hook.get("command", ""))
                is_async = str(hook.get("async")).lower() == "true"  # here every value is a text
                faults = hook_faults(f"{bundle.script_of(command)} at {event}", event, {**hook, "async": is_async})
                fault = next((found.message for found in faults), "")
                if hook.get("type") != "command":
                    fault = f"{bundle.script_of(command)} at {event} is not of type command"
                yield AgentHook(event, entry.get("matcher"), command, fault)


# How a skill has the client run a command, whose output takes its place: !`command`, or a block that begins with ```!.
_COMMAND = re.compile(r"!`[^`\n]+`|^\s*```!", re.MULTILINE)


@dataclass(frozen=True)
class Skill:
    """A skill, or a command: its name, the hooks that it brings, and whether it runs a command as it is loaded.

    ``hooks`` is None if they cannot be read here.
    """

    name: str
    hooks: tuple[AgentHook, ...] | None
    runs_commands: bool


def skills_in(folder: Path) -> Iterator[Skill]:
    """Yield the skills and the commands of a folder such as ``.claude``."""
    for path in (*sorted(folder.glob("skills/**/SKILL.md")), *sorted(folder.glob("commands/**/*.md"))):
        name = path.parent.name if path.name == "SKILL.md" else path.stem
        text = path.read_text(encoding="utf-8", errors="replace")
        try:
            front = split_frontmatter(text)[0] if text.startswith("---") else {}
            hooks: tuple[AgentHook, ...] | None = tuple(hooks_of(front))
        except (ValueError, AttributeError, TypeError):
            hooks = None if re.search(r"^\s*['\"]?hooks\b", text, re.MULTILINE) else ()
        yield Skill(name, hooks, _COMMAND.search(text) is not None)


# Frontmatter. A client that read it in another way would run other hooks than the ones checked. So no key may appear
# twice, nothing may be anchored, merged or tagged, and every scalar is text, whatever it looks like.


def split_frontmatter(text: str) -> tuple[dict[str, Any], str]:
    """Return the frontmatter as a mapping, and the body.

    Raise ValueError if the frontmatter is missing or cannot be read, and ConfigError if PyYAML is missing.
    """
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        raise ValueError("no frontmatter")
    end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), None)
    if end is None:
        raise ValueError("the frontmatter has no end")
    parsed = _load_yaml("\n".join(["", *lines[1:end]]))  # an empty first line, so that errors name the file's lines
    if not isinstance(parsed, dict):
        raise ValueError("the frontmatter is not a mapping")
    return parsed, "\n".join(lines[end + 1 :])


def _as_list(value: Any) -> list[str]:
    """Return a list of names, which may also be written as ``a, b``."""
    if isinstance(value, list):
        return [str(part) for part in value]
    return [part.strip() for part in str(value).split(",") if part.strip()] if value else []


@lru_cache(maxsize=64)  # reading YAML takes 20 ms; no caller changes the result
def _load_yaml(text: str) -> Any:
    try:
        import yaml
    except ImportError:
        raise ConfigError(Code.DEPENDENCY_MISSING, package="PyYAML") from None
    try:
        for event in yaml.parse(text, Loader=yaml.BaseLoader):
            if (getattr(event, "anchor", None) or getattr(event, "tag", None)) and event.start_mark:
                raise ValueError(f"line {event.start_mark.line + 1}: anchors, aliases and tags are not supported")
        return _value_of(yaml.compose(text, Loader=yaml.BaseLoader))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1}: " if mark else ""
        raise ValueError(f"{place}{getattr(error, 'problem', None) or 'not YAML'}") from None


def _value_of(node: Any) -> Any:
    """Return the value of a YAML node, every scalar as its text."""
    import yaml

    if node is None:
        return {}
    if isinstance(node, yaml.ScalarNode):
        return node.value
    if isinstance(node, yaml.SequenceNode):
        return [_value_of(part) for part in node.value]
    place = f"line {node.start_mark.line + 1}: " if node.start_mark else ""
    mapping: dict[str, Any] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise ValueError(f"{place}a key is not text")
        if key.value in mapping:
            raise ValueError(f"{place}{key.value} appears twice")
        mapping[key.value] = _value_of(value)
    return mapping
