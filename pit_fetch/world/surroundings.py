"""What a command of a run finds around it: its variables, the certificates it trusts, its clock, and what is hidden."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from glob import glob
from importlib.util import find_spec
from typing import Any

from pit_fetch.errors import ConfigError
from pit_fetch.gaps import Code

# Bundles of certificates of systems, and of packages in an environment of Python.
_BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt", "/etc/ssl/cert.pem", "/etc/ssl/ca-bundle.pem", "/usr/lib/ssl/cert.pem",
    "/etc/pki/tls/certs/ca-bundle.crt", "/etc/pki/tls/cert.pem", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
)  # fmt: skip
_PACKAGED = (
    "certifi/cacert.pem",
    "pip/_vendor/certifi/cacert.pem",
    "botocore/cacert.pem",
    "grpc/_cython/_credentials/roots.pem",
)
_TRUST = (
    "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "AWS_CA_BUNDLE", "PIP_CERT",
    "GIT_SSL_CAINFO", "DENO_CERT", "HTTPLIB2_CA_CERTS", "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
)  # fmt: skip
_PROXIES = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "all_proxy")
# Files that hold what came after the instant.
_OWN = ("PIT_FETCH_ARCHIVE", "PIT_FETCH_RECORD", "PIT_FETCH_AUDIT")
# Where programs put the sockets by which others ask them for something.
EMPTY = ("/run", "/var/run", "/tmp/.X11-unix", "/tmp/.ICE-unix")  # noqa: S108
# No IPv6: what answers there listens at 127.0.0.1.
_RESOLVER = {"resolv.conf": "nameserver 127.0.0.1\n", "hosts": "127.0.0.1 localhost\n"}
# What is known of packages that bring along what came later.
_BROUGHT = {
    "edgartools": "today's tickers and company names are files of the package",
    "exchange_calendars": "holidays and closures that were decided later are in its tables",
    "pandas_market_calendars": "holidays and closures that were decided later are in its tables",
    "financedatabase": "its lists of companies and funds are of the day on which it was built",
}


def variables(environ: Mapping[str, str], proxy: str, bundle: str, clock: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of the command. Those of libraries that name a proxy or certificates are replaced."""
    kept = {name: value for name, value in environ.items() if name not in _OWN}
    preload = ":".join(filter(None, (clock.get("LD_PRELOAD"), environ.get("LD_PRELOAD"))))
    added = {**dict.fromkeys(_PROXIES, proxy), **dict.fromkeys(_TRUST, bundle), **clock}
    local = dict.fromkeys(("no_proxy", "NO_PROXY"), "localhost,127.0.0.1,::1")
    return {**kept, **added, **local, "NODE_USE_ENV_PROXY": "1", **({"LD_PRELOAD": preload} if preload else {})}


def clock_variables(pit: datetime, now: datetime) -> dict[str, str]:
    """Return the variables that set the clock of a program to ``pit``, moving. Raise ConfigError without the library.

    The time since a start (CLOCK_MONOTONIC) stays the machine's, or waits would not end. The library is that of the
    package: under Debian's of 2023 (0.9.10) ``time.sleep`` of Python 3.11 fails, or ``Event.wait`` hangs.
    """
    package = find_spec("libfaketime")
    folder = os.path.dirname(package.origin or "") if package else ""
    library = f"{folder}/vendor/libfaketime/src/libfaketime.so.1"
    # The linker would only warn of a library of another machine, and the program would see the true time.
    if not os.path.isfile(library) or _machine(library) != _machine(sys.executable):
        raise ConfigError(Code.DEPENDENCY_MISSING, package="libfaketime")
    names = ("FAKETIME_DONT_FAKE_MONOTONIC", "DONT_FAKE_MONOTONIC")
    offset = (pit - now).total_seconds()
    return {"LD_PRELOAD": library, "FAKETIME": f"{offset:+.6f}", **dict.fromkeys(names, "1")}


def _machine(path: str) -> bytes:
    """Return what the head of an ELF file says of its machine: the width, the order of bytes, and the instructions."""
    with open(path, "rb") as file:
        head = file.read(20)
    return head[4:6] + head[18:20]


def write_bundle(folder: str, pem: bytes) -> str:
    """Write the certificates of the system and that of the run into ``folder``. Return the file's path."""
    path = os.path.join(folder, "certificates.pem")
    system = next(filter(os.path.isfile, _BUNDLES), None)
    with open(path, "wb") as file:
        if system is not None:
            with open(system, "rb") as source:
                shutil.copyfileobj(source, file)
        file.write(b"\n" + pem)
    return path


def environments(command: str, environ: Mapping[str, str], folder: str) -> list[str]:
    """Return the folders of packages that Python programs may load: the command's own, and those on the PATH."""
    program = shutil.which(command, path=environ.get("PATH")) or os.path.join(folder, command)
    places = [
        os.path.dirname(program),
        os.path.dirname(os.path.realpath(program)),
        os.path.dirname(_interpreter(program)),
    ]
    places += environ.get("PATH", "").split(os.pathsep)
    prefixes = [os.path.dirname(os.path.abspath(place)) for place in places if place]
    prefixes += [*(environ.get(name, "") for name in ("VIRTUAL_ENV", "CONDA_PREFIX")), os.path.join(folder, ".venv")]
    prefixes.append(os.path.join(environ.get("HOME", ""), ".local"))
    patterns = ("lib/python3*/site-packages", "lib/python3*/dist-packages", "lib/python3/dist-packages")
    found = (
        path for prefix in dict.fromkeys(prefixes) if prefix for each in patterns for path in glob(f"{prefix}/{each}")
    )
    return list(dict.fromkeys((*found, *filter(None, environ.get("PYTHONPATH", "").split(os.pathsep)))))


def _interpreter(program: str) -> str:
    """Return the interpreter that the first line of a script names; "" for none."""
    with contextlib.suppress(OSError), open(program, "rb") as file:
        match = re.match(rb"#!\s*(/\S+)", file.readline(300))
        return os.fsdecode(match[1]) if match else ""
    return ""


def brought_along(packages: Iterable[str]) -> list[dict[str, str]]:
    """Return what is known of the packages in these folders that bring along what came later."""
    return [
        {"package": name, "what": what}
        for name, what in _BROUGHT.items()
        if any(glob(f"{folder}/{name}-*.dist-info") for folder in packages)
    ]


def sealing(
    environ: Mapping[str, str], private: str, bundle: str, hidden: Iterable[str], packages: Iterable[str]
) -> dict[str, Any]:
    """Return what :func:`pit_fetch.world.sealed.mount_all` mounts. ``private`` is a folder for its files."""
    files = {}
    for name, text in _RESOLVER.items():
        path = os.path.join(private, name)
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        files[f"/etc/{name}"] = path
    bundles = (*_BUNDLES, *(os.path.join(each, name) for each in packages for name in _PACKAGED))
    files |= dict.fromkeys(map(os.path.realpath, filter(os.path.isfile, bundles)), bundle)
    ours = (spec.origin for name in ("pit_fetch", "pit_fetch_providers", "pit_gate") if (spec := find_spec(name)))
    own = [os.path.join(prefix, name) for prefix in (sys.prefix, sys.base_prefix) for name in ("bin", "lib")]
    own += [path for path in sys.path if path.endswith("-packages")]
    own += [os.path.dirname(os.path.abspath(path)) for path in ours if path]
    runtime = environ.get("XDG_RUNTIME_DIR", "")
    return {
        "files": files,
        "empty": EMPTY,
        "made": [runtime] if runtime.startswith(EMPTY) else [],
        "covered": sorted({*map(os.path.realpath, hidden), *_sockets()}),
        "read_only": list(dict.fromkeys(own)),
    }


def _sockets() -> Iterator[str]:
    """Yield the paths of the sockets of this machine's programs, but for those in folders that become empty."""
    with open("/proc/net/unix", encoding="utf-8", errors="surrogateescape") as file:
        names = {line.rstrip("\n").split(" ", 7)[-1] for line in file.readlines()[1:] if line.count(" ") > 6}
    folders = set()
    for process in glob("/proc/[0-9]*/cwd"):  # a relative name begins in its program's folder
        with contextlib.suppress(OSError):
            folders.add(os.readlink(process))
    relative = {name for name in names if name and name[0] not in "/@"}
    candidates = {name for name in names if name.startswith("/")} | {
        os.path.join(f, n) for n in relative for f in folders
    }
    for path in map(os.path.realpath, candidates):
        with contextlib.suppress(OSError):
            if stat.S_ISSOCK(os.stat(path).st_mode) and not path.startswith(tuple(f"{each}/" for each in EMPTY)):
                yield path
