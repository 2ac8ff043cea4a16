"""What a running crawl tells of itself now and then, for the charts of the night: one observation for all domains.

The observations belong to `night_report` and have no partition, so that they are found by one query. They come every
second at first and every half minute later: a night of a minute has a curve, and one of ten hours costs 10 s in all.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from crawl_assets.stages.night import Night

if TYPE_CHECKING:  # imported where it is used: see definitions.py
    from resources.crawler.crawl import Crawl

__all__ = ["PROGRESS_OF", "NightProgress"]

#: The asset whose observations these are.
PROGRESS_OF = "night_report"
FIRST_S, LAST_S, GROWTH = 1.0, 30.0, 1.15


class NightProgress:
    """Decides when it is time, and writes."""

    def __init__(self, night: Night, stage: str) -> None:
        self._night = night
        self._stage = stage
        self._gap = FIRST_S
        self._next = 0.0

    async def look(self, crawl: Crawl, *, last: bool = False) -> None:
        """Write what the crawl says, if it is time. `last`: whatever the time is."""
        now = time.monotonic()
        if now < self._next and not last:
            return
        self._next = now + self._gap
        self._gap = min(LAST_S, self._gap * GROWTH)
        seen = crawl.progress()
        await self._night.observed(
            PROGRESS_OF,
            {
                "night": self._night.name,
                "stage": self._stage,
                "queue": seen.queue,
                "pages so far": seen.pages,
                "requests so far": seen.requests,
                "429s so far": seen.throttled,
                "failed so far": seen.errors,
                "requests per s": round(seen.rate, 3),
                "domains running": sum(1 for d in seen.domains if not d.end),
            },
        )
