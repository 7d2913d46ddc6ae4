"""Ways in which a project can be wired, and what the real client does with each: the truth that ``doctor`` is held to.

``python -m tests.client.wirings [--all | NAME ...]`` runs the planted calls of ``doctor --prove`` in every fifth of
them (in all, or in those named), and fails where the client does anything else than the table states.
tests/unit/claude_code/test_doctor.py examines all of them without a client.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pit_fetch.claude_code.lint import adapters
from pit_fetch.claude_code.prove import ClientProof, prove
from pit_fetch.cli.commands import init
from pit_fetch.support.bundled import gate
from tests.client import harness
from tests.unit.claude_code.fake_system import install_into

CEILING = "2024-02-15T16:00:00-05:00"
LATER = "2030-01-01T00:00:00Z"

# "holds": nothing leaks and a clean call is shown. "shuts": nothing leaks, but a clean call is not shown either.
Outcome = Literal["holds", "leaks", "shuts"]


@dataclass
class Session:
    """A session in a project after ``pit_fetch init``: its folders, with the user's home, and its environment."""

    root: Path
    environ: dict[str, str] = field(default_factory=lambda: {"PIT_FETCH_CEILING": CEILING})
    subfolder: str = ""

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def folder(self) -> Path:
        """Return the working directory."""
        return self.project / self.subfolder

    @property
    def claude(self) -> Path:
        return self.project / ".claude"

    @property
    def settings(self) -> Path:
        return self.claude / "settings.json"

    @property
    def user(self) -> Path:
        return self.root / "home" / ".claude"


Change = Callable[[Session], object]


def make(root: Path, change: Change) -> Session:
    """Install into a project below ``root``, and make the change."""
    session = Session(root)
    session.project.mkdir()
    session.user.mkdir(parents=True)
    install_into(session.project)
    change(session)
    return session


# Changes.


def in_settings(change: Callable[[dict[str, Any]], object]) -> Change:
    def make_change(session: Session) -> None:
        settings = json.loads(session.settings.read_text())
        change(settings)
        session.settings.write_text(json.dumps(settings, indent=2))

    return make_change


def with_settings(**more: Any) -> Change:
    return in_settings(lambda settings: settings.update(more))


def with_user_settings(**settings: Any) -> Change:
    return lambda session: (session.user / "settings.json").write_text(json.dumps(settings))


def with_local_settings(**settings: Any) -> Change:
    return lambda session: (session.claude / "settings.local.json").write_text(json.dumps(settings))


def in_entry(script: str, change: Callable[[dict[str, Any]], object]) -> Change:
    """Change the entry that runs ``script`` on Bash."""

    def make_change(settings: dict[str, Any]) -> None:
        for entries in settings["hooks"].values():
            for entry in entries:
                if "Bash" in entry["matcher"].split("|") and any(script in hook["command"] for hook in entry["hooks"]):
                    change(entry)

    return in_settings(make_change)


def with_matcher(script: str, matcher: object) -> Change:
    return in_entry(script, lambda entry: entry.update(matcher=matcher))


def with_fields(script: str, **more: Any) -> Change:
    return in_entry(script, lambda entry: entry["hooks"][0].update(more))


def adding_hook(**hook: Any) -> Change:
    """Add another hook to the guard's entry."""
    return in_entry(_GUARD, lambda entry: entry["hooks"].append(hook))


def adding_entry(event: str, **entry: Any) -> Change:
    return in_settings(lambda settings: settings["hooks"].setdefault(event, []).append(entry))


def without_event(event: str) -> Change:
    return in_settings(lambda settings: settings["hooks"].pop(event))


def rewriting(change: Callable[[str], str]) -> Change:
    return lambda session: session.settings.write_text(change(session.settings.read_text()))


def replacing(old: str, new: str) -> Change:
    return rewriting(lambda text: text.replace(old, new))


def hook_file(name: str, content: str | None) -> Change:
    def make_change(session: Session) -> None:
        path = session.claude / "hooks" / name
        path.unlink()
        if content is not None:
            path.write_text(content)

    return make_change


def with_variables(**variables: str) -> Change:
    return lambda session: session.environ.update(variables)


def _command(command: str) -> dict[str, Any]:
    return {"matcher": "Bash", "hooks": [{"type": "command", "command": command}]}


def _only_in(path: Callable[[Session], Path], root: str = "$CLAUDE_PROJECT_DIR") -> Change:
    """Move the settings to another file, whose hooks are run from ``root``."""

    def make_change(session: Session) -> None:
        settings = session.settings.read_text().replace("$CLAUDE_PROJECT_DIR", root)
        session.settings.unlink()
        path(session).write_text(settings.replace("@", str(session.project)))

    return make_change


def _as_object(settings: dict[str, Any]) -> None:
    settings["hooks"]["PreToolUse"] = settings["hooks"]["PreToolUse"][0]


def _link(session: Session) -> None:
    session.settings.rename(session.root / "dotfiles.json")
    session.settings.symlink_to(session.root / "dotfiles.json")


def _in_a_subfolder(session: Session) -> None:
    (session.project / "sub").mkdir()
    session.subfolder = "sub"


def _in_home(subfolder: str) -> Change:
    """Install for all sessions of the user, and not in the project."""

    def make_change(session: Session) -> None:
        shutil.rmtree(session.claude)
        home = session.user.parent
        init.run([str(home)], {"HOME": str(home)}, str(session.project))
        _in_a_subfolder(session)
        session.subfolder = subfolder

    return make_change


def _renamed(session: Session) -> None:
    agents = session.claude / "agents"
    (agents / "my-news.md").write_text((agents / "bz-news-api.md").read_text().replace("bz-news-api", "my-news", 1))


def _as_plugin(enabled: dict[str, bool] | None) -> Change:
    """Install the hooks by an installed plugin alone."""

    def make_change(session: Session) -> None:
        shutil.rmtree(session.claude)
        session.claude.mkdir()
        cache = session.user / "plugins" / "cache" / "market" / "pit-fetch" / "0.1.0"
        market = session.user / "plugins" / "marketplaces" / "market"
        harness.copy_plugin(cache)
        harness.copy_plugin(market / "plugin")
        now = "2026-01-01T00:00:00.000Z"
        plugin = {"name": "pit-fetch", "source": "./plugin", "version": "0.1.0", "description": "x"}
        source = {"source": "directory", "path": str(market)}
        known = {"source": source, "installLocation": str(market), "lastUpdated": now}
        row = {"scope": "user", "installPath": str(cache), "version": "0.1.0", "installedAt": now, "lastUpdated": now}
        files = {
            market / ".claude-plugin" / "marketplace.json": {
                "name": "market",
                "owner": {"name": "x"},
                "plugins": [plugin],
            },
            session.user / "plugins" / "known_marketplaces.json": {"market": known},
            session.user / "plugins" / "installed_plugins.json": {"version": 2, "plugins": {"pit-fetch@market": [row]}},
        }
        if enabled is not None:
            files[session.user / "settings.json"] = {"enabledPlugins": enabled}
        for path, content in files.items():
            path.parent.mkdir(exist_ok=True)
            path.write_text(json.dumps(content))

    return make_change


def _put_back(event: str) -> Change:
    """Add another hook, which answers last and puts back what ours replaced."""

    def make_change(session: Session) -> None:
        (session.project / "other.py").write_text(harness.OTHER_HOOK)
        adding_entry(event, **_command("python3 other.py rewrites"))(session)

    return make_change


_GATE, _GUARD = "pit_gate.py", "pit_guard.py"

WIRINGS: dict[str, tuple[Outcome, Change]] = {
    "as init leaves it": ("holds", lambda session: None),
    # Matchers.
    "guard: matcher bash": ("leaks", with_matcher(_GUARD, "bash")),
    "gate: matcher bash": ("shuts", with_matcher(_GATE, "bash")),
    "both: matcher Bash(python3:*)": ("leaks", replacing('"matcher": "Bash', '"matcher": "Bash(python3:*)')),
    "guard: matcher Bas": ("leaks", with_matcher(_GUARD, "Bas")),
    "guard: matcher Bash": ("leaks", with_matcher(_GUARD, "Bash")),
    "guard: matcher *": ("holds", with_matcher(_GUARD, "*")),
    "guard: matcher empty": ("holds", with_matcher(_GUARD, "")),
    "guard: no matcher": ("holds", in_entry(_GUARD, lambda entry: entry.pop("matcher"))),
    "guard: matcher Write|Bash|Monitor": ("holds", with_matcher(_GUARD, "Write|Bash|Monitor")),
    "guard: matcher Bash, Monitor": ("holds", with_matcher(_GUARD, "Bash, Monitor")),
    "guard: matcher B.*|M.*": ("holds", with_matcher(_GUARD, "B.*|M.*")),
    "guard: matcher (": ("leaks", with_matcher(_GUARD, "(")),
    "guard: matcher 5": ("leaks", with_matcher(_GUARD, 5)),
    "gate: matcher Bash|Write": ("holds", with_matcher(_GATE, "Bash|Write")),
    # Events and entries.
    "gate at PostToolUseFailure": ("shuts", replacing('"PostToolUse"', '"PostToolUseFailure"')),
    "no guard": ("leaks", without_event("PreToolUse")),
    "no gate": ("shuts", without_event("PostToolUse")),
    "neither": ("leaks", in_settings(lambda settings: settings.pop("hooks"))),
    "hooks is a list": ("leaks", in_settings(lambda settings: settings.update(hooks=[settings["hooks"]]))),
    "an event is an object": ("leaks", in_settings(_as_object)),
    "an entry without hooks": ("leaks", adding_entry("PreToolUse", matcher="Bash")),
    "an unknown event": ("holds", adding_entry("BeforeEverything", **_command("true"))),
    # Fields of a hook.
    "guard: timeout 5": ("holds", with_fields(_GUARD, timeout=5)),
    "guard: timeout ten": ("leaks", with_fields(_GUARD, timeout="ten")),
    "gate: timeout ten": ("shuts", with_fields(_GATE, timeout="ten")),
    "guard: timeout 0": ("leaks", with_fields(_GUARD, timeout=0)),
    "guard: onFailure deny": ("leaks", with_fields(_GUARD, onFailure="deny")),
    "guard: onFailure continue": ("holds", with_fields(_GUARD, onFailure="continue")),
    "guard: async": ("leaks", with_fields(_GUARD, **{"async": True})),
    "gate: async": ("shuts", with_fields(_GATE, **{"async": True})),
    "guard: if": ("leaks", with_fields(_GUARD, **{"if": "Bash(pit_fetch *)"})),
    "gate: if": ("shuts", with_fields(_GATE, **{"if": "Bash(pit_fetch *)"})),
    "guard: an unknown field": ("holds", with_fields(_GUARD, colour="red")),
    "guard: statusMessage 5": ("leaks", with_fields(_GUARD, statusMessage=5)),
    "guard: shell fish": ("leaks", with_fields(_GUARD, shell="fish")),
    "guard: no type": ("leaks", in_entry(_GUARD, lambda entry: entry["hooks"][0].pop("type"))),
    "a sibling without command": ("leaks", adding_hook(type="command")),
    "a sibling without type": ("leaks", adding_hook(command="true")),
    "a sibling of another type": ("leaks", adding_hook(type="program", command="true")),
    "a sibling with an unknown shell": ("leaks", adding_hook(type="command", command="true", shell="fish")),
    # The files.
    "gate: file missing": ("shuts", hook_file(_GATE, None)),
    "gate: file empty": ("shuts", hook_file(_GATE, "")),
    "gate: file allows": ("shuts", hook_file(_GATE, "print('{}')")),
    "guard: file missing": ("shuts", hook_file(_GUARD, None)),
    "guard: file empty": ("leaks", hook_file(_GUARD, "")),
    "guard: file allows": ("leaks", hook_file(_GUARD, "print('{}')")),
    "guard: another python": ("shuts", with_fields(_GUARD, command="python9 -I -S pit_guard.py")),
    # Other settings.
    "disableAllHooks": ("leaks", with_settings(disableAllHooks=True)),
    "disableAllHooks in the user's settings": ("leaks", with_user_settings(disableAllHooks=True)),
    "disableAllHooks in the local settings": ("leaks", with_local_settings(disableAllHooks=True)),
    "disableAllHooks false": ("holds", with_settings(disableAllHooks=False)),
    "half a file": ("leaks", rewriting(lambda text: text[:-20])),
    "an empty file": ("leaks", rewriting(lambda text: "")),
    "comments": ("leaks", rewriting(lambda text: "// mine\n" + text)),
    "a byte order mark": ("holds", rewriting(lambda text: "\ufeff" + text)),
    "hooks twice, ours last": ("holds", replacing('{\n  "hooks"', '{\n  "hooks": {},\n  "hooks"')),
    "permissions.allow is text": ("leaks", with_settings(permissions={"allow": "Bash"})),
    "model 5": ("leaks", with_settings(model=5)),
    "an unknown setting": ("holds", with_settings(colour="red")),
    "a link": ("holds", _link),
    "wired in the local settings": ("holds", _only_in(lambda session: session.claude / "settings.local.json")),
    "wired in the user's settings": ("holds", _only_in(lambda session: session.user / "settings.json", "@")),
    "init in the user's home": ("holds", _in_home("")),
    "init in the user's home, a session in a subfolder": ("holds", _in_home("sub")),
    # The ceiling.
    "no ceiling": ("leaks", lambda session: session.environ.clear()),
    "settings raise the ceiling": ("leaks", with_settings(env={"PIT_FETCH_CEILING": LATER})),
    "the user's settings raise the ceiling": ("leaks", with_user_settings(env={"PIT_FETCH_CEILING": LATER})),
    "settings empty the ceiling": ("shuts", with_settings(env={"PIT_FETCH_CEILING": ""})),
    "settings repeat the ceiling": ("holds", with_settings(env={"PIT_FETCH_CEILING": CEILING})),
    # Other hooks.
    "another hook puts the command back": ("leaks", _put_back("PreToolUse")),
    "another hook puts the output back": ("shuts", _put_back("PostToolUse")),
    "another hook is silent": ("holds", adding_entry("PostToolUse", **_command("true"))),
    # Where, and who.
    "a session in a subfolder": ("leaks", _in_a_subfolder),
    "a renamed adapter": ("leaks", _renamed),
    "CLAUDE_CODE_SIMPLE": ("leaks", with_variables(CLAUDE_CODE_SIMPLE="1")),
    "an installed plugin": ("holds", _as_plugin({"pit-fetch@market": True})),
    "an installed plugin that is off": ("leaks", _as_plugin({"pit-fetch@market": False})),
    "an installed plugin that is not listed": ("leaks", _as_plugin(None)),
}  # fmt: skip


def outcome(proof: ClientProof) -> Outcome:
    """Return what the client did with the planted calls."""
    if any(result.leaked for result in proof.results) or "reached the model" in proof.problem:
        return "leaks"
    return "holds" if proof.holds else "shuts"


def measure(name: str) -> ClientProof:
    """Run the planted calls in one wiring."""
    with tempfile.TemporaryDirectory(prefix="pit-wiring-") as folder:
        session = make(Path(folder).resolve(), WIRINGS[name][1])
        home = str(session.user.parent)
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environ = {"PATH": path, "LANG": "C.UTF-8", "HOME": home, "TMPDIR": home, **session.environ}
        ceiling = gate.parse_iso8601(CEILING)
        assert ceiling is not None
        return prove(harness.client(), environ, session.folder, ceiling, adapters(session.claude))


# By default, every fifth of them is run: some of each family, since these stand together.
STEP = 5


def main(argv: Sequence[str]) -> int:
    harness.enter_namespace("tests.client.wirings")
    names = [word for word in argv if word != "--all"]
    chosen = names or list(WIRINGS)[:: 1 if "--all" in argv else STEP]
    begun, faults = time.monotonic(), 0
    with ThreadPoolExecutor(2) as pool:
        for name, proof in zip(chosen, pool.map(measure, chosen), strict=True):
            is_wrong = outcome(proof) != WIRINGS[name][0]
            faults += is_wrong
            others = [result for result in proof.results if result.seen != result.step.expected]
            odd = "; ".join(f"{result.step.name}: {result.seen}" for result in others)
            sys.stderr.write(f"{'FAIL ' if is_wrong else ''}{name}: {outcome(proof)} {proof.problem} ({odd})\n")
    sys.stderr.write(f"{len(chosen)} wirings in {time.monotonic() - begun:.0f} s, {faults} otherwise than stated\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
