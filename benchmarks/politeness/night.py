"""What a crawl came to, from the server's own log: the only witness that knows no crawler."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

__all__ = ["Night", "Seen", "read_night"]

# Shares of the pages: what comes after counts as learned.
_LEARNED_FROM = 0.1


@dataclass(frozen=True, slots=True)
class Seen:
    """One request. `at`: epoch seconds of its arrival; `left`: of its answer."""

    at: float
    left: float
    status: int
    path: str


@dataclass(slots=True)
class Night:
    """One crawl of one server. Rates are pages per second; `good` holds the instants of first deliveries.

    `whole` counts from the first page asked for: looking for sitemaps comes before and has a pace of its own.
    """

    requests: int = 0
    refused: int = 0  # 429 and 503
    forbidden: int = 0
    bans: int = 0
    lost: int = 0
    whole: float = 0.0
    learned: float = 0.0
    seconds: float = 0.0
    first_minute_refused: int = 0
    start: float = 0.0
    good: list[float] = field(default_factory=list)
    bad: list[float] = field(default_factory=list)

    @property
    def share(self) -> float:
        """Refusals among all requests."""
        return self.refused / self.requests if self.requests else 0.0


def read_night(log: Path, paths: Collection[str], since: float = 0.0, until: float = math.inf) -> Night:
    """The night from `since` to `until`. `paths`: the pages there are; a page counts once, whatever is asked."""
    seen = sorted(_lines(log, since, until), key=lambda one: one.at)
    night = Night(requests=len(seen), lost=len(paths))
    if not seen:
        return night
    night.start = seen[0].at
    pages = frozenset(paths)
    wanted = set(paths)
    for one in seen:
        if one.status in (200, 304) and one.path in wanted:
            wanted.discard(one.path)
            night.good.append(one.left)
        elif one.status in (429, 503):
            night.refused += 1
            night.bad.append(one.at)
            night.first_minute_refused += one.at - night.start < 60.0
        elif one.status == 403:
            night.forbidden += 1
    night.lost = len(wanted)
    night.bans = sum(a.status != 403 and b.status == 403 for a, b in pairwise(seen))
    night.seconds = seen[-1].left - night.start
    good = sorted(night.good)
    night.good = good
    if len(good) > 20:
        asked = next(one.at for one in seen if one.path in pages)
        night.whole = len(good) / (good[-1] - asked)
        tail = good[int(len(good) * _LEARNED_FROM) :]
        night.learned = (len(tail) - 1) / (tail[-1] - tail[0])
    return night


def _lines(log: Path, since: float, until: float) -> list[Seen]:
    found = []
    for line in log.read_text(errors="replace").splitlines():
        left, taken, status, path = line.split(" ", 3)
        at = float(left) - float(taken)
        if since <= at < until:
            found.append(Seen(at, float(left), int(status), path))
    return found
