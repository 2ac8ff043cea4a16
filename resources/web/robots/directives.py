"""Values of the lines beside allow and disallow: Crawl-delay, Request-rate, Visit-time.

None of them is in RFC 9309; sites write them and a polite crawler keeps them. A value that cannot be read
is no value (`None`), never a guess. Numbers are ASCII digits only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import time

__all__ = ["RequestRate", "VisitTime", "parse_crawl_delay", "parse_request_rate", "parse_visit_time"]

#: "10", "0.5", ".5", "5 secs", "5s". Twelve digits are 30,000 years and still an exact float.
_DELAY = re.compile(
    r"(\d{1,12}(?:\.\d{0,12})?|\.\d{1,12})\s*(?:s|secs?|seconds?)?\.?", re.ASCII | re.IGNORECASE
)

_RATE = re.compile(r"(\d{1,9})\s*/\s*(\d{1,9})\s*([smhd]?)[a-z]*(?:\s+(\S.*))?", re.ASCII | re.IGNORECASE)

_PERIOD = re.compile(
    r"(\d{2}):?(\d{2})\s*-\s*(\d{2}):?(\d{2})(?:\s*(?:UTC|GMT|Z))?", re.ASCII | re.IGNORECASE
)

_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


@dataclass(frozen=True, slots=True)
class VisitTime:
    """The part of the day (UTC) in which the site wants to be crawled; may pass midnight."""

    start: time
    end: time


@dataclass(frozen=True, slots=True)
class RequestRate:
    """At most `requests` in each `seconds`; with `window`, only then."""

    requests: int
    seconds: int
    window: VisitTime | None = None


def parse_crawl_delay(value: str) -> float | None:
    """Seconds between two requests; fractions count."""
    found = _DELAY.fullmatch(value)
    return float(found[1]) if found else None


def parse_visit_time(value: str) -> VisitTime | None:
    """`0600-0845` or `06:00-08:45`."""
    found = _PERIOD.fullmatch(value)
    if not found:
        return None
    hours_and_minutes = [int(part) for part in found.groups()]
    start_hour, start_minute, end_hour, end_minute = hours_and_minutes
    if max(start_hour, end_hour) > 23 or max(start_minute, end_minute) > 59:
        return None
    return VisitTime(time(start_hour, start_minute), time(end_hour, end_minute))


def parse_request_rate(value: str) -> RequestRate | None:
    """`1/10s`, `100/15m`, `1/10s 1820-1940`; the unit is seconds when none is written."""
    found = _RATE.fullmatch(value)
    if not found:
        return None
    requests, amount = int(found[1]), int(found[2])
    window = parse_visit_time(found[4].strip()) if found[4] else None
    if requests == 0 or amount == 0 or (found[4] and window is None):
        return None
    return RequestRate(requests, amount * _SECONDS[found[3].lower()], window)
