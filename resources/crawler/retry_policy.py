"""When a failed URL is tried again: full jitter (AWS, "Exponential Backoff And Jitter", 2015).

    wait = uniform(0, min(cap, base * 2^(n-1)))      n: counted attempts so far

A Retry-After overrides it. It holds for the domain (pacing keeps it), so here it only moves the URL.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from resources.frontier.base import Verdict

from .taxonomy import failure_kind

__all__ = ["NextStep", "RetryPolicy"]


@dataclass(frozen=True, slots=True)
class NextStep:
    """RETRY with `at` = earliest next try, or FAILED with `at` = earliest retry pass."""

    verdict: Verdict
    at: float
    counts: bool


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """`attempts`: counted tries in this stage. `forgiven`: uncounted ones (429, 503) before giving up tonight."""

    attempts: int = 3
    base_s: float = 2.0
    cap_s: float = 300.0
    retry_after_max_s: float = 900.0

    def next_step(
        self,
        cause: str,
        attempts_before: int,
        now: float,
        rng: random.Random,
        retry_after_s: float | None = None,
    ) -> NextStep:
        """Numbered cases:

        1. a Retry-After beyond the maximum: put off to the time it names, a later night's work;
        2. a cause that does not heal by itself: dead letter;
        3. the domain's doing (429, 503, proxy): try again when the domain may, the URL's count untouched;
        4. attempts left: try again after full jitter;
        5. attempts used up: dead letter.
        """
        kind = failure_kind(cause)
        if retry_after_s is not None and retry_after_s > self.retry_after_max_s:
            return NextStep(Verdict.RETRY, now + retry_after_s, False)
        if not kind.retry:
            return NextStep(Verdict.FAILED, now + kind.eligible_after_s, kind.counts)
        if not kind.counts:
            return NextStep(Verdict.RETRY, now + (retry_after_s or 0.0), False)
        tried = attempts_before + 1
        if tried < self.attempts:
            wait = rng.uniform(0.0, min(self.cap_s, self.base_s * 2.0 ** min(tried - 1, 30)))
            return NextStep(Verdict.RETRY, now + max(wait, retry_after_s or 0.0), True)
        return NextStep(Verdict.FAILED, now + kind.eligible_after_s, True)
