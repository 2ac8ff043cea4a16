"""The frontier: every URL ever met, with its state. The one seam that all back-ends implement.

States and transitions (nothing else exists)::

    (unknown) --enqueue--> PENDING --claim--> LEASED --ack DONE----> DONE --due again--> PENDING
                             ^  ^               |----ack RETRY---> PENDING (claimable from not_before)
                             |  '--lease expired|----ack RELEASED-> PENDING (attempt not counted)
                             |                  |----ack FAILED --> FAILED (dead letter with a cause)
                             '--retry_failed----'    ack EXCLUDED-> EXCLUDED (with a reason)

Guarantees of every back-end (one contract test suite proves them on each):

* *Exact dedup.* A URL is its 16-byte key (`resources.web.urls.key`); a second enqueue of a key changes no
  state. There is no second "seen" set.
* *Exclusive claims.* At any instant a key is leased to at most one worker, across threads and processes.
* *Fencing.* An ack carries the token of its claim; after the lease expired and somebody else claimed the
  key, the old ack is refused (counted in `CommitResult.stale`) and changes nothing.
* *Atomic commit.* Outlinks, fetch-log rows and acks of one `commit` become durable together or not at all.
* *Conservation.* discovered = pending + leased + done + failed + excluded, per domain, at any moment.

Costs: enqueue, claim and commit are O(batch · log n) and never walk the frontier; `counts` is O(1) per
domain; memory does not grow with the number of URLs except in the memory back-end.

All calls are synchronous and take a whole batch: the crawler runs them in one writer thread; Dagster
stages and the command line call them directly. A back-end instance is used by one thread at a time.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from resources.record import record

__all__ = [
    "Ack",
    "Claim",
    "CommitResult",
    "Discovery",
    "DomainLease",
    "EnqueueResult",
    "FetchLogRow",
    "Frontier",
    "FrontierError",
    "FrontierFull",
    "Source",
    "State",
    "StateCounts",
    "UrlRecord",
    "Verdict",
    "WorkerBeat",
]


class FrontierError(Exception):
    """The frontier's storage failed; the message names the storage and what to do."""


class FrontierFull(FrontierError):
    """The storage takes no more data. Nothing was lost: pause, make room, go on."""


class State(enum.IntEnum):
    """Where a URL stands. The numbers are stored: never renumber."""

    PENDING = 0
    LEASED = 1
    DONE = 2
    FAILED = 3
    EXCLUDED = 4


class Source(enum.IntEnum):
    """How a URL was first met. The numbers are stored: never renumber."""

    SEED = 0
    SITEMAP = 1
    LINK = 2
    REDIRECT = 3
    MANUAL = 4
    WARC = 5


class Verdict(enum.IntEnum):
    """What became of a claim."""

    DONE = 0
    RETRY = 1
    FAILED = 2
    EXCLUDED = 3
    RELEASED = 4  # handed back untouched: shutdown, budget, a paused domain


@record(slots=True, frozen=True)
class Discovery:
    """A URL to enqueue. `url` is canonical; `priority`: smaller goes first."""

    key: bytes
    url: str
    domain: str
    depth: int = 0
    priority: int = 100
    source: Source = Source.LINK
    parent: bytes | None = None  # key of the page that named it
    redirects: int = 0  # hops of the redirect chain that led here
    lastmod: float | None = None  # from a sitemap, epoch seconds: newer than the last fetch => due again
    excluded: str = ""  # a reason: the URL is recorded as EXCLUDED instead of PENDING


@record(slots=True, frozen=True)
class Claim:
    """A lease on one URL. `token` fences the ack."""

    key: bytes
    url: str
    domain: str
    depth: int
    priority: int
    source: Source
    attempts: int  # counted attempts so far in this cycle, before this one
    redirects: int
    token: int
    lease_until: float
    done_at: float | None = None  # last success: set => a cached copy may exist
    parent: bytes | None = None


@record(slots=True, frozen=True)
class FetchLogRow:
    """One fetch attempt as it will stand in the `fetch_log` table. Times are epoch seconds."""

    url: str
    domain: str
    run_id: str
    worker: str
    attempt: int
    started_at: float
    ttfb_ms: float | None
    duration_ms: float
    status: int | None
    outcome: (
        str  # ok, not_modified, cached, redirect, retry, lost, failed, excluded, wall, truncated, released
    )
    from_cache: bool = False
    revalidated: bool = False
    wire_bytes: int = 0
    body_bytes: int = 0
    retry_after_s: float | None = None
    error: str = ""
    cause: str = ""
    redirect_to: str = ""
    rule: str = ""  # the robots line, scope pattern or trap that decided; of a page: where its markup was cut


@record(slots=True, frozen=True)
class Ack:
    """The end of one claim, with everything that has to become durable with it."""

    claim: Claim
    verdict: Verdict
    at: float
    due_at: float | None = None  # DONE: when the page is due again (None: only when forced)
    not_before: float | None = None  # RETRY and RELEASED: earliest next claim
    counts_attempt: bool = True  # False for 429 and 503: they belong to the domain, not to the URL
    cause: str = ""  # FAILED, RETRY: taxonomy word; EXCLUDED: the reason
    detail: str = ""  # last error or the deciding rule, for people
    status: int | None = None
    next_eligible_at: float | None = None  # FAILED: from when a retry pass may take it
    content_hash: bytes | None = None
    outlinks: Sequence[Discovery] = ()
    log: FetchLogRow | None = None


@dataclass(slots=True)
class EnqueueResult:
    """How many of a batch were new, already known, or known and made due again (sitemap lastmod)."""

    new: int = 0
    known: int = 0
    due_again: int = 0
    excluded: int = 0


@dataclass(slots=True)
class CommitResult:
    """What one commit did; `stale` acks were refused because their lease had passed to somebody else."""

    acked: int = 0
    stale: int = 0
    enqueued: EnqueueResult = field(default_factory=EnqueueResult)
    #: New pending URLs by domain: which domains got work from this commit.
    new_by_domain: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class StateCounts:
    """URLs of one domain by state. `ready`: pending and claimable now, where the back-end knows it."""

    pending: int = 0
    leased: int = 0
    done: int = 0
    failed: int = 0
    excluded: int = 0

    @property
    def discovered(self) -> int:
        return self.pending + self.leased + self.done + self.failed + self.excluded


@dataclass(slots=True)
class UrlRecord:
    """Everything the frontier knows about a URL; also the unit of `move` between back-ends."""

    key: bytes
    url: str
    domain: str
    state: State
    depth: int
    priority: int
    source: Source
    parent: bytes | None
    discovered_at: float
    attempts: int = 0
    fetches: int = 0
    redirects: int = 0
    not_before: float | None = None
    lease_until: float | None = None
    lease_owner: str = ""
    done_at: float | None = None
    due_at: float | None = None
    lastmod: float | None = None
    status: int | None = None
    cause: str = ""
    detail: str = ""
    next_eligible_at: float | None = None
    failed_at: float | None = None
    content_hash: bytes | None = None


@dataclass(slots=True, frozen=True)
class DomainLease:
    """The right to crawl a domain. `fence` grows with every new holder."""

    domain: str
    owner: str
    fence: int
    until: float


@dataclass(slots=True, frozen=True)
class WorkerBeat:
    """A sign of life: who, since when, doing what."""

    worker: str
    host: str
    pid: int
    started_at: float
    at: float
    doing: str = ""
    pages: int = 0
    run_id: str = ""


class Frontier(Protocol):
    """See the module docstring for guarantees and costs. `now` is epoch seconds throughout."""

    #: True where several processes on several machines may share it (decides where the pace is kept).
    shared: bool

    # -- writing ---------------------------------------------------------------------------------
    def enqueue(self, urls: Sequence[Discovery], now: float) -> EnqueueResult:
        """Add what is new; for known DONE URLs a newer `lastmod` makes them due. Durable on return."""
        ...

    def claim(self, domain: str, limit: int, worker: str, lease_s: float, now: float) -> list[Claim]:
        """Lease up to `limit` claimable URLs of `domain`, best priority first, oldest first within it."""
        ...

    def commit(self, acks: Sequence[Ack], now: float) -> CommitResult:
        """End claims: outlinks, log rows and acks in one transaction. Durable on return."""
        ...

    def extend(self, worker: str, lease_s: float, now: float) -> int:
        """Prolong all leases of `worker`; returns how many it holds."""
        ...

    def reap(self, now: float, domain: str | None = None) -> int:
        """Hand expired leases back to PENDING; returns how many."""
        ...

    def release_worker(self, worker: str, now: float) -> int:
        """Hand every lease of `worker` back (known dead or stopping); returns how many."""
        ...

    def requeue_due(self, domain: str, now: float, *, force: bool = False) -> int:
        """DONE URLs whose `due_at` has passed (all DONE ones with `force`) become PENDING."""
        ...

    def retry_failed(
        self, domain: str, now: float, *, causes: Iterable[str] | None = None, force: bool = False
    ) -> int:
        """FAILED URLs that are eligible (or all, with `force`) become PENDING again, attempts kept."""
        ...

    def reconsider_excluded(self, domain: str, reasons: Iterable[str], now: float) -> int:
        """EXCLUDED URLs whose reason is among `reasons` become PENDING (scope or robots changed)."""
        ...

    def exclude_pending(self, keys: Sequence[bytes], reason: str, detail: str, now: float) -> int:
        """PENDING URLs become EXCLUDED (a trap closed, scope narrowed); returns how many."""
        ...

    def reset(self, domain: str) -> int:
        """Forget a domain altogether; returns how many URLs were forgotten."""
        ...

    # -- reading ---------------------------------------------------------------------------------
    def counts(self, domain: str) -> StateCounts: ...

    def counts_of(self, domains: Sequence[str]) -> dict[str, StateCounts]:
        """Counts of these domains, in one round trip."""
        ...

    def all_counts(self) -> Mapping[str, StateCounts]:
        """Counts of every domain that has a URL."""
        ...

    def recount(self, domain: str) -> StateCounts:
        """Counts made by walking the rows: what the conservation check compares `counts` with. O(n)."""
        ...

    def next_ready_at(self, domain: str, now: float) -> float | None:
        """`now` if something is claimable, else the earliest instant something will be; None: nothing."""
        ...

    def due(self, domain: str, at: float) -> int:
        """DONE URLs that `requeue_due` would take up at `at`: for plans. Shared back-ends round to the hour."""
        ...

    def failures(self, domain: str) -> Mapping[str, tuple[int, int]]:
        """FAILED by cause: (all of them, those eligible for a retry at the time given by the rows)."""
        ...

    def get(self, key: bytes) -> UrlRecord | None: ...

    def known(self, keys: Sequence[bytes]) -> set[bytes]:
        """Which of these keys have a row."""
        ...

    def records(
        self, domain: str, states: Iterable[State] | None = None, *, source: Source | None = None
    ) -> Iterator[UrlRecord]:
        """All rows of a domain (in key order), streamed: memory does not grow with their number. With `source` only
        those first met there."""
        ...

    def put_records(self, records: Sequence[UrlRecord]) -> int:
        """Write rows as they are (moving between back-ends); existing keys are overwritten."""
        ...

    # -- the fetch log of the running night --------------------------------------------------------
    def read_log(self, after: int, limit: int, domain: str | None = None) -> list[tuple[int, FetchLogRow]]:
        """Log rows with a sequence number greater than `after`, in order."""
        ...

    def trim_log(self, up_to: int) -> int:
        """Drop rows up to and including sequence number `up_to` (they are in the tables by now)."""
        ...

    # -- leases on domains, workers -----------------------------------------------------------------
    def lease_domain(self, domain: str, owner: str, ttl_s: float, now: float) -> DomainLease | None:
        """Take (or, as its owner, prolong) the exclusive right to crawl a domain; None: somebody has it."""
        ...

    def domain_lease(self, domain: str, now: float) -> DomainLease | None: ...

    def unlease_domain(self, lease: DomainLease) -> bool:
        """Give the lease back; False if it had already passed to somebody else."""
        ...

    def beat(self, beat: WorkerBeat) -> None: ...

    def workers(self, now: float, max_age_s: float = 60.0) -> list[WorkerBeat]: ...

    # -- small named values (cursors, versions) ------------------------------------------------------
    def get_value(self, name: str) -> str | None: ...

    def set_value(self, name: str, value: str) -> None: ...

    def close(self) -> None: ...
