"""The hooks that a client would run in a project: which files declare them, for which tools, and which it drops."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pit_fetch.claude_code import bundle
from pit_fetch.claude_code.system import Finding
from pit_fetch.support.bundled import gate

# What comes before a file name: a path in quotes may contain spaces.
_PATH = r"""(?:(?<=")[^"]*|(?<=')[^']*|[^\s"']*)"""

# Where an administrator's settings are (Linux, macOS). They are stronger than all others.
MANAGED = (Path("/etc/claude-code"), Path("/Library/Application Support/ClaudeCode"))


@dataclass(frozen=True)
class Settings:
    """One file that the client reads hooks from, the root for paths in it, and its content (None: unreadable)."""

    path: Path
    root: Path
    content: Any

    def get(self, name: str) -> Any:
        return self.content.get(name) if isinstance(self.content, dict) else None

    def permission(self, name: str) -> Any:
        permissions = self.get("permissions")
        return permissions.get(name) if isinstance(permissions, dict) else None

    def rules(self, name: str) -> list[str]:
        """Return the texts in a list of its permissions."""
        rules = self.permission(name)
        return [rule for rule in rules if isinstance(rule, str)] if isinstance(rules, list) else []

    @property
    def variables(self) -> Mapping[str, Any]:
        """The variables that it sets for the client's processes."""
        variables = self.get("env")
        return variables if isinstance(variables, dict) else {}


@dataclass(frozen=True)
class WiredHook:
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
        """Return which of our files it runs; "" for none."""
        # A hook of another type may have a command, too, which the client does not run.
        return bundle.script_of(self.command) if self.hook.get("type") == "command" else ""

    @property
    def variables(self) -> dict[str, str]:
        return {"CLAUDE_PROJECT_DIR": str(self.root), "CLAUDE_PLUGIN_ROOT": str(self.root)}

    @property
    def path(self) -> Path | None:
        """Return the hook file, with the command's variables filled in."""
        text = self.command
        for name, value in self.variables.items():
            text = text.replace("${" + name + "}", value).replace("$" + name, value)
        match = re.search(_PATH + re.escape(self.script), text)
        return Path(match[0]) if match else None

    def runs_for(self, event: str, script: str, tool: str) -> bool:
        """Return whether the client runs ``script`` by this hook for ``tool`` at ``event``."""
        return (self.event, self.script) == (event, script) and matches(self.matcher, tool)


def user_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder where the client keeps the user's own settings and agents."""
    return Path(environ.get("CLAUDE_CONFIG_DIR") or Path(environ.get("HOME") or Path.home()) / ".claude")


def agent_folders(project: Path) -> list[Path]:
    """Return the project's folder of settings and those above it, up to its git repository's (measured, 2.1.330)."""
    folders = [project.resolve(), *project.resolve().parents]
    root = next((number for number, folder in enumerate(folders) if (folder / ".git").exists()), len(folders))
    return [folder / ".claude" for folder in folders[: root + 1]]


def read_settings(environ: Mapping[str, str], project: Path) -> list[Settings]:
    """Return every file that the client reads hooks from in a session in ``project``, the strongest first."""
    user, claude = user_folder(environ), project / ".claude"
    paths: list[Path] = []
    for folder in MANAGED:
        paths += [*sorted((folder / "managed-settings.d").glob("*.json")), folder / "managed-settings.json"]
    paths += [claude / "settings.local.json", claude / "settings.json", user / "settings.json"]
    settings = [Settings(path, project, read_json(path)) for path in paths if path.is_file()]
    roots = [project] if (project / ".claude-plugin" / "plugin.json").is_file() else []
    roots += [root for name, root in enabled_plugins(user, settings) if name.startswith("pit-fetch@")]
    plugins = [(root / "hooks" / "hooks.json", root) for root in roots]
    return settings + [Settings(path, root, read_json(path)) for path, root in plugins if path.is_file()]


def read_json(path: Path) -> Any:
    """Return the content of a JSON file; None if it is missing or is not JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):
        return None


def enabled_plugins(user: Path, settings: Sequence[Settings]) -> list[tuple[str, Path]]:
    """Return the name and the folder of each installed plugin that a settings file switches on."""
    try:
        plugins = read_json(user / "plugins" / "installed_plugins.json")["plugins"]
        names = [name for name in plugins if _is_enabled(name, settings)]
        return [(name, Path(row["installPath"])) for name in names for row in plugins[name]]
    except (KeyError, TypeError, AttributeError):
        return []


def _is_enabled(name: str, settings: Sequence[Settings]) -> bool:
    # The strongest file that lists a plugin decides; a plugin that no file lists is off.
    switches = (file.get("enabledPlugins") for file in settings)
    return next((switch[name] for switch in switches if isinstance(switch, dict) and name in switch), False) is True


def hooks_in(settings: Settings) -> list[WiredHook]:
    """Return the hooks of one settings file; none if the client drops the file, or its hooks."""
    if drop_reason(settings):
        return []
    return [
        WiredHook(event, str(entry.get("matcher", "")), hook, settings.path, settings.root)
        for event, entries in (settings.get("hooks") or {}).items()
        for entry in entries
        for hook in entry["hooks"]
    ]


# What makes the client drop a whole file, or the hooks in it, silently (measured, tests/client/wirings.py).


def drop_reason(settings: Settings) -> str:
    """Return the first reason why the client takes no hooks from a file; "" for none."""
    if not isinstance(settings.content, dict):
        return "is not a JSON object"
    return next(_faults(settings.content), "")


def _faults(content: Mapping[str, Any]) -> Iterator[str]:
    permissions = content.get("permissions", {})
    if not isinstance(permissions, dict):
        yield "has permissions that are not an object"
    else:
        for name in ("allow", "deny", "ask", "additionalDirectories"):
            rules = permissions.get(name, [])
            if not isinstance(rules, list) or not all(isinstance(rule, str) for rule in rules):
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


def _is_positive(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0


# Each field that a hook may have: a check of its value, and the fault if that fails.
_HOOK_FIELDS: tuple[tuple[str, Callable[[Any], bool], str], ...] = (
    ("timeout", _is_positive, "has a timeout that is not a positive number"),
    ("onFailure", lambda value: value in ("block", "continue"), "has an onFailure that is neither block nor continue"),
    ("statusMessage", lambda value: isinstance(value, str), "has a statusMessage that is not text"),
    ("shell", lambda value: value in ("bash", "powershell"), "has an unknown shell"),
)


def _faults_of(hook: Any) -> Iterator[str]:
    if not isinstance(hook, dict):
        yield "has a hook that is not an object"
        return
    if hook.get("type") not in ("command", "prompt", "agent", "http", "mcp_tool"):
        yield "has a hook without a known type"
    elif hook["type"] == "command" and not isinstance(hook.get("command"), str):
        yield "has a hook without a command"
    yield from (fault for name, is_valid, fault in _HOOK_FIELDS if name in hook and not is_valid(hook[name]))


def hook_faults(name: str, event: str, hook: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield why a client would not run a hook each time, wait for its verdict and go by it."""
    if hook.get("async"):
        yield Finding("fail", "wiring", f"{name} is async, so nothing waits for it", "remove async")
    if hook.get("if"):
        yield Finding("fail", "wiring", f"{name} has an if filter that some calls slip past", "remove it")
    # The client runs another program, waits for no answer, or runs the hook once.
    fields = ", ".join(field for field in ("args", "asyncRewake", "once") if hook.get(field))
    if fields:
        message = f"{name} has {fields}: the client may not run it each time, or not wait for it"
        yield Finding("fail", "wiring", message, f"remove {fields}")
    timeout = str(hook.get("timeout", 10))
    if not re.fullmatch(r"\d+(\.\d+)?", timeout) or float(timeout) <= gate.ALARM_SECONDS + gate.LOG_SECONDS:
        message = f"{name} has timeout {timeout}: the client kills it before its own alarm can answer"
        yield Finding("warn", "wiring", message, "set timeout to 10")
    if event == "PreToolUse" and hook.get("onFailure") != "block":
        message = f"{name} lacks onFailure: a guard that cannot start lets the call run"
        yield Finding("warn", "wiring", message, 'add "onFailure": "block"')


def matches(matcher: str, tool: str) -> bool:
    """Return whether the client runs a hook with ``matcher`` for ``tool``: a name, names with | or a comma, a regex."""
    if matcher in ("", "*") or tool in re.split(r"\s*[|,]\s*", matcher):
        return True
    try:
        return re.fullmatch(matcher, tool) is not None
    except re.error:
        return False
