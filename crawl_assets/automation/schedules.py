"""The nightly schedule.

One schedule for all sites: it looks every minute which sites' own crons have fired and launches their domains,
as few runs as contiguous partitions allow, all with the night's tag. Launching is idempotent: what was launched is
read from the runs themselves, so that a missed tick is made up for within `GRACE` and never twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import dagster as dg

from crawl_assets.automation.canary_rounds import canary_rounds
from crawl_assets.automation.fire_times import GRACE, last_fire, night_of
from crawl_assets.automation.jobs import NIGHT
from crawl_assets.automation.nights import plans
from crawl_assets.automation.range_requests import range_request
from crawl_assets.partitions import contiguous, domains, usable_sites
from crawl_assets.stages.pipeline import DOMAINS_PER_RUN, NIGHT_TAG
from resources.installation_resource import InstallationResource
from resources.site.catalog import Catalog

__all__ = ["FIRED_TAG", "NIGHT_TAG", "SCHEDULES", "due_nights", "nightly"]

FIRED_TAG = "nightcrawl/fired_at"


@dataclass(frozen=True, slots=True)
class DueNight:
    """Sites to launch together: their crons fired at the same instant."""

    fired: datetime
    night: str
    sites: frozenset[str]


def due_nights(catalog: Catalog, now: datetime, grace: timedelta = GRACE) -> list[DueNight]:
    """Which sites are due at `now`, by the instant their cron fired; the oldest first."""
    groups: dict[tuple[datetime, str], set[str]] = {}
    for site in catalog:
        fired = last_fire(site.schedule, site.zone, now)
        if now - fired <= grace:
            groups.setdefault((fired, night_of(fired, site.zone)), set()).add(site.name)
    return [DueNight(fired, night, frozenset(sites)) for (fired, night), sites in sorted(groups.items())]


@dg.schedule(
    name="nightly",
    cron_schedule="* * * * *",
    execution_timezone="UTC",
    job=NIGHT,
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description=(
        "Launches the night of every site whose own `schedule` (cron in its `zone`) has come. A time that was slept "
        "through for more than half an hour is left out: no crawl starts outside its hours."
    ),
)
def nightly(
    context: dg.ScheduleEvaluationContext, installation: InstallationResource
) -> Iterator[dg.RunRequest | dg.SkipReason]:
    """One tick."""
    now = datetime.now(UTC)
    tick = context.scheduled_execution_time.astimezone(UTC)
    if now - tick > GRACE:
        # Only the latest of the ticks missed during a downtime comes at all, and it comes late.
        yield dg.SkipReason(f"this tick is {now - tick} late: its night is over")
        return
    _, catalog, problems = usable_sites(installation.installation())
    for problem in problems:
        context.log.warning(f"site file left out: {problem}")
    launched = 0
    keys = context.instance.get_dynamic_partitions(str(domains.name))
    for due in due_nights(catalog, tick):
        stamp = due.fired.strftime("%Y-%m-%dT%H:%MZ")
        if context.instance.get_runs(dg.RunsFilter(tags={FIRED_TAG: stamp, NIGHT_TAG: due.night}), limit=1):
            continue
        # By lookup, not by the file's list: hosts met under a wildcard are partitions too.
        wanted = {d for d in keys if (site := catalog.for_domain(d)) is not None and site.name in due.sites}
        for first, last, _ in contiguous(keys, wanted, DOMAINS_PER_RUN):
            launched += 1
            yield range_request(
                f"{due.night} {stamp} {first}", first, last, {NIGHT_TAG: due.night, FIRED_TAG: stamp}
            )
    if not launched:
        yield dg.SkipReason("no site's night begins now")


SCHEDULES = (plans, nightly, canary_rounds)
