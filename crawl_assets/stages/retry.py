"""`retried_failures`: failed URLs that are eligible get another chance, at half the pace and with more attempts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import dagster as dg

from crawl_assets.partitions import domains
from crawl_assets.stages.facts import next_due
from crawl_assets.stages.fetch import ASSET as FETCHED
from crawl_assets.stages.fetch import Done, Watch, order
from crawl_assets.stages.metadata import crawl_numbers
from crawl_assets.stages.night import Night
from resources.crawler.taxonomy import failure_kind

if TYPE_CHECKING:  # imported where it is used: see definitions.py
    from resources.crawler.session import CrawlSession

__all__ = ["ASSET", "SPEC", "eligible", "nothing_to_do", "retry"]

ASSET = "retried_failures"

SPEC = dg.AssetSpec(
    ASSET,
    deps=[FETCHED],
    description=(
        "The dead letters of the fetch, tried again gently.\n\n"
        "Takes only what is eligible (a 404 waits a week, a timeout minutes), in waves by cause, what heals quickest "
        "first, at half the pace, up to "
        "`retry.retry_pass_attempts`. What succeeds leaves the list of failures.\n\n"
        "**When red:** as for `fetched_pages`. To try one cause again, run the job `retry` with "
        "`causes: [dns]`."
    ),
    group_name="4_fetch",
    kinds={"source", "sqlite"},
    partitions_def=domains,
    skippable=True,
    owners=["team:crawl"],
)


async def eligible(night: Night, session: CrawlSession, domain: str) -> bool:
    """Whether the retry pass would take anything up."""
    failures = await session.storage.run(session.storage.frontier.failures, domain)
    chosen = {c: n for c, n in failures.items() if not night.config.causes or c in night.config.causes}
    return any((all_of_them if night.config.retry_all else now) for all_of_them, now in chosen.values())


async def nothing_to_do(night: Night, session: CrawlSession, domain: str) -> None:
    """The domain has no failure that is eligible: done without a request."""
    from resources.crawler.order import DomainReport

    frontier, now = session.storage.frontier, session.clock.now()
    counts = await session.storage.run(frontier.counts, domain)
    due = await session.storage.run(next_due, frontier, domain, now)
    numbers = crawl_numbers(DomainReport(domain), counts, due)
    numbers["end in words"] = "nothing was eligible"
    numbers["still failed"] = await failed_table(session, domain)
    await night.materialized(ASSET, domain, numbers)


async def retry(night: Night, session: CrawlSession, taking: Sequence[str], then: Done) -> None:
    """Try the failures of `taking` again; `then(domain, report)` is awaited for each that is done."""
    if not taking or night.stop.is_set():
        night.unfinished.update(taking)
        return
    watch = Watch(night, session, ASSET, then)
    taken, reports = await session.retry(
        order(night, "retry", taking),
        causes=night.config.causes or None,
        force=night.config.retry_all,
        stop=night.stop,
        on_start=watch.start,
    )
    await watch.finish(reports, [d for d in taking if taken.get(d)])
    for domain in taking:
        if not taken.get(domain):
            await nothing_to_do(night, session, domain)


async def failed_table(session: CrawlSession, domain: str) -> dg.MetadataValue[Any]:
    """The failures that are left, by cause, as Markdown."""
    failures = await session.storage.run(session.storage.frontier.failures, domain)
    if not failures:
        return dg.MetadataValue.md("none")
    lines = ["| cause | urls | eligible now | what mends it |", "| --- | --- | --- | --- |"]
    for cause, (all_of_them, eligible) in sorted(failures.items(), key=lambda item: -item[1][0]):
        lines.append(f"| {cause} | {all_of_them} | {eligible} | {failure_kind(cause).mend} |")
    return dg.MetadataValue.md("\n".join(lines))
