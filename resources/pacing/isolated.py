"""Whether a 503 is a fault of the site's own or its way to say "too fast".

Many sites answer one request in some hundreds with 503, whatever the rate: a restarted worker, a broken page. A
limiter and an overloaded server answer 503 too. What tells them apart is company: faults come alone and at uneven
distances; overload comes in bursts, and a limiter, at a steady rate, after equal runs. An isolated one costs a pause
of some requests and leaves the rate alone. Cost: an addition a page, 200 bytes a domain.
"""

from __future__ import annotations

from collections import deque

__all__ = ["IsolatedFaults"]

# So many of the last 32 answers, beyond what the site always has, are no accident.
_NEEDED, _WINDOW_MASK, _WINDOW = 3, (1 << 32) - 1, 32
# While the rate doubles every few answers two are enough: the second one comes soon if the rate is to blame.
_NEAR_AT_START = 40
# Runs between faults whose lengths differ by no more than that are not chance: four random ones agree in 0.1 %.
_EQUAL_RUNS, _EQUAL_WITHIN, _RUN_MIN = 4, 1.25, 6
# What a site always has counts, but a site that fails every tenth request is in trouble all the time.
_USUAL_MAX = 1.0
_SUSPECTS = 8
# A rate that grows waits so many answers after a fault: was it the rate?
_STILL = 12


class IsolatedFaults:
    """The recent 503s of one domain. `suspects`: when those were sent that were taken for faults, newest last."""

    __slots__ = ("_bits", "_faults", "_runs", "_seen", "limiter", "since", "suspects")

    def __init__(self) -> None:
        self._bits = 0
        self._faults = 0
        self._seen = 0
        self._runs: deque[int] = deque(maxlen=_EQUAL_RUNS)
        self.since = 1 << 30  # answers since the last 503
        self.suspects: deque[float] = deque(maxlen=_SUSPECTS)
        self.limiter = False  # its 503s are a limiter's: none is taken for a fault

    def answered(self) -> None:
        """An answer that is no 503."""
        self.since += 1
        self._seen += 1
        if self._bits:
            self._bits = (self._bits << 1) & _WINDOW_MASK

    @property
    def recent(self) -> bool:
        """Whether a fault is so near that a growing rate should wait for what follows."""
        return self.since < _STILL

    def unavailable(self, sent_at: float, growing: bool) -> bool:
        """Record a 503. True: a fault of the site's own, alone as far as can be seen."""
        run, self.since = self.since, 0
        usual = self._faults / self._seen * _WINDOW if self._seen > _WINDOW else 0.0
        usual = min(usual, _USUAL_MAX)
        self._faults += 1
        self._bits = (self._bits << 1 | 1) & _WINDOW_MASK
        self._runs.append(run)
        self.suspects.append(sent_at)
        # 1. a known limiter  2. the second one while the rate grows  3. many  4. at equal distances
        if self.limiter or (growing and run < _NEAR_AT_START):
            return False
        if self._bits.bit_count() >= _NEEDED + 2 * usual:
            return False
        shortest, longest = min(self._runs), max(self._runs)
        equal = len(self._runs) == _EQUAL_RUNS and longest <= shortest * _EQUAL_WITHIN
        return not (equal and shortest >= _RUN_MIN)

    def reacted(self, explained: bool) -> None:
        """After a reaction: whether a limiter explains the 503s."""
        self.suspects.clear()
        self._runs.clear()
        self._bits = 0
        self.limiter = explained
