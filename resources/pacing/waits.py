"""How long a domain waits after a refusal: Retry-After where given, never less than our own back-off.

Retry-After belongs to the domain. It is kept to and a little more, by chance, so that nobody comes back in
lockstep. Refusals in a row double the wait: some limiters answer `Retry-After: 1` for an hour.
"""

from __future__ import annotations

import random

__all__ = ["BACKOFF_MAX_S", "wait_after_fault", "wait_after_refusal"]

_BACKOFF_BASE_S = {429: 0.5, 503: 2.0}
BACKOFF_MAX_S = 120.0
# Returning later than Retry-After by up to this share of it, but no more than so many seconds.
_LATER_SHARE, _LATER_MAX_S = 0.05, 5.0
# After an isolated 503: the time of so many requests, within these bounds.
_FAULT_REQUESTS, _FAULT_MIN_S, _FAULT_MAX_S = 8, 0.1, 2.0


def wait_after_refusal(status: int, in_a_row: int, retry_after_s: float | None, rng: random.Random) -> float:
    """Seconds the whole domain waits. `in_a_row`: refusals without a page between, this one included (>= 1)."""
    base = _BACKOFF_BASE_S.get(status, 0.5)
    # Half fixed, half by chance: a wait of nearly nothing would only draw the next refusal.
    ceiling = min(BACKOFF_MAX_S, base * 2.0 ** min(in_a_row, 30))
    backoff = rng.uniform(ceiling / 2, ceiling)
    if retry_after_s is None:
        return backoff
    asked = _kept_to(retry_after_s, rng)
    return asked if in_a_row == 1 else max(asked, backoff)


def wait_after_fault(retry_after_s: float | None, rate: float, rng: random.Random) -> float:
    """Seconds the domain waits after a single 503 that its rate has nothing to do with: some requests' time."""
    if retry_after_s is not None:
        return _kept_to(retry_after_s, rng)
    return rng.uniform(0.5, 1.0) * min(_FAULT_MAX_S, max(_FAULT_MIN_S, _FAULT_REQUESTS / rate))


def _kept_to(retry_after_s: float, rng: random.Random) -> float:
    return retry_after_s + rng.uniform(0.005, min(_LATER_MAX_S, _LATER_SHARE * max(1.0, retry_after_s)))
