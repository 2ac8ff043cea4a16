"""Retry-After (RFC 9110 10.2.3): how long a server asks to be left alone.

The value is `1*DIGIT` seconds in ASCII digits, or an HTTP-date in any of its three forms, and nothing else:
no sign, fraction, exponent, unit or quotes. Anything else gives None, and the caller's own backoff
decides. The answer is never negative and never above the caller's cap.

Choices: a date with zone `UTC` or a one-digit day is read as well. Two field lines joined by a proxy
(`60, 120`) ask for the larger. With the response's own Date at hand a date is measured against that, so a
server clock that is ahead costs nothing. The field is read on any answer but success (1xx and 2xx), where
it asks for nothing a crawler could do.
"""

from __future__ import annotations

import re

from .http_date import parse_http_date

__all__ = ["DEFAULT_CAP_S", "retry_after"]

#: One day: a nightly crawl that is asked to wait longer puts the URL off to another night.
DEFAULT_CAP_S = 86_400.0

_SECONDS = re.compile(r"[0-9]+(?:[ \t]*,[ \t]*[0-9]+)*")

#: More digits than any wait has; also keeps clear of Python's limit on long integers.
_LONGEST_DIGITS = 12


def retry_after(
    value: str | None,
    status: int,
    now: float,
    cap_s: float = DEFAULT_CAP_S,
    *,
    response_date: str | None = None,
) -> float | None:
    """Seconds to wait, 0 to `cap_s`, or None when the field is absent, unreadable or meaningless here.

    `now` in epoch seconds; `response_date` is the same response's Date field. Zero means the server asks
    for no wait of its own: the domain's usual gap still holds. Never raises.
    """
    if value is None or 100 <= status <= 299:
        return None
    text = value.strip(" \t")
    if _SECONDS.fullmatch(text):
        return max(_seconds(part.strip(" \t"), cap_s) for part in text.split(","))
    when = parse_http_date(text, now)
    if when is None and text.endswith((" GMT", " UTC")):
        when = parse_http_date(text, now, lenient=True)
    if when is None:
        return None
    sent = parse_http_date(response_date, now) if response_date is not None else None
    wait = when - (now if sent is None else sent)
    # A clock that is no number compares false with everything: the caller's backoff decides.
    return min(max(wait, 0.0), cap_s) if wait == wait else None


def _seconds(digits: str, cap_s: float) -> float:
    significant = digits.lstrip("0")
    return cap_s if len(significant) > _LONGEST_DIGITS else min(float(significant or "0"), cap_s)
