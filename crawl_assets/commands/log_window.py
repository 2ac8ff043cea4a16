"""The last seconds of the running night's fetch log, by domain: what `top` shows as rates and troubles."""

from __future__ import annotations

from collections import deque
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from resources.frontier.base import FetchLogRow, Frontier

__all__ = ["DomainWindow", "LogWindow"]

_CHUNK = 5_000


@dataclass(slots=True)
class DomainWindow:
    """Requests of one domain in the window, by what became of them."""

    requests: int = 0
    throttled: int = 0
    forbidden: int = 0
    server_errors: int = 0
    timeouts: int = 0
    walls: int = 0
    failures: int = 0
    not_modified: int = 0

    def count(self, row: FetchLogRow, by: int) -> None:
        """Add (`by` 1) or take away (-1) a row."""
        status = row.status or 0
        self.requests += by
        self.throttled += by * (status in (429, 503))
        self.forbidden += by * (status == 403)
        self.server_errors += by * (status >= 500 and status != 503)
        self.timeouts += by * row.cause.endswith("timeout")
        self.walls += by * (row.outcome == "wall")
        self.failures += by * (row.outcome in ("failed", "retry", "truncated"))
        self.not_modified += by * (row.outcome in ("not_modified", "cached"))

    @property
    def trouble(self) -> float:
        """0: well. Signs of a ban weigh more than errors of the server."""
        weight = 3 * (self.throttled + self.forbidden + self.walls) + 2 * self.timeouts + self.server_errors
        return (weight + self.failures) / max(self.requests, 1)

    def words(self) -> str:
        parts = {"429/503": self.throttled, "403": self.forbidden, "walls": self.walls, "timeouts": self.timeouts,
                 "5xx": self.server_errors, "not fetched": self.failures}  # fmt: skip
        return ", ".join(f"{name} {n}" for name, n in parts.items() if n)

    def as_json(self, seconds: float) -> dict[str, float]:
        return asdict(self) | {"rate": self.requests / seconds}


class LogWindow:
    """`read(now)` takes in what is new and drops what is older than `seconds`."""

    def __init__(self, frontier: Frontier, seconds: float) -> None:
        self.seconds = seconds
        self.domains: dict[str, DomainWindow] = {}
        self._frontier = frontier
        self._rows: deque[FetchLogRow] = deque()
        self._after: int | None = None

    def read(self, now: float) -> None:
        since = now - self.seconds
        if self._after is None:
            self._after = self._first_after(since)
        while chunk := self._frontier.read_log(self._after, _CHUNK):
            self._after = chunk[-1][0]
            for _, row in chunk:
                # "released" and "excluded" rows were no requests.
                if row.started_at >= since and row.outcome not in ("released", "excluded"):
                    self._rows.append(row)
                    self.domains.setdefault(row.domain, DomainWindow()).count(row, 1)
        while self._rows and self._rows[0].started_at < since:
            old = self._rows.popleft()
            window = self.domains[old.domain]
            window.count(old, -1)
            if not window.requests:
                del self.domains[old.domain]

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
        # Rows are written in batches, not quite in the order they were started in.
        return max(0, low - 1_000)
