"""From the parts of a date to epoch seconds: what the strict and the loose reader of dates share.

Total: parts that name no moment give None, never an exception.
"""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta

__all__ = ["EPOCH", "MONTHS", "from_epoch", "full_year", "to_epoch"]

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

#: First whole year of the Gregorian calendar. Earlier ones are uninitialised variables, most often year 1.
FIRST_YEAR = 1583

#: Without a clock two-digit years from here on are of the 20th century (RFC 6265 5.1.1).
_PIVOT = 70


def from_epoch(epoch: float) -> datetime | None:
    """The UTC moment of `epoch`, fractions cut off; None outside the years 1 to 9999."""
    if not math.isfinite(epoch):
        return None
    try:
        return EPOCH + timedelta(seconds=math.floor(epoch))
    except OverflowError:
        return None


def full_year(two_digits: int, rest: tuple[int, int, int, int, int], now: float | None) -> int:
    """The year a two-digit one stands for (RFC 9110 5.6.7).

    `rest` is month, day, hour, minute, second. A moment more than 50 years after `now` is of the past:
    the latest year with these two digits that is not so far ahead. Without `now`, 1970 to 2069.
    """
    today = None if now is None else from_epoch(now)
    if today is None:
        return two_digits + (1900 if two_digits >= _PIVOT else 2000)
    here = (today.month, today.day, today.hour, today.minute, today.second)
    last = today.year + 50
    year = last - (last - two_digits) % 100
    return year - 100 if year == last and rest > here else year


def to_epoch(year: int, month: int, day: int, hour: int, minute: int, second: int) -> float | None:
    """Epoch seconds of a UTC moment; second 60 is the first second of the next minute."""
    if not (FIRST_YEAR <= year <= 9999 and 0 <= hour <= 23 and 0 <= minute <= 59 and 0 <= second <= 60):
        return None
    try:
        days = date(year, month, day).toordinal() - EPOCH.toordinal()
    except ValueError:
        return None
    return float(days * 86_400 + hour * 3600 + minute * 60 + second)
