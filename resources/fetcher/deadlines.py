"""Total time limits of the requests in flight: one timer for all that have the same limit.

`asyncio.timeout` makes and cancels a timer of the loop for each request, 7 µs; here a request is an entry in a
dictionary, 1 µs. Requests with one limit end in the order in which they began, so the oldest entry is the next to be
over, and the timer is set for it; it goes off once in the time of a limit, however many requests there are. An entry
is gone when its request is, so nothing adds up. To the instant as exact as `asyncio.timeout`, and told apart from a
cancellation from outside by the same rule.
"""

from __future__ import annotations

import asyncio
from typing import Any

__all__ = ["Deadline", "Deadlines"]


class Deadline:
    """The limit of the task that began it; see `Deadlines`."""

    __slots__ = ("_before", "_peers", "expired", "task", "when")

    def __init__(self, task: asyncio.Task[Any], when: float, peers: dict[Deadline, None]) -> None:
        self.task = task
        self.when = when
        self.expired = False
        self._before = task.cancelling()
        self._peers = peers

    def passed(self) -> bool:
        """Whether the CancelledError that was just caught is this limit's doing and nobody else's."""
        if not self.expired:
            return False
        self.expired = False
        return self.task.uncancel() <= self._before

    def end(self) -> None:
        """The request is over. Once, whatever came of it."""
        self._peers.pop(self, None)
        if self.expired:  # something else than the cancellation came of it, which is taken back
            self.task.uncancel()


class Deadlines:
    """`deadline = begin(seconds)` in a task; in it `deadline.end()` when done. The task is cancelled if that is late."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        #: By limit in seconds: those in flight, oldest first.
        self._running: dict[float, dict[Deadline, None]] = {}
        self._timed: set[float] = set()

    def begin(self, seconds: float) -> Deadline:
        """The current task has so many seconds from now."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop, self._running, self._timed = loop, {}, set()
        task = asyncio.current_task(loop)
        if task is None:
            raise RuntimeError("a deadline is of a task, and none is running")
        peers = self._running.get(seconds)
        if peers is None:
            peers = self._running[seconds] = {}
        deadline = Deadline(task, loop.time() + seconds, peers)
        peers[deadline] = None
        if seconds not in self._timed:
            self._timed.add(seconds)
            loop.call_at(deadline.when, self._look, loop, seconds)
        return deadline

    def _look(self, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        """Cancel what is late; wait for the next one, if there is any."""
        if loop is not self._loop:
            return
        now = loop.time()
        peers = self._running[seconds]
        while (oldest := next(iter(peers), None)) is not None:
            if oldest.when > now:
                loop.call_at(oldest.when, self._look, loop, seconds)
                return
            del peers[oldest]
            oldest.expired = True
            oldest.task.cancel()
        self._timed.discard(seconds)
        del self._running[seconds]
