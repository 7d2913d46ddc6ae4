"""Checks of how a provider behaves: what its import costs, which hosts it asks, and that no secret gets out."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import get_args

from pit_fetch.engine.registry import problem_with_options
from pit_fetch.errors import ConfigError
from pit_fetch.net.hosts import base_url
from pit_fetch.provider import CoveredBy, FieldKind, OptionKind, Provider
from pit_fetch.request.operations import OPTION
from pit_fetch.support.redaction import REDACTED
from pit_fetch.testing.case import Case, ObservedRun, failure, substitute
from pit_fetch.testing.comparison import holds
from pit_fetch.testing.recording import RecordedReply
from pit_fetch.testing.runner import Refused, observe
from pit_fetch.testing.server import Response

# Each costs an agent's call more than the rest of the start-up.
HEAVY = ("asyncio", "email", "http", "importlib.metadata", "multiprocessing", "sqlite3", "ssl", "unittest")

# They open connections below Python, where no audit event tells of them.
_NATIVE = frozenset({"curl_cffi", "grpc", "hrequests", "primp", "pycurl", "rnet", "tls_client", "tls_requests"})

_PROBE = """
import json, sys
import pit_fetch.provider, pit_fetch.times, pit_fetch.wire
before = set(sys.modules)
__import__(sys.argv[1])
print(json.dumps(sorted(set(sys.modules) - before)))
"""
# Prints what the author's code asks while it is imported.
_WATCHED = """
import json, sys
from pit_fetch.testing import sandbox, state
own = state.Authors(frozenset({sys.argv[1].partition(".")[0]}))
with sandbox.opened(own) as files, sandbox.consulted(own) as asked:
    __import__(sys.argv[1])
print(json.dumps([*dict.fromkeys([*asked, *files])]))
"""


def check_import(provider: Provider) -> None:
    """Check that the provider's module imports nothing heavy: it is imported on each call, --help included."""
    module = provider.fetch.__module__
    own = module.partition(".")[0]
    imported = [name for name in _run_alone(module, _PROBE) if name.partition(".")[0] not in (own, "pit_fetch")]
    if heavy := sorted({package for name in imported if (package := _heavy_package(name))}):
        raise failure(
            f"importing {module} also imports {', '.join(heavy)}",
            "move that import into the function that needs it: every call pays for it, --help included",
        )


def check_import_asks_nothing(provider: Provider) -> None:
    """Check that importing the module asks nothing: the machine would decide about each answer from then on."""
    module = provider.fetch.__module__
    if asked := _run_alone(module, _WATCHED):
        raise failure(
            f"importing {module} asks {', '.join(asked)}",
            "read no environment, no clock and no file at module level: what a user sets is an Option, a Credential, "
            "a File, or the url_variable of a Host",
        )


@cache
def _run_alone(module: str, code: str) -> list[str]:
    """Return what ``code`` prints about ``module`` in a process of its own, shared by the suites of its operations."""
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(path or os.curdir for path in sys.path)}
    done = subprocess.run(  # noqa: S603 - this interpreter, on a module that is already imported
        [sys.executable, "-c", code, module], env=environ, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise failure(f"{module} cannot be imported alone:\n{done.stderr}", "keep the provider in a module of its own")
    names: list[str] = json.loads(done.stdout.splitlines()[-1])
    return names


def check_declarations(provider: Provider) -> None:
    """Check that options, operations and fields are declared in words that mean something: others are passed over."""
    options = {option.name for option in provider.options}
    if problem := problem_with_options(provider):
        raise failure(f"the provider {problem}", "give each option a name that no other one has")
    for option in provider.options:
        _check_word(f"option {option.name}", "kind", option.kind, get_args(OptionKind))
        _check_word(f"option {option.name}", "covered_by", option.covered_by, get_args(CoveredBy))
        _check_word(f"option {option.name}", "stands_for", option.stands_for, ("", *sorted(options)))
    for operation in provider.operations:
        owner = f"operation {operation.name}" if operation.name else "operation"
        names = [field.name for field in operation.fields]
        for field in operation.fields:
            _check_word(f"field {field.name}", "kind", field.kind, get_args(FieldKind))
        for name in (*operation.needs, *operation.takes):
            _check_word(owner, "option", name, sorted(options))
        for name in operation.chooses_unless:
            taken = {*operation.needs, *operation.takes} or options
            _check_word(owner, "option", name, sorted(taken))
        for place in ("window", "period"):
            value = getattr(operation, place)
            if isinstance(value, str) and value and names:
                _check_word(owner, place, value, ["available_on", *names] if place == "window" else names)
    credentials = sorted(credential.name for credential in provider.credentials)
    for host in provider.hosts:
        if host.auth is not None:
            _check_word(f"host {host.name}", "credential", host.auth.credential, credentials)


def _check_word(owner: str, place: str, word: str, known: Sequence[str]) -> None:
    if word not in known:
        advice = f"write one of {', '.join(known)}" if known else f"declare it: the provider has no {place}"
        raise failure(f"the {owner} has the {place} {word!r}", advice)


def check_operations(case: Case) -> None:
    """Check that a provider with several operations has the option that names one, and that it takes the request."""
    provider = case.provider
    options = sorted({option.name for option in provider.options})
    if len(provider.operations) > 1 and OPTION not in options:
        names = ", ".join(operation.name for operation in provider.operations)
        raise failure(
            f"the provider has several operations ({names}), and no option that names one",
            f'declare Option("{OPTION}", "{names}", positional="one"), and name the operation in the test: '
            f'options = {{"{OPTION}": "{provider.operations[0].name}"}}',
        )
    try:
        observe(case, case.now)
    except Refused as error:
        raise failure(
            str(error),
            "give options as pit_fetch.fetch takes them: the provider's "
            f"({', '.join(options) or 'none'}) and the common ones",
        ) from None


def check_hosts(case: Case) -> None:
    """Check that hosts are declared, over https, and asked through ``context.http`` only."""
    for host in case.provider.hosts:
        try:
            base_url(host, {})
        except ConfigError:
            raise failure(f"the URL of host {host.name} is {host.url!r}", "give https://HOST without a path") from None
        if not host.url_variable.startswith("PIT_FETCH_") or not host.url_variable.endswith("_URL"):
            raise failure(
                f"the url_variable of host {host.name} is {host.url_variable!r}",
                "name it PIT_FETCH_<SOURCE>_URL: it points tests and proxies elsewhere",
            )
    for run in (observe(case, case.now), observe(case, case.now, offline=True)):
        if run.reached_out:
            raise failure(
                f"the provider goes around what it is given ({run.reached_out[0]}): no deadline, no rate limit and no "
                "retry holds there, and nothing records it",
                "ask declared hosts through context.http.get or .post, and with a library of its own HTTP through "
                "context.load; read a File of Provider.files by context.file, and write none",
            )
    if native := sorted(_native_libraries(case)):
        raise failure(
            f"the provider's code imports {', '.join(native)}, which reaches the network by itself, and does not use "
            "context.load",
            "hand the library's call to context.load(host, path, params, call)",
        )


def check_secrets(recording: RecordedReply) -> None:
    """Check that no credential is in a record, a gap, an error or a log, even where the server repeats it."""
    case = recording.case
    echo = " ".join(case.secrets).encode()
    runs = {
        "on the recorded reply": recording.baseline,
        "when the server refuses": observe(case, case.now, wire=substitute(Response(b'{"e": "no"}', 401))),
        "when the server fails": observe(case, case.now, wire=substitute(Response(b"failed", 500))),
        "when the reply is malformed": observe(case, case.now, wire=substitute(Response(b"<html>"))),
        "in open mode": observe(case, None),
    }
    advice = "never put a credential, nor the URL of a request, into an id, a payload, a gap or an exception"
    for when, run in runs.items():
        if any(_contains(run, secret) for secret in case.secrets):
            raise failure(f"a credential gets out {when}", advice)
        if case.secrets and REDACTED in run.out + run.err:
            raise failure(f"the framework had to redact a credential {when}", advice)
    for status in (200, 401, 403, 500):
        run = observe(case, case.now, wire=substitute(Response(echo, status)))
        if any(secret in run.out + run.err for secret in case.secrets):
            raise failure("a credential gets out when the server repeats it", "tell errors in words of your own")


def _native_libraries(case: Case) -> set[str]:
    """Return the libraries around Python's own sockets that the author's code imports, if it loads nothing."""
    names: set[str] = set()
    for module in case.state.modules:
        file = Path(getattr(sys.modules.get(module), "__file__", None) or "")
        if file.suffix != ".py":
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr == "load" and ast.unparse(node) == "context.load":
                return set()
            if isinstance(node, ast.Import):
                names.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                names.add(node.module or "")
            elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                called = getattr(node.func, "attr", getattr(node.func, "id", ""))
                names.update([str(node.args[0].value)] if called in ("import_module", "__import__") else ())
    return {name.partition(".")[0] for name in names} & _NATIVE


def _heavy_package(name: str) -> str:
    top = name.partition(".")[0]
    if top not in sys.stdlib_module_names:
        return top
    return next((heavy for heavy in HEAVY if name == heavy or name.startswith(f"{heavy}.")), "")


def _contains(run: ObservedRun, secret: str) -> bool:
    """Return whether the secret is in what leaves, or in a record, as it is or as a URL spells it."""
    records = [(record.id, json.dumps(dict(record.payload), default=str)) for record in run.records]
    return holds("".join(map(str, (run.out, run.err, run.printed, *records))), secret)
