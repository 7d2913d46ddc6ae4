"""A pytest plugin that ends a run with a certificate of each provider: what was checked, and what no test sees.

Pytest loads it in every run of an environment that has pit_fetch, so it imports nothing of pit_fetch itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

_PROPERTY = "pit_fetch_certificate"
_FIRST = "test_the_recording_holds_dated_records"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    yield
    suite: Any = getattr(item, "instance", None)
    if item.name == _FIRST and hasattr(suite, "certificate"):
        item.user_properties.append((_PROPERTY, (suite.provider.name, suite.certificate())))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if terminalreporter.verbosity < 0:
        return
    reports = [
        report for outcome in ("passed", "failed", "skipped") for report in terminalreporter.stats.get(outcome, ())
    ]
    for report in reports:
        for name, value in getattr(report, "user_properties", ()):
            if name == _PROPERTY:
                _write_certificate(terminalreporter, reports, report.nodeid.rpartition("::")[0], *value)


def _write_certificate(terminal: Any, reports: list[Any], suite: str, provider: str, text: str) -> None:
    outcomes = {report.nodeid: report.outcome for report in reports if report.nodeid.rpartition("::")[0] == suite}
    passed = sum(outcome == "passed" for outcome in outcomes.values())
    terminal.section(f"certificate of {provider}", sep="-")
    terminal.write_line(f"{suite}: {passed} of {len(outcomes)} tests passed")
    terminal.write_line(text)
