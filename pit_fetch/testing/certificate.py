"""What a run of the standard tests shows, and what no test can: the text at the end of the run. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import fill

from pit_fetch.testing.documents import name
from pit_fetch.testing.recording import Recording

# What only whoever knows the source can say.
UNSEEN = (
    "when the source really published what it stamps, and whether its zone is the one that the test names",
    "what the source changes without a mark: say so with Operation.caveats",
    "stamps that mean another event, where neither name nor value shows it: declare Operation.basis",
    "pages of single rows that carry no date of their own, and figures that are scaled by what came later",
    "what a library not written in Python does by itself, on the network or in files",
)


def certificate(recording: Recording) -> str:
    """What was checked on what."""
    return "\n".join(
        fill(f"{title}: {text}", 110, initial_indent="  ", subsequent_indent="    ")
        for title, text in _lines(recording)
    )


def _lines(recording: Recording) -> Iterator[tuple[str, str]]:
    case, seen = recording.case, recording.seen
    stamps = sorted(version.public_from for version in seen.versions)
    yield (
        "checked on",
        f"{len(recording.every)} rows, {len(seen.versions)} versions of {len(seen.stamps)} items, public from "
        f"{stamps[0].isoformat()} to {stamps[-1].isoformat()}; the clock at {case.now.isoformat()}",
    )
    basis = [name(tuple(map(str, pattern))) or "their key" for pattern in recording.basis]
    yield "stamps rest on", ", ".join(basis) or "nothing in the reply (another reply, or the receipt)"
    asked = {host for host in (request.host for request, _ in seen.exchanges) if host}
    sources = [*sorted(asked), *(file.variable for file in case.provider.files)]
    yield "asked", f"{', '.join(sources)}, with {_options(case.options)}"
    others = _operations(recording)
    if others:
        yield "not checked", f"the operations {', '.join(others)}: each needs a class of its own, with its reply"
    for text in UNSEEN:
        yield "no test sees", text


def _options(options: object) -> str:
    return ", ".join(f"{key}={value}" for key, value in dict(options).items()) or "no options"  # type: ignore[call-overload]


def _operations(recording: Recording) -> list[str]:
    """The dated operations that this recording says nothing about."""
    from pit_fetch.testing.interference import other_operations

    case = recording.case
    if len(case.provider.operations) == 1:
        return []
    tried = {str(one.options.get("op")) for one in (case, *other_operations(recording))}
    return [one.name for one in case.provider.operations if one.dating == "record" and one.name not in tried]
