"""Time as a seam: everything that waits or compares instants asks a `Clock`.

`SystemClock` is the real thing. `VirtualClock` moves only when told to (or when everybody sleeps), so a
test plays a night of ten hours in milliseconds and gets the same answer every time.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from typing import Protocol

__all__ = ["Clock", "SystemClock", "VirtualClock"]


class Clock(Protocol):
    """Wall-clock seconds since the epoch, and a way to wait."""

    def now(self) -> float:
        """Seconds since 1970-01-01 UTC. Comparable across processes and restarts."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after `seconds` have passed on this clock (at once when it is zero or less)."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> float:
        return time.time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(max(0.0, seconds))


class VirtualClock:
    """A clock that stands still until `advance` or `run` moves it.

    Sleepers wake in order of their deadline; ties wake in the order in which they went to sleep.
    """

    def __init__(self, start: float = 1_700_000_000.0) -> None:
        self._now = start
        self._order = itertools.count()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []

    def now(self) -> float:
        return self._now

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._now + seconds, next(self._order), future))
        await future

    def tick(self, seconds: float) -> None:
        """Move the time without waking anybody: for code that only reads the clock."""
        self._now += seconds

    async def advance(self, seconds: float) -> None:
        """Move on by `seconds`, waking each sleeper at its own instant and letting it run."""
        target = self._now + seconds
        await self._settle()
        while self._sleepers and self._sleepers[0][0] <= target:
            self._wake_next()
            await self._settle()
        self._now = max(self._now, target)

    async def run(self, task: asyncio.Future[object], limit_s: float = 86_400.0) -> None:
        """Jump from sleeper to sleeper until `task` is done; TimeoutError after `limit_s` virtual seconds."""
        end = self._now + limit_s
        await self._settle()
        while not task.done():
            if not self._sleepers or self._sleepers[0][0] > end:
                raise TimeoutError(f"nothing left to wake within {limit_s} virtual seconds")
            self._wake_next()
            await self._settle()

    def _wake_next(self) -> None:
        when, _, future = heapq.heappop(self._sleepers)
        self._now = max(self._now, when)
        if not future.done():
            future.set_result(None)

    async def _settle(self) -> None:
        # Twenty turns of the event loop let a chain of awaits between two sleeps run to its end.
        for _ in range(20):
            await asyncio.sleep(0)
