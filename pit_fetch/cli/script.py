"""The program as started by ``python3 PATH/pit_fetch.py``: with whatever interpreter ``python3`` happens to be.

If that interpreter is too old or lacks a dependency, and there is a working ``.venv`` beside the
script, the script continues in there. Old syntax, see support/process.py.
"""

import os
import signal
import sys
import time

from pit_fetch.support import process

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

DEPENDENCIES = ("requests", "dotenv", "dateutil")
# An interpreter that does not answer within five seconds is as good as none.
_PAUSE_SECONDS, _TRIES = 0.005, 1_000
_FIT = "import sys; from importlib.util import find_spec as f; sys.exit(sys.version_info < %r or not all(map(f, %r)))"


def command(checkout: str) -> "NoReturn":
    """The process. ``checkout`` is the script's folder if that is the repository, else ""."""
    process.take_interrupts()
    venv = os.path.join(checkout, ".venv")
    python = os.path.join(venv, "bin", "python")
    # A link to an interpreter that is gone counts, too: make demo alone would take the .venv for a good one.
    has_venv = bool(checkout) and os.path.realpath(sys.prefix) != os.path.realpath(venv) and os.path.lexists(venv)
    if has_venv and not _is_fit() and _runs(python):
        os.execv(python, [python, os.path.join(checkout, "pit_fetch.py"), *sys.argv[1:]])  # noqa: S606 - no shell
    if sys.version_info >= process.MIN_PYTHON:
        from pit_fetch.cli.entry_point import command as run

        run()
    if has_venv:
        process.refuse_old("the .venv beside pit_fetch.py does not run, or lacks a package: run make clean demo there")
    elif checkout:
        process.refuse_old("run make demo in the folder of pit_fetch.py, which sets up a .venv with a newer one")
    process.refuse_old()


def _is_fit() -> bool:
    """Whether this interpreter is new enough and has the dependencies."""
    if sys.version_info < process.MIN_PYTHON:
        return False
    from importlib.util import find_spec

    return all(map(find_spec, DEPENDENCIES))


def _runs(python: str) -> bool:
    """Whether that interpreter runs at all and has the dependencies. Asking takes some 20 ms."""
    child = os.fork()
    if child == 0:
        try:
            null = os.open(os.devnull, os.O_RDWR)
            for fd in (0, 1, 2):
                os.dup2(null, fd)
            os.execv(python, [python, "-I", "-c", _FIT % (process.MIN_PYTHON, DEPENDENCIES)])  # noqa: S606 - no shell
        finally:
            os._exit(127)
    for _ in range(_TRIES):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status == 0
        time.sleep(_PAUSE_SECONDS)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False
