"""Pages that fail for a while: 500 and 503, truncated bodies, slow answers. Chosen by seed, counted per URL."""

from __future__ import annotations

from typing import Literal, NamedTuple

from practice_site.catalogue import draw
from practice_site.resource import Kind
from practice_site.shop import identity
from practice_site.site_config import SiteConfig

__all__ = ["FAULTY_KINDS", "Fault", "Faults"]

# The front page never fails of itself, so that it can serve as a canary; robots.txt has switches of its own.
FAULTY_KINDS: frozenset[Kind] = frozenset(("list", "category", "product", "page", "noindex"))


class Fault(NamedTuple):
    kind: Literal["error", "truncated", "slow", "none"]
    status: int = 0
    seconds: float = 0.0


NO_FAULT = Fault("none")


class Faults:
    """Which URL fails at which attempt on one night. Remembers a draw and a counter for each URL asked for."""

    def __init__(self, config: SiteConfig) -> None:
        self.config = config
        behaviour = config.behaviour
        self.any = bool(behaviour.error_share or behaviour.truncated_share or behaviour.slow_share)
        self._plans: dict[str, Fault] = {}
        self._attempts: dict[str, int] = {}

    def forget(self) -> None:
        """Every URL is at its first attempt again."""
        self._attempts.clear()

    def next(self, target: str) -> Fault:
        """The fault of this attempt at `target`; counts it."""
        key = identity(target)
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plans[key] = self.plan(key)
        if plan.kind in {"none", "slow"}:
            return plan
        attempt = self._attempts[key] = self._attempts.get(key, 0) + 1
        behaviour = self.config.behaviour
        limit = behaviour.error_attempts if plan.kind == "error" else behaviour.truncated_attempts
        return plan if attempt <= limit else NO_FAULT

    def plan(self, key: str) -> Fault:
        """What is wrong with this URL tonight, whatever the attempt. At most one thing."""
        seed, night, behaviour = self.config.seed, self.config.night, self.config.behaviour
        chance = draw(seed, "fault", night, key)
        if chance < behaviour.error_share:
            return Fault("error", 500 if draw(seed, "which", night, key) < 0.5 else 503)
        chance -= behaviour.error_share
        if chance < behaviour.truncated_share:
            return Fault("truncated")
        chance -= behaviour.truncated_share
        if chance < behaviour.slow_share:
            return Fault("slow", seconds=behaviour.slow_seconds)
        return NO_FAULT
