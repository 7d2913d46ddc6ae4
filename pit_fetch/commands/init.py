"""``pit_fetch init [DIR]``: puts hooks, agents and skills into a project's ``.claude`` folder.

None of the user's files are overwritten: settings are merged, and a file that differs from ours is
kept and named. A second run changes nothing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pit_fetch.commands import Answer, Parser, bundle
from pit_fetch.errors import ExitStatus

Action = Literal["create", "same", "keep", "replace", "merge"]

_SAID: Mapping[Action, tuple[str, str]] = {
    "create": ("created", "would create"),
    "replace": ("replaced", "would replace"),
    "merge": ("merged", "would merge"),
    "same": ("unchanged", "unchanged"),
    "keep": ("KEPT", "would keep"),
}
_NEXT = """\
Next: pit_fetch doctor. To let the agents call it, allow Bash(pit_fetch *) in the permissions of your settings.
"""


@dataclass(frozen=True)
class Step:
    """One file of the plan: what is done with it, and what it will contain."""

    action: Action
    path: Path
    content: bytes
    note: str = ""


def run(argv: Sequence[str], environ: Mapping[str, str], folder: str) -> Answer:
    """Plans, writes (unless ``--dry-run``) and reports what was done."""
    parser = Parser("init", "Install the gate, the guard, agents and skills in a project's .claude folder.")
    parser.add_argument("dir", nargs="?", default=folder, metavar="DIR", help="the project (the working directory)")
    parser.add_argument("--dry-run", action="store_true", help="show what would be done, and do nothing")
    parser.add_argument("--force", action="store_true", help="replace hook files, agents and skills that differ")
    given = parser.parse_args(argv)
    if given.help:
        return Answer(parser.format_help())
    project = Path(folder, given.dir)
    if not project.is_dir():
        return Answer("", ExitStatus.REFUSED, f"{given.dir} is not a folder: name an existing project")
    try:
        steps = [*_plan_files(project, given.force), _plan_settings(project)]
    except ValueError as error:
        return Answer("", ExitStatus.REFUSED, f"{error}; nothing was changed")
    if not given.dry_run:
        for step in steps:
            _carry_out(step)
    kept = any(step.action == "keep" for step in steps)
    text = "".join(_line(step, project, given.dry_run) for step in steps)
    return Answer(text + _NEXT, ExitStatus.FOUND if kept else ExitStatus.OK)


def _plan_files(project: Path, force: bool) -> list[Step]:
    steps = []
    for name, content in bundle.files().items():
        path = project / ".claude" / name
        if not path.exists():
            steps.append(Step("create", path, content))
        elif path.read_bytes() == content:
            steps.append(Step("same", path, content))
        elif force:
            steps.append(Step("replace", path, content))
        else:
            steps.append(Step("keep", path, content, "differs from this version: --force replaces it"))
    return steps


def _plan_settings(project: Path) -> Step:
    path = project / ".claude" / "settings.json"
    if not path.exists():
        return Step("create", path, _dump(merge({})))
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
        merged = merge(settings)
    except (ValueError, TypeError, AttributeError):
        raise ValueError(f"{path} is not a settings file that can be merged: fix it first") from None
    note = "disableAllHooks is set: no hook runs until you remove it" if merged.get("disableAllHooks") else ""
    return Step("same" if merged == settings else "merge", path, _dump(merged), note)


def merge(settings: Mapping[str, Any]) -> dict[str, Any]:
    """``settings`` plus every row of our wiring that it lacks. What is already there stays, in its order."""
    hooks = {event: [*entries] for event, entries in settings.get("hooks", {}).items()}
    for row in bundle.wiring():
        entries = hooks.setdefault(row.event, [])
        if not any(_is_wired(entry, row) for entry in entries):
            entries.append({"matcher": row.matcher, "hooks": [row.command]})
    return {**settings, "hooks": hooks}


def _is_wired(entry: Mapping[str, Any], row: bundle.Hook) -> bool:
    return entry.get("matcher") == row.matcher and any(
        bundle.script_of(str(hook.get("command", ""))) == row.script for hook in entry["hooks"]
    )


def _dump(settings: Mapping[str, Any]) -> bytes:
    return (json.dumps(settings, indent=2, ensure_ascii=False) + "\n").encode()


def _carry_out(step: Step) -> None:
    if step.action in ("same", "keep"):
        return
    target = Path(os.path.realpath(step.path))  # a settings file may be a link into someone's dotfiles
    target.parent.mkdir(parents=True, exist_ok=True)
    new = target.with_name(target.name + ".new")
    new.write_bytes(step.content)
    if target.exists():
        new.chmod(target.stat().st_mode)
    if target.suffix == ".py":
        new.chmod(0o755)
    new.replace(target)


def _line(step: Step, project: Path, dry_run: bool) -> str:
    said = _SAID[step.action][dry_run]
    return f"{said:<13} {step.path.relative_to(project)}" + (f" ({step.note})" if step.note else "") + "\n"
