"""`seed_frontier`: what tonight starts from: seeds, sitemaps and pages that are due again, in the frontier."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import dagster as dg

from crawl_assets.partitions import domains
from crawl_assets.stages.metadata import seed_numbers
from crawl_assets.stages.night import Night

if TYPE_CHECKING:  # imported where it is used: see definitions.py
    from resources.crawler.seeding import SeedReport
    from resources.crawler.session import CrawlSession

__all__ = ["ASSET", "SPEC", "seed"]

ASSET = "seed_frontier"

SPEC = dg.AssetSpec(
    ASSET,
    deps=["the_web", "site_files"],
    description=(
        "The frontier with everything the night starts from.\n\n"
        "Seeds of the site file, the site's sitemaps and every page that is due again are pending now. Safe to run "
        "at any time: known URLs keep their state.\n\n"
        "**When red:** the metadata of the failed run names the domain and the reason. Usually the site file (a seed "
        "file that cannot be read) or the canary: see the check `canary`."
    ),
    group_name="3_frontier",
    kinds={"seed", "sqlite"},
    partitions_def=domains,
    skippable=True,
    owners=["team:crawl"],
)

#: Domains seeded together. Each batch is reported as it ends, so that the UI shows progress.
BATCH = 32


async def seed(night: Night, session: CrawlSession) -> None:
    """Seed the domains in play; each is materialized as soon as it is done."""
    waiting = list(night.in_play)
    room = asyncio.Semaphore(BATCH)

    async def one(domain: str) -> None:
        async with room:
            if night.stop.is_set():
                night.unfinished.add(domain)
                return
            started = time.monotonic()
            (report,) = await session.seed([domain], force=night.config.force)
            await _seeded(night, session, domain, report, time.monotonic() - started)

    await asyncio.gather(*(one(d) for d in waiting))


async def _seeded(
    night: Night, session: CrawlSession, domain: str, report: SeedReport, seconds: float
) -> None:
    counts = await session.storage.run(session.storage.frontier.counts, domain)
    fatal = [p for p in report.problems if p.startswith("seeding failed")]
    if fatal:
        night.fall(domain, ASSET, fatal[0])
        return
    if not counts.discovered:
        why = report.problems[0] if report.problems else "the site file names no seed and no sitemap on it"
        night.fall(domain, ASSET, f"nothing to start from: {why}")
        return
    night.seeded[domain] = report
    await night.materialized(ASSET, domain, seed_numbers(report, counts, seconds))
