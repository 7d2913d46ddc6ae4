"""Laws of the views for people: explain and the settings."""

from __future__ import annotations

import tempfile
from datetime import datetime
from pathlib import Path
from random import Random

from pit_fetch.testing.comparison import CANARY
from tests.laws import sample
from tests.laws.worlds import Case, near, run

FOR_AGENTS = ({"PIT_FETCH_CEILING": ""}, {"PIT_FETCH_WRAPPER_ONLY": "1"}, {"CLAUDECODE": "1"})


def explanations(rng: Random) -> int:
    """explain refuses agents."""
    case = sample.make(rng)
    environ = {name: value or case.pit for name, value in rng.choice(FOR_AGENTS).items()}
    left = run(case, case.worlds[-1], command="explain", environ=environ)
    assert (left.code, left.ids, CANARY in left.out + left.err) == (2, [], False)
    return 0


def verdicts(rng: Random) -> int:
    """The records that explain calls public are those that a fetch shows."""
    case = sample.make(rng, most=0)
    words, world = (*case.words, "--limit", "500", "--max-pages", "1000"), rng.choice(case.worlds)
    fetched, explained = (run(case, world, words=words, command=command) for command in ("", "explain"))
    if explained.code or {"upstream_error", "truncated"} & {*fetched.gap_types, *explained.gap_types}:
        return 0
    public = {item["id"] for item in explained.data if item["verdict"] == "public"}
    assert public == set(fetched.ids)
    return 1


def settings(rng: Random) -> int:
    """Of all ceilings in files and variables the earliest counts; a broken file stops everything."""
    case = sample.make(rng)
    below, above = case.moment - near(rng, 1), case.moment + near(rng, 1)
    assert _under(case, below, None) == _under(case, below, above) == _under(case, above, below) == 2
    assert _under(case, above, None) == _under(case, above, above) == 0
    assert _with(case, f'ceilling = "{above.isoformat()}"', {}) == 2
    return 0


def _under(case: Case, files: datetime, variables: datetime | None) -> int:
    environ = {} if variables is None else {"PIT_FETCH_CEILING": variables.isoformat()}
    return _with(case, f'ceiling = "{files.isoformat()}"', environ)


def _with(case: Case, text: str, environ: dict[str, str]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "pit_fetch", "config.toml")
        file.parent.mkdir()
        file.write_text(text)
        left = run(case, case.worlds[-1], environ={**environ, "XDG_CONFIG_HOME": folder})
        assert left.code == 0 or not left.ids
        return left.code
