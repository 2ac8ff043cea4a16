"""What a response says about its server's quota: the RateLimit fields in all the shapes that are in use.

1. draft-ietf-httpapi-ratelimit-headers-08 and later: `RateLimit-Policy: "default";q=100;w=60` and
   `RateLimit: "default";r=50;t=30`, lists of several; the tightest counts.
2. Drafts 07 and 06: `RateLimit: limit=100, remaining=50, reset=30`, `RateLimit-Policy: 100;w=60`.
3. Drafts 00 to 05: `RateLimit-Limit: 100, 100;w=60`, `RateLimit-Remaining: 50`, `RateLimit-Reset: 30`.
4. What was there before: `X-RateLimit-Limit`, `-Remaining`, `-Reset` (also `X-Rate-Limit-…`); the reset is a number of
   seconds, or an instant in epoch seconds or milliseconds.

Pure. A field that cannot be read is as good as none. 1 µs where there is none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

from .http_date import parse_http_date

__all__ = ["Quota", "read_quota"]

#: A longer window says nothing about pace, and a number beyond it is an instant.
MAX_WINDOW_S = 86_400.0 * 31

_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,6})?")
_PARAMETER = re.compile(r"([a-z]+)\s*=\s*\"?(\d{1,15})")
_PREFIXES = ("ratelimit-", "x-ratelimit-", "x-rate-limit-")


@dataclass(frozen=True, slots=True)
class Quota:
    """`limit` requests in `window_s` seconds, of which `remaining` are left for the next `reset_s`. None: not said."""

    limit: float | None = None
    window_s: float | None = None
    remaining: float | None = None
    reset_s: float | None = None


def read_quota(headers: Collection[tuple[str, str]], now: float) -> Quota | None:
    """The quota that response `headers` tell, or None. `now`: epoch seconds, used where there is no Date among them."""
    if "rate" not in "\n".join([name for name, _ in headers]).lower():
        return None  # as nearly all: no name of a field of a quota is among these
    fields: dict[str, str] = {}
    date: str | None = None
    for name, value in headers:
        lower = name.lower()
        if "ratelimit" in lower or "rate-limit" in lower:
            fields[lower] = f"{fields[lower]}, {value}" if lower in fields else value
        elif lower == "date":
            date = value
    return _read(fields.get, date, now) if fields else None


def _read(field: Callable[[str], str | None], date: str | None, now: float) -> Quota | None:
    policies = _policies(field("ratelimit-policy"))
    combined = field("ratelimit")
    if combined is not None:
        found = _combined(combined, policies)
        if found is not None:
            return found
    for prefix in _PREFIXES:
        limit = field(prefix + "limit")
        remaining = _number(field(prefix + "remaining"))
        if limit is None and remaining is None:
            continue
        policies = policies or _policies(limit.partition(",")[2] if limit is not None else None)
        quota, window = min(policies.values(), key=_pace, default=(_number(limit), None))
        return Quota(quota, window, remaining, _reset(_number(field(prefix + "reset")), date, now))
    if policies:
        quota, window = min(policies.values(), key=_pace)
        return Quota(quota, window)
    return None


def _combined(value: str, policies: dict[str, tuple[float, float | None]]) -> Quota | None:
    """Of several quotas the one that leaves least for each second."""
    if "limit" in value and "remaining" in value:
        pairs = dict(_PARAMETER.findall(value.lower()))
        limit, window = min(policies.values(), key=_pace, default=(_number(pairs.get("limit")), None))
        return Quota(limit, window, _number(pairs.get("remaining")), _number(pairs.get("reset")))
    found = []
    for part in value.lower().split(","):
        pairs = dict(_PARAMETER.findall(part))
        if "r" not in pairs:
            continue
        limit, window = policies.get(_name(part), (None, None))
        found.append(Quota(limit, window, float(pairs["r"]), float(pairs["t"]) if "t" in pairs else None))
    return min(
        found, key=lambda q: (q.remaining or 0.0) / max(1.0, q.reset_s or q.window_s or 1.0), default=None
    )


def _policies(value: str | None) -> dict[str, tuple[float, float | None]]:
    """(quota, window) by the name of the policy."""
    found: dict[str, tuple[float, float | None]] = {}
    for number, part in enumerate((value or "").lower().split(",")):
        pairs = dict(_PARAMETER.findall(part))
        quota = _number(pairs.get("q")) or _number(part)
        window = _number(pairs.get("w"))
        if (
            quota
            and window
            and 0 < window <= MAX_WINDOW_S
            and (name := _name(part) or str(number)) is not None
        ):
            found[name] = (quota, window)
    return found


def _name(part: str) -> str:
    head = part.partition(";")[0].strip()
    return head.strip('"') if not head.isdigit() else ""


def _pace(policy: tuple[float, float | None]) -> float:
    return policy[0] / (policy[1] or 1.0)


def _number(value: str | None) -> float | None:
    match = _NUMBER.match(value.strip()) if value is not None else None
    return float(match[0]) if match is not None else None


def _reset(value: float | None, date: str | None, now: float) -> float | None:
    """Seconds, whether they were told as such or as an instant."""
    if value is None or value <= MAX_WINDOW_S:
        return value
    there = parse_http_date(date, now) if date is not None else None
    instant = value / 1000.0 if value > 1e11 else value
    left = instant - (there if there is not None else now)
    return left if 0 <= left <= MAX_WINDOW_S else None
