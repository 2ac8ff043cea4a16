"""`ban_signals`: walls, refusals and throttling: signs that the site has had enough of us."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawl_assets.checks.finding import ERROR, WARN, Finding, domain_check

if TYPE_CHECKING:  # imported where it is used: see definitions.py
    from resources.crawler.order import DomainReport

__all__ = ["SPEC", "ban_signals"]

SPEC = domain_check(
    "ban_signals",
    "fetched_pages",
    "Few requests met walls, 403, 429 or 503. When it fails: the pace was lowered by itself already; do not raise it "
    "and do not hide. Check that `identity.contact` reaches you, read the site's terms, ask its owner, or give it "
    "more room with pace.rate and a window. Walls are never stored as pages.",
)

#: Fewer requests than this say nothing.
FEW = 20
#: A wall is a decision of the site about us: one in fifty is no accident.
WALLS = 0.02
#: Single forbidden pages exist on any site.
FORBIDDEN = 0.1
#: What learning the limit costs stays under 1 %; five times that means it was not learned.
THROTTLED = 0.05


def ban_signals(report: DomainReport) -> Finding:
    """From the outcome of one crawl of a domain. Numbered cases: 1. walls; 2. refusals; 3. throttling."""
    asked = max(report.requests, 1)
    walls, forbidden, throttled = (n / asked for n in (report.walls, report.forbidden, report.throttled))
    numbers = {
        "wall share": round(walls, 4),
        "403 share": round(forbidden, 4),
        "429 share": round(throttled, 4),
        "requests": report.requests,
    }
    if report.walls and (walls > WALLS or report.end == "paused"):
        return Finding(False, f"{report.walls} of {report.requests} requests met a wall", numbers, ERROR)
    if report.requests < FEW:
        return Finding(True, "too few requests to say", numbers, WARN)
    if forbidden > FORBIDDEN:
        return Finding(False, f"{forbidden:.0%} of the requests were forbidden (403)", numbers, ERROR)
    if throttled > THROTTLED:
        return Finding(False, f"{throttled:.1%} of the requests were throttled (429, 503)", numbers, WARN)
    return Finding(True, "the site takes us as we are", numbers, WARN)
