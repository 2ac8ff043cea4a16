"""`truncation`: bodies that ended before they should have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawl_assets.checks.finding import WARN, Finding, domain_check

if TYPE_CHECKING:  # imported where it is used: see definitions.py
    from resources.crawler.order import DomainReport

__all__ = ["SPEC", "truncation"]

SPEC = domain_check(
    "truncation",
    "fetched_pages",
    "Few bodies ended early. A truncated body is never stored as a page; it is tried again. When it fails night "
    "after night: a proxy or server on the way cuts responses; try fewer connections (pace.concurrency: 1) or longer "
    "limits, and tell the site.",
)

#: A connection breaks now and then; one in a hundred is a fault.
SHARE = 0.01
FEW = 3


def truncation(report: DomainReport) -> Finding:
    share = report.truncated / max(report.requests, 1)
    numbers = {"truncated": report.truncated, "truncated share": round(share, 4)}
    if report.truncated >= FEW and share > SHARE:
        return Finding(False, f"{report.truncated} bodies ended early ({share:.1%})", numbers, WARN)
    return Finding(True, f"{report.truncated} bodies ended early", numbers, WARN)
