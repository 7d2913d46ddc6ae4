"""Install hooks, agents and skills in a ``.claude`` folder, or remove them: first a plan, then its steps.

No edit is lost: settings are merged, a file that comes from no version of pit_fetch is kept and named, and a
replaced file is copied to ``NAME.bak``. A second run changes nothing.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path
from typing import Any, Literal

from pit_fetch.claude_code import bundle, versions

Action = Literal["create", "same", "keep", "replace", "merge", "remove"]
Settings = dict[str, Any]

# The adapters' permission mode refuses every command that no rule allows.
PERMISSION = "Bash(pit_fetch *)"


@dataclass(frozen=True)
class Step:
    """One file of a plan: what is done with it, the content that it gets, and a note for the user."""

    action: Action
    path: Path
    content: bytes = b""
    note: str = ""


@dataclass(frozen=True)
class Options:
    """Which parts to install or remove, and which of the files that are already there may be replaced."""

    only: Collection[str] = bundle.USUAL_PARTS
    without: Collection[str] = ()
    model: str | None = None  # None: each agent keeps the model that it has
    upgrade: bool = False  # replace files of older versions
    force: bool = False  # replace or remove edited files
    deny: Collection[str] = ()  # tools of the client that no session and no agent here may use
    hooks: str = bundle.PROJECT_HOOKS  # the folder of the hook files, as commands name it
    released: versions.ReleasedFiles = field(default_factory=versions.released_files)

    def includes(self, parts: Iterable[str]) -> bool:
        """Return whether something that belongs to ``parts`` is to be installed or removed: all of them may be."""
        return not set(self.only).isdisjoint(parts) and set(self.without).isdisjoint(parts)


# Installing.


def plan(project: Path, options: Options) -> list[Step]:
    """Return the steps that install the chosen parts. Raise ValueError if something is in the way."""
    claude, bundled = project / ".claude", bundle.files(options.hooks)
    chosen = [name for name in bundled if options.includes(bundle.parts_of(name))]
    steps = [_plan_file(claude / name, name, bundled[name], options) for name in chosen]
    if options.includes(("hooks",)):
        steps.append(_plan_record(claude / "hooks" / bundle.RECORD))
    if options.upgrade:
        steps += _plan_file_removals(claude, options.released.removed_files(), options)
    return [*steps, plan_settings(project, options)]


def _plan_file(path: Path, name: str, content: bytes, options: Options) -> Step:
    _refuse_obstacle(path)
    current = path.read_bytes() if path.exists() else b""
    if name.startswith("agents/"):
        chosen = f"model: {options.model}\n".encode() if options.model else b""
        content = versions.with_model(content, versions.model_of(current) if options.model is None else chosen)
    if not os.path.lexists(path):
        return Step("create", path, content)
    if current == content:
        return Step("same", path, content)
    is_link = path.is_symlink()  # the file that it points to is not ours to write
    version = "" if is_link else options.released.version_of(name, current)
    if version == versions.CURRENT:  # an agent with another model
        return Step("replace", path, content)
    state = "a link" if is_link else f"of version {version}" if version else "edited"
    if options.force or (options.upgrade and version):
        return Step("replace", path, content, f"was {state}")
    verb, option = "was" if state == "edited" else "is", "--upgrade" if version else "--force"
    return Step("keep", path, content, f"{verb} {state}: {option} replaces it")


def _plan_record(path: Path) -> Step:
    """Return the step that tells the guard which program is installed."""
    _refuse_obstacle(path)
    content = "".join(f"{program}\n" for program in bundle.programs()).encode()
    if not os.path.lexists(path):
        return Step("create", path, content)
    is_same = not path.is_symlink() and path.read_bytes() == content
    return Step("same" if is_same else "merge", path, content)


def _refuse_obstacle(path: Path) -> None:
    """Raise ValueError if there is a folder in the place of the file, or a file in the place of its folder."""
    above = next((folder for folder in path.parents if folder.exists()), path.parent)
    if path.is_dir() or not above.is_dir():
        raise ValueError(f"{path if path.is_dir() else above} is in the way: move it first")


def plan_settings(project: Path, options: Options) -> Step:
    """Return the step that merges the settings alone. Raise ValueError if something is in the way."""
    path = project / ".claude" / "settings.json"
    _refuse_obstacle(path)
    settings, merged = _changed_settings(path, merge, options)
    if not path.exists():
        return Step("create", path, dump(merged))
    note = "disableAllHooks is set: no hook runs until you remove it" if merged.get("disableAllHooks") else ""
    return Step("same" if merged == settings else "merge", path, dump(merged), note)


def _changed_settings(
    path: Path, change: Callable[[Settings, Options], Settings], options: Options
) -> tuple[Settings, Settings]:
    """Return the settings of a file before and after ``change``. Raise ValueError if the client could not read them."""
    try:
        settings = json.loads(path.read_text(encoding="utf-8-sig")) if path.exists() else {}
        if isinstance(settings, dict):
            return settings, change(settings, options)
        problem = "it is not a JSON object"
    except json.JSONDecodeError as error:
        problem = f"line {error.lineno} is not JSON" if path.stat().st_size else "it is empty"
    except ValueError:
        problem = "it is not text in UTF-8"
    except (TypeError, AttributeError, KeyError):
        problem = "its hooks or permissions are not of the form that the client reads"
    raise ValueError(f"{path} cannot be merged ({problem}): fix it first")


def merge(settings: Settings, options: Options) -> Settings:
    """Return ``settings`` with the hooks and the permissions that they lack. Existing entries stay in their order."""
    hooks = {
        event: [entry for entry in entries if not (options.upgrade and _is_outdated(event, entry, options.released))]
        for event, entries in settings.get("hooks", {}).items()
    }
    for row in bundle.wiring(options.hooks):
        entries = hooks.setdefault(row.event, [])
        present = [_is_wired(entry, row) for entry in entries]  # a list: each entry is read, and a malformed one raises
        if not any(present) and options.includes(bundle.parts_of_matcher(row.matcher)):
            entries.append({"matcher": row.matcher, "hooks": [row.command]})
    merged = {**settings, "hooks": {event: entries for event, entries in hooks.items() if entries}}
    if not merged["hooks"] and "hooks" not in settings:
        del merged["hooks"]
    wanted = {"allow": [PERMISSION] if options.includes(("agents",)) else [], "deny": options.deny}
    rules = settings.get("permissions", {})
    rules = {**rules, **{name: _add_rules(rules.get(name, []), more) for name, more in wanted.items() if more}}
    return {**merged, "permissions": rules} if rules else merged


def _add_rules(rules: Any, more: Iterable[str]) -> list[Any]:
    if not isinstance(rules, list):
        raise TypeError("a list of permissions is not a list")
    return [*rules, *(rule for rule in more if rule not in rules)]


def _is_wired(entry: Mapping[str, Any], row: bundle.WiringRow) -> bool:
    return entry.get("matcher") == row.matcher and row.script in _scripts_of(entry)


def _is_outdated(event: str, entry: Mapping[str, Any], released: versions.ReleasedFiles) -> bool:
    """Return whether an entry runs our hook alone, with a matcher that only an older version wired."""
    is_ours = _scripts_of(entry) == {bundle.SCRIPTS.get(event)}
    return is_ours and entry.get("matcher") in released.replaced_matchers(event)


def _scripts_of(entry: Mapping[str, Any]) -> set[str]:
    return {bundle.script_of(str(hook.get("command", ""))) for hook in entry["hooks"]}


# Removing.


def plan_removal(project: Path, options: Options) -> list[Step]:
    """Return the steps that remove the chosen parts. Raise ValueError if the settings cannot be read."""
    claude = project / ".claude"
    steps = list(_plan_file_removals(claude, [*bundle.files(), *options.released.removed_files()], options))
    if options.includes(("hooks",)):
        generated = [*(claude / "hooks").glob("pit_gate.log*"), *(claude / "hooks").glob(bundle.RECORD)]
        generated += [*(claude / "hooks").glob("__pycache__/pit_g*.pyc")]
        steps += [Step("remove", path) for path in sorted(generated)]
    path = claude / "settings.json"
    settings, remaining = _changed_settings(path, unmerge, options) if path.is_file() else ({}, {})
    if remaining != settings:
        steps.append(Step("merge", path, dump(remaining)) if remaining else Step("remove", path))
    return steps


def _plan_file_removals(claude: Path, names: Iterable[str], options: Options) -> Iterator[Step]:
    for name in names:
        path = claude / name
        if path.is_file() and options.includes(bundle.parts_of(name)):
            is_ours = options.force or options.released.version_of(name, path.read_bytes())
            yield Step("remove", path) if is_ours else Step("keep", path, note="was edited: --force removes it")


def unmerge(settings: Settings, options: Options) -> Settings:
    """Return ``settings`` without our hooks and our permission."""
    hooks: dict[str, list[Any]] = {}
    for event, entries in settings.get("hooks", {}).items():
        for entry in entries:
            is_chosen = options.includes(bundle.parts_of_matcher(str(entry.get("matcher", ""))))
            others = [hook for hook in entry["hooks"] if not (is_chosen and _is_ours(hook))]
            if others or not entry["hooks"]:
                hooks.setdefault(event, []).append({**entry, "hooks": others})
    remaining = {**settings, "hooks": hooks}
    permissions = settings.get("permissions", {})
    if PERMISSION in permissions.get("allow", []) and options.includes(("agents",)):
        allowed = [rule for rule in permissions["allow"] if rule != PERMISSION]
        rules = {**permissions, "allow": allowed}
        remaining["permissions"] = {name: value for name, value in rules.items() if name != "allow" or allowed}
    return {name: value for name, value in remaining.items() if value or name not in ("hooks", "permissions")}


def _is_ours(hook: Mapping[str, Any]) -> bool:
    command = str(hook.get("command", ""))
    return bundle.script_of(command) != "" and (bundle.PROJECT_HOOKS in command or bundle.USER_HOOKS in command)


# Carrying out a plan.


def carry_out(steps: Sequence[Step], project: Path) -> None:
    """Write and remove the files of a plan, and the folders of ``project`` that it leaves empty."""
    for step in steps:
        if step.action == "remove":
            step.path.unlink()
        elif step.action not in ("same", "keep"):
            _write(step)
    claude = project / ".claude"
    folders = {folder for step in steps if step.action == "remove" for folder in step.path.parents}
    for folder in sorted(folders, reverse=True):
        if folder.is_relative_to(claude) and folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def _write(step: Step) -> None:
    # A settings file may be a link into someone's dotfiles; any other link is replaced itself.
    target = Path(os.path.realpath(step.path)) if step.path.name == "settings.json" else step.path
    target.parent.mkdir(parents=True, exist_ok=True)
    if step.action == "replace":
        shutil.copyfile(target, _free_backup_name(target), follow_symlinks=False)
    new = target.with_name(target.name + ".new")
    new.write_bytes(step.content)
    if target.suffix == ".py":
        new.chmod(0o755)
    elif target.exists() and not target.is_symlink():
        new.chmod(target.stat().st_mode)
    new.replace(target)


def _free_backup_name(target: Path) -> Path:
    names = (target.with_name(f"{target.name}.bak{number}") for number in chain([""], count(2)))
    return next(name for name in names if not os.path.lexists(name))


def dump(settings: Mapping[str, Any]) -> bytes:
    """Return the content of a file of settings."""
    return (json.dumps(settings, indent=2, ensure_ascii=False) + "\n").encode()
