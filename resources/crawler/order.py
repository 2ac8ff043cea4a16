"""What one crawl is asked to do, and what it reports: plain values on both sides of the loop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from .liveness import worker_name
from .merges.sample import MergedPair

__all__ = ["CrawlOrder", "DomainReport", "End"]

#: How a domain's part of a crawl ended. The values are shown in metadata and tables.
End = Literal[
    "finished",  # nothing claimable is left tonight
    "budget",  # max pages or minutes reached; the rest is pending
    "window",  # the off-peak window closed
    "stopped",  # Terminate or SIGTERM
    "paused",  # pacing paused the domain (throttled at its floor, breaker, all proxies banned)
    "put_off",  # Retry-After or crawl-delay beyond what is slept on, or robots.txt unavailable
    "leased",  # somebody else crawls this domain
    "lost_lease",  # somebody else took it over
    "error",  # the domain could not be started; `detail` says why
]


@dataclass(frozen=True, slots=True)
class CrawlOrder:
    """`deadline`: epoch seconds at which the crawl checkpoints and ends. Times in seconds."""

    domains: tuple[str, ...]
    run_id: str
    stage: Literal["fetch", "retry"] = "fetch"
    worker: str = field(default_factory=worker_name)
    max_pages: int | None = None  # per domain
    deadline: float | None = None
    concurrency: int = 64  # requests in flight over all domains
    lease_s: float = 120.0  # of a claimed URL: longer than any request, renewed while the worker lives
    domain_lease_s: float = 30.0
    exclusive: bool = True  # one crawler per domain (False: shared frontiers, where the pace is shared too)
    drain_s: float = 15.0  # after a stop: how long in-flight requests may take to end
    longest_wait_s: float = 300.0  # a retry due later than this is left for the retry pass or a later night
    pace_factor: float = 1.0  # the retry pass goes gentler: 0.5
    #: Retry pass: causes of failures to take up next by domain, wave after wave.
    waves: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    retry_all: bool = False  # also those that are not eligible yet
    audit_urls: bool = False  # ask a few links whether the site's rules merge different pages


@dataclass(slots=True)
class DomainReport:
    """What happened to one domain in one crawl. Counts of this crawl, bytes of bodies."""

    domain: str
    end: End = "finished"
    detail: str = ""
    started_at: float = 0.0
    ended_at: float = 0.0
    requests: int = 0
    ok: int = 0
    not_modified: int = 0
    redirects: int = 0
    retries: int = 0
    failed: int = 0
    excluded: int = 0
    walls: int = 0  # that turn us away (taxonomy.DOMAIN_WALLS); a soft 404 is a failure by its cause
    throttled: int = 0  # 429 and 503
    forbidden: int = 0
    server_errors: int = 0
    timeouts: int = 0
    connect_errors: int = 0
    truncated: int = 0
    changed: int = 0  # bodies that differ from the stored one
    new_urls: int = 0
    taken_up: int = 0  # failures that got another chance
    wire_bytes: int = 0
    body_bytes: int = 0
    ttfb_sum_s: float = 0.0
    duration_sum_s: float = 0.0
    statuses: dict[int, int] = field(default_factory=dict)
    causes: dict[str, int] = field(default_factory=dict)
    events: list[str] = field(default_factory=list)
    trapped: dict[str, int] = field(default_factory=dict)  # URLs refused as traps, by reason
    merged: list[MergedPair] = field(default_factory=list)  # what the last audit of merged URLs found
    rate: float | None = None
    rate_reason: str = ""
    queue: int = 0  # pending after the crawl

    @property
    def pages(self) -> int:
        """Pages answered for: fetched or confirmed."""
        return self.ok + self.not_modified

    @property
    def seconds(self) -> float:
        return max(0.0, self.ended_at - self.started_at)

    @property
    def complete(self) -> bool:
        """Whether nothing cut the domain short: what run-validity asks before any drift alarm."""
        return self.end == "finished"
