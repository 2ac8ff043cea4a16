"""Dates as careless servers and cookies write them, read the way curl and browsers read them.

Parts may come in any order: a month name, a day, a year, `hh:mm[:ss]`, a zone, a weekday (ignored), or
`YYYYMMDD`. A missing time is midnight, a missing zone UTC. The first number that can be a day is the day
and the next is the year, unless it is too large for a day. ISO 8601, two times, unknown words, and days
that do not exist are refused. Linear in the text; texts beyond 128 characters are no dates.
"""

from __future__ import annotations

import re

from .date_parts import MONTHS, full_year, to_epoch

__all__ = ["read_loose_date"]

_LONGEST = 128

_MONTH_NAMES = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)

_DAY_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_WORDS: dict[str, int] = {
    **{name.lower(): number for number, name in enumerate(MONTHS, 1)},
    **{name: number for number, name in enumerate(_MONTH_NAMES, 1)},
}

_IGNORED = frozenset([*_DAY_NAMES, *(name[:3] for name in _DAY_NAMES)])

#: Hours east of Greenwich. RFC 5322 4.3 and the European ones; one-letter zones are computed.
_ZONES: dict[str, float] = {
    zone: hours
    for hours, zones in {
        0: ("gmt", "utc", "ut", "wet"),
        1: ("west", "bst", "cet", "met"),
        2: ("cest", "mest", "eet"),
        3: ("eest",),
        9: ("jst",),
        12: ("nzst",),
        13: ("nzdt",),
        -3: ("adt",),
        -4: ("ast", "edt"),
        -5: ("est", "cdt"),
        -6: ("cst", "mdt"),
        -7: ("mst", "pdt"),
        -8: ("pst",),
        -10: ("hst",),
    }.items()
    for zone in zones
}

_TOKEN = re.compile(
    r"(?P<time>[0-9]{1,2}:[0-9]{1,2}(?::[0-9]{1,2})?)(?![:0-9A-Za-z.])"
    r"|(?P<offset>(?:(?<= )|(?<=GMT)|(?<=UTC))[+-][0-9]{4})(?![0-9])"
    r"|(?P<number>[0-9]{1,8})(?![:0-9A-Za-z])"
    r"|(?P<word>[A-Za-z]+)"
    r"|(?P<blank>[ \t,;./\\\"-]+)"
    r"|(?P<comment>\([A-Za-z]{1,5}\))"
)


def _zone(word: str) -> float | None:
    """Hours east of Greenwich; military letters as RFC 5322 means them: A is +1, N is -1, J is none."""
    if len(word) != 1:
        return _ZONES.get(word)
    if word == "z":
        return 0.0
    place = "abcdefghiklm".find(word)
    if place >= 0:
        return place + 1.0
    place = "nopqrstuvwxy".find(word)
    return -(place + 1.0) if place >= 0 else None


def read_loose_date(text: str, now: float | None) -> float | None:
    """Epoch seconds, or None when the text names no moment. Never raises."""
    if len(text) > _LONGEST:
        return None
    month: int | None = None
    numbers: list[str] = []
    times: list[list[int]] = []
    shifts: list[float] = []
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if not found:
            return None
        at = found.end()
        kind, token = found.lastgroup, found[0].lower()
        if kind == "number":
            numbers.append(token)
        elif kind == "time":
            times.append([int(part) for part in token.split(":")])
        elif kind == "offset":
            if int(token[1:3]) > 14 or int(token[3:]) > 59:
                return None
            sign = -1 if token[0] == "-" else 1
            # "GMT-0400" names the zone twice; curl lets the first word win.
            shifts.append(sign * (int(token[1:3]) + int(token[3:]) / 60))
        elif kind == "word" and token not in _IGNORED:
            zone = _zone(token)
            if token in _WORDS and month is None:
                month = _WORDS[token]
            elif zone is not None:
                shifts.append(zone)
            else:
                return None
    if len(times) > 1:
        return None
    day_and_year = _day_and_year(month, numbers)
    if day_and_year is None:
        return None
    year_text, named_month, day = day_and_year
    hour, minute, second = (*(times[0] if times else ()), 0, 0, 0)[:3]
    year = int(year_text)
    if len(year_text) <= 2:
        year = full_year(year, (named_month, day, hour, minute, second), now)
    moment = to_epoch(year, named_month, day, hour, minute, second)
    return None if moment is None else moment - (shifts[0] if shifts else 0.0) * 3600


def _day_and_year(month: int | None, numbers: list[str]) -> tuple[str, int, int] | None:
    """Year as written, month and day out of the numbers of a text."""
    if month is None:
        if len(numbers) == 1 and len(numbers[0]) == 8:
            digits = numbers[0]
            return digits[:4], int(digits[4:6]), int(digits[6:])
        return None
    if len(numbers) != 2:
        return None
    first, second = numbers
    day, year = (first, second) if len(first) <= 2 and 1 <= int(first) <= 31 else (second, first)
    if len(day) > 2 or len(year) not in (2, 4):
        return None
    return year, month, int(day)
