"""Checks of how a provider behaves: what its import costs, whom it asks, and that no secret gets out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from urllib.parse import quote, urlsplit

from pit_fetch.credentials import REDACTED
from pit_fetch.errors import ConfigError
from pit_fetch.http import base_url
from pit_fetch.testing.case import Case, Seen, failure
from pit_fetch.testing.program import baseline, look

# Each costs an agent's call more than the rest of the start-up together.
HEAVY = ("asyncio", "email", "http", "importlib.metadata", "multiprocessing", "sqlite3", "ssl", "unittest")

_PROBE = """
import json, sys
import pit_fetch.provider, pit_fetch.times, pit_fetch.wire
before = set(sys.modules)
__import__(sys.argv[1])
print(json.dumps(sorted(set(sys.modules) - before)))
"""


def check_import(case: Case) -> None:
    """Importing the provider's module brings in nothing heavy: it happens on each call, --help included."""
    module = case.provider.fetch.__module__
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(path or os.curdir for path in sys.path)}
    done = subprocess.run(  # noqa: S603 - this interpreter, on a module that is already imported
        [sys.executable, "-c", _PROBE, module], env=environ, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise failure(f"{module} cannot be imported alone:\n{done.stderr}", "keep the provider in a module of its own")
    own = module.partition(".")[0]
    imported = [name for name in json.loads(done.stdout) if name.partition(".")[0] not in (own, "pit_fetch")]
    heavy = sorted({one for name in imported if (one := _heavy(name))})
    if heavy:
        raise failure(
            f"importing {module} also imports {', '.join(heavy)}",
            "move that import into the function that needs it: every call pays for it, --help included",
        )


def check_hosts(case: Case) -> None:
    """Hosts are declared, over https, and every request goes to one of them through ``context.http``."""
    declared = {}
    for host in case.provider.hosts:
        try:
            declared[urlsplit(base_url(host, {})).hostname] = host.name
        except ConfigError:
            raise failure(f"the URL of host {host.name} is {host.url!r}", "give https://HOST without a path") from None
        if not host.override.startswith("PIT_FETCH_") or not host.override.endswith("_URL"):
            raise failure(
                f"the override of host {host.name} is {host.override!r}",
                "name it PIT_FETCH_<SOURCE>_URL: it points tests and proxies elsewhere",
            )
    seen = look(case, case.now)
    if seen.sockets:
        raise failure(f"the provider opens a socket of its own ({seen.sockets[0]})", "ask through context.http.get")
    for request, _ in seen.exchanges:
        if request.host not in declared:
            raise failure(
                f"the provider asks {request.host}, which it does not declare", "declare it in Provider.hosts"
            )
    if len(seen.exchanges) != seen.audit["requests"]:
        raise failure(
            "a request went around context.http: no deadline, no rate limit and no retry holds for it",
            "ask through context.http.get(host, path, params)",
        )


def check_secrets(case: Case) -> None:
    """No credential is in a record, a gap, an error or a log, even where the server repeats it."""
    echo = " ".join(case.secrets).encode()
    runs = {
        "on the recorded reply": baseline(case),
        "when the server refuses": look(case, case.now, wire=lambda request, answer: (401, {}, b'{"e": "no"}')),
        "when the server fails": look(case, case.now, wire=lambda request, answer: (500, {}, b"failed")),
        "when the reply is malformed": look(case, case.now, wire=lambda request, answer: (200, {}, b"<html>")),
        "in open mode": look(case, None),
    }
    for when, seen in runs.items():
        for secret in case.secrets:
            if _holds(seen, secret):
                raise failure(
                    f"a credential gets out {when}",
                    "never put a credential, nor the URL of a request, into an id, a payload, a gap or an exception",
                )
        if case.secrets and REDACTED in "".join(map(str, seen.leaves)):
            raise failure(
                f"the framework had to redact a credential {when}",
                "never put a credential, nor the URL of a request, into an id, a payload, a gap or an exception",
            )
    for status in (200, 401, 403, 500):
        seen = look(case, case.now, wire=lambda request, answer, s=status: (s, {}, echo))  # type: ignore[misc]
        if any(secret in "".join(map(str, seen.leaves)) for secret in case.secrets):
            raise failure("a credential gets out when the server repeats it", "tell errors in words of your own")


def _heavy(name: str) -> str:
    top = name.partition(".")[0]
    if top not in sys.stdlib_module_names:
        return top
    return next((heavy for heavy in HEAVY if name == heavy or name.startswith(f"{heavy}.")), "")


def _holds(seen: Seen, secret: str) -> bool:
    """Whether the secret is in what leaves, or in a record, as it is or as a URL spells it."""
    records = [(record.id, json.dumps(dict(record.payload), default=str)) for record in seen.records]
    text = "".join(map(str, (*seen.leaves, seen.printed, *records)))
    return secret in text or quote(secret, safe="") in text
