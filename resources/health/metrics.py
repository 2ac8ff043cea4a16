"""The five health metrics of some fetch-log rows: counts that can be added and taken away again."""

from __future__ import annotations

from dataclasses import dataclass, fields

from resources.frontier.base import FetchLogRow

__all__ = ["NO_REQUEST", "Health"]

#: Outcomes of rows that are no request: nothing was sent.
NO_REQUEST = frozenset(("released", "excluded", "cached"))
_PAGES = frozenset(("ok", "not_modified", "cached"))
_TIMEOUTS = frozenset(("connect_timeout", "read_timeout", "total_timeout"))


@dataclass(slots=True)
class Health:
    """Counts of requests by what became of them. 32-bit safe, a few hundred bytes."""

    requests: int = 0
    pages: int = 0  # new bodies and confirmed ones
    status_403: int = 0
    status_429: int = 0
    status_503: int = 0
    status_5xx: int = 0  # all of 500 to 599, 503 included
    timeouts: int = 0
    failures: int = 0  # no whole page for any reason, retries included
    retries: int = 0  # put off for another attempt
    cache_hits: int = 0  # pages that needed no body
    walls: int = 0
    wire_bytes: int = 0

    def count(self, row: FetchLogRow, by: int = 1) -> None:
        """Add a row (`by` 1) or take it away again (-1). Rows that are no request count as pages at most."""
        outcome, status = row.outcome, row.status or 0
        self.pages += by * (outcome in _PAGES)
        self.cache_hits += by * (outcome in ("not_modified", "cached"))
        if outcome in NO_REQUEST:
            return
        self.requests += by
        self.status_403 += by * (status == 403)
        self.status_429 += by * (status == 429)
        self.status_503 += by * (status == 503)
        self.status_5xx += by * (500 <= status <= 599)
        self.timeouts += by * (row.cause in _TIMEOUTS)
        self.failures += by * (outcome in ("failed", "retry", "truncated", "wall"))
        self.retries += by * (outcome == "retry")
        self.walls += by * (outcome == "wall")
        self.wire_bytes += by * row.wire_bytes

    def add(self, other: Health) -> None:
        """Add the counts of another stretch or domain."""
        for item in fields(self):
            setattr(self, item.name, getattr(self, item.name) + getattr(other, item.name))

    # -- the metrics -------------------------------------------------------------------------------------------
    @property
    def throttled(self) -> int:
        """429 and 503: the two ways of saying "not so fast"."""
        return self.status_429 + self.status_503

    @property
    def share_429(self) -> float:
        """429s among requests."""
        return self.status_429 / self.requests if self.requests else 0.0

    @property
    def share_throttled(self) -> float:
        return self.throttled / self.requests if self.requests else 0.0

    @property
    def share_403(self) -> float:
        return self.status_403 / self.requests if self.requests else 0.0

    @property
    def retry_share(self) -> float:
        """Requests that have to be made again, among requests."""
        return self.retries / self.requests if self.requests else 0.0

    @property
    def hit_rate(self) -> float:
        """Pages that needed no body, among pages."""
        return self.cache_hits / self.pages if self.pages else 0.0

    @property
    def ban_signals(self) -> int:
        """Walls and 403s: what a site does when it has had enough."""
        return self.walls + self.status_403

    @property
    def share_refused(self) -> float:
        """Requests that met any refusal: 429, 503, 403 or a wall."""
        return (self.throttled + self.ban_signals) / self.requests if self.requests else 0.0

    @property
    def sickness(self) -> float:
        """0: well. Signs of a ban weigh more than errors of the server; for sorting domains."""
        weight = 3 * (self.throttled + self.ban_signals) + 2 * self.timeouts + self.status_5xx
        return (weight + self.failures) / max(self.requests, 1)

    def words(self) -> str:
        """What is wrong, in words; empty when nothing is."""
        parts = {
            "429": self.status_429, "503": self.status_503, "403": self.status_403, "walls": self.walls,
            "timeouts": self.timeouts, "5xx": self.status_5xx - self.status_503, "not fetched": self.failures,
        }  # fmt: skip
        return ", ".join(f"{name} {n}" for name, n in parts.items() if n)
