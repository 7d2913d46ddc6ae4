"""The program as started by ``python3 PATH/pit_fetch.py``: with whatever interpreter ``python3`` happens to be.

If that interpreter is too old or lacks a dependency, the script continues in the ``.venv`` beside it. Old syntax,
see support/process.py.
"""

import os
import sys

from pit_fetch.support import process

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

DEPENDENCIES = ("requests", "dotenv", "dateutil")
# Given to the interpreter of .venv: a damaged environment may not know that it is one, and would start itself forever.
_HANDED_OVER = "pit_fetch.venv"
_FIX_VENV = "run make clean demo there"


def command(checkout: str) -> "NoReturn":
    """Run the process. ``checkout`` is the script's folder if that is the repository, else ""."""
    process.take_interrupts()
    venv = os.path.join(checkout, ".venv")
    # A link to an interpreter that is gone counts, too: make demo alone would take the .venv for a good one.
    has_venv = bool(checkout) and os.path.realpath(sys.prefix) != os.path.realpath(venv) and os.path.lexists(venv)
    if not _is_fit():
        if _HANDED_OVER in sys._xoptions:
            process.refuse("the .venv beside pit_fetch.py is too old or lacks a package: " + _FIX_VENV)
        if has_venv:
            from contextlib import suppress

            python, script = os.path.join(venv, "bin", "python"), os.path.join(checkout, "pit_fetch.py")
            with suppress(OSError):
                os.execv(python, [python, "-X", _HANDED_OVER, script, *sys.argv[1:]])  # noqa: S606 - no shell
    if sys.version_info >= process.MIN_PYTHON:
        from pit_fetch.cli.entry_point import command as run

        run()
    if has_venv:
        process.refuse_old("the .venv beside pit_fetch.py does not run: " + _FIX_VENV)
    elif checkout:
        process.refuse_old("run make demo in the folder of pit_fetch.py, which sets up a .venv with a newer one")
    process.refuse_old()


def _is_fit() -> bool:
    """Return whether this interpreter is new enough and has the dependencies."""
    if sys.version_info < process.MIN_PYTHON:
        return False
    from importlib.util import find_spec

    return all(map(find_spec, DEPENDENCIES))
