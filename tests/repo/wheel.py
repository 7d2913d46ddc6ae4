"""Build the wheel, compare it with the checkout, and run from it, elsewhere, what depends on how it was installed.

The files of the wheel are those of the checkout, byte for byte, and none is missing: so what the suite shows of the
code, it shows of the wheel's. What is left is what an editable install could hide, and is run here on the wheel: the
console command, the bundled sources, entry points (a third party's source, the kit's pytest plugin), data that is found
beside the code (the skeletons of ``new-provider``, the hooks, agents and skills of ``init``, the sample, the kit's
advice), and the gate and the guard as modules of their own. Optional extras are not installed: the suite has them.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOP_LEVEL = {"pit_fetch", "pit_fetch_providers", "pit_gate.py", "pit_guard.py"}
# Where files of the checkout lie in the wheel; the first that fits.
PLACES = {
    "pit_fetch/": "pit_fetch/",
    "providers/": "",
    "hooks/hooks.json": "pit_fetch/claude_code/data/hooks.json",
    "hooks/pit_": "pit_",
    "agents/": "pit_fetch/claude_code/data/agents/",
    "docs/kit-advice.md": "pit_fetch/testing/advice.md",
    "examples/sample/": "pit_fetch/sample_data/",
    "skills/": "pit_fetch/claude_code/data/skills/",
}
# The tests that see how pit_fetch is installed.
TESTS = (
    "cli/test_main.py",
    "cli/test_new_provider.py",
    "engine/test_registry.py",
    "claude_code/test_install.py",
    "claude_code/test_sdk.py",
)


def build(folder: Path) -> Path:
    """Build the wheel into ``folder``. Return its path."""
    command = [sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    (wheel,) = folder.glob("*.whl")
    return wheel


def expected() -> Iterator[tuple[str, bytes]]:
    """Yield each file that a wheel of this checkout has, and its content."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True)
    for name in listed.stdout.split("\0"):
        place = next((place for place in PLACES if name.startswith(place)), None)
        if place is not None and (ROOT / name).is_file():
            yield PLACES[place] + name.removeprefix(place), (ROOT / name).read_bytes()


def differences(wheel: Path) -> Iterator[str]:
    """Yield what is in the wheel and not in the checkout, the other way round, or different."""
    with zipfile.ZipFile(wheel) as archive:
        found = {name: archive.read(name) for name in archive.namelist() if ".dist-info/" not in name}
    wanted = dict(expected())
    yield from (f"not in the wheel: {name}" for name in sorted(wanted.keys() - found.keys()))
    yield from (f"only in the wheel: {name}" for name in sorted(found.keys() - wanted.keys()))
    yield from (f"another in the wheel: {name}" for name, body in wanted.items() if found.get(name, body) != body)
    if {name.split("/")[0] for name in found} != TOP_LEVEL:
        yield f"its top-level names are not {sorted(TOP_LEVEL)}"


def commands(folder: Path) -> Iterator[str]:
    """Yield what is wrong with the installed command, as a user without a checkout calls it."""
    home = folder / "home"
    home.mkdir()
    environ = {"PATH": f"{folder / 'venv' / 'bin'}:/usr/bin:/bin", "HOME": str(home)}

    def output(*words: str) -> str:
        done = subprocess.run(words, cwd=home, env=environ, capture_output=True, text=True, check=False)
        return done.stdout if done.returncode == 0 else f"exit status {done.returncode}: {done.stderr}"

    for command in (("pit_fetch",), ("python3", "-m", "pit_fetch")):
        try:
            names = {source["name"] for source in json.loads(output(*command, "--list-sources", "--json"))}
        except (ValueError, TypeError, KeyError):
            names = set()
        if (
            not {
                "bz-news-api",
                "alphavantage",
                "sec_full_text",
                "fred",
                "perplexity",
                "earningscall",
                "yahoo",
                "wayback",
                "wikipedia",
            }
            <= names
        ):
            yield f"{' '.join(command)} lists the sources {sorted(names)}"
    if "created" not in output("pit_fetch", "init"):
        yield "pit_fetch init writes nothing"
    if "sound" not in output("sh", "-c", "pit_fetch archive sample s.db && pit_fetch archive verify --archive s.db"):
        yield "pit_fetch archive sample makes no archive"
    advised = "from pit_fetch.testing.report import failure; print(failure('', 'it-prints'))"
    if "What to do: take the print out" not in output("python3", "-c", advised):
        yield "the author's kit has no advice"
    gate = home / ".claude" / "hooks" / "pit_gate.py"
    if not gate.is_file() or gate.read_bytes() != (ROOT / "hooks" / "pit_gate.py").read_bytes():
        yield "pit_fetch init does not write this checkout's gate"


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        wheel = build(folder)
        venv.create(folder / "venv", with_pip=True)
        python = str(folder / "venv" / "bin" / "python")
        pip = [python, "-m", "pip", "install", "-qq", "--disable-pip-version-check", "--no-compile"]
        packages = [str(wheel), "pytest", "pytest-timeout", "pytest-xdist", "hypothesis", "responses"]
        subprocess.run([*pip, *packages], check=True)
        wrong = [*differences(wheel), *commands(folder)]
        print("\n".join(wrong), end="\n" if wrong else "")
        shutil.copytree(ROOT / "tests", folder / "tests", ignore=shutil.ignore_patterns("repo", "__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", folder)
        tests = [str(Path("tests", "unit", test)) for test in TESTS]
        done = subprocess.run([python, "-m", "pytest", "-n", "auto", *tests], cwd=folder, check=False)
        return int(bool(wrong) or done.returncode != 0)


if __name__ == "__main__":
    sys.exit(main())
