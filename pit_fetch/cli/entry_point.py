"""The entry point of the console script and of ``-m``. Importing it starts the process, so nothing else does.

Between this import and the call, the script that pip writes runs a regular expression: an interrupt
there must end like any other. Old syntax, see support/process.py.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

__all__ = ["command"]

try:
    from pit_fetch.support import process

    process.take_interrupts()
    if "multiprocessing.spawn" in sys.modules:
        process.keep_interrupts_out()  # a worker imports the script that started it, which alone answers, and ends it
except KeyboardInterrupt:
    from pit_fetch.support.process import interrupted

    interrupted()


def command() -> "NoReturn":
    """Run the process, and end it without the interpreter's teardown, which takes 15 ms."""
    process.take_interrupts()
    if sys.version_info < process.MIN_PYTHON:
        process.refuse_old()
    import gc

    gc.disable()  # it costs a short process a tenth of a fetch, and the exit frees the memory anyway
    try:
        from pit_fetch.cli.main import main
    except ImportError:
        process.refuse_incomplete()
    os._exit(main())
