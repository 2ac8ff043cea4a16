"""The plan of a whole night: its domains together, the critical one, and whether it will be ready in time."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

from resources.planner.domain import DomainPlan, plan_domain
from resources.planner.facts import DomainFacts

__all__ = ["NightPlan", "Verdict", "plan_night"]

#: Requests a second one process handles over all domains: half of what is measured, for a machine that has more to do.
MACHINE_RATE = 300.0

Verdict = Literal["yes", "no", "unknown", "nothing"]


@dataclass(frozen=True, slots=True)
class NightPlan:
    """`made_at`, `starts_at`, `ready_at`: epoch seconds. Domains are sorted by when they are ready, the last first."""

    night: str
    made_at: float
    domains: tuple[DomainPlan, ...]

    @property
    def starts_at(self) -> float:
        return min((d.starts_at for d in self.domains), default=self.made_at)

    @property
    def urls(self) -> int:
        return sum(d.urls for d in self.domains)

    @property
    def requests(self) -> int:
        return sum(d.requests for d in self.domains)

    @property
    def wire_bytes(self) -> int:
        return sum(d.wire_bytes for d in self.domains)

    @property
    def critical(self) -> DomainPlan | None:
        """The domain that everybody waits for; None: nothing is fetched."""
        return next((d for d in self.domains if d.ready_at is not None), None)

    @property
    def ready_at(self) -> float | None:
        """When the last table is published. Bound by the slowest domain, or by this machine where they are many."""
        if self.critical is None or self.critical.ready_at is None:
            return None
        return max(self.critical.ready_at, self.starts_at + self.requests / MACHINE_RATE)

    @property
    def deadline(self) -> float | None:
        """The earliest of the sites' deadlines."""
        return min((d.deadline for d in self.domains if d.deadline is not None), default=None)

    @property
    def late(self) -> tuple[DomainPlan, ...]:
        """Domains that will not be ready by their own deadline."""
        return tuple(d for d in self.domains if (d.late_s or 0.0) > 0)

    @property
    def guessed(self) -> tuple[DomainPlan, ...]:
        """Domains whose first night it is."""
        return tuple(d for d in self.domains if not d.known)

    @property
    def verdict(self) -> Verdict:
        """Will it be ready? Numbered cases: 1. nothing to do; 2. no; 3. cannot be told (first nights); 4. yes."""
        if self.critical is None:
            return "nothing"
        if self.late or (
            self.deadline is not None and self.ready_at is not None and self.ready_at > self.deadline
        ):
            return "no"
        return "unknown" if self.guessed else "yes"

    def to_json(self) -> str:
        return json.dumps(
            {
                "night": self.night,
                "made_at": self.made_at,
                "domains": [asdict(d) for d in self.domains],
            },
            separators=(",", ":"),
        )

    @classmethod
    def from_json(cls, text: str) -> NightPlan:
        """What `to_json` wrote. ValueError, KeyError or TypeError for anything else."""
        found: dict[str, Any] = json.loads(text)
        plans = [DomainPlan(**(d | {"notes": tuple(d["notes"])})) for d in found["domains"]]
        return cls(found["night"], found["made_at"], tuple(plans))


def plan_night(night: str, facts: Iterable[DomainFacts], made_at: float) -> NightPlan:
    """The plan of `night`, domains that are ready last first, those that will not be done at the end."""
    plans = [plan_domain(f) for f in facts]
    plans.sort(key=lambda p: (p.ready_at is None, -(p.ready_at or 0.0), p.domain))
    return NightPlan(night, made_at, tuple(plans))
