"""What every test shares: property tests judge results, never time, and repeat themselves in CI; no test waits for
threads that only have to be gone when the process ends."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest
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


@pytest.fixture(scope="session", autouse=True)
def _threads_get_their_grace_once() -> Iterator[None]:
    """A fetcher waits when it is closed, for the sake of a process that ends right after it. This process closes
    hundreds and goes on: they wait together, at its end. Child processes wait as they do in the product."""
    from resources.fetcher import web

    grace = web.CLOSE_GRACE_S
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(web, "CLOSE_GRACE_S", 0.0)
        yield
    time.sleep(grace)
