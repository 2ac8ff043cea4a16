"""`robots_changed`: the site rewrote its robots.txt since the last night."""

from __future__ import annotations

import difflib

import dagster as dg

from crawl_assets.checks.finding import WARN, Finding, domain_check

__all__ = ["SPEC", "robots_changed"]

SPEC = domain_check(
    "robots_changed",
    "seed_frontier",
    "robots.txt is as it was last night. A change is obeyed at once; it is shown because it often announces more: a "
    "new limit, a closed section, a move. When it fails: read the difference; URLs that are forbidden now are "
    "excluded with the line, URLs that are allowed again need a seed or a sitemap to come back.",
)

#: Lines of difference shown.
SHOWN = 60


def robots_changed(before: bytes | None, now: bytes | None) -> Finding:
    """`None`: no robots.txt is stored (never asked, or there is none)."""
    numbers = {"bytes": len(now or b""), "bytes before": len(before or b"")}
    if before is None or before == now:
        return Finding(True, "first look" if before is None else "unchanged", numbers, WARN)
    old, new = ((text or b"").decode("utf-8", "replace").splitlines() for text in (before, now))
    diff = list(difflib.unified_diff(old, new, "last night", "tonight", lineterm="", n=1))[:SHOWN]
    shown = dg.MetadataValue.md("```diff\n" + "\n".join(diff) + "\n```")
    return Finding(False, "robots.txt has changed", numbers | {"difference": shown}, WARN)
