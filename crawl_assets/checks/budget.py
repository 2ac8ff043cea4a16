"""`budget`: what was to be done tonight against what was done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawl_assets.checks.finding import WARN, Finding, domain_check

if TYPE_CHECKING:  # imported where it is used: see definitions.py
    from resources.crawler.order import DomainReport

__all__ = ["SPEC", "budget"]

SPEC = domain_check(
    "budget",
    "fetched_pages",
    "The night got through its queue. When it fails: the metadata says what ended it (budget, window, a wait the "
    "site asked for). Give the domain more time (window, schedule, scope.max_pages), longer cache times, or accept "
    "that it goes on the next night.",
)

WORDS = {
    "budget": "the budget ran out",
    "window": "the window closed",
    "put_off": "the site asked us to wait",
    "paused": "pacing paused the domain",
    "stopped": "the run was stopped",
}


def budget(report: DomainReport, pending: int) -> Finding:
    """`pending`: URLs left in the queue."""
    planned = report.pages + report.failed + report.excluded + pending
    done = 1 - pending / planned if planned else 1.0
    numbers = {
        "planned": planned,
        "left": pending,
        "done share": round(done, 4),
        "duration s": round(report.seconds, 1),
    }
    if report.end in WORDS and pending:
        return Finding(
            False, f"{WORDS[report.end]}: {pending:,} URLs are left ({done:.0%} done)", numbers, WARN
        )
    return Finding(
        True, "the queue is empty" if not pending else f"{pending:,} URLs wait for their time", numbers, WARN
    )
