"""A server that tells its quota need not be felt for: the pace that uses the quota up evenly, and never more.

What is told only ever slows a domain down: a rate that is not told to be too much is still learned. Counted windows
(100 a minute) are where it pays: nothing is refused, and nothing of a window is left unused for fear of its end.

Fields that cannot be meant are not believed: a quota that has nothing left from the first answer on while every request
is answered, as servers say where the fields belong to something else.
"""

from __future__ import annotations

import math

from resources.web.rate_limit import Quota

__all__ = ["QuotaPace"]

#: Of the told quota: other visitors behind our address, and clocks, need something.
SHARE = 0.98
#: Requests that may be on their way when a number is told.
ON_WAY = 2.0
#: A rate that falls below this share of the usual one is not worth keeping up.
STARVED = 0.25
#: Answered requests that said "nothing is left" without one that said otherwise.
UNBELIEVED = 3


class QuotaPace:
    """Of one domain. `rate`: requests a second that the quota allows now, `inf` when none is told."""

    __slots__ = ("_empty", "_remaining", "_window_s", "believed", "rate")

    def __init__(self) -> None:
        self.rate = math.inf
        self.believed = True
        self._empty = 0
        self._remaining = -1.0  # as told last
        self._window_s = 0.0  # longest time to a reset, where no window is told

    def told(self, quota: Quota, answered: bool) -> float:
        """Take in what a response said; seconds in which nothing more is to be sent (0: go on). `answered`: it was no
        refusal.
        """
        if not self.believed:
            return 0.0
        remaining, reset = quota.remaining, quota.reset_s
        if remaining is not None and remaining <= 0 and answered:
            self._empty = self._empty + 1 if self._remaining <= 0 else 1
            if self._empty >= UNBELIEVED:
                self.believed, self.rate = False, math.inf
                return 0.0
        if reset is not None:
            self._window_s = max(self._window_s, reset)
        window = quota.window_s or self._window_s
        rate = math.inf
        if quota.limit and window > 0:
            rate = SHARE * quota.limit / window
        wait = 0.0
        if remaining is not None and reset is not None and reset > 0:
            # What is left, evenly over what is left of the window: less when others use the quota too. Where that is
            # next to nothing the next window is waited for, and begun at its own rate.
            even = (remaining - ON_WAY) / reset
            if remaining <= 0 or even < STARVED * rate < math.inf:
                wait = reset
            else:
                rate = min(rate, max(even, 1.0 / reset))
        if remaining is not None:
            self._remaining = max(0.0, remaining)
        self.rate = rate
        return wait
