"""Off-peak windows: the hours of a site's own day in which it may be crawled.

Pure functions of an instant. A window opens at the first instant of its day at which the local clock shows
`start` or later, and closes at the first instant thereafter at which it shows `end` or later. So on the day the
clocks go forward a start inside the missing hour opens when that hour is jumped over, and on the day they go
back an end inside the repeated hour closes at its first pass: a window is never longer than the site meant by
more than the hour the clock itself repeats inside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

__all__ = ["DAY_NAMES", "Window"]

DAY_NAMES = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


@dataclass(slots=True, frozen=True)
class Window:
    """From `start` to `end` local time in `zone`, on the `days` (0 = Monday) on which it opens.

    `end` at or before `start` means the next day; equal times mean 24 hours.
    """

    start: time
    end: time
    zone: str = "UTC"
    days: frozenset[int] = frozenset(range(7))

    def __post_init__(self) -> None:
        if not self.days or not self.days <= frozenset(range(7)):
            raise ValueError(
                f"a window needs days between 0 (Monday) and 6 (Sunday), not {sorted(self.days)}"
            )
        try:
            ZoneInfo(self.zone)
        except (KeyError, ValueError, OSError) as error:
            raise ValueError(
                f"unknown time zone {self.zone!r}: use an IANA name such as Europe/Berlin"
            ) from error

    @classmethod
    def parse(cls, hours: str, zone: str = "UTC", days: str | list[str] | None = None) -> Window:
        """Build one from `"22:00-06:00"` and days such as `"mon-fri"`, `"sat,sun"` or `["sat", "sun"]`.

        Raises ValueError that names the offending text.
        """
        first, dash, last = hours.replace("–", "-").partition("-")
        if not dash:
            raise ValueError(f"a window is written HH:MM-HH:MM, not {hours!r}")
        return cls(_clock_time(first, hours), _clock_time(last, hours), zone, _day_set(days))

    def is_open(self, now: float) -> bool:
        """Whether the instant `now` (epoch seconds) lies inside the window."""
        return any(opens <= now < closes for opens, closes in self._around(now))

    def closes_at(self, now: float) -> float | None:
        """When the window that is open at `now` closes, adjoining windows joined; None when it is closed.

        A window without gaps (24 hours, every day) answers with an instant about a week ahead.
        """
        end: float | None = None
        for opens, closes in self._around(now):
            if (end is None and opens <= now < closes) or (end is not None and opens <= end < closes):
                end = closes
        return end

    def opens_at(self, now: float) -> float:
        """`now` when it is open, else the next instant at which it opens."""
        if self.is_open(now):
            return now
        # At most 8 days ahead: one weekday, and today's opening is already past.
        return min(opens for opens, _ in self._around(now) if opens > now)

    def _around(self, now: float) -> list[tuple[float, float]]:
        day = datetime.fromtimestamp(now, ZoneInfo(self.zone)).date()
        return _intervals(self, day)


@lru_cache(maxsize=1024)
def _intervals(window: Window, day: date) -> list[tuple[float, float]]:
    """Every opening from two days before `day` to eight days after it, ascending, as epoch seconds."""
    intervals = []
    for offset in range(-2, 9):
        opening_day = day + timedelta(days=offset)
        if opening_day.weekday() not in window.days:
            continue
        closing_day = opening_day + timedelta(days=1 if window.end <= window.start else 0)
        opens = _first_instant(opening_day, window.start, window.zone)
        closes = _first_instant(closing_day, window.end, window.zone)
        if closes > opens:
            intervals.append((opens, closes))
    return intervals


def _first_instant(day: date, at: time, zone: str) -> float:
    """The first instant at which the clocks of `zone` show `at` or later on `day`."""
    local = datetime.combine(day, at, ZoneInfo(zone))
    before = local.replace(fold=0)
    after = local.replace(fold=1)
    if before.utcoffset() == after.utcoffset() or _exists(before):
        return before.timestamp()
    # The time was skipped (PEP 495: in a gap fold=1 is the earlier instant). Walk to the jump itself.
    low, high = after.timestamp(), before.timestamp()
    zone_info = ZoneInfo(zone)
    wanted = datetime.combine(day, at)
    while high - low > 0.5:
        middle = (low + high) / 2
        if datetime.fromtimestamp(middle, zone_info).replace(tzinfo=None) >= wanted:
            high = middle
        else:
            low = middle
    return float(round(high))


def _exists(local: datetime) -> bool:
    return local.astimezone(UTC).astimezone(local.tzinfo).replace(tzinfo=None) == local.replace(tzinfo=None)


def _clock_time(text: str, whole: str) -> time:
    try:
        if text.strip() == "24:00":
            return time(0, 0)
        return time.fromisoformat(text.strip())
    except ValueError as error:
        raise ValueError(f"{text.strip()!r} in {whole!r} is no time of day: write HH:MM") from error


def _day_set(days: str | list[str] | None) -> frozenset[int]:
    if days is None:
        return frozenset(range(7))
    parts = days.split(",") if isinstance(days, str) else days
    chosen: set[int] = set()
    for part in parts:
        first, dash, last = part.strip().lower().partition("-")
        low, high = _day(first, part), _day(last, part) if dash else _day(first, part)
        chosen.update((low + step) % 7 for step in range((high - low) % 7 + 1))
    return frozenset(chosen)


def _day(text: str, whole: str) -> int:
    name = text.strip()[:3]
    if name not in DAY_NAMES:
        raise ValueError(f"{whole!r} is no day of the week: use {', '.join(DAY_NAMES)}")
    return DAY_NAMES.index(name)
