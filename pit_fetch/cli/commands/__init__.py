"""The commands other than a fetch, one module each: its parser, its help and its run.

To add one, write ``cli/commands/NAME.py`` and a row of :data:`COMMANDS`; the help, the completion script and the
hints for mistyped commands follow.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

# "plain"    run(argv, environ, folder) -> CommandResult
# "archive"  run(argv, runtime, progress) -> CommandResult: needs a clock, the network and a progress line
# "server"   run(argv, runtime) -> CommandResult, once its client ends: it takes the standard streams for itself
# "fetch"    takes a fetch's options and writes an envelope: FORM, and run(argv, runtime, output)
Kind = Literal["plain", "archive", "server", "fetch"]


class Command(NamedTuple):
    """A word that a command line can begin with, in the place of a fetch.

    summary      what it does, for --help
    other_names  its names in other tools, for a hint
    is_listing   it fetches nothing, and prints nothing that came after a PIT: the gate lets it pass
    """

    summary: str
    kind: Kind = "plain"
    other_names: str = ""
    is_listing: bool = False

    @staticmethod
    def module(name: str) -> str:
        return f"{__name__}.{name.replace('-', '_')}"


# In the order of --help.
COMMANDS = {
    "sources": Command(
        "list the sources, or describe one", other_names="list providers ls source list-providers", is_listing=True
    ),
    "diff": Command("show what changed between two instants", "fetch", "compare changes delta"),
    "explain": Command("show what a fetch serves and withholds, and why", "fetch", "why debug"),
    "panel": Command(
        "ask one question for many subjects as of many instants", "archive", "grid matrix batch bulk backtest"
    ),
    "capture": Command("ask for everything on a list, and record it", "archive", "record snapshot"),
    "archive": Command(
        "inspect and maintain an archive", "archive", "info log replay merge rebuild drop database db store history"
    ),
    "normalize": Command("date what a model extracted from saved pages", "fetch"),
    "init": Command(
        "install the hooks, agents and skills in a project",
        other_names="setup install add-hooks initialise initialize",
    ),
    "doctor": Command(
        "check that the PIT is enforced here",
        other_names="check status diagnose health selftest",
        is_listing=True,
    ),
    "lint": Command("check a project's agents", other_names="validate verify check-agents", is_listing=True),
    "mcp": Command("serve the sources to an agent as tools", "server", "serve server mcp-server serve-mcp stdio"),
    "mcp-gate": Command("bound the tools of another server", "server", "gate proxy mcp-proxy mcp_gate"),
    "config": Command(
        "show every setting, and where it comes from",
        other_names="settings configure preferences",
        is_listing=True,
    ),
    "completion": Command(
        "print a script that completes commands", other_names="complete completions autocomplete", is_listing=True
    ),
    "new-provider": Command(
        "write a package for a source of your own",
        other_names="new create scaffold generate plugin provider add-provider",
        is_listing=True,
    ),
}
