"""How long a stored response stays fresh and how old it is (RFC 9111, 4.2)."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, NamedTuple

from ..http_date import parse_http_date
from ..http_fields import Directives, cache_control, field_lines, first_value, list_members
from .exchange import Fields, Stored
from .policy import Policy

__all__ = [
    "HEURISTICALLY_CACHEABLE",
    "Lifetime",
    "LifetimeReason",
    "current_age",
    "delta_seconds",
    "freshness_lifetime",
    "http_date",
    "origin_lifetime",
    "seconds_left",
]

LifetimeReason = Literal[
    "max-age", "max-age-invalid", "expires", "expires-invalid", "heuristic", "site-ttl", "none"
]

_OWS = " \t"

#: Statuses that may be stored and reused without explicit freshness (RFC 9110, 15.1).
HEURISTICALLY_CACHEABLE = frozenset([200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501])

#: With any of these, more than the dates decides how long a response is fresh or how old it is.
_DECIDING = frozenset(["cache-control", "expires", "age"])

#: What a number of seconds too large to care about counts as (RFC 9111, 1.2.2).
_LONGEST = 2**31


class Lifetime(NamedTuple):
    """Seconds for which a response is fresh from its generation on, and what decided it."""

    seconds: float
    reason: LifetimeReason


def delta_seconds(text: str | None) -> int | None:
    """A non-negative whole number of seconds, at most 2^31, or None when `text` is none (1.2.2)."""
    if text is None or not (text.isascii() and text.isdigit()):
        return None
    digits = text.lstrip("0")
    return _LONGEST if len(digits) > 10 else min(int(digits or "0"), _LONGEST)


@lru_cache(1024)
def _date(text: str) -> float | None:
    # Two-digit years depend on the present; that the memo keeps the first answer for a while is harmless.
    parsed = parse_http_date(text)
    if parsed is not None or not text.isascii():
        return parsed
    return parse_http_date(text.title().replace(" Gmt", " GMT"))


def http_date(text: str | None) -> float | None:
    """Epoch seconds of an HTTP-date, or None. Caches match it without regard to case (RFC 9111, 4.2)."""
    return None if text is None or len(text) > 64 else _date(text)


def origin_lifetime(stored: Stored, policy: Policy) -> Lifetime:
    """What the origin's fields say, without the site's TTL: max-age, Expires, heuristic, none."""
    directives = cache_control(stored.headers)
    if "max-age" in directives:
        seconds = delta_seconds(directives["max-age"])
        return Lifetime(0, "max-age-invalid") if seconds is None else Lifetime(seconds, "max-age")
    expires = first_value(stored.headers, "expires")
    if expires is not None:
        until = http_date(expires)
        if until is None:
            return Lifetime(0, "expires-invalid")
        return Lifetime(max(0.0, until - _date_value(stored)), "expires")
    return _heuristic(stored, directives, policy)


def _heuristic(stored: Stored, directives: Directives, policy: Policy) -> Lifetime:
    if stored.status not in HEURISTICALLY_CACHEABLE and "public" not in directives:
        return Lifetime(0, "none")
    modified = http_date(first_value(stored.headers, "last-modified"))
    if modified is None or policy.heuristic_fraction <= 0:
        return Lifetime(0, "none")
    seconds = (_date_value(stored) - modified) * policy.heuristic_fraction
    if seconds <= 0:  # changed in the future: the clocks disagree, nothing can be told
        return Lifetime(0, "none")
    return Lifetime(min(seconds, policy.heuristic_limit), "heuristic")


def freshness_lifetime(stored: Stored, policy: Policy) -> Lifetime:
    """The lifetime that counts, by the precedence of `Policy`."""
    if policy.ttl is None:
        return origin_lifetime(stored, policy)
    site = Lifetime(max(0.0, policy.ttl), "site-ttl")
    if policy.ttl_rule == "replace":
        return site
    choose = min if policy.ttl_rule == "at-most" else max
    return choose(site, origin_lifetime(stored, policy), key=lambda lifetime: lifetime.seconds)


def seconds_left(
    status: int, headers: Fields, requested_at: float, received_at: float, policy: Policy, now: float
) -> float | None:
    """`freshness_lifetime` less `current_age`, with the fields read once: for every page of a crawl.

    None where other fields than dates decide (Cache-Control, Expires, Age), or a TTL of the policy: ask those two.
    """
    first: dict[str, str] = {}
    for name, value in headers:
        first.setdefault(name.lower(), value)
    if policy.ttl is not None or not _DECIDING.isdisjoint(first):
        return None
    date = http_date(first["date"].strip(_OWS)) if "date" in first else None
    made_at = received_at if date is None else date
    left = -max(0.0, received_at - made_at, received_at - requested_at) - max(0.0, now - received_at)
    if status in HEURISTICALLY_CACHEABLE and policy.heuristic_fraction > 0 and "last-modified" in first:
        modified = http_date(first["last-modified"].strip(_OWS))
        if modified is not None:
            fresh = (made_at - modified) * policy.heuristic_fraction
            left += min(max(fresh, 0.0), policy.heuristic_limit)
    return left


def current_age(stored: Stored, now: float) -> float:
    """Seconds since the origin made or last confirmed the response (4.2.3). Never negative.

    The Age field counts, the time under way counts, and a Date in the past counts; a Date in the future
    does not make a response younger than new.
    """
    apparent = max(0.0, stored.received_at - _date_value(stored))
    under_way = max(0.0, stored.received_at - stored.requested_at)
    resident = max(0.0, now - stored.received_at)
    return max(apparent, _age_value(stored) + under_way) + resident


def _age_value(stored: Stored) -> int:
    """The first member of the Age field; an Age that is no number is ignored (5.1)."""
    members = list_members(field_lines(stored.headers, "age"))
    return (delta_seconds(members[0]) or 0) if members else 0


def _date_value(stored: Stored) -> float:
    """When the origin made it: Date, or the time of receipt without a valid one (RFC 9110, 6.6.1)."""
    date = http_date(first_value(stored.headers, "date"))
    return stored.received_at if date is None else date
