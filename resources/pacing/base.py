"""Pacing: the words, and the one seam the crawl loop talks to.

A *domain* (`host[:port]`) is the unit of politeness. The loop asks the `Pacer` which domain may be requested
now, sends one request for the slot it is given, and reports what it saw::

    pacer.admit(domain, limits)             once per domain and night
    pacer.want(domain, n)                   n URLs are buffered and claimable (0: leave it out)
    while slot := pacer.take(clock.now()):  at most one request per slot
        ...
        for event in pacer.done(slot, observation): ...
    wake_at = pacer.next_at(clock.now())    None: nothing to wait for except running fetches

Guarantees

* *One decision.* The instant a domain may be requested is the latest of: its rate, crawl-delay, Retry-After,
  learned rate, ramp-up, window, cool-down, pause, breaker. `Pacer.decide` names each with its reason.
* *Race-free.* A slot is reserved when it is handed out; two takers can never spend one token.
* *No burst.* With a configured rate a domain gets at most `burst + 1 + W * rate` requests in any window of W
  seconds, and with `burst` 1 two requests are never closer than `(1 - jitter) / rate`. With `auto`, what a busy
  machine was late is made up for at these gaps, as far as the limiter's own burst has room.
* *No head-of-line blocking.* A slow, waiting or paused domain is not looked at until its time comes.

Costs: `take` + `done` are O(log domains), under 20 microseconds with 100,000 domains; about 1 KB a domain until
its limiter is being learned, 10 KB then. Nothing here does I/O except `admit` (one ledger row is read) and
`checkpoint` (changed rows are written). An instance belongs to one thread.
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from typing import Literal, Protocol

from resources.pacing.window import Window
from resources.record import record
from resources.web.rate_limit import Quota

__all__ = [
    "Decision",
    "EventKind",
    "Observation",
    "Outcome",
    "PaceEvent",
    "PaceLimits",
    "PaceSnapshot",
    "Reason",
    "ReasonName",
    "Slot",
    "SlotSource",
]


class Outcome(enum.StrEnum):
    """What a request came to, as far as pacing cares. Plain strings of the same spelling are as good."""

    OK = "ok"  # a response with a body of its own, whatever its status
    NOT_MODIFIED = "not_modified"
    REDIRECT = "redirect"
    WALL = "wall"  # a block or challenge page that pretends to be content
    TRUNCATED = "truncated"
    TIMEOUT = "timeout"
    CONNECT_ERROR = "connect_error"  # refused, reset, unreachable
    DNS = "dns"
    TLS = "tls"
    PROTOCOL = "protocol"  # the peer broke HTTP
    REFUSED_HERE = "refused_here"  # tells nothing: our own guard stopped it, or its connection was lost


@dataclass(slots=True, frozen=True)
class PaceLimits:
    """What the user's site file asks for. Rates are requests per second, times are seconds."""

    rate: float | None = None  # None: auto. math.inf: unlimited. A number: a ceiling, learned below it
    burst: int = 1  # requests that may go at once after idleness
    concurrency: int = 5  # most requests in flight: 1-5, more only when unlimited
    jitter: float = 0.3  # share of the gap by which each request is displaced: [0, 0.9]
    crawl_delay: Literal["obey", "ignore"] | float = "obey"  # a number replaces what robots.txt says
    robots_delay_s: float | None = None  # Crawl-delay of robots.txt for our agent
    crawl_delay_max_s: float = 300.0  # above it URLs are put off to a later night
    ramp_up_s: float = 0.0  # half the rate for that long after admission
    window: Window | None = None
    retry_after_max_s: float = 900.0  # above it URLs are put off rather than slept on
    min_rate: float = 0.02  # throttled at this rate: paused with an alert
    max_rate: float = 200.0  # auto never goes above it

    def __post_init__(self) -> None:
        unlimited = self.rate is not None and math.isinf(self.rate)
        if self.rate is not None and not self.rate > 0:
            raise ValueError(f"rate must be a positive number of requests per second, not {self.rate}")
        if self.burst < 1:
            raise ValueError(f"burst must be at least 1, not {self.burst}")
        if self.concurrency < 1 or (self.concurrency > 5 and not unlimited):
            raise ValueError(
                f"concurrency must be 1 to 5 per domain (more only with an unlimited rate), not {self.concurrency}"
            )
        if not 0 <= self.jitter <= 0.9:
            raise ValueError(f"jitter must lie between 0 and 0.9, not {self.jitter}")
        if not 0 < self.min_rate <= self.max_rate:
            raise ValueError(f"0 < min_rate <= max_rate is required, not {self.min_rate} and {self.max_rate}")
        if not isinstance(self.crawl_delay, str) and self.crawl_delay < 0:
            raise ValueError(f"crawl_delay must not be negative, not {self.crawl_delay}")

    @property
    def unlimited(self) -> bool:
        """No rate at all: local servers, archives, the fake web. Retry-After is still honoured."""
        return self.rate is not None and math.isinf(self.rate)

    @property
    def delay_s(self) -> float:
        """The crawl-delay in force, 0 when there is none."""
        if self.crawl_delay == "ignore":
            return 0.0
        if self.crawl_delay == "obey":
            return max(0.0, self.robots_delay_s or 0.0)
        return float(self.crawl_delay)

    @property
    def ceiling(self) -> float:
        """The highest rate the limits allow, before anything is learned."""
        ceiling = self.max_rate if self.rate is None else self.rate
        delay = self.delay_s
        return min(ceiling, 1.0 / delay) if delay > 0 else ceiling


@record(slots=True, frozen=True)
class Observation:
    """What became of one request. Instants are epoch seconds of the pacer's clock."""

    at: float  # when the loop knew
    started_at: float  # when the request was sent
    ttfb_s: float | None = None  # until the first byte of the response; None: there was none
    duration_s: float = 0.0
    status: int | None = None  # None: no response
    outcome: str = Outcome.OK
    retry_after_s: float | None = None
    body_bytes: int = 0  # decoded
    usual_body_bytes: int | None = None  # of this page before, when known; else the domain's own mean counts
    quota: Quota | None = None  # what the response said of its server's quota


@dataclass(slots=True)
class Slot:
    """Leave to send one request to `domain`. Hand it to `Pacer.done`, or to `put_back` when nothing was sent."""

    domain: str
    at: float  # when it was handed out
    late_s: float  # how long after its due time: waiting for a connection or for the loop
    in_flight: int  # requests of the domain in flight, this one included
    saturated: bool  # it was late because every allowed connection was in use


class ReasonName(enum.StrEnum):
    """Everything that can hold a domain back."""

    CONFIGURED_RATE = "configured rate"
    CRAWL_DELAY = "crawl-delay"
    RETRY_AFTER = "Retry-After"
    LEARNED_RATE = "learned rate"
    QUOTA = "told quota"  # the server says how much it permits
    RAMP_UP = "ramp-up"
    WINDOW = "window"
    COOL_DOWN = "cool-down"
    SLOWED_DOWN = "slowed down"  # from outside: the trend sensor, an operator
    PAUSED = "paused"
    BREAKER = "circuit breaker"
    CONCURRENCY = "concurrency"
    NO_WORK = "no claimable URL"


@dataclass(slots=True, frozen=True)
class Reason:
    """One thing that holds a domain back, until when (`inf`: until somebody acts), in words."""

    name: ReasonName
    until: float
    detail: str


@dataclass(slots=True, frozen=True)
class Decision:
    """When a domain may be requested next, and why not now. `reasons` are sorted, the binding one first."""

    domain: str
    at: float  # `inf`: not without somebody's action
    rate: float
    concurrency: int
    reasons: tuple[Reason, ...]
    put_off: bool = False  # `at` is too far away to wait for: give the URLs back until then


class EventKind(enum.StrEnum):
    """What a `PaceEvent` tells."""

    SLOWER = "slower"
    FASTER = "faster"
    LEARNED = "learned"  # an estimate of the limit exists or changed
    WAIT = "wait"  # the whole domain waits until `until`
    PUT_OFF = "put_off"  # `until` is beyond what is slept on: release the URLs with that not_before
    PAUSED = "paused"  # nothing is sent until somebody or a timed probe resumes it
    RESUMED = "resumed"
    BREAKER_OPEN = "breaker_open"
    BREAKER_PROBE = "breaker_probe"


@dataclass(slots=True, frozen=True)
class PaceEvent:
    """Something a person reading the night's story wants to know. `alert`: somebody should look."""

    domain: str
    at: float
    kind: EventKind
    detail: str
    cause: str = ""  # "429", "503", "403", "wall", "latency", "empty bodies", "dns", ...
    until: float | None = None
    rate: float | None = None
    alert: bool = False


@dataclass(slots=True, frozen=True)
class PaceSnapshot:
    """The live state of one domain, for `top`, metadata and logs. Everything is JSON-able."""

    domain: str
    rate: float
    ceiling: float
    concurrency: int
    in_flight: int
    waiting: int  # claimable URLs the loop has buffered
    phase: str
    next_at: float | None
    binding: str  # the reason that binds now
    limit_rate: float | None  # the limiter as we understand it
    limit_burst: float | None
    trouble_rate: float | None
    ttfb_base_s: float | None
    ttfb_s: float | None
    requests: int
    throttled: int
    forbidden: int
    walls: int
    failures: int
    paused_cause: str
    owed_until: float


class SlotSource(Protocol):
    """Who keeps the token bucket. One machine: `LocalSlots`. A fleet: one script in a shared store."""

    def reserve(self, domain: str, n: int, interval: float, burst: int, now: float) -> list[float]:
        """Book the next `n` slots, `interval` seconds apart, `burst` of them at once after idleness.

        Returns their instants, ascending, none before `now`. Atomic: no instant is ever given twice.
        """
        ...

    def give_back(self, domain: str, n: int, interval: float) -> None:
        """Return `n` booked slots that will not be used."""
        ...
