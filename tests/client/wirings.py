"""Ways in which a project can be wired, and what the real client did with each: the truth that ``doctor`` is held to.

``python -m tests.client.wirings [--all | NAME ...]`` runs ``doctor --prove``'s planted calls in every fifth of them (in
all; in those named), and fails where the client does anything else than is said here. The doctor is asked
about all of them, without a client, in tests/unit/claude_code/test_doctor.py.
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

from pit_fetch.claude_code import bundle, install
from pit_fetch.claude_code.lint import adapters
from pit_fetch.claude_code.prove import Proof, prove
from pit_fetch.support.bundled import gate
from tests.unit.claude_code.fake_system import install_into

CEILING = "2024-02-15T16:00:00-05:00"
LATER = "2030-01-01T00:00:00Z"

# "holds": nothing leaks and a clean call is shown. "shuts": nothing leaks, but a clean call is not shown either.
Truth = Literal["holds", "leaks", "shuts"]


@dataclass
class Place:
    """A project after ``pit_fetch init``, a user's home, and the environment of the session."""

    root: Path
    environ: dict[str, str] = field(default_factory=lambda: {"PIT_FETCH_CEILING": CEILING})
    folder: str = ""

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def session(self) -> Path:
        """The working directory of the session."""
        return self.project / self.folder

    @property
    def claude(self) -> Path:
        return self.project / ".claude"

    @property
    def settings(self) -> Path:
        return self.claude / "settings.json"

    @property
    def user(self) -> Path:
        return self.root / "home" / ".claude"


Change = Callable[[Place], object]


def make(root: Path, change: Change) -> Place:
    """The place with the change made."""
    place = Place(root)
    place.project.mkdir()
    place.user.mkdir(parents=True)
    install_into(place.project)
    change(place)
    return place


def _load(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return loaded


def in_settings(change: Callable[[dict[str, Any]], object]) -> Change:
    def made(place: Place) -> None:
        settings = _load(place.settings)
        change(settings)
        place.settings.write_text(json.dumps(settings, indent=2))

    return made


def adding(**more: Any) -> Change:
    """The project's settings with more in them."""
    return in_settings(lambda settings: settings.update(more))


def of_user(**more: Any) -> Change:
    return lambda place: (place.user / "settings.json").write_text(json.dumps(more))


def local(**more: Any) -> Change:
    return lambda place: (place.claude / "settings.local.json").write_text(json.dumps(more))


def entry(script: str, change: Callable[[dict[str, Any]], object]) -> Change:
    """The entry that runs ``script`` on Bash, changed."""

    def made(settings: dict[str, Any]) -> None:
        for entries in settings["hooks"].values():
            for one in entries:
                if "Bash" in one["matcher"].split("|") and any(script in hook["command"] for hook in one["hooks"]):
                    change(one)

    return in_settings(made)


def matcher(script: str, text: object) -> Change:
    return entry(script, lambda one: one.update(matcher=text))


def hook(script: str, **more: Any) -> Change:
    return entry(script, lambda one: one["hooks"][0].update(more))


def sibling(**more: Any) -> Change:
    """Another hook beside the guard's, in the same entry."""
    return entry("pit_guard.py", lambda one: one["hooks"].append(more))


def another(event: str, **more: Any) -> Change:
    """Another entry of an event."""
    return in_settings(lambda settings: settings["hooks"].setdefault(event, []).append(more))


def without(event: str) -> Change:
    return in_settings(lambda settings: settings["hooks"].pop(event))


def text(old: str, new: str) -> Change:
    return lambda place: place.settings.write_text(place.settings.read_text().replace(old, new))


def file(name: str, content: str | None) -> Change:
    def made(place: Place) -> None:
        path = place.claude / "hooks" / name
        path.unlink()
        if content is not None:
            path.write_text(content)

    return made


def variables(**more: str) -> Change:
    return lambda place: place.environ.update(more)


def _command(words: str) -> dict[str, Any]:
    return {"matcher": "Bash", "hooks": [{"type": "command", "command": words}]}


def _only_in(path: Callable[[Place], Path], command: str = "") -> Change:
    def made(place: Place) -> None:
        settings = place.settings.read_text().replace("$CLAUDE_PROJECT_DIR", command or "$CLAUDE_PROJECT_DIR")
        place.settings.unlink()
        path(place).write_text(settings.replace("@", str(place.project)))

    return made


def _as_object(settings: dict[str, Any]) -> None:
    settings["hooks"]["PreToolUse"] = settings["hooks"]["PreToolUse"][0]


def _link(place: Place) -> None:
    place.settings.rename(place.root / "dotfiles.json")
    place.settings.symlink_to(place.root / "dotfiles.json")


def _in_a_subfolder(place: Place) -> None:
    (place.project / "sub").mkdir()
    place.folder = "sub"


def _in_home(folder: str) -> Change:
    """Installed for all sessions of the user, and not in the project."""

    def made(place: Place) -> None:
        shutil.rmtree(place.claude)
        home = place.user.parent
        install.run([str(home)], {"HOME": str(home)}, str(place.project))
        (place.project / "sub").mkdir()
        place.folder = folder

    return made


def _renamed(place: Place) -> None:
    agents = place.claude / "agents"
    (agents / "my-news.md").write_text((agents / "bz-news-api.md").read_text().replace("bz-news-api", "my-news", 1))


def _write_plugin(folder: Path) -> None:
    hooks: dict[str, list[Any]] = {}
    for row in bundle.wiring():
        command = str(row.command["command"]).replace(bundle.PROJECT_HOOKS, "${CLAUDE_PLUGIN_ROOT}/hooks")
        hooks.setdefault(row.event, []).append({"matcher": row.matcher, "hooks": [{**row.command, "command": command}]})
    manifest = {"name": "pit-fetch", "version": "0.1.0", "description": "x"}
    files = {**bundle.files(), "hooks/hooks.json": json.dumps({"hooks": hooks}).encode()}
    files[".claude-plugin/plugin.json"] = json.dumps(manifest).encode()
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def _as_plugin(listed: dict[str, bool] | None) -> Change:
    """The hooks in an installed plugin alone."""

    def made(place: Place) -> None:
        shutil.rmtree(place.claude)
        place.claude.mkdir()
        cache = place.user / "plugins" / "cache" / "market" / "pit-fetch" / "0.1.0"
        _write_plugin(cache)
        market = place.user / "plugins" / "marketplaces" / "market"
        (market / ".claude-plugin").mkdir(parents=True)
        rows = [{"name": "pit-fetch", "source": "./plugin", "version": "0.1.0", "description": "x"}]
        listing = {"name": "market", "owner": {"name": "x"}, "plugins": rows}
        (market / ".claude-plugin" / "marketplace.json").write_text(json.dumps(listing))
        shutil.copytree(cache, market / "plugin")
        now = "2026-01-01T00:00:00.000Z"
        known = {
            "source": {"source": "directory", "path": str(market)},
            "installLocation": str(market),
            "lastUpdated": now,
        }
        (place.user / "plugins" / "known_marketplaces.json").write_text(json.dumps({"market": known}))
        row = {"scope": "user", "installPath": str(cache), "version": "0.1.0", "installedAt": now, "lastUpdated": now}
        register = {"version": 2, "plugins": {"pit-fetch@market": [row]}}
        (place.user / "plugins" / "installed_plugins.json").write_text(json.dumps(register))
        if listed is not None:
            (place.user / "settings.json").write_text(json.dumps({"enabledPlugins": listed}))

    return made


_GATE, _GUARD = "pit_gate.py", "pit_guard.py"
_OTHER = """import json, sys, time
hook = json.load(sys.stdin)
time.sleep(1)
said = {"hookEventName": hook["hook_event_name"]}
if said["hookEventName"] == "PreToolUse":
    said["updatedInput"] = hook["tool_input"]
else:
    said["updatedToolOutput"] = hook["tool_response"]
print(json.dumps({"hookSpecificOutput": said}))
"""


def _put_back(event: str) -> Change:
    """Another hook that answers last, with what it was given."""

    def made(place: Place) -> None:
        (place.project / "other.py").write_text(_OTHER)
        another(event, **_command("python3 other.py"))(place)

    return made


WIRINGS: dict[str, tuple[Truth, Change]] = {
    "as init leaves it": ("holds", lambda place: None),
    # Matchers.
    "guard: matcher bash": ("leaks", matcher(_GUARD, "bash")),
    "gate: matcher bash": ("shuts", matcher(_GATE, "bash")),
    "both: matcher Bash(python3:*)": ("leaks", text('"matcher": "Bash', '"matcher": "Bash(python3:*)')),
    "guard: matcher Bas": ("leaks", matcher(_GUARD, "Bas")),
    "guard: matcher Bash": ("leaks", matcher(_GUARD, "Bash")),
    "guard: matcher *": ("holds", matcher(_GUARD, "*")),
    "guard: matcher empty": ("holds", matcher(_GUARD, "")),
    "guard: no matcher": ("holds", entry(_GUARD, lambda one: one.pop("matcher"))),
    "guard: matcher Write|Bash|Monitor": ("holds", matcher(_GUARD, "Write|Bash|Monitor")),
    "guard: matcher Bash, Monitor": ("holds", matcher(_GUARD, "Bash, Monitor")),
    "guard: matcher B.*|M.*": ("holds", matcher(_GUARD, "B.*|M.*")),
    "guard: matcher (": ("leaks", matcher(_GUARD, "(")),
    "guard: matcher 5": ("leaks", matcher(_GUARD, 5)),
    "gate: matcher Bash|Write": ("holds", matcher(_GATE, "Bash|Write")),
    # Events and entries.
    "gate at PostToolUseFailure": ("shuts", text('"PostToolUse"', '"PostToolUseFailure"')),
    "no guard": ("leaks", without("PreToolUse")),
    "no gate": ("shuts", without("PostToolUse")),
    "neither": ("leaks", in_settings(lambda settings: settings.pop("hooks"))),
    "hooks is a list": ("leaks", in_settings(lambda settings: settings.update(hooks=[settings["hooks"]]))),
    "an event is an object": ("leaks", in_settings(_as_object)),
    "an entry without hooks": ("leaks", another("PreToolUse", matcher="Bash")),
    "an unknown event": ("holds", another("BeforeEverything", **_command("true"))),
    # Fields of a hook.
    "guard: timeout 5": ("holds", hook(_GUARD, timeout=5)),
    "guard: timeout ten": ("leaks", hook(_GUARD, timeout="ten")),
    "gate: timeout ten": ("shuts", hook(_GATE, timeout="ten")),
    "guard: timeout 0": ("leaks", hook(_GUARD, timeout=0)),
    "guard: onFailure deny": ("leaks", hook(_GUARD, onFailure="deny")),
    "guard: onFailure continue": ("holds", hook(_GUARD, onFailure="continue")),
    "guard: async": ("leaks", hook(_GUARD, **{"async": True})),
    "gate: async": ("shuts", hook(_GATE, **{"async": True})),
    "guard: if": ("leaks", hook(_GUARD, **{"if": "Bash(pit_fetch *)"})),
    "gate: if": ("shuts", hook(_GATE, **{"if": "Bash(pit_fetch *)"})),
    "guard: an unknown field": ("holds", hook(_GUARD, colour="red")),
    "guard: statusMessage 5": ("leaks", hook(_GUARD, statusMessage=5)),
    "guard: shell fish": ("leaks", hook(_GUARD, shell="fish")),
    "guard: no type": ("leaks", entry(_GUARD, lambda one: one["hooks"][0].pop("type"))),
    "a sibling without command": ("leaks", sibling(type="command")),
    "a sibling without type": ("leaks", sibling(command="true")),
    "a sibling of another type": ("leaks", sibling(type="program", command="true")),
    "a sibling with an unknown shell": ("leaks", sibling(type="command", command="true", shell="fish")),
    # The files.
    "gate: file missing": ("shuts", file(_GATE, None)),
    "gate: file empty": ("shuts", file(_GATE, "")),
    "gate: file allows": ("shuts", file(_GATE, "print('{}')")),
    "guard: file missing": ("shuts", file(_GUARD, None)),
    "guard: file empty": ("leaks", file(_GUARD, "")),
    "guard: file allows": ("leaks", file(_GUARD, "print('{}')")),
    "guard: another python": ("shuts", hook(_GUARD, command="python9 -I -S pit_guard.py")),
    # Other settings.
    "disableAllHooks": ("leaks", adding(disableAllHooks=True)),
    "disableAllHooks in the user's settings": ("leaks", of_user(disableAllHooks=True)),
    "disableAllHooks in the local settings": ("leaks", local(disableAllHooks=True)),
    "disableAllHooks false": ("holds", adding(disableAllHooks=False)),
    "half a file": ("leaks", lambda place: place.settings.write_text(place.settings.read_text()[:-20])),
    "an empty file": ("leaks", lambda place: place.settings.write_text("")),
    "comments": ("leaks", lambda place: place.settings.write_text("// mine\n" + place.settings.read_text())),
    "a byte order mark": ("holds", lambda place: place.settings.write_text("\ufeff" + place.settings.read_text())),
    "hooks twice, ours last": ("holds", text('{\n  "hooks"', '{\n  "hooks": {},\n  "hooks"')),
    "permissions.allow is text": ("leaks", adding(permissions={"allow": "Bash"})),
    "model 5": ("leaks", adding(model=5)),
    "an unknown setting": ("holds", adding(colour="red")),
    "a link": ("holds", _link),
    "wired in the local settings": ("holds", _only_in(lambda place: place.claude / "settings.local.json")),
    "wired in the user's settings": ("holds", _only_in(lambda place: place.user / "settings.json", "@")),
    "init in the user's home": ("holds", _in_home("")),
    "init in the user's home, a session in a subfolder": ("holds", _in_home("sub")),
    # The ceiling.
    "no ceiling": ("leaks", lambda place: place.environ.clear()),
    "settings raise the ceiling": ("leaks", adding(env={"PIT_FETCH_CEILING": LATER})),
    "the user's settings raise the ceiling": ("leaks", of_user(env={"PIT_FETCH_CEILING": LATER})),
    "settings empty the ceiling": ("shuts", adding(env={"PIT_FETCH_CEILING": ""})),
    "settings repeat the ceiling": ("holds", adding(env={"PIT_FETCH_CEILING": CEILING})),
    # Other hooks.
    "another hook puts the command back": ("leaks", _put_back("PreToolUse")),
    "another hook puts the output back": ("shuts", _put_back("PostToolUse")),
    "another hook is silent": ("holds", another("PostToolUse", **_command("true"))),
    # Where, and who.
    "a session in a subfolder": ("leaks", _in_a_subfolder),
    "a renamed adapter": ("leaks", _renamed),
    "CLAUDE_CODE_SIMPLE": ("leaks", variables(CLAUDE_CODE_SIMPLE="1")),
    "an installed plugin": ("holds", _as_plugin({"pit-fetch@market": True})),
    "an installed plugin that is off": ("leaks", _as_plugin({"pit-fetch@market": False})),
    "an installed plugin that is not listed": ("leaks", _as_plugin(None)),
}  # fmt: skip


def truth(proof: Proof) -> Truth:
    """What the client did, in a word."""
    if any(one.leaked for one in proof.outcomes) or "reached the model" in proof.problem:
        return "leaks"
    return "holds" if proof.holds else "shuts"


def measure(name: str) -> tuple[Truth, Proof]:
    """Runs the planted calls in one wiring."""
    with tempfile.TemporaryDirectory(prefix="pit-wiring-") as folder:
        place = make(Path(folder).resolve(), WIRINGS[name][1])
        home = place.user.parent
        environ = {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "LANG": "C.UTF-8",
            "HOME": str(home),
            "TMPDIR": str(home),
            **place.environ,
        }
        ceiling = gate.parse_iso8601(CEILING)
        assert ceiling is not None
        from tests.client import harness

        proof = prove(harness.client(), environ, place.session, ceiling, adapters(place.claude))
        return truth(proof), proof


# Which of them are run by default: some of every family, since these stand together.
STEP = 5


def main(argv: Sequence[str]) -> int:
    from tests.client import harness

    harness.enter_namespace("tests.client.wirings")
    names = [word for word in argv if word != "--all"]
    chosen = names or list(WIRINGS)[:: 1 if "--all" in argv else STEP]
    begun, faults = time.monotonic(), 0
    with ThreadPoolExecutor(2) as pool:
        for name, (found, proof) in zip(chosen, pool.map(measure, chosen), strict=True):
            wrong = found != WIRINGS[name][0]
            faults += wrong
            odd = "; ".join(f"{one.step.name}: {one.seen}" for one in proof.outcomes if one.seen != one.step.expected)
            sys.stderr.write(f"{'FAIL ' if wrong else ''}{name}: {found} {proof.problem} ({odd})\n")
    sys.stderr.write(f"{len(chosen)} wirings in {time.monotonic() - begun:.0f} s, {faults} otherwise than said\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
