"""Everything a report tells of one night, as plain values. Instants are epoch seconds, sizes bytes."""

from __future__ import annotations

from dataclasses import dataclass

from resources.planner.forecast import Comparison

__all__ = [
    "Bucket",
    "DomainNight",
    "ErrorClass",
    "Fallen",
    "Finding",
    "Mended",
    "NightFacts",
    "NightTotal",
    "QueuePoint",
    "RunFacts",
    "TableChange",
]


@dataclass(frozen=True, slots=True)
class RunFacts:
    """A Dagster run of the night. `link`: its page in the UI, where known."""

    run_id: str
    job: str
    status: str
    started_at: float
    ended_at: float
    domains: int
    link: str = ""


@dataclass(frozen=True, slots=True)
class Fallen:
    """A domain that fell out of the night: at which stage, why, and what mends it."""

    domain: str
    stage: str
    words: str
    cure: str


@dataclass(frozen=True, slots=True)
class Mended:
    """A domain that fell and is well since `at`. `by`: the job that did it; `was`: what it fell at."""

    domain: str
    at: float
    by: str
    was: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A check that failed. `blocking`: its domain was not published because of it."""

    domain: str
    check: str
    words: str
    cure: str
    blocking: bool = False


@dataclass(frozen=True, slots=True)
class Bucket:
    """Requests of a stretch of the night, by what came of them."""

    at: float
    requests: int = 0
    pages: int = 0
    throttled: int = 0
    """429 and 503."""
    forbidden: int = 0
    """403 and walls."""
    errors: int = 0
    """Everything else that failed."""


@dataclass(frozen=True, slots=True)
class QueuePoint:
    """URLs waiting at an instant, as the running crawl told; None: nobody crawls from here to the next point."""

    at: float
    queue: int | None


@dataclass(frozen=True, slots=True)
class ErrorClass:
    """Requests that failed for one cause. `urls`: dead letters it left behind."""

    cause: str
    requests: int
    domains: int
    urls: int
    cure: str


@dataclass(frozen=True, slots=True)
class DomainNight:
    """One domain's night, and where it stands now."""

    domain: str
    site: str = ""
    requests: int = 0
    pages: int = 0
    unchanged: int = 0
    """Pages that a 304 confirmed or the cache answered."""
    throttled: int = 0
    forbidden: int = 0
    walls: int = 0
    errors: int = 0
    wire_bytes: int = 0
    p95_ttfb_ms: float | None = None
    rate: float | None = None
    limit_rate: float | None = None
    rate_reason: str = ""
    paused_cause: str = ""
    pending: int = 0
    failed_urls: int = 0
    stale: bool = False
    stale_reason: str = ""

    @property
    def hit_rate(self) -> float:
        return self.unchanged / self.pages if self.pages else 0.0


@dataclass(frozen=True, slots=True)
class TableChange:
    """Rows of a table before and after. None: such rows do not say when they came or changed."""

    table: str
    before: int
    now: int
    new: int | None = None
    changed: int | None = None
    gone: int | None = None


@dataclass(frozen=True, slots=True)
class NightTotal:
    """An earlier night, for comparison."""

    night: str
    requests: int
    throttled: int


@dataclass(frozen=True, slots=True)
class NightFacts:
    """See the module docstring. `queue` is empty for nights too short to have been looked at."""

    night: str
    made_at: float
    started_at: float
    ended_at: float
    runs: tuple[RunFacts, ...] = ()
    bucket_s: float = 60.0
    buckets: tuple[Bucket, ...] = ()
    queue: tuple[QueuePoint, ...] = ()
    errors: tuple[ErrorClass, ...] = ()
    domains: tuple[DomainNight, ...] = ()
    tables: tuple[TableChange, ...] = ()
    fallen: tuple[Fallen, ...] = ()
    findings: tuple[Finding, ...] = ()
    stopped: tuple[str, ...] = ()
    """Domains whose last run was stopped before its end."""
    mended: tuple[Mended, ...] = ()
    """Domains that fell and were brought in order since."""
    comparison: Comparison | None = None
    history: tuple[NightTotal, ...] = ()
    zone: str = "UTC"

    @property
    def requests(self) -> int:
        return sum(d.requests for d in self.domains)

    @property
    def pages(self) -> int:
        return sum(d.pages for d in self.domains)

    @property
    def unchanged(self) -> int:
        return sum(d.unchanged for d in self.domains)

    @property
    def throttled(self) -> int:
        return sum(d.throttled for d in self.domains)

    @property
    def wire_bytes(self) -> int:
        return sum(d.wire_bytes for d in self.domains)

    @property
    def pending(self) -> int:
        return sum(d.pending for d in self.domains)

    @property
    def seconds(self) -> float:
        return max(0.0, self.ended_at - self.started_at)

    @property
    def good(self) -> int:
        """Domains that went through to the end."""
        out = {f.domain for f in self.fallen} | set(self.stopped)
        return sum(1 for d in self.domains if d.domain not in out and not d.stale)

    def table(self, name: str) -> TableChange | None:
        return next((t for t in self.tables if t.table == name), None)
