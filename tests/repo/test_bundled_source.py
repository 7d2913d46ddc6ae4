"""A source added to a copy of the checkout, in the places that docs/bundled-source.md lists, is like the others."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pit_fetch.cli.commands.new_provider import files

ROOT = Path(__file__).resolve().parents[2]
NAME = "throwaway"
FOLDER, TESTS = f"providers/pit_fetch_providers/{NAME}", f"tests/providers/{NAME}"

# The tests of every bundled source, beside its own.
OF_EVERY_SOURCE = (
    "tests/providers/test_fleet.py",
    "tests/repo/test_documents.py",
    "tests/repo/test_public_surface.py",
    "tests/repo/test_seal.py",
    "tests/unit/engine/test_registry.py::test_the_table_of_bundled_sources_agrees_with_the_providers",
    f"tests/unit/hooks/test_guard.py::test_an_adapter_may_use_every_option_of_its_source[{NAME}]",
)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = tmp_path_factory.mktemp("checkout")
    for name in tracked():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copy / name)
    package = {
        path: text.replace(f"pit_fetch_{NAME}", f"pit_fetch_providers.{NAME}") for path, text in files(NAME).items()
    }
    added = {
        f"{FOLDER}/__init__.py": package[f"pit_fetch_{NAME}/__init__.py"],
        f"{TESTS}/__init__.py": "",
        f"{TESTS}/test_suite.py": package[f"tests/test_{NAME}.py"],
        f"{TESTS}/reply.json": package["tests/reply.json"],
        f"docs/{NAME}.md": "# throwaway\n\n`PIT_FETCH_THROWAWAY_URL` replaces `https://api.example.com`.\n\n"
        "<!-- declared -->\n<!-- /declared -->\n",
    }
    for path in ("agents/fred.md", "skills/fred-queries/SKILL.md"):
        added[path.replace("fred", NAME)] = (ROOT / path).read_text().replace("fred", NAME)
    for path, text in added.items():
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        (copy / path).write_text(text)
    row = f'    ("{NAME}",): "pit_fetch_providers.{NAME}:PROVIDER",\n'
    insert(copy / "pit_fetch/engine/registry.py", row, before="}\nBUNDLED_NAMES = ")
    insert(
        copy / "README.md",
        f"| [`{NAME}`](docs/{NAME}.md) | announcements | no key |\n",
        before="\nAny package can add a source.",
    )
    insert(copy / "mkdocs.yml", f"    - docs/{NAME}.md\n", before="    - docs/neo4j.md\n")
    process(copy, "-m", "tests.repo.seal")
    return copy


def tracked() -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True)
    return [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def insert(path: Path, line: str, before: str) -> None:
    text = path.read_text()
    assert text.count(before) == 1
    path.write_text(text.replace(before, line + before))


def process(checkout: Path, *words: str) -> str:
    """Run Python on the copy, and return what it prints. It fails if the process does."""
    roots = os.pathsep.join(str(checkout / root) for root in ("", "providers", "hooks"))
    env = {"PATH": os.environ["PATH"], "HOME": str(checkout), "PYTHONPATH": roots}
    done = subprocess.run([sys.executable, *words], cwd=checkout, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_it_touches_the_places_that_the_page_lists_and_no_other(checkout: Path) -> None:
    page = (ROOT / "docs" / "bundled-source.md").read_text()
    column = "".join(re.findall(r"^\| (.*?) \|", page, re.MULTILINE))
    places = {place.replace("<name>", NAME) for place in re.findall(r"`(.*?)`", column)}
    old = {name: (ROOT / name).read_bytes() for name in tracked()}
    paths = (path for path in checkout.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    new = {path.relative_to(checkout).as_posix(): path.read_bytes() for path in paths}
    touched = {name for name, content in new.items() if old.get(name) != content and not name.startswith(".")}
    assert [
        name for name in touched if not any(f"{name}/".startswith(f"{place.rstrip('/')}/") for place in places)
    ] == []


@pytest.mark.thorough
def test_every_test_of_sources_passes(checkout: Path) -> None:
    process(checkout, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", TESTS, *OF_EVERY_SOURCE)


def test_the_commands_know_it(checkout: Path) -> None:
    assert NAME in process(checkout, "-m", "pit_fetch", "--list-sources")
    assert "--word" in process(checkout, "-m", "pit_fetch", "--source", NAME, "--help")
    assert NAME in process(checkout, "-m", "pit_fetch", "lint")
    words = ("--source", NAME, "--pit", "2024-02-15T16:00:00-05:00", "--input-file", f"{TESTS}/reply.json")
    envelope = json.loads(process(checkout, "-m", "pit_fetch", *words))
    assert [item["title"] for item in envelope["data"]] == ["First"]
