"""Whether the shop serves a client at all: rate limiter, ban, wall. One state per client address.

The limiter is a token bucket like nginx's `limit_req … nodelay`: `burst` tokens at first, `rate` new ones a
second, a request without a token is refused at once and costs nothing. Cost: O(1) a request, and the arrivals
of the last second when the wall is armed.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Literal

from practice_site.behaviour import Behaviour

__all__ = ["Gatekeeper", "Refusal"]

# The wall counts arrivals within this many seconds.
WALL_WINDOW = 1.0


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a client gets instead of a page."""

    outcome: Literal["limited", "banned", "walled"]
    status: int
    retry_after: str = ""
    """Value of the Retry-After header; empty for none."""


@dataclass(slots=True)
class _Client:
    tokens: float
    filled_at: float
    refusals: int = 0
    banned_until: float = -math.inf
    walled_until: float = -math.inf
    arrivals: deque[float] = field(default_factory=deque)


class Gatekeeper:
    """Judges each request once, in order of arrival. `clock` is monotonic seconds, `epoch` the wall clock."""

    def __init__(self, behaviour: Behaviour, clock: Callable[[], float], epoch: Callable[[], float]) -> None:
        self.behaviour = behaviour
        self._clock = clock
        self._epoch = epoch
        self._clients: dict[str, _Client] = {}

    def forget(self) -> None:
        """All buckets full, all bans and walls lifted."""
        self._clients.clear()

    def judge(self, client: str) -> Refusal | None:
        """None if the request may pass. The order: banned, walled, out of tokens."""
        rules = self.behaviour
        if rules.walled:
            return Refusal("walled", rules.wall_status)
        if not (rules.rate or rules.wall_rate):
            return None
        now = self._clock()
        state = self._clients.get(client)
        if state is None:
            state = self._clients[client] = _Client(float(rules.burst), now)
        if now < state.banned_until:
            return Refusal("banned", rules.ban_status)
        if rules.wall_rate and self._too_fast(state, now):
            return Refusal("walled", rules.wall_status)
        if rules.rate and not self._take_token(state, now):
            state.refusals += 1
            if rules.ban_after and state.refusals >= rules.ban_after:
                state.refusals = 0
                state.banned_until = now + rules.ban_seconds
            return Refusal("limited", rules.limit_status, self._retry_after(state))
        return None

    def _too_fast(self, state: _Client, now: float) -> bool:
        arrivals = state.arrivals
        arrivals.append(now)
        while arrivals[0] <= now - WALL_WINDOW:
            arrivals.popleft()
        if len(arrivals) > self.behaviour.wall_rate * WALL_WINDOW:
            state.walled_until = now + self.behaviour.wall_seconds
        return now < state.walled_until

    def _take_token(self, state: _Client, now: float) -> bool:
        rules = self.behaviour
        state.tokens = min(float(rules.burst), state.tokens + (now - state.filled_at) * rules.rate)
        state.filled_at = now
        # The tolerance is for sums of floats: a client that waits exactly 1/rate must pass.
        if state.tokens < 1.0 - 1e-9:
            return False
        state.tokens -= 1.0
        return True

    def _retry_after(self, state: _Client) -> str:
        rules = self.behaviour
        if rules.retry_after == "none":
            return ""
        seconds = rules.retry_after_seconds or max(1, math.ceil((1.0 - state.tokens) / rules.rate))
        if rules.retry_after == "seconds":
            return str(seconds)
        # A date has whole seconds; round up so that it is never too early.
        return formatdate(math.ceil(self._epoch() + seconds), usegmt=True)
