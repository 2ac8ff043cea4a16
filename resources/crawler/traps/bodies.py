"""Which bodies a domain has shown lately: by the first 64 bits of their hash, for one in a trillion taken for another
does no harm here.

Two generations, so that at no moment all is forgotten. In each, the newest stand in a set, all others in a sorted array.

Costs: 8 bytes for each of up to MAX_BODIES bodies a generation, 90 for each of the newest; 1 µs a look.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left

import numpy as np

__all__ = ["MAX_BODIES", "BodyMemory"]

#: Per generation: 0.4 MB.
MAX_BODIES = 50_000
#: The newest ones are put in order at that many: half a millisecond's work for a full generation.
_NEWEST = 1_024


class BodyMemory:
    """Bodies by their content hash."""

    __slots__ = ("_newest", "_older", "_settled")

    def __init__(self) -> None:
        self._newest: set[int] = set()
        self._settled = array("Q")
        self._older = array("Q")

    def __len__(self) -> int:
        """Bodies remembered; one that is in both generations counts twice."""
        return len(self._newest) + len(self._settled) + len(self._older)

    def meet(self, content_hash: bytes) -> bool:
        """Remember a body; whether it is new."""
        start = int.from_bytes(content_hash[:8])
        if start in self._newest or _holds(self._settled, start):
            return False
        new = not _holds(self._older, start)
        self._newest.add(start)
        if len(self._newest) >= _NEWEST or len(self._newest) + len(self._settled) >= MAX_BODIES:
            self._settle()
        return new

    def _settle(self) -> None:
        newest = np.fromiter(self._newest, np.uint64, len(self._newest))
        every = np.concatenate([np.frombuffer(self._settled, np.uint64), newest])
        every.sort()
        self._settled, self._newest = array("Q", every.tobytes()), set()
        if len(self._settled) >= MAX_BODIES:
            self._settled, self._older = array("Q"), self._settled


def _holds(numbers: array[int], number: int) -> bool:
    at = bisect_left(numbers, number)
    return at < len(numbers) and numbers[at] == number
