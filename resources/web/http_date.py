"""HTTP-date (RFC 9110 5.6.7): read in three forms, written in one.

    Sun, 06 Nov 1994 08:49:37 GMT     IMF-fixdate, the only form written
    Sunday, 06-Nov-94 08:49:37 GMT    RFC 850, two-digit year
    Sun Nov  6 08:49:37 1994          asctime; it names no zone and is UTC

Parsing follows the grammar: ASCII digits, the exact case of names, second 60 for leap seconds (it counts
as the first of the next minute). White space around the value is no part of it. The weekday has to be one,
but not the right one: servers get it wrong and the date is what matters. Days that do not exist and years
before 1583, when the calendar of the grammar begins, are invalid: year 1 is an uninitialised variable.

`lenient=True` also reads what browsers and curl read in cookies and from careless servers: parts in any
order, names in any case, other zones, missing weekday, time or zone. Only days that exist count even then.

Everything here is total: no text raises. Local time is never used.
"""

from __future__ import annotations

import math
import re

from .date_parts import MONTHS, from_epoch, full_year, to_epoch
from .loose_date import read_loose_date

__all__ = ["format_http_date", "parse_http_date"]

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_LONG_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_DAY = "|".join(_DAYS)
_LONG_DAY = "|".join(_LONG_DAYS)
_MONTH = "(?P<month>" + "|".join(MONTHS) + ")"
_TIME = r"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})"

_FORMS = (
    re.compile(rf"(?:{_DAY}), (?P<day>[0-9]{{2}}) {_MONTH} (?P<year>[0-9]{{4}}) {_TIME} GMT"),
    re.compile(rf"(?:{_LONG_DAY}), (?P<day>[0-9]{{2}})-{_MONTH}-(?P<year>[0-9]{{2}}) {_TIME} GMT"),
    re.compile(rf"(?:{_DAY}) {_MONTH} (?P<day>[0-9]{{2}}| [0-9]) {_TIME} (?P<year>[0-9]{{4}})"),
)

#: Epoch seconds of 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z, all that four digits of a year can say.
_FIRST, _LAST = -62_135_596_800, 253_402_300_799


def parse_http_date(text: str, now: float | None = None, *, lenient: bool = False) -> float | None:
    """Epoch seconds of an HTTP-date, None when it is none. Never raises.

    `now` (epoch seconds) decides two-digit years: what would lie more than 50 years ahead is of the past.
    """
    text = text.strip(" \t")
    for form in _FORMS:
        found = form.fullmatch(text)
        if found:
            month = MONTHS.index(found["month"]) + 1
            day, hour, minute, second = (int(found[part]) for part in ("day", "hour", "minute", "second"))
            year = int(found["year"])
            if len(found["year"]) == 2:
                year = full_year(year, (month, day, hour, minute, second), now)
            return to_epoch(year, month, day, hour, minute, second)
    return read_loose_date(text, now) if lenient else None


def format_http_date(epoch: float) -> str:
    """The IMF-fixdate of `epoch`, fractions cut off, in English and GMT whatever the locale.

    Moments outside the years 1 to 9999 are written as the nearest that can be. ValueError for NaN.
    """
    if math.isnan(epoch):
        raise ValueError("NaN is no moment and has no HTTP-date")
    moment = from_epoch(min(max(epoch, _FIRST), _LAST))
    assert moment is not None, "clamped to what from_epoch knows"
    return (
        f"{_DAYS[moment.weekday()]}, {moment.day:02} {MONTHS[moment.month - 1]} {moment.year:04} "
        f"{moment.hour:02}:{moment.minute:02}:{moment.second:02} GMT"
    )
