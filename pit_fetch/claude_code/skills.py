"""The skills and commands of a folder: which of them bring hooks, or run commands as they are loaded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pit_fetch.claude_code import frontmatter
from pit_fetch.claude_code.agents import AgentHook, hooks_of

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
            front = frontmatter.split(text)[0] if text.startswith("---") else {}
            hooks: tuple[AgentHook, ...] | None = tuple(hooks_of(front))
        except (ValueError, AttributeError, TypeError):
            hooks = None if re.search(r"^\s*['\"]?hooks\b", text, re.MULTILINE) else ()
        yield Skill(name, hooks, _COMMAND.search(text) is not None)


def skills_of(homes: Iterable[tuple[str, Path]]) -> list[Skill]:
    """Return the skills in folders, each of which is a plugin's, with its name, or nobody's."""
    return [skill for _, home in homes for skill in skills_in(home)]
