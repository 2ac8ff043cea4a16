"""When a site's night is due: its own cron in its own time zone, daylight saving included. Pure functions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from croniter import croniter

__all__ = ["GRACE", "last_fire", "next_fire", "night_of"]

#: A tick that comes later than this after the time in the cron starts nothing: a night that was slept through stays
#: slept through, it is not made up for in the middle of the site's working day.
GRACE = timedelta(minutes=30)
#: Answers kept: thousands of sites have a handful of crons, and all are asked at the same instant, every minute.
KNOWN = 1_024


@lru_cache(maxsize=KNOWN)
def last_fire(cron: str, zone: str, now: datetime) -> datetime:
    """The last instant at or before `now` at which `cron` fired on the clocks of `zone`, in UTC.

    On the day the clocks go forward a time in the missing hour fires one hour later on the clock, once; on the day
    they go back a time in the repeated hour fires at its first pass, once.
    """
    place = ZoneInfo(zone)
    wall = now.astimezone(place).replace(tzinfo=None)
    # croniter works on the wall clock alone; the zone's jumps are handled here.
    times = croniter(cron, wall + timedelta(seconds=1), ret_type=datetime)
    while True:
        local: datetime = times.get_prev()
        fired = local.replace(tzinfo=place, fold=0).astimezone(UTC)
        if fired <= now:
            return fired


def night_of(fired: datetime, zone: str) -> str:
    """The night's name: the date of the morning it ends in, as the site's own clocks show it."""
    return (fired.astimezone(ZoneInfo(zone)) + timedelta(hours=12)).date().isoformat()


@lru_cache(maxsize=KNOWN)
def next_fire(cron: str, zone: str, now: datetime) -> datetime:
    """The first instant after `now` at which `cron` fires on the clocks of `zone`, in UTC; as `last_fire` has it."""
    place = ZoneInfo(zone)
    # A jump of the clocks moves a fire by an hour at most: begin before it.
    wall = (now - timedelta(hours=2)).astimezone(place).replace(tzinfo=None)
    times = croniter(cron, wall, ret_type=datetime)
    while True:
        local: datetime = times.get_next()
        fired = local.replace(tzinfo=place, fold=0).astimezone(UTC)
        if fired > now:
            return fired
