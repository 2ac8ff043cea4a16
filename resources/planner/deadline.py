"""The hour at which the tables have to be ready: a time of day on the clocks of each site."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

__all__ = ["READY_BY", "deadline_after", "ready_by"]

#: Before the working day begins.
READY_BY = "07:00"


def ready_by(text: str = "", environ: Mapping[str, str] | None = None) -> time:
    """`text`, else NIGHTCRAWL_READY_BY, else 07:00, as a time of day. ValueError names a text that is none."""
    env = os.environ if environ is None else environ
    given = text or env.get("NIGHTCRAWL_READY_BY", "") or READY_BY
    try:
        found = time.fromisoformat(given.strip())
    except ValueError:
        raise ValueError(f"{given!r} is no time of day: write '07:00'") from None
    if found.tzinfo is not None:
        raise ValueError(f"{given!r}: leave the zone out, each site's own clocks count")
    return found


def deadline_after(start: float, at: time, zone: str) -> float:
    """The first instant after `start` (epoch seconds) at which the clocks of `zone` show `at`."""
    place = ZoneInfo(zone)
    day = datetime.fromtimestamp(start, UTC).astimezone(place).date()
    while True:
        found = datetime.combine(day, at, place).timestamp()
        if found > start:
            return found
        day += timedelta(days=1)
