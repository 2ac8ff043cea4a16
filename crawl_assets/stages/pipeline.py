"""The night as Dagster sees it: one step that can do any subset of the stages, for one domain or for many.

Why one step and not a step per stage: a step of several partitions either yields its output, which turns all of
them green, or does not, and then everything downstream is skipped for all. Here a domain that fails only drops out
itself, the others go through to the tables, and one event loop with one set of connections and paces serves all
stages. The stages stay assets of their own: each can be materialized, backfilled, checked and plotted by itself.
"""

# No `from __future__ import annotations` here: Dagster reads the step's annotations as objects, not as text.
import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress

import dagster as dg

from crawl_assets.automation.reconciliation import WORKER_TAG, this_process
from crawl_assets.partitions import domains
from crawl_assets.stages.course import CHECKS, SPECS, run_course
from crawl_assets.stages.event_log import cheap_events
from crawl_assets.stages.night import NIGHT_TAG, Night, NightConfig, Telling
from crawl_assets.stages.stoppable import run_stoppable, still_wanted
from resources.installation_resource import InstallationResource

__all__ = ["DOMAINS_PER_RUN", "NIGHT_TAG", "POOL", "night", "run_night"]

#: Runs that crawl at once are bounded by this pool; `automation/start.py` sets its limit.
POOL = "crawl"
#: Domains of one run: one loop drives them all, and a lost run loses nothing but its time. A run's page shows some 30
#: events a domain, and its process holds what it knows of each: a thousand took the UI six seconds and 1.7 GB. Every
#: run starts Python and reads all site files, seconds of CPU each, so it is not smaller either.
DOMAINS_PER_RUN = 250


@dg.multi_asset(
    name="stages",
    specs=SPECS,
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
        context.run.run_id,
        lambda stop: Night(
            installation.installation(),
            context.run.run_id,
            context.partition_keys,
            [key.to_user_string() for key in context.selected_asset_keys],
            [(key.asset_key.to_user_string(), key.name) for key in context.selected_asset_check_keys],
            telling,
            config,
            stop,
            context.instance,
            context.run.tags.get(NIGHT_TAG, ""),
        ),
    )


def run_night(instance: dg.DagsterInstance, run_id: str, make: Callable[[asyncio.Event], Night]) -> None:
    """Run a night to its end. Raises dg.Failure naming the domains that failed, or the interruption it was asked for.

    Materializations are in the event log by then: what raises here only colours what is missing.
    """

    async def main(stop: asyncio.Event) -> Night:
        async with make(stop) as tonight:
            poll = asyncio.create_task(still_wanted(instance, tonight.run_id, stop, tonight.call))
            try:
                await run_course(tonight)
            finally:
                poll.cancel()
                with suppress(asyncio.CancelledError):
                    await poll
            return tonight

    with cheap_events(instance, run_id):
        tonight, stopped = run_stoppable(main)
    if stopped:
        raise dg.DagsterExecutionInterruptedError
    failure = tonight.failure()
    # A run of checks alone says what it found in the checks; it has nothing to colour red.
    if failure is not None and tonight.selected:
        raise failure
