"""The grade of evidence that a request is answered with, and who may widen it. Pure.

"proved" is the default: what cannot be proved is withheld. "claimed" adds what only a claim dates, and the operator
grants it, by source: with the variable below, or in settings that stand for it (:mod:`~pit_fetch.engine.settings_files`
says which). Where nobody is bound (no ceiling, no wrapper-only, no agent's client) the caller is the operator, and
``--evidence`` grants it, too.

>>> operator_grade({VARIABLE: "earningscall=claimed,yahoo=proved"}, ["earningscall"])
'claimed'
>>> operator_grade({VARIABLE: "claimed,yahoo=proved"}, ["yahoo", "yfinance"])
'proved'
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from pit_fetch.errors import UsageError
from pit_fetch.gaps import Code
from pit_fetch.pipeline.claims import CLAIMED, GRADES, PROVED
from pit_fetch.provider import Provider
from pit_fetch.request import audience

VARIABLE = "PIT_FETCH_EVIDENCE"

_EVERY = ""  # the source of a grade that stands alone


def granted(provider: Provider, asked: str | None, environ: Mapping[str, str]) -> str:
    """Return the grade for a request that asks for ``asked`` (None: for what there is).

    Raise UsageError if it would widen what the operator grants, or if that cannot be read.
    """
    grade = operator_grade(environ, (provider.name, *provider.aliases))
    if asked == CLAIMED and grade != CLAIMED and audience.is_for_an_agent(environ):
        raise UsageError(Code.EVIDENCE_NOT_GRANTED, source=provider.name)
    return asked or grade


def operator_grade(environ: Mapping[str, str], names: Iterable[str]) -> str:
    """Return the grade that the operator grants to the source of these names. Raise UsageError for other words."""
    grades = parse_grades(environ.get(VARIABLE, ""))
    if grades is None:
        raise UsageError(Code.EVIDENCE_MALFORMED)
    return next((grades[name] for name in map(key, names) if name in grades), grades.get(_EVERY, PROVED))


def parse_grades(text: str) -> Mapping[str, str] | None:
    """Return the grade of each source in a value of the variable; None if it cannot be read."""
    grades: dict[str, str] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, equals, grade = part.rpartition("=")
        if grade not in GRADES or (equals and not re.fullmatch(r"[\w-]+", name.strip())):
            return None
        grades[key(name)] = grade
    return grades


def key(name: str) -> str:
    """Return the one spelling of a source's name."""
    return name.strip().casefold().replace("_", "-")
