"""What needs a human, most urgent first: one entry a cause, with its domains and its cure. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from resources.reports.facts import NightFacts

__all__ = ["Need", "Urgency", "needs"]

Urgency = Literal["act", "look"]

#: Statuses of runs that have ended.
_ENDED = frozenset({"SUCCESS", "FAILURE", "CANCELED"})


@dataclass(frozen=True, slots=True)
class Need:
    """`urgency`: "act" where readers have old rows or none because of it, "look" where it can wait for a coffee."""

    urgency: Urgency
    title: str
    cure: str
    domains: tuple[tuple[str, str], ...]
    """(domain, what happened there)."""


def needs(facts: NightFacts) -> list[Need]:
    """Numbered kinds, in this order: 1. domains that fell, by stage and cure; 2. rows that stayed old although
    nothing fell; 3. paused domains; 4. runs that were lost or stopped; 5. checks that warn; 6. the forecast."""
    found: list[Need] = []
    for kind in (_fallen, _stale, _paused, _runs, _findings, _forecast):
        found += kind(facts)
    return sorted(found, key=lambda n: n.urgency != "act")


def _fallen(facts: NightFacts) -> Iterator[Need]:
    groups: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for f in facts.fallen:
        groups.setdefault((f.stage, f.cure), []).append((f.domain, f.words))
    for (stage, cure), domains in sorted(groups.items(), key=lambda g: -len(g[1])):
        yield Need("act", f"failed: {stage}", cure, tuple(sorted(domains)))


def _stale(facts: NightFacts) -> Iterator[Need]:
    told = {f.domain for f in facts.fallen}
    rows = [(d.domain, d.stale_reason) for d in facts.domains if d.stale and d.domain not in told]
    if rows:
        yield Need(
            "act",
            "readers see an earlier night",
            "Mend the cause and run the job reparse, or decide with nightcrawl publish --diff and --force.",
            tuple(rows),
        )


def _paused(facts: NightFacts) -> Iterator[Need]:
    rows = [(d.domain, d.paused_cause) for d in facts.domains if d.paused_cause]
    if rows:
        yield Need(
            "act",
            "paused by pacing",
            "The site throttles or blocks us at the slowest pace. Read its terms, ask its owner, lower pace.rate or "
            "give it a window; nothing more is sent until it is resumed.",
            tuple(rows),
        )


def _runs(facts: NightFacts) -> Iterator[Need]:
    if facts.stopped:
        left = {d.domain: d.pending for d in facts.domains}
        yield Need(
            "act",
            "stopped before its end",
            "Everything fetched until then is kept. Launch the job night again over the same domains: it goes on with "
            "what is pending.",
            tuple((d, f"{left.get(d, 0):,} URLs are pending") for d in facts.stopped),
        )
    under_way = [(r.run_id[:8], r.job) for r in facts.runs if r.status not in _ENDED]
    if under_way:
        yield Need(
            "look", "still under way", "The report is made again when all runs have ended.", tuple(under_way)
        )
    last = max((r.started_at for r in facts.runs), default=0.0)
    names_nobody = [
        (r.run_id[:8], r.job) for r in facts.runs if r.status == "FAILURE" and r.started_at >= last
    ]
    if names_nobody and not facts.fallen:
        yield Need(
            "act",
            "a run failed without naming a domain",
            "Its process was lost or the storage failed: open the run's log; materialize again to go on.",
            tuple(names_nobody),
        )


def _findings(facts: NightFacts) -> Iterator[Need]:
    told = {f.domain for f in facts.fallen}
    groups: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for f in facts.findings:
        if f.domain not in told:
            groups.setdefault((f.check, f.cure), []).append((f.domain, f.words))
    for (check, cure), domains in sorted(groups.items()):
        yield Need("look", f"check {check}", cure, tuple(sorted(domains)))


def _forecast(facts: NightFacts) -> Iterator[Need]:
    c = facts.comparison
    if c is None:
        return
    if c.late_s:
        yield Need(
            "look",
            "ready too late",
            "Start earlier, widen a window or raise the pace of the domain that takes longest.",
            (("the night", f"ready {c.late_s / 60:,.0f} min after its deadline"),),
        )
    if c.missed:
        yield Need(
            "look",
            "the forecast was off",
            "A site that grew, slowed down or lost pages: compare with its coverage and ban_signals checks.",
            tuple((d.domain, d.words) for d in c.missed),
        )
