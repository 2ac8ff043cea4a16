"""Stretches of one domain's log, long enough to say something: what trends are read from.

A window closes when it has lasted `LENGTH_S` and holds `ENOUGH` requests; a slow domain's window grows until it
does, but not beyond `LONGEST_S`. Windows follow each other across runs and nights.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from resources.frontier.base import FetchLogRow

from .metrics import NO_REQUEST, Health

__all__ = ["Window", "WindowMaker"]

#: Long enough to span a Retry-After of some seconds and what the pacer does about it by itself.
LENGTH_S = 60.0
#: Below 20 requests one 429 is 5 % or more: no share to compare.
ENOUGH = 20
#: A domain asked a few times an hour gives a window an hour.
LONGEST_S = 3_600.0


@dataclass(slots=True)
class Window:
    """One stretch: from the start of its first request to that of its last."""

    start: float
    end: float
    health: Health = field(default_factory=Health)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Window:
        return cls(data["start"], data["end"], Health(**data["health"]))


class WindowMaker:
    """Cuts rows into windows. `open` is the one that still fills."""

    def __init__(self, opened: Window | None = None) -> None:
        self.open = opened

    def take(self, row: FetchLogRow) -> Window | None:
        """Count a row; the window that it closed, if any."""
        if row.outcome in NO_REQUEST:
            return None
        closed = self.close(row.started_at)
        if self.open is None:
            self.open = Window(row.started_at, row.started_at)
        self.open.health.count(row)
        self.open.end = max(self.open.end, row.started_at)
        return closed

    def close(self, now: float) -> Window | None:
        """The open window, if its time is up at `now`."""
        window = self.open
        if window is None:
            return None
        age = now - window.start
        if (age >= LENGTH_S and window.health.requests >= ENOUGH) or age >= LONGEST_S:
            self.open = None
            return window if window.health.requests >= ENOUGH // 4 else None
        return None
