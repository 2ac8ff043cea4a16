"""Forecast against actual: how well the plan of a night described it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from resources.planner.night import NightPlan

__all__ = ["Actual", "Comparison", "DomainComparison", "compare"]

#: Off by more than this factor, a forecast misleads; by less, it did its work.
FACTOR = 1.5
#: Differences below these are nothing an operator plans around.
FEW_REQUESTS, FEW_SECONDS = 100, 900.0


@dataclass(frozen=True, slots=True)
class Actual:
    """What one domain did. `ended_at`: its last request, or None where it made none."""

    domain: str
    requests: int
    wire_bytes: int
    ended_at: float | None
    failed: bool = False


@dataclass(frozen=True, slots=True)
class DomainComparison:
    """One domain; `words` is empty where the forecast held."""

    domain: str
    planned_requests: int
    requests: int
    planned_s: float | None
    seconds: float | None
    words: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The night. `ready_at`: when it was really done."""

    domains: tuple[DomainComparison, ...]
    planned_requests: int
    requests: int
    planned_bytes: int
    wire_bytes: int
    planned_ready_at: float | None
    ready_at: float
    deadline: float | None
    guesses: int
    """Domains whose first night it was: they are shown and not judged."""

    @property
    def missed(self) -> tuple[DomainComparison, ...]:
        return tuple(d for d in self.domains if d.words)

    @property
    def late_s(self) -> float:
        """Seconds after the deadline at which the night was ready; 0 when in time."""
        return max(0.0, self.ready_at - self.deadline) if self.deadline is not None else 0.0

    @property
    def held(self) -> bool:
        """In time, and every forecast that could be judged was right."""
        return not self.missed and not self.late_s


def compare(plan: NightPlan, actuals: Mapping[str, Actual], ready_at: float) -> Comparison:
    """The plan's domains against what they did. Domains that failed are not judged: their cause is told elsewhere."""
    rows = []
    for planned in plan.domains:
        actual = actuals.get(planned.domain, Actual(planned.domain, 0, 0, None))
        seconds = max(0.0, actual.ended_at - planned.starts_at) if actual.ended_at is not None else None
        judged = planned.known and not actual.failed and planned.fetched_at is not None
        words = _words(planned.requests, actual.requests, planned.seconds, seconds) if judged else ""
        rows.append(
            DomainComparison(
                planned.domain, planned.requests, actual.requests, planned.seconds, seconds, words
            )
        )
    return Comparison(
        domains=tuple(rows),
        planned_requests=plan.requests,
        requests=sum(a.requests for a in actuals.values()),
        planned_bytes=plan.wire_bytes,
        wire_bytes=sum(a.wire_bytes for a in actuals.values()),
        planned_ready_at=plan.ready_at,
        ready_at=ready_at,
        deadline=plan.deadline,
        guesses=len(plan.guessed),
    )


def _words(planned: int, requests: int, planned_s: float | None, seconds: float | None) -> str:
    """What is off, in words. Numbered cases: 1. requests; 2. time; 3. neither."""
    if abs(planned - requests) > FEW_REQUESTS and not _near(planned, requests):
        more = "more" if requests > planned else "fewer"
        return f"{requests:,} requests, {more} than the {planned:,} planned"
    if (
        planned_s is not None
        and seconds is not None
        and abs(planned_s - seconds) > FEW_SECONDS
        and not _near(planned_s, seconds)
    ):
        longer = "longer" if seconds > planned_s else "shorter"
        return f"{seconds / 60:,.0f} min, {longer} than the {planned_s / 60:,.0f} min planned"
    return ""


def _near(one: float, other: float) -> bool:
    low, high = sorted((one, other))
    return high <= low * FACTOR
