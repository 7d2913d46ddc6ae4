"""A pytest plugin for the standard tests: a failure shows its message alone, and a run ends with certificates.

Pytest loads it in every run of an environment that has pit_fetch, so it imports nothing of pit_fetch itself.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

import pytest

_PROPERTY = "pit_fetch_certificate"
_WORLDS = "pit_fetch_worlds"
_FIRST = "test_the_recording_holds_dated_records"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    suite: Any = getattr(item, "instance", None)
    try:
        yield
    finally:
        if hasattr(suite, "worlds_run") and item.name in suite.worlds_run:
            counts = (suite.worlds_run[item.name], suite.worlds_skipped.get(item.name, 0))
            item.user_properties.append((_WORLDS, (item.name, *counts)))
    if item.name == _FIRST and hasattr(suite, "certificate"):
        item.user_properties.append((_PROPERTY, (suite.provider.name, suite.certificate())))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """Show a failure of a standard test as its message alone, which quotes the author's line where there is one.

    Any other exception, and with --full-trace each, is shown with its frames, as pytest does.
    """
    report = yield
    error = call.excinfo
    if error is not None and report.failed and not item.config.getoption("fulltrace") and _is_found(error):
        report.longrepr = error.getrepr(style="value", chain=False)
    return report


def _is_found(error: pytest.ExceptionInfo[BaseException]) -> bool:
    """Return whether a standard test raised the error itself."""
    raised_in = str(error.traceback[-1].frame.f_globals.get("__name__"))
    return isinstance(error.value, AssertionError) and raised_in.startswith("pit_fetch.testing.")


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
    from pit_fetch.testing.report import worlds_text

    outcomes = {report.nodeid: report.outcome for report in reports if report.nodeid.rpartition("::")[0] == suite}
    passed = sum(outcome == "passed" for outcome in outcomes.values())
    terminal.section(f"certificate of {provider}", sep="-")
    terminal.write_line(f"{suite}: {passed} of {len(outcomes)} tests passed")
    counts = [
        value
        for report in reports
        if report.nodeid.rpartition("::")[0] == suite
        for name, value in getattr(report, "user_properties", ())
        if name == _WORLDS
    ]
    terminal.write_line(text.partition("  worlds run:")[0].rstrip("\n"))
    terminal.write_line(worlds_text({test: ran for test, ran, _ in counts}, {test: n for test, _, n in counts if n}))
