"""How many examples a law is tried on: a few in each run of the suite, which draws others every time.

``make test ALL=1``, which ``.ci/run`` calls, asks for twice as many, with ``--hypothesis-profile=many``.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings

FEW = "few"
# How long an example takes says how busy the machine is.
settings.register_profile(FEW, max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("many", settings.get_profile(FEW), max_examples=40)


def examples(times: float) -> settings:
    """So many times as many as the profile says, for a law that needs more of them or whose examples are dear.

    At least two: the first one is always the simplest.
    """
    return settings(max_examples=max(2, round(times * settings().max_examples)))
