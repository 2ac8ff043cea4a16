"""The circuit breaker: a domain that fails the same way again and again is stopped, and its URLs stay pending.

States: CLOSED (all goes) -> OPEN (nothing goes until a cool-off has passed) -> HALF OPEN (one probe at a time) ->
CLOSED when the probe brings a page, OPEN again with twice the cool-off when it does not. One domain with a dead
name server can not burn a night.
"""

from __future__ import annotations

import enum

__all__ = ["COOL_OFF_S", "FAILURES_TO_OPEN", "Breaker", "BreakerState"]

# Equal failures in a row that open it. Names and certificates do not heal within seconds; a refused connection
# may be a restart; a 403 may be one forbidden folder, so it takes more of them.
FAILURES_TO_OPEN = {
    "dns": 4,
    "tls": 4,
    "connect_error": 5,
    "timeout": 6,
    "protocol": 6,
    "wall": 6,
    "truncated": 8,
    "throttled": 8,
    "5xx": 15,
    "403": 24,
}
# How long it stays open at first. Walls and bans are patient, so are we.
COOL_OFF_S = {
    "dns": 300.0,
    "tls": 900.0,
    "connect_error": 120.0,
    "timeout": 120.0,
    "protocol": 300.0,
    "wall": 1800.0,
    "truncated": 300.0,
    "throttled": 900.0,
    "5xx": 300.0,
    "403": 1800.0,
}
_COOL_OFF_MAX_S = 6 * 3600.0


class BreakerState(enum.Enum):
    """See the module."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half open"


class Breaker:
    """One domain's breaker. `until` is when an open one lets a probe through."""

    __slots__ = ("cause", "in_a_row", "opened", "state", "until")

    def __init__(self, until: float = 0.0, opened: int = 0, cause: str = "") -> None:
        self.until = until
        self.opened = opened  # times in a row that it opened without a page between
        self.cause = cause
        self.in_a_row = 0
        self.state = BreakerState.OPEN if until and cause else BreakerState.CLOSED

    def success(self) -> bool:
        """A page came. True when that closed the breaker."""
        self.in_a_row = 0
        if self.state is BreakerState.CLOSED:
            return False
        self.state = BreakerState.CLOSED
        self.cause, self.until, self.opened = "", 0.0, 0
        return True

    def failure(self, cause: str, now: float) -> bool:
        """A request failed with `cause` (a key of FAILURES_TO_OPEN). True when that opened the breaker."""
        if self.state is BreakerState.OPEN:
            return False  # it was in flight when the breaker opened
        self.in_a_row = self.in_a_row + 1 if cause == self.cause else 1
        self.cause = cause
        if self.state is BreakerState.CLOSED and self.in_a_row < FAILURES_TO_OPEN[cause]:
            return False
        self.state = BreakerState.OPEN
        self.until = now + min(_COOL_OFF_MAX_S, COOL_OFF_S[cause] * 2.0**self.opened)
        self.opened += 1
        return True

    def probe(self) -> None:
        """The cool-off has passed: the next request decides."""
        self.state = BreakerState.HALF_OPEN
