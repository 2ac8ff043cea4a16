"""The URLs of one domain in memory, and which of them is claimed next.

The claimable ones stand in a heap by (priority, age), the parked ones in a heap by time; an entry whose URL has moved on
is dropped when it comes up.
"""

from __future__ import annotations

import heapq

from resources.frontier.base import State, StateCounts, UrlRecord

__all__ = ["DomainUrls", "Row"]


class Row:
    """A record with its age and the entries that stand for it elsewhere."""

    __slots__ = ("age", "record", "token", "version")

    def __init__(self, record: UrlRecord, age: int) -> None:
        self.record = record
        self.age = age
        self.token = 0  # of the claim that holds it
        self.version = 0  # raised with every move: heap entries of an older version are void


class DomainUrls:
    """The URLs of one domain."""

    __slots__ = ("counters", "parked", "ready", "rows")

    def __init__(self) -> None:
        self.rows: dict[bytes, Row] = {}
        self.counters = [0] * len(State)
        self.ready: list[tuple[int, int, int, Row]] = []  # priority, age, version
        self.parked: list[tuple[float, int, int, Row]] = []  # not_before, age, version

    def counts(self) -> StateCounts:
        return StateCounts(*self.counters)

    def move(self, row: Row, new: State, not_before: float | None = None) -> None:
        """The one place where a state changes."""
        self.counters[row.record.state] -= 1
        self.counters[new] += 1
        self.place(row, new, not_before)

    def place(self, row: Row, state: State, not_before: float | None = None) -> None:
        row.version += 1
        row.record.state = state
        row.record.not_before = not_before
        if state is not State.LEASED:
            row.token, row.record.lease_until, row.record.lease_owner = 0, None, ""
        if state is State.PENDING:
            if not_before is None:
                heapq.heappush(self.ready, (row.record.priority, row.age, row.version, row))
            else:
                heapq.heappush(self.parked, (not_before, row.age, row.version, row))

    def unpark(self, now: float) -> None:
        while self.parked and (self.parked[0][0] <= now or self.parked[0][2] != self.parked[0][3].version):
            _, _, version, row = heapq.heappop(self.parked)
            if version == row.version:
                self.place(row, State.PENDING)

    def next_ready(self) -> Row | None:
        """The best claimable row; it stays where it is."""
        while self.ready:
            _, _, version, row = self.ready[0]
            if version == row.version:
                return row
            heapq.heappop(self.ready)
        return None
