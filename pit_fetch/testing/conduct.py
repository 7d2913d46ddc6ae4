"""Checks of how a provider behaves: what it declares, imports and asks, its secrets, and what it rests on."""

from __future__ import annotations

import ast
import contextlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import cache, partial
from pathlib import Path
from typing import Any, get_args
from unittest.mock import patch

from pit_fetch.engine.registry import problem_with_options
from pit_fetch.errors import ConfigError
from pit_fetch.net.hosts import base_url
from pit_fetch.provider import CoveredBy, FieldKind, HeaderKey, OptionKind, Provider
from pit_fetch.support.redaction import REDACTED
from pit_fetch.testing.comparison import first_difference, holds
from pit_fetch.testing.findings import Findings, drop, edited
from pit_fetch.testing.observe import Case, Refused, middle_pit, observe, pits_before, substitute
from pit_fetch.testing.report import failure
from pit_fetch.testing.server import Response
from pit_fetch.testing.worlds import say_otherwise

# Each costs an agent's call more than the rest of the start-up.
HEAVY = ("asyncio", "email", "http", "importlib.metadata", "multiprocessing", "sqlite3", "ssl", "unittest")
# They open connections below Python, where no audit event tells of them.
_NATIVE = re.compile(r"\b(curl_cffi|grpc|hrequests|primp|pycurl|rnet|tls_client|tls_requests)\b")
# Prints what importing a module imports besides, and, when it is imported once more, what the author's code asks.
_PROBE = """
import json, sys
import pit_fetch.provider, pit_fetch.times, pit_fetch.wire
before = set(sys.modules)
__import__(sys.argv[1])
imported = sorted(set(sys.modules) - before)
from pit_fetch.testing import sandbox, state
own = sys.argv[1].partition(".")[0]
for name in [name for name in sys.modules if name.partition(".")[0] == own]:
    del sys.modules[name]
with sandbox.consulted(state.Authors(frozenset({own}))) as asked:
    __import__(sys.argv[1])
print(json.dumps([imported, [*dict.fromkeys(asked)]]))
"""
# Odd enough that no rounding hides them.
_WAITS = (
    timedelta(seconds=1, microseconds=1),
    timedelta(days=100, hours=7, minutes=13),
    timedelta(days=500, hours=11, minutes=29),
)
_ELSEWHERE: Mapping[str, str] = {
    "TZ": "Pacific/Kiritimati", "USER": "kit", "LOGNAME": "kit", "HOME": "/nonexistent", "LANG": "C", "LC_ALL": "C",
    "HOSTNAME": "kit", "PWD": "/", "PYTHONHASHSEED": "1", "DEBUG": "1", "ENV": "test",
}  # fmt: skip


# --- declarations


def check_declarations(provider: Provider) -> None:
    """Check that options, operations and fields are declared in words that mean something: others are passed over."""
    options = sorted(option.name for option in provider.all_options)
    if problem := problem_with_options(provider):
        raise failure(f"the provider {problem}", "option-names")
    for option in provider.all_options:
        owner = f"option {option.name}"
        _check_word(owner, "kind", option.kind, get_args(OptionKind))
        _check_word(owner, "covered_by", option.covered_by, get_args(CoveredBy))
        _check_word(owner, "stands_for", option.stands_for, ("", *options))
        fields = [field.name for operation in provider.operations for field in operation.fields]
        if fields:
            _check_word(owner, "field", option.field, ("", *fields))
    for operation in provider.operations:
        owner = f"operation {operation.name}".strip()
        names = [field.name for field in operation.fields]
        taken = [*operation.needs, *operation.takes]
        for field in operation.fields:
            _check_word(f"field {field.name}", "kind", field.kind, get_args(FieldKind))
        for name in taken:
            _check_word(owner, "option", name, options)
        for name in operation.archiving.chooses_unless:
            _check_word(owner, "option", name, sorted(taken) or options)
        if operation.window and names:
            _check_word(owner, "window", operation.window, ["available_at", "available_on", "select", *names])
        if operation.period and names:
            _check_word(owner, "period", operation.period, names)
    for host in provider.hosts:
        auth, known = host.auth, sorted(credential.name for credential in provider.credentials)
        while auth is not None:
            _check_word(f"host {host.name}", "credential", auth.credential, known)
            auth = auth.beside if isinstance(auth, HeaderKey) else None


def _check_word(owner: str, place: str, word: str, known: Sequence[str]) -> None:
    if word not in known:
        advice = "declared-word" if known else "not-declared"
        raise failure(f"the {owner} has the {place} {word!r}", advice, known=", ".join(known), place=place)


def check_operations(case: Case) -> None:
    """Check that the provider takes the request."""
    options = sorted({option.name for option in case.provider.all_options})
    try:
        observe(case, case.now)
    except Refused as error:
        raise failure(str(error), "options-of-the-test", options=", ".join(options) or "none") from None


# --- its import


def check_import(provider: Provider) -> None:
    """Check that the provider's module imports nothing heavy: it is imported on each call, --help included."""
    module = provider.operations[0].fetch.__module__
    own = module.partition(".")[0]
    imported = [name for name in _probed(module)[0] if name.partition(".")[0] not in (own, "pit_fetch")]
    if heavy := sorted({package for name in imported if (package := _heavy_package(name))}):
        raise failure(f"importing {module} also imports {', '.join(heavy)}", "heavy-import")


def check_import_asks_nothing(provider: Provider) -> None:
    """Check that importing the module asks nothing: the machine would decide about each answer from then on."""
    module = provider.operations[0].fetch.__module__
    if asked := _probed(module)[1]:
        raise failure(f"importing {module} asks {', '.join(asked)}", "import-that-asks")


@cache
def _probed(module: str) -> tuple[list[str], list[str]]:
    """Return what importing a module imports and asks, in a process of its own."""
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(path or os.curdir for path in sys.path)}
    done = subprocess.run(  # noqa: S603 - this interpreter, on a module that is already imported
        [sys.executable, "-c", _PROBE, module], env=environ, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise failure(f"{module} cannot be imported alone:\n{done.stderr}", "module-of-its-own")
    imported, asked = json.loads(done.stdout.splitlines()[-1])
    return imported, asked


def _heavy_package(name: str) -> str:
    top = name.partition(".")[0]
    if top not in sys.stdlib_module_names:
        return top
    return next((heavy for heavy in HEAVY if name == heavy or name.startswith(f"{heavy}.")), "")


# --- its hosts and secrets


def check_hosts(case: Case) -> None:
    """Check that hosts are declared, over https, and asked through ``context.http`` only."""
    for host in case.provider.hosts:
        try:
            base_url(host, {})
        except ConfigError:
            raise failure(f"the URL of host {host.name} is {host.url!r}", "url-of-a-host") from None
        if not host.url_variable.startswith("PIT_FETCH_") or not host.url_variable.endswith("_URL"):
            raise failure(f"the url_variable of host {host.name} is {host.url_variable!r}", "url-variable")
    for run in (observe(case, case.now), observe(case, case.now, offline=True)):
        if run.reached_out:
            raise failure(f"the provider goes around what it is given ({run.reached_out[0]})", "around-the-client")
    if native := _native_libraries(case):
        problem = "which reaches the network by itself, and does not use context.load"
        raise failure(f"the provider's code imports {', '.join(native)}, {problem}", "around-the-client")


def _native_libraries(case: Case) -> list[str]:
    """Return the libraries around Python's own sockets that the author's code imports, if it loads nothing."""
    files = [Path(getattr(sys.modules.get(module), "__file__", None) or "") for module in case.state.modules]
    nodes = [node for file in files if file.suffix == ".py" for node in ast.walk(ast.parse(file.read_text("utf-8")))]
    if any(isinstance(node, ast.Attribute) and ast.unparse(node) == "context.load" for node in nodes):
        return []
    imports = (ast.unparse(node) for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom, ast.Call)))
    return sorted({name for line in imports if "import" in line for name in _NATIVE.findall(line)})


def check_secrets(findings: Findings) -> None:
    """Check that no credential is in a record, a gap, an error or a log, even where the server repeats it."""
    case = findings.case
    echo = " ".join(case.secrets).encode()
    runs = {
        "on the recorded reply": findings.baseline,
        "when the server refuses": observe(case, case.now, wire=substitute(Response(b'{"e": "no"}', 401))),
        "when the server fails": observe(case, case.now, wire=substitute(Response(b"failed", 500))),
        "when the reply is malformed": observe(case, case.now, wire=substitute(Response(b"<html>"))),
        "in open mode": observe(case, None),
    }
    for when, run in runs.items():
        records = [(record.id, json.dumps(dict(record.payload), default=str)) for record in run.records]
        everything = "".join(map(str, (run.out, run.err, run.printed, *records)))
        if any(holds(everything, secret) for secret in case.secrets):
            raise failure(f"a credential gets out {when}", "secrets")
        if case.secrets and REDACTED in run.out + run.err:
            raise failure(f"the framework had to redact a credential {when}", "secrets")
    for status in (200, 401, 403, 500):
        run = observe(case, case.now, wire=substitute(Response(echo, status)))
        if any(secret in run.out + run.err for secret in case.secrets):
            raise failure("a credential gets out when the server repeats it", "words-of-your-own")


# --- what an answer may not rest on: earlier runs, the hour of the day, the machine, its environment


def check_state(findings: Findings) -> None:
    """Check that a run leaves nothing behind that changes the next one: each real call is a process of its own."""
    # In the middle, and before everything: an empty answer has words of its own.
    case, baseline = findings.case, findings.baseline
    otherwise = edited(case, partial(say_otherwise, findings))
    for pit in dict.fromkeys((middle_pit(baseline), pits_before(baseline)[0])):
        without = edited(case, partial(drop, rows=findings.late(pit)))
        questions: dict[str, Mapping[str, Any]] = {
            "at a later PIT": {"pit": case.now},
            "without a PIT": {"pit": None, "fresh": False},
            "of a source that said more": {"pit": pit, "fresh": False},
            "of a source that said otherwise": {"pit": case.now, "world": otherwise},
        }
        for world in (without, case.source.recorded):
            alone = observe(case, pit, world=world)
            for question, asked in questions.items():
                observe(case, **asked)
                after = observe(case, pit, world=world, fresh=False)
                difference = first_difference(alone, after)
                if len(after.exchanges) < len(alone.exchanges):
                    difference = f"it asks the source {len(after.exchanges)} times, and not {len(alone.exchanges)}"
                if difference:
                    problem = f"at the PIT {pit} the output is another one after a question {question}"
                    raise failure(f"{problem}:\n{difference}", "keep-nothing")


def check_surroundings(findings: Findings) -> None:
    """Check that a question has one answer, at any hour and on any machine."""
    case = findings.case
    for pit in {middle_pit(findings.baseline), case.now}:
        here = observe(case, pit, watched=True)
        if here.consulted:
            raise failure(f"the provider asks {', '.join(here.consulted)}", "one-answer-to-a-question")
        with _elsewhere():
            there = observe(case, pit)
        others = {"again": observe(case, pit), "on another machine": there}
        for wait in () if findings.snapshots else _WAITS:
            others[f"{wait} later"] = observe(replace(case, now=case.now + wait), pit)
        for where, other in others.items():
            if difference := first_difference(here, other):
                problem = f"the same question, asked {where}, has another answer"
                raise failure(f"{problem}:\n{difference}", "one-answer-to-a-question")


@contextlib.contextmanager
def _elsewhere() -> Iterator[None]:
    """Run the block in the environment of another machine, in another zone."""
    try:
        with patch.dict(os.environ, _ELSEWHERE):
            _set_zone()
            yield
    finally:
        _set_zone()


def _set_zone() -> None:
    if hasattr(time, "tzset"):
        time.tzset()
