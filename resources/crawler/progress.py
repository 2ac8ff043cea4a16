"""What a running crawl looks like from outside: one immutable snapshot, cheap enough to take every second."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from .lane import Lane

__all__ = ["DomainProgress", "Progress", "ProgressMeter"]

#: The rate shown is that of this many seconds: long enough to be calm, short enough to show a slowdown.
RATE_OVER_S = 15.0


@dataclass(frozen=True, slots=True)
class DomainProgress:
    """One domain right now. `end` is empty while it runs."""

    domain: str
    pages: int
    requests: int
    errors: int
    throttled: int
    in_flight: int
    queue: int
    rate: float
    end: str


@dataclass(frozen=True, slots=True)
class Progress:
    """The whole crawl right now. `eta_s` is None while it cannot be told."""

    at: float
    pages: int
    requests: int
    queue: int
    in_flight: int
    errors: int
    throttled: int
    not_modified: int
    rate: float
    eta_s: float | None
    domains: tuple[DomainProgress, ...]
    trouble: str = ""


class ProgressMeter:
    """Turns lanes and queue lengths into snapshots. Keeps only the last few seconds of counts."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int, dict[str, int]]] = deque()

    def take(self, lanes: Iterable[Lane], queues: dict[str, int], now: float, trouble: str = "") -> Progress:
        """`queues`: pending URLs by domain as the frontier last told."""
        lanes = list(lanes)
        per_domain = {lane.domain: lane.report.requests for lane in lanes}
        total = sum(per_domain.values())
        self._seen.append((now, total, per_domain))
        while len(self._seen) > 2 and now - self._seen[0][0] > RATE_OVER_S:
            self._seen.popleft()
        then, before, before_domains = self._seen[0]
        span = max(now - then, 1e-9)
        rate = (total - before) / span if now > then else 0.0
        domains = []
        for lane in lanes:
            r = lane.report
            own = (r.requests - before_domains.get(lane.domain, 0)) / span if now > then else 0.0
            queue = queues.get(lane.domain, 0) + len(lane.buffer)
            domains.append(
                DomainProgress(
                    lane.domain, r.pages, r.requests, r.failed + r.retries, r.throttled, lane.in_flight, queue, own,
                    r.end if lane.closed else "",
                )
            )  # fmt: skip
        running = [d for d in domains if not d.end]
        # The crawl is over when its slowest domain is.
        etas = [d.queue / d.rate for d in running if d.rate > 0]
        queue = sum(d.queue for d in running)
        return Progress(
            at=now,
            pages=sum(d.pages for d in domains),
            requests=total,
            queue=queue,
            in_flight=sum(d.in_flight for d in domains),
            errors=sum(d.errors for d in domains),
            throttled=sum(d.throttled for d in domains),
            not_modified=sum(lane.report.not_modified for lane in lanes),
            rate=rate,
            eta_s=max(etas) if etas and all(d.rate > 0 for d in running) else None,
            domains=tuple(domains),
            trouble=trouble,
        )
