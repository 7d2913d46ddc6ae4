"""Write what follows from other files, in the guard and in documents: ``python -m tests.repo.seal``.

From the providers come the bundled agents (in the guard and in the plugin), their options, the keyword arguments of the
Python API, and which captured requests answer which questions. The shipped patterns come from the files that agents
read, the help from the program, the size and the scores of the leak corpus from its files, and the lines of statements
from their table.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from keyword import iskeyword
from pathlib import Path
from typing import Any

from pit_fetch_providers.sec_facts.lines import LINES, STATEMENTS, SUMS, Statement, cell_names

from pit_fetch.claude_code import bundle
from pit_fetch.engine import registry
from pit_fetch.engine.catalog import markdown, markdown_table
from pit_fetch.provider import Operation, Option, Provider
from pit_fetch.request.options import COMMON_OPTIONS
from pit_fetch.request.values import flag_of
from pit_fetch.support.bundled import load
from tests.neo4j.patterns import PATTERNS

ROOT = Path(__file__).resolve().parents[2]
GUARD, README = ROOT / "hooks" / "pit_guard.py", ROOT / "README.md"
PLUGIN = ROOT / ".claude-plugin" / "plugin.json"
COMMAND, CORPUS, COVERAGE, EVIDENCE, FACTS = (
    ROOT / "docs" / name for name in ("command.md", "corpus.md", "coverage.md", "evidence.md", "sec_facts.md")
)
KEYWORDS = ROOT / "pit_fetch" / "request" / "keywords.py"
CASES = ROOT / "tests" / "corpus"

guard = load("pit_guard")


def digests() -> Mapping[str, str]:
    """Return the digest of each pattern, by the pattern's name."""
    return {name: guard.pattern_digest(block.query) for name, block in PATTERNS.items()}


def sealed_command(text: str) -> str:
    """Return the page of the command, its ``text`` with the help that the program prints."""
    words, env = [sys.executable, "-m", "pit_fetch", "--help"], {**os.environ, "COLUMNS": "100"}
    shown = subprocess.run(words, env=env, capture_output=True, text=True, check=True).stdout
    return _in_block(text, "help", f"```text\n{shown}```\n")


def sealed_readme(text: str) -> str:
    """Return the README's ``text`` with the size and the scores of the leak corpus."""
    in_default_grade = (row for row in _scores()["score"] if "--evidence" not in row["approach"])
    rows = [(row["approach"], _part(row, "leaked"), _part(row, "dropped")) for row in in_default_grade]
    table = markdown_table(("approach", "leaked", "dropped though public"), rows)
    return _with_cases(_in_block(text, "scores", table))


def sealed_corpus(text: str) -> str:
    """Return the page of the leak corpus, its ``text`` with the corpus's size and scores."""
    scores = _scores()
    rows = [
        (row["approach"] + (f" ({row['version']})" if row["version"] else ""), *(row[name] for name in _COLUMNS))
        for row in scores["score"]
    ]
    table = markdown_table(("approach", "leaked", "of", "dropped though public", "of"), rows)
    measured = f"Results of {scores['measured']} (Python {scores['python']}), on {scores['cases']:,} cases:\n\n"
    return _with_cases(_in_block(text, "scores", measured + table))


_COLUMNS = ("leaked", "withheld", "dropped", "public")
_WHOLE = {"leaked": "withheld", "dropped": "public"}


def _scores() -> Any:
    return tomllib.loads((CASES / "scores.toml").read_text(encoding="utf-8"))


def _part(row: Mapping[str, Any], name: str) -> str:
    return f"{row[name]} of {row[_WHOLE[name]]}"


def _with_cases(text: str) -> str:
    """Return ``text``, which says once how many cases the corpus has, with their number."""
    count = sum(len(json.loads(path.read_text(encoding="utf-8"))["cases"]) for path in CASES.glob("*.json"))
    sealed, times = re.subn(r"[0-9,]+(?= (?:small cases|leak cases))", f"{count:,}", text)
    assert times == 1, "the number of cases is not there, or not once"
    return sealed


def _in_block(text: str, name: str, content: str) -> str:
    """Return ``text`` with ``content`` between the marks of a block."""
    before, opening, rest = text.partition(f"<!-- {name} -->\n")
    _, closing, after = rest.partition(f"<!-- /{name} -->")
    assert closing, f"there is no block for {name}"
    return "".join((before, opening, content, closing, after))


def sealed_evidence(text: str) -> str:
    """Return the page of evidence, its ``text`` with what each operation of each source proves and claims, and why."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for provider in map(registry.load, registry.BUNDLED_NAMES):
        for operation in provider.operations:
            row = provider.name, _proof(operation), operation.dating.claims or "-", operation.dating.why
            alike.setdefault(row, []).append(f"`{operation.name}`" if operation.name else "")
    rows = [(source, " ".join(names), *evidence) for (source, *evidence), names in alike.items()]
    return _in_block(text, "operations", markdown_table(("source", "operations", "proved", "claimed", "why"), rows))


def _proof(operation: Operation) -> str:
    if operation.dating.by == "never":
        return "never"
    return operation.dating.rule if operation.dating.by == "record" else "when it is fetched"


def sealed_facts(text: str) -> str:
    """Return the page of sec_facts, its ``text`` with the lines of each statement, and what they are taken from."""
    rows = [(statement, *_line(statement, name)) for statement in STATEMENTS for name in cell_names(statement)]
    return _in_block(text, "lines", markdown_table(("statement", "line", "US GAAP", "IFRS", "else"), rows))


def _line(statement: Statement, name: str) -> Iterator[str]:
    yield f"`{name}`"
    concepts = {
        concept: "**" if concept in line.totals else ""
        for line in LINES[statement]
        if line.name == name
        for concept in line.concepts
    }
    substitutes = [line.substitute.concepts[0] for line in LINES[statement] if line.name == name and line.substitute]
    for taxonomy in ("us-gaap:", "ifrs-full:"):
        yield ", ".join(
            f"{mark}`{concept.removeprefix(taxonomy)}`{mark}"
            for concept, mark in concepts.items()
            if concept.startswith(taxonomy)
        )
    sums = (" + ".join(parts).replace("+ -", "less ") for parts in SUMS[statement].get(name, ()))
    yield "; or ".join([*(f"`{concept.partition(':')[2]}`" for concept in substitutes), *sums])


def sealed_guard(text: str) -> str:
    """Return the guard's ``text`` with its tables as they should be."""
    providers = [registry.load(name) for name in registry.BUNDLED_NAMES]
    options = [option for provider in providers for option in provider.all_options]
    flags = {_name(option) for option in (*COMMON_OPTIONS, *options) if option.kind == "flag"}
    tables = {
        "ADAPTERS": _wrapped(adapters()),
        "SOURCE_OPTIONS": _wrapped(set(map(_name, options))),
        "FLAGS": _wrapped(flags & {*guard.COMMON_OPTIONS, *map(_name, options)}),
        "SOURCES": _wrapped(registry.known_names()),
    }
    for name, lines in tables.items():
        text = _withmarkdown_table(
            text, f"\n{name} = frozenset(\n    {{\n", [f"        {line}\n" for line in lines], "    }\n)"
        )
    patterns = [f'    "{digest}": "{name}",\n' for name, digest in digests().items()]
    return _withmarkdown_table(text, "\nSHIPPED_PATTERNS = {\n", patterns, "}\n")


def adapters() -> list[str]:
    """Return the bundled agents that fetch: each has the name of its source."""
    return sorted(
        Path(name).stem for name in bundle.files() if name.startswith("agents/") and not bundle.is_neo4j(name)
    )


def sealed_plugin(text: str) -> str:
    """Return the plugin's manifest, its ``text`` with the adapters: a list stands in the place of the folder."""
    manifest = {**json.loads(text), "agents": [f"./agents/{agent}.md" for agent in adapters()]}
    return json.dumps(manifest, indent=2) + "\n"


def _withmarkdown_table(text: str, opening: str, lines: Iterable[str], closing: str) -> str:
    before, found, rest = text.partition(opening)
    _, end, after = rest.partition(closing)
    assert found, f"{opening.strip()} is not in the guard"
    assert end, f"{opening.strip()} has no end"
    return "".join((before, opening, *lines, closing, after))


def _name(option: Option) -> str:
    return flag_of(option.name).removeprefix("--")


def _wrapped(names: Iterable[str]) -> list[str]:
    return textwrap.wrap(", ".join(f'"{name}"' for name in sorted(names)) + ",", 112, break_on_hyphens=False)


def sealed_coverage(text: str) -> str:
    """Return the page of coverage, its ``text`` with which captured requests answer which questions, and since when."""
    providers = [registry.load(name) for name in registry.BUNDLED_NAMES]
    covered = markdown_table(("source", *(title for title, _ in _COVERAGE)), map(_coverage, providers))
    chosen = [
        (
            provider.name,
            f"`{operation.name}`",
            " or ".join(f"`{name}`" for name in operation.archiving.chooses_unless) or "-",
        )
        for provider in providers
        for operation in provider.operations
        if operation.archiving.chooses
    ]
    titles = "source", "operation", "answers for the time before the capture with"
    return _in_block(_in_block(text, "coverage", covered), "chosen", markdown_table(titles, chosen))


_MOST_NAMED = 8
_COVERAGE: Sequence[tuple[str, Callable[[Option], bool]]] = (
    ("the same", lambda option: option.affects_records),
    ("none, or no fewer values", lambda option: not option.affects_records and option.covered_by == "superset"),
    ("set, if the question sets it", lambda option: not option.affects_records and option.covered_by == "evidence"),
    ("any", lambda option: not option.affects_records and option.covered_by == "any"),
)


def _coverage(provider: Provider) -> list[str]:
    # A name is covered as what it stands for.
    named = [option for option in provider.all_options if not option.stands_for]
    cells = [[_spellings(option, provider) for option in named if is_of(option)] for _, is_of in _COVERAGE]
    return [provider.name, *(", ".join(cell) if len(cell) <= _MOST_NAMED else "all others" for cell in cells)]


def _spellings(option: Option, provider: Provider) -> str:
    names = [option.name, *(other.name for other in provider.all_options if other.stands_for == option.name)]
    return " or ".join(f"`{name}`" for name in names)


def sealed_keywords(text: str) -> str:
    """Return the module of keyword arguments, its ``text`` with the options of all bundled sources."""
    providers = [registry.load(name) for name in registry.BUNDLED_NAMES]
    common = {option.name for option in COMMON_OPTIONS}
    types: dict[str, set[str]] = {}
    for option in (option for provider in providers for option in provider.all_options if option.name not in common):
        types.setdefault(option.name, set()).add(_type(option))
    named = ((name, " | ".join(sorted(kinds))) for name, kinds in sorted(types.items()) if not iskeyword(name))
    rows = "".join(f"    {name}: {kinds} | None\n" for name, kinds in named)
    before, opening, rest = text.partition("    # <sealed>\n")
    _, closing, after = rest.partition("    # </sealed>")
    return f"{before}{opening}{rows}{closing}{after}"


def _type(option: Option) -> str:
    if option.metavar == "PATH":
        return "Path"
    is_date = option.metavar in ("DATE", "YYYY-MM-DD")
    return "Texts" if option.repeatable else "Instant" if is_date else _TYPES[option.kind]


_TYPES = {
    "text": "Text",
    "list": "Texts",
    "integer": "int",
    "number": "float",
    "instant": "Instant",
    "flag": "bool",
}


def page_of(name: str) -> Path:
    """Return the page of a bundled source."""
    return ROOT / "docs" / f"{name.replace('-', '_')}.md"


def sealed_page(name: str) -> Callable[[str], str]:
    """Return what seals the page of a source: its ``text`` with the tables of ``pit_fetch sources NAME --markdown``."""
    return lambda text: _in_block(text, "declared", markdown(registry.load(name)))


SEALED: Mapping[Path, Callable[[str], str]] = {
    GUARD: sealed_guard,
    PLUGIN: sealed_plugin,
    README: sealed_readme,
    COMMAND: sealed_command,
    CORPUS: sealed_corpus,
    COVERAGE: sealed_coverage,
    EVIDENCE: sealed_evidence,
    KEYWORDS: sealed_keywords,
    **{page_of(name): sealed_page(name) for name in registry.BUNDLED_NAMES},
    FACTS: lambda text: sealed_facts(sealed_page("sec_facts")(text)),
}


def main() -> None:
    for path, sealed in SEALED.items():
        path.write_text(sealed(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
