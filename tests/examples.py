"""How many examples a law is tried on: a few in each run of the suite, which draws others every time, or twice as many.

``.ci/run`` asks for many, with ``--hypothesis-profile=many``.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings

FEW = "few"
# How long an example takes says how busy the machine is.
settings.register_profile(FEW, max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("many", settings.get_profile(FEW), max_examples=60)


def examples(times: float) -> settings:
    """So many times as many as the profile says, for a law that needs more of them or whose examples are dear."""
    return settings(max_examples=round(times * settings().max_examples))
