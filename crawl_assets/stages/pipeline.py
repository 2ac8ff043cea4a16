"""The night as Dagster sees it: one step that can do any subset of the stages, for one domain or for many.

Why one step and not a step per stage: a step of several partitions either yields its output, which turns all of
them green, or does not, and then everything downstream is skipped for all. Here a domain that fails only drops out
itself, the others go through to the tables, and one event loop with one set of connections and paces serves all
stages. The stages stay assets of their own: each can be materialized, backfilled, checked and plotted by itself.
"""

# No `from __future__ import annotations` here: Dagster reads the step's annotations as objects, not as text.
import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress

import dagster as dg

from crawl_assets.automation.reconciliation import WORKER_TAG, this_process
from crawl_assets.checks import canary as canary_check
from crawl_assets.checks import conservation as conservation_check
from crawl_assets.partitions import domains
from crawl_assets.stages import fetch as fetch_stage
from crawl_assets.stages import raw as raw_stage
from crawl_assets.stages import retry as retry_stage
from crawl_assets.stages import seed as seed_stage
from crawl_assets.stages.night import Night, NightConfig, Telling
from crawl_assets.stages.stoppable import run_stoppable, still_wanted, until_stopped
from resources.crawler.session import CrawlSession
from resources.frontier.base import StateCounts
from resources.installation_resource import InstallationResource

__all__ = ["CHECKS", "POOL", "STAGES", "night", "run_night"]

STAGES: tuple[dg.AssetSpec, ...] = (
    seed_stage.SPEC,
    fetch_stage.SPEC,
    retry_stage.SPEC,
    raw_stage.SPEC,
)
CHECKS: tuple[dg.AssetCheckSpec, ...] = (canary_check.SPEC, conservation_check.SPEC)

#: Runs that crawl at once are bounded by this pool; `automation/start.py` sets its limit.
POOL = "crawl"
#: Domains of one run: one loop drives them all, and a lost run loses nothing but its time. Runs cost memory and
#: minutes of launching, so there are few of them.
DOMAINS_PER_RUN = 1_000

#: Stages and checks that make requests.
_ON_THE_WEB = (seed_stage.ASSET, fetch_stage.ASSET, retry_stage.ASSET)


@dg.multi_asset(
    name="stages",
    specs=STAGES,
    check_specs=CHECKS,
    partitions_def=domains,
    can_subset=True,
    backfill_policy=dg.BackfillPolicy.multi_run(max_partitions_per_run=DOMAINS_PER_RUN),
    pool=POOL,
    op_tags={"nightcrawl/kind": "night"},
)
def night(
    context: dg.AssetExecutionContext, config: NightConfig, installation: InstallationResource
) -> Iterator[dg.MaterializeResult[None]]:
    """Do the selected stages for the run's domains.

    Yields nothing: each partition's materialization is logged the moment its domain is done.
    """
    yield from ()
    context.instance.add_run_tags(context.run.run_id, {WORKER_TAG: this_process(context.run.run_id)})
    telling = Telling(context.log_event, context.log.info, context.log.warning)
    run_night(
        context.instance,
        lambda stop: Night(
            installation.installation(),
            context.run.run_id,
            context.partition_keys,
            [key.to_user_string() for key in context.selected_asset_keys],
            [(key.asset_key.to_user_string(), key.name) for key in context.selected_asset_check_keys],
            telling,
            config,
            stop,
        ),
    )


def run_night(instance: dg.DagsterInstance, make: Callable[[asyncio.Event], Night]) -> None:
    """Run a night to its end. Raises dg.Failure naming the domains that failed, or the interruption it was asked for.

    Materializations are in the event log by then: what raises here only colours what is missing.
    """

    async def main(stop: asyncio.Event) -> Night:
        async with make(stop) as tonight:
            poll = asyncio.create_task(still_wanted(instance, tonight.run_id, stop, tonight.call))
            try:
                await _stages(tonight)
            finally:
                poll.cancel()
                with suppress(asyncio.CancelledError):
                    await poll
            return tonight

    tonight, stopped = run_stoppable(main)
    if stopped:
        raise dg.DagsterExecutionInterruptedError
    failure = tonight.failure()
    # A run of checks alone says what it found in the checks; it has nothing to colour red.
    if failure is not None and tonight.selected:
        raise failure


async def _stages(tonight: Night) -> None:
    if any(tonight.does(asset) for asset in _ON_THE_WEB) or tonight.asks(canary_check.SPEC):
        async with CrawlSession(tonight.installation, tonight.run_id, catalog=tonight.catalog) as session:
            await _on_the_web(tonight, session)
    if tonight.asks(conservation_check.SPEC):
        await _each(tonight, tonight.in_play, lambda domain: _conservation(tonight, domain))
    if tonight.does(raw_stage.ASSET):
        await _each(tonight, tonight.in_play, lambda domain: raw_stage.raw(tonight, domain))


async def _on_the_web(tonight: Night, session: CrawlSession) -> None:
    for domain in tonight.in_play:
        try:
            session.territory.rules(domain)
        except Exception as error:
            tonight.fall(domain, "site file", str(error))
    if tonight.asks(canary_check.SPEC) and tonight.in_play:
        results = await until_stopped(session.canaries(tonight.in_play), tonight.stop)
        if results is not None:
            for domain in tonight.in_play:
                await tonight.found(canary_check.SPEC, domain, canary_check.canary(domain, results))
    if tonight.does(seed_stage.ASSET):
        await until_stopped(seed_stage.seed(tonight, session), tonight.stop)
    if tonight.does(fetch_stage.ASSET):
        await fetch_stage.fetch(tonight, session)
    if tonight.does(retry_stage.ASSET):
        await retry_stage.retry(tonight, session)


async def _each(tonight: Night, chosen: Sequence[str], work: Callable[[str], Awaitable[object]]) -> None:
    for domain in chosen:
        if tonight.stop.is_set():
            tonight.unfinished.add(domain)
        else:
            await work(domain)


async def _conservation(tonight: Night, domain: str) -> None:
    def facts() -> tuple[StateCounts, StateCounts, bool]:
        frontier = tonight.storage.frontier
        held = frontier.domain_lease(domain, time.time()) is not None
        return frontier.counts(domain), frontier.recount(domain), held

    counted, recounted, in_use = await tonight.storage.run(facts)
    finding = conservation_check.conservation(counted, recounted, in_use=in_use)
    await tonight.found(conservation_check.SPEC, domain, finding)
