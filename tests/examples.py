"""How many examples a law is tried on: a few in each run of the suite, which draws others every time, or all of them.

``.ci/run`` asks for all, with ``--hypothesis-profile=all``.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings

FEW = "few"
# How long an example takes says how busy the machine is.
settings.register_profile(FEW, max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("all", settings.get_profile(FEW), max_examples=100)


def examples(times: float) -> settings:
    """So many times as many as the profile says, for a law that needs more of them or whose examples are dear."""
    return settings(max_examples=round(times * settings().max_examples))
