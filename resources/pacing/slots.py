"""The token bucket of one process: GCRA with reservation.

For each domain one number is kept, the theoretical arrival time (TAT) of the next request: ITU-T I.371's generic
cell rate algorithm, which is a token bucket without a counter. Reserving moves it on at once, so a slot can not be
spent twice; idle time is worth at most `burst` slots.
"""

from __future__ import annotations

__all__ = ["LocalSlots"]


class LocalSlots:
    """Two floats a domain; a call is a dictionary look-up and a few additions."""

    __slots__ = ("_interval", "_tat")

    def __init__(self) -> None:
        self._tat: dict[str, float] = {}
        self._interval: dict[str, float] = {}

    def reserve(self, domain: str, n: int, interval: float, burst: int, now: float) -> list[float]:
        """See `SlotSource.reserve`."""
        tat = self._tat.get(domain, now)
        last = self._interval.get(domain, interval)
        if interval > last and tat > now:
            # What is owed is owed in requests: a slower rate makes it last longer.
            tat = now + (tat - now) * interval / last
        self._interval[domain] = interval
        tolerance = (burst - 1) * interval
        slots = []
        for _ in range(n):
            slot = tat - tolerance
            if slot < now:
                slot = now
            if tat < slot:
                tat = slot
            tat += interval
            slots.append(slot)
        self._tat[domain] = tat
        return slots

    def give_back(self, domain: str, n: int, interval: float) -> None:
        """See `SlotSource.give_back`."""
        if domain in self._tat:
            self._tat[domain] -= n * interval
