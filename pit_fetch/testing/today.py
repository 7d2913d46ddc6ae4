"""Checks of what has no stamp of its own, and so is as it is today: counters, lists beside the rows, newest pages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pit_fetch.testing.documents import leaves
from pit_fetch.testing.findings import Findings, field_of
from pit_fetch.testing.observe import pits_before
from pit_fetch.testing.report import failure
from pit_fetch.testing.source import body_of, numbers_in, params_of
from pit_fetch.transport import HttpRequest

# What readers and other records add to an item after it was published, by the names that sources give it.
_COUNTERS = (
    "views?|reads?|likes?|dislikes?|(up|down)?votes?|points|score|karma|stars?|stargazers|forks?|downloads|citations?|"
    "cited_?by|cites|comments?|replies|retweets|reposts|reactions?|claps|favou?rites|followers|subscribers|descendants|"
    "popularity|clicks|plays|hearts|helpful|bookmarks|watchers"
)
_COUNTER = re.compile(rf"(^|_)(num(ber)?_?(of_?)?)?({_COUNTERS})(_?(count|total|number))?$", re.IGNORECASE)
_BOUND = re.compile(r"(^|_)(min|max|gte?|lte?|over|above|below|at_?least|at_?most|more_?than|from)(_|$)", re.IGNORECASE)
_COMPARED = re.compile(r"(\w+)\s*(?:[<>]=?|:>|:\[|\bgte?\b|\bdesc\b)", re.IGNORECASE)
_SORTS = re.compile(r"^(sort|order|rank)(_?by)?$", re.IGNORECASE)
_NO_SIZE = re.compile(r"day|month|year|week|hour|minute|interval|version|offset|(^|_)id$", re.IGNORECASE)
# A number of rows that a source sends at once is seldom smaller.
_LEAST_SIZE = 10


def check_today(findings: Findings) -> None:
    """Check that nothing of an item, and no choice of items, is as it stands today whatever the PIT is."""
    if not findings.operation.dating.claims:
        _check_counters(findings)
        _check_filters(findings)
    if findings.operation.archiving.reach == "all" and findings.case.source.recording.pages is None:
        _check_bound(findings)


def _counts_on(findings: Findings, field: str) -> bool:
    """Return whether a field goes on counting after publication, as the author says or else by its name."""
    is_named = _COUNTER.search(_snake(field)) is not None
    return findings.is_role(field, "counts_on") or (is_named and not findings.is_role(field, "fixed"))


def _check_counters(findings: Findings) -> None:
    """Check that no number that goes on growing is served as what the item said when it was published."""
    for record in findings.baseline.records:
        for path, value in leaves(dict(record.payload)) if record.id not in findings.snapshots else ():
            field = field_of(path)
            is_number = type(value) in (int, float) or (isinstance(value, str) and value.isdigit())
            if is_number and _counts_on(findings, field):
                problem = f"item {record.id!r} shows {field} = {value!r}, which by its name goes on counting after"
                event = "publication: what is served for an early PIT is today's"
                raise failure(f"{problem} {event}", "counts-on", field=field)


def _check_filters(findings: Findings) -> None:
    """Check that no request lets the source choose by a number that goes on growing."""
    for request, _ in findings.baseline.exchanges:
        for field in (name for name in _filters(request) if _counts_on(findings, name)):
            problem = f"the request lets the source choose by {field}, which by its name goes on counting: what it"
            event = "leaves out or puts last rests on what came after the PIT"
            raise failure(f"{problem} {event}", "chosen-by-a-counter", field=field)


def _filters(request: HttpRequest) -> Iterator[str]:
    """Yield the names of fields by which a request filters or sorts.

    Such are ``min_points=100``, ``{"range": {"points": {"gte": 100}}}``, ``filter=points>100`` and ``sort=points``.
    """
    for path, value in leaves([params_of(request), body_of(request)]):
        names, text = [_snake(part) for part in path if isinstance(part, str)], _snake(str(value))
        if not names:
            continue
        if any(map(_BOUND.search, names)):
            yield from (_BOUND.sub("_", name).strip("_") for name in names)
        elif _SORTS.search(names[-1]):
            yield from re.split(r"[^a-z_]+|_(?:desc|asc)\b", text)
        else:
            yield from _COMPARED.findall(text)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).replace("-", "_").lower()


def _check_bound(findings: Findings) -> None:
    """Check that a request for one page of a fixed size has a bound: else what came later crowds out the rest."""
    run = findings.baseline
    paths = [request.path for request, _ in run.exchanges]
    if run.requests != findings.run_at(pits_before(run)[0]).requests or len(set(paths)) < len(paths):
        return  # something moves with the PIT, or the source is asked for all of its pages
    for request, _ in run.exchanges:
        for place, size in numbers_in(request, alone=True).items():
            name = str(place[-2])
            is_known = place in findings.case.sizes or findings.is_role(name, "constant") or _NO_SIZE.search(name)
            if size >= max(_LEAST_SIZE, len(findings.every)) and not is_known:
                problem = (
                    f"nothing in the request moves with the PIT, and {name} = {size} looks like the size of its only"
                )
                event = "page: if the source sends its newest rows first, those after the PIT crowd out what was public"
                raise failure(f"{problem} {event}", "one-page-without-a-bound", field=name)
