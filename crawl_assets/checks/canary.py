"""`canary`: known pages must look right before a domain is crawled; whose fault it is when they do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import dagster as dg

from crawl_assets.checks.finding import Finding, domain_check

if TYPE_CHECKING:  # imported where it is used: see definitions.py
    from resources.crawler.canaries import CanaryResult

__all__ = ["SPEC", "US", "canary", "control"]

SPEC = domain_check(
    "canary",
    "seed_frontier",
    "The site file's canary pages have the expected status, text, size and time. Blocks this domain's fetch: a "
    "night against a wall or an outage costs requests and proves nothing. When red, the verdict says where to look. "
    "*us*: this machine's network, proxy or DNS, since domains of other sites fail too. *them*: open the URL in a "
    "browser; mend the canary in the site file if the page has changed.",
    blocking=True,
)

#: Causes that a broken network of our own would show on every domain.
NETWORK = frozenset({"dns", "unreachable", "connect_timeout", "refused", "proxy", "no_proxy", "tls", "reset"})
#: Share of the other domains that must fail in the network for the fault to be ours.
OURS_FROM = 0.5


class US:
    """The words of the verdict."""

    us = "us"
    them = "them"
    alone = "unknown: no other domain to compare with"


def control(domain: str, all_results: Mapping[str, Sequence[CanaryResult]]) -> str:
    """Whose fault a failed canary is: other domains of the same minute are the control."""
    others = [r for d, results in all_results.items() if d != domain for r in results]
    mine = all_results.get(domain, ())
    if not any(r.cause in NETWORK for r in mine if not r.passed):
        return US.them  # it answered: the way there works
    if not others:
        return US.alone
    down = sum(1 for r in others if not r.passed and r.cause in NETWORK)
    return US.us if down / len(others) >= OURS_FROM else US.them


def canary(domain: str, all_results: Mapping[str, Sequence[CanaryResult]]) -> Finding:
    """The finding for one domain, judged in the light of all of them."""
    results = list(all_results.get(domain, ()))
    if not results:
        return Finding(True, "the site file names no canary for this domain", {"canaries": 0})
    failed = [r for r in results if not r.passed]
    lines = ["| page | status | bytes | seconds | found |", "| --- | --- | --- | --- | --- |"]
    for r in results:
        lines.append(
            f"| {r.url} | {r.status or '-'} | {r.body_bytes} | {r.seconds:.2f} | {r.problem or 'as it should be'} |"
        )
    numbers = {
        "canaries": len(results),
        "failed": len(failed),
        "slowest s": round(max(r.seconds for r in results), 3),
        "pages": dg.MetadataValue.md("\n".join(lines)),
    }
    if not failed:
        return Finding(True, f"{len(results)} page(s) as they should be", numbers)
    whose = control(domain, all_results)
    first = failed[0]
    return Finding(False, f"{whose}: {first.url}: {first.problem}", numbers | {"verdict": whose})
