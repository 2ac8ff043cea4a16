"""From the site file's `pace` to the pacer's limits."""

from __future__ import annotations

import math

from resources.pacing.base import PaceLimits

from .open_hours import open_hours
from .territory import DomainRules

__all__ = ["pace_limits"]

#: A fixed rate starts at half for this long (the issue of every new visitor: do not begin with a bang).
RAMP_UP_S = 120.0
#: Requests in flight for `rate: unlimited` where the site file gives no number.
UNLIMITED_CONCURRENCY = 16


def pace_limits(rules: DomainRules, robots_delay_s: float | None, factor: float = 1.0) -> PaceLimits:
    """`factor` scales a configured rate and the ceiling of learning: the retry pass goes at half."""
    pace = rules.site.pace
    unlimited = pace.rate is not None and math.isinf(pace.rate)
    rate = pace.rate if pace.rate is None or unlimited else pace.rate * factor
    ramp = (
        pace.ramp_up
        if pace.ramp_up is not None
        else (RAMP_UP_S if rate is not None and not unlimited else 0.0)
    )
    return PaceLimits(
        rate=rate,
        burst=pace.burst,
        concurrency=pace.concurrency or (UNLIMITED_CONCURRENCY if unlimited else 5),
        jitter=min(pace.jitter, 0.9),
        crawl_delay=pace.crawl_delay,
        robots_delay_s=robots_delay_s,
        crawl_delay_max_s=pace.crawl_delay_max,
        ramp_up_s=ramp,
        window=open_hours(pace),
        retry_after_max_s=pace.retry_after_max,
        min_rate=pace.min_rate or 1 / 60,
        max_rate=(pace.max_rate or 200.0) * factor,
    )
