"""Workers that share a pace and are held up: no window exceeds the rate by what was late, and what was lost comes again.

In virtual time, with one bucket that books as `turn.lua` does (`tests/fleet/test_turns.py` holds the servers to that).
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Sequence
from typing import cast

import pytest

from resources.clock import VirtualClock
from resources.pacing.base import Observation, PaceLimits
from resources.pacing.ledger.memory import MemoryLedger
from resources.pacing.shared.exchange import Answer, Ask, Exchange
from resources.pacing.shared.pacer import LATE_S, SharedPacer

DOMAIN = "counted.example"
RATE, WORKERS, JITTER = 60.0, 4, 0.3
STEP_S = 0.001


class Bucket:
    """The pace of one domain, for all workers."""

    def __init__(self, clock: VirtualClock) -> None:
        self.clock = clock
        self.tat = clock.now()
        self.lost = 0.0

    def slots(self, wanted: int, lost: int) -> list[float]:
        now = self.clock.now()
        self.lost = min(self.lost + lost, RATE)
        given: list[float] = []
        while len(given) < wanted:
            slot = max(self.tat, now)
            if given and slot > now + 1.0:
                break
            sooner = min(self.lost, 0.01)
            self.lost -= sooner
            self.tat = slot + (1.0 - sooner) / RATE
            given.append(slot)
        return given


class Line:
    """An exchange whose answers are there at once."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket
        self.answers: deque[Answer] = deque()
        self.unanswered: deque[Sequence[Ask]] = deque()
        self.idle, self.offset = True, 0.0
        self.on_answer: Callable[[], object] = lambda: None

    def send(self, asks: Sequence[Ask]) -> None:
        for ask in asks:
            slots = self._bucket.slots(ask.slots, ask.lost)
            extra = 5 - ask.hold
            self.answers.append(Answer(DOMAIN, 0, extra, 5, WORKERS, RATE, 5, 0.0, "", 0.2, slots, [], ask))


def crawl(seconds: float, stalls: Callable[[random.Random], float]) -> list[float]:
    """When requests went. At each millisecond each worker may be held up for `stalls` seconds."""
    rng = random.Random(11)
    clock = VirtualClock(1_000.0)
    bucket = Bucket(clock)
    limits = PaceLimits(rate=RATE, jitter=JITTER)
    pacers = []
    for number in range(WORKERS):
        line = cast("Exchange", Line(bucket))
        pacer = SharedPacer(clock, MemoryLedger(), line, rng=random.Random(number))
        pacer.admit(DOMAIN, limits)
        pacer.want(DOMAIN, 10**6)
        pacers.append(pacer)
    held = [0.0] * WORKERS
    sent = []
    while (now := clock.now()) < 1_000.0 + seconds:
        together = stalls(rng)
        for number, pacer in enumerate(pacers):
            held[number] = max(held[number], now + max(together, stalls(rng)))
            while held[number] <= now and (slot := pacer.take(now)) is not None:
                sent.append(now)
                pacer.done(slot, Observation(now, now, 0.0, 0.0, 200, body_bytes=1_000))
        clock.tick(STEP_S)
    return sent


def most(sent: list[float], window_s: float) -> int:
    first = found = 0
    for at, instant in enumerate(sent):
        while sent[first] < instant - window_s:
            first += 1
        found = max(found, at - first + 1)
    return found


def test_what_is_late_never_bunches() -> None:
    sent = crawl(60.0, lambda rng: rng.uniform(0.02, 0.3) if rng.random() < 0.0001 else 0.0)
    # A slot is a gap and LATE_S late at most and displaced by jitter; one more a worker may wait for its turn.
    late = (LATE_S + (1.0 + JITTER) / RATE) * RATE
    for window_s in (0.1, 0.5, 1.0, 2.0, 5.0, 20.0):
        assert most(sent, window_s) <= 1.01 * RATE * window_s + late + 1 + WORKERS, window_s
    for window_s in (2.0, 5.0):
        assert most(sent, window_s) <= 1.02 * RATE * window_s + 5, window_s


@pytest.mark.parametrize("stall_s", [0.05, 0.4])
def test_what_is_lost_comes_again(stall_s: float) -> None:
    """Each is held up for 0.8 % of the time, half of it with all others: the rate stays whole."""
    share = 0.004 * STEP_S / stall_s
    sent = crawl(100.0, lambda rng: stall_s if rng.random() < share else 0.0)
    assert 0.99 * RATE <= len(sent) / 100.0 <= 1.002 * RATE
