"""``pit_fetch init [DIR]``: puts hooks, agents and skills into a project's ``.claude`` folder, or takes them out.

None of the user's edits are lost: settings are merged, a file that is of no version of ours is kept
and named, and what is replaced is kept beside as ``NAME.bak``. A second run changes nothing.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pit_fetch.claude_code import bundle, versions
from pit_fetch.cli.command import CommandResult, Parser
from pit_fetch.errors import ExitStatus

Action = Literal["create", "same", "keep", "replace", "merge", "remove"]

_SAID: Mapping[Action, tuple[str, str]] = {
    "create": ("created", "would create"),
    "replace": ("replaced", "would replace"),
    "merge": ("merged", "would merge"),
    "remove": ("removed", "would remove"),
    "same": ("unchanged", "unchanged"),
    "keep": ("KEPT", "would keep"),
}
_NEXT = "Next: pit_fetch doctor, and with a ceiling pit_fetch doctor --prove.\n"

# What the adapters need, whose permission mode refuses what no rule allows.
PERMISSION = "Bash(pit_fetch *)"


@dataclass(frozen=True)
class Step:
    """One file of the plan: what is done with it, and what it will contain."""

    action: Action
    path: Path
    content: bytes = b""
    note: str = ""


def run(
    argv: Sequence[str], environ: Mapping[str, str], folder: str, older: versions.Older | None = None
) -> CommandResult:
    """Plans, writes (unless ``--dry-run``) and reports what was done. ``older``: other versions than the recorded."""
    given = _parser(folder).parse_args(argv)
    if given.help:
        return CommandResult(_parser(folder).format_help())
    project = Path(folder, given.dir)
    if not project.is_dir():
        return CommandResult("", ExitStatus.REFUSED, f"{given.dir} is not a folder: name an existing project")
    given.older = older
    try:
        given.hooks = bundle.USER_HOOKS if _is_home(project, environ) else bundle.PROJECT_HOOKS
        steps = [*(_plan_removal(project, given) if given.uninstall else _plan(project, given))]
    except ValueError as error:
        return CommandResult("", ExitStatus.REFUSED, f"{error}; nothing was changed")
    if not given.dry_run:
        for step in steps:
            _carry_out(step)
        _remove_empty_folders(project / ".claude", steps)
    kept = any(step.action == "keep" for step in steps)
    text = "".join(_line(step, project, given.dry_run) for step in steps)
    if given.uninstall:
        text = text or "nothing to take out\n"
    else:
        text += _advice(project, steps)
    return CommandResult(text, ExitStatus.FOUND if kept else ExitStatus.OK)


def _refuse_obstacle(path: Path) -> None:
    """Raises ValueError if something else is where a file or its folder is to be."""
    above = next((one for one in path.parents if one.exists()), path.parent)
    if path.is_dir() or not above.is_dir():
        raise ValueError(f"{path if path.is_dir() else above} is in the way: move it first")


def _advice(project: Path, steps: Sequence[Step]) -> str:
    """What to do next; first of all, if agents and settings name hooks that are not there."""
    guard = project / ".claude" / "hooks" / "pit_guard.py"
    has_guard = guard.is_file() or any(step.path == guard for step in steps)
    return _NEXT if has_guard else "The hooks are missing, without which nothing runs: pit_fetch init --only hooks\n"


def _is_home(project: Path, environ: Mapping[str, str]) -> bool:
    """Whether it is installed for all sessions of the user: their settings are then in ``~/.claude``."""
    return bool(environ.get("HOME")) and project.resolve() == Path(environ["HOME"]).resolve()


def _parser(folder: str) -> Parser:
    parser = Parser("init", "Install the gate, the guard, agents and skills in a project's .claude folder.")
    parts, way = (argparse.ArgumentParser.add_mutually_exclusive_group(parser) for _ in range(2))
    shown = ",".join(bundle.PARTS)
    parser.add_argument(
        "dir", nargs="?", default=folder, metavar="DIR", help="the project (default: working directory), or ~ for all"
    )
    way.add_argument("--upgrade", action="store_true", help="replace files of older versions, and keep edited ones")
    way.add_argument("--uninstall", action="store_true", help="remove what init installed, and keep edited files")
    parts.add_argument("--only", type=_parts, default=bundle.PARTS, metavar="PARTS", help=f"only these of {shown}")
    parts.add_argument("--without", type=_parts, default=(), metavar="PARTS", help="all parts but these")
    parser.add_argument("--model", metavar="NAME", help="the model that the agents run on (default: the session's)")
    parser.add_argument("--dry-run", action="store_true", help="show what would be done, and do nothing")
    parser.add_argument("--force", action="store_true", help="also replace or remove edited files")
    return parser


def _parts(text: str) -> tuple[str, ...]:
    parts = tuple(part.strip() for part in text.split(",") if part.strip())
    unknown = [part for part in parts if part not in bundle.PARTS]
    if unknown or not parts:
        raise argparse.ArgumentTypeError(f"PARTS are {', '.join(bundle.PARTS)}, separated by commas")
    return parts


def _is_chosen(parts: Collection[str], given: Any) -> bool:
    return any(part in given.only for part in parts) and not any(part in given.without for part in parts)


# Putting in.


def _plan(project: Path, given: Any) -> Iterator[Step]:
    model = f"model: {given.model}\n".encode() if given.model else None
    for name, content in bundle.files(given.hooks).items():
        if _is_chosen(bundle.parts_of(name), given):
            yield _plan_file(project / ".claude" / name, name, content, model, given)
    if given.upgrade:
        for name in versions.names(given.older):
            path = project / ".claude" / name
            if name not in bundle.files() and path.is_file() and _is_chosen(bundle.parts_of(name), given):
                yield _plan_file_removal(path, name, given)
    yield _plan_settings(project, given)


def _plan_file(path: Path, name: str, content: bytes, model: bytes | None, given: Any) -> Step:
    """What is done with one file; an agent keeps the model that it has, unless another is given."""
    _refuse_obstacle(path)
    is_agent = name.startswith("agents/")
    if not path.exists() and not path.is_symlink():
        return Step("create", path, versions.with_model(content, model or b"") if is_agent else content)
    found = path.read_bytes() if path.exists() else b""
    version = versions.version_of(name, found, given.older)
    if is_agent:
        content = versions.with_model(content, versions.model_of(found) if model is None else model)
    if found == content:
        return Step("same", path, content)
    if path.is_symlink():  # what it points to is not ours to write
        if given.force:
            return Step("replace", path, content, "was a link")
        return Step("keep", path, content, "is a link: --force replaces it")
    if version == versions.CURRENT or (version and given.upgrade):
        return Step("replace", path, content, "" if version == versions.CURRENT else f"was of version {version}")
    if given.force:
        return Step("replace", path, content, "was edited" if not version else f"was of version {version}")
    if version:
        return Step("keep", path, content, f"is of version {version}: --upgrade replaces it")
    return Step("keep", path, content, "was edited: --force replaces it")


def _plan_settings(project: Path, given: Any) -> Step:
    path = project / ".claude" / "settings.json"
    _refuse_obstacle(path)
    settings = _settings(path) if path.exists() else {}
    try:
        merged = merge(_without_older(settings, given.older) if given.upgrade else settings, given)
    except (TypeError, AttributeError, KeyError):
        raise _cannot_merge(path) from None
    if not path.exists():
        return Step("create", path, _dump(merged))
    note = "disableAllHooks is set: no hook runs until you remove it" if merged.get("disableAllHooks") else ""
    return Step("same" if merged == settings else "merge", path, _dump(merged), note)


def _settings(path: Path) -> dict[str, Any]:
    try:
        settings = json.loads(path.read_text(encoding="utf-8-sig"))
    except json.JSONDecodeError as error:
        raise _cannot_merge(
            path, f"line {error.lineno} is not JSON" if path.stat().st_size else "it is empty"
        ) from None
    except ValueError:
        raise _cannot_merge(path, "it is not text in UTF-8") from None
    if not isinstance(settings, dict):
        raise _cannot_merge(path, "it is not a JSON object")
    return settings


def _cannot_merge(
    path: Path, why: str = "its hooks or permissions are not of the form that the client reads"
) -> ValueError:
    return ValueError(f"{path} cannot be merged ({why}): fix it first")


def merge(settings: Mapping[str, Any], given: Any) -> dict[str, Any]:
    """``settings`` plus every row of our wiring that it lacks. What is already there stays, in its order."""
    hooks = {event: [*entries] for event, entries in settings.get("hooks", {}).items()}
    for row in bundle.wiring(given.hooks):
        entries = hooks.setdefault(row.event, [])
        present = [_is_wired(entry, row) for entry in entries]
        if not any(present) and _is_chosen(row.parts, given):
            entries.append({"matcher": row.matcher, "hooks": [row.command]})
    merged = {**settings, "hooks": {event: entries for event, entries in hooks.items() if entries}}
    if _is_chosen(("agents",), given):
        permissions = dict(settings.get("permissions", {}))
        allowed = permissions.get("allow", [])
        if not isinstance(allowed, list):
            raise TypeError("permissions.allow is not a list")
        permissions["allow"] = allowed if PERMISSION in allowed else [*allowed, PERMISSION]
        merged["permissions"] = permissions
    return merged if merged["hooks"] or "hooks" in settings else {k: v for k, v in merged.items() if k != "hooks"}


def _is_wired(entry: Mapping[str, Any], row: bundle.Hook) -> bool:
    return entry.get("matcher") == row.matcher and any(
        bundle.script_of(str(hook.get("command", ""))) == row.script for hook in entry["hooks"]
    )


def _without_older(settings: Mapping[str, Any], older: versions.Older | None) -> dict[str, Any]:
    """``settings`` without the entries that only an older version would make: another matcher, and our hook alone."""
    hooks = {
        event: [entry for entry in entries if not _is_older(event, entry, older)]
        for event, entries in settings.get("hooks", {}).items()
    }
    return {**settings, "hooks": hooks}


def _is_older(event: str, entry: Mapping[str, Any], older: versions.Older | None) -> bool:
    scripts = {bundle.script_of(str(hook.get("command", ""))) for hook in entry["hooks"]}
    return len(scripts) == 1 and entry.get("matcher") in versions.matchers(event, scripts.pop(), older)


# Taking out.


def _plan_removal(project: Path, given: Any) -> Iterator[Step]:
    for name in versions.names(given.older):
        path = project / ".claude" / name
        if path.is_file() and _is_chosen(bundle.parts_of(name), given):
            yield _plan_file_removal(path, name, given)
    if _is_chosen(("hooks",), given):
        hooks = project / ".claude" / "hooks"
        for made in sorted([*hooks.glob("pit_gate.log*"), *hooks.glob("__pycache__/pit_g*.pyc")]):
            yield Step("remove", made)
    path = project / ".claude" / "settings.json"
    if path.is_file():
        settings = _settings(path)
        try:
            left = _unmerged(settings, given)
        except (TypeError, AttributeError, KeyError):
            raise _cannot_merge(path) from None
        if left != settings:
            yield Step("merge", path, _dump(left)) if left else Step("remove", path)


def _plan_file_removal(path: Path, name: str, given: Any) -> Step:
    if given.force or versions.version_of(name, path.read_bytes(), given.older):
        return Step("remove", path)
    return Step("keep", path, note="was edited: --force removes it")


def _unmerged(settings: Mapping[str, Any], given: Any) -> dict[str, Any]:
    """``settings`` without our hooks and our rule."""
    hooks: dict[str, list[Any]] = {}
    for event, entries in settings.get("hooks", {}).items():
        for entry in entries:
            ours = _is_chosen(bundle.parts_of_matcher(str(entry.get("matcher", ""))), given)
            left = [hook for hook in entry["hooks"] if not (ours and _is_ours(hook))]
            if left or not entry["hooks"]:
                hooks.setdefault(event, []).append({**entry, "hooks": left})
    kept = {**settings, "hooks": hooks}
    permissions = settings.get("permissions", {})
    if PERMISSION in permissions.get("allow", []) and _is_chosen(("agents",), given):
        allowed = [rule for rule in permissions["allow"] if rule != PERMISSION]
        kept["permissions"] = {**permissions, "allow": allowed}
        if not allowed:
            del kept["permissions"]["allow"]
    return {name: value for name, value in kept.items() if value or name not in ("hooks", "permissions")}


def _is_ours(hook: Mapping[str, Any]) -> bool:
    command = str(hook.get("command", ""))
    return bundle.script_of(command) != "" and (bundle.PROJECT_HOOKS in command or bundle.USER_HOOKS in command)


def _remove_empty_folders(claude: Path, steps: Sequence[Step]) -> None:
    folders = {parent for step in steps if step.action == "remove" for parent in step.path.parents}
    for folder in sorted((one for one in folders if claude in (one, *one.parents)), reverse=True):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


# Doing it.


def _dump(settings: Mapping[str, Any]) -> bytes:
    return (json.dumps(settings, indent=2, ensure_ascii=False) + "\n").encode()


def _carry_out(step: Step) -> None:
    if step.action in ("same", "keep"):
        return
    if step.action == "remove":
        step.path.unlink()
        return
    # A settings file may be a link into someone's dotfiles; any other link is replaced itself.
    target = Path(os.path.realpath(step.path)) if step.path.name == "settings.json" else step.path
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_symlink():
        _backup(target).symlink_to(os.readlink(target))
    elif step.action == "replace":
        _backup(target).write_bytes(target.read_bytes())
    new = target.with_name(target.name + ".new")
    new.write_bytes(step.content)
    if target.exists() and not target.is_symlink():
        new.chmod(target.stat().st_mode)
    if target.suffix == ".py":
        new.chmod(0o755)
    new.replace(target)


def _backup(target: Path) -> Path:
    """A name beside ``target`` that is free."""
    name, number = target.with_name(target.name + ".bak"), 1
    while os.path.lexists(name):
        number += 1
        name = target.with_name(f"{target.name}.bak{number}")
    return name


def _line(step: Step, project: Path, dry_run: bool) -> str:
    said = _SAID[step.action][dry_run]
    return f"{said:<13} {step.path.relative_to(project)}" + (f" ({step.note})" if step.note else "") + "\n"
