"""Latency as a sign: has the time to first byte grown to a multiple of its base, and what does that mean?

Answers are taken in epochs. Throughput tells the cases apart: a server that serves all it is sent, only slower, one
that serves as much as ever while the rest waits (a shaping limiter, a queue), and one that collapses.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from statistics import median

__all__ = ["EPOCH_ANSWERS", "Latency", "LatencyVerdict"]

# An epoch: enough answers for a mean, long enough for a throughput.
EPOCH_ANSWERS = 16
_EPOCH_S = 1.0
# Creeping: three times the base, and by more than a busy machine of ours adds.
_CREEP_FACTOR, _CREEP_MIN_S = 3.0, 0.1
# The base follows a server that is slower for good by 1 % an epoch; throughput is forgotten by half a percent.
_BASE_DRIFT, _BEST_DECAY = 1.01, 0.995
# Epochs of going slower without an answer getting faster, until the new latency is taken for the server's own.
_STRIKES, _NO_BETTER = 3, 0.8
_SAME_GOODPUT = 0.9
# More than half of the answers waited for a connection: connections are the bottleneck, not the rate.
_MOSTLY = 0.5


class LatencyVerdict(enum.Enum):
    """What an epoch says."""

    WELL = "well"
    SLOWER = "serves all it is sent, only slower"
    DELAYS = "serves as much as ever, the rest waits"
    COLLAPSES = "serves less than it did"


class Latency:
    """One domain's time to first byte. `base`, `mean` (of an epoch: its median): seconds; `goodput`: requests per second in the last epoch."""

    __slots__ = (
        "_at",
        "_best",
        "_last_mean",
        "_late",
        "_n",
        "_seen",
        "_strikes",
        "base",
        "bound",
        "goodput",
        "mean",
    )

    def __init__(self) -> None:
        self.base: float | None = None
        self.mean: float | None = None
        self.goodput = 0.0
        self.bound = False  # by connections, in the last epoch
        self._at = self._best = self._last_mean = 0.0
        self._seen: list[float] = []
        self._n = self._late = self._strikes = 0

    def start(self, now: float) -> None:
        """Begin an epoch; what was gathered belongs to another rate."""
        self._at, self._n, self._late = now, 0, 0
        self._seen.clear()

    def answered(self, ttfb: float, paced: bool, now: float) -> bool:
        """Record an answer. True when the epoch is full: call `judge`."""
        self._n += 1
        self._seen.append(ttfb)
        self._late += not paced
        return self._n >= EPOCH_ANSWERS and now - self._at >= _EPOCH_S

    def judge(self, recent: Sequence[float], rate: float, now: float) -> LatencyVerdict:
        """Close the epoch. `recent`: instants of sending (refused ones negative); `rate`: the rate offered."""
        # The median: one stall, ours or theirs, delays a handful of answers and says nothing about the rate.
        mean = self.mean = median(self._seen)
        # The later half: while the rate grows the whole would say too little.
        tail = recent[-max(EPOCH_ANSWERS - 1, self._n // 2) - 1 :]
        goodput = self.goodput = (len(tail) - 1) / max(1e-6, abs(tail[-1]) - abs(tail[0]))
        self.bound = self._late > _MOSTLY * self._n
        self.start(now)
        base = self.base = min((self.base or mean) * _BASE_DRIFT, mean)
        best, self._best = self._best, max(self._best * _BEST_DECAY, goodput)
        if self.bound or mean <= _CREEP_FACTOR * base or mean - base <= _CREEP_MIN_S:
            # Where connections are the bottleneck their number answers for the latency, not the rate.
            self._strikes = 0
            return LatencyVerdict.WELL
        self._strikes += 1
        last, self._last_mean = self._last_mean, mean
        if self._strikes > _STRIKES and mean > _NO_BETTER * last:
            self.base, self._strikes = mean / 2, 0
            return LatencyVerdict.WELL
        if goodput >= _SAME_GOODPUT * rate:
            return LatencyVerdict.SLOWER
        if goodput >= _SAME_GOODPUT * best:
            return LatencyVerdict.DELAYS
        self._best = goodput
        return LatencyVerdict.COLLAPSES
