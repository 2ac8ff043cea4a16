"""Servers in virtual time, each with its own idea of how much is too much, and a loop that crawls one through the pacer.

No sockets and no event loop: a heap of events drives `Pacer` directly, so that a night takes a fraction of a
second and every run with the same seed is the same.
"""

from __future__ import annotations

import heapq
import itertools
import random
from collections import deque
from dataclasses import dataclass, field
from typing import Literal, Protocol

from resources.clock import VirtualClock
from resources.pacing.base import Observation, Outcome, PaceEvent, PaceLimits, Slot
from resources.pacing.ledger.base import Ledger
from resources.pacing.ledger.memory import MemoryLedger
from resources.pacing.pacer import Pacer
from resources.web.rate_limit import Quota

__all__ = [
    "Answer",
    "Banner",
    "CollapsingServer",
    "Crawl",
    "Faulty",
    "FixedWindow",
    "LatencyClimb",
    "LeakyBucket",
    "Overloaded",
    "Recorded",
    "Server",
    "SlidingWindow",
    "TokenBucket",
    "Unlimited",
    "crawl",
]


@dataclass(slots=True)
class Answer:
    """What a server does with a request: the answer leaves `after_s` after the request arrived."""

    after_s: float
    status: int = 200
    retry_after_s: float | None = None
    outcome: str = Outcome.OK
    body_bytes: int = 25_000
    quota: Quota | None = None


class Server(Protocol):
    """A server in virtual time; `arrive` is called in order of arrival, `left` when the answer has gone out."""

    def arrive(self, now: float) -> Answer: ...

    def left(self, now: float) -> None: ...


@dataclass
class Unlimited:
    """Takes everything, `service_s` each."""

    service_s: float = 0.001
    spread: float = 0.2
    rng: random.Random = field(default_factory=random.Random)

    def arrive(self, now: float) -> Answer:
        return Answer(self.service_s * self.rng.uniform(1 - self.spread, 1 + self.spread))

    def left(self, now: float) -> None: ...


@dataclass
class LeakyBucket(Unlimited):
    """nginx `limit_req rate=R burst=B [nodelay]`: refused requests do not count."""

    rate: float = 20.0
    burst: int = 5
    nodelay: bool = True
    retry_after_s: float | None = None
    status: int = 429
    _excess: float = 0.0
    _last: float | None = None

    def arrive(self, now: float) -> Answer:
        excess = 0.0 if self._last is None else max(0.0, self._excess - self.rate * (now - self._last) + 1.0)
        if excess > self.burst:
            return Answer(0.0005, self.status, self.retry_after_s, body_bytes=150)
        self._excess, self._last = excess, now
        answer = super().arrive(now)
        if not self.nodelay:
            answer.after_s += excess / self.rate
        return answer


@dataclass
class TokenBucket(Unlimited):
    """`rate` tokens a second, `size` at most; `refused_cost` tokens are taken by a refused request too."""

    rate: float = 10.0
    size: float = 10.0
    refused_cost: float = 0.0
    retry_after_s: float | None = None
    _tokens: float | None = None
    _last: float = 0.0

    def arrive(self, now: float) -> Answer:
        tokens = (
            self.size
            if self._tokens is None
            else min(self.size, self._tokens + self.rate * (now - self._last))
        )
        self._last = now
        if tokens < 1.0:
            self._tokens = max(0.0, tokens - self.refused_cost)
            return Answer(0.0005, 429, self.retry_after_s, body_bytes=150)
        self._tokens = tokens - 1.0
        return super().arrive(now)


@dataclass
class FixedWindow(Unlimited):
    """`count` requests in each window of `window_s` by the clock."""

    count: int = 100
    window_s: float = 60.0
    tell: bool = False  # Retry-After: the rest of the window
    quota: Literal["no", "whole", "rest", "policy"] = "no"  # which RateLimit fields every answer has
    others: float = 0.0  # requests a second of somebody else behind the same address
    _others_at: float = 0.0
    _window: int = -1
    _used: int = 0

    def arrive(self, now: float) -> Answer:
        window = int(now // self.window_s)
        if window != self._window:
            self._window, self._used = window, 0
        if self.others:
            self._used += int(now * self.others) - int((self._others_at or now) * self.others)
            self._others_at = now
        rest = (window + 1) * self.window_s - now
        if self._used >= self.count:
            asked = float(int(rest) + 1) if self.tell else None
            return Answer(0.0005, 429, asked, body_bytes=150, quota=self._told(rest))
        self._used += 1
        answer = super().arrive(now)
        answer.quota = self._told(rest)
        return answer

    def _told(self, rest: float) -> Quota | None:
        left = float(max(0, self.count - self._used))
        if self.quota == "policy":
            return Quota(self.count, self.window_s)
        if self.quota == "whole":
            return Quota(self.count, self.window_s, left, float(int(rest) + 1))
        return Quota(self.count, None, left, float(int(rest) + 1)) if self.quota == "rest" else None


@dataclass
class SlidingWindow(Unlimited):
    """`count` requests in any `window_s` seconds."""

    count: int = 100
    window_s: float = 60.0
    retry_after_s: float | None = None
    _log: deque[float] = field(default_factory=deque)

    def arrive(self, now: float) -> Answer:
        while self._log and self._log[0] <= now - self.window_s:
            self._log.popleft()
        if len(self._log) >= self.count:
            return Answer(0.0005, 429, self.retry_after_s, body_bytes=150)
        self._log.append(now)
        return super().arrive(now)


@dataclass
class Banner:
    """Bans for `ban_s` after `strikes` 429s of the server behind it: 403 for everything meanwhile."""

    behind: Server
    strikes: int = 20
    ban_s: float = 300.0
    bans: int = 0
    _count: int = 0
    _until: float = 0.0

    def arrive(self, now: float) -> Answer:
        if now < self._until:
            return Answer(0.0005, 403, body_bytes=150)
        answer = self.behind.arrive(now)
        if answer.status == 429:
            self._count += 1
            if self._count >= self.strikes:
                self.bans += 1
                self._count, self._until = 0, now + self.ban_s
        return answer

    def left(self, now: float) -> None:
        self.behind.left(now)


@dataclass
class Faulty:
    """`share` of what the server behind it would answer well is a 503, and as much a 500, whatever the rate."""

    behind: Server
    share: float = 0.005
    retry_after_s: float | None = None
    rng: random.Random = field(default_factory=random.Random)
    faults: int = 0

    def arrive(self, now: float) -> Answer:
        answer = self.behind.arrive(now)
        chance = self.rng.random()
        if answer.status != 200 or chance >= 2 * self.share:
            return answer
        if chance < self.share:
            self.faults += 1
            return Answer(0.01, 503, self.retry_after_s, body_bytes=100)
        return Answer(0.01, 500, body_bytes=100)

    def left(self, now: float) -> None:
        self.behind.left(now)


@dataclass
class Overloaded:
    """Serves `capacity` requests a second; above it, that share of the requests gets 503."""

    capacity: float = 20.0
    rng: random.Random = field(default_factory=random.Random)
    _last_second: deque[float] = field(default_factory=deque)

    def arrive(self, now: float) -> Answer:
        asked = self._last_second
        asked.append(now)
        while asked[0] <= now - 1.0:
            asked.popleft()
        if self.rng.random() < 1.0 - self.capacity / len(asked):
            return Answer(0.005, 503, body_bytes=100)
        return Answer(0.02)

    def left(self, now: float) -> None: ...


@dataclass
class CollapsingServer:
    """`workers` with a fixed service time and an accept queue; each waiting connection slows all by `penalty`."""

    workers: int = 4
    service_s: float = 0.05
    penalty: float = 0.5
    _open: int = 0
    _free: list[float] = field(default_factory=list)

    def arrive(self, now: float) -> Answer:
        if not self._free:
            self._free = [0.0] * self.workers
        self._open += 1
        waiting = max(0, self._open - self.workers)
        service = self.service_s * (1.0 + self.penalty * waiting)
        starts = max(now, heapq.heappop(self._free))
        heapq.heappush(self._free, starts + service)
        return Answer(starts + service - now)

    def left(self, now: float) -> None:
        self._open -= 1


@dataclass
class LatencyClimb:
    """No refusals: above `rate` the answers take longer and longer, and it heals slowly."""

    rate: float = 10.0
    service_s: float = 0.05
    _load: float = 0.0
    _last: float | None = None

    def arrive(self, now: float) -> Answer:
        if self._last is not None:
            self._load = max(0.0, self._load - self.rate * (now - self._last)) + 1.0
        self._last = now
        return Answer(self.service_s + 0.5 * self._load / self.rate)

    def left(self, now: float) -> None: ...


@dataclass
class Recorded:
    """A server that follows a script: `(until second, server)`, the last one for ever."""

    script: list[tuple[float, Server]]
    start: float | None = None

    def arrive(self, now: float) -> Answer:
        if self.start is None:
            self.start = now
        for until, server in self.script:
            if now - self.start < until:
                return server.arrive(now)
        return self.script[-1][1].arrive(now)

    def left(self, now: float) -> None:
        for _, server in self.script:
            if isinstance(server, CollapsingServer):
                server.left(now)


@dataclass
class Crawl:
    """What a simulated night came to. Arrivals are at the server, accepted ones only where it says so."""

    pages: int = 0
    lost: int = 0
    throttled: int = 0
    other: int = 0
    seconds: float = 0.0
    sent: list[float] = field(default_factory=list)
    arrivals: list[tuple[float, int]] = field(default_factory=list)  # (instant, status)
    events: list[PaceEvent] = field(default_factory=list)
    rates: list[tuple[float, float]] = field(default_factory=list)
    pacer: Pacer | None = None
    ledger: Ledger | None = None

    @property
    def goodput(self) -> float:
        """Pages per second over the whole night."""
        return self.pages / self.seconds if self.seconds else 0.0

    def goodput_from(self, share: float) -> float:
        """Pages per second after the first `share` of the pages."""
        good = [instant for instant, status in self.arrivals if status == 200]
        tail = good[int(len(good) * share) :]
        return (len(tail) - 1) / (tail[-1] - tail[0])


def crawl(
    server: Server,
    pages: int = 2000,
    *,
    limits: PaceLimits | None = None,
    rtt_s: float = 0.0005,
    noise_s: float = 0.0003,
    loop_lag_s: float = 0.0005,
    stall_s: float = 0.0,
    seed: int = 1,
    ledger: Ledger | None = None,
    max_s: float = 36_000.0,
    start: float = 1_700_000_000.0,
    domain: str = "shop.example",
    observe: int | None = None,
) -> Crawl:
    """Crawl `pages` URLs of one domain through a pacer, refused ones again, for at most `max_s` seconds.

    `rtt_s` +- `noise_s`: the network; `loop_lag_s`: how late the loop wakes, uniformly; one time in
    fifty by up to `stall_s`: a busy machine.
    """
    rng = random.Random(seed)
    clock = VirtualClock(start)
    ledger = ledger if ledger is not None else MemoryLedger()
    pacer = Pacer(clock, ledger, rng=random.Random(seed + 1))
    result = Crawl(pacer=pacer, ledger=ledger)
    pacer.admit(domain, limits or PaceLimits())
    pending = pages
    order = itertools.count()
    #: (instant, order, what, slot, sent at, answer)
    heap: list[tuple[float, int, str, Slot | None, float, Answer | None]] = []
    pacer.want(domain, pending)
    now = start

    def one_way() -> float:
        return max(0.0, rtt_s / 2 + rng.uniform(-noise_s, noise_s) / 2)

    while True:
        clock.tick(now - clock.now())
        while (slot := pacer.take(now)) is not None:
            pending -= 1
            result.sent.append(now)
            heapq.heappush(heap, (now + one_way(), next(order), "arrive", slot, now, None))
        wake = pacer.next_at(now)
        if wake is not None and pending > 0:
            wake += rng.uniform(0, loop_lag_s)
            if stall_s and rng.random() < 0.02:
                wake += rng.uniform(0, stall_s)
        if heap and (wake is None or pending <= 0 or heap[0][0] <= wake):
            now, _, what, slot, sent, answer = heapq.heappop(heap)
            assert slot is not None
            if what == "arrive":
                answer = server.arrive(now)
                result.arrivals.append((now, answer.status))
                heapq.heappush(heap, (now + answer.after_s, next(order), "leave", slot, sent, answer))
            elif what == "leave":
                server.left(now)
                heapq.heappush(heap, (now + one_way(), next(order), "done", slot, sent, answer))
            else:
                assert answer is not None
                clock.tick(now - clock.now())
                if answer.status in (200, 304, 404) and answer.outcome == Outcome.OK:
                    result.pages += 1
                else:
                    pending += 1
                    result.throttled += answer.status in (429, 503)
                    result.other += answer.status not in (429, 503)
                response = answer.outcome not in (Outcome.TIMEOUT, Outcome.CONNECT_ERROR, Outcome.DNS)
                result.events += pacer.done(
                    slot,
                    Observation(
                        at=now,
                        started_at=sent,
                        ttfb_s=now - sent if response else None,
                        duration_s=now - sent,
                        status=answer.status if response else None,
                        outcome=answer.outcome,
                        retry_after_s=answer.retry_after_s,
                        body_bytes=answer.body_bytes,
                        quota=answer.quota,
                    ),
                )
                pacer.want(domain, pending)
                result.rates.append(
                    (now - start, pacer.decide(domain, now).rate) if observe else (now - start, 0.0)
                )
        elif wake is not None and pending > 0:
            now = max(now, wake)
        else:
            break
        if now - start > max_s:
            break
    result.seconds = now - start
    result.lost = pages - result.pages
    pacer.end_night("night", now)
    return result
