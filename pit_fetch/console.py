"""The entry point of the console script and of ``-m``. Importing it starts the process, so nothing else does.

Between this import and the call, the script that pip writes runs a regular expression: an interrupt
there must end like any other. Old syntax, see process.py.
"""

__all__ = ["command"]

try:
    from pit_fetch.process import command, take_interrupts

    take_interrupts()
except KeyboardInterrupt:
    from pit_fetch.process import interrupted

    interrupted()
