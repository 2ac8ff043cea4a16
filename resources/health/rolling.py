"""The last seconds of the fetch log, per domain and overall: what `nightcrawl top` shows live.

Reads what is new at each look and forgets what has grown old: the cost is that of the new rows.
"""

from __future__ import annotations

from collections import deque

from resources.frontier.base import FetchLogRow, Frontier

from .metrics import Health

__all__ = ["RollingHealth"]

#: Log rows read at once.
_CHUNK = 5_000
#: Rows are written in batches, not quite in the order they were started in: so many are looked at before the first.
_DISORDER = 1_000


class RollingHealth:
    """`look(now)`, then read `domains` and `overall`. One row in memory for each request of the window."""

    def __init__(self, frontier: Frontier, seconds: float) -> None:
        self.seconds = seconds
        self.domains: dict[str, Health] = {}
        #: Seconds the counts are really of: fewer than `seconds` while a crawl is younger than the window.
        self.covered = seconds
        self._frontier = frontier
        self._rows: deque[FetchLogRow] = deque()
        self._after: int | None = None

    @property
    def overall(self) -> Health:
        """All domains together."""
        total = Health()
        for health in self.domains.values():
            total.add(health)
        return total

    def rate(self, domain: str) -> float:
        """Requests a second of one domain over the window."""
        health = self.domains.get(domain)
        return health.requests / self.covered if health is not None else 0.0

    def look(self, now: float) -> None:
        """Take in what is new and drop what began more than `seconds` before `now`."""
        since = now - self.seconds
        if self._after is None:
            self._after = self._first_after(since)
        while chunk := self._frontier.read_log(self._after, _CHUNK):
            self._after = chunk[-1][0]
            for _, row in chunk:
                if row.started_at >= since and row.outcome not in ("released", "excluded"):
                    self._rows.append(row)
                    self.domains.setdefault(row.domain, Health()).count(row)
        while self._rows and self._rows[0].started_at < since:
            old = self._rows.popleft()
            health = self.domains[old.domain]
            health.count(old, -1)
            if not health.requests and not health.pages:
                del self.domains[old.domain]
        young = now - self._rows[0].started_at if self._rows else self.seconds
        self.covered = min(self.seconds, max(1.0, young))

    def _first_after(self, since: float) -> int:
        """A sequence number shortly before the first row of the window: O(log n) reads, not the whole log."""

        def reached(number: int) -> bool:
            rows = self._frontier.read_log(number, 1)
            return not rows or rows[0][1].started_at >= since

        low, step = 0, 1
        while not reached(low + step):
            low, step = low + step, step * 2
        high = low + step
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if reached(middle) else (middle, high)
        return max(0, low - _DISORDER)
