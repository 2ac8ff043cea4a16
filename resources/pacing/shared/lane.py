"""A domain as one of several workers sees it: the pace in force is told by the one that leads."""

from __future__ import annotations

import math
from collections import deque

from resources.pacing.base import PaceLimits
from resources.pacing.lane import Lane
from resources.pacing.ledger.base import LedgerRow

__all__ = ["SharedLane"]

#: Slots are booked so far ahead, all workers together: turns every fifth of a second never run dry.
AHEAD_S = 0.5


class SharedLane(Lane):
    """`permits`: requests this worker may have in flight; of all workers together never more than the cap.

    `leading`: this worker learns from what all of them see. The others take rate, cap and gate as told.
    """

    __slots__ = (
        "heard_at", "holders", "leading", "lost", "owed_news", "permits", "seen", "slots", "taken",
        "target", "told", "told_cap", "told_gate", "told_rate",
    )  # fmt: skip

    def __init__(self, domain: str, limits: PaceLimits, row: LedgerRow | None, now: float) -> None:
        self.permits = 0
        self.target = 0
        self.leading = False
        self.told_cap = 1
        self.told_gate = 0.0
        self.told_rate = 0.0
        self.told: tuple[float, int, float] | None = None  # what was last told by this worker
        self.slots: deque[float] = deque()
        self.taken = math.inf  # instant of the slot that `due` stands for
        self.lost = 0  # slots void because they were late, not told yet
        self.seen: list[bytes] = []
        self.owed_news: float | None = None
        self.heard_at = now
        self.holders = 1
        super().__init__(domain, limits, row, now)
        if not limits.unlimited:
            self.due = math.inf  # until the first slots come

    @property
    def cap(self) -> int:
        """Requests this worker may have in flight now."""
        return min(self.permits, self.target, self.own_cap if self.leading else self.told_cap)

    @property
    def own_cap(self) -> int:
        """What this worker's learning allows all workers together."""
        return super().cap

    def refresh_gate(self) -> None:
        super().refresh_gate()
        if not self.leading and self.learner is not None:
            self.gate = max(self.gate, self.told_gate)

    def hand_back(self) -> list[float]:
        """Take the slots in hand off, the booked one too: used later, it would come beside another's."""
        back = list(self.slots)
        self.slots.clear()
        if self.taken < math.inf:
            back.append(self.taken)
            self.due = self.taken = math.inf
            self.stamp = 0
        return back

    @property
    def stock(self) -> int:
        """Slots this worker should have in hand."""
        rate = self.told_rate if math.isfinite(self.told_rate) else 0.0
        return max(1, math.ceil(rate * AHEAD_S / max(1, self.holders)) + 1)
