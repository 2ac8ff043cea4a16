"""`forecast`: the plan of the night against what happened."""

from __future__ import annotations

import dagster as dg

from crawl_assets.checks.finding import WARN, Finding
from resources.planner.forecast import Comparison
from resources.planner.words import clock, span_in_words

__all__ = ["SPEC", "forecast"]

SPEC = dg.AssetCheckSpec(
    "forecast",
    asset="night_report",
    description=(
        "The night was ready by its deadline and took about what `night_plan` said, domain by domain (first nights "
        "are not judged). When it fails: the words name the domain. A site that grew or slowed down needs more time "
        "(schedule, window, pace); one that shrank has lost pages: look at its coverage and ban_signals."
    ),
)


def forecast(comparison: Comparison | None, zone: str = "UTC") -> Finding:
    """Numbered cases: 1. no plan; 2. too late; 3. domains that were off; 4. as planned."""
    if comparison is None:
        return Finding(True, "no plan was made before this night", {}, WARN)
    c = comparison
    numbers = {
        "planned requests": c.planned_requests,
        "requests": c.requests,
        "planned bytes": c.planned_bytes,
        "bytes": c.wire_bytes,
        "domains off": len(c.missed),
        "first nights": c.guesses,
        "late s": round(c.late_s, 1),
    }
    if c.late_s:
        return Finding(
            False,
            f"ready at {clock(c.ready_at, zone)}, {span_in_words(c.late_s)} after the deadline",
            numbers,
            WARN,
        )
    if c.missed:
        first = "; ".join(f"{d.domain}: {d.words}" for d in c.missed[:3])
        more = f"; and {len(c.missed) - 3} more" if len(c.missed) > 3 else ""
        return Finding(False, f"{first}{more}", numbers, WARN)
    guesses = f", {c.guesses} first night(s) not judged" if c.guesses else ""
    return Finding(
        True, f"as planned: {c.requests:,} requests of {c.planned_requests:,}{guesses}", numbers, WARN
    )
