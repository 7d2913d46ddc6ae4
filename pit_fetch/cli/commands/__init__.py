"""The commands other than a fetch, one module each: its parser, its help and its run.

To add one, write ``cli/commands/NAME.py``, a row of :data:`COMMANDS` and one of its other names in
``courtesy/names.py``; the help and the completion script follow.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

# "plain"    run(argv, environ, folder) -> CommandResult
# "archive"  run(argv, runtime, progress) -> CommandResult: needs a clock, the network and a progress line
# "server"   run(argv, runtime) -> CommandResult, once its client ends: it takes the standard streams for itself
# "fetch"    takes a fetch's options and writes an envelope: FORM, and run(argv, runtime, output)
CommandKind = Literal["plain", "archive", "server", "fetch"]


class Command(NamedTuple):
    """A word that a command line can begin with, in the place of a fetch.

    summary     what it does, for --help
    is_listing  it fetches nothing, and prints nothing that came after a PIT: the gate lets it pass
    """

    summary: str
    kind: CommandKind = "plain"
    is_listing: bool = False

    @staticmethod
    def module(name: str) -> str:
        return f"{__name__}.{name.replace('-', '_')}"


# In the order of --help.
COMMANDS = {
    "sources": Command("list the sources, or describe one", is_listing=True),
    "diff": Command("show what changed between two instants", "fetch"),
    "explain": Command("show what a fetch serves and withholds, and why", "fetch"),
    "panel": Command("ask one question for many subjects as of many instants", "archive"),
    "capture": Command("ask for everything on a list, and record it", "archive"),
    "archive": Command("inspect and maintain an archive", "archive"),
    "runs": Command("look up, compare and verify what was shown in a run", "archive"),
    "run": Command("run a program that sees only what was public at an instant", "server"),
    "normalize": Command("date what a model extracted from saved pages", "fetch"),
    "init": Command("install the hooks, agents and skills in a project"),
    "doctor": Command("check that the PIT is enforced here", is_listing=True),
    "lint": Command("check a project's agents", is_listing=True),
    "mcp": Command("serve the sources to an agent as tools", "server"),
    "mcp-gate": Command("bound the tools of another server", "server"),
    "config": Command("show every setting, and where it comes from", is_listing=True),
    "completion": Command("print a script that completes commands", is_listing=True),
    "new-provider": Command("write a package for a source of your own", is_listing=True),
}
