"""A machine with few workers: requests beyond them wait, too many waiters are turned away.

With fixed service time s and k workers, goodput peaks at k requests in flight. A client that gives up does not
free its worker, so impatient crowds are served answers nobody reads; with `contention` the work itself gets
slower too. No queue is kept: the moment a request will be done follows from when the workers become free.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

from practice_site.behaviour import Behaviour

__all__ = ["WorkerPool"]


class WorkerPool:
    """O(log workers + finished) a request; memory O(workers + queue)."""

    def __init__(self, behaviour: Behaviour, clock: Callable[[], float]) -> None:
        self.behaviour = behaviour
        self._clock = clock
        self._free_at: list[float] = []
        self._done_at: list[float] = []

    def forget(self) -> None:
        """All workers free, nobody waiting."""
        self._free_at.clear()
        self._done_at.clear()

    def admit(self) -> float | None:
        """Seconds until this request's answer, or None if the queue is full."""
        rules = self.behaviour
        now = self._clock()
        if len(self._free_at) != rules.workers:
            self._free_at = [now] * rules.workers
        while self._done_at and self._done_at[0] <= now:
            heapq.heappop(self._done_at)
        in_flight = len(self._done_at)
        if in_flight >= rules.workers + rules.queue:
            return None
        crowd = max(0, in_flight + 1 - rules.workers)
        start = max(now, self._free_at[0])
        done = start + rules.service_seconds * (1.0 + rules.contention * crowd)
        heapq.heapreplace(self._free_at, done)
        heapq.heappush(self._done_at, done)
        return done - now
