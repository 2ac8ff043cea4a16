"""The canaries by day: known pages are asked every quarter of an hour, so that a wall or an outage is known before the
night.

A round is one run that evaluates the check `canary` and does nothing else: no seed, no fetch, no row. It is bounded:
one run of at most `DOMAINS_PER_RUN` domains a round, the next ones in the next, whatever their number; none while the
last one is under way or waits behind a crawl; and no domain outside its site's own hours (`pace.window`).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

import dagster as dg
from dagster._core.storage.dagster_run import NOT_FINISHED_STATUSES

from crawl_assets.automation.jobs import CANARIES
from crawl_assets.automation.range_requests import range_request
from crawl_assets.partitions import contiguous, domains, usable_sites
from crawl_assets.stages.pipeline import DOMAINS_PER_RUN
from resources.crawler.open_hours import open_hours
from resources.installation_resource import InstallationResource
from resources.site.model import Site

__all__ = ["ROUND", "ROUND_TAG", "canary_rounds"]

#: Between two rounds: some hundred requests a page and day, and 1 % of a core.
ROUND = timedelta(minutes=15)
#: Marks the runs, so that one is not begun before the last has ended.
ROUND_TAG = "nightcrawl/canaries"


def _asked_now(site: Site | None, now: datetime) -> bool:
    if site is None or not site.canaries:
        return False
    hours = open_hours(site.pace)
    return hours is None or hours.is_open(now.timestamp())


@dg.schedule(
    name="canary_rounds",
    cron_schedule=f"*/{ROUND.seconds // 60} * * * *",
    execution_timezone="UTC",
    job=CANARIES,
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description=(
        "Asks only the canary pages of site files, all day, so that a wall or an outage is known before the night. "
        f"Nothing is crawled. A round takes up to {DOMAINS_PER_RUN} domains, in turn, each within its own `window`."
    ),
)
def canary_rounds(
    context: dg.ScheduleEvaluationContext, installation: InstallationResource
) -> Iterator[dg.RunRequest | dg.SkipReason]:
    """One round. Numbered cases: 1. no site has canaries; 2. all of them are outside their hours; 3. the last round has
    not ended; 4. the next domains in turn."""
    now = context.scheduled_execution_time
    _, catalog, _ = usable_sites(installation.installation())
    if not any(site.canaries for site in catalog):
        yield dg.SkipReason("no site file names canaries: there is nothing to ask")
        return
    keys = context.instance.get_dynamic_partitions(str(domains.name))
    stretches = contiguous(keys, (d for d in keys if _asked_now(catalog.for_domain(d), now)), DOMAINS_PER_RUN)
    if not stretches:
        yield dg.SkipReason("no domain with canaries is within its site's hours (pace.window)")
        return
    last = dg.RunsFilter(tags={ROUND_TAG: "round"}, statuses=NOT_FINISHED_STATUSES)
    if context.instance.get_run_ids(last, limit=1):
        yield dg.SkipReason("the last round is under way or waits behind a crawl")
        return
    first, end, _ = stretches[int(now.timestamp() // ROUND.total_seconds()) % len(stretches)]
    yield range_request(f"canaries {now:%Y-%m-%dT%H:%MZ}", first, end, {ROUND_TAG: "round"})
