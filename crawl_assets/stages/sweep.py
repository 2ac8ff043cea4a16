"""`retry_everywhere`: one run over the domains that have failures of some cause, wherever they stand.

Dagster's ranges are stretches of neighbouring partitions: "all domains with cause dns" would become a run for each
stretch. This plain op takes a list, or finds the domains by cause, and reports each domain's partitions as the night
does.
"""

# No `from __future__ import annotations` here: Dagster reads the step's annotations as objects, not as text.
from collections.abc import Callable, Sequence
from typing import cast

import dagster as dg
from dagster._core.events import AssetMaterializationPlannedData, DagsterEvent
from pydantic import Field

from crawl_assets.automation.reconciliation import WORKER_TAG, this_process
from crawl_assets.partitions import domains
from crawl_assets.stages import publish, raw, retry
from crawl_assets.stages.night import Event, Night, NightConfig, Telling
from crawl_assets.stages.pipeline import NIGHT_TAG, POOL, run_night
from crawl_assets.stages.tables import TABLES
from resources.installation import Installation
from resources.installation_resource import InstallationResource

__all__ = ["RETRY_EVERYWHERE", "with_failures"]

SWEPT = (retry.ASSET, raw.ASSET, *TABLES, publish.ASSET)


class SweepConfig(NightConfig):
    """What to try again, and where."""

    domains: list[str] = Field(
        default_factory=list, description="These domains. Empty: every domain with such failures."
    )


def with_failures(installation: Installation, causes: Sequence[str], *, also_not_due: bool) -> list[str]:
    """Domains that have failures of these causes (of any, if there are none named) a retry would take."""
    frontier = installation.prepare().open_frontier()
    try:
        found = []
        for domain, counts in frontier.all_counts().items():
            if counts.failed:
                failures = frontier.failures(domain)
                chosen = [n for cause, n in failures.items() if not causes or cause in causes]
                if any(all_of_them if also_not_due else due for all_of_them, due in chosen):
                    found.append(domain)
        return sorted(found)
    finally:
        frontier.close()


@dg.op(name="sweep", pool=POOL)
def sweep(context: dg.OpExecutionContext, config: SweepConfig, installation: InstallationResource) -> None:
    """Retry pass, bodies, tables and publication of the chosen domains."""
    house = installation.installation()
    run_id = context.run.run_id
    context.instance.add_run_tags(run_id, {WORKER_TAG: this_process(run_id)})
    chosen = config.domains or with_failures(house, config.causes, also_not_due=config.retry_all)
    known = set(context.instance.get_dynamic_partitions(str(domains.name)))
    chosen = [d for d in chosen if d in known]
    context.log.info(f"{len(chosen)} domain(s): {', '.join(chosen[:20])}{' …' if len(chosen) > 20 else ''}")
    if not chosen:
        return
    # Its signature leaves out check evaluations, which it takes all the same.
    log_event = cast("Callable[[Event], None]", context.log_event)
    telling = Telling(log_event, context.log.info, context.log.warning)
    nights: list[Night] = []

    def make(stop: object) -> Night:
        nights.append(
            Night(
                house, run_id, chosen, SWEPT, (), telling, config, stop,  # type: ignore[arg-type]
                context.instance, context.run.tags.get(NIGHT_TAG, ""),
            )
        )  # fmt: skip
        return nights[-1]

    try:
        run_night(context.instance, run_id, make)
    except dg.Failure:
        _make_red(context, nights[-1])
        raise


def _make_red(context: dg.OpExecutionContext, night: Night) -> None:
    """Show what did not come of the fallen domains: an op plans no partitions, so it is said afterwards."""
    for domain in night.fallen:
        for asset in (a for a in SWEPT if (a, domain) not in night.done):
            planned = DagsterEvent.build_asset_materialization_planned_event(
                context.job_name,
                str(context.op_handle),
                AssetMaterializationPlannedData(dg.AssetKey(asset), partition=domain),
            )
            context.instance.report_dagster_event(planned, context.run.run_id)


@dg.job(
    name="retry_everywhere",
    description=(
        "One run over every domain that has failures of some cause: `causes: [dns]` after an outage of the name "
        "servers, say. Their bodies, tables and publication follow. Domains can also be listed."
    ),
    tags={"nightcrawl/kind": "crawl"},
)
def RETRY_EVERYWHERE() -> None:
    sweep()
