"""The hooks that a client would run in a project: which files declare them, for which tools, and which it drops."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pit_fetch.claude_code import bundle

# What comes before a file name: a path in quotes may contain spaces.
_PATH = r"""(?:(?<=")[^"]*|(?<=')[^']*|[^\s"']*)"""

# Where an administrator's settings are (Linux, macOS). They are stronger than all others.
MANAGED = (Path("/etc/claude-code"), Path("/Library/Application Support/ClaudeCode"))

Kind = Literal["managed", "local", "project", "user", "plugin"]


@dataclass(frozen=True)
class Settings:
    """One file that the client reads hooks from, the root for paths in it, and its content (None: unreadable)."""

    kind: Kind
    path: Path
    root: Path
    content: Any

    def get(self, name: str) -> Any:
        return self.content.get(name) if isinstance(self.content, dict) else None


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
        """Which of our files it runs; "" for none: a hook of another type may have a command too, and runs none."""
        return bundle.script_of(self.command) if self.hook.get("type") == "command" else ""

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


def user_folder(environ: Mapping[str, str]) -> Path:
    """Where the client keeps what is the user's own."""
    return Path(environ.get("CLAUDE_CONFIG_DIR") or Path(environ.get("HOME") or Path.home()) / ".claude")


def read_settings(environ: Mapping[str, str], project: Path) -> list[Settings]:
    """Every file that the client reads hooks from in a session in ``project``, the strongest first."""
    user = user_folder(environ)
    files: list[tuple[Kind, Path, Path]] = []
    for place in MANAGED:
        files += [("managed", path, project) for path in sorted((place / "managed-settings.d").glob("*.json"))]
        files.append(("managed", place / "managed-settings.json", project))
    files.append(("local", project / ".claude" / "settings.local.json", project))
    files.append(("project", project / ".claude" / "settings.json", project))
    files.append(("user", user / "settings.json", project))
    found = [Settings(kind, path, root, _read(path)) for kind, path, root in files if path.is_file()]
    plugins = [project] if (project / ".claude-plugin" / "plugin.json").is_file() else []
    plugins += _enabled_plugins(user, found)
    paths = [(root / "hooks" / "hooks.json", root) for root in plugins]
    return found + [Settings("plugin", path, root, _read(path)) for path, root in paths if path.is_file()]


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):
        return None


def _enabled_plugins(user: Path, settings: list[Settings]) -> list[Path]:
    """The folders of installed plugins with our name that a settings file switches on."""
    try:
        plugins = _read(user / "plugins" / "installed_plugins.json")["plugins"]
        names = [name for name in plugins if name.startswith("pit-fetch@") and _is_enabled(name, settings)]
        return [Path(row["installPath"]) for name in names for row in plugins[name]]
    except (KeyError, TypeError, AttributeError):
        return []


def _is_enabled(name: str, settings: list[Settings]) -> bool:
    """Whether the strongest file that lists a plugin switches it on; one that is not listed is off."""
    switches = (one.get("enabledPlugins") for one in settings)
    said = [switch[name] for switch in switches if isinstance(switch, dict) and name in switch]
    return bool(said) and said[0] is True


def hooks_in(settings: Settings) -> list[Wired]:
    """The hooks of one settings file; none where the client drops the file, or its hooks."""
    if dropped(settings):
        return []
    return [
        Wired(event, str(entry.get("matcher", "")), hook, settings.path, settings.root)
        for event, entries in (settings.get("hooks") or {}).items()
        for entry in entries
        for hook in entry["hooks"]
    ]


# What makes the client drop a whole file, or the hooks in it, silently (measured, tests/client/wirings.py).


def dropped(settings: Settings) -> str:
    """The first reason why the client takes no hooks from a file; "" for none."""
    if not isinstance(settings.content, dict):
        return "is not a JSON object"
    return next(_faults(settings.content), "")


def _faults(content: Mapping[str, Any]) -> Iterator[str]:
    permissions = content.get("permissions", {})
    if not isinstance(permissions, dict):
        yield "has permissions that are not an object"
    else:
        for name in ("allow", "deny", "ask", "additionalDirectories"):
            if not _are_texts(permissions.get(name, [])):
                yield f"has permissions.{name} that is not a list of texts"
    for name in ("model", "apiKeyHelper", "outputStyle"):
        if not isinstance(content.get(name, ""), str):
            yield f"has {name} that is not text"
    if not isinstance(content.get("env", {}), dict):
        yield "has env that is not an object"
    hooks = content.get("hooks", {})
    if not isinstance(hooks, dict) or not all(isinstance(entries, list) for entries in hooks.values()):
        yield "has hooks that are not lists by event"
        return
    for entry in (entry for entries in hooks.values() for entry in entries):
        if not isinstance(entry, dict) or not isinstance(entry.get("hooks"), list):
            yield "has an entry without a list of hooks"
        elif not isinstance(entry.get("matcher", ""), str):
            yield "has a matcher that is not text"
        else:
            yield from (fault for hook in entry["hooks"] for fault in _faults_of(hook))


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _faults_of(hook: Any) -> Iterator[str]:
    if not isinstance(hook, dict):
        yield "has a hook that is not an object"
        return
    if hook.get("type") not in ("command", "prompt", "agent", "http", "mcp_tool"):
        yield "has a hook without a known type"
    elif hook["type"] == "command" and not isinstance(hook.get("command"), str):
        yield "has a hook without a command"
    timeout = hook.get("timeout", 1)
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or timeout <= 0:
        yield "has a timeout that is not a positive number"
    if hook.get("onFailure", "block") not in ("block", "continue"):
        yield "has an onFailure that is neither block nor continue"
    if not isinstance(hook.get("statusMessage", ""), str):
        yield "has a statusMessage that is not text"
    if hook.get("shell", "bash") not in ("bash", "powershell"):
        yield "has an unknown shell"


# Besides async and if: the client waits for no answer, runs something else, or runs the hook once.
_ODD_FIELDS = ("args", "asyncRewake", "once")


def odd_fields(hook: Mapping[str, Any]) -> str:
    """The fields of a hook with which a client may not run it each time and go by its answer; "" for none."""
    return ", ".join(name for name in _ODD_FIELDS if hook.get(name))


def matches(matcher: str, tool: str) -> bool:
    """Whether the client runs a hook with ``matcher`` for ``tool``: a name, names with | or a comma, or a regex."""
    if matcher in ("", "*") or tool in re.split(r"\s*[|,]\s*", matcher):
        return True
    try:
        return re.fullmatch(matcher, tool) is not None
    except re.error:
        return False
