"""`no_duplicate_fetch`: no page was fetched twice in one run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import dagster as dg

from crawl_assets.checks.finding import Finding, domain_check
from resources.frontier.base import FetchLogRow

__all__ = ["SPEC", "no_duplicate_fetch"]

SPEC = domain_check(
    "no_duplicate_fetch",
    "fetched_pages",
    "Every URL was fetched successfully at most once in this run, by one worker. When red: two workers had the "
    "domain, or the frontier handed a URL out twice. Look whether two runs overlap in the timeline; if not, it is a "
    "defect: keep the data folder and report it.",
)

SUCCESS = frozenset({"ok", "not_modified"})
SHOWN = 20


def no_duplicate_fetch(rows: Iterable[FetchLogRow]) -> Finding:
    """`rows`: the fetch log of one domain in one run."""
    counted: Counter[str] = Counter()
    workers = set()
    for row in rows:
        if row.outcome in SUCCESS:
            counted[row.url] += 1
            workers.add(row.worker)
    twice = [(url, n) for url, n in counted.most_common(SHOWN) if n > 1]
    extra = sum(n - 1 for n in counted.values())
    numbers = {"pages": len(counted), "fetched again": extra, "workers": len(workers)}
    if not twice:
        return Finding(True, f"{len(counted):,} pages, each fetched once", numbers)
    table = "\n".join(["| url | times |", "| --- | --- |", *(f"| {url} | {n} |" for url, n in twice)])
    return Finding(False, f"{extra:,} fetches too many", numbers | {"urls": dg.MetadataValue.md(table)})
