"""The laws by name: those that every source has, and those that its folder adds for what it alone can do wrong.

A source's folder has the module ``worlds``, with makers of cases and, if it needs them, laws of its own:

    make         a case of any kind
    undisturbed  a case of one world in which no record is ever taken back
    claimed      a case whose worlds agree on what was proved or claimed, of a source with claims
    LAWS         name -> law
    REQUESTS     what the laws have to know of its requests, see refusals.Requests
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from random import Random
from types import ModuleType

from tests.laws import (
    archived,
    claimed,
    command,
    corpus,
    enforcement,
    exported,
    instants,
    looks,
    mcp,
    mcp_gate,
    panels,
    programs,
    sample,
    secrets,
    sessions,
    shell,
    viewed,
    zones,
)
from tests.laws.checks import (
    calendar,
    changed,
    clock,
    clock_behind,
    continued,
    differences,
    forms,
    future,
    monotone,
    non_interference,
    overtaken,
    paging,
    promised,
    repeated,
    sizes,
    windows,
)
from tests.laws.hostile import hostile
from tests.laws.naming import together
from tests.laws.refusals import Requests, partial_failure, quota
from tests.laws.worlds import Case
from tests.neo4j import guarded
from tests.neo4j import laws as neo4j
from tests.neo4j.kglite_engine import Kglite
from tests.providers import modules
from tests.unit.normalize import worlds as normalized

Law = Callable[[Random], int]
Maker = Callable[[Random], Case]

WORLDS = {"sample": sample, **modules("worlds")}


def requests_of(worlds: ModuleType) -> Requests:
    requests: Requests = getattr(worlds, "REQUESTS", Requests())
    return requests


def laws_of_all(worlds: ModuleType) -> Mapping[str, Law]:
    """Return the laws that every source has, by their names."""
    make: Maker = worlds.make
    undisturbed: Maker = worlds.undisturbed
    requests = requests_of(worlds)
    return {
        "non-interference": lambda rng: non_interference(make(rng)),
        "clock": lambda rng: clock(make(rng), rng),
        "clock behind": lambda rng: clock_behind(make(rng), rng),
        "calendar": lambda rng: calendar(make(rng), rng),
        "future": lambda rng: future(make(rng)),
        "sizes": lambda rng: sizes(make(rng)),
        "repeated": lambda rng: repeated(make(rng)),
        "partial failure": lambda rng: partial_failure(make(rng), rng, requests),
        "quota": lambda rng: quota(make(rng), rng, requests),
        "monotone": lambda rng: monotone(undisturbed(rng), rng),
        "paging": lambda rng: paging(undisturbed(rng), rng),
        "mcp": mcp.law(make),
    }


# "source: law" -> the law.
LAWS: Mapping[str, Law] = together(
    {f"{source}: {name}": law for source, worlds in WORLDS.items() for name, law in laws_of_all(worlds).items()},
    {
        "sample: mcp clock behind": lambda rng: mcp.clock_behind(sample.make(rng)),
        "sample: patience": lambda rng: non_interference(sample.patient(rng)),
        "sample: versions": lambda rng: non_interference(sample.versions(rng)),
        "sample: order": lambda rng: non_interference(sample.disordered(rng)),
        "sample: overtaken": lambda rng: overtaken(sample.make(rng, operations=("WHOLE",))),
        "sample: windows": lambda rng: windows(*sample.windows(rng)),
        "sample: snapshots": lambda rng: paging(sample.snapshots(rng), rng, ahead=timedelta(hours=1)),
        "sample: continued": lambda rng: continued(sample.long_texts(rng), rng),
        "sample: hostile texts": lambda rng: hostile(*sample.hostile_texts(rng), "title", rng),
        "sample: promised": lambda rng: promised(*sample.promised(rng)),
        "sample: changed": lambda rng: changed(sample.changed(rng)),
        "sample: forms": lambda rng: forms(sample.refused(rng)),
        "sample: redirects": lambda rng: non_interference(sample.redirects(rng)),
        "sample: links": lambda rng: non_interference(sample.links(rng)),
    },
    {
        f"{source}: {name}": law
        for source, worlds in WORLDS.items()
        if hasattr(worlds, "claimed")
        for name, law in claimed.laws(worlds.claimed, worlds.make).items()
    },
    {f"{source}: {name}": law for source, worlds in modules("worlds").items() for name, law in worlds.LAWS.items()},
    {
        f"{source}: views": viewed.law(getattr(worlds, "viewed", worlds.make))
        for source, worlds in modules("worlds").items()
    },
    {"yahoo: claimed views": viewed.law(modules("worlds")["yahoo"].claimed, "claimed")},
    {
        "gate: judges": command.gate_judges,
        "gate: hook": command.gate_hook,
        "gate: releases": command.gate_releases,
        "gate: zones": zones.law,
        "guard: shell": shell.law,
        "guard: sessions": sessions.law,
        "guard: options": shell.options,
        "guard: programs": programs.law,
        "doctor: ways": enforcement.named_ways,
        "command: refusals": command.refusals,
        "library: refusals": command.library_refusals,
        "library: secrets": secrets.law,
        "library: instants": instants.law,
        "looks: diff": lambda rng: differences(sample.make(rng), rng),
        "looks: explain": looks.explanations,
        "looks: verdicts": looks.verdicts,
        "looks: settings": looks.settings,
        "mcp-gate: non-interference": mcp_gate.law,
        "mcp-gate: limited lists": mcp_gate.limited,
        "normalize: non-interference": normalized.law,
        "corpus: no leak": corpus.law,
        "corpus: claimed": corpus.claimed,
    },
    {f"neo4j: {name}": partial(law, Kglite) for name, law in neo4j.LAWS.items()},
    {f"guard: Cypher {name}": law for name, law in guarded.LAWS.items()},
    archived.laws({source: worlds.make for source, worlds in WORLDS.items()}),
    exported.laws({source: worlds.make for source, worlds in WORLDS.items()}),
    panels.laws({source: worlds.make for source, worlds in WORLDS.items()}),
)
