"""`coverage`: what the sitemaps list against what was fetched: listings that silently went missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg

from crawl_assets.checks.finding import WARN, Finding, domain_check
from resources.frontier.base import State

__all__ = ["SPEC", "coverage"]

SPEC = domain_check(
    "coverage",
    "fetched_pages",
    "The URLs that the sitemaps list were fetched, failed or excluded for a reason, and the sitemaps list about as "
    "many as last night. When it fails: pages are pending (raise the budget or the window), or the site lost part of "
    "its sitemap: open it and compare.",
)

#: A sitemap that shrinks by more than this from one night to the next has lost a part, not some pages.
SHRINKS = 0.3
FEW = 20


def coverage(
    listed: Mapping[State, int],
    entries: int | None,
    entries_before: int | None,
    least: float,
    *,
    missing: Sequence[tuple[str, str]] = (),
    cut_short: bool,
) -> Finding:
    """`listed`: URLs met in sitemaps so far, by state; `entries`: URLs the sitemaps list tonight and listed the night
    before (None: not read); `least`: quality.min_coverage; `missing`: some listed URLs that are no page, and why."""
    total = sum(listed.values())
    if not total:
        return Finding(True, "no sitemap lists URLs of this domain", {"listed": 0}, WARN)
    settled = sum(listed.get(s, 0) for s in (State.DONE, State.FAILED, State.EXCLUDED))
    share = settled / total
    numbers: dict[str, Any] = {
        "listed": total,
        "entries tonight": entries if entries is not None else -1,
        "entries before": entries_before if entries_before is not None else -1,
        "fetched": listed.get(State.DONE, 0),
        "failed": listed.get(State.FAILED, 0),
        "excluded": listed.get(State.EXCLUDED, 0),
        "pending": listed.get(State.PENDING, 0) + listed.get(State.LEASED, 0),
        "coverage": round(share, 4),
    }
    if missing:
        rows = "\n".join(f"| {url.replace('|', '%7C')} | {why} |" for url, why in missing)
        numbers["listed and missing"] = dg.MetadataValue.md(f"| url | why |\n| --- | --- |\n{rows}")
    if (
        entries is not None
        and (entries_before or 0) >= FEW
        and entries < (1 - SHRINKS) * (entries_before or 0)
    ):
        return Finding(
            False, f"the sitemaps list {entries:,} URLs, last night {entries_before:,}", numbers, WARN
        )
    if share < least and cut_short:
        return Finding(True, f"{share:.0%} of the listed URLs so far; the night was cut short", numbers, WARN)
    if share < least:
        return Finding(
            False, f"{share:.0%} of the listed URLs are settled; {least:.0%} are expected", numbers, WARN
        )
    return Finding(True, f"{share:.0%} of {total:,} listed URLs are settled", numbers, WARN)
