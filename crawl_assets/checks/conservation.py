"""`conservation`: no URL is lost or counted twice, and nothing is still leased."""

from __future__ import annotations

from dataclasses import asdict

from crawl_assets.checks.finding import Finding, domain_check
from resources.frontier.base import StateCounts

__all__ = ["SPEC", "conservation"]

SPEC = domain_check(
    "conservation",
    "fetched_pages",
    "discovered = pending + leased + done + failed + excluded, counted twice: by the frontier's own counters and by "
    "walking its rows; and no URL is leased when nobody crawls. Blocks: tables made from a frontier that does not "
    "add up would publish a lie. When red: stop the crawl of this domain, keep the data folder, run "
    "`nightcrawl status`, and report it as a defect.",
    blocking=True,
)


def conservation(counted: StateCounts, recounted: StateCounts, *, in_use: bool) -> Finding:
    """`in_use`: somebody holds the domain's lease right now, so that leased URLs are as it should be."""
    numbers = {**{k: int(v) for k, v in asdict(recounted).items()}, "discovered": recounted.discovered}
    off = {
        state: (n, asdict(recounted)[state])
        for state, n in asdict(counted).items()
        if n != asdict(recounted)[state]
    }
    if off and not in_use:
        words = ", ".join(f"{state}: counter {a}, rows {b}" for state, (a, b) in off.items())
        return Finding(False, f"counters and rows differ: {words}", numbers)
    if recounted.leased and not in_use:
        return Finding(False, f"{recounted.leased} URL(s) are leased although nobody crawls", numbers)
    return Finding(True, f"{recounted.discovered:,} URLs, every one in exactly one state", numbers)
