"""The text at the end of a test run: what the standard tests checked, and what no test can see. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pit_fetch.testing.documents import field_name
from pit_fetch.testing.findings import Findings
from pit_fetch.testing.interference import other_operations
from pit_fetch.testing.report import worlds_text, wrapped

UNSEEN = (
    "when the source really published what it stamps, and whether its zone is the one that the test names",
    "what the source overwrites without a mark: give claimed_at in the place of available_at, and Dating.claims",
    "stamps that mean another event, where neither name nor value shows it: declare Dating.basis",
    "pages of single rows that carry no date of their own, and figures that are scaled by what came later",
    "an id that changes with each version, such as one with a revision's number: its versions look like several items",
    "what a library not written in Python does by itself, on the network or in files",
)


def certificate(
    findings: Findings, on_claims: bool, worlds_run: Mapping[str, int], worlds_skipped: Mapping[str, int]
) -> str:
    """Return the certificate of a recorded reply, wrapped at 110 columns.

    on_claims  its records have claims alone, which the tests took for proofs
    """
    return "\n".join(map(wrapped, _lines(findings, on_claims))) + "\n" + worlds_text(worlds_run, worlds_skipped)


def _lines(findings: Findings, on_claims: bool) -> Iterator[tuple[str, str]]:
    case, baseline = findings.case, findings.baseline
    stamps = sorted(version.public_from for version in baseline.versions)
    yield (
        "checked on",
        f"{len(findings.every)} rows, {len(baseline.versions)} versions of {len(baseline.stamps)} items, public from "
        f"{stamps[0].isoformat()} to {stamps[-1].isoformat()}; the clock at {case.now.isoformat()}",
    )
    moving = [field_name(pattern) or "their key" for pattern in findings.basis]
    declared = [f"{basis.field} (by Dating.basis)" for basis in findings.operation.dating.basis]
    snapshots = not any(map(findings.is_dated, findings.rows))
    yield (
        "stamps rest on",
        ", ".join(moving or declared) or ("the receipt" if snapshots else "what belongs to other rows"),
    )
    if on_claims:
        yield "claims alone", "claimed_at was tested as a proof is; an operator has to accept what is only claimed"
    hosts = {request.host for request, _ in baseline.exchanges if request.host}
    sources = [*sorted(hosts), *(each.variables[0] for each in case.provider.credentials if each.is_file)]
    options = ", ".join(f"{name}={value}" for name, value in case.options.items())
    yield "asked", f"{', '.join(sources)}, with {options or 'no options'}"
    if unchecked := _unchecked_operations(findings):
        yield "not checked", f"the operations {', '.join(unchecked)}: each needs a class of its own, with its reply"
    for text in UNSEEN:
        yield "no test sees", text


def _unchecked_operations(findings: Findings) -> list[str]:
    """Return the dated operations that this recording tests nothing of."""
    case = findings.case
    if len(case.provider.operations) == 1:
        return []
    checked = {str(other.options.get("op")) for other in (case, *other_operations(findings))}
    return [
        operation.name
        for operation in case.provider.operations
        if operation.dating.by == "record" and operation.name not in checked
    ]
