"""How many requests of one domain may be in flight: the number that brings the most pages, and no more.

Connections are only added while they are the bottleneck. Each level c is judged by the pages a second it yields
when fully used, c / (mean duration): a level that brings less than a part of what it should is left again and
tried anew after a pause that doubles, unless the level below turns out to bring still less. So a server that works on four requests at a time gets four, and one that
delays (its throughput does not depend on c) gets one or two.
"""

from __future__ import annotations

from bisect import insort

__all__ = ["ConcurrencyLadder"]

# The share of the ideal gain (1 / (c - 1) of the throughput) below which a further connection is not worth it.
_WORTH = 0.4
# So much less than the level below brought is seen at once: a server that collapses is not asked a dozen times.
_AWFUL = 0.7
# Otherwise it takes two measurements in a row, without the slowest answers: a stall may be ours.
_DOUBTS, _STALLED = 2, 0.2
_RETRY_AFTER_S = 60.0
_RETRY_AFTER_MAX_S = 3600.0
# How fast the remembered throughput of a level follows a new measurement.
_FOLLOW = 0.5


class ConcurrencyLadder:
    """`level` is the number in force, at most `ceiling`. Report every full response with `measured`."""

    __slots__ = ("_doubts", "_left", "_not_before", "_pause", "_seen", "_yield", "ceiling", "level")

    def __init__(self, ceiling: int, start: int | None = None) -> None:
        self.ceiling = ceiling
        self.level = max(1, min(ceiling, start if start is not None else 2))
        self._yield: dict[int, float] = {}
        self._pause: dict[int, float] = {}
        self._not_before: dict[int, float] = {}
        self._seen: list[float] = []  # durations at this level, ascending
        self._doubts = 0  # times in a row that the level seemed to bring too little
        self._left: tuple[int, float] | None = (
            None  # the level just left for bringing too little, and what it brought
        )

    def measured(self, in_flight: int, duration_s: float, now: float) -> bool:
        """A response to a request sent as number `in_flight` while connections were the bottleneck.

        True when `level` changed.
        """
        if in_flight != self.level:
            return False
        seen, level = self._seen, self.level
        insort(seen, duration_s)
        usual = seen[: len(seen) - int(len(seen) * _STALLED)]
        brought = level * len(usual) / max(sum(usual), 1e-6)
        awful = len(seen) >= level and brought < _AWFUL * self._yield.get(level - 1, 0.0)
        if len(seen) < 3 * level + 5 and not awful:
            return False
        seen.clear()
        if self._left is not None:
            left, had = self._left
            self._left = None
            if left == level + 1:
                # What this level brought long ago is no measure when the server has become slower by itself.
                self._yield[level] = brought
                if had >= brought * (1.0 + _WORTH / level):
                    self._not_before.pop(left, None)
                    self._pause.pop(left, None)
                    self._yield[left] = had
                    self.level = left
                    return True
        known = self._yield.get(level)
        self._yield[level] = brought if known is None else known + _FOLLOW * (brought - known)
        below = self._yield.get(level - 1)
        if below is not None and brought < below * (1.0 + _WORTH / (level - 1)):
            self._doubts += 1
            if self._doubts < _DOUBTS and not awful:
                return False
            self._doubts = 0
            pause = self._pause.get(level, _RETRY_AFTER_S / 2) * 2
            self._pause[level] = min(pause, _RETRY_AFTER_MAX_S)
            self._not_before[level] = now + self._pause[level]
            self._left = (level, brought)
            self.level = level - 1
            return True
        self._doubts = 0
        if level < self.ceiling and now >= self._not_before.get(level + 1, 0.0):
            self.level = level + 1
            return True
        return False

    def step_down(self, now: float) -> None:
        """Trouble of another kind: one connection less, not to be added again for a while."""
        self._seen.clear()
        if self.level > 1:
            self._not_before[self.level] = now + _RETRY_AFTER_S * 2
            self.level -= 1
