"""`retried_failures`: failed URLs that are eligible get another chance, at half the pace and with more attempts."""

from __future__ import annotations

from typing import Any

import dagster as dg

from crawl_assets.partitions import domains
from crawl_assets.stages.fetch import ASSET as FETCHED
from crawl_assets.stages.fetch import Watch, order
from crawl_assets.stages.metadata import crawl_numbers
from crawl_assets.stages.night import Night
from resources.crawler.order import DomainReport
from resources.crawler.session import CrawlSession
from resources.crawler.taxonomy import failure_kind

__all__ = ["ASSET", "SPEC", "failed_table", "retry"]

ASSET = "retried_failures"

SPEC = dg.AssetSpec(
    ASSET,
    deps=[FETCHED],
    description=(
        "The dead letters of the fetch, tried again gently.\n\n"
        "Takes only what is eligible (a 404 waits a week, a timeout minutes), at half the pace, up to "
        "`retry.retry_pass_attempts`. What succeeds leaves the list of failures.\n\n"
        "**When red:** as for `fetched_pages`. To try one cause again, run the job `retry` with "
        "`causes: [dns]`."
    ),
    group_name="fetch",
    kinds={"source", "sqlite"},
    partitions_def=domains,
    skippable=True,
    owners=["team:crawl"],
)


async def retry(night: Night, session: CrawlSession) -> None:
    """Try the failures of the domains in play again; a domain without any is done at once."""
    taking = night.in_play
    if not taking:
        return
    frontier = session.storage.frontier
    watch = Watch(night, session, ASSET)
    taken, reports = await session.retry(
        order(night, "retry"),
        causes=night.config.causes or None,
        force=night.config.retry_all,
        stop=night.stop,
        on_start=watch.start,
    )
    await watch.finish(reports, [d for d in taking if taken.get(d)])
    if night.stop.is_set():
        night.unfinished.update(taking)
        return
    for domain in taking:
        if not taken.get(domain):
            counts = await session.storage.run(frontier.counts, domain)
            numbers = crawl_numbers(DomainReport(domain), counts)
            numbers["end in words"] = "nothing was eligible"
            numbers["still failed"] = await failed_table(session, domain)
            await night.materialized(ASSET, domain, numbers)


async def failed_table(session: CrawlSession, domain: str) -> dg.MetadataValue[Any]:
    """The failures that are left, by cause, as Markdown."""
    failures = await session.storage.run(session.storage.frontier.failures, domain)
    if not failures:
        return dg.MetadataValue.md("none")
    lines = ["| cause | urls | eligible now | what mends it |", "| --- | --- | --- | --- |"]
    for cause, (all_of_them, eligible) in sorted(failures.items(), key=lambda item: -item[1][0]):
        lines.append(f"| {cause} | {all_of_them} | {eligible} | {failure_kind(cause).mend} |")
    return dg.MetadataValue.md("\n".join(lines))
