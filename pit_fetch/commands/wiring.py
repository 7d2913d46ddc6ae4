"""The hooks that a client would run in a project: which files declare them, and for which tools."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pit_fetch.commands import bundle

# What comes before a file name: a path in quotes may contain spaces.
_PATH = r"""(?:(?<=")[^"]*|(?<=')[^']*|[^\s"']*)"""


@dataclass(frozen=True)
class Wired:
    """One hook that the client would run, and the settings file that declares it."""

    event: str
    matcher: str
    hook: Mapping[str, Any]
    origin: Path
    root: Path

    @property
    def command(self) -> str:
        return str(self.hook.get("command", ""))

    @property
    def script(self) -> str:
        return bundle.script_of(self.command)

    @property
    def variables(self) -> dict[str, str]:
        return {"CLAUDE_PROJECT_DIR": str(self.root), "CLAUDE_PLUGIN_ROOT": str(self.root)}

    @property
    def path(self) -> Path | None:
        """The hook file, with the command's variables filled in."""
        text = self.command
        for name, value in self.variables.items():
            text = text.replace("${" + name + "}", value).replace("$" + name, value)
        match = re.search(_PATH + re.escape(self.script), text)
        return Path(match[0]) if match else None


def read_settings(environ: Mapping[str, str], project: Path) -> Iterator[tuple[Path, Path, Any]]:
    """Each file the client reads hooks from: its path, the root for paths in it, its content (None: unreadable)."""
    user = Path(environ.get("CLAUDE_CONFIG_DIR") or Path(environ.get("HOME") or Path.home()) / ".claude")
    paths = [project / ".claude" / "settings.json", project / ".claude" / "settings.local.json", user / "settings.json"]
    files = [(path, project) for path in paths]
    plugins = [project] if (project / ".claude-plugin" / "plugin.json").is_file() else []
    plugins += _installed_plugins(user)
    files += [(root / "hooks" / "hooks.json", root) for root in plugins]
    for path, root in files:
        if path.is_file():
            try:
                yield path, root, json.loads(path.read_text(encoding="utf-8"))
            except ValueError:
                yield path, root, None


def _installed_plugins(user: Path) -> list[Path]:
    """The folders of installed plugins with our name, except disabled ones, as the client registers them."""
    register = user / "plugins" / "installed_plugins.json"
    try:
        plugins = json.loads(register.read_text(encoding="utf-8"))["plugins"]
        settings = user / "settings.json"
        switches = json.loads(settings.read_text(encoding="utf-8")).get("enabledPlugins") if settings.is_file() else {}
        names = [name for name in plugins if name.startswith("pit-fetch@") and (switches or {}).get(name) is not False]
        return [Path(row["installPath"]) for name in names for row in plugins[name]]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []


def hooks_in(path: Path, root: Path, content: Any) -> list[Wired]:
    """The hooks of one settings file. A file that is not in the client's format has none, as for the client."""
    try:
        return [
            Wired(event, str(entry.get("matcher", "")), hook, path, root)
            for event, entries in content.get("hooks", {}).items()
            for entry in entries
            for hook in entry["hooks"]
            if isinstance(hook, dict)
        ]
    except (AttributeError, KeyError, TypeError):
        return []


def matches(matcher: str, tool: str) -> bool:
    """Whether the client runs a hook with ``matcher`` for ``tool``: a name, names with | or a comma, or a regex."""
    if matcher in ("", "*") or tool in re.split(r"\s*[|,]\s*", matcher):
        return True
    try:
        return re.fullmatch(matcher, tool) is not None
    except re.error:
        return False
