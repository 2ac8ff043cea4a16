"""Dates of sitemaps and feeds: W3C datetime (NOTE-datetime, RFC 3339) and RFC 822, read leniently.

A date that names no instant is None, never a guess: `20240506`, `06.05.2024`, bare numbers and impossible days
are refused. A W3C time without a zone is read as UTC (generators that leave it out mean UTC or are an hour or
two off, which a nightly crawl does not feel); an RFC 822 time without a zone is incomplete and refused.
"""

from __future__ import annotations

import re
from calendar import timegm
from datetime import datetime, timedelta

__all__ = ["epoch", "normalise"]

_W3C = re.compile(
    r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})(?:[Tt ]\s*(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?"
    r"\s*([Zz]|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?)?)?)?",
    re.ASCII,
)
_RFC822 = re.compile(
    r"(?:[A-Za-z]{3,9}\s*,?\s+)?(\d{1,2})[\s-]+([A-Za-z]{3})[A-Za-z]*[\s-]+(\d{4}|\d{2})\s+"
    r"(\d{1,2}):(\d{2})(?::(\d{2}))?\s*([A-Za-z]{1,5}|[+-]\d{2}:?\d{2})",
    re.ASCII,
)
_MONTHS = {
    name: n
    for n, name in enumerate(
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"], 1
    )
}
#: Named zones of RFC 822 in hours; single military letters besides Z were defined with the wrong sign there.
_ZONES = {"ut": 0, "utc": 0, "gmt": 0, "z": 0, "est": -5, "edt": -4, "cst": -6, "cdt": -5}
_ZONES |= {"mst": -7, "mdt": -6, "pst": -8, "pdt": -7, "cet": 1, "cest": 2, "bst": 1}
#: Longest text looked at: the longest legal form has 40 characters.
_LONGEST = 64


def normalise(text: str) -> str | None:
    """The date in one spelling: `2024`, `2024-05`, `2024-05-06`, or an instant in UTC ending in `Z`.

    A W3C time without zone keeps none. None when `text` is no date.
    """
    read = _read(text)
    if read is None:
        return None
    when, precision = read
    if precision < 4:
        return when.strftime(("%Y", "%Y-%m", "%Y-%m-%d")[precision - 1]).rjust((4, 7, 10)[precision - 1], "0")
    return when.isoformat(timespec="seconds") + ("Z" if precision == 5 else "")


def epoch(text: str) -> int | None:
    """The date in seconds since 1970; of a year, month or day its first second in UTC. None when no date."""
    read = _read(text)
    return None if read is None else timegm(read[0].timetuple())


def _read(text: str) -> tuple[datetime, int] | None:
    """The instant in UTC and how precise it is: 1 year, 2 month, 3 day, 4 time without zone, 5 time."""
    text = text.strip()
    if not text or len(text) > _LONGEST:
        return None
    try:
        if match := _W3C.fullmatch(text):
            year, month, day, hour, minute, second, zone = match.groups()
            if hour is None:
                precision = 1 + (month is not None) + (day is not None)
                return datetime(int(year), int(month or 1), int(day or 1)), precision
        elif match := _RFC822.fullmatch(text):
            day, name, year, hour, minute, second, zone = match.groups()
            month = str(_MONTHS.get(name.lower(), 0))
            # RFC 2822 §4.3: two digits below 50 are of this century.
            year = year if len(year) == 4 else str(int(year) + (2000 if int(year) < 50 else 1900))
        else:
            return None
        # A leap second is the second after 59.
        seconds = min(int(second or 0), 60)
        when = datetime(int(year), int(month), int(day), int(hour), int(minute)) + timedelta(seconds=seconds)
        if int(second or 0) > 60:
            return None
        if zone is None:
            return when, 4
        shift = _offset(zone)
        return None if shift is None else (when - shift, 5)
    except (ValueError, OverflowError):
        return None


def _offset(zone: str) -> timedelta | None:
    if zone[0] in "+-":
        digits = zone[1:].replace(":", "")
        hours, minutes = int(digits[:2]), int(digits[2:] or 0)
        if hours > 23 or minutes > 59:
            return None
        size = timedelta(hours=hours, minutes=minutes)
        return -size if zone[0] == "-" else size
    named = _ZONES.get(zone.lower())
    return None if named is None else timedelta(hours=named)
