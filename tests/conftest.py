"""What every test shares: property tests judge results, never time, and repeat themselves in CI."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# A busy machine must not fail a property: no deadline. In CI the same examples run every time, so that a landing is
# judged by the change; new examples are looked for on every developer's machine and by `make fuzz`.
settings.register_profile("here", deadline=None)
settings.register_profile(
    "ci", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
# NIGHTCRAWL_FUZZ=N runs N times the examples of each property.
settings.register_profile(
    "fuzz", deadline=None, max_examples=100 * int(os.environ.get("NIGHTCRAWL_FUZZ", "1")),
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
settings.load_profile("fuzz" if "NIGHTCRAWL_FUZZ" in os.environ else "ci" if os.environ.get("CI") else "here")
