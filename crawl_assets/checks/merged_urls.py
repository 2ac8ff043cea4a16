"""`merged_urls`: do the site's rules about URLs merge different pages?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import dagster as dg

from crawl_assets.checks.finding import WARN, Finding, domain_check
from resources.web.url_merging import cure_of

if TYPE_CHECKING:  # imported where it is used: see definitions.py
    from resources.crawler.merges import MergedPair

__all__ = ["SPEC", "merged_urls"]

SPEC = domain_check(
    "merged_urls",
    "fetched_pages",
    "Links that the site file's rules call one page (parameters cut, query sorted, slashes and index pages) lead to one "
    "page: once a night a few are asked as they were spelled, and their words compared with those of the stored page. "
    "When it fails: the rule it names hides pages from the crawl; do what the words say, and the next night finds them. "
    "`urls.audit` says how many requests this may take, 0 for none.",
)


def merged_urls(pairs: Sequence[MergedPair]) -> Finding:
    """`pairs`: what the last audit of the domain compared."""
    different = [pair for pair in pairs if pair.outcome == "different"]
    numbers: dict[str, object] = {
        "compared": len(pairs),
        "different": len(different),
        "not comparable": sum(pair.outcome == "unclear" for pair in pairs),
    }
    if not pairs:
        return Finding(True, "no rule of the site file merged a link that could be asked", numbers, WARN)
    lines = ["| rule | as spelled | canonical | found |", "| --- | --- | --- | --- |"]
    for pair in sorted(pairs, key=lambda p: p.outcome != "different"):
        cells = (" and ".join(pair.rules), pair.url, pair.canonical, f"{pair.outcome}: {pair.words}")
        lines.append("| " + " | ".join(cell.replace("|", "%7C") for cell in cells) + " |")
    numbers["pairs"] = dg.MetadataValue.md("\n".join(lines))
    if not different:
        return Finding(True, f"{len(pairs)} merged link(s) asked: no other page behind them", numbers, WARN)
    worst = max(different, key=lambda pair: pair.distance)
    others = sorted({" and ".join(pair.rules) for pair in different if pair.rules != worst.rules})
    words = (
        f"{' and '.join(worst.rules)} merges different pages: {worst.url} is not {worst.canonical} ({worst.words}). "
        f"In the site file, {' or '.join(cure_of(rule) for rule in worst.rules)}"
    )
    if others:
        words += f"; so do {', '.join(others)}"
    return Finding(False, words, numbers, WARN)
